"""Tensor's attributes: what a tensor says about itself. All are read from the array or the graph, none is stored twice."""
from __future__ import annotations

import warnings
from typing import Any

from saraph import shapes
from saraph.backends.meta import MetaArray
from saraph.devices import CPU, META, device
from saraph.dtypes import BY_NUMPY, dtype
from saraph.shapes import Size
from saraph.tensor.node import Node
from saraph.tensor.storage import Shared, root_of
from saraph.tensor.subclass import keep_class
from saraph.tensor.tensor import MAYBE, PLAIN, Tensor, View, edge_of, needs_grad, wrap

_tuple_new = tuple.__new__


def _attribute(function: Any) -> Any:
    """Bind a function as a read-only property of Tensor."""
    setattr(Tensor, function.__name__, property(function, doc=function.__doc__))
    return function


@_attribute
def shape(self: Tensor) -> Size:
    """The sizes of the dimensions."""
    return _tuple_new(Size, self._a.shape)


@_attribute
def dtype_(self: Tensor) -> dtype:
    """The type of the elements."""
    return BY_NUMPY[self._a.dtype]


Tensor.dtype = Tensor.dtype_
del Tensor.dtype_


@_attribute
def ndim(self: Tensor) -> int:
    """The number of dimensions."""
    return self._a.ndim


@_attribute
def device_(self: Tensor) -> device:
    """Where the memory lies."""
    return CPU if self._a.__class__.__name__ != "MetaArray" else META


Tensor.device = Tensor.device_
del Tensor.device_


@_attribute
def itemsize(self: Tensor) -> int:
    """Bytes of an element."""
    return self._a.dtype.itemsize


@_attribute
def nbytes(self: Tensor) -> int:
    """Bytes of all elements."""
    return self._a.size * self._a.dtype.itemsize


@_attribute
def layout(self: Tensor) -> shapes.layout:
    """`torch.strided`, or a sparse layout."""
    return getattr(self._a, "layout", shapes.strided)


@_attribute
def is_leaf(self: Tensor) -> bool:
    """Whether the tensor was made by the user, not by an op that is recorded."""
    edge_of(self)
    return self._edge is None


@_attribute
def grad_fn(self: Tensor) -> Node | None:
    """The node of the op that made this tensor, None for a leaf."""
    edge_of(self)
    edge = self._edge
    return edge[0] if edge.__class__ is tuple else edge


@_attribute
def output_nr(self: Tensor) -> int:
    """Which output of its `grad_fn` this tensor is."""
    edge_of(self)
    return self._edge[1] if self._edge.__class__ is tuple else 0


@_attribute
def retains_grad(self: Tensor) -> bool:
    """Whether a non-leaf keeps its gradient."""
    return bool(self._meta and self._meta.get("retains_grad"))


@_attribute
def _version(self: Tensor) -> int:
    return 0 if self._st is None else self._st.version


@_attribute
def _base(self: Tensor) -> Tensor | None:
    return self._view.base if self._view.__class__ is View else self._view


def _get_requires_grad(self: Tensor) -> bool:
    return self._rg if self._rg is not MAYBE else needs_grad(self)


def _set_requires_grad(self: Tensor, value: bool) -> None:
    edge = edge_of(self)
    if edge is not None and edge is not self:
        if not value:
            raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
                               "that doesn't require differentiation use var_no_grad = var.detach().")
        return
    if value and self._a.dtype.kind in "biu":
        raise RuntimeError(f"only Tensors of floating point and complex dtype can require gradients, this one is {self.dtype!r}")
    self._rg = True if value else (MAYBE if self._view is not None else False)
    if value and self._view is not None:
        self._view = None  # a leaf of its own from now on; it still shares memory and version


Tensor.requires_grad = property(_get_requires_grad, _set_requires_grad, doc="Whether gradients are computed for this tensor.")


def _get_grad(self: Tensor) -> Tensor | None:
    if self._grad is None and self._edge is not None and not self.retains_grad:
        warnings.warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
                      "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on it.",
                      UserWarning, stacklevel=2)
    return self._grad


