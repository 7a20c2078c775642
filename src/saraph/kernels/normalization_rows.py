"""Layer and RMS norm as machine code: every row is a group, with a weight and a bias for each of its elements. See normalization.py."""
from __future__ import annotations

import functools

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.ir import DOUBLE, Function, Module, Type, Value, Variable
from saraph.kernels.normalization import GRAIN, PIECE, constant, double_bits, write_statistics
from saraph.kernels.strips import Action, Total, each, load, narrow, smaller, store, vector_of
from saraph.kernels.walking import write_task

BLOCKS = 64  #: sums over rows for the gradients of weight and bias: at most so many blocks of rows, at least ROWS rows each
ROWS = 8
TOGETHER = 4  #: rows whose gradients are written together
SAFE = 2.0  #: mean^2 / variance up to which mean(x^2) - mean^2 is exact enough


def forward(x: np.ndarray, y: np.ndarray, statistics: tuple[np.ndarray, np.ndarray, np.ndarray], weight: np.ndarray | None, bias: np.ndarray | None,
            eps: float, centred: bool) -> None:
    """Fill y and the statistics (mean, rstd, variance) of the rows of a contiguous (rows, length)."""
    rows, length = x.shape
    weight = constant(1.0, length, x.dtype) if weight is None else weight
    bias = constant(0.0, length, x.dtype) if bias is None else bias
    args = pool.arguments(*map(blocks.address, (x, y, *statistics, weight, bias)), length, double_bits(eps), centred)
    pool.parallel(_code("forward", x.dtype).address("task"), args, rows, max(1, GRAIN // length))


def backward(g: np.ndarray, x: np.ndarray, dx: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, centred: bool,
             parameters: bool) -> np.ndarray | None:
    """Fill dx. With `parameters` also the sums of g unit and of g over blocks of rows: (2, blocks, length)."""
    rows, length = x.shape
    weight = constant(1.0, length, x.dtype) if weight is None else weight
    per_block = max(ROWS, -(-rows // BLOCKS))
    count = -(-rows // per_block)
    parts = blocks.empty((2, count, length), x.dtype) if parameters else None
    first = 0 if parts is None else blocks.address(parts)
    args = pool.arguments(*map(blocks.address, (g, x, dx, mean, rstd, weight)), first, first + count * length * x.itemsize, length, centred, rows,
                          per_block)
    code = _code("backward", x.dtype)
    pool.parallel(code.address("with_parameters" if parameters else "task"), args, count, max(1, GRAIN // (length * per_block)))
    return parts


def _code(which: str, kind: np.dtype) -> jit.MachineCode:
    build = {"forward": _forward_source, "backward": _backward_source}[which]
    return jit.kernel("normalization_rows", (which, kind.name), functools.partial(build, kind.name))


def by_pieces(function: Function, vector: Type, length: Value, totals: list[Total], sums: list[Variable], action: Action, unrolled: int = 4) -> None:
    """A pass over a row that adds to `totals`, which are put into `sums` after every PIECE elements."""
    for found in sums:
        found.set(0.0)
    with function.range(0, length, PIECE) as first:
        for total in totals:
            total.clear()
        each(function, vector, first, smaller(function, first + PIECE, length), action, unrolled)
        for total, found in zip(totals, sums, strict=True):
            found.set(found.get() + total.get())


def _forward_source(scalar: str) -> str:
    module = Module()
    task = write_task(module, "task")
    function, vector = task.function, vector_of(scalar)
    x, y, mean_at, rstd_at, variance_at, weight, bias = (task.pointer(k) for k in range(7))
    length, eps, centred = task.word(7), task.word(8, DOUBLE), task.word(9).differs(0)
    size = vector.vector(0).size
    count = function.convert("sitofp", length, DOUBLE)
    totals = [Total(function, vector) for _ in range(2)]
    with function.range(task.begin, task.end) as row:
        source, target = (function.offset(base, row * length * size) for base in (x, y))
        mean, variance = function.variable(DOUBLE, 0.0), function.variable(DOUBLE, 0.0)
        middle = function.variable(vector.vector(0), 0.0)

        def both(index: Value, mask: Value | None, number: int) -> None:
            value = load(function, vector, function.offset(source, index * size), mask)
            totals[0].add(value, mask, number)
            totals[1].add(value * value, mask, number)

        def square(index: Value, mask: Value | None, number: int) -> None:
            away = load(function, vector, function.offset(source, index * size), mask) - middle.get()
            totals[1].add(away * away, mask, number)

        by_pieces(function, vector, length, totals, [mean, variance], both)
        mean.set(function.select(centred, mean.get() / count, 0.0))
        variance.set(variance.get() / count - mean.get() * mean.get())
        middle.set(narrow(function, mean.get(), vector.vector(0)))
        # Where the mean is large beside the deviation, the difference above is not exact enough (and squares may overflow that do not about the
        # mean): then the squares are taken about the mean. The comparisons are false for NaN, which stays.
        with function.when((mean.get() * mean.get() > variance.get() * SAFE) | variance.get().equals(float("inf"))):
            by_pieces(function, vector, length, totals[1:], [variance], square)
            variance.set(variance.get() / count)
        places = tuple(function.offset(at, row * size) for at in (mean_at, rstd_at, variance_at))
        write_statistics(function, vector.vector(0), mean.get(), variance.get(), eps, places, None)
        rstd = function.load(vector.vector(0), places[1])

        def write(index: Value, mask: Value | None, _: int) -> None:
            value, w, b = (load(function, vector, function.offset(base, index * size), mask) for base in (source, weight, bias))
            store(function, function.fma((value - middle.get()) * rstd, w, b), function.offset(target, index * size), mask)

        each(function, vector, 0, length, write, 2)
    function.give_back()
    return module.text()


def _backward_source(scalar: str) -> str:
    module = Module()
    _write_backward(module, scalar, "task", False)
    _write_backward(module, scalar, "with_parameters", True)
    return module.text()


def _write_backward(module: Module, scalar: str, name: str, parameters: bool) -> None:
    """Units are blocks of rows."""
    task = write_task(module, name)
    function, vector = task.function, vector_of(scalar)
    kind = vector.vector(0)
    size = kind.size
    g, x, dx, mean_at, rstd_at, weight, unit_sums, grad_sums = (task.pointer(k) for k in range(8))
    length, centred, rows, per_block = task.word(8), task.word(9).differs(0), task.word(10), task.word(11)
    count = function.convert("sitofp", length, DOUBLE)
    totals, sums = [Total(function, vector, 2) for _ in range(2)], [function.variable(DOUBLE, 0.0) for _ in range(2)]
    with function.range(task.begin, task.end) as block:
        first = block * per_block
        parts = [function.offset(base, block * length * size) for base in (unit_sums, grad_sums)] if parameters else []

        def clear(index: Value, mask: Value | None, _: int) -> None:
            for part in parts:
                store(function, function.constant(vector, 0.0), function.offset(part, index * size), mask)

        if parameters:
            each(function, vector, 0, length, clear)
        last = smaller(function, first + per_block, rows)
        whole = first + (last - first) / TOGETHER * TOGETHER

        def sums_of(row: Value) -> tuple[Value, ...]:
            """The pass that adds up a row: where it lies, and what its gradient is made of."""
            grads, values, targets = (function.offset(base, row * length * size) for base in (g, x, dx))
            mean, rstd = (function.load(kind, function.offset(at, row * size)) for at in (mean_at, rstd_at))

            def add(index: Value, mask: Value | None, number: int) -> None:
                grad, value, w = (load(function, vector, function.offset(base, index * size), mask) for base in (grads, values, weight))
                weighted = grad * w
                totals[0].add(weighted, mask, number)
                totals[1].add(weighted * ((value - mean) * rstd), mask, number)

            by_pieces(function, vector, length, totals, sums, add, 2)
            shift, slope = (narrow(function, found.get() / count, kind) for found in sums)
            return grads, values, targets, mean, rstd, function.select(centred, shift, 0.0), slope

        def gradients(row: Value, number: int) -> None:
            """Some rows one after the other: the sums over rows are read and written once for all of them."""
            together = [sums_of(row + k) for k in range(number)]

            def write(index: Value, mask: Value | None, _: int) -> None:
                places = [function.offset(part, index * size) for part in parts]
                found = [load(function, vector, place, mask) for place in places]
                w = load(function, vector, function.offset(weight, index * size), mask)
                for grads, values, targets, mean, rstd, shift, slope in together:
                    grad, value = (load(function, vector, function.offset(base, index * size), mask) for base in (grads, values))
                    unit = (value - mean) * rstd
                    store(function, (grad * w - shift - unit * slope) * rstd, function.offset(targets, index * size), mask)
                    found = [before + more for before, more in zip(found, (grad * unit, grad), strict=False)]
                for place, value in zip(places, found, strict=True):
                    store(function, value, place, mask)

            each(function, vector, 0, length, write, 1 if number > 1 else 2)

        for begin, end, number in ((first, whole, TOGETHER), (whole, last, 1)):
            with function.range(begin, end, number) as row:
                gradients(row, number)
    function.give_back()
