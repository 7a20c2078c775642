"""Inner loops in the form that NumPy calls them (see ufunc.py): what surrounds the passes over one row."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from saraph.kernels import jit
from saraph.kernels.ir import I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.sweep import LongRow, Row, ShortRow, Sweep

#: Writes the passes over one row. It is given the sweep and the rows, inputs first; an output that is one number and
#: not a row is given back.
Body = Callable[..., Value | None]

_PARAMETERS = tuple((name, POINTER) for name in ("context", "data", "dimensions", "strides", "auxiliary"))


def write_row_loop(module: Module, name: str, scalar: Type, signature: str, body: Body) -> None:
    """The inner loop of a gufunc with the signature "(n),...->(n)" or "(n),...->()": `body` for every row.

    It is written in four variants, of which a call takes the one that fits its length and strides.
    """
    inputs, output = signature.split("->")
    operands = inputs.count("(") + 1
    rows = operands - (output == "()")
    vector = scalar.vector(jit.host().vector_bytes // scalar.size)
    function = module.function(name, _PARAMETERS, I32)
    _, data, dimensions, strides, _ = function.parameters

    def entry(array: Value, index: int, type: Type = I64) -> Value:
        return function.load(type, function.offset(array, 8 * index))

    turns, length = entry(dimensions, 0), entry(dimensions, 1)
    starts = [entry(data, index, POINTER) for index in range(operands)]
    outer = [entry(strides, index) for index in range(operands)]
    inner = [entry(strides, operands + index) for index in range(rows)]

    def every_row(sweep: Callable[..., Sweep], side_by_side: bool) -> None:
        with function.range(0, turns) as turn:
            pointers = [function.offset(start, turn * step) for start, step in zip(starts, outer, strict=True)]
            steps = [None] * rows if side_by_side else inner
            places = zip(pointers[:rows], steps, strict=True)
            result = body(sweep(function, vector, length), *(Row(function, vector, *place) for place in places))
            if result is not None:
                function.store(result, pointers[-1])

    def by_length(side_by_side: bool) -> None:
        long_row = partial(LongRow, by_chunks=side_by_side)
        function.either(length <= vector.lanes,
                        lambda: every_row(ShortRow, side_by_side), lambda: every_row(long_row, side_by_side))

    side_by_side = inner[0].equals(scalar.size)
    for step in inner[1:]:
        side_by_side = side_by_side & step.equals(scalar.size)
    with _flags_kept(function):
        function.either(side_by_side, lambda: by_length(True), lambda: by_length(False))
    function.give_back(0)


@contextmanager
def _flags_kept(function: Function) -> Iterator[None]:
    """Leave the processor's floating-point flags as they were, or NumPy would warn where PyTorch does not.

    On processors other than x86 and ARM the flags stay, and NumPy warns as its error state says.
    """
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