def _set_grad(self: Tensor, value: Tensor | None) -> None:
    if value is not None:
        if not isinstance(value, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got {type(value).__name__}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._a.shape != self._a.shape:
            raise RuntimeError(f"assigned grad has data of a different size: {list(value._a.shape)}, expected {list(self._a.shape)}")
        if value._a.dtype != self._a.dtype:
            raise RuntimeError(f"assigned grad has data of a different type: {value.dtype!r}, expected {self.dtype!r}")
    self._grad = value


def _delete_grad(self: Tensor) -> None:
    self._grad = None


Tensor.grad = property(_get_grad, _set_grad, _delete_grad, doc="The accumulated gradient, or None.")


def _get_data(self: Tensor) -> Tensor:
    """The same memory without history, and with a version count of its own: writes to it are not seen by the check of saved tensors."""
    t = wrap(self._a)
    if self._st is not None:
        t._st = Shared(self._st.root)
    cls = type(self)
    return t if cls in PLAIN else keep_class(t, cls)


def _set_data(self: Tensor, value: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if (value._a.__class__ is MetaArray) != (self._a.__class__ is MetaArray):
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type: they lie on "
                           f"{self.device} and {value.device}.")
    if self._rg is True and value._a.dtype.kind in "biu":
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    version = 0 if self._st is None else self._st.version
    self._a = value._a
    self._st = Shared(value._st.root if value._st is not None else root_of(value._a))
    self._st.version = version
    if self._view is not None:
        self._view = None
        self._rg = self._rg is True


Tensor.data = property(_get_data, _set_data, doc="The tensor's memory without its history; assigning gives the tensor other memory.")


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The stride of every dimension (or of one), in elements."""
    a = self._a
    size = a.dtype.itemsize
    if a.size == 0 or 1 in a.shape:
        strides = _numpy_to_torch_strides(a)
    else:
        strides = tuple([s // size for s in a.strides])
    return strides if dim is None else strides[shapes.wrap_dim(dim, a.ndim)]


def _numpy_to_torch_strides(a: Any) -> tuple[int, ...]:
    """NumPy leaves arbitrary strides on dimensions of size 1 and on empty arrays; a dense one shows the row-major strides."""
    plain = shapes.contiguous_strides(a.shape)
    own = tuple([s // a.dtype.itemsize for s in a.strides])
    return plain if a.size == 0 or (shapes.is_contiguous(a.shape, own) and all(n != 1 or s == 0 for n, s in zip(a.shape, own))) else own


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    if dim is None:
        return _tuple_new(Size, self._a.shape)
    found = self._a.shape
    return found[dim] if 0 <= dim < len(found) else found[_existing(dim, len(found))]


def _existing(dim: int, rank: int) -> int:
    if rank == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions" if dim in (0, -1) else
                         f"Dimension out of range (expected to be in range of [-1, 0], but got {dim})")
    return shapes.wrap_dim(dim, rank)


def numel(self: Tensor) -> int:
    """The number of elements."""
    return self._a.size


def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return self._a.ndim


def element_size(self: Tensor) -> int:
    """Bytes of an element."""
    return self._a.dtype.itemsize


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the tensor lies dense in row-major order (or in `memory_format`)."""
    a = self._a
    name = "contiguous_format" if memory_format is None else memory_format.name
    if name in ("contiguous_format", "preserve_format"):
        return shapes.is_contiguous(a.shape, tuple(s // a.dtype.itemsize for s in a.strides))
    return shapes.is_channels_last(a.shape, self.stride(), 4 if name == "channels_last" else 5)


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a (real) floating point type."""
    return BY_NUMPY[self._a.dtype].is_floating_point


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is complex."""
    return self._a.dtype.kind == "c"


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative values."""
    return BY_NUMPY[self._a.dtype].is_signed


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad` in place."""
    self.requires_grad = requires_grad
    return self


for _function in (stride, size, numel, dim, element_size, is_contiguous, is_floating_point, is_complex, is_signed, requires_grad_):
    setattr(Tensor, _function.__name__, _function)
Tensor.nelement, Tensor.ndimension = numel, dim
for _name, _value in {"is_cuda": False, "is_sparse": False, "is_sparse_csr": False, "is_quantized": False, "is_mkldnn": False, "is_mps": False,
                      "is_xpu": False, "is_nested": False, "is_xla": False, "is_vulkan": False, "is_ipu": False, "is_maia": False,
                      "is_mtia": False, "name": None, "names": None}.items():
    setattr(Tensor, _name, _value)
Tensor.is_cpu = property(lambda self: self.device.type == "cpu")
Tensor.is_meta = property(lambda self: self.device.type == "meta")
