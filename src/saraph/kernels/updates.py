"""One pointwise program over many tuples of arrays in one call: what an optimizer does to all its parameters.

    update = ListUpdate("sgd", lambda p, g, lr: p - g * lr, arrays=2, numbers=1, written=(0,))
    plan = update.plan([(p1, g1), (p2, g2)])       # float32 or float64, each tuple of one size, dense and in one order
    plan.run([(0.1,), (0.1,)])                      # the numbers of every tuple; results go over the operands `written`
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from saraph.kernels import blocks, emit, interpret, jit, pointwise, pool
from saraph.kernels.ir import I64, POINTER, Module
from saraph.kernels.pool import TASK
from saraph.kernels.program import Program, trace
from saraph.kernels.rows import RowKernel, squares_of_row, sum_of_row

PIECE = 1 << 15  # elements of an array that are reduced at a time


class ListUpdate:
    """A program whose first `arrays` operands are arrays and whose further `numbers` are numbers; it gives new values of the arrays `written`."""

    def __init__(self, name: str, definition: Callable[..., Any], arrays: int, numbers: int, written: Sequence[int]) -> None:
        self.name, self.definition, self.arrays, self.numbers, self.written = name, definition, arrays, numbers, tuple(written)
        self._programs: dict[np.dtype, tuple[Program, int | None]] = {}

    def made(self, dtype: np.dtype) -> tuple[Program, int | None]:
        """The program in a dtype, and the address of its task (None where nothing can be compiled)."""
        found = self._programs.get(dtype)
        if found is None:
            places = range(self.arrays, self.arrays + self.numbers)
            program = trace(self.name, self.definition, [dtype] * (self.arrays + self.numbers), rows=places)
            task = None
            if jit.available() and emit.can_emit(program):
                task = jit.kernel("pointwise", program, lambda: pointwise.source(program)).address("task")
            found = self._programs[dtype] = program, task
        return found

    def plan(self, rows: Sequence[Sequence[np.ndarray]]) -> ListPlan:
        """All that can be prepared for these arrays, which the plan keeps alive."""
        return ListPlan(self, rows)


class ListPlan:
    """A ListUpdate on given arrays. Single arrays may be replaced (`replace`) before a run, by others of the same size and order."""

    def __init__(self, update: ListUpdate, rows: Sequence[Sequence[np.ndarray]]) -> None:
        self.update = update
        self.rows: list[list[Any]] = [list(row) for row in rows]
        dtype = rows[0][0].dtype
        self.program, self.task = update.made(dtype)
        self.values = np.zeros((len(rows), max(update.numbers, 1)), dtype)
        size, start, rest = dtype.itemsize, blocks.address(self.values), pointwise.HEAD + update.arrays
        elements = np.array([row[0].size for row in self.rows], np.int64)
        pieces = -(-elements // pointwise.BLOCK)
        pointers = np.array([[blocks.address(a) for a in row] for row in self.rows], np.int64)
        numbers = start + size * np.arange(self.values.size).reshape(self.values.shape)[:, :update.numbers]
        steps = [size] * update.arrays + [0] * update.numbers + [size] * len(update.written)
        self._words = words = np.zeros((len(rows), pointwise.HEAD + 2 * len(steps)), np.int64)
        words[:, 0], words[:, 1] = elements, pieces
        words[:, pointwise.HEAD:rest] = pointers
        words[:, rest:rest + update.numbers] = numbers
        words[:, rest + update.numbers:-len(steps)] = pointers[:, update.written]
        words[:, -len(steps):] = steps
        owners, places = _units(pieces)
        self._table = np.stack((blocks.address(words) + owners * words.strides[0], places), 1)

    def replace(self, place: int, arrays: Sequence[np.ndarray]) -> None:
        """Other arrays at one place of every tuple, one that is not written."""
        for row, array in zip(self.rows, arrays, strict=True):
            row[place] = array
        self._words[:, pointwise.HEAD + place] = [blocks.address(a) for a in arrays]

    def release(self, place: int) -> None:
        """Keep the arrays at one place alive no longer: they must be replaced before the next run."""
        for row in self.rows:
            row[place] = None

    def run(self, numbers: Sequence[Sequence[float]]) -> None:
        """Compute, with the numbers of every tuple."""
        if self.update.numbers:
            self.values[:, :] = numbers
        if self.task is None:
            self._interpret()
        elif len(self._table):
            code = jit.kernel("list_update", (), list_source)
            args = pool.arguments(self.task, blocks.address(self._table))
            pool.parallel(code.address("task"), args, len(self._table), 1)

    def _interpret(self) -> None:
        for row, values in zip(self.rows, self.values, strict=True):
            results = interpret.run(self.program, *row, *(np.asarray(v) for v in values[:self.update.numbers]))
            for place, result in zip(self.update.written, results, strict=True):
                np.copyto(row[place], result)


def _units(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every piece of arrays that have so many: which array it is of, and which piece of that."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)


def list_source() -> str:
    """task(args, begin, end, slot): unit u does unit table[u][1] of the task args[0] with the arguments at table[u][0]; args[1] is the table."""
    module = Module()
    function = module.function("task", TASK)
    args, begin, end, slot = function.parameters
    inner, table = function.load(POINTER, args), function.load(POINTER, function.offset(args, 8))
    with function.range(begin, end) as unit:
        entry = function.offset(table, unit * 16)
        piece = function.load(I64, function.offset(entry, 8))
        function.line(f"call void {inner.text}({function.load(POINTER, entry)}, {piece}, {piece + 1}, {slot})")
    function.give_back()
    return module.text()


scale = ListUpdate("scale", lambda x, factor: x * factor, 1, 1, (0,))


class ListReduction:
    """A row kernel of one operand that gives one number, over all elements of every array of a list."""

    def __init__(self, kernel: RowKernel, combine: RowKernel) -> None:
        self.kernel, self.combine = kernel, combine

    def __call__(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """One result per array; the arrays are dense, of one dtype (float32 or float64). What is empty gives the row kernel's neutral value."""
        dtype = arrays[0].dtype
        task = self.kernel.task(dtype)
        if task is None:
            return np.array([self.kernel.function(a.reshape(-1)) for a in arrays], dtype)
        size, sizes = dtype.itemsize, np.array([a.size for a in arrays], np.int64)
        pieces, whole = np.maximum(-(-sizes // PIECE), 1), sizes // PIECE
        ends = np.cumsum(pieces)
        parts = np.empty(ends[-1], dtype)
        begins = np.array([blocks.address(a) for a in arrays], np.int64)
        results = blocks.address(parts) + (ends - pieces) * size
        words = np.zeros((len(arrays), 2, 7), np.int64)  # of every array: its whole pieces, and the rest
        words[:, :, 5] = size
        words[:, 0, 0], words[:, 0, 1], words[:, 0, 2], words[:, 0, 3], words[:, 0, 4] = PIECE, begins, results, PIECE * size, size
        words[:, 1, 0], words[:, 1, 1], words[:, 1, 2] = sizes - whole * PIECE, begins + whole * PIECE * size, results + whole * size
        owners, places = _units(pieces)
        last = places == whole[owners]
        units = np.stack((blocks.address(words) + (2 * owners + last) * words.strides[1], np.where(last, 0, places)), 1)
        code = jit.kernel("list_update", (), list_source)
        pool.parallel(code.address("task"), pool.arguments(task, blocks.address(units)), len(units), 1)
        if len(parts) == len(arrays):
            return parts
        found = parts[ends - pieces]
        for k in np.flatnonzero(pieces > 1):
            found[k] = self.combine.function(parts[ends[k] - pieces[k]:ends[k]])
        return found


sums_of_squares = ListReduction(squares_of_row, sum_of_row)
