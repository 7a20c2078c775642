"""Copying and pickling tensors, DLPack, and the functions that rebuild tensors from what a pickle holds.

A tensor pickles as its storage (shared with every other tensor over that memory), offset, sizes and strides. A serializer that keeps storages
apart sees them as objects of UntypedStorage and TypedStorage in its `persistent_id`; a storage's identity is `_cdata`.
"""
from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.backends.meta import MetaArray
from saraph.devices import META
from saraph.dtypes import dtype, from_numpy_dtype
from saraph.shapes import strided
from saraph.tensor.storage import Shared, shared_of
from saraph.tensor.storages import storage_offset, tensor_over, typed_storage, untyped_storage
from saraph.tensor.subclass import share
from saraph.tensor.tensor import Tensor, edge_of, needs_grad, wrap

_DERIVED = ("_is_param", "_is_buffer")


# -- rebuilding ----------------------------------------------------------------------------------------------------------------


def rebuild_tensor(storage: Any, storage_offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """A tensor over a TypedStorage."""
    return tensor_over(storage.untyped(), storage.dtype, storage_offset, tuple(size), tuple(stride))


def rebuild_tensor_v2(storage: Any, storage_offset: int, size: tuple[int, ...], stride: tuple[int, ...], requires_grad: bool,
                      backward_hooks: Any, metadata: Any = None) -> Tensor:
    """A leaf over a TypedStorage."""
    t = rebuild_tensor(storage, storage_offset, size, stride)
    t._rg = bool(requires_grad)
    return t


def rebuild_tensor_v3(storage: Any, storage_offset: int, size: tuple[int, ...], stride: tuple[int, ...], requires_grad: bool,
                      backward_hooks: Any, kind: dtype, metadata: Any = None) -> Tensor:
    """A leaf over an UntypedStorage, with its dtype named: for dtypes that have no TypedStorage name."""
    t = tensor_over(storage.untyped(), kind, storage_offset, tuple(size), tuple(stride))
    t._rg = bool(requires_grad)
    return t


def rebuild_meta_tensor_no_storage(kind: dtype, size: tuple[int, ...], stride: tuple[int, ...], requires_grad: bool) -> Tensor:
    """A tensor on the meta device."""
    t = wrap(MetaArray(tuple(size), kind.numpy, [s * kind.itemsize for s in stride]))
    t._rg = bool(requires_grad)
    return t


def rebuild_sparse(array: Any, requires_grad: bool) -> Tensor:
    """A sparse tensor."""
    t = wrap(array)
    t._rg = bool(requires_grad)
    return t


def rebuild_from_type_v2(func: Callable, new_type: type, args: tuple, state: Any) -> Any:
    """A tensor of a subclass, with its Python attributes."""
    t = func(*args)
    if type(t) is not new_type:
        t = share(t, new_type)
    if hasattr(new_type, "__setstate__"):
        t.__setstate__(state)
        return t
    return set_state(t, state)


def state_of(x: Any) -> Any:
    """The Python attributes of a tensor: a dict, or (dict, slots) for classes with `__slots__`."""
    own = getattr(type(x), "__getstate__", None)
    if own is not None and own is not getattr(object, "__getstate__", None):
        return own(x)
    attributes = {k: v for k, v in x.__dict__.items() if k not in _DERIVED}
    slots = {name: getattr(x, name) for cls in type(x).__mro__ if cls is not Tensor and issubclass(cls, Tensor)
             for name in _slot_names(cls) if hasattr(x, name)}
    return (attributes, slots) if slots else attributes


def _slot_names(cls: type) -> tuple[str, ...]:
    names = cls.__dict__.get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)


def set_state(x: Any, state: Any) -> Any:
    """Give a tensor the attributes that `state_of` returned."""
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for key, value in (attributes or {}).items():
        setattr(x, key, value)
    for key, value in (slots or {}).items():
        setattr(x, key, value)
    return x


# -- pickling ------------------------------------------------------------------------------------------------------------------


def _strides(x: Tensor) -> tuple[int, ...]:
    return tuple(x.stride())


def plain(x: Tensor) -> Tensor:
    """A plain Tensor over x's memory, without history."""
    t = wrap(x._a)
    t._st = shared_of(x)
    return t


def reduced(x: Tensor) -> tuple[Callable, tuple]:
    """(function, arguments) that rebuild a tensor as a plain Tensor."""
    requires = needs_grad(x)
    if x.device is META:
        return rebuild_meta_tensor_no_storage, (x.dtype, tuple(x._a.shape), _strides(x), requires)
    if x.layout is not strided:
        return rebuild_sparse, (x._a, requires)
    storage = typed_storage(x)
    if storage.pickle_storage_type() == "UntypedStorage":
        return rebuild_tensor_v3, (storage.untyped(), storage_offset(x), tuple(x._a.shape), _strides(x), requires, OrderedDict(), x.dtype)
    return rebuild_tensor_v2, (storage, storage_offset(x), tuple(x._a.shape), _strides(x), requires, OrderedDict())


