"""Batch norm where channels lie innermost: the columns of a (rows, columns) matrix are the groups. See normalization.py.

Chunks are blocks of rows. In a chunk, a few vectors of columns are walked down at a time; chunks are put together in order.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.ir import DOUBLE, Function, Module, Type, Value
from saraph.kernels.normalization import GRAIN, PIECE, constant, double_bits, write_statistics
from saraph.kernels.strips import each, first_lanes, load, narrow, smaller, store, vector_of, widen
from saraph.kernels.walking import Task, write_task

_HEAD = 10  # words before rows, columns, rows of a chunk, chunks


def _shape_words(x: np.ndarray) -> tuple[int, int, int, int]:
    rows, columns = x.shape
    per_chunk = max(1, PIECE // columns)
    return rows, columns, per_chunk, -(-rows // per_chunk)


def _run(code: jit.MachineCode, names: tuple[str, ...], args: bytes, x: np.ndarray, chunks: int, lanes: int) -> None:
    grain = max(1, GRAIN * chunks // x.size)
    groups = -(-x.shape[1] // lanes)
    for name in names:
        if name == "combine":
            pool.parallel(code.address(name), args, groups, groups)
        else:
            pool.parallel(code.address(name), args, chunks, grain)


def forward(x: np.ndarray, y: np.ndarray, statistics: tuple[np.ndarray, np.ndarray, np.ndarray], weight: np.ndarray | None, bias: np.ndarray | None,
            eps: float) -> None:
    """Fill y and the statistics (mean, rstd, variance) of the columns of a contiguous matrix."""
    words = _shape_words(x)
    sums = np.empty((words[3], 2, x.shape[1]))
    args = _forward_args(x, y, sums, statistics, weight, bias, eps, words)
    _run(_code("forward", x.dtype), ("gather", "combine", "apply"), args, x, words[3], vector_of(x.dtype.name).lanes)


def apply(x: np.ndarray, y: np.ndarray, scale: np.ndarray, shift: np.ndarray | None) -> None:
    """y = x scale + shift, column by column."""
    words, columns = _shape_words(x), x.shape[1]
    zero, one = constant(0.0, columns, x.dtype), constant(1.0, columns, x.dtype)
    args = _forward_args(x, y, zero, (zero, one, one), scale, shift, 0.0, words)
    _run(_code("forward", x.dtype), ("apply",), args, x, words[3], 1)


def _forward_args(x: np.ndarray, y: np.ndarray, sums: np.ndarray, statistics: Any, weight: np.ndarray | None, bias: np.ndarray | None, eps: float,
                  words: tuple[int, ...]) -> bytes:
    weight = constant(1.0, x.shape[1], x.dtype) if weight is None else weight
    bias = constant(0.0, x.shape[1], x.dtype) if bias is None else bias
    return pool.arguments(*map(blocks.address, (x, y, sums, *statistics, weight, bias)), double_bits(eps), 0, *words)


def backward(g: np.ndarray, x: np.ndarray, dx: np.ndarray | None, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Fill dx (None: not wanted). Gives, chunk by chunk, the sums of g and of g (x - mean): (chunks, 2, columns) doubles."""
    words, columns = _shape_words(x), x.shape[1]
    sums, factors = np.empty((words[3], 2, columns)), np.empty((2, columns), x.dtype)
    weight = constant(1.0, columns, x.dtype) if weight is None else weight
    target = 0 if dx is None else blocks.address(dx)
    args = pool.arguments(blocks.address(g), blocks.address(x), target, *map(blocks.address, (sums, mean, rstd, weight, factors)), 0, 0, *words)
    names = ("gather",) if dx is None else ("gather", "combine", "apply")
    _run(_code("backward", x.dtype), names, args, x, words[3], vector_of(x.dtype.name).lanes)
    return sums


def _code(which: str, kind: np.dtype) -> jit.MachineCode:
    build = {"forward": _forward_source, "backward": _backward_source}[which]
    return jit.kernel("normalization_columns", (which, kind.name), functools.partial(build, kind.name))


# -- machine code ------------------------------------------------------------------------------------------------------------------------


