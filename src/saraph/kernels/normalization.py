"""Normalisation as machine code: the statistics of groups of elements, y = (x - mean) rstd weight + bias, and the gradients of that.

A group is made of planes: `planes` runs of `length` elements that lie side by side, `between` elements apart. Batch norm: a channel, whose planes
are those of the samples; instance norm: one plane; group norm: the planes of its channels. Layer norm's groups are rows with a weight for every
element (normalization_rows.py); where channels lie innermost, groups are columns (normalization_columns.py).

Work is done by chunks: some whole planes of a group, or a piece of one. Sums are taken per chunk (first the mean, then the squares about it);
chunks are put together in order, in double precision, so that results depend on sizes only. Where there are groups enough, a thread takes
whole groups, which it then reads from its cache.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.ir import DOUBLE, Function, Module, Value
from saraph.kernels.strips import Total, each, load, narrow, remainder, smaller, store, vector_of, widen
from saraph.kernels.walking import Task, write_task

PIECE = 1 << 13  #: elements of a chunk, about
GRAIN = 1 << 14  #: elements below which work is not shared out
MANY = 16  #: groups from which on a thread takes whole ones
_HEAD = 12  # words before those of the geometry

float64 = np.dtype(np.float64)


class Planes(NamedTuple):
    """How the elements of an array are grouped. A weight belongs to the planes with the number group % `weights` * `step` + plane * `along`."""

    groups: int
    planes: int
    length: int
    stride: int  #: from group to group, in elements
    between: int  #: from plane to plane of a group
    weights: int
    step: int
    along: int

    @property
    def per_chunk(self) -> int:
        """Planes of a chunk."""
        return 1 if self.along else min(self.planes, max(1, PIECE // self.length))

    @property
    def pieces(self) -> int:
        """Chunks of a plane."""
        return -(-self.length // PIECE)

    @property
    def chunks(self) -> int:
        """Chunks of a group."""
        return -(-self.planes // self.per_chunk) * self.pieces

    def words(self, itemsize: int) -> tuple[int, ...]:
        """What the tasks read behind the first _HEAD words."""
        return (self.planes, self.length, self.stride * itemsize, self.between * itemsize, self.per_chunk, self.pieces, self.chunks, self.weights,
                self.step, self.along)


@functools.lru_cache(256)
def constant(value: float, count: int, kind: np.dtype) -> np.ndarray:
    """An array that is not written: stands in for a weight or bias that is not there."""
    return np.full(count, value, kind)


def double_bits(number: float) -> int:
    """A number as a word of arguments."""
    return int(np.float64(number).view(np.int64))


def share(code: jit.MachineCode, names: tuple[str, str, str, str], args: bytes, plan: Any, elements: int) -> None:
    """Run three stages (over chunks, groups, chunks), or the one task that does all three for whole groups."""
    total = plan.groups * elements
    if plan.groups >= MANY or total <= GRAIN:
        pool.parallel(code.address(names[3]), args, plan.groups, max(1, GRAIN // max(elements, 1)))
        return
    units = plan.groups * plan.chunks
    grain = max(1, GRAIN * units // max(total, 1))
    for name, count, size in ((names[0], units, grain), (names[1], plan.groups, plan.groups), (names[2], units, grain)):
        if name:
            pool.parallel(code.address(name), args, count, size)


def forward(x: np.ndarray, y: np.ndarray, statistics: tuple[np.ndarray, np.ndarray, np.ndarray], weight: np.ndarray | None, bias: np.ndarray | None,
            eps: float, plan: Planes) -> None:
    """Fill y and the statistics (mean, rstd, variance) of contiguous x."""
    sums = np.empty((plan.groups * plan.chunks, 2))
    args = _forward_args(x, y, sums, statistics, weight, bias, eps, plan, 1)
    share(_code("forward", x.dtype), ("gather", "combine", "apply", "whole"), args, plan, plan.planes * plan.length)


def apply(x: np.ndarray, y: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, plan: Planes) -> None:
    """y = (x - mean) rstd weight + bias, with one mean and one rstd for all groups."""
    args = _forward_args(x, y, mean, (mean, rstd, rstd), weight, bias, 0.0, plan, 0)
    units = plan.groups * plan.chunks
    pool.parallel(_code("forward", x.dtype).address("apply"), args, units, max(1, GRAIN * units // max(x.size, 1)))


def _forward_args(x: np.ndarray, y: np.ndarray, sums: np.ndarray, statistics: Any, weight: np.ndarray | None, bias: np.ndarray | None, eps: float,
                  plan: Planes, step: int) -> bytes:
    kind, count = x.dtype, plan.weights * max(plan.step, 1)
    weight = constant(1.0, count, kind) if weight is None else weight
    bias = constant(0.0, count, kind) if bias is None else bias
    return pool.arguments(*map(blocks.address, (x, y, sums, *statistics, weight, bias)), double_bits(eps), step, 0, 0, *plan.words(kind.itemsize))


def backward(g: np.ndarray, x: np.ndarray, dx: np.ndarray | None, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None,
             plan: Planes) -> np.ndarray:
    """Fill dx (None: not wanted). Gives, chunk by chunk, the sums of g and of g (x - mean): (groups, chunks, 2) doubles."""
    kind = x.dtype
    sums, factors = np.empty((plan.groups, plan.chunks, 2)), np.empty((plan.groups, 2))
    weight = constant(1.0, plan.weights * max(plan.step, 1), kind) if weight is None else weight
    target = 0 if dx is None else blocks.address(dx)
    args = pool.arguments(blocks.address(g), blocks.address(x), target, *map(blocks.address, (sums, mean, rstd, weight, factors)), 0, 0, 0, 0,
                          *plan.words(kind.itemsize))
    stages = ("gather", "combine", "apply", "whole") if dx is not None else ("gather", "", "", "sums")
    share(_code("backward", kind), stages, args, plan, plan.planes * plan.length)
    return sums


def _code(which: str, kind: np.dtype) -> jit.MachineCode:
    build = {"forward": _forward_source, "backward": _backward_source}[which]
    return jit.kernel("normalization", (which, kind.name), functools.partial(build, kind.name))


# -- machine code ------------------------------------------------------------------------------------------------------------------------


def write_whole(module: Module, name: str, stages: tuple[tuple[str, bool], ...], chunks_word: int) -> None:
    """A task whose units are groups: the stages one after the other; those marked are over the group's chunks."""
    task = write_task(module, name)
    function, chunks = task.function, task.word(chunks_word)
    with function.range(task.begin, task.end) as group:
        for stage, by_chunks in stages:
            first, last = (group * chunks, (group + 1) * chunks) if by_chunks else (group, group + 1)
            function.call(stage, [task.args, first, last, task.slot])
    function.give_back()


