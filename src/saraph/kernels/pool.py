"""The pool of threads. For now tasks run in the calling thread.

A task is native code `void task(ptr args, i64 begin, i64 end, i64 slot)` that does the units of work begin <= i < end.
"""
from __future__ import annotations

import ctypes
import struct

from saraph.kernels import jit
from saraph.kernels.ir import I64, POINTER, Module

#: The parameters of a task function, for `Module.function`.
TASK = (("args", POINTER), ("begin", I64), ("end", I64), ("slot", I64))
#: For `Module.declare`, in code that calls `saraph_parallel` itself.
PARALLEL = "declare void @saraph_parallel(ptr, ptr, i64, i64)"

_PACK = tuple(struct.Struct(f"{count}q").pack for count in range(65))
_run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def arguments(*words: int) -> bytes:
    """Words of 8 bytes in a row: what `args` of a task points at."""
    try:
        return _PACK[len(words)](*words)
    except (struct.error, IndexError):  # an unsigned number above 2^63, or many words
        return struct.pack(f"{len(words)}Q", *(word & (2**64 - 1) for word in words))


def call(address: int, args: bytes) -> None:
    """Run a native `void driver(ptr args)`."""
    _run(address)(args)


def parallel(address: int, args: bytes, units: int, grain: int) -> None:
    """Run a task on 0 <= unit < units, `grain` of them at a time."""
    ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)(args, 0, units, 0)


def slots() -> int:
    """How many slots a task may see, from now until the number of threads is set anew."""
    return 1


def _module() -> str:
    module = Module()
    function = module.function("saraph_parallel", (("task", POINTER), ("args", POINTER), ("units", I64), ("grain", I64)))
    task, args, units, _ = function.parameters
    function.line(f"call void {task.text}({args}, i64 0, {units}, i64 0)")
    function.give_back()
    return module.text()


def _start() -> int:
    return jit.kernel("pool", (), _module).address("saraph_parallel")


jit.define_symbol("saraph_parallel", _start)
