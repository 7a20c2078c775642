"""UntypedStorage and TypedStorage: the memory behind tensors, as bytes and as elements of one type.

An UntypedStorage stands for the array that owns the memory (its root); asking twice for the storage of the same memory gives the same object.
"""
from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from saraph import config
from saraph.backends import on
from saraph.backends.meta import MetaArray
from saraph.devices import CPU, META, resolve
from saraph.devices import device as Device
from saraph.dtypes import BY_NAME, dtype
from saraph.tensor import shared_memory
from saraph.tensor.storage import Shared, root_extent, shared_of
from saraph.tensor.tensor import Tensor, wrap

_known: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()


class _Bytes:
    """The bytes of an owning array for NumPy to wrap; keeps that array alive."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, root: np.ndarray):
        start, size = root_extent(root)
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,), "strides": (1,), "data": (start, not root.flags.writeable)}
        self.base = root


def bytes_of(root: np.ndarray) -> np.ndarray:
    """All bytes of the memory that an array owns, as uint8 over the same memory."""
    if root.flags.c_contiguous:
        return root.reshape(-1).view(np.uint8)
    return np.asarray(_Bytes(root))


class UntypedStorage:
    """A block of bytes that tensors share.

    `UntypedStorage(n)` is n uninitialised bytes, `UntypedStorage([1, 2])` has these bytes; `tensor.untyped_storage()` is a tensor's own.
    """

    __slots__ = ("_root", "_place", "__weakref__")

    def __init__(self, *args: Any, device: Any = None):
        if len(args) > 1:
            raise TypeError(f"UntypedStorage() takes at most one positional argument: a size or a sequence of bytes ({len(args)} given)")
        place = resolve(device)
        content = args[0] if args else 0
        if isinstance(content, int):
            if content < 0:
                raise RuntimeError(f"UntypedStorage: the size must not be negative, got {content}")
            root: Any = on(place).empty((content,), np.dtype(np.uint8))
        else:
            root = np.array([int(b) & 255 for b in content], np.uint8)
        self._adopt(root)

    def _adopt(self, root: Any) -> None:
        self._root = root
        self._place = META if root.__class__ is MetaArray else CPU
        _known[id(root)] = self

    @classmethod
    def over(cls, root: Any) -> UntypedStorage:
        """The storage of the memory that `root` owns."""
        found = _known.get(id(root))
        if found is None:
            found = object.__new__(UntypedStorage)
            found._adopt(root)
        return found

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str = "native", *, dtype: Any = None, count: int = -1, offset: int = 0) -> UntypedStorage:
        """A copy of a buffer's bytes."""
        size = 1 if dtype is None else dtype.itemsize
        content = np.frombuffer(buffer, np.uint8, count * size if count >= 0 else -1, offset).copy()
        if size > 1 and byte_order not in ("native", "little"):
            content = content.reshape(-1, size)[:, ::-1].reshape(-1).copy()
        return cls.over(content)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, mapped; with `shared` writes go to the file (which grows to `nbytes`)."""
        return cls.over(shared_memory.map_file(filename, shared, nbytes))

    @property
    def array(self) -> np.ndarray:
        """The bytes as a NumPy array over the same memory."""
        if self._place is META:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return bytes_of(self._root)

    @property
    def device(self) -> Device:
        """Where the memory lies."""
        return self._place

    @property
    def _cdata(self) -> int:
        return id(self._root)

    is_cuda = is_sparse = is_sparse_csr = is_hpu = False

    @property
    def is_cpu(self) -> bool:
        """Whether the memory is the CPU's."""
        return self._place is CPU

    def nbytes(self) -> int:
        """The size in bytes."""
        return root_extent(self._root)[1]

    size = nbytes
    __len__ = nbytes

    def element_size(self) -> int:
        """1: the elements are bytes."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return 0 if self._place is META or not self.nbytes() else root_extent(self._root)[0]

    def __getitem__(self, index: Any) -> Any:
        found = self.array[index]
        return int(found) if isinstance(index, int) else UntypedStorage.over(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[index] = int(value) & 255 if isinstance(value, int) else value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._root is self._root

    def __hash__(self) -> int:
        return id(self._root)

    def __repr__(self) -> str:
        content = "" if self._place is META else " " + "\n ".join(map(str, self.array)) + "\n"
        return f"{content}[torch.storage.UntypedStorage(device={self._place}) of size {self.nbytes()}]"

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return self.array.tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Make every byte `value`."""
        self.array.fill(int(value) & 255)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Take over the bytes of another storage of the same size."""
        content = source.untyped() if isinstance(source, TypedStorage) else source
        if content.nbytes() != self.nbytes():
            raise RuntimeError(f"size does not match, self was {self.nbytes()} bytes but src was {content.nbytes()} bytes")
        self.array[...] = content.array
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage.over(MetaArray((self.nbytes(),), np.dtype(np.uint8)) if self._place is META else self.array.copy())

    def cpu(self) -> UntypedStorage:
        """The storage in the CPU's memory."""
        self.array  # noqa: B018 (raises on meta)
        return self

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def byteswap(self, kind: dtype) -> None:
        """Turn the bytes of every element around."""
        part = 1 if kind.is_complex is False else 2
        self.array.view(f"V{kind.itemsize // part}").view(f"u{kind.itemsize // part}").byteswap(inplace=True)

    def is_shared(self) -> bool:
        """Whether other processes can map the memory."""
        return shared_memory.is_shared(self._root)

    def is_pinned(self, device: Any = None) -> bool:
        """False: there is no accelerator to pin memory for."""
        return False

    def type(self) -> str:
        """'torch.UntypedStorage'."""
        return "torch.UntypedStorage"

    def resizable(self) -> bool:
        """False: an array's memory has the size it was made with."""
        return False

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> UntypedStorage:
        key = ("storage", self._cdata)
        if key not in memo:
            memo[key] = self.clone()
        return memo[key]

    def __reduce__(self) -> Any:
        return (_meta_storage, (self.nbytes(),)) if self._place is META else (_storage_of_bytes, (self.array.tobytes(),))


