"""Writing values into existing tensors: copy_, fill, zero_, and changes of what a tensor is over: set_, resize_, data."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.dtypes import BY_NUMPY
from saraph.ops import promotion
from saraph.ops.inplace import check_distinct, check_writable, resize, update
from saraph.ops.options import as_sizes, check_number
from saraph.ops.promotion import cast, check_tensor, is_number, unbroadcast
from saraph.ops.registry import method, op
from saraph.shapes import broadcast_shapes, contiguous_strides
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.storage import Shared, shared_of
from saraph.tensor.storages import TypedStorage, UntypedStorage, window
from saraph.tensor.tensor import Tensor, bump, needs_grad, record


def tracked(*values: Any) -> bool:
    """Whether a write that involves these (Tensors, or anything else) is to be recorded."""
    if thread.grad:
        for x in values:
            if isinstance(x, Tensor) and x._rg and needs_grad(x):
                return True
    return False


# -- copy_ -------------------------------------------------------------------------------------------------------------------


@derivative("CopyBackwards")
def CopyBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Nothing of the old value is left; the source gets the gradient in its own shape and dtype."""
    old = g.new_zeros(g.shape) if node.needs(0) else None
    return old, cast(unbroadcast(g, node.shape), node.source) if node.needs(1) else None


@op(namespaces=())
def copy(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """A tensor like `input` with the values of `src` (broadcast, converted)."""
    a, b = check_tensor(input, "copy")._a, check_tensor(src, "copy", "src")._a
    array = of(a).empty_like(a, a.dtype)
    _copy_values(array, b, "copy")
    return record(array, CopyBackward, (input, src), shape=b.shape, source=BY_NUMPY[b.dtype])


def _copy_values(destination: Any, source: Any, name: str) -> None:
    library = of(destination)
    if of(source) is not library:
        if library.name == "meta":
            return
        of(source).host(source)
    shape = destination.shape
    if source.shape != shape:
        if broadcast_shapes(shape, source.shape, op=name) != shape:
            raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape "
                               f"{list(broadcast_shapes(shape, source.shape))} in {name}")
    if source.dtype != destination.dtype and (source.dtype.kind not in "biuf" or destination.dtype.kind not in "biuf"
                                              or destination.dtype.kind in "iu"):
        source = library.cast(source, destination.dtype)
    library.copy_into(destination, source)


@method("copy_")
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the values of `src` (broadcast, converted to this dtype) over the tensor; differentiable with respect to `src`.

    Example: `torch.zeros(2, 3).copy_(torch.arange(3))`. RuntimeError where `src` does not broadcast to the tensor's shape.
    """
    if src.__class__ is Tensor and not tracked(self, src):
        a, b = self._a, src._a
        if a.dtype is b.dtype and a.shape == b.shape and 0 not in a.strides and of(a, b) is of(a):
            check_writable(self, "copy_")
            of(a).copy_into(a, b)
            bump(self)
            return self
    if not isinstance(src, Tensor):
        if not is_number(src):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
        src = promotion.scalar_tensor(src, self.dtype, self._a)
    check_distinct(self._a, "copy_")
    if tracked(self, src):
        return update(self, "copy_", copy.__wrapped__, (src,), {})
    check_writable(self, "copy_")
    _copy_values(self._a, src._a, "copy_")
    bump(self)
    return self


# -- fill --------------------------------------------------------------------------------------------------------------------


@derivative("FillBackward0")
def FillBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    old = g.new_zeros(g.shape) if node.needs(0) else None
    return old, cast(g.sum(), node.source) if node.needs(1) else None


@op(method=True)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with every element `value`: a number or a zero-dim tensor."""
    a = check_tensor(input, "fill")._a
    array = of(a).empty_like(a, a.dtype)
    source = _fill_values(array, value, "fill")
    return record(array, FillBackward, (input, source), source=None if source is None else source.dtype)


def _fill_values(a: Any, value: Any, name: str) -> Tensor | None:
    """Fill an array; returns the value if it is a Tensor."""
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError(f"{name} only supports 0-dimension value tensor but got tensor with {value._a.ndim} dimensions.")
        if of(a).name != "meta":
            v = value._a
            of(a).fill(a, v if v.dtype == a.dtype else of(v).cast(v, a.dtype))
        return value
    if not is_number(value):
        raise TypeError(f"{name}(): argument 'value' must be Number or Tensor, not {type(value).__name__}")
    kind = BY_NUMPY[a.dtype]
    of(a).fill(a, check_number(value if not hasattr(value, "item") else value.item(), kind, name))
    return None


