"""Buffers whose borders are watched: for tests of kernels, in any test file.

    from guard import SIDES, check, guarded, watched

    a = guarded(array)                      # a copy, same shape, dtype and strides; its last byte is the last before an inaccessible page
    a = guarded(array, side="before")       # its first byte is the first behind an inaccessible page
    a = guarded(array, shift=1)             # 1 byte away from that page: unaligned
    a = guarded(array, read_only=True)      # a write into it is a fault (for a kernel's inputs)
    check(a, b, ...)                        # AssertionError if a byte changed that belongs to none of the array's elements

    with watched(x, y, side=side) as (x, y):    # guarded(...) of each; check(...) at the end
        kernel(x, out=y)

What is read or written beyond the page's border ends the process with a segmentation fault (pytest prints where: faulthandler). All other bytes
around the array and between its elements hold 0xFF: read as floats they are NaN, so that a kernel that uses them shows it; `check` finds those
that were written. `SIDES` is for parametrize and hypothesis. `guarded` keeps any strides: negative, zero, gaps, windows; empty and 0-dim too.
`dies(function)` says whether a call ends its process with a fault; the call runs in a forked child.
"""
from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

SIDES = ("after", "before")
PAGE = mmap.PAGESIZE
FILL = 0xFF
_NO_ACCESS, _READ = 0, 1


class _Region(mmap.mmap):
    """Pages of memory, the first and the last of them inaccessible."""

    used: np.ndarray  # for each accessible byte, whether it belongs to an element
    address: int

    def protect(self, start: int, stop: int, access: int) -> None:
        """Change the access to the pages between two places; nothing where the system has no mprotect."""
        if sys.platform == "win32":
            return
        library = ctypes.CDLL(None, use_errno=True)
        if library.mprotect(ctypes.c_void_p(self.address + start), ctypes.c_size_t(stop - start), access):
            raise OSError(ctypes.get_errno(), "mprotect")


def guarded(array: np.ndarray, side: str = "after", shift: int = 0, read_only: bool = False) -> np.ndarray:
    """A copy of `array` beside an inaccessible page (see above). Its strides are the array's own.

    Raises TypeError for arrays of Python objects.
    """
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise TypeError(f"guarded: expected an array of numbers, got dtype {array.dtype}")
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides)] if array.size else []
    low = sum(r for r in reach if r < 0)
    extent = sum(map(abs, reach)) + array.itemsize if array.size else 0
    inside = -(-(extent + shift + 1) // PAGE) * PAGE
    region = _Region(-1, inside + 2 * PAGE)
    region.address = ctypes.addressof(ctypes.c_char.from_buffer(region))
    everything = np.frombuffer(region, np.uint8)[PAGE:-PAGE]
    everything[...] = FILL
    start = PAGE + (inside - extent - shift if side == "after" else shift)
    copy = np.ndarray(array.shape, array.dtype, region, start - low, array.strides)
    copy[...] = array
    region.used = np.zeros(inside, np.bool_)
    if array.size:
        window = region.used[start - PAGE:start - PAGE + extent]
        # The bytes of the elements, by the array's own strides and one more dimension over the bytes of each.
        np.ndarray((*array.shape, array.itemsize), np.bool_, window, -low, (*array.strides, 1))[...] = True
    region.protect(0, PAGE, _NO_ACCESS)
    region.protect(PAGE + inside, 2 * PAGE + inside, _NO_ACCESS)
    if read_only:
        region.protect(PAGE, PAGE + inside, _READ)
        copy.flags.writeable = False
    return copy


def _region(array: np.ndarray) -> _Region:
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, _Region):
        raise TypeError("check: the array is neither from guarded() nor a view of such an array")
    return base


def check(*arrays: np.ndarray) -> None:
    """Raise AssertionError when bytes around the arrays' elements, or between them, are not what `guarded` wrote there."""
    for number, array in enumerate(arrays):
        region = _region(array)
        inside = np.frombuffer(region, np.uint8)[PAGE:-PAGE]
        touched = np.flatnonzero((inside != FILL) & ~region.used)
        if touched.size:
            own = np.flatnonzero(region.used)
            first = int(own[0]) if own.size else 0
            places = ", ".join(str(int(t) - first) for t in touched[:8])
            raise AssertionError(f"array {number} {array.dtype} {array.shape}: {touched.size} bytes written outside its elements, at {places}"
                                 f" from its first byte; it reaches to {int(own[-1]) - first if own.size else -1}")


@contextmanager
def watched(*arrays: np.ndarray, side: str = "after", shift: int = 0) -> Iterator[tuple[np.ndarray, ...]]:
    """Guarded copies of the arrays, checked at the end of the block."""
    copies = tuple(guarded(array, side, shift) for array in arrays)
    yield copies
    check(*copies)


def dies(function: Callable[[], object]) -> bool:
    """Whether a call ends its process with a fault of memory. It runs in a forked child, in which threads of this process do not exist."""
    child = os.fork()
    if not child:
        for number in (signal.SIGSEGV, signal.SIGBUS):
            signal.signal(number, signal.SIG_DFL)
        try:
            function()
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return -status in (signal.SIGSEGV, signal.SIGBUS)