def _storage_of_bytes(content: bytes) -> UntypedStorage:
    return UntypedStorage.over(np.frombuffer(bytearray(content), np.uint8))


def _meta_storage(size: int) -> UntypedStorage:
    return UntypedStorage(size, device="meta")


_warned: set[str] = set()


def _deprecated() -> None:
    if _warned:
        return
    _warned.add("TypedStorage")
    warnings.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should "
                  "only matter to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() "
                  "instead of tensor.storage()", UserWarning, stacklevel=3)


class _LegacyMeta(type):
    """`isinstance(storage, FloatStorage)` asks for the dtype."""

    def __instancecheck__(cls, value: object) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        return cls is not TypedStorage and type.__instancecheck__(TypedStorage, value) and value.dtype is cls.dtype


class TypedStorage(metaclass=_LegacyMeta):
    """A storage seen as elements of one dtype. Deprecated in PyTorch: use UntypedStorage.

    `TypedStorage(n, dtype=...)`, `TypedStorage([values], dtype=...)`, or `TypedStorage(wrap_storage=untyped, dtype=...)`.
    """

    dtype: dtype
    is_sparse = False
    is_cuda = False

    def __init__(self, *args: Any, wrap_storage: UntypedStorage | None = None, dtype: Any = None, device: Any = None, _internal: bool = False):
        kind = dtype if dtype is not None else getattr(type(self), "dtype", None)
        self.dtype = config.settings.default_dtype if kind is None else kind
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            self._untyped_storage = wrap_storage
            return
        content = args[0] if args else 0
        if isinstance(content, int):
            self._untyped_storage = UntypedStorage(content * self.dtype.itemsize, device=device)
        else:
            self._untyped_storage = UntypedStorage.over(np.array(list(content), self.dtype.numpy))

    @property
    def array(self) -> np.ndarray:
        """The elements as a NumPy array over the same memory."""
        content = self._untyped_storage.array
        return content[: content.size // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype.numpy)

    @property
    def device(self) -> Device:
        """Where the memory lies."""
        return self._untyped_storage.device

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """The number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    _size = size
    __len__ = size

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def _position(self, index: Any) -> int:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        count = self.size()
        if not -count <= index < count:
            raise IndexError(f"index {index} out of range for storage of size {count}")
        return index

    def __getitem__(self, index: Any) -> Any:
        return self.array[self._position(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[index if isinstance(index, slice) else self._position(index)] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and other._untyped_storage == self._untyped_storage and other.dtype is self.dtype

    def __hash__(self) -> int:
        return hash(self._untyped_storage)

    def __repr__(self) -> str:
        content = "" if self.device is META else " " + "\n ".join(map(str, self.tolist())) + "\n"
        return f"{content}[torch.storage.TypedStorage(dtype={self.dtype!r}, device={self.device}) of size {self.size()}]"

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self.array.tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Make every element `value`."""
        self.array.fill(value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Take over the elements of another storage of the same length, converted."""
        self.array[...] = (source if isinstance(source, TypedStorage) else TypedStorage(wrap_storage=source, dtype=self.dtype)).array
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def cpu(self) -> TypedStorage:
        """The storage in the CPU's memory."""
        return TypedStorage(wrap_storage=self._untyped_storage.cpu(), dtype=self.dtype)

    def to_dtype(self, kind: dtype) -> TypedStorage:
        """A copy in another dtype."""
        return TypedStorage(wrap_storage=UntypedStorage.over(self.array.astype(kind.numpy)), dtype=kind)

    def is_shared(self) -> bool:
        """Whether other processes can map the memory."""
        return self._untyped_storage.is_shared()

    def is_pinned(self, device: Any = None) -> bool:
        """False: there is no accelerator to pin memory for."""
        return False

    def pickle_storage_type(self) -> str:
        """The class name that stands for the dtype in checkpoints, such as 'FloatStorage'."""
        return _STORAGE_NAMES.get(self.dtype.name, "UntypedStorage")

    def type(self, dtype: Any = None) -> Any:
        """The name of the type, or a copy in another dtype."""
        return f"torch.{self.pickle_storage_type()}" if dtype is None else self.to_dtype(dtype)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.__deepcopy__(memo), dtype=self.dtype)

    def __reduce__(self) -> Any:
        return _typed_storage, (self._untyped_storage, self.dtype)


def _typed_storage(storage: UntypedStorage, kind: dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=kind)


for _name, _kind in {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32", "long": "int64",
                     "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "complex_float": "complex64",
                     "complex_double": "complex128"}.items():
    setattr(TypedStorage, _name, lambda self, kind=BY_NAME[_kind]: self.to_dtype(kind))

_STORAGE_NAMES = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
                  "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage", "int64": "LongStorage",
                  "bool": "BoolStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage"}
