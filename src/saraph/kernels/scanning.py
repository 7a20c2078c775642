"""Running sums, products, maxima and minima, along rows that lie side by side or down columns.

float32 is accumulated in float64 and rounded once per element. Along a row eight elements are combined at a time, always in the same order;
float64 is combined one after the other. Long rows are cut into pieces of one size, whose totals are combined first.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import GRAIN, smaller
from saraph.kernels.ir import DOUBLE, FLOAT, I32, I64, Function, Module, Type, Value
from saraph.kernels.walking import Task, name_of, write_task

#: Element and accumulator of each dtype.
KINDS = {"float32": (FLOAT, DOUBLE), "float64": (DOUBLE, DOUBLE), "int64": (I64, I64), "int32": (I32, I32)}
PIECE = 1 << 15  #: elements of a long row that are one unit of work
LANES = 8
REGISTERS = 8  #: vectors of columns that are one unit of work

_int64 = np.dtype(np.int64)


def accumulate(a: np.ndarray, axis: int, operation: str) -> np.ndarray:
    """The running "add" or "multiply" of a row-major array along an axis."""
    result = blocks.empty(a.shape, a.dtype)
    if not a.size:
        return result
    name = name_of(a.dtype)
    outer, length, inner = _split(a.shape, axis)
    code = jit.kernel("accumulate", (name, operation), functools.partial(_accumulating_module, name, operation))
    if inner > 1:
        groups = -(-inner // (LANES * REGISTERS))
        words = pool.arguments(blocks.address(result), blocks.address(a), length, inner, groups)
        pool.parallel(code.address("columns"), words, outer * groups, max(1, GRAIN // (a.itemsize * length * min(inner, LANES * REGISTERS))))
        return result
    pieces = -(-length // PIECE)
    neutral = 0 if operation == "add" else 1
    carries = np.full((outer, pieces), -0.0 if operation == "add" and a.dtype.kind == "f" else neutral, "f8" if a.dtype.kind == "f" else a.dtype)
    words = pool.arguments(*map(blocks.address, (result, a, carries)), length, pieces)
    grain = max(1, GRAIN // (a.itemsize * min(length, PIECE)))
    if pieces > 1:
        pool.parallel(code.address("totals"), words, outer * pieces, grain)
        ufunc = np.add if operation == "add" else np.multiply
        sums = ufunc.accumulate(carries, 1, carries.dtype)
        carries[:, 1:] = sums[:, :-1]
        carries[:, 0] = -0.0 if operation == "add" and a.dtype.kind == "f" else neutral
    pool.parallel(code.address("rows"), words, outer * pieces, grain)
    return result


def running(a: np.ndarray, axis: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The running maximum (or minimum) of a row-major array along an axis, and where it was last reached; NaN stays."""
    values, positions = blocks.empty(a.shape, a.dtype), blocks.empty(a.shape, _int64)
    if a.size:
        name = name_of(a.dtype)
        outer, length, inner = _split(a.shape, axis)
        code = jit.kernel("running", (name, largest), functools.partial(_running_module, name, largest))
        groups = -(-inner // LANES)
        words = pool.arguments(*map(blocks.address, (values, a, positions)), length, inner, groups)
        grain = max(1, GRAIN // (16 * length * min(inner, LANES)))
        pool.parallel(code.address("columns" if inner > 1 else "rows"), words, outer * groups, grain)
    return values, positions


def _split(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])


# -- sums and products ---------------------------------------------------------------------------------------------------------------


def _accumulating_module(name: str, operation: str) -> str:
    module = Module()
    scan = _Accumulation(*KINDS[name], operation)
    scan.write_rows(write_task(module, "rows"))
    scan.write_totals(write_task(module, "totals"))
    scan.write_columns(write_task(module, "columns"))
    return module.text()


class _Accumulation:
    """Writes the tasks for one element type, accumulator and operation."""

    def __init__(self, kind: Type, wide: Type, operation: str) -> None:
        self.kind, self.wide, self.operation = kind, wide, operation
        self.by_vectors = kind.scalar != "double"
        #: leaves every value as it is, also -0
        self.neutral = 1 if operation == "multiply" else -0.0 if wide.is_float else 0

    def combine(self, a: Value, b: Value) -> Value:
        return a + b if self.operation == "add" else a * b

    def load(self, function: Function, place: Value, lanes: int = 0) -> Value:
        value = function.load(self.kind.vector(lanes), place)
        return value if self.kind == self.wide else function.convert("fpext", value, self.wide.vector(lanes))

    def narrow(self, function: Function, value: Value) -> Value:
        return value if self.kind == self.wide else function.convert("fptrunc", value, self.kind.like(value.type))

    def _prefixes(self, function: Function, value: Value) -> Value:
        """Every lane combined with those before it."""
        neutral = function.constant(value.type, self.neutral)
        step = 1
        while step < LANES:
            lanes = [LANES + lane - step if lane >= step else lane for lane in range(LANES)]
            value = self.combine(function.shuffle(neutral, lanes, value), value)
            step *= 2
        return value

    def write_rows(self, task: Task) -> None:
        target = task.pointer(0)

        def write(place: Value, value: Value) -> None:
            task.function.store(self.narrow(task.function, value), task.function.offset(target, place * self.kind.size))

        self._write_pieces(task, write, lambda carry, unit: None)

    def write_totals(self, task: Task) -> None:
        carries = task.pointer(2)
        self._write_pieces(task, lambda place, value: None,
                           lambda carry, unit: task.function.store(carry, task.function.offset(carries, unit * self.wide.size)))

    def _write_pieces(self, task: Task, write: Callable[[Value, Value], None], finish: Callable[[Value, Value], None]) -> None:
        """For every piece of every row: `write` running values where they belong, `finish` with the last one."""
        function, size = task.function, self.kind.size
        source, carries, length, pieces = task.pointer(1), task.pointer(2), task.word(3), task.word(4)
        with function.range(task.begin, task.end) as unit:
            row = unit / pieces
            start = (unit - row * pieces) * PIECE
            count = smaller(function, length - start, PIECE)
            first = row * length + start
            carry = function.variable(self.wide, function.load(self.wide, function.offset(carries, unit * self.wide.size)))
            whole: Value | int = 0
            if self.by_vectors:
                whole = count & -LANES
                with function.range(0, whole, LANES) as index:
                    prefixes = self._prefixes(function, self.load(function, function.offset(source, (first + index) * size), LANES))
                    before = carry.get()
                    write(first + index, self.combine(function.lift(before, prefixes.type), prefixes))
                    carry.set(self.combine(before, function.extract(prefixes, LANES - 1)))
            with function.range(whole, count) as index:
                carry.set(self.combine(carry.get(), self.load(function, function.offset(source, (first + index) * size))))
                write(first + index, carry.get())
            finish(carry.get(), unit)
        function.give_back()

    def write_columns(self, task: Task) -> None:
        function, size = task.function, self.kind.size
        target, source, length, inner, groups = task.pointer(0), task.pointer(1), task.word(2), task.word(3), task.word(4)
        with function.range(task.begin, task.end) as unit:
            outer = unit / groups
            column = (unit - outer * groups) * (LANES * REGISTERS)
            first = outer * length * inner + column

            def down(lanes: int, registers: int, start: Value) -> None:
                """Some columns from the first row to the last."""
                sums = [function.variable(self.wide.vector(lanes), self.neutral) for _ in range(registers)]
                with function.range(0, length) as row:
                    for k, total in enumerate(sums):
                        at = (start + row * inner + k * lanes) * size
                        total.set(self.combine(total.get(), self.load(function, function.offset(source, at), lanes)))
                        function.store(self.narrow(function, total.get()), function.offset(target, at))

            def some() -> None:
                left = inner - column
                whole = left & -LANES
                with function.range(0, whole, LANES) as k:
                    down(LANES, 1, first + k)
                with function.range(whole, left) as k:
                    down(0, 1, first + k)

            function.either(column + LANES * REGISTERS <= inner, lambda: down(LANES, REGISTERS, first), some)
        function.give_back()


# -- maxima and minima ---------------------------------------------------------------------------------------------------------------


def _running_module(name: str, largest: bool) -> str:
    module = Module()
    _write_running(write_task(module, "rows"), KINDS[name][0], largest, 1)
    _write_running(write_task(module, "columns"), KINDS[name][0], largest, LANES)
    return module.text()


def _write_running(task: Task, kind: Type, largest: bool, columns: int) -> None:
    """Groups of so many columns, from the first row to the last."""
    function = task.function
    values, source, positions = (task.pointer(k) for k in range(3))
    length, inner, groups = (task.word(3 + k) for k in range(3))

    def down(lanes: int, start: Value) -> None:
        vector, numbers = kind.vector(lanes), I64.vector(lanes)
        best = function.variable(vector, function.load(vector, function.offset(source, start * kind.size)))
        where = function.variable(numbers, 0)
        with function.range(0, length) as row:
            at = start + row * inner
            value = function.load(vector, function.offset(source, at * kind.size))
            reached = value >= best.get() if largest else value <= best.get()
            if kind.is_float:
                reached = reached | value.differs(value)
            best.set(function.select(reached, value, best.get()))
            where.set(function.select(reached, function.lift(row, numbers), where.get()))
            function.store(best.get(), function.offset(values, at * kind.size))
            function.store(where.get(), function.offset(positions, at * 8))

    with function.range(task.begin, task.end) as unit:
        outer = unit / groups
        column = (unit - outer * groups) * columns
        first = outer * length * inner + column

        def rest() -> None:
            with function.range(column, inner) as k:
                down(0, first + k - column)

        if columns == 1:
            down(0, first)
        else:
            function.either(column + columns <= inner, functools.partial(down, columns, first), rest)
    function.give_back()
