"""The pickles inside checkpoint files: written with PyTorch's names, read with an allow-list or with full pickle.

The safe reader is an interpreter of the few opcodes that plain data needs. It never imports a name the file asks for: a name is looked up in a table,
calls go only to the functions of that table, and attributes are set only on OrderedDicts and on objects of classes that the caller allowed.
"""
from __future__ import annotations

import collections
import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from saraph.backends import MetaArray
from saraph.devices import device
from saraph.ops.registry import OF_PUBLIC
from saraph.serialization import rebuild
from saraph.serialization.names import CONSTANTS, STORAGE_OF, STORAGES, from_torch, to_torch
from saraph.shapes import Size
from saraph.tensor.parameter import Buffer, Parameter
from saraph.tensor.storage import shared_of
from saraph.tensor.storages import bytes_of
from saraph.tensor.tensor import Tensor, needs_grad


class Name:
    """A global of PyTorch's that has no object here: it is written by name."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str):
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise pickle.PicklingError(f"{self.module}.{self.name} is only a name")


class StorageRef:
    """A storage on its way into a file: the flat bytes of an array that owns memory."""

    __slots__ = ("array", "key", "kind", "count")

    def __init__(self, array: np.ndarray, key: str, kind: Any, count: int):
        self.array, self.key, self.kind, self.count = array, key, kind, count


class Pickler(pickle._Pickler):
    """Writes tensors as PyTorch does, and collects the storages they refer to (in order of first use)."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, stream: Any, protocol: int, legacy: bool = False):
        super().__init__(stream, protocol)
        self.legacy = legacy
        self.storages: dict[int, StorageRef] = {}
        self.keep: list[Any] = []
        self.names: dict[tuple[str, str], Name] = {}

    def name(self, module: str, name: str) -> Name:
        """The one Name object of a global (so that it is memoised)."""
        return self.names.setdefault((module, name), Name(module, name))

    def save_name(self, value: Name) -> None:
        """Write a global by name."""
        self.write(pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode())
        self.memoize(value)

    dispatch[Name] = save_name

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """As pickle's, with saraph's own classes and constants under PyTorch's names."""
        own = name or getattr(obj, "__qualname__", None) or obj.__name__
        module = getattr(obj, "__module__", None)
        if isinstance(module, str) and (module == "saraph" or module.startswith("saraph.")):
            module, own = to_torch(module, own)
            self.write(pickle.GLOBAL + f"{module}\n{own}\n".encode())
            self.memoize(obj)
            return
        super().save_global(obj, name)

    def save_type(self, obj: Any) -> None:
        """Classes are globals."""
        if obj is type(None) or obj is type(NotImplemented) or obj is type(...):
            super().save_type(obj)
        else:
            self.save_global(obj)

    dispatch[type] = save_type

    def save_function(self, obj: Any) -> None:
        """Ops go under the names that users call them by."""
        record = OF_PUBLIC.get(obj)
        if record is None or not record.namespaces:
            self.save_global(obj)
            return
        space = "nn.functional" if "nn.functional" in record.namespaces else record.namespaces[0]
        module = "torch" if space == "torch" else f"torch.{space}"
        self.write(pickle.GLOBAL + f"{module}\n{record.name}\n".encode())
        self.memoize(obj)

    dispatch[FunctionType] = save_function

    def reducer_override(self, obj: Any) -> Any:
        """Tensors become calls of PyTorch's rebuild functions."""
        if isinstance(obj, Tensor):
            return self.reduce_tensor(obj)
        return NotImplemented

    def persistent_id(self, obj: Any) -> Any:
        """Storages are written apart."""
        if isinstance(obj, StorageRef):
            name = STORAGE_OF.get(obj.kind)
            cls = self.name("torch", name) if name else self.name("torch.storage", "UntypedStorage")
            count = obj.count if name else obj.array.nbytes
            key = ("storage", cls, obj.key, "cpu", count)
            return (*key, None) if self.legacy else key
        return None

    def reduce_tensor(self, t: Tensor) -> Any:
        """(rebuild function, arguments) of a tensor."""
        hooks = OrderedDict()
        attributes = dict(t.__dict__)
        if isinstance(t, Parameter):
            plain = self._reduce_plain(t.detach())
            data = _Reduced(plain)
            if attributes:
                return self.name("torch._utils", "_rebuild_parameter_with_state"), (data, bool(t.requires_grad), hooks, attributes)
            return self.name("torch._utils", "_rebuild_parameter"), (data, bool(t.requires_grad), hooks)
        if isinstance(t, Buffer):
            return self.name("torch._utils", "_rebuild_buffer"), (_Reduced(self._reduce_plain(t.detach())), bool(t.requires_grad),
                                                                  bool(getattr(t, "persistent", True)))
        function, args = self._reduce_plain(t)
        if type(t) is Tensor and not attributes:
            return function, args
        return self.name("torch._tensor", "_rebuild_from_type_v2"), (function, type(t), args, attributes)

    def _reduce_plain(self, t: Tensor) -> tuple[Any, tuple]:
        a, kind = t._a, t.dtype
        requires_grad = bool(needs_grad(t)) and t.is_leaf
        if not t.is_leaf and needs_grad(t):
            requires_grad = True
        if a.__class__ is MetaArray:
            return self.name("torch._utils", "_rebuild_meta_tensor_no_storage"), (kind, tuple(a.shape), tuple(t.stride()), requires_grad)
        if getattr(a, "layout", None) is not None:
            return self._reduce_sparse(t)
        storage, offset = self._storage(t, a, kind)
        common = (storage, offset, tuple(a.shape), tuple(t.stride()), requires_grad, OrderedDict())
        if kind in STORAGE_OF:
            return self.name("torch._utils", "_rebuild_tensor_v2"), common
        return self.name("torch._utils", "_rebuild_tensor_v3"), (*common, kind)

    def _reduce_sparse(self, t: Tensor) -> tuple[Any, tuple]:
        layout = _Reduced((self.name("torch.serialization", "_get_layout"), (repr(t.layout),)))
        if t.layout.name == "sparse_coo":
            data: tuple = (t._indices(), t._values(), t.size(), t.is_coalesced())
        else:
            rows = t.layout.name in ("sparse_csr", "sparse_bsr")
            data = ((t.crow_indices(), t.col_indices()) if rows else (t.ccol_indices(), t.row_indices())) + (t.values(), t.size())
        return self.name("torch._utils", "_rebuild_sparse_tensor"), (layout, data)

    def _storage(self, t: Tensor, a: np.ndarray, kind: Any) -> tuple[StorageRef, int]:
        """The storage of an array (shared with other arrays over the same memory), and the array's offset in it, in elements."""
        root = a if a.size == 0 else shared_of(t).root
        flat = bytes_of(root)
        start = 0 if a.size == 0 else a.__array_interface__["data"][0] - flat.__array_interface__["data"][0]
        if start % a.itemsize:
            raise pickle.PicklingError("cannot save a tensor that is not aligned to its storage: clone() it first")
        offset = start // a.itemsize
        found = self.storages.get(id(root))
        if found is None:
            key = str(len(self.storages))
            found = self.storages[id(root)] = StorageRef(flat, key, kind, flat.nbytes // a.itemsize)
            self.keep.append(root)
        if found.kind is not kind:
            view = StorageRef(found.array, found.key, kind, found.array.nbytes // a.itemsize)
            self.keep.append(view)
            return view, offset
        return found, offset


class _Reduced:
    """A value that is written as the call of a function."""

    __slots__ = ("pair",)

    def __init__(self, pair: tuple):
        self.pair = pair

    def __reduce_ex__(self, protocol: int) -> tuple:
        return self.pair


# -- reading -----------------------------------------------------------------------------------------------------------------


class Unpickler(pickle.Unpickler):
    """Full pickle: runs whatever the file says, with PyTorch's names looked up here."""

    def __init__(self, stream: Any, storage: Callable, **options: Any):
        super().__init__(stream, **options)
        self.storage = storage

    def find_class(self, module: str, name: str) -> Any:
        """PyTorch's rebuild functions, classes and constants are saraph's; other modules are imported."""
        if module == "torch" or module.startswith("torch."):
            found = known_global(module, name)
            return from_torch(module, name) if found is None else found
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        """A storage."""
        return self.storage(pid)


class _StorageType:
    """A storage class of a file."""

    __slots__ = ("kind",)

    def __init__(self, kind: Any):
        self.kind = kind


def known_global(module: str, name: str) -> Any:
    """What PyTorch's files may always refer to; None for anything else."""
    found = rebuild.REBUILDERS.get((module, name))
    if found is not None:
        return found
    if module in ("torch", "torch.storage", "torch.cuda") and name in STORAGES:
        return _StorageType(STORAGES[name])
    if (module, name) in (("torch.storage", "UntypedStorage"), ("torch", "UntypedStorage")):
        return _StorageType(None)
    return CONSTANTS.get(f"{module}.{name}")


def _encode(text: str, encoding: str) -> bytes:
    """`_codecs.encode`, which protocol 2 uses for bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes encoded as {encoding!r} are not allowed")
    return text.encode("latin1")


def _bytearray(*args: Any) -> bytearray:
    """`bytearray` of content that is in the file (not of a number, which would be a size)."""
    if args and not isinstance(args[0], (str, bytes, list)):
        raise pickle.UnpicklingError(f"a bytearray of a {type(args[0]).__name__} is not allowed")
    return bytearray(*args)


_SAFE: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict, ("collections", "Counter"): collections.Counter, ("torch", "Size"): Size,
    ("torch", "device"): device, ("torch", "Tensor"): Tensor, ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.nn.parameter", "Buffer"): Buffer, ("_codecs", "encode"): _encode,
}
for _name in ("set", "complex", "bytearray", "frozenset", "slice", "range"):
    for _module in ("builtins", "__builtin__"):
        _SAFE[_module, _name] = {"set": set, "complex": complex, "bytearray": _bytearray, "frozenset": frozenset, "slice": slice,
                                 "range": range}[_name]
_SAFE["__builtin__", "xrange"] = range
_added: dict[tuple[str, str], Any] = {}


def is_safe(name: str) -> bool:
    """Whether a file read with weights_only=True may refer to "module.name"."""
    module, _, own = name.rpartition(".")
    return any(found is not None for found in (_added.get((module, own)), _SAFE.get((module, own)), known_global(module, own)))


def globals_of(data: bytes) -> set[str]:
    """The names that a pickle refers to."""
    found: set[str] = set()
    texts: list[Any] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(texts[-2:]))
        elif "UNICODE" in opcode.name:
            texts.append(argument)
    return found


def add_safe(globals_: list[Any]) -> None:
    """Allow classes and functions (or (object, "module.name") pairs) in files read with weights_only=True."""
    for item in globals_:
        if isinstance(item, tuple):
            obj, path = item
            module, _, name = path.rpartition(".")
        else:
            obj, module, name = item, item.__module__, item.__qualname__
        _added[module, name] = obj
        _added[to_torch(module, name)] = obj


def safe_list() -> list[Any]:
    """What has been allowed."""
    return list({id(v): v for v in _added.values()}.values())


def clear_safe() -> None:
    """Allow nothing beyond the defaults."""
    _added.clear()


class SafeUnpickler(pickle._Unpickler):
    """Reads plain data, tensors and what was allowed; runs no code from the file."""

    dispatch: dict[int, Callable] = {}
    _OPCODES = ("PROTO FRAME STOP MARK POP POP_MARK DUP NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING "
                "BINSTRING SHORT_BINSTRING UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 EMPTY_LIST "
                "APPEND APPENDS LIST EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT DICT SETITEM SETITEMS EMPTY_SET ADDITEMS FROZENSET GET "
                "BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE BINPERSID GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD").split()
    for _op in _OPCODES:
        _code = getattr(pickle, _op)[0]
        dispatch[_code] = pickle._Unpickler.dispatch[_code]

    def __init__(self, stream: Any, storage: Callable, **options: Any):
        super().__init__(stream, **options)
        self.storage = storage

    def load(self) -> Any:
        """The value. UnpicklingError for what is not allowed, and for damaged files."""
        try:
            return super().load()
        except (pickle.UnpicklingError, RuntimeError):
            raise
        except KeyError as error:
            what = f"opcode {error.args[0]} is not allowed" if isinstance(error.args[0], int) else f"the pickle is damaged ({error!r})"
            raise pickle.UnpicklingError(f"{what} in a file read with weights_only=True") from None
        except Exception as error:  # whatever a damaged stream leads to
            raise pickle.UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {error}") from None

    def find_class(self, module: str, name: str) -> Any:
        """The allowed object of that name."""
        for found in (_added.get((module, name)), _SAFE.get((module, name)), known_global(module, name)):
            if found is not None:
                return found
        raise pickle.UnpicklingError(
            f"Unsupported global: GLOBAL {module}.{name} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{name}])` or the `torch.serialization.safe_globals([{name}])` context manager to allowlist this "
            "global if you trust this class/function.")

    def persistent_load(self, pid: Any) -> Any:
        """A storage."""
        return self.storage(pid)

    def load_bytearray8(self) -> None:
        """A bytearray, no larger than the file."""
        content = self.read(int.from_bytes(self.read(8), "little"))
        self.append(bytearray(content))

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load_reduce(self) -> None:
        """Call an allowed function or class."""
        args = self.stack.pop()
        function = self.stack[-1]
        allowed = function in _CALLABLE or any(function is v for v in _added.values())
        if not allowed or not isinstance(args, tuple):
            raise pickle.UnpicklingError(f"Trying to call reduce for unrecognized function {function!r}")
        if isinstance(function, type) and issubclass(function, Tensor):
            raise pickle.UnpicklingError(f"a {function.__name__} cannot be made by a call in a file read with weights_only=True")
        self.stack[-1] = function(*args)

    dispatch[pickle.REDUCE[0]] = load_reduce

    def load_newobj(self) -> None:
        """A bare object of an allowed class."""
        args = self.stack.pop()
        cls = self.stack.pop()
        if not (isinstance(cls, type) and (cls is OrderedDict or any(cls is v for v in _added.values()))):
            raise pickle.UnpicklingError(f"Trying to create new object of unallowed class {cls!r}")
        self.append(cls.__new__(cls, *args))

    dispatch[pickle.NEWOBJ[0]] = load_newobj

    def load_build(self) -> None:
        """Attributes of an OrderedDict, or of an object of a class that was allowed."""
        state = self.stack.pop()
        target = self.stack[-1]
        if type(target) is OrderedDict:
            if not isinstance(state, dict):
                raise pickle.UnpicklingError("an OrderedDict's attributes must be a dict")
            target.__dict__.update(state)
        elif any(type(target) is v for v in _added.values()):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                target.__dict__.update(state[0] if isinstance(state, tuple) and state[0] is not None else state)
        else:
            raise pickle.UnpicklingError(f"Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                                         f"{type(target)}")

    dispatch[pickle.BUILD[0]] = load_build


class _Identities:
    """A set by identity (not everything in it can be hashed)."""

    def __init__(self, values: Any):
        self.values = {id(v): v for v in values}

    def __contains__(self, value: object) -> bool:
        return id(value) in self.values


_CALLABLE = _Identities([*rebuild.REBUILDERS.values(), *(v for v in _SAFE.values() if v is not Tensor)])
