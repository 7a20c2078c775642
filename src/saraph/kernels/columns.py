"""Reductions across rows: the sum (largest, smallest, product) of elements that lie one row apart, for all columns of a row at once.

Columns are taken a few vectors at a time and walked down. Rows are cut into chunks of CHUNK, whose results are reduced in a second pass; within a
chunk GROUP rows are added one after the other, then the groups: the order of additions depends on the number of rows alone.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from saraph.kernels import blocks, emit, jit, pool
from saraph.kernels.ir import I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.pool import TASK
from saraph.kernels.program import Program, apply, trace

VECTORS = 8  # of columns, held in registers on the way down
GROUP = 64  # rows added one after the other
CHUNK = 2048  # rows that one unit of work walks down; a multiple of GROUP
NEUTRAL = {"row_sum": 0.0, "row_max": -math.inf, "row_min": math.inf, "row_prod": 1.0}
COMBINE = {"row_sum": "add", "row_max": "maximum", "row_min": "minimum", "row_prod": "mul"}
HEAD = 4


class ColumnKernel:
    """The reduction of a term over the middle axis of (outer, rows, columns); columns must lie side by side.

    `formula` gives the term of one or more operands of one dtype: `ColumnKernel("squares", "row_sum", lambda x: x * x)`.
    """

    __slots__ = ("name", "operation", "formula", "operands", "_tasks")

    def __init__(self, name: str, operation: str, formula: Callable[..., Any] = lambda x: x, operands: int = 1) -> None:
        self.name, self.operation, self.formula, self.operands = name, operation, formula, operands
        self._tasks: dict[str, int | None] = {}

    def program(self, dtype: Any) -> Program:
        """What is computed: a row of the program is a column here."""
        return trace(self.name, lambda *x: apply(self.operation, self.formula(*x)), [dtype] * self.operands)

    def available(self, dtype: np.dtype) -> bool:
        """Whether there is machine code for this dtype."""
        return self._task(dtype) is not None

    def _task(self, dtype: np.dtype) -> int | None:
        char = dtype.char
        if char not in self._tasks:
            program = self.program(dtype)
            task = None
            if char in "fd" and jit.available() and emit.can_emit(program):
                task = jit.kernel("columns", program, partial(source, program)).address("task")
            self._tasks[char] = task
        return self._tasks[char]

    def __call__(self, *arrays: np.ndarray) -> np.ndarray:
        """The reduction of arrays of shape (outer, rows, columns), as (outer, columns)."""
        outer, rows, columns = arrays[0].shape
        kind = arrays[0].dtype
        if rows == 0:
            return np.full((outer, columns), NEUTRAL[self.operation], kind)
        task = self._task(kind)
        chunks = -(-rows // CHUNK)
        result = blocks.empty((outer, chunks, columns), kind)
        words = [rows, columns, chunks, blocks.address(result), *(blocks.address(a) for a in arrays)]
        for a in arrays:
            words += a.strides[:2]
        units = outer * chunks * -(-columns // (VECTORS * vector_of(kind).lanes))
        assert task is not None
        pool.parallel(task, pool.arguments(*words), units, max(1, (1 << 14) // (min(rows, CHUNK) * VECTORS * 16)))
        if chunks == 1:
            return result.reshape(outer, columns)
        return PLAIN[self.operation](result)


PLAIN = {operation: ColumnKernel(operation, operation) for operation in NEUTRAL}


def vector_of(dtype: np.dtype) -> Type:
    """The vector that a dtype is computed in."""
    kind = emit.MEMORY[dtype.name]
    return kind.vector(jit.host().vector_bytes // kind.size)


def source(program: Program) -> str:
    """task(args, begin, end, slot). args, in words: rows, columns, chunks, the result, every operand, then every operand's outer and row step."""
    module = Module()
    function = module.function("task", TASK)
    args, begin, end, _ = function.parameters
    count = len(program.inputs)
    vector = vector_of(np.dtype(program.inputs[0]))

    def word(index: int, type: Type = I64) -> Value:
        return function.load(type, function.offset(args, 8 * index))

    rows, columns, chunks, result = word(0), word(1), word(2), word(3, POINTER)
    operands = [word(HEAD + k, POINTER) for k in range(count)]
    steps = [(word(HEAD + count + 2 * k), word(HEAD + count + 2 * k + 1)) for k in range(count)]
    width = VECTORS * vector.lanes
    across = (columns + (width - 1)) / width
    size = vector.vector(0).size
    with function.range(begin, end) as unit:
        chunk_of_all = unit / across
        first_column = (unit - chunk_of_all * across) * width
        outer = chunk_of_all / chunks
        first = (chunk_of_all - outer * chunks) * CHUNK
        last = first + CHUNK
        last = function.select(last < rows, last, rows)
        starts = [function.offset(pointer, outer * steps[k][0] + first_column * size) for k, pointer in enumerate(operands)]
        target = function.offset(result, (chunk_of_all * columns + first_column) * size)
        walk = partial(_walk, function, program, vector, [step for _, step in steps], first, last)
        left = columns - first_column

        def whole(walk: Any = walk, starts: list[Value] = starts, target: Value = target) -> None:
            walk(starts, target, VECTORS, None)

        def narrow(walk: Any = walk, starts: list[Value] = starts, target: Value = target, left: Value = left) -> None:
            with function.range(0, left, vector.lanes) as column:
                rest = left - column
                rest = function.select(rest < vector.lanes, rest, vector.lanes)
                mask = function.counting(I32.like(vector)) < function.convert("trunc", rest, I32)
                walk([function.offset(start, column * size) for start in starts], function.offset(target, column * size), 1, mask)

        function.either(left >= width, whole, narrow)
    function.give_back()
    return module.text()


def _walk(function: Function, program: Program, vector: Type, steps: list[Value], first: Value, last: Value, starts: list[Value], target: Value,
          vectors: int, mask: Value | None) -> None:
    """Down some vectors of columns, from row `first` to `last`, into `target`."""
    reduction = next(step for step in program.steps if step.operation in NEUTRAL)
    neutral, combine = NEUTRAL[reduction.operation], partial(emit.SIMPLE[COMBINE[reduction.operation]], function)
    totals = [function.variable(vector, neutral) for _ in range(vectors)]
    sums = [function.variable(vector, neutral) for _ in range(vectors)]
    size = vector.vector(0).size
    align = function.constant(I32, 1)
    with function.range(first, last, GROUP) as group:
        for one in sums:
            one.set(neutral)
        stop = group + GROUP
        stop = function.select(stop < last, stop, last)
        with function.range(group, stop) as row:
            places = [function.offset(start, row * step) for start, step in zip(starts, steps, strict=True)]
            for v in range(vectors):
                def read(k: int, v: int = v) -> Value:
                    place = function.offset(places[k], v * vector.lanes * size)
                    if mask is None:
                        return function.load(vector, place)
                    return function.intrinsic("masked.load", [vector, POINTER], vector, [place, align, mask, function.constant(vector, 0.0)])

                term = emit.Elements(function, program, vector.lanes, {}, read).value(reduction.operands[0])
                sums[v].set(combine(sums[v].get(), term))
        for total, one in zip(totals, sums, strict=True):
            total.set(combine(total.get(), one.get()))
    for v, total in enumerate(totals):
        place = function.offset(target, v * vector.lanes * size)
        if mask is None:
            function.store(total.get(), place)
        else:
            function.effect("masked.store", [vector, POINTER], [total.get(), place, align, mask])
