"""PyTorch's zip archives: an uncompressed zip with a pickle (`data.pkl`) and one aligned entry per storage (`data/<key>`).

Files are written beside their target and moved into place when they are whole.
"""
from __future__ import annotations

import mmap
import os
import struct
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from typing import Any

import numpy as np

ALIGNMENT = 64
_ALIGNED = 16  # what elements of any dtype need
_LOCAL_HEADER = 30


@contextmanager
def replacing(path: str | os.PathLike) -> Any:
    """An open file that takes the place of `path` when the block ends well, and vanishes when it does not.

    Links are followed; what is no plain file (a pipe, a device), or lies in a folder that cannot be written to, is written directly.
    """
    target = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(target) and not (os.path.isfile(target) and os.access(folder, os.W_OK)):
        with open(target, "wb") as stream:
            yield stream
        return
    mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(prefix=".saraph-save-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


class Writer:
    """Writes an archive to a stream."""

    def __init__(self, stream: Any, name: str):
        self.zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED)
        self.stream, self.name = self.zip.fp, name

    def put(self, entry: str, data: Any) -> None:
        """Add an entry, its bytes aligned."""
        path = f"{self.name}/{entry}"
        info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        data = memoryview(data).cast("B") if not isinstance(data, bytes) else data
        size = len(data)
        large = size >= zipfile.ZIP64_LIMIT
        start = self.stream.tell() + _LOCAL_HEADER + len(path.encode()) + (20 if large else 0) + 4
        padding = -start % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        info.file_size = size
        with self.zip.open(info, "w", force_zip64=large) as out:
            out.write(data)

    def close(self) -> None:
        """Write the directory."""
        self.zip.close()


class Reader:
    """Reads an archive from a path or a seekable stream."""

    def __init__(self, stream: Any):
        self.stream = stream
        try:
            self.zip = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: failed finding central directory. The file is truncated or damaged "
                               f"({error})") from None
        self.size = stream.seek(0, os.SEEK_END)
        names = self.zip.namelist()
        pickle_name = next((n for n in names if n.endswith("/data.pkl") and n.count("/") == 1), None)
        if pickle_name is None:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: the zip file is no PyTorch checkpoint")
        self.name = pickle_name[: -len("/data.pkl")]
        self.entries = {n[len(self.name) + 1:]: self.zip.getinfo(n) for n in names if n.startswith(self.name + "/")}
        self.map: Any = None

    def __contains__(self, entry: str) -> bool:
        return entry in self.entries

    def read(self, entry: str) -> bytes:
        """The bytes of an entry."""
        if entry not in self.entries:
            raise RuntimeError(f"PytorchStreamReader failed locating file {entry}: file not found")
        return self._unpacked(entry)

    def _unpacked(self, entry: str) -> bytes:
        try:
            return self.zip.read(self.entries[entry])
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading file {entry}: the archive is damaged ({error})") from None

    def offset(self, entry: str) -> int:
        """Where the bytes of an uncompressed entry begin."""
        info = self.entries[entry]
        if not 0 <= info.header_offset <= self.size:
            raise RuntimeError(f"the archive is damaged: {entry} lies outside of it")
        self.stream.seek(info.header_offset)
        header = self.stream.read(_LOCAL_HEADER)
        if len(header) != _LOCAL_HEADER or header[:4] != b"PK\3\4":
            raise RuntimeError(f"the archive is damaged: no local header for {entry}")
        return info.header_offset + _LOCAL_HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")

    def array(self, entry: str, mapped: bool) -> np.ndarray:
        """The bytes of an entry as a fresh array, or as a private (copy on write) map of the file."""
        if entry not in self.entries:
            raise RuntimeError(f"PytorchStreamReader failed locating file {entry}: file not found")
        info = self.entries[entry]
        if info.compress_type != zipfile.ZIP_STORED:
            return np.frombuffer(bytearray(self._unpacked(entry)), np.uint8)
        start = self.offset(entry)
        if start + info.file_size > self.size:
            raise RuntimeError(f"the file ends before the data of {entry}: it is truncated or damaged")
        if mapped and start % _ALIGNED == 0:
            if self.map is None:
                self.map = mmap.mmap(self.stream.fileno(), 0, access=mmap.ACCESS_COPY)
            return np.frombuffer(self.map, np.uint8, info.file_size, start)
        found = np.empty(info.file_size, np.uint8)
        self.stream.seek(start)
        view, done = memoryview(found), 0
        while done < info.file_size:
            count = self.stream.readinto(view[done:])
            if not count:
                raise RuntimeError(f"the file ends before the data of {entry}: it is truncated")
            done += count
        return found


def looks_like_zip(stream: Any) -> bool:
    """Whether a stream starts as a zip file does."""
    start = stream.tell()
    head = stream.read(4)
    stream.seek(start)
    return head == b"PK\3\4"
