"""PyTorch's format before version 1.6: pickles one after the other, then the storages."""
from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import Any

import numpy as np

from saraph.serialization.names import STORAGE_OF
from saraph.serialization.pickling import Pickler, SafeUnpickler, Unpickler
from saraph.serialization.rebuild import LoadedStorage

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001


def save(obj: Any, stream: Any, protocol: int) -> None:
    """Write an object."""
    pickle.dump(MAGIC, stream, protocol=protocol)
    pickle.dump(PROTOCOL, stream, protocol=protocol)
    pickle.dump({"protocol_version": PROTOCOL, "little_endian": sys.byteorder == "little", "type_sizes": {"short": 2, "int": 4, "long": 4}}, stream,
                protocol=protocol)
    writer = Pickler(stream, protocol, legacy=True)
    writer.dump(obj)
    refs = sorted(writer.storages.values(), key=lambda r: r.key)
    pickle.dump([r.key for r in refs], stream, protocol=protocol)
    stream.flush()
    for r in refs:
        stream.write(struct.pack("<q", r.count if r.kind in STORAGE_OF else r.array.nbytes))
        stream.write(memoryview(r.array.view(np.uint8)))


class _Storages:
    """Storages of a file, which are known by key before their bytes arrive."""

    def __init__(self, where: Any, limit: int):
        self.where, self.limit = where, limit  # the size of the file: no storage is larger
        self.by_key: dict[str, LoadedStorage] = {}

    def __call__(self, pid: Any) -> LoadedStorage:
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]  # a module's class, with its source
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("a persistent id of the file is not a storage")
        _, cls, key, location, count = pid[:5]
        view = pid[5] if len(pid) > 5 else None
        if view is not None:
            raise pickle.UnpicklingError("storages that are views of others (files older than PyTorch 0.4) are not supported")
        found = self.by_key.get(key)
        if found is None:
            size = count * (cls.kind.itemsize if cls.kind is not None else 1)
            if not 0 <= size <= self.limit:
                raise RuntimeError(f"storage {key} has {size} bytes, which is more than the file: it is truncated or damaged")
            data = self.where(location, lambda: np.empty(size, np.uint8))
            found = self.by_key[key] = LoadedStorage(data, cls.kind, location)
        return found.retyped(cls.kind)


def load(stream: Any, where: Any, safe: bool, options: dict[str, Any]) -> Any:
    """Read an object; `where(location)` says where a storage goes."""
    reader = SafeUnpickler if safe else Unpickler
    start = stream.tell()
    storages = _Storages(where, stream.seek(0, os.SEEK_END))
    stream.seek(start)

    def read() -> Any:
        return reader(stream, storages, **options).load()

    if read() != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if read() != PROTOCOL:
        raise RuntimeError("Invalid protocol version of the file")
    read()
    result = read()
    for key in read():
        found = storages.by_key.get(key)
        (count,) = struct.unpack("<q", _exactly(stream, 8))
        if found is None:
            raise RuntimeError(f"the file has a storage {key} that nothing refers to")
        size = count * (found.kind.itemsize if found.kind is not None else 1)
        data = _exactly(stream, size if 0 <= size <= storages.limit else -1)
        if found.data is not None:
            if size != found.data.nbytes:
                raise RuntimeError(f"storage {key} has {size} bytes, expected {found.data.nbytes}")
            found.data[:] = np.frombuffer(data, np.uint8)
    return result


def _exactly(stream: Any, size: int) -> bytes:
    data = stream.read(size) if size >= 0 else b""
    if len(data) != size:
        raise RuntimeError("unexpected EOF: the file is truncated or corrupted")
    return data
