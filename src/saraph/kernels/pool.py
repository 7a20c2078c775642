"""The pool of threads: work that is done by several of them at once, a part for each, and in grains what another has left.

    pool.parallel(code.address("task"), pool.arguments(blocks.address(x), len(x)), units, grain)

A task is native code `void task(ptr args, i64 begin, i64 end, i64 slot)` that does the units of work begin <= i < end. `slot`, below `slots()`,
is the number of the running thread within the call, for scratch memory. What a unit computes must depend on neither. Native code calls
`saraph_parallel(task, args, units, grain)`. Calls release Python's lock, and may come from anywhere: other threads, tasks, forked children.
The threads themselves are native (see team.py) and are made by the first job that is large enough for them.
"""
from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

from saraph.config import settings
from saraph.kernels import jit, team
from saraph.kernels.ir import I64, POINTER

#: The parameters of a task function, for `Module.function`.
TASK = (("args", POINTER), ("begin", I64), ("end", I64), ("slot", I64))
#: For `Module.declare`, in code that calls `saraph_parallel` itself.
PARALLEL = "declare void @saraph_parallel(ptr, ptr, i64, i64)"

_POSIX = sys.platform != "win32"
_PACK = tuple(struct.Struct(f"{count}q").pack for count in range(65))
_SLOTS = min(team.MOST, max(8, os.cpu_count() or 1, settings.threads))

_code: jit.MachineCode | None = None
_set_threads: Callable[[int], None] | None = None


def arguments(*words: int) -> bytes:
    """Words of 8 bytes in a row: what `args` of a task points at."""
    try:
        return _PACK[len(words)](*words)
    except (struct.error, IndexError):  # an unsigned number above 2^63, or many words
        return struct.pack(f"{len(words)}Q", *(word & (2**64 - 1) for word in words))


def slots() -> int:
    """What a task's slot is always below, however many threads are set: no more than that ever work on one call."""
    return _SLOTS


def parallel(address: int, args: Any, units: int, grain: int) -> None:
    """Run the task at an address on 0 <= unit < units, `grain` of them at a time. `args` is what `arguments` gave, a ctypes array or an address."""
    _start()
    parallel(address, args, units, grain)  # by now the native function


def call(address: int, args: Any) -> None:
    """Run the native function `void driver(ptr args)` at an address, in the calling thread."""
    _start()
    call(address, args)  # by now the native function


def set_threads(count: int) -> None:
    """How many threads work on a call from now on."""
    if _set_threads is not None:
        _set_threads(min(count, _SLOTS) if _POSIX else 1)


def _start() -> int:
    """The address of saraph_parallel: asked for when the first kernel that calls it is linked."""
    global _code, _set_threads, parallel, call
    with jit.LOCK:
        if _code is None:
            code = jit.kernel("pool", (), team.text)
            pointer, integer = ctypes.c_void_p, ctypes.c_int64
            native = {name: ctypes.CFUNCTYPE(None, *kinds)(code.address(name)) for name, kinds in (
                ("saraph_parallel", (pointer, pointer, integer, integer)), ("call", (pointer, pointer)), ("set_threads", (integer,)),
                ("stop", ()), ("reset", ()))}
            _set_threads = native["set_threads"]  # type: ignore[assignment]  # a ctypes function takes ints
            set_threads(settings.threads)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(before=native["stop"], after_in_child=native["reset"])
                os.register_at_fork(after_in_child=_set_again)
            parallel, call = native["saraph_parallel"], native["call"]  # type: ignore[assignment]
            _code = code
        return _code.address("saraph_parallel")


def _set_again() -> None:
    set_threads(settings.threads)


jit.define_symbol("saraph_parallel", _start)