@op(method="fill_", name="fill_")
def fill_(input: Tensor, value: Any) -> Tensor:
    """Make every element `value` (a number or a zero-dim tensor), in place; differentiable with respect to a tensor's value."""
    if tracked(input, value):
        return update(input, "fill_", fill.__wrapped__, (value,), {})
    check_writable(input, "fill_")
    _fill_values(input._a, value, "fill_")
    bump(input)
    return input


@op(method="zero_", name="zero_")
def zero_(input: Tensor) -> Tensor:
    """Make every element zero, in place."""
    if tracked(input):
        return update(input, "zero_", fill.__wrapped__, (0,), {})
    check_writable(input, "zero_")
    of(input._a).fill(input._a, 0)
    bump(input)
    return input


# -- other memory, other sizes -------------------------------------------------------------------------------------------------


def _no_grad_needed(x: Tensor, what: str) -> None:
    if x._rg and thread.grad and needs_grad(x):
        raise RuntimeError(f"{what} (its shape is {list(x._a.shape)}: use it inside torch.no_grad(), or on x.detach())")


@method("resize_")
def resize_(self: Tensor, size: Any = (), *more: int, memory_format: Any = None) -> Tensor:
    """Give the tensor another size, in row-major order, in its own memory where that is large enough; new elements are uninitialised.

    RuntimeError for a tensor that requires grad.
    """
    _no_grad_needed(self, "cannot resize variables that require grad")
    shape = as_sizes((size, *more), "resize_")
    if shape != self._a.shape:
        resize(self, shape)
    if memory_format is not None and memory_format.name.startswith("channels_last"):
        self._a = of(self._a).copy_as(self._a, memory_format.name)
        self._st = None
    bump(self)
    return self


@op(name="resize_as_", method="resize_as_")
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`input.resize_(the_template.shape)`."""
    return resize_(input, check_tensor(the_template, "resize_as_", "the_template")._a.shape, memory_format=memory_format)


@method("resize")
def resize_copy(self: Tensor, *sizes: Any) -> Tensor:
    """The tensor with another size and the same number of elements (deprecated in PyTorch: use `reshape`)."""
    return self.reshape(as_sizes(sizes, "resize"))


@method("set_")
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Put the tensor over other memory: that of a Tensor (with its sizes), or a storage with sizes and strides; nothing: no memory."""
    _no_grad_needed(self, "set_() cannot be used on a tensor that requires grad")
    kind = self.dtype
    if source is None:
        return _adopt(self, of(self._a).empty((0,), kind.numpy), None)
    if isinstance(source, Tensor):
        if source.dtype is not kind:
            raise RuntimeError(f"Could not set tensor of type {source.dtype!r} to a tensor of type {kind!r}")
        if size is None:
            return _adopt(self, source._a, shared_of(source).root)
        where = source.untyped_storage()
    elif isinstance(source, TypedStorage):
        if source.dtype is not kind:
            raise RuntimeError(f"Could not set a storage of type {source.dtype!r} to a tensor of type {kind!r}")
        where = source.untyped()
    elif isinstance(source, UntypedStorage):
        where = source
    else:
        raise TypeError(f"set_(): argument 'source' must be Tensor or Storage, not {type(source).__name__}")
    shape = (where.nbytes() // kind.itemsize,) if size is None else as_sizes((size,), "set_")
    strides = contiguous_strides(shape) if stride is None else as_sizes((stride,), "set_", "stride")
    return _adopt(self, window(where, kind, storage_offset, shape, strides), where._root)


def _adopt(x: Tensor, array: Any, root: Any) -> Tensor:
    version = 0 if x._st is None else x._st.version
    x._a = array
    x._st = Shared(array if root is None else root)
    x._st.version = version + 1
    x._view, x._edge, x._rg = None, None, x._rg is True
    return x


@method("pin_memory")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raises: pinned memory belongs to accelerators."""
    raise RuntimeError("Cannot access accelerator device when none is available: pin_memory() needs one.")


@method("is_pinned")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """False: there is no accelerator to pin memory for."""
    return False
