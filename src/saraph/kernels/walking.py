"""Tasks for the pool as IR, and walks over several strided arrays at once.

A task function works on the units begin <= i < end of a call; `args` points at words of 8 bytes. A walk's units are rows: the innermost
dimension is written by the caller of `write_walk`, the others are counted like an odometer.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from saraph.kernels.ir import I64, POINTER, Function, Module, Type, Value

RANK = 8  #: dimensions of a walk, after merging; arrays that need more are left to NumPy


@functools.cache
def name_of(dtype: np.dtype) -> str:
    """A dtype's name; NumPy puts it together anew at every request."""
    return dtype.name


class Task(NamedTuple):
    """A task function being written."""

    function: Function
    args: Value
    begin: Value
    end: Value
    slot: Value

    def word(self, index: int, type: Type = I64) -> Value:
        """Word number `index` of the arguments."""
        return self.function.load(type, self.function.offset(self.args, 8 * index))

    def pointer(self, index: int) -> Value:
        """A word that is an address."""
        return self.word(index, POINTER)


def write_task(module: Module, name: str) -> Task:
    """Begin a task function."""
    function = module.function(name, (("args", POINTER), ("begin", I64), ("end", I64), ("slot", I64)))
    return Task(function, *function.parameters)


class Walk(NamedTuple):
    """Merged dimensions, outermost first, and every array's strides (bytes) in them."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    def arguments(self) -> list[int]:
        """The words that a walk's task reads behind the arrays' addresses: rank, sizes of the outer dimensions, their strides array by array."""
        rank = len(self.shape)
        fill = [0] * (RANK - rank)
        return [rank, *self.shape, *fill, *(word for strides in self.strides for word in (*strides, *fill))]


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]], inner: int = 0) -> Walk:
    """Dimensions in the order of falling strides of the first array, merged where every array allows it.

    The `inner` last dimensions stay last and as they are.
    """
    outer = range(len(shape) - inner)
    lead = strides[0]
    order = [d for d in sorted(outer, key=lambda d: -abs(lead[d])) if shape[d] != 1]
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d in order:
        if sizes and all(s[d] * shape[d] == step[-1] for s, step in zip(strides, steps)):
            sizes[-1] *= shape[d]
            for s, step in zip(strides, steps):
                step[-1] = s[d]
        else:
            sizes.append(shape[d])
            for s, step in zip(strides, steps):
                step.append(s[d])
    for d in range(len(shape) - inner, len(shape)):
        sizes.append(shape[d])
        for s, step in zip(strides, steps):
            step.append(s[d])
    return Walk(tuple(sizes), tuple(map(tuple, steps)))


def write_walk(task: Task, arrays: int, first: int, row: Callable[[list[Value], list[Value]], None], counted: int = 0) -> None:
    """The task's body: for every row from begin to end, `row` gets the arrays' addresses, and its number in the last `counted` dimensions.

    The numbers come innermost first.

    Words: the arrays' addresses at 0, 1, ...; at `first` a rank and RANK sizes, then RANK strides of each array (see `Walk.arguments`).
    """
    function, begin, end = task.function, task.begin, task.end
    rank, eight = task.word(first), 8
    sizes = function.offset(task.args, eight * (first + 1))
    strides = [function.offset(task.args, eight * (first + 1 + RANK * (k + 1))) for k in range(arrays)]
    counters = function.array(I64, RANK)
    places = [function.variable(I64, function.convert("ptrtoint", task.pointer(k), I64)) for k in range(arrays)]
    left = function.variable(I64, begin)
    with function.range(0, rank) as turn:
        at = (rank - 1 - turn) * eight
        size = function.load(I64, function.offset(sizes, at))
        number = left.get()
        quotient = number / size
        count = number - quotient * size
        left.set(quotient)
        function.store(count, function.offset(counters, at))
        for place, steps in zip(places, strides):
            place.set(place.get() + count * function.load(I64, function.offset(steps, at)))
    with function.range(begin, end):
        numbers = [function.load(I64, function.offset(counters, (rank - 1 - k) * eight)) for k in range(counted)]
        row([function.convert("inttoptr", place.get(), POINTER) for place in places], numbers)
        dimension = function.variable(I64, rank - 1)
        with function.repeat_while(lambda: dimension.get() >= 0):
            at = dimension.get() * eight
            size = function.load(I64, function.offset(sizes, at))
            counter = function.offset(counters, at)
            count = function.load(I64, counter) + 1
            full = count.equals(size)
            function.store(function.select(full, 0, count), counter)
            for place, steps in zip(places, strides):
                step = function.load(I64, function.offset(steps, at))
                place.set(place.get() + step - function.select(full, size * step, 0))
            dimension.set(function.select(full, dimension.get() - 1, -1))
    function.give_back()
