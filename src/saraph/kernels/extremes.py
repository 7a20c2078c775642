"""Where the largest or smallest elements are: the first of equals; NaN counts as more extreme than any number."""
from __future__ import annotations

import functools
import math

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import GRAIN, smaller
from saraph.kernels.ir import DOUBLE, FLOAT, I1, I8, I16, I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.walking import Task, name_of, write_task

KINDS = {"float32": FLOAT, "float64": DOUBLE, "int64": I64, "int32": I32, "int16": I16, "int8": I8, "uint8": I8}
PIECE = 1 << 14  #: elements of a row that are one unit of work
VECTOR_BYTES = 64

_int64 = np.dtype(np.int64)


def extremes(a: np.ndarray, axis: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The extreme elements of a row-major array along an axis (which the results lack), and their positions. The axis is not empty."""
    kind = name_of(a.dtype)
    outer, length, inner = math.prod(a.shape[:axis]), a.shape[axis], math.prod(a.shape[axis + 1:])
    shape = a.shape[:axis] + a.shape[axis + 1:]
    code = jit.kernel("extremes", (kind, largest), functools.partial(_module, kind, largest))
    pieces = -(-length // PIECE) if inner == 1 else 1
    values, positions = blocks.empty((outer, pieces, inner), a.dtype), blocks.empty((outer, pieces, inner), _int64)
    addresses = [blocks.address(x) for x in (a, values, positions)]
    if inner == 1:
        work = a.itemsize * min(length, PIECE)
        pool.parallel(code.address("rows"), pool.arguments(*addresses, length, pieces), outer * pieces, max(1, GRAIN // work))
        if pieces > 1:
            best = (np.argmax if largest else np.argmin)(values, 1, keepdims=True)
            values, positions = np.take_along_axis(values, best, 1), np.take_along_axis(positions, best, 1)
    else:
        groups = -(-inner // _columns(KINDS[kind]))
        work = a.itemsize * length * min(inner, _columns(KINDS[kind]))
        pool.parallel(code.address("columns"), pool.arguments(*addresses, length, inner, groups), outer * groups, max(1, GRAIN // work))
    return values.reshape(shape), positions.reshape(shape)


def _registers(kind: Type) -> int:
    return 4 if kind.size >= 4 else 1


def _columns(kind: Type) -> int:
    """Columns that are searched together."""
    return _registers(kind) * VECTOR_BYTES // kind.size


# -- machine code ------------------------------------------------------------------------------------------------------------------


def _module(kind: str, largest: bool) -> str:
    module = Module()
    search = _Search(KINDS[kind], largest, kind == "uint8")
    search.write_rows(write_task(module, "rows"))
    search.write_columns(write_task(module, "columns"))
    return module.text()


class _Search:
    """Writes the two tasks: along rows that lie side by side, and down columns."""

    def __init__(self, kind: Type, largest: bool, unsigned: bool) -> None:
        self.kind, self.largest, self.unsigned = kind, largest, unsigned
        self.vector = kind.vector(VECTOR_BYTES // kind.size)

    def better(self, a: Value, b: Value) -> Value:
        if self.unsigned:
            return b.below(a) if self.largest else a.below(b)
        return a > b if self.largest else a < b

    def best(self, a: Value, b: Value) -> Value:
        return a.function.select(self.better(a, b), a, b)

    def write_rows(self, task: Task) -> None:
        function, size = task.function, self.kind.size
        source, values, positions = (task.pointer(k) for k in range(3))
        length, pieces = task.word(3), task.word(4)
        with function.range(task.begin, task.end) as unit:
            row = unit / pieces
            start = (unit - row * pieces) * PIECE
            place = function.offset(source, (row * length + start) * size)
            count = smaller(function, length - start, PIECE)
            extreme = self._extreme(function, place, count)
            at = self._first(function, place, count, extreme)
            function.store(function.load(self.kind, function.offset(place, at * size)), function.offset(values, unit * size))
            function.store(at + start, function.offset(positions, unit * 8))
        function.give_back()

    def _extreme(self, function: Function, place: Value, count: Value) -> Value:
        """The extreme element, or NaN."""
        size, lanes, registers = self.kind.size, self.vector.lanes, 4
        first = function.load(self.kind, place)
        best = [function.variable(self.vector, first) for _ in range(registers)]
        missing = function.variable(I1.vector(lanes), function.lift(first, self.vector).differs(function.lift(first, self.vector)))

        def look(register: int, value: Value) -> None:
            best[register].set(self.best(value, best[register].get()))
            if self.kind.is_float:
                missing.set(missing.get() | value.differs(value))

        whole = count & -(lanes * registers)
        with function.range(0, whole, lanes * registers) as index:
            for k in range(registers):
                look(k, function.load(self.vector, function.offset(place, (index + k * lanes) * size)))
        with function.range(whole, count) as index:
            look(0, function.lift(function.load(self.kind, function.offset(place, index * size)), self.vector))
        value = functools.reduce(self.best, [b.get() for b in best])
        while value.type.lanes > 1:
            half = value.type.lanes // 2
            value = self.best(function.shuffle(value, range(half)), function.shuffle(value, range(half, 2 * half)))
        result = function.extract(value, 0)
        if not self.kind.is_float:
            return result
        nan = function.intrinsic("vector.reduce.or", [I1.vector(lanes)], I1, [missing.get()])
        return function.select(nan, math.nan, result)

    def _first(self, function: Function, place: Value, count: Value, extreme: Value) -> Value:
        """Where the first element is that equals the extreme (or is NaN: then the extreme is NaN)."""
        size, lanes = self.kind.size, self.vector.lanes
        at, found = function.variable(I64, 0), function.variable(I64, -1)

        def matches(value: Value) -> Value:
            return value.equals(extreme) | value.differs(value) if self.kind.is_float else value.equals(extreme)

        with function.repeat_while(lambda: (at.get() + lanes <= count) & (found.get() < 0)):
            hits = matches(function.load(self.vector, function.offset(place, at.get() * size)))
            bits = function.convert("bitcast", hits, Type(f"i{lanes}"))
            bits = bits if lanes == 64 else function.convert("zext", bits, I64)
            number = at.get() + function.intrinsic("cttz", [I64], I64, [bits, function.constant(I1, 0)])
            found.set(function.select(bits.equals(0), -1, number))
            at.set(at.get() + lanes)
        with function.repeat_while(lambda: (at.get() < count) & (found.get() < 0)):
            hit = matches(function.load(self.kind, function.offset(place, at.get() * size)))
            found.set(function.select(hit, at.get(), -1))
            at.set(at.get() + 1)
        return found.get()

    def write_columns(self, task: Task) -> None:
        function, size, lanes = task.function, self.kind.size, self.vector.lanes
        source, values, positions = (task.pointer(k) for k in range(3))
        length, inner, groups = (task.word(3 + k) for k in range(3))
        numbers = I32.vector(lanes)
        with function.range(task.begin, task.end) as unit:
            outer = unit / groups
            first = (unit - outer * groups) * _columns(self.kind)
            for k in range(_registers(self.kind)):
                column = first + k * lanes
                inside = function.counting(I64.vector(lanes)) + column < inner
                with function.when(column < inner):
                    start = function.offset(source, (outer * length * inner + column) * size)
                    best = function.variable(self.vector, self._masked(function, start, inside))
                    where = function.variable(numbers, 0)
                    with function.range(1, length) as row:
                        value = self._masked(function, function.offset(start, row * inner * size), inside)
                        wins = self.better(value, best.get())
                        if self.kind.is_float:
                            wins = wins | (value.differs(value) & best.get().equals(best.get()))
                        best.set(function.select(wins, value, best.get()))
                        where.set(function.select(wins, function.convert("trunc", row, I32), where.get()))
                    align = function.constant(I32, 1)
                    goal = outer * inner + column
                    function.effect("masked.store", [self.vector, POINTER], [best.get(), function.offset(values, goal * size), align, inside])
                    wide = function.convert("sext", where.get(), I64.vector(lanes))
                    function.effect("masked.store", [wide.type, POINTER], [wide, function.offset(positions, goal * 8), align, inside])
        function.give_back()

    def _masked(self, function: Function, place: Value, inside: Value) -> Value:
        zero = function.constant(self.vector, 0)
        return function.intrinsic("masked.load", [self.vector, POINTER], self.vector, [place, function.constant(I32, 1), inside, zero])
