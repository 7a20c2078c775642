"""Storages and tensors, as a file describes them, made again."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import MetaArray, SparseArray, of
from saraph.ops.sparse import check_compressed, check_coo, sparse_compressed_tensor
from saraph.serialization.names import LAYOUTS
from saraph.tensor.parameter import Buffer, Parameter
from saraph.tensor.storage import Shared
from saraph.tensor.tensor import Tensor, wrap, wrap_as

_thread = threading.local()


@contextmanager
def completing() -> Iterator[None]:
    """While a file is read: what must wait until all bytes are there (in old files they come last) is done at the end."""
    before = getattr(_thread, "later", None)
    _thread.later = []
    try:
        yield
        for action in _thread.later:
            action()
    finally:
        _thread.later = before


def afterwards(action: Callable[[], None]) -> None:
    """Do this when all bytes are there."""
    _thread.later.append(action)


def _replace(t: Tensor, name: str) -> None:
    """Give a tensor the result of a primitive on its values."""
    t._a = np.asarray(getattr(of(t._a), name)(t._a))
    t._st = None


class LoadedStorage:
    """A storage of a file: its bytes, and what the file says of their type."""

    __slots__ = ("data", "kind", "shared", "location")

    def __init__(self, data: np.ndarray | None, kind: dtypes.dtype | None, location: str):
        self.data, self.kind, self.location = data, kind, location  # data None: only shapes are wanted (map_location="meta")
        self.shared = Shared(data)

    def retyped(self, kind: dtypes.dtype | None) -> LoadedStorage:
        """The same bytes under another type."""
        if kind is self.kind:
            return self
        other = LoadedStorage(self.data, kind, self.location)
        other.shared = self.shared
        return other


def _array(storage: LoadedStorage, kind: dtypes.dtype, offset: int, size: Any, stride: Any) -> Any:
    shape, strides = tuple(int(n) for n in size), tuple(int(s) for s in stride)
    item = kind.itemsize
    if storage.data is None:
        return MetaArray(shape, kind.numpy, tuple(s * item for s in strides))
    if offset < 0 or any(n < 0 for n in shape) or any(s < 0 for s in strides) or len(shape) != len(strides):
        raise RuntimeError(f"a tensor of the file has an impossible geometry: offset {offset}, size {shape}, stride {strides}")
    if 0 in shape:
        return np.empty(shape, kind.numpy)
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides))
    if (last + 1) * item > storage.data.nbytes:
        raise RuntimeError(f"a tensor of the file reaches beyond its storage: offset {offset}, size {shape}, stride {strides} need "
                           f"{(last + 1) * item} bytes, the storage has {storage.data.nbytes}")
    return np.ndarray(shape, _raw(kind), storage.data, offset * item, tuple(s * item for s in strides)).view(kind.numpy)


def _raw(kind: dtypes.dtype) -> np.dtype:
    """A dtype of the same size that NumPy's buffer constructor takes."""
    return kind.numpy if kind.numpy.kind != "V" else np.dtype(f"u{kind.itemsize}")


def tensor(storage: LoadedStorage, offset: int, size: Any, stride: Any) -> Tensor:
    """torch._utils._rebuild_tensor."""
    return tensor_v3(storage, offset, size, stride, False, None, storage.kind)


def tensor_v2(storage: LoadedStorage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, metadata: Any = None) -> Tensor:
    """torch._utils._rebuild_tensor_v2."""
    return tensor_v3(storage, offset, size, stride, requires_grad, hooks, storage.kind, metadata)


def tensor_v3(storage: LoadedStorage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, kind: dtypes.dtype,
              metadata: Any = None) -> Tensor:
    """torch._utils._rebuild_tensor_v3: the bytes are read as `kind`."""
    if not isinstance(storage, LoadedStorage) or not isinstance(kind, dtypes.dtype):
        raise RuntimeError("a tensor of the file has no storage")
    t = wrap(_array(storage, kind, offset, size, stride))
    if storage.data is not None and t._a.size:
        t._st = storage.shared
    if isinstance(metadata, dict) and storage.data is not None:  # bits of lazy views in PyTorch; values here
        for name in ("conj", "neg"):
            if metadata.get(name):
                afterwards(partial(_replace, t, name))
    if requires_grad:
        t.requires_grad = True
    return t


def parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Parameter:
    """torch._utils._rebuild_parameter."""
    return Parameter(data, requires_grad)


def parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: Any) -> Parameter:
    """torch._utils._rebuild_parameter_with_state."""
    return _with_state(Parameter(data, requires_grad), state)


def buffer(data: Tensor, requires_grad: bool, persistent: bool) -> Any:
    """torch._utils._rebuild_buffer."""
    return Buffer(data, persistent=persistent)


def _with_state(value: Tensor, state: Any) -> Tensor:
    attributes = state[0] if isinstance(state, tuple) else state
    for key, item in (attributes or {}).items():
        if not isinstance(key, str) or key.startswith("_") or hasattr(type(value), key):
            continue  # only the user's own attributes
        setattr(value, key, item)
    return value


def from_type(function: Any, cls: type, args: tuple, state: Any) -> Tensor:
    """torch._tensor._rebuild_from_type_v2: a tensor of a subclass, or with Python attributes."""
    value = function(*args)
    if isinstance(cls, type) and issubclass(cls, Tensor) and type(value) is not cls and not isinstance(value, Parameter):
        made = wrap_as(cls, value._a)
        made._st, made._rg = value._st, value._rg
        value = made
    return _with_state(value, state)


def sparse(layout: Any, data: tuple) -> Tensor:
    """torch._utils._rebuild_sparse_tensor."""
    if layout.name == "sparse_coo":
        indices, values, size = data[:3]
        t = wrap(SparseArray(indices._a, values._a, tuple(int(n) for n in size), bool(data[3]) if len(data) > 3 else False))
        afterwards(partial(check_coo, indices._a, values._a, t._a.shape))
        return t
    compressed, plain, values, size = data[:4]
    afterwards(partial(check_compressed, compressed, plain, values, size, layout))
    return sparse_compressed_tensor(compressed, plain, values, size, layout=layout)


def meta(kind: dtypes.dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """torch._utils._rebuild_meta_tensor_no_storage."""
    t = wrap(MetaArray(tuple(size), kind.numpy, tuple(s * kind.itemsize for s in stride)))
    t.requires_grad = requires_grad
    return t


def get_layout(name: str) -> Any:
    """torch.serialization._get_layout."""
    return LAYOUTS[name]


REBUILDERS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor"): tensor, ("torch._utils", "_rebuild_tensor_v2"): tensor_v2, ("torch._utils", "_rebuild_tensor_v3"): tensor_v3,
    ("torch._utils", "_rebuild_parameter"): parameter, ("torch._utils", "_rebuild_parameter_with_state"): parameter_with_state,
    ("torch._utils", "_rebuild_buffer"): buffer, ("torch._utils", "_rebuild_sparse_tensor"): sparse,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): meta, ("torch._tensor", "_rebuild_from_type_v2"): from_type,
    ("torch.serialization", "_get_layout"): get_layout,
}
