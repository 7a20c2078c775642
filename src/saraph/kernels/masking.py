"""What a mask chooses: elements, and positions. Pieces of the mask are counted first, so that each can be written where it belongs."""
from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import ELEMENTS, smaller
from saraph.kernels.ir import I1, I8, I64, Module, Type, Value
from saraph.kernels.walking import Task, write_task

PIECE = 1 << 14  #: elements of the mask that are one unit of work
_GROUP = 64  #: elements of the mask that are looked at together
_int64 = np.dtype(np.int64)


def chosen(a: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """a[mask]; both row-major and of one shape, the mask of bools, elements of 1, 2, 4, 8 or 16 bytes."""
    starts, total = _starts(mask)
    result = blocks.empty((total,), a.dtype)
    if total:
        code = jit.kernel("choosing", (a.itemsize,), functools.partial(_choosing_module, a.itemsize))
        words = pool.arguments(*map(blocks.address, (mask, starts, result, a)), mask.size)
        pool.parallel(code.address("choose"), words, len(starts), 4)
    return result


def positions(mask: np.ndarray) -> np.ndarray:
    """Where a row-major mask of at least one dimension is true: (count, dimensions), int64."""
    starts, total = _starts(mask)
    rank = mask.ndim
    result = blocks.empty((total, rank), _int64)
    if total:
        code = jit.kernel("choosing", (0,), functools.partial(_choosing_module, 0))
        words = pool.arguments(*map(blocks.address, (mask, starts, result)), rank, mask.size, *mask.shape)
        pool.parallel(code.address("locate"), words, len(starts), 4)
    return result


def _starts(mask: np.ndarray) -> tuple[np.ndarray, int]:
    """How many are true before every piece, and in all."""
    counts = np.empty(-(-mask.size // PIECE), _int64)
    code = jit.kernel("choosing", (0,), functools.partial(_choosing_module, 0))
    pool.parallel(code.address("count"), pool.arguments(blocks.address(mask), blocks.address(counts), 0, 0, mask.size), len(counts), 8)
    ends = np.cumsum(counts)
    return ends - counts, int(ends[-1]) if len(ends) else 0


def _choosing_module(size: int) -> str:
    module = Module()
    if size:
        _write_choose(write_task(module, "choose"), ELEMENTS[size], size)
    else:
        _write_count(write_task(module, "count"))
        _write_locate(write_task(module, "locate"))
    return module.text()


def _each_group(task: Task, before: Callable[[Value], None], visit: Callable[[Value, Value], None],
                after: Callable[[Value], None]) -> None:
    """For every piece: `before`, then `visit` with the index and the bits of every group of the mask, then `after`."""
    function, mask, count = task.function, task.pointer(0), task.word(4)
    with function.range(task.begin, task.end) as piece:
        start = piece * PIECE
        stop = smaller(function, start + PIECE, count)
        whole = start + ((stop - start) & -_GROUP)
        before(piece)
        with function.range(start, whole, _GROUP) as index:
            group = function.load(I8.vector(_GROUP), function.offset(mask, index)).differs(0)
            visit(index, function.convert("bitcast", group, I64))
        with function.range(whole, stop) as index:
            visit(index, function.convert("zext", function.load(I8, function.offset(mask, index)).differs(0), I64))
        after(piece)
    function.give_back()


def _write_count(task: Task) -> None:
    function, counts = task.function, task.pointer(1)
    total = function.variable(I64, 0)

    def visit(index: Value, bits: Value) -> None:
        total.set(total.get() + function.intrinsic("ctpop", [I64], I64, [bits]))

    _each_group(task, lambda piece: total.set(0), visit, lambda piece: function.store(total.get(), function.offset(counts, piece * 8)))


def _each_chosen(task: Task, write: Callable[[Value, Value], None]) -> None:
    """`write` with the place in the result and the index of every element that is chosen."""
    function, starts = task.function, task.pointer(1)
    place, left = function.variable(I64, 0), function.variable(I64, 0)

    def visit(index: Value, bits: Value) -> None:
        left.set(bits)
        with function.repeat_while(lambda: left.get().differs(0)):
            bits = left.get()
            first = function.intrinsic("cttz", [I64], I64, [bits, function.constant(I1, 1)])
            write(place.get(), index + first)
            place.set(place.get() + 1)
            left.set(bits & (bits - 1))

    _each_group(task, lambda piece: place.set(function.load(I64, function.offset(starts, piece * 8))), visit, lambda piece: None)


def _write_choose(task: Task, kind: Type, size: int) -> None:
    function, result, source = task.function, task.pointer(2), task.pointer(3)

    def write(place: Value, index: Value) -> None:
        function.store(function.load(kind, function.offset(source, index * size)), function.offset(result, place * size))

    _each_chosen(task, write)


def _write_locate(task: Task) -> None:
    """Flat positions taken apart, last dimension first."""
    function, result, rank = task.function, task.pointer(2), task.word(3)
    sizes = function.offset(task.args, 5 * 8)

    def write(place: Value, index: Value) -> None:
        row = function.offset(result, place * rank * 8)
        rest = function.variable(I64, index)
        with function.range(1, rank) as turn:
            dimension = rank - turn
            size = function.load(I64, function.offset(sizes, dimension * 8))
            quotient = rest.get() / size
            function.store(rest.get() - quotient * size, function.offset(row, dimension * 8))
            rest.set(quotient)
        function.store(rest.get(), row)

    _each_chosen(task, write)