LEGACY: dict[str, type[TypedStorage]] = {
    name: _LegacyMeta(name, (TypedStorage,), {"dtype": BY_NAME[kind], "__module__": "saraph", "__doc__": f"A TypedStorage of {kind} elements."})
    for kind, name in _STORAGE_NAMES.items()}


def is_storage(obj: Any, /) -> bool:
    """Whether obj is a storage."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


# -- from and to tensors -----------------------------------------------------------------------------------------------------


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory behind the tensor, as bytes; tensors that share memory have the same."""
    return UntypedStorage.over(shared_of(self).root)


def storage(self: Tensor) -> TypedStorage:
    """The memory behind the tensor, as elements of its dtype."""
    _deprecated()
    return typed_storage(self)


def typed_storage(self: Tensor) -> TypedStorage:
    """As `storage`, without the warning."""
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)


def storage_offset(self: Tensor) -> int:
    """How many elements lie in the storage before the tensor's first one."""
    root = shared_of(self).root
    a = self._a
    if a.size == 0 and root is a:
        return 0
    here = a.ghost if a.__class__ is MetaArray else a
    return (here.__array_interface__["data"][0] - root_extent(root)[0]) // a.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 for tensors without elements or values."""
    a = self._a
    return 0 if a.__class__ is MetaArray or a.size == 0 else a.__array_interface__["data"][0]


def window(where: UntypedStorage, kind: dtype, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """An array over a storage: sizes and strides in elements, `offset` elements from its start. RuntimeError outside of it."""
    item = kind.itemsize
    needed = 0 if 0 in size else item * (offset + 1 + sum((n - 1) * s for n, s in zip(size, stride)))
    if needed > where.nbytes() or offset < 0 or any(s < 0 for s in stride):
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} requiring a "
                           f"storage size of {needed} are out of bounds for storage of size {where.nbytes()}")
    if where.device is META:
        return MetaArray(size, kind.numpy, [s * item for s in stride])
    strides = tuple(s * item for s in stride)
    content = where.array
    if needed == 0:
        return content[:0].view(kind.numpy).reshape(size)
    return np.ndarray(size, kind.numpy, content, offset * item, strides)


def tensor_over(where: UntypedStorage, kind: dtype, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """A tensor over a storage (see `window`)."""
    t = wrap(window(where, kind, offset, size, stride))
    t._st = Shared(where._root)
    return t


def move_to_shared_memory(x: Tensor) -> None:
    """Give a tensor memory that other processes can map, with the contents of its whole storage."""
    place = untyped_storage(x)
    if place.is_shared() or place.nbytes() == 0:
        return
    offset, size, stride = storage_offset(x), tuple(x._a.shape), tuple(s // x._a.dtype.itemsize for s in x._a.strides)
    block = shared_memory.allocate(place.nbytes())
    block[...] = place.array
    fresh = UntypedStorage.over(block)
    x._a = window(fresh, x.dtype, offset, size, stride)
    moved = Shared(block)
    moved.version = x._st.version
    x._st = moved


def share_memory_(self: Tensor) -> Tensor:
    """Move the tensor's memory to where other processes can map it, and return the tensor. Nothing happens when it is there already.

    Forked children see the same memory, and `multiprocessing` can pass it on by name (`tensor.shared_memory`).
    """
    move_to_shared_memory(self)
    return self


def is_shared(self: Tensor) -> bool:
    """Whether the tensor's memory can be mapped by other processes."""
    return shared_memory.is_shared(shared_of(self).root)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same piece of the same memory."""
    a, b = self._a, tensor._a
    return data_ptr(self) == data_ptr(tensor) and a.shape == b.shape and a.strides == b.strides and untyped_storage(self) == untyped_storage(tensor)


for _function in (untyped_storage, storage, storage_offset, data_ptr, share_memory_, is_shared, is_set_to):
    setattr(Tensor, _function.__name__, _function)
Tensor._typed_storage = typed_storage
for _cls in (UntypedStorage, TypedStorage):
    _cls.__module__ = "saraph.storage"
