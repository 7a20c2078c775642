"""The largest or smallest elements of rows, in order: a threshold that rises while a row is read, and a short sorted list.

Elements are compared as integers in their order (NaN above every number, both zeros equal); equal ones keep the order of their positions.
"""
from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import GRAIN, smaller
from saraph.kernels.ir import DOUBLE, FLOAT, I1, I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.walking import Task, name_of, write_task

KINDS = {"float32": FLOAT, "float64": DOUBLE, "int64": I64, "int32": I32}
MOST = 256  #: elements that a list can have: each newcomer is moved past those that it beats
PIECE = 1 << 15  #: elements of a row that are one unit of work
VECTOR_BYTES = 64
_GROUPS = 4  #: vectors whose lanes each stand for a group of elements

_int64 = np.dtype(np.int64)


def top(rows: np.ndarray, k: int, largest: bool) -> np.ndarray:
    """The positions of the k best elements of every row (the last axis of a row-major array), best first; 0 < k <= MOST."""
    kind, length = name_of(rows.dtype), rows.shape[-1]
    outer = rows.size // length
    pieces = max(1, length // PIECE)
    piece = -(-length // pieces)
    pieces = -(-length // piece)
    keys = blocks.empty((outer, pieces, k), rows.dtype if rows.dtype.kind == "i" else np.dtype(f"i{rows.itemsize}"))
    positions = blocks.empty((outer, pieces, k), _int64)
    code = jit.kernel("top", (kind, largest), functools.partial(_module, kind, largest))
    words = pool.arguments(*map(blocks.address, (rows, keys, positions)), length, piece, pieces, k)
    pool.parallel(code.address("select"), words, outer * pieces, max(1, GRAIN // (rows.itemsize * piece)))
    if pieces > 1:
        pool.parallel(code.address("merge"), words, outer, 1)
    return np.ascontiguousarray(positions[:, 0]).reshape(*rows.shape[:-1], k)


def _module(kind: str, largest: bool) -> str:
    module = Module()
    selection = _Selection(KINDS[kind], largest)
    selection.write_insert(module)
    selection.write_select(write_task(module, "select"))
    selection.write_merge(write_task(module, "merge"))
    return module.text()


class _Selection:
    """Writes the tasks for one dtype and direction."""

    def __init__(self, kind: Type, largest: bool) -> None:
        self.kind, self.largest = kind, largest
        self.key = I64 if kind.size == 8 else I32
        self.lanes = VECTOR_BYTES // kind.size

    def keys(self, function: Function, value: Value) -> Value:
        """Integers in the order of the elements, the best one largest."""
        key = value
        if self.kind.is_float:
            bits = function.convert("bitcast", value + 0.0, self.key.like(value.type))  # -0 becomes +0
            sign = bits >> (self.key.size * 8 - 1)
            key = bits ^ (sign & self._highest)
            key = function.select(value.differs(value), self._highest, key)
        return key if self.largest else key ^ -1

    @property
    def _highest(self) -> int:
        return (1 << (self.key.size * 8 - 1)) - 1

    @property
    def _lowest(self) -> int:
        return -self._highest - 1

    def write_insert(self, module: Module) -> None:
        """insert(keys, positions, last, key, position): into a sorted list, whose element `last` is new or lost."""
        function = module.function("insert", (("keys", POINTER), ("positions", POINTER), ("last", I64), ("key", self.key), ("position", I64)))
        keys, positions, last, key, position = function.parameters
        size = self.key.size
        at, going = function.variable(I64, last), function.variable(I1, 1)
        with function.repeat_while(lambda: (at.get() > 0) & going.get()):
            before = at.get() - 1
            other = function.load(self.key, function.offset(keys, before * size))
            going.set(other < key)
            with function.when(going.get()):
                function.store(other, function.offset(keys, at.get() * size))
                function.store(function.load(I64, function.offset(positions, before * 8)), function.offset(positions, at.get() * 8))
                at.set(before)
        function.store(key, function.offset(keys, at.get() * size))
        function.store(position, function.offset(positions, at.get() * 8))
        function.give_back()

    def write_select(self, task: Task) -> None:
        """The best of every piece of every row, in a list of its own."""
        function, size, lanes = task.function, self.kind.size, self.lanes
        rows, keys, positions = (task.pointer(k) for k in range(3))
        length, piece, pieces, k = (task.word(3 + n) for n in range(4))
        vector = self.kind.vector(lanes)
        with function.range(task.begin, task.end) as unit:
            row = unit / pieces
            start = (unit - row * pieces) * piece
            stop = smaller(function, start + piece, length)
            source = function.offset(rows, row * length * size)
            key_list, position_list = function.offset(keys, unit * k * self.key.size), function.offset(positions, unit * k * 8)

            def load(index: Value, type: Type) -> Value:
                return self.keys(function, function.load(type, function.offset(source, index * size)))

            def insert(count: Value, key: Value, index: Value) -> None:
                function.call("insert", [key_list, position_list, smaller(function, count, k - 1), key, index])

            first, count = function.variable(I64, start), function.variable(I64, 0)
            worst = function.variable(self.key, self._lowest)
            with function.when((k <= lanes * _GROUPS // 2) & (stop - start >= 2 * lanes * _GROUPS)):
                worst.set(self._bound(function, lambda index: load(index, vector), start, stop, k))

            def first_ones() -> None:
                with function.range(start, start + k) as index:
                    insert(index - start, load(index, self.kind), index)
                first.set(start + k)
                count.set(k)
                worst.set(self._worst(function, key_list, k))

            function.either(worst.get().equals(self._lowest), first_ones, lambda: worst.set(worst.get() - 1))

            def offer(index: Value) -> None:
                key = load(index, self.kind)
                with function.when(key > worst.get()):
                    insert(count.get(), key, index)
                    count.set(count.get() + 1)
                    with function.when(count.get() >= k):
                        worst.set(self._worst(function, key_list, k))

            whole = first.get() + ((stop - first.get()) & -lanes)
            with function.range(first.get(), whole, lanes) as index:
                bits = function.variable(I64, self._bits(function, load(index, vector) > worst.get()))
                with function.repeat_while(lambda: bits.get().differs(0)):
                    offer(index + function.intrinsic("cttz", [I64], I64, [bits.get(), function.constant(I1, 1)]))
                    bits.set(bits.get() & (bits.get() - 1))
            with function.range(whole, stop) as index:
                offer(index)
        function.give_back()

    def _bits(self, function: Function, hits: Value) -> Value:
        """A bit for every lane."""
        return function.convert("zext", function.convert("bitcast", hits, Type(f"i{hits.type.lanes}")), I64)

    def _bound(self, function: Function, load: Callable[[Value], Value], start: Value, stop: Value, k: Value) -> Value:
        """A key that at least k elements reach, and few more: the elements are dealt out to groups; it is the k-th best of the groups' best.

        It is found bit by bit, from the highest on: no branch depends on the elements.
        """
        lanes, vector = self.lanes, self.key.vector(self.lanes)
        step = lanes * _GROUPS
        groups = [function.variable(vector, load(start + lanes * g)) for g in range(_GROUPS)]
        with function.range(start + step, start + ((stop - start) & -step), step) as index:
            for g, group in enumerate(groups):
                group.set(function.intrinsic("smax", [vector], vector, [group.get(), load(index + lanes * g)]))
        bound, bit = function.variable(self.key, self._lowest), function.variable(self.key, self._lowest)
        with function.repeat_while(lambda: bit.get().differs(0)):
            candidate = bound.get() + bit.get()
            reached: Value = function.constant(I64, 0)
            for group in groups:
                reached = (reached << lanes) | self._bits(function, group.get() >= candidate)
            enough = function.intrinsic("ctpop", [I64], I64, [reached]) >= k
            bound.set(function.select(enough, candidate, bound.get()))
            bit.set(bit.get().shift_in_zeros(1))
        return bound.get()

    def _worst(self, function: Function, keys: Value, k: Value) -> Value:
        """The last key of a full list."""
        return function.load(self.key, function.offset(keys, (k - 1) * self.key.size))

    def write_merge(self, task: Task) -> None:
        """The lists of a row's other pieces into that of its first."""
        function, size = task.function, self.key.size
        keys, positions = task.pointer(1), task.pointer(2)
        pieces, k = task.word(5), task.word(6)
        with function.range(task.begin, task.end) as row:
            key_list, position_list = function.offset(keys, row * pieces * k * size), function.offset(positions, row * pieces * k * 8)
            with function.range(k, pieces * k) as at:
                key = function.load(self.key, function.offset(key_list, at * size))
                with function.when(key > self._worst(function, key_list, k)):
                    position = function.load(I64, function.offset(position_list, at * 8))
                    function.call("insert", [key_list, position_list, k - 1, key, position])
        function.give_back()