class _Chunks:
    """The geometry, inside a task."""

    def __init__(self, task: Task, scalar: str) -> None:
        self.task, self.function = task, task.function
        self.vector = vector_of(scalar)
        self.kind = self.vector.vector(0)
        (self.planes, self.length, self.stride, self.between, self.per_chunk, self.pieces, self.chunks, self.weights, self.step,
         self.along) = (task.word(_HEAD + k) for k in range(10))

    def bounds(self, chunk: Value) -> tuple[Value, Value, Value, Value]:
        """The first plane of a chunk (of its group), the one behind its last, and the first and last element of its planes."""
        function = self.function
        part = chunk / self.pieces
        plane, piece = part * self.per_chunk, (chunk - part * self.pieces) * PIECE
        return plane, smaller(function, plane + self.per_chunk, self.planes), piece, smaller(function, piece + PIECE, self.length)

    def count(self, bounds: tuple[Value, Value, Value, Value]) -> Value:
        """The number of a chunk's elements, as a double."""
        plane, last_plane, first, last = bounds
        return self.function.convert("sitofp", (last_plane - plane) * (last - first), DOUBLE)

    def elements(self) -> Value:
        """The number of a group's elements, as a double."""
        return self.function.convert("sitofp", self.planes * self.length, DOUBLE)

    def place(self, base: Value, group: Value, plane: Value) -> Value:
        """The address of a plane."""
        return self.function.offset(base, group * self.stride + plane * self.between)

    def at(self, pointer: Value, index: Value) -> Value:
        return self.function.offset(pointer, index * self.kind.size)

    def number(self, base: Value, index: Value) -> Value:
        """One element of an array of statistics."""
        return self.function.load(self.kind, self.at(base, index))

    def weight_index(self, group: Value, plane: Value) -> Value:
        return remainder(self.function, group, self.weights) * self.step + plane * self.along