class _Matrix:
    """The geometry, inside a task."""

    def __init__(self, task: Task, scalar: str) -> None:
        self.task, self.function, self.vector = task, task.function, vector_of(scalar)
        self.kind = self.vector.vector(0)
        self.rows, self.columns, self.per_chunk, self.chunks = (task.word(_HEAD + k) for k in range(4))

    def bounds(self, chunk: Value) -> tuple[Value, Value]:
        first = chunk * self.per_chunk
        return first, smaller(self.function, first + self.per_chunk, self.rows)

    def at(self, base: Value, index: Value) -> Value:
        return self.function.offset(base, index * self.kind.size)

    def numbers(self, base: Value, column: Value, mask: Value | None) -> Value:
        """A vector of one of the arrays that have an element per column."""
        return load(self.function, self.vector, self.at(base, column), mask)

    def down(self, first: Value, last: Value, column: Value, mask: Value | None, terms: Callable[[Value], list[Value]], count: int) -> list[Value]:
        """Sums of terms over rows, as doubles."""
        function = self.function
        totals = [function.variable(self.vector, 0.0) for _ in range(count)]
        with function.range(first, last) as row:
            for total, term in zip(totals, terms(row * self.columns + column), strict=True):
                total.set(total.get() + term)
        return [widen(function, total.get()) for total in totals]


def _keep(matrix: _Matrix, base: Value, chunk: Value, column: Value, mask: Value | None, values: list[Value]) -> None:
    """Store a chunk's two sums."""
    function = matrix.function
    for k, value in enumerate(values):
        store(function, value, function.offset(base, ((chunk * 2 + k) * matrix.columns + column) * 8), mask)


def _kept(matrix: _Matrix, base: Value, chunk: Value, k: int, column: Value, mask: Value) -> Value:
    place = matrix.function.offset(base, ((chunk * 2 + k) * matrix.columns + column) * 8)
    return load(matrix.function, DOUBLE.like(matrix.vector), place, mask)


def _double(function: Function, number: Value, like: Type) -> Value:
    return function.lift(function.convert("sitofp", number, DOUBLE), DOUBLE.like(like))


def _column_vectors(matrix: _Matrix, write: Callable[[Value, Value], None]) -> None:
    """A task whose units are vectors of columns."""
    task, function = matrix.task, matrix.function
    with function.range(task.begin, task.end) as unit:
        column = unit * matrix.vector.lanes
        write(column, first_lanes(function, matrix.vector, matrix.columns - column))
    function.give_back()


def _forward_source(scalar: str) -> str:
    module = Module()
    _write_gather(_Matrix(write_task(module, "gather"), scalar))
    _write_combine(_Matrix(write_task(module, "combine"), scalar))
    _write_apply(_Matrix(write_task(module, "apply"), scalar))
    return module.text()


def _write_gather(matrix: _Matrix) -> None:
    task, function = matrix.task, matrix.function
    x, sums = task.pointer(0), task.pointer(2)
    with function.range(task.begin, task.end) as chunk:
        first, last = matrix.bounds(chunk)
        count = _double(function, last - first, matrix.vector)

        def columns(column: Value, mask: Value | None, _: int) -> None:
            def value(index: Value) -> Value:
                return load(function, matrix.vector, matrix.at(x, index), mask)

            mean = matrix.down(first, last, column, mask, lambda index: [value(index)], 1)[0] / count

            middle = narrow(function, mean, matrix.kind)

            def square(index: Value) -> list[Value]:
                away = value(index) - middle
                return [away * away]

            _keep(matrix, sums, chunk, column, mask, [widen(function, middle), *matrix.down(first, last, column, mask, square, 1)])

        each(function, matrix.vector, 0, matrix.columns, columns, 1)
    function.give_back()


def _write_combine(matrix: _Matrix) -> None:
    task, function = matrix.task, matrix.function
    sums, places, eps = task.pointer(2), [task.pointer(k) for k in (3, 4, 5)], task.word(8, DOUBLE)
    wide = DOUBLE.like(matrix.vector)

    def write(column: Value, mask: Value) -> None:
        mean, squares = function.variable(wide, 0.0), function.variable(wide, 0.0)
        rows = _double(function, matrix.rows, matrix.vector)

        def count(chunk: Value) -> Value:
            first, last = matrix.bounds(chunk)
            return _double(function, last - first, matrix.vector)

        with function.range(0, matrix.chunks) as chunk:
            mean.set(mean.get() + _kept(matrix, sums, chunk, 0, column, mask) * count(chunk))
        mean.set(mean.get() / rows)
        with function.range(0, matrix.chunks) as chunk:
            away = _kept(matrix, sums, chunk, 0, column, mask) - mean.get()
            squares.set(squares.get() + _kept(matrix, sums, chunk, 1, column, mask) + away * away * count(chunk))
        targets = tuple(matrix.at(place, column) for place in places)
        write_statistics(function, matrix.kind, mean.get(), squares.get() / rows, function.lift(eps, wide), targets, mask)

    _column_vectors(matrix, write)


