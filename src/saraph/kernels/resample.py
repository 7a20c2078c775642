"""Resizing as machine code: every element of the result is a weighted sum of a few elements along one dimension after the other.

    table = Table(rows, columns, weights, count)          # result[row] += weight * input[column]
    lines(x, y, table)                                    # along the middle of (outer, size, inner)
    planes(x, y, vertical, horizontal)                    # along the last two of (planes, height, width), in one pass

In `planes` the unit of work is a block of ROWS rows of the result: where the height grows, the rows of the input that it needs are resized along
the width first, into scratch memory, else rows are added up first.
"""
from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.ir import I32, I64, POINTER, Module, Value
from saraph.kernels.strips import each, gather, larger, load, smaller, store, vector_of
from saraph.kernels.walking import write_task

ROWS = 16
GRAIN = 1 << 14  #: elements below which work is not shared out
_PADDED = 16

uint8 = np.dtype(np.uint8)


class Table:
    """For each of `count` elements of the result which elements of the input it is made of, and with which weights.

    rows, columns, weights: one entry each a term, in the order of rows, then of columns.
    """

    def __init__(self, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, count: int) -> None:
        self.count = count
        self.width = -(-count // _PADDED) * _PADDED
        starts = np.searchsorted(rows, np.arange(count))
        turn = np.arange(len(rows)) - starts[rows]
        self.terms = int(turn.max(initial=-1)) + 1
        self.index = np.zeros((max(self.terms, 1), self.width), np.int32)
        self.weight = np.zeros((max(self.terms, 1), self.width), weights.dtype)
        self.index[turn, rows], self.weight[turn, rows] = columns, weights
        self.counts = np.zeros(self.width, np.int32)
        self.counts[:count] = np.bincount(rows, minlength=count)
        self.reach = self._reach(rows, columns)

    def _reach(self, rows: np.ndarray, columns: np.ndarray) -> int:
        """How many elements of the input a block of ROWS elements needs at most, from the first to the last."""
        if not len(rows):
            return 1
        starts = np.flatnonzero(np.diff(rows // ROWS, prepend=-1))
        return int((np.maximum.reduceat(columns, starts) - np.minimum.reduceat(columns, starts)).max()) + 1

    def words(self) -> tuple[int, ...]:
        return (*map(blocks.address, (self.index, self.weight, self.counts)), self.width)


@functools.lru_cache(64)
def unchanged(size: int, kind: np.dtype) -> Table:
    """Every element as it is."""
    at = np.arange(size)
    return Table(at, at, np.ones(size, kind), size)


def lines(x: np.ndarray, y: np.ndarray, table: Table) -> None:
    """x (outer, size, inner) to y (outer, count, inner), both contiguous, float32 or float64."""
    outer, size, inner = x.shape
    args = pool.arguments(blocks.address(x), blocks.address(y), size, table.count, inner, *table.words())
    pool.parallel(_code("lines", x.dtype), args, outer * table.count, max(1, GRAIN // inner))


def planes(x: np.ndarray, y: np.ndarray, vertical: Table, horizontal: Table) -> None:
    """x (planes, height, width) to y (planes, vertical.count, horizontal.count), both contiguous, float32 or float64."""
    count, height, width = x.shape
    down_first = vertical.count <= height
    rows, row = (1, width) if down_first else (vertical.reach, horizontal.count)
    row = -(-row // _PADDED) * _PADDED
    size = -(-rows * row * x.itemsize // 64) * 64
    scratch = blocks.empty((pool.slots(), size), uint8)
    per_plane = -(-vertical.count // ROWS)
    args = pool.arguments(blocks.address(x), blocks.address(y), height, vertical.count, width, *vertical.words(), horizontal.count, *horizontal.words(),
                          blocks.address(scratch), size, row, per_plane, horizontal.terms)
    per_unit = ROWS * max(horizontal.count, width if down_first else 1) * max(horizontal.terms, 1)
    pool.parallel(_code("down_first" if down_first else "across_first", x.dtype), args, count * per_plane, max(1, GRAIN // per_unit))


def _code(which: str, kind: np.dtype) -> int:
    return jit.kernel("resample", (which, kind.name), functools.partial(_source, which, kind.name)).address("task")


# -- machine code ------------------------------------------------------------------------------------------------------------------------


class _Terms:
    """A table, inside a task."""

    def __init__(self, writer: _Writer, first: int) -> None:
        task = writer.task
        self.writer, self.function = writer, task.function
        self.index, self.weight, self.counts = (task.pointer(first + k) for k in range(3))
        self.width = task.word(first + 3)

    def number(self, place: Value) -> Value:
        return self.function.convert("sext", self.function.load(I32, place), I64)

    def count(self, row: Value) -> Value:
        return self.number(self.function.offset(self.counts, row * 4))

    def column(self, term: Value | int, row: Value) -> Value:
        return self.number(self.function.offset(self.index, (self.width * term + row) * 4))

    def along(self, row: Value, base: Value, stride: Value, target: Value, length: Value) -> None:
        """A line of the result: the sum of lines of the input, `stride` bytes apart from `base` on, into `target`."""
        function, vector, size = self.function, self.writer.vector, self.writer.size
        count = self.count(row)
        total = function.variable(vector, 0.0)

        def write(index: Value, mask: Value | None, _: int) -> None:
            total.set(0.0)
            with function.range(0, count) as term:
                line = function.offset(base, self.column(term, row) * stride + index * size)
                weight = function.load(vector.vector(0), function.offset(self.weight, (self.width * term + row) * size))
                total.set(function.fma(load(function, vector, line, mask), function.lift(weight, vector), total.get()))
            store(function, total.get(), function.offset(target, index * size), mask)

        each(function, vector, 0, length, write, 1)

    def across(self, line: Value, target: Value, count: Value, terms: Value) -> None:
        """A line of the result from one line of the input."""
        function, vector, size = self.function, self.writer.vector, self.writer.size
        numbers = I32.vector(vector.lanes)
        total = function.variable(vector, 0.0)

        def write(index: Value, mask: Value | None, _: int) -> None:
            total.set(0.0)
            counts = function.load(numbers, function.offset(self.counts, index * 4))
            with function.range(0, terms) as term:
                at = self.width * term + index
                columns = function.load(numbers, function.offset(self.index, at * 4))
                places = function.offset(line, function.convert("sext", columns, I64.like(columns.type)) * size)
                inside = function.lift(function.convert("trunc", term, I32), numbers) < counts
                weights = function.load(vector, function.offset(self.weight, at * size))
                total.set(function.fma(gather(function, vector, places, inside), weights, total.get()))
            store(function, total.get(), function.offset(target, index * size), mask)

        each(function, vector, 0, count, write, 1)


class _Writer:
    def __init__(self, module: Module, scalar: str) -> None:
        self.task = write_task(module, "task")
        self.function, self.vector = self.task.function, vector_of(scalar)
        self.size = self.vector.vector(0).size

    def lines(self) -> None:
        function, task = self.function, self.task
        x, y = task.pointer(0), task.pointer(1)
        size, count, inner = (task.word(2 + k) for k in range(3))
        table, stride = _Terms(self, 5), inner * self.size
        with function.range(task.begin, task.end) as unit:
            outer = unit / count
            table.along(unit - outer * count, function.offset(x, outer * size * stride), stride, function.offset(y, unit * stride), inner)
        function.give_back()

    def planes(self, down_first: bool) -> None:
        function, task = self.function, self.task
        x, y = task.pointer(0), task.pointer(1)
        height, rows, width = (task.word(2 + k) for k in range(3))
        vertical, columns, horizontal = _Terms(self, 5), task.word(9), _Terms(self, 10)
        scratch = function.offset(task.word(14, POINTER), task.slot * task.word(15))
        row_size, per_plane = task.word(16) * self.size, task.word(17)
        terms = task.word(18)
        with function.range(task.begin, task.end) as unit:
            plane = unit / per_plane
            first = (unit - plane * per_plane) * ROWS
            last = smaller(function, first + ROWS, rows)
            source = function.offset(x, plane * height * width * self.size)

            def target(row: Value) -> Value:
                return function.offset(y, (plane * rows + row) * columns * self.size)

            if down_first:
                with function.range(first, last) as row:
                    vertical.along(row, source, width * self.size, scratch, width)
                    horizontal.across(scratch, target(row), columns, terms)
            else:
                low, high = self._needed(vertical, first, last)
                with function.range(low, high) as row:
                    horizontal.across(function.offset(source, row * width * self.size), function.offset(scratch, (row - low) * row_size), columns, terms)
                base = function.offset(scratch, low * -1 * row_size)
                with function.range(first, last) as row:
                    vertical.along(row, base, row_size, target(row), columns)
        function.give_back()

    def _needed(self, table: _Terms, first: Value, last: Value) -> tuple[Value, Value]:
        """The first row of the input that a block needs, and the one behind the last."""
        function = self.function
        low, high = function.variable(I64, 1 << 62), function.variable(I64, 0)
        low.set(1 << 62)
        high.set(0)
        with function.range(first, last) as row:
            count = table.count(row)
            with function.when(count > 0):
                low.set(smaller(function, low.get(), table.column(0, row)))
                high.set(larger(function, high.get(), table.column(count - 1, row) + 1))
        return smaller(function, low.get(), high.get()), high.get()


def _source(which: str, scalar: str) -> str:
    module = Module()
    writer = _Writer(module, scalar)
    write: dict[str, Callable[[], None]] = {"lines": writer.lines, "down_first": lambda: writer.planes(True), "across_first": lambda: writer.planes(False)}
    write[which]()
    return module.text()
