"""Memory that several processes map: a file in the system's shared memory folder, mapped whole.

    block = allocate(1000)              uint8 array over fresh shared memory; a forked child sees the same bytes
    handle = export(block)              a small picklable value
    again = attach(handle)              in another process: the same memory as an array
    again = attach(handle, take=True)   the same, and this process now removes the name (for memory that is handed over)

A name is removed when the array that owns it is gone, or at exit; the memory itself lives until the last map of it is gone.
"""
from __future__ import annotations

import mmap
import os
import secrets
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


ALIGNMENT = 64


class Handle(NamedTuple):
    """What another process needs to map a block."""

    path: str
    size: int


class _Block:
    """One mapped file; the array over it keeps it alive as its buffer."""

    __slots__ = ("handle", "owner", "finalizer", "__weakref__")

    def __init__(self, handle: Handle, memory: mmap.mmap, owns: bool):
        self.handle = handle
        self.owner = os.getpid() if owns else 0
        self.finalizer = weakref.finalize(memory, _remove, handle.path, self.owner) if owns else None


_blocks: dict[int, _Block] = {}  # id of the mmap -> its block


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return


def _mapped(handle: Handle, flags: int, owns: bool) -> np.ndarray:
    descriptor = os.open(handle.path, flags, 0o600)
    try:
        if flags & os.O_CREAT:
            os.ftruncate(descriptor, handle.size)
        memory = mmap.mmap(descriptor, handle.size)
    finally:
        os.close(descriptor)
    _blocks[id(memory)] = _Block(handle, memory, owns)
    weakref.finalize(memory, _blocks.pop, id(memory), None)
    return np.frombuffer(memory, np.uint8)


def allocate(size: int) -> np.ndarray:
    """`size` (at least 1) zero bytes of shared memory."""
    handle = Handle(os.path.join(_FOLDER, f"saraph_{os.getpid()}_{secrets.token_hex(8)}"), size)
    return _mapped(handle, os.O_CREAT | os.O_EXCL | os.O_RDWR, True)


def _mmap_of(array: Any) -> mmap.mmap | None:
    """The map under an array, if there is one."""
    base = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base


def is_shared(array: Any) -> bool:
    """Whether an array lies in memory made here."""
    memory = _mmap_of(array)
    return memory is not None and id(memory) in _blocks


def export(array: Any) -> Handle:
    """The handle of the block that an array lies in; ValueError when it is not shared."""
    memory = _mmap_of(array)
    if memory is None or id(memory) not in _blocks:
        raise ValueError("this array does not lie in shared memory: copy it into shared_memory.allocate(nbytes)")
    return _blocks[id(memory)].handle


def release(array: Any) -> None:
    """This process no longer removes the block's name: whoever attaches with `take=True` does."""
    memory = _mmap_of(array)
    block = _blocks[id(memory)]
    if block.finalizer is not None:
        block.finalizer.detach()


def attach(handle: Handle, take: bool = False) -> np.ndarray:
    """The bytes of a block that another process made; `take`: its name is removed when this process is done with it."""
    return _mapped(Handle(*handle), os.O_RDWR, take)


def filled(parts: Sequence[np.ndarray]) -> int:
    """A descriptor of shared memory without a name that holds these uint8 arrays, each from the next multiple of ALIGNMENT on.

    For bytes that go to one other process with the descriptor (`fetch` there): the memory is gone with the last descriptor.
    """
    descriptor = _nameless()
    try:
        start = 0
        for part in parts:
            content = memoryview(part)
            while content:
                done = os.pwrite(descriptor, content, start)
                content, start = content[done:], start + done
            start += -start % ALIGNMENT
        os.ftruncate(descriptor, start)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _nameless() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("saraph")
    descriptor, path = tempfile.mkstemp(prefix="saraph_", dir=_FOLDER)
    os.unlink(path)
    return descriptor


def fetch(descriptor: int, start: int, into: np.ndarray) -> None:
    """Copy the bytes from `start` on into a uint8 array (a map would cost as much in page faults, and keep a descriptor open)."""
    rest = memoryview(into)
    while rest:
        done = os.preadv(descriptor, [rest], start)
        if not done:
            raise EOFError(f"the shared memory ends at {start}, {len(rest)} bytes too early")
        rest, start = rest[done:], start + done


def map_file(filename: str, shared: bool, size: int) -> np.ndarray:
    """A file's bytes; with `shared` they are written through, and the file grows to `size`."""
    if not shared:
        content = np.memmap(filename, np.uint8, "c", shape=(size,) if size else None)
        return content.view(np.ndarray)
    descriptor = os.open(filename, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        present = os.fstat(descriptor).st_size
        if present < size:
            os.ftruncate(descriptor, size)
        memory = mmap.mmap(descriptor, size or present)
    finally:
        os.close(descriptor)
    return np.frombuffer(memory, np.uint8)
