"""`save` and `load` in PyTorch's formats, both directions; safe by default.

`load` reads tensors, containers and plain values without running code from the file (`weights_only=True`); classes that you trust can be allowed
with `add_safe_globals`, and `weights_only=False` is full pickle, which may run anything.
"""
from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from saraph.devices import META, device, resolve
from saraph.serialization import archive, legacy, pickling, rebuild
from saraph.serialization.rebuild import LoadedStorage
from saraph.tensor.storages import LEGACY, TypedStorage, UntypedStorage

__all__ = ["save", "load", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals", "get_default_load_endianness",
           "set_default_mmap_options", "get_unsafe_globals_in_checkpoint", "register_package", "location_tag", "default_restore_location",
           "normalize_storage_type", "mkdtemp", "SourceChangeWarning"]
DEFAULT_PROTOCOL = 2
Where = Callable[[str, Callable[[], np.ndarray]], np.ndarray | None]


class SourceChangeWarning(Warning):
    """The source of a saved class has changed."""


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow classes or functions in files read with `weights_only=True`; entries may be (object, "module.name") pairs."""
    pickling.add_safe(safe_globals)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has allowed."""
    return pickling.safe_list()


def clear_safe_globals() -> None:
    """Take back everything that was allowed."""
    pickling.clear_safe()


class safe_globals:  # noqa: N801
    """Context in which these classes or functions are allowed."""

    def __init__(self, safe_globals: list[Any]):
        self.values = safe_globals

    def __enter__(self) -> None:
        self.before = dict(pickling._added)
        pickling.add_safe(self.values)

    def __exit__(self, *exc: object) -> None:
        pickling._added.clear()
        pickling._added.update(self.before)


def get_default_load_endianness() -> Any:
    """How files without a byte order mark are read (None: as this machine)."""
    return None


@contextmanager
def set_default_mmap_options(flags: int) -> Iterator[None]:
    """Accepted for compatibility: maps are private, so the file is never written to."""
    yield


_packages: list[tuple[int, Callable, Callable]] = []


def register_package(priority: int, tagger: Callable, deserializer: Callable) -> None:
    """Ask `tagger(storage)` for a location's name and `deserializer(storage, location)` for the storage there, lowest priority first."""
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """Where a storage says it lives."""
    return next((tag for _, tagger, _ in _packages if (tag := tagger(storage))), "cpu")


def normalize_storage_type(storage_type: Any) -> Any:
    """The class of storages in `torch` that has the same name (as that of a storage on a device)."""
    return LEGACY[storage_type.__name__]


def default_restore_location(storage: Any, location: Any) -> Any:
    """The storage at a location."""
    for _, _, deserializer in _packages:
        if (found := deserializer(storage, location)) is not None:
            return found
    _placed(str(location), lambda: storage.untyped().array)
    return storage


