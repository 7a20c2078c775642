"""Pooling as machine code: maxima, with their positions, and averages of windows, and the gradients of both.

Arrays are (planes, depth, height, width), or (batch, depth, height, width, channels) where channels lie innermost ("last"); fewer dimensions
have size 1. Where a window lies is said by tables (`Windows`), so that windows of any stride, padding, dilation, and adaptive ones, are one case.

The unit of work is a row of the result (of the input, for the gradient of averages; a plane, for that of maxima).
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from saraph.kernels import blocks, emit, jit, pool
from saraph.kernels.ir import DOUBLE, FLOAT, I16, I32, I64, Module, Type, Value
from saraph.kernels.strips import VECTOR_BYTES, each, first_lanes, gather, load, store
from saraph.kernels.walking import write_task

GRAIN = 1 << 14  #: elements below which work is not shared out
LARGEST = 1 << 31  #: elements of a plane that positions in 32 bits can tell apart
_PADDED = 32  #: columns of the tables for the last dimension are filled up to a multiple of this

int64 = np.dtype(np.int64)
#: Raw bits of -inf, for kinds that are loaded as integers.
_LOWEST_BITS = {"float16": -1024, "bfloat16": -128}


class Windows:
    """Tables of windows along three dimensions: `starts` and `ends` (which need not lie within the input), `taps` elements each, `dilation` apart."""

    def __init__(self, sizes: Sequence[int], starts: Sequence[np.ndarray], ends: Sequence[np.ndarray], taps: Sequence[int], dilation: Sequence[int],
                 stride: int, padding: int) -> None:
        lead = 3 - len(sizes)
        one, whole = np.zeros(1, np.int64), np.ones(1, np.int64)
        self.sizes, self.taps, self.dilation = (1,) * lead + tuple(sizes), (1,) * lead + tuple(taps), (1,) * lead + tuple(dilation)
        starts, ends = [one] * lead + list(starts), [whole] * lead + list(ends)
        self.out = tuple(map(len, starts))
        self.stride = stride if stride in (1, 2) else 0  #: 0: elements are gathered
        self.padding = padding
        self.width = -(-self.out[2] // _PADDED) * _PADDED
        self.tables = [self._table(s, e, d, n) for s, e, d, n in zip(starts, ends, self.dilation, self.sizes)]
        across = np.zeros((3, self.width), np.int32)
        across[:, :self.out[2]] = self.tables[2]
        self.tables[2] = across
        self._back: Any = None
        self._divisors: dict[tuple[Any, str], list[np.ndarray]] = {}
        self._starts, self._ends = starts, ends

    @staticmethod
    def _table(starts: np.ndarray, ends: np.ndarray, dilation: int, size: int) -> np.ndarray:
        """Rows: starts, ends within the input, and every window's first element within the input."""
        first = np.where(starts < 0, np.minimum(starts % dilation, size - 1), starts)
        return np.ascontiguousarray(np.stack([starts, np.minimum(ends, size), first]), np.int64)

    def divisors(self, counts: Any, kind: np.dtype) -> list[np.ndarray]:
        """Divisors along each dimension, from those that the op gives; None: the windows' sizes."""
        key = (counts, kind.name)
        if key not in self._divisors:
            if counts is None:
                rows = [e - s for s, e in zip(self._starts, self._ends)]
            elif len(counts) == 1 and not isinstance(counts[0], tuple):
                rows = [np.ones(self.out[0]), np.ones(self.out[1]), np.full(self.out[2], counts[0])]
            else:
                rows = [np.ones(1)] * (3 - len(counts)) + [np.array(row) for row in counts]
            across = np.ones(self.width)
            across[:self.out[2]] = rows[2]
            self._divisors[key] = [np.ascontiguousarray(row, kind) for row in (rows[0], rows[1], across)]
        return self._divisors[key]

    def back(self) -> tuple[list[np.ndarray], int]:
        """For every element of each dimension the first window that holds it and the one behind the last; and the most along the last dimension."""
        if self._back is None:
            tables = []
            for size, starts, ends in zip(self.sizes, self._starts, self._ends):
                at = np.arange(size)
                tables.append(np.stack([np.searchsorted(ends, at, "right"), np.searchsorted(starts, at, "right")]).astype(np.int64))
            most = int((tables[2][1] - tables[2][0]).max(initial=0))
            across = np.zeros((2, -(-self.sizes[2] // _PADDED) * _PADDED), np.int32)
            across[:, :self.sizes[2]] = tables[2]
            self._back = [tables[0], tables[1], across], most
        return self._back


@functools.lru_cache(256)
def regular(sizes: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...],
            out: tuple[int, ...]) -> Windows:
    """Windows at equal distances."""
    starts = [np.arange(o) * s - p for o, s, p in zip(out, stride, padding)]
    ends = [s + (k - 1) * d + 1 for s, k, d in zip(starts, kernel, dilation)]
    return Windows(sizes, starts, ends, kernel, dilation, stride[-1], padding[-1])


@functools.lru_cache(256)
def adaptive(sizes: tuple[int, ...], out: tuple[int, ...]) -> Windows:
    """Nearly equal parts."""
    starts = [np.arange(o) * n // o for o, n in zip(out, sizes)]
    ends = [-(-(np.arange(o) + 1) * n // o) for o, n in zip(out, sizes)]
    return Windows(sizes, starts, ends, [int((e - s).max(initial=1)) for s, e in zip(starts, ends)], (1,) * len(out), 0, 0)


def can_compute(kind: np.dtype, windows: Windows) -> bool:
    """Whether there are kernels for this dtype and size."""
    return kind.name in ("float32", "float64", "float16", "bfloat16") and math.prod(windows.sizes) < LARGEST and jit.available()


def _words(windows: Windows, channels: int) -> tuple[int, ...]:
    return (*windows.sizes, *windows.out, *windows.taps, *windows.dilation, *map(blocks.address, windows.tables), windows.width, channels,
            windows.padding)


_DIVISORS, _SCRATCH = 21, 24  # words


def pool_windows(operation: str, x: np.ndarray, y: np.ndarray, index: np.ndarray | None, windows: Windows, channels: int, counts: Any = None) -> None:
    """operation: "max", "placed" (maxima and int64 positions) or "average". x and y lie dense; channels 0: planes, else channels lie innermost."""
    kind = x.dtype
    last = channels > 0
    code = jit.kernel("pooling", (operation, kind.name, last, 0 if last else windows.stride),
                      functools.partial(_source, operation, kind.name, last, 0 if last else windows.stride))
    computed = np.dtype(np.float32) if kind.itemsize == 2 else kind
    divisors = windows.divisors(counts, computed) if operation == "average" else []
    scratch, size = _scratch(windows.sizes[2] + 2 * _PADDED, computed) if operation == "average" and not last else (None, 0)
    args = pool.arguments(blocks.address(x), blocks.address(y), 0 if index is None else blocks.address(index), *_words(windows, channels),
                          *(map(blocks.address, divisors) if divisors else (0, 0, 0)), 0 if scratch is None else blocks.address(scratch), size)
    per_unit = windows.out[2] * max(channels, 1) * (math.prod(windows.taps) if operation != "average" else windows.taps[1])
    units = y.size // (windows.out[2] * max(channels, 1))
    pool.parallel(code.address("task"), args, units, max(1, GRAIN // per_unit))


def _scratch(elements: int, kind: np.dtype) -> tuple[np.ndarray, int]:
    """Memory for every slot, and how many bytes each has."""
    size = -(-elements * kind.itemsize // 64) * 64
    return blocks.empty((pool.slots(), size), np.dtype(np.uint8)), size


def spread(g: np.ndarray, dx: np.ndarray, windows: Windows, channels: int, counts: Any = None) -> None:
    """The gradient of averages: every element of dx gets its windows' g, divided. float32 or float64."""
    kind = g.dtype
    tables, most = windows.back()
    last = channels > 0
    code = jit.kernel("pooling_spread", (kind.name, last), functools.partial(_spread_source, kind.name, last))
    row = windows.out[2] + 2 * _PADDED
    planes = windows.out[0] * windows.out[1]
    scratch, size = (None, 0) if last else _scratch(row * (planes + 1), kind)
    divisors = windows.divisors(counts, kind)
    args = pool.arguments(blocks.address(g), blocks.address(dx), *windows.sizes, *windows.out, *map(blocks.address, tables), tables[2].shape[1], most,
                          channels, *map(blocks.address, divisors), 0 if scratch is None else blocks.address(scratch), size, row)
    per_unit = windows.sizes[2] * channels if last else math.prod(windows.sizes)
    pool.parallel(code.address("task"), args, dx.size // per_unit, max(1, GRAIN // per_unit))


def scatter(g: np.ndarray, index: np.ndarray, dx: np.ndarray, total: int, count: int, channels: int) -> None:
    """The gradient of maxima: dx is 0, and g is added at positions below `total`, `count` of them in a plane. float32 or float64."""
    kind = g.dtype
    last = channels > 0
    code = jit.kernel("pooling_scatter", (kind.name, last), functools.partial(_scatter_source, kind.name, last))
    groups = -(-channels // (VECTOR_BYTES // kind.itemsize)) if last else 1
    units = dx.size // (total * max(channels, 1)) * groups
    args = pool.arguments(*map(blocks.address, (g, index, dx)), total, count, channels, groups)
    pool.parallel(code.address("task"), args, units, max(1, GRAIN // (total + count)))


# -- machine code: windows -----------------------------------------------------------------------------------------------------------------


class _Kind:
    """How elements lie in memory and are computed."""

    def __init__(self, scalar: str) -> None:
        self.scalar = scalar
        self.memory = {"float32": FLOAT, "float64": DOUBLE}.get(scalar, I16)
        self.computed = DOUBLE if scalar == "float64" else FLOAT
        self.lanes = VECTOR_BYTES // self.computed.size
        self.vector = self.computed.vector(self.lanes)
        self.size = self.memory.size

    def lowest(self) -> float:
        return _LOWEST_BITS.get(self.scalar, -math.inf)

    def read(self, value: Value) -> Value:
        """What was loaded, as it is computed."""
        function = value.function
        if self.memory is not I16:
            return value
        if self.scalar == "bfloat16":
            return emit.convert(function, value, "bfloat16", "float32")
        return emit.convert(function, function.convert("bitcast", value, Type("half", value.type.lanes)), "float16", "float32")

    def written(self, value: Value) -> Value:
        """What was computed, as it is stored."""
        function = value.function
        if self.memory is not I16:
            return value
        stored = emit.convert(function, value, "float32", self.scalar)
        return stored if self.scalar == "bfloat16" else function.convert("bitcast", stored, I16.like(value.type))


class _Pool:
    """Writes one task."""

    def __init__(self, module: Module, operation: str, scalar: str, last: bool, stride: int) -> None:
        self.operation, self.kind, self.last, self.stride = operation, _Kind(scalar), last, stride
        self.task = task = write_task(module, "task")
        self.function = task.function
        self.x, self.y, self.index = (task.pointer(k) for k in range(3))
        self.sizes, self.out, self.taps, self.dilation = ([task.word(3 + 3 * k + i) for i in range(3)] for k in range(4))
        self.tables = [task.pointer(15 + i) for i in range(3)]
        self.width, self.channels, self.padding = (task.word(18 + i) for i in range(3))

    def entry(self, dimension: int, row: int, number: Value) -> Value:
        """One number of a table."""
        function, table = self.function, self.tables[dimension]
        if dimension < 2:
            return function.load(I64, function.offset(table, (self.out[dimension] * row + number) * 8))
        return function.convert("sext", function.load(I32, function.offset(table, (self.width * row + number) * 4)), I64)

    def columns(self, row: int, first: Value) -> Value:
        """A vector of a table of the last dimension."""
        return self.function.load(I32.vector(self.kind.lanes), self.function.offset(self.tables[2], (self.width * row + first) * 4))

    def over(self, dimension: int, number: Value, body: Callable[[Value], None]) -> None:
        """For every element of a window along one dimension that lies within the input."""
        function = self.function
        start, end = self.entry(dimension, 0, number), self.entry(dimension, 1, number)
        with ExitStack() as stack:
            tap = stack.enter_context(function.range(0, self.taps[dimension]))
            at = start + tap * self.dilation[dimension]
            stack.enter_context(function.when((at >= 0) & (at < end)))
            body(at)

    def write(self) -> None:
        function, task = self.function, self.task
        with function.range(task.begin, task.end) as unit:
            rest = unit / self.out[1]
            oh = unit - rest * self.out[1]
            plane = rest / self.out[0]
            od = rest - plane * self.out[0]
            start = function.offset(self.x, plane * self.sizes[0] * self.sizes[1] * self.sizes[2] * self.pixel())
            target = unit * self.out[2]
            if self.last:
                self._pixels(start, od, oh, target)
            elif self.operation == "average":
                self._average_row(start, od, oh, target)
            else:
                self._maximum_row(start, od, oh, target)
        function.give_back()

    def pixel(self) -> Any:
        """Bytes from column to column."""
        return self.channels * self.kind.size if self.last else self.kind.size

    def _first_position(self, od: Value, oh: Value) -> Value:
        return (self.entry(0, 2, od) * self.sizes[1] + self.entry(1, 2, oh)) * self.sizes[2]

    # rows of planes

    def _maximum_row(self, start: Value, od: Value, oh: Value, target: Value) -> None:
        function, kind = self.function, self.kind
        numbers = I32.vector(kind.lanes)
        best, where = function.variable(kind.vector, -math.inf), function.variable(numbers, 0)

        def vector(first: Value, mask: Value | None, _: int) -> None:
            best.set(-math.inf)
            if self.operation == "placed":
                where.set(self.columns(2, first) + function.convert("trunc", self._first_position(od, oh), I32))
            starts, ends = self.columns(0, first), self.columns(1, first)

            def row(d: Value, h: Value) -> None:
                position = (d * self.sizes[1] + h) * self.sizes[2]
                line = function.offset(start, position * kind.size)
                short = function.convert("trunc", position, I32)
                with function.range(0, self.taps[2]) as tap:
                    along = tap * self.dilation[2]
                    columns = starts + function.convert("trunc", along, I32)
                    value = self._strided(line, first * self.stride - self.padding + along if self.stride else None, columns, ends, kind.lowest())
                    self._take(best, where, value, columns + short)

            self.over(0, od, lambda d: self.over(1, oh, lambda h: row(d, h)))
            self._store(target + first, best.get(), where.get(), mask)

        each(function, kind.vector, 0, self.out[2], vector, 1)

    def _take(self, best: Any, where: Any, value: Value, position: Value) -> None:
        better = (value > best.get()) | value.differs(value)
        best.set(self.function.select(better, value, best.get()))
        if self.operation == "placed":
            where.set(self.function.select(better, position, where.get()))

    def _store(self, number: Value, value: Value, where: Value, mask: Value | None) -> None:
        function, kind = self.function, self.kind
        store(function, kind.written(value), function.offset(self.y, number * kind.size), mask)
        if self.operation == "placed":
            store(function, function.convert("sext", where, I64.like(where.type)), function.offset(self.index, number * 8), mask)

    def _strided(self, line: Value, first: Value | None, columns: Value, ends: Value, otherwise: float) -> Value:
        """The elements of a row at columns; `otherwise` where they lie outside. `first`: the first column, where they lie 1 or 2 apart."""
        function, kind = self.function, self.kind
        memory = kind.memory.vector(kind.lanes)
        if first is None:
            places = function.offset(line, function.convert("sext", columns, I64.like(columns.type)) * kind.size)
            return kind.read(gather(function, memory, places, columns.below(ends), otherwise))
        place = function.offset(line, first * kind.size)
        if self.stride == 1:
            return kind.read(load(function, memory, place, columns.below(ends), otherwise))
        limit = function.convert("trunc", self.sizes[2], I32)
        low = function.counting(columns.type) + function.convert("trunc", first, I32)
        halves = [load(function, memory, function.offset(place, k * kind.lanes * kind.size), (low + k * kind.lanes).below(limit), otherwise)
                  for k in range(2)]
        return kind.read(function.shuffle(halves[0], range(0, 2 * kind.lanes, 2), halves[1]))

    def _average_row(self, start: Value, od: Value, oh: Value, target: Value) -> None:
        """Down the window first, into a row of scratch memory, then along it."""
        function, kind, task = self.function, self.kind, self.task
        divisors = [task.pointer(_DIVISORS + k) for k in range(3)]
        row = function.offset(task.pointer(_SCRATCH), task.slot * task.word(_SCRATCH + 1))
        total = function.variable(kind.vector, 0.0)
        memory, size = kind.memory.vector(kind.lanes), kind.computed.size

        def down(first: Value, mask: Value | None, _: int) -> None:
            total.set(0.0)

            def add(d: Value, h: Value) -> None:
                place = function.offset(start, ((d * self.sizes[1] + h) * self.sizes[2] + first) * kind.size)
                total.set(total.get() + kind.read(load(function, memory, place, mask)))

            self.over(0, od, lambda d: self.over(1, oh, lambda h: add(d, h)))
            function.store(total.get(), function.offset(row, first * size))

        each(function, kind.vector, 0, self.sizes[2], down, 1)
        outer = self._number(divisors[0], od) * self._number(divisors[1], oh)
        scratch = _Pool.__new__(_Pool)
        scratch.__dict__.update(self.__dict__)
        scratch.kind = _Kind("float64" if kind.computed is DOUBLE else "float32")

        def along(first: Value, mask: Value | None, _: int) -> None:
            total.set(0.0)
            starts, ends = self.columns(0, first), self.columns(1, first)
            with function.range(0, self.taps[2]) as tap:
                columns = starts + function.convert("trunc", tap, I32)
                begin = first * self.stride - self.padding + tap if self.stride else None
                total.set(total.get() + scratch._strided(row, begin, columns, ends, 0.0))
            divisor = function.load(kind.vector, function.offset(divisors[2], first * size)) * outer
            store(function, kind.written(total.get() / divisor), function.offset(self.y, (target + first) * kind.size), mask)

        each(function, kind.vector, 0, self.out[2], along, 1)

    def _number(self, table: Value, number: Value) -> Value:
        return self.function.load(self.kind.computed, self.function.offset(table, number * self.kind.computed.size))

    # rows of pixels, channels innermost

    def _pixels(self, start: Value, od: Value, oh: Value, target: Value) -> None:
        function, kind = self.function, self.kind
        average = self.operation == "average"
        best, where = function.variable(kind.vector, 0.0), function.variable(I32.vector(kind.lanes), 0)
        column = function.variable(kind.vector, 0.0)
        memory = kind.memory.vector(kind.lanes)
        divisors = [self.task.pointer(_DIVISORS + k) for k in range(3)] if average else []
        with function.range(0, self.out[2]) as ow:
            def vector(channel: Value, mask: Value | None, _: int) -> None:
                best.set(0.0 if average else -math.inf)
                if self.operation == "placed":
                    first = self._first_position(od, oh) + self.entry(2, 2, ow)
                    where.set(function.lift(function.convert("trunc", first, I32), I32.vector(kind.lanes)))

                def look(d: Value, h: Value, w: Value) -> None:
                    position = (d * self.sizes[1] + h) * self.sizes[2] + w
                    place = function.offset(start, (position * self.channels + channel) * kind.size)
                    value = kind.read(load(function, memory, place, mask))
                    if average:
                        column.set(column.get() + value)
                    else:
                        self._take(best, where, value, function.lift(function.convert("trunc", position, I32), I32.vector(kind.lanes)))

                def down(w: Value) -> None:
                    column.set(0.0)
                    self.over(0, od, lambda d: self.over(1, oh, lambda h: look(d, h, w)))
                    best.set(best.get() + column.get())

                if average:  # in the order of `_average_row`, so that both orders of memory give the same
                    self.over(2, ow, down)
                else:
                    self.over(0, od, lambda d: self.over(1, oh, lambda h: self.over(2, ow, lambda w: look(d, h, w))))
                value = best.get()
                if average:
                    value = value / (self._number(divisors[0], od) * self._number(divisors[1], oh) * self._number(divisors[2], ow))
                self._store((target + ow) * self.channels + channel, value, where.get(), mask)

            each(function, kind.vector, 0, self.channels, vector, 1)


def _source(operation: str, scalar: str, last: bool, stride: int) -> str:
    module = Module()
    _Pool(module, operation, scalar, last, stride).write()
    return module.text()


# -- machine code: gradients -----------------------------------------------------------------------------------------------------------------


def _scatter_source(scalar: str, last: bool) -> str:
    module = Module()
    task, kind = write_task(module, "task"), _Kind(scalar)
    function = task.function
    g, index, dx = (task.pointer(k) for k in range(3))
    total, count, channels, groups = (task.word(3 + k) for k in range(4))
    size, zero = kind.size, function.constant(kind.vector, 0.0)
    with function.range(task.begin, task.end) as unit:
        if last:
            batch = unit / groups
            channel = (unit - batch * groups) * kind.lanes
            mask = first_lanes(function, kind.vector, channels - channel)
            base = function.offset(dx, (batch * total * channels + channel) * size)
            with function.range(0, total) as position:
                store(function, zero, function.offset(base, position * channels * size), mask)
            with function.range(0, count) as number:
                at = (batch * count + number) * channels + channel
                found = load(function, I64.vector(kind.lanes), function.offset(index, at * 8), mask)
                inside = found.below(total) & mask
                lanes = function.counting(I64.vector(kind.lanes))
                places = function.offset(base, (found * channels + lanes) * size)
                value = gather(function, kind.vector, places, inside) + load(function, kind.vector, function.offset(g, at * size), mask)
                function.effect("masked.scatter", [kind.vector, places.type], [value, places, function.constant(I32, 1), inside])
        else:
            base = function.offset(dx, unit * total * size)
            each(function, kind.vector, 0, total, lambda i, mask, _: store(function, zero, function.offset(base, i * size), mask))
            with function.range(unit * count, (unit + 1) * count) as number:
                at = function.load(I64, function.offset(index, number * 8))
                inside = at.below(total)
                value = function.select(inside, function.load(kind.computed, function.offset(g, number * size)), 0.0)
                place = function.offset(base, function.select(inside, at, 0) * size)
                function.store(function.load(kind.computed, place) + value, place)
    function.give_back()
    return module.text()


class _Spread:
    """Writes the gradient of averages."""

    def __init__(self, module: Module, scalar: str, last: bool) -> None:
        self.kind, self.last = _Kind(scalar), last
        self.task = task = write_task(module, "task")
        self.function = task.function
        self.g, self.dx = task.pointer(0), task.pointer(1)
        self.sizes, self.out = ([task.word(2 + 3 * k + i) for i in range(3)] for k in range(2))
        self.tables = [task.pointer(8 + i) for i in range(3)]
        self.width, self.most, self.channels = (task.word(11 + i) for i in range(3))
        self.divisors = [task.pointer(14 + i) for i in range(3)]

    def windows(self, dimension: int, number: Value) -> tuple[Value, Value]:
        """The first window of an element, and the one behind its last."""
        function, table = self.function, self.tables[dimension]
        if dimension < 2:
            low, high = (function.load(I64, function.offset(table, (self.sizes[dimension] * k + number) * 8)) for k in range(2))
        else:
            low, high = (function.convert("sext", function.load(I32, function.offset(table, (self.width * k + number) * 4)), I64) for k in range(2))
        return low, high

    def divisor(self, dimension: int, number: Value) -> Value:
        return self.function.load(self.kind.computed, self.function.offset(self.divisors[dimension], number * self.kind.size))

    def write_planes(self) -> None:
        function, task, kind = self.function, self.task, self.kind
        row_size = task.word(19) * kind.size
        share = function.offset(task.pointer(17), task.slot * task.word(18))
        lines = self.out[0] * self.out[1]
        row = function.offset(share, lines * row_size)
        total = function.variable(kind.vector, 0.0)
        with function.range(task.begin, task.end) as plane:
            with function.range(0, lines) as line:
                od = line / self.out[1]
                outer = self.divisor(0, od) * self.divisor(1, line - od * self.out[1])

                def divide(first: Value, mask: Value | None, _: int) -> None:
                    value = load(function, kind.vector, function.offset(self.g, ((plane * lines + line) * self.out[2] + first) * kind.size), mask)
                    divisor = function.load(kind.vector, function.offset(self.divisors[2], first * kind.size)) * outer
                    function.store(value / divisor, function.offset(share, line * row_size + first * kind.size))

                each(function, kind.vector, 0, self.out[2], divide, 1)
            with function.range(0, self.sizes[0] * self.sizes[1]) as number:
                d = number / self.sizes[1]
                depths, heights = self.windows(0, d), self.windows(1, number - d * self.sizes[1])
                target = (plane * self.sizes[0] * self.sizes[1] + number) * self.sizes[2]

                def down(first: Value, mask: Value | None, _: int) -> None:
                    total.set(0.0)
                    with function.range(*depths) as od, function.range(*heights) as oh:
                        place = function.offset(share, (od * self.out[1] + oh) * row_size + first * kind.size)
                        total.set(total.get() + load(function, kind.vector, place, mask))
                    function.store(total.get(), function.offset(row, first * kind.size))

                each(function, kind.vector, 0, self.out[2], down, 1)

                def along(first: Value, mask: Value | None, _: int) -> None:
                    total.set(0.0)
                    low, high = (function.load(I32.vector(kind.lanes), function.offset(self.tables[2], (self.width * k + first) * 4))
                                 for k in range(2))
                    with function.range(0, self.most) as tap:
                        at = low + function.convert("trunc", tap, I32)
                        places = function.offset(row, function.convert("sext", at, I64.like(at.type)) * kind.size)
                        total.set(total.get() + gather(function, kind.vector, places, at < high))
                    store(function, total.get(), function.offset(self.dx, (target + first) * kind.size), mask)

                each(function, kind.vector, 0, self.sizes[2], along, 1)
        function.give_back()

    def write_last(self) -> None:
        """Units are rows of pixels."""
        function, task, kind = self.function, self.task, self.kind
        total, column = function.variable(kind.vector, 0.0), function.variable(kind.vector, 0.0)
        with function.range(task.begin, task.end) as unit:
            rest = unit / self.sizes[1]
            batch = rest / self.sizes[0]
            depths, heights = self.windows(0, rest - batch * self.sizes[0]), self.windows(1, unit - rest * self.sizes[1])
            with function.range(0, self.sizes[2]) as w:
                widths = self.windows(2, w)

                def vector(channel: Value, mask: Value | None, _: int) -> None:
                    total.set(0.0)
                    with function.range(*widths) as ow:
                        column.set(0.0)
                        with function.range(*depths) as od, function.range(*heights) as oh:
                            position = ((batch * self.out[0] + od) * self.out[1] + oh) * self.out[2] + ow
                            value = load(function, kind.vector, function.offset(self.g, (position * self.channels + channel) * kind.size), mask)
                            column.set(column.get() + value / (self.divisor(0, od) * self.divisor(1, oh) * self.divisor(2, ow)))
                        total.set(total.get() + column.get())
                    place = function.offset(self.dx, ((unit * self.sizes[2] + w) * self.channels + channel) * kind.size)
                    store(function, total.get(), place, mask)

                each(function, kind.vector, 0, self.channels, vector, 1)
        function.give_back()


def _spread_source(scalar: str, last: bool) -> str:
    module = Module()
    writer = _Spread(module, scalar, last)
    if last:
        writer.write_last()
    else:
        writer.write_planes()
    return module.text()