def _write_apply(matrix: _Matrix) -> None:
    task, function = matrix.task, matrix.function
    x, y, mean, rstd, weight, bias = (task.pointer(k) for k in (0, 1, 3, 4, 6, 7))
    with function.range(task.begin, task.end) as chunk:
        first, last = matrix.bounds(chunk)
        with function.range(first, last) as row:
            def write(column: Value, mask: Value | None, _: int) -> None:
                index = row * matrix.columns + column
                middle, scale, w, b = (matrix.numbers(base, column, mask) for base in (mean, rstd, weight, bias))
                value = load(function, matrix.vector, matrix.at(x, index), mask)
                store(function, (value - middle) * (scale * w) + b, matrix.at(y, index), mask)

            each(function, matrix.vector, 0, matrix.columns, write, 2)
    function.give_back()


def _backward_source(scalar: str) -> str:
    module = Module()
    _write_gather_back(_Matrix(write_task(module, "gather"), scalar))
    _write_combine_back(_Matrix(write_task(module, "combine"), scalar))
    _write_apply_back(_Matrix(write_task(module, "apply"), scalar))
    return module.text()


def _write_gather_back(matrix: _Matrix) -> None:
    task, function = matrix.task, matrix.function
    g, x, sums, mean_at = (task.pointer(k) for k in (0, 1, 3, 4))
    with function.range(task.begin, task.end) as chunk:
        first, last = matrix.bounds(chunk)

        def columns(column: Value, mask: Value | None, _: int) -> None:
            mean = matrix.numbers(mean_at, column, mask)

            def terms(index: Value) -> list[Value]:
                grad, value = (load(function, matrix.vector, matrix.at(base, index), mask) for base in (g, x))
                return [grad, grad * (value - mean)]

            _keep(matrix, sums, chunk, column, mask, matrix.down(first, last, column, mask, terms, 2))

        each(function, matrix.vector, 0, matrix.columns, columns, 1)
    function.give_back()


def _write_combine_back(matrix: _Matrix) -> None:
    """The means of g and of g unit; the weight, the same for a whole group, comes in at the end."""
    task, function = matrix.task, matrix.function
    sums, rstd_at, factors = (task.pointer(k) for k in (3, 5, 7))
    wide = DOUBLE.like(matrix.vector)

    def write(column: Value, mask: Value) -> None:
        means = [function.variable(wide, 0.0) for _ in range(2)]
        with function.range(0, matrix.chunks) as chunk:
            for k, mean in enumerate(means):
                mean.set(mean.get() + _kept(matrix, sums, chunk, k, column, mask))
        rows = _double(function, matrix.rows, matrix.vector)
        rstd = widen(function, matrix.numbers(rstd_at, column, mask))
        for k, value in enumerate((means[0].get() / rows, means[1].get() / rows * rstd)):
            store(function, narrow(function, value, matrix.kind), matrix.at(factors, matrix.columns * k + column), mask)

    _column_vectors(matrix, write)


def _write_apply_back(matrix: _Matrix) -> None:
    task, function = matrix.task, matrix.function
    g, x, dx, mean, rstd, weight, factors = (task.pointer(k) for k in (0, 1, 2, 4, 5, 6, 7))
    slopes = matrix.at(factors, matrix.columns)
    with function.range(task.begin, task.end) as chunk:
        first, last = matrix.bounds(chunk)
        with function.range(first, last) as row:
            def write(column: Value, mask: Value | None, _: int) -> None:
                index = row * matrix.columns + column
                middle, scale, w, shift, slope = (matrix.numbers(base, column, mask) for base in (mean, rstd, weight, factors, slopes))
                grad, value = (load(function, matrix.vector, matrix.at(base, index), mask) for base in (g, x))
                unit = (value - middle) * scale
                store(function, (grad - shift - unit * slope) * (scale * w), matrix.at(dx, index), mask)

            each(function, matrix.vector, 0, matrix.columns, write, 1)
    function.give_back()
