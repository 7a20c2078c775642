"""The processor's floating-point status and control, of the thread that runs.

On processors other than x86 and ARM they are left alone: NumPy may then warn as its error state says.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from saraph.kernels import jit
from saraph.kernels.ir import I32, I64, Function, Value

_X86_STATUS = 0x3F  # of MXCSR: what has happened; the other bits say how to compute


@contextmanager
def flags_kept(function: Function) -> Iterator[None]:
    """Leave the flags that say what has happened as they were, or NumPy would warn where PyTorch does not."""
    architecture = jit.host().architecture
    if architecture == "x86_64":
        place = function.array(I32, 1)
        function.effect("x86.sse.stmxcsr", [], [place])
        yield
        function.effect("x86.sse.ldmxcsr", [], [place])
    elif architecture in ("aarch64", "arm64"):
        flags = function.intrinsic("aarch64.get.fpsr", [], I64, [])
        yield
        function.effect("aarch64.set.fpsr", [], [flags])
    else:
        yield


def control(function: Function) -> Value:
    """How this thread rounds and treats denormals."""
    architecture = jit.host().architecture
    if architecture == "x86_64":
        place = function.array(I32, 1)
        function.effect("x86.sse.stmxcsr", [], [place])
        return function.convert("zext", function.load(I32, place) & ~_X86_STATUS, I64)
    if architecture in ("aarch64", "arm64"):
        return function.intrinsic("aarch64.get.fpcr", [], I64, [])
    return function.constant(I64, 0)


def set_control(function: Function, value: Value) -> None:
    """Let this thread compute as another does; `value` comes from `control`."""
    architecture = jit.host().architecture
    if architecture == "x86_64":
        place = function.array(I32, 1)
        function.store(function.convert("trunc", value, I32), place)
        function.effect("x86.sse.ldmxcsr", [], [place])
    elif architecture in ("aarch64", "arm64"):
        function.effect("aarch64.set.fpcr", [], [value])