def mkdtemp() -> str:
    """A temporary folder."""
    return archive.tempfile.mkdtemp()


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = DEFAULT_PROTOCOL, _use_new_zipfile_serialization: bool = True,
         _disable_byteorder_record: bool = False) -> None:
    """Write an object to a path or a binary stream, in PyTorch's zip format (or its legacy one).

    A path is replaced only when the new file is complete: a save that is interrupted leaves the old file as it was.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if isinstance(f, (str, os.PathLike)):
        with archive.replacing(f) as stream:
            _write(obj, stream, os.path.splitext(os.path.basename(os.fspath(f)))[0], pickle_protocol, _use_new_zipfile_serialization,
                   _disable_byteorder_record)
        return
    _write(obj, f, "archive", pickle_protocol, _use_new_zipfile_serialization, _disable_byteorder_record)


def _write(obj: Any, stream: Any, name: str, protocol: int, new: bool, no_byteorder: bool) -> None:
    if not new:
        legacy.save(obj, stream, protocol)
        return
    data = io.BytesIO()
    pickler = pickling.Pickler(data, protocol)
    pickler.dump(obj)
    out = archive.Writer(stream, name or "archive")
    out.put("data.pkl", data.getvalue())
    out.put(".format_version", b"1")
    out.put(".storage_alignment", str(archive.ALIGNMENT).encode())
    if not no_byteorder:
        out.put("byteorder", sys.byteorder.encode())
    for ref in pickler.storages.values():
        out.put(f"data/{ref.key}", ref.array.view("u1") if ref.array.size else b"")
    out.put("version", b"3\n")
    out.close()


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None, mmap: bool | None = None,
         **pickle_load_args: Any) -> Any:
    """Read what `save`, or PyTorch, wrote to a path or a seekable binary stream.

    map_location: a device, its name, a dict from locations to locations, or a function (storage, location) -> storage.
    weights_only (default True): no code from the file runs; pickle.UnpicklingError names what is not allowed.
    mmap: map the file instead of reading it (paths and zip files only).
    """
    safe = weights_only is not False and pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    options = dict(pickle_load_args)
    options.setdefault("encoding", "utf-8")
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as stream:
            return _read(stream, map_location, safe, bool(mmap), options)
    if not hasattr(f, "read") or not hasattr(f, "seek"):
        raise AttributeError("expected 'f' to be a path or a file-like object with 'read' and 'seek'. Read the data into io.BytesIO and load that.")
    return _read(f, map_location, safe, False, options)


def _read(stream: Any, map_location: Any, safe: bool, mapped: bool, options: dict[str, Any]) -> Any:
    where = _target(map_location)
    try:
        with rebuild.completing():
            return _read_any(stream, where, safe, mapped, options)
    except pickle.UnpicklingError as error:
        if safe:
            raise pickle.UnpicklingError(
                "Weights only load failed. The file holds more than tensors and plain containers, or is damaged. If you trust its source, load it "
                f"with weights_only=False (which can run code from the file).\n\tWeightsUnpickler error: {error}") from None
        raise


def _read_any(stream: Any, where: Where, safe: bool, mapped: bool, options: dict[str, Any]) -> Any:
    if archive.looks_like_zip(stream):
        return _read_archive(archive.Reader(stream if hasattr(stream, "readinto") else io.BytesIO(stream.read())), where, safe, mapped, options)
    if mapped:
        raise RuntimeError("mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), please torch.save your "
                           "checkpoint with this option in order to use mmap.")
    return legacy.load(stream, where, safe, options)


def _read_archive(reader: archive.Reader, where: Where, safe: bool, mapped: bool, options: dict[str, Any]) -> Any:
    if "constants.pkl" in reader:
        raise RuntimeError("Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``: this file is a TorchScript archive; "
                           "open it with torch.jit.load.")
    order = reader.read("byteorder") if "byteorder" in reader else sys.byteorder.encode()
    if order not in (b"little", b"big"):
        raise RuntimeError(f"Unknown endianness type: {order!r}")
    swapped = order != sys.byteorder.encode()
    found: dict[str, LoadedStorage] = {}

    def storage(pid: Any) -> LoadedStorage:
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("a persistent id of the file is not a storage")
        _, cls, key, location, _ = pid
        kept = found.get(key)
        if kept is None:
            data = where(location, lambda: reader.array(f"data/{key}", mapped))
            if swapped and data is not None and cls.kind is not None:
                data = data.view(f"u{cls.kind.to_real().itemsize}").byteswap().view("u1")
            kept = found[key] = LoadedStorage(data, cls.kind, location)
        return kept.retyped(cls.kind)

    data = io.BytesIO(reader.read("data.pkl"))
    return (pickling.SafeUnpickler if safe else pickling.Unpickler)(data, storage, **options).load()


def _target(map_location: Any) -> Where:
    """A function from a storage's location, and a function that reads its bytes, to the bytes (None on the meta device)."""
    if isinstance(map_location, dict):
        return lambda location, read: _placed(str(map_location.get(location, location)), read)
    if map_location is not None and not isinstance(map_location, (str, device)) and callable(map_location):
        return lambda location, read: _asked(map_location, location, read())
    if map_location is not None:
        fixed = resolve(map_location).type
        return lambda location, read: _placed(fixed, read)
    return _placed


def _asked(map_location: Callable, location: str, data: np.ndarray) -> np.ndarray | None:
    """What a map_location function says: None leaves the storage where it says it was."""
    found = map_location(UntypedStorage.over(data), location)
    if found is None:
        return _placed(location, lambda: data)
    if isinstance(found, (str, device)):
        return _placed(str(found), lambda: data)
    if not isinstance(found, (UntypedStorage, TypedStorage)):
        raise RuntimeError(f"a map_location function must return a storage or None, got {type(found).__name__}")
    return None if found.device == META else found.untyped().array


def _placed(location: str, read: Callable[[], np.ndarray]) -> np.ndarray | None:
    """A storage's bytes on the device of that name."""
    kind = location if location in ("cpu", "meta") else device(str(location)).type
    if kind == "meta":
        return None
    if kind == "cpu":
        return read()
    if _packages:
        data = read()
        for _, _, deserializer in _packages:
            if (found := deserializer(UntypedStorage.over(data), location)) is not None:
                return found.untyped().array
    raise RuntimeError(f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. If you are running on "
                       "a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names ("module.name") a zip file refers to that `load` would refuse, without reading anything else."""
    with (open(f, "rb") if isinstance(f, (str, os.PathLike)) else nullcontext(f)) as stream:
        if not archive.looks_like_zip(stream):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        return sorted(name for name in pickling.globals_of(archive.Reader(stream).read("data.pkl")) if not pickling.is_safe(name))