def _forward_source(scalar: str) -> str:
    module = Module()
    _write_gather(module, scalar)
    _write_combine(module, scalar)
    _write_apply(module, scalar)
    write_whole(module, "whole", (("gather", True), ("combine", False), ("apply", True)), _HEAD + 6)
    return module.text()


def _write_gather(module: Module, scalar: str) -> None:
    """Per chunk: the mean, and the sum of the squares about it."""
    task = write_task(module, "gather")
    chunks, function = _Chunks(task, scalar), task.function
    x, sums = task.pointer(0), task.pointer(2)
    total = Total(function, chunks.vector)
    with function.range(task.begin, task.end) as unit:
        group = unit / chunks.chunks
        bounds = chunks.bounds(unit - group * chunks.chunks)
        plane, last_plane, first, last = bounds

        def add_up(term: Callable[[Value], Value]) -> Value:
            total.clear()
            with function.range(plane, last_plane) as p:
                row = chunks.place(x, group, p)

                def add(index: Value, mask: Value | None, number: int) -> None:
                    total.add(term(load(function, chunks.vector, chunks.at(row, index), mask)), mask, number)

                each(function, chunks.vector, first, last, add)
            return total.get()

        mean = add_up(lambda value: value) / chunks.count(bounds)
        middle = narrow(function, mean, chunks.kind)

        def square(value: Value) -> Value:
            away = value - middle
            return away * away

        squares = add_up(square)
        target = function.offset(sums, unit * 16)
        function.store(widen(function, middle), target)
        function.store(squares, function.offset(target, 8))
    function.give_back()


def _write_combine(module: Module, scalar: str) -> None:
    """Per group: its chunks put together, and what follows from that."""
    task = write_task(module, "combine")
    chunks, function = _Chunks(task, scalar), task.function
    sums, mean_at, rstd_at, variance_at = (task.pointer(k) for k in range(2, 6))
    eps = task.word(8, DOUBLE)
    with function.range(task.begin, task.end) as group:
        elements = chunks.elements()
        mean, squares = function.variable(DOUBLE, 0.0), function.variable(DOUBLE, 0.0)
        with function.range(0, chunks.chunks) as chunk:
            place = function.offset(sums, (group * chunks.chunks + chunk) * 16)
            mean.set(mean.get() + function.load(DOUBLE, place) * chunks.count(chunks.bounds(chunk)))
        mean.set(mean.get() / elements)
        with function.range(0, chunks.chunks) as chunk:
            place = function.offset(sums, (group * chunks.chunks + chunk) * 16)
            away = function.load(DOUBLE, place) - mean.get()
            more = function.load(DOUBLE, function.offset(place, 8)) + away * away * chunks.count(chunks.bounds(chunk))
            squares.set(squares.get() + more)
        write_statistics(function, chunks.kind, mean.get(), squares.get() / elements, eps,
                         tuple(chunks.at(p, group) for p in (mean_at, rstd_at, variance_at)), None)
    function.give_back()


def write_statistics(function: Function, kind: Any, mean: Value, variance: Value, eps: Value, places: tuple[Value, ...], mask: Value | None) -> None:
    """Store mean, 1 / sqrt(variance + eps) and variance, which come as doubles."""
    deviation = function.intrinsic("sqrt", [variance.type], variance.type, [variance + eps])
    for value, place in zip((mean, function.constant(variance.type, 1.0) / deviation, variance), places, strict=True):
        store(function, narrow(function, value, kind), place, mask)


def _write_apply(module: Module, scalar: str) -> None:
    task = write_task(module, "apply")
    chunks, function = _Chunks(task, scalar), task.function
    x, y, mean_at, rstd_at, weight, bias = (task.pointer(k) for k in (0, 1, 3, 4, 6, 7))
    step = task.word(9)
    with function.range(task.begin, task.end) as unit:
        group = unit / chunks.chunks
        plane, last_plane, first, last = chunks.bounds(unit - group * chunks.chunks)
        mean, rstd = (chunks.number(at, group * step) for at in (mean_at, rstd_at))
        with function.range(plane, last_plane) as p:
            index = chunks.weight_index(group, p)
            scale, shift = rstd * chunks.number(weight, index), chunks.number(bias, index)
            source, target = chunks.place(x, group, p), chunks.place(y, group, p)

            def write(i: Value, mask: Value | None, _: int) -> None:
                value = load(function, chunks.vector, chunks.at(source, i), mask)
                store(function, (value - mean) * scale + shift, chunks.at(target, i), mask)

            each(function, chunks.vector, first, last, write)
    function.give_back()


