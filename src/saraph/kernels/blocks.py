"""Memory for results: large arrays are made from blocks that earlier arrays gave back, because fresh memory costs more than most ops.

    y = blocks.empty((4096, 4096), np.dtype(np.float32))

NumPy asks a heap of ours (heap.py) for the memory of every array that a thread makes once `empty` has made a large one there: such arrays are
ordinary ones that own their memory, and it goes back when the last view is gone, on whichever thread. What waits for reuse is bounded by what
was in use at once and by the environment variable SARAPH_CACHE_MEMORY (bytes, or 512M, 2G; 0 keeps nothing), by default an eighth of the
machine's memory. Where kernels cannot be compiled, or another library has given NumPy a heap, arrays come from there.
"""
from __future__ import annotations

import ctypes
import os
import threading
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]  # keeps the table of NumPy's C functions

from saraph.kernels import heap, jit

_SET_HANDLER, _GET_HANDLER, _DEFAULT_HANDLER = 304, 305, 306  # places in NumPy's table
_CAPSULE = b"mem_handler"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_word_at = ctypes.c_size_t.from_address


class _Handler(ctypes.Structure):
    """How NumPy wants a heap described."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), *((name, ctypes.c_void_p) for name in
                ("context", "malloc", "calloc", "realloc", "free"))]


class Memory(NamedTuple):
    """Large arrays' memory in this process, in bytes where nothing else is said."""

    allocated: int  #: what arrays use now
    peak_allocated: int  #: the most they used at once
    reserved: int  #: what the heap has from the system, in use or waiting
    peak_reserved: int
    cached: int  #: what waits for reuse
    limit: int  #: what may wait at most
    blocks: int  #: number of arrays now
    allocations: int  #: number of arrays ever made
    reused: int  #: those of them that got a block that waited
    released: int  #: number of blocks given back to the system


class _Heap:
    """Our heap, as NumPy and Python see it."""

    def __init__(self) -> None:
        code = jit.kernel("heap", (), heap.text)
        self.state = ctypes.CFUNCTYPE(ctypes.c_size_t)(code.address("state"))()
        table = _pointers(_multiarray_umath._ARRAY_API, None)
        default = ctypes.py_object.from_address(table[_DEFAULT_HANDLER]).value
        theirs = _Handler.from_address(ctypes.cast(_pointers(default, _CAPSULE), ctypes.c_void_p).value or 0)
        for word in ("malloc", "calloc", "realloc", "free", "context"):
            self.set(word, getattr(theirs, word) or 0)
        self.set("limit", _limit())
        self._handler = _Handler(b"saraph", 1, None, *(code.address(f"{name}_array") for name in ("malloc", "calloc", "realloc", "free")))
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
        self._capsule = new(ctypes.addressof(self._handler), _CAPSULE, None)
        for forever in (self._handler, self._capsule):  # arrays may be freed after the interpreter has begun to end
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(forever))
        self._default = default
        self._get = ctypes.PYFUNCTYPE(ctypes.py_object)(table[_GET_HANDLER])
        self._set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
        self.trim = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(code.address("trim"))
        if hasattr(os, "register_at_fork"):
            # Not taken before the fork: what else runs before it may let Python's lock go, and whoever gets that would wait for ours.
            os.register_at_fork(after_in_child=ctypes.PYFUNCTYPE(None)(code.address("unlock")))

    def get(self, word: str) -> int:
        return ctypes.c_int64.from_address(self.state + 8 * heap.WORDS.index(word)).value

    def set(self, word: str, value: int) -> None:
        ctypes.c_int64.from_address(self.state + 8 * heap.WORDS.index(word)).value = value

    def serve_this_thread(self) -> None:
        """Let NumPy use the heap for the arrays that this thread makes, unless somebody else has given it one."""
        if self._get() is self._default:
            self._set(self._capsule)


_threads = threading.local()
_heap: _Heap | None = None


def _pointers(capsule: Any, name: bytes | None) -> Any:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(get(capsule, name), ctypes.POINTER(ctypes.c_void_p))


def _limit() -> int:
    wanted = os.environ.get("SARAPH_CACHE_MEMORY", "").strip().upper().removesuffix("B")
    if wanted:
        unit = _UNITS.get(wanted[-1], 1)
        number = wanted[:-1] if unit > 1 else wanted
        if number.isdigit():
            return int(number) * unit
        warnings.warn(f"SARAPH_CACHE_MEMORY={wanted!r} is not understood: expected bytes, or a number with K, M or G", RuntimeWarning, stacklevel=2)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    except (AttributeError, ValueError, OSError):  # Windows, or a system that does not say
        return 1 << 30


def _ready() -> bool:
    """Set the heap up for this thread. False where there is none."""
    global _heap
    _threads.served = True
    if os.name != "posix" or not jit.available():
        return False
    if _heap is None:
        with jit.LOCK:
            if _heap is None:
                _heap = _Heap()
    _heap.serve_this_thread()
    return True


def empty(shape: Sequence[int] | int, dtype: Any = np.float64) -> np.ndarray:
    """An array whose contents are undefined, like NumPy's `empty`."""
    array = np.empty(shape, dtype)
    if array.nbytes >= heap.THRESHOLD and not hasattr(_threads, "served") and _ready():
        return np.empty(shape, dtype)
    return array


def zeros(shape: Sequence[int] | int, dtype: Any = np.float64) -> np.ndarray:
    """An array of zeros, like NumPy's `zeros`."""
    array = np.zeros(shape, dtype)
    if array.nbytes >= heap.THRESHOLD and not hasattr(_threads, "served") and _ready():
        return np.zeros(shape, dtype)
    return array


def memory() -> Memory:
    """What large arrays use, used and may use. Zeros before the first of them."""
    h = _heap
    if h is None:
        return Memory(0, 0, 0, 0, 0, _limit(), 0, 0, 0, 0)
    return Memory(*map(h.get, ("live", "peak", "held", "peak_held", "cached", "limit", "blocks", "allocations", "reused", "released")))


def reset_peak() -> None:
    """Count the peaks from now on."""
    if _heap is not None:
        _heap.set("peak", _heap.get("live"))
        _heap.set("peak_held", _heap.get("held"))


def release() -> None:
    """Give all that waits for reuse back to the system."""
    if _heap is not None:
        _heap.trim(0)


def _address_by_interface(array: np.ndarray) -> int:
    return array.ctypes.data


def _address_by_layout(array: np.ndarray) -> int:
    return _word_at(id(array) + 16).value


def _probe() -> bool:
    """Whether an array's address lies where NumPy's headers have it, behind the head of a Python object."""
    array = np.empty(64, np.uint8)
    return object.__basicsize__ == 16 and all(_address_by_layout(a) == a.ctypes.data for a in (array, array[7:], array[::-1]))


#: The address of an array's first element.
address = _address_by_layout if _probe() else _address_by_interface