def __reduce_ex__(self: Tensor, protocol: int) -> Any:
    """How a tensor pickles; a non-leaf comes back as a leaf that requires grad."""
    function, arguments = reduced(self)
    state = state_of(self)
    if type(self) is Tensor and not state:
        return function, arguments
    return rebuild_from_type_v2, (function, type(self), arguments, state)


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A copy with its own memory (shared among the tensors of one deepcopy that share it), gradient and attributes."""
    if id(self) in memo:
        return memo[id(self)]
    if edge_of(self) is not None and edge_of(self) is not self:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
                           "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage; this tensor's "
                           f"grad_fn is {self.grad_fn!r}. Copy tensor.detach().clone() instead.")
    if self.device is META:
        t = wrap(self._a)
    elif self.layout is not strided:
        t = wrap(copy.deepcopy(self._a, memo))
    else:
        where = untyped_storage(self).__deepcopy__(memo)
        t = tensor_over(where, self.dtype, storage_offset(self), tuple(self._a.shape), tuple(s // self._a.dtype.itemsize for s in self._a.strides))
    t._rg = self._rg is True
    if type(self) is not Tensor:
        t = share(t, type(self))
    memo[id(self)] = t
    if self._grad is not None:
        t._grad = copy.deepcopy(self._grad, memo)
    for key, value in self.__dict__.items():
        setattr(t, key, copy.deepcopy(value, memo))
    return t


Tensor.__reduce_ex__ = __reduce_ex__
Tensor.__deepcopy__ = __deepcopy__


_SLOTS = ("_a", "_rg", "_edge", "_st", "_grad", "_view", "_meta")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange everything about two tensors (memory, history, gradient, class, attributes): every holder of one now holds the other.

    RuntimeError for a tensor that is part of a graph, whose nodes would not know.
    """
    for t in (t1, t2):
        if t._meta and "accumulator" in t._meta or (edge_of(t) is not None and edge_of(t) is not t):
            raise RuntimeError(f"swap_tensors: cannot swap a tensor (shape {list(t._a.shape)}) that is part of a backward graph")
    for slot in _SLOTS:
        a, b = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, b)
        setattr(t2, slot, a)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for t in (t1, t2):
        if t._view is not None:
            t._seen = -1  # its node is looked up again when it is next used


# -- DLPack --------------------------------------------------------------------------------------------------------------------


def __dlpack__(self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
    """A DLPack capsule over the tensor's memory. BufferError for tensors that require grad or have no memory."""
    if needs_grad(self):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    a = self._a
    if a.__class__ is MetaArray:
        raise BufferError("Cannot pack tensors on meta")
    if a.dtype.kind == "V" or a.dtype.name.startswith(("bfloat16", "float8")):
        raise BufferError(f"{self.dtype!r} cannot be exchanged through NumPy's DLPack: use .float()")
    if max_version is None:
        return a.__dlpack__(stream=stream, dl_device=dl_device, copy=copy)
    return a.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """(device type, index) as DLPack numbers them."""
    if self._a.__class__ is MetaArray:
        raise ValueError(f"Unknown device type {self.device} for Dlpack")
    return 1, 0


class _Capsule:
    """A bare capsule, dressed as the protocol that NumPy reads."""

    __slots__ = ("capsule",)

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class _Writable:
    """An imported array's memory, writable: DLPack of the first versions does not say, and PyTorch writes."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, array: np.ndarray):
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}
        self.base = array


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of any object with `__dlpack__` (or of a capsule)."""
    if isinstance(ext_tensor, Tensor):
        return plain(ext_tensor)
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    if source is not ext_tensor and type(ext_tensor).__name__ != "PyCapsule":
        raise TypeError(f"from_dlpack(): the argument must have __dlpack__ or be a DLPack capsule, not {type(ext_tensor).__name__}")
    array = np.from_dlpack(source)
    if copy:
        array = array.copy()
    elif not array.flags.writeable:
        array = np.asarray(_Writable(array))
    from_numpy_dtype(array.dtype)
    t = wrap(array)
    t._st = Shared(array)
    return t


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule over a tensor's memory."""
    return tensor.__dlpack__()


Tensor.__dlpack__ = __dlpack__
Tensor.__dlpack_device__ = __dlpack_device__
