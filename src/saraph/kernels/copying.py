"""Copies between any two strided arrays, by the size of an element: rows at the speed of memcpy, transposes in tiles held in registers."""
from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.ir import I1, I8, I16, I32, I64, POINTER, Function, Module, Value
from saraph.kernels.walking import RANK, Task, merged, write_task, write_walk

#: What an element of so many bytes is moved as.
ELEMENTS = {1: I8, 2: I16, 4: I32, 8: I64, 16: I64.vector(2)}
#: Rows and columns of the tiles that are transposed in registers.
TILES = {1: 16, 2: 16, 4: 16, 8: 8}
SIDE = 64  #: rows and columns of a block of tiles, which is one unit of work
PIECE = 1 << 15  #: bytes of a row that are one unit of work
PATTERN = 64  #: bytes that a fill writes at once
GRAIN = 1 << 16  #: bytes below which work is not shared out

_INNER = 3 + 3 * RANK  #: words before those of the innermost dimension (rows) or the two of a block (transposes)


def copy_into(target: np.ndarray, source: np.ndarray) -> bool:
    """target[...] = source, of the same shape and dtype, not overlapping. False, and nothing done, where strides are beyond this kernel."""
    plan = _plan(target.shape, target.strides, source.strides, target.itemsize)
    if plan is None:
        return False
    name, words, units, grain = plan
    if units:
        code = jit.kernel("copying", (target.itemsize,), functools.partial(_module, target.itemsize))
        pool.parallel(code.address(name), pool.arguments(blocks.address(target), blocks.address(source), *words), units, grain)
    return True