def _backward_source(scalar: str) -> str:
    module = Module()
    _write_gather_back(module, scalar)
    _write_combine_back(module, scalar)
    _write_apply_back(module, scalar)
    write_whole(module, "whole", (("gather", True), ("combine", False), ("apply", True)), _HEAD + 6)
    write_whole(module, "sums", (("gather", True),), _HEAD + 6)
    return module.text()


def _write_gather_back(module: Module, scalar: str) -> None:
    """Per chunk: the sums of g and of g (x - mean)."""
    task = write_task(module, "gather")
    chunks, function = _Chunks(task, scalar), task.function
    g, x, sums, mean_at = (task.pointer(k) for k in (0, 1, 3, 4))
    totals = [Total(function, chunks.vector) for _ in range(2)]
    with function.range(task.begin, task.end) as unit:
        group = unit / chunks.chunks
        plane, last_plane, first, last = chunks.bounds(unit - group * chunks.chunks)
        mean = chunks.number(mean_at, group)
        for total in totals:
            total.clear()
        with function.range(plane, last_plane) as p:
            rows = [chunks.place(base, group, p) for base in (g, x)]

            def add(index: Value, mask: Value | None, number: int) -> None:
                grad, value = (load(function, chunks.vector, chunks.at(row, index), mask) for row in rows)
                totals[0].add(grad, mask, number)
                totals[1].add(grad * (value - mean), mask, number)

            each(function, chunks.vector, first, last, add)
        for k, total in enumerate(totals):
            function.store(total.get(), function.offset(sums, unit * 16 + 8 * k))
    function.give_back()


def _write_combine_back(module: Module, scalar: str) -> None:
    """Per group: the means of g weight and of g weight unit, times rstd."""
    task = write_task(module, "combine")
    chunks, function = _Chunks(task, scalar), task.function
    sums, rstd_at, weight, factors = (task.pointer(k) for k in (3, 5, 6, 7))
    with function.range(task.begin, task.end) as group:
        means = [function.variable(DOUBLE, 0.0) for _ in range(2)]
        with function.range(0, chunks.chunks) as chunk:
            plane = chunks.bounds(chunk)[0]
            w = widen(function, chunks.number(weight, chunks.weight_index(group, plane)))
            for k, mean in enumerate(means):
                place = function.offset(sums, (group * chunks.chunks + chunk) * 16 + 8 * k)
                mean.set(mean.get() + w * function.load(DOUBLE, place))
        rstd = widen(function, chunks.number(rstd_at, group))
        per_element = rstd / chunks.elements()
        target = function.offset(factors, group * 16)
        function.store(means[0].get() * per_element, target)
        function.store(means[1].get() * per_element * rstd, function.offset(target, 8))
    function.give_back()


def _write_apply_back(module: Module, scalar: str) -> None:
    """dx = rstd (g weight - mean(g weight) - unit mean(g weight unit))."""
    task = write_task(module, "apply")
    chunks, function = _Chunks(task, scalar), task.function
    g, x, dx, mean_at, rstd_at, weight, factors = (task.pointer(k) for k in (0, 1, 2, 4, 5, 6, 7))
    with function.range(task.begin, task.end) as unit:
        group = unit / chunks.chunks
        plane, last_plane, first, last = chunks.bounds(unit - group * chunks.chunks)
        mean, rstd = (chunks.number(at, group) for at in (mean_at, rstd_at))
        shift, slope = (narrow(function, function.load(DOUBLE, function.offset(factors, group * 16 + 8 * k)), chunks.kind) for k in range(2))
        with function.range(plane, last_plane) as p:
            scale = rstd * chunks.number(weight, chunks.weight_index(group, p))
            rows = [chunks.place(base, group, p) for base in (g, x, dx)]

            def write(i: Value, mask: Value | None, _: int) -> None:
                grad, value = (load(function, chunks.vector, chunks.at(row, i), mask) for row in rows[:2])
                unit_slope = (value - mean) * rstd * slope
                store(function, grad * scale - shift - unit_slope, chunks.at(rows[2], i), mask)

            each(function, chunks.vector, first, last, write)
    function.give_back()