def fill(target: np.ndarray, value: bytes) -> None:
    """Every element of an array that is dense in memory becomes `value`, given as its bytes (1, 2, 4, 8 or 16)."""
    pattern = ctypes.create_string_buffer(value * (PATTERN // len(value)), PATTERN)
    code = jit.kernel("filling_bytes", (), _filling_module)
    words = pool.arguments(blocks.address(target), target.nbytes, ctypes.addressof(pattern))
    pool.parallel(code.address("fill"), words, -(-target.nbytes // PIECE), GRAIN // PIECE)


def join_rows(target: np.ndarray, sources: Sequence[np.ndarray], axis: int) -> None:
    """target = the sources joined along an axis, all of one dtype and row-major."""
    rows = math.prod(target.shape[:axis])
    sizes = [a.nbytes // rows for a in sources]
    table = np.array([(blocks.address(a), size) for a, size in zip(sources, sizes)], np.int64)
    words = pool.arguments(blocks.address(target), blocks.address(table), len(sources), sum(sizes), streamed(target, math.gcd(*sizes)))
    pool.parallel(jit.kernel("joining", (), _joining_module).address("join"), words, rows, max(1, GRAIN // sum(sizes)))


@functools.lru_cache(maxsize=512)
def _plan(shape: tuple[int, ...], target: tuple[int, ...], source: tuple[int, ...],
          size: int) -> tuple[str, tuple[int, ...], int, int] | None:
    """The task, its words behind the two addresses, its units and the grain; None where another way must be found."""
    if 0 in shape:
        return "rows", (), 0, 1
    walk = merged(shape, (target, source))
    sizes, (to, start) = walk.shape or (1,), [s or (size,) for s in walk.strides]
    if len(sizes) > RANK - 1 or size not in ELEMENTS:
        return None
    rank = len(sizes)
    if size in TILES and rank > 1 and to[-1] == size and start[-1] != size:
        across = next((d for d in range(rank - 1) if start[d] == size and sizes[d] > 1), None)
        if across is not None and min(sizes[across], sizes[-1]) >= TILES[size] // 2:
            return _transpose_plan(sizes, to, start, across, size)
    return _row_plan(sizes, to, start, size)


def _row_plan(sizes: tuple[int, ...], to: tuple[int, ...], start: tuple[int, ...], size: int) -> tuple[str, tuple[int, ...], int, int]:
    length, piece = sizes[-1], PIECE // size
    pieces = -(-length // piece)
    walk = merged((*sizes[:-1], pieces), ((*to[:-1], piece * to[-1]), (*start[:-1], piece * start[-1])), 1)
    words = (*walk.arguments(), length, piece, to[-1], start[-1])
    units = math.prod(walk.shape)
    name = "rows" if to[-1] == start[-1] == size else "strided_rows"
    return name, words, units, max(1, GRAIN // (size * min(length, piece)))


def _transpose_plan(sizes: tuple[int, ...], to: tuple[int, ...], start: tuple[int, ...], across: int,
                    size: int) -> tuple[str, tuple[int, ...], int, int]:
    outer = [d for d in range(len(sizes) - 1) if d != across]
    rows, columns = sizes[across], sizes[-1]
    grid = (-(-rows // SIDE), -(-columns // SIDE))
    walk = merged((*(sizes[d] for d in outer), *grid),
                  ((*(to[d] for d in outer), SIDE * to[across], SIDE * size),
                   (*(start[d] for d in outer), SIDE * size, SIDE * start[-1])), 2)
    words = (*walk.arguments(), rows, columns, to[across], start[-1])
    work = size * min(rows, SIDE) * min(columns, SIDE)
    return "transposed", words, math.prod(walk.shape), max(1, GRAIN // work)


# -- past the cache ------------------------------------------------------------------------------------------------------------------

LINE = 64
#: For `Module.declare`, in modules that use `move`.
STREAMING = "!0 = !{i32 1}"


def streamed(target: np.ndarray, size: int) -> int:
    """Whether rows of so many bytes of a result are written past the caches: 1 or 0, for `move`.

    They are if it takes half of the last cache: it would hardly stay there, and the lines need not be read before they are written.
    """
    return int(2 * target.nbytes >= jit.host().level3_bytes and size % LINE == 0 and blocks.address(target) % LINE == 0)


def move(function: Function, target: Value, source: Value | None, size: Value, streams: Value) -> None:
    """Copy bytes, or clear them. Where `streams` is not 0 whole lines are written past the caches: a fence must follow before the task ends."""
    no, line = function.constant(I1, 0), I8.vector(LINE)

    def through() -> None:
        if source is None:
            function.effect("memset", [POINTER, I64], [target, function.constant(I8, 0), size, no])
        else:
            function.effect("memcpy", [POINTER, POINTER, I64], [target, source, size, no])

    def past() -> None:
        with function.range(0, size, LINE) as at:
            value = function.constant(line, 0) if source is None else function.load(line, function.offset(source, at))
            function.line(f"store {value}, {function.offset(target, at)}, align {LINE}, !nontemporal !0")

    function.either(streams.equals(0), through, past)


# -- machine code ------------------------------------------------------------------------------------------------------------------


def _filling_module() -> str:
    module = Module()
    task = write_task(module, "fill")
    function = task.function
    target, size = task.pointer(0), task.word(1)
    vector, no = I8.vector(PATTERN), function.constant(I1, 0)
    pattern = function.load(vector, task.pointer(2))
    with function.range(task.begin, task.end) as unit:
        start = unit * PIECE
        stop = smaller(function, start + PIECE, size)
        whole = start + ((stop - start) & -PATTERN)
        with function.range(start, whole, PATTERN) as at:
            function.store(pattern, function.offset(target, at))
        function.effect("memcpy", [POINTER, POINTER, I64], [function.offset(target, whole), task.pointer(2), stop - whole, no])
    function.give_back()
    return module.text()


def _joining_module() -> str:
    module = Module()
    task = write_task(module, "join")
    function = task.function
    module.declare(STREAMING)
    target, table, count, size, streams = task.pointer(0), task.pointer(1), task.word(2), task.word(3), task.word(4)
    place = function.variable(I64, function.convert("ptrtoint", target, I64) + task.begin * size)
    with function.range(task.begin, task.end) as row:
        with function.range(0, count) as k:
            entry = function.offset(table, k << 4)
            length = function.load(I64, function.offset(entry, 8))
            source = function.offset(function.load(POINTER, entry), row * length)
            goal = function.convert("inttoptr", place.get(), POINTER)
            move(function, goal, source, length, streams)
            place.set(place.get() + length)
    function.line("fence seq_cst")
    function.give_back()
    return module.text()


def _module(size: int) -> str:
    module = Module()
    _write_rows(write_task(module, "rows"), size, True)
    _write_rows(write_task(module, "strided_rows"), size, False)
    if size in TILES:
        _write_transpose(write_task(module, "transposed"), size)
    return module.text()


def smaller(function: Function, a: Value, b: Value | int) -> Value:
    """The smaller of two integers."""
    return function.select(a < b, a, b)


def _write_rows(task: Task, size: int, dense: bool) -> None:
    function, kind = task.function, ELEMENTS[size]
    length, piece, to, start = (task.word(_INNER + k) for k in range(4))

    def row(places: list[Value], counters: list[Value]) -> None:
        target, source = places
        count = smaller(function, length - counters[0] * piece, piece)
        if dense:
            function.effect("memcpy", [POINTER, POINTER, I64], [target, source, count * size, function.constant(I1, 0)])
            return
        with function.range(0, count) as index:
            function.store(function.load(kind, function.offset(source, index * start)), function.offset(target, index * to))

    write_walk(task, 2, 2, row, 1)


def _write_transpose(task: Task, size: int) -> None:
    """Blocks of SIDE x SIDE: whole tiles in registers, what is left over element by element."""
    function, kind, tile = task.function, ELEMENTS[size], TILES[size]
    all_rows, all_columns, to, start = (task.word(_INNER + k) for k in range(4))

    def block(places: list[Value], counters: list[Value]) -> None:
        target, source = places
        columns = smaller(function, all_columns - counters[0] * SIDE, SIDE)
        rows = smaller(function, all_rows - counters[1] * SIDE, SIDE)
        whole_rows, whole_columns = rows & -tile, columns & -tile
        with function.range(0, whole_columns, tile) as column:
            with function.range(0, whole_rows, tile) as row:
                lines = [function.load(kind.vector(tile), function.offset(source, (column + k) * start + row * size)) for k in range(tile)]
                for k, line in enumerate(transposed(function, lines)):
                    function.store(line, function.offset(target, (row + k) * to + column * size))
        with function.range(0, rows) as row:
            first = function.select(row < whole_rows, whole_columns, 0)
            with function.range(first, columns) as column:
                element = function.load(kind, function.offset(source, column * start + row * size))
                function.store(element, function.offset(target, row * to + column * size))

    write_walk(task, 2, 2, block, 2)


def transposed(function: Function, lines: list[Value]) -> list[Value]:
    """The transpose of a square of vectors, by exchanging ever larger squares beside its diagonal."""
    lanes = len(lines)
    step = 1
    while step < lanes:
        low = [lane if not lane & step else lanes + lane - step for lane in range(lanes)]
        high = [lane + step if not lane & step else lanes + lane for lane in range(lanes)]
        following = list(lines)
        for k in range(lanes):
            if not k & step:
                following[k] = function.shuffle(lines[k], low, lines[k + step])
                following[k + step] = function.shuffle(lines[k], high, lines[k + step])
        lines, step = following, 2 * step
    return lines
