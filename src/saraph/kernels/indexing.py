"""Picking and placing by arrays of positions: rows, single elements, sums of rows.

Every position is checked where it is used (negative ones count from the end); if one is out of bounds the functions say so, and their result
is void. What is combined is combined by one unit of work in the order of the positions: the same bits for any number of threads.
"""
from __future__ import annotations

import functools
import math

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import ELEMENTS, GRAIN, STREAMING, move, smaller, streamed
from saraph.kernels.ir import DOUBLE, FLOAT, I1, I8, I16, I32, I64, POINTER, Function, Module, Type, Value, Variable
from saraph.kernels.walking import RANK, Task, merged, name_of, write_task, write_walk

#: Types that can be added and compared here, by NumPy's name.
NUMBERS = {"float32": FLOAT, "float64": DOUBLE, "int64": I64, "int32": I32, "int16": I16, "int8": I8}
PIECE = 1 << 12  #: elements of a row that are one unit of work
COLUMNS = 1 << 10  #: columns of a sum of rows that are one unit of work
BOUNDS = 1 << 14  #: positions whose bounds are one unit of work
FETCHED = 256  #: lines of a row that are asked for before its elements are used, at most
VECTOR_BYTES = 64

_INNER = 5 + 4 * RANK  #: words before those of the two inner loops of picking and placing


# -- rows ---------------------------------------------------------------------------------------------------------------------------


def take_rows(target: np.ndarray, source: np.ndarray, axis: int, index: np.ndarray) -> bool:
    """target = source's slices at the int64 `index` (1-d, dense) along `axis`; both row-major. False: an index is out of bounds."""
    size = source.itemsize
    outer, inner = math.prod(source.shape[:axis]), math.prod(source.shape[axis + 1:])
    count, length = index.shape[0], source.shape[axis]
    if not (outer and inner and count):
        return True
    if not length:
        return False
    wrong = np.zeros(1, np.int64)
    code = jit.kernel("taking", (size,), functools.partial(_taking_module, size))
    addresses = [blocks.address(a) for a in (target, source, index, wrong)]
    words: tuple[int, ...]
    if inner == 1:
        words, units, work = (length, count), outer, count * size
    else:
        words, units, work = (length, count, inner * size, streamed(target, inner * size)), outer * count, inner * size
    pool.parallel(code.address("elements" if inner == 1 else "rows"), pool.arguments(*addresses, *words), units, max(1, GRAIN // work))
    return not wrong[0]


def _taking_module(size: int) -> str:
    module = Module()
    module.declare(STREAMING)
    task = write_task(module, "rows")
    function = task.function
    target, source, index, wrong = (task.pointer(k) for k in range(4))
    length, count, inner, streams = (task.word(4 + k) for k in range(4))
    bad = function.variable(I1, 0)
    with function.range(task.begin, task.end) as unit:
        outer = unit / count
        position = _checked(function.load(I64, function.offset(index, (unit - outer * count) * 8)), length, bad)
        move(function, function.offset(target, unit * inner), function.offset(source, (outer * length + position) * inner), inner, streams)
    _note(bad, wrong)
    function.line("fence seq_cst")
    function.give_back()
    task = write_task(module, "elements")
    function, kind = task.function, ELEMENTS[size]
    target, source, index, wrong = (task.pointer(k) for k in range(4))
    length, count = task.word(4), task.word(5)
    bad = function.variable(I1, 0)
    with function.range(task.begin, task.end) as outer:
        row, start = function.offset(target, outer * count * size), function.offset(source, outer * length * size)
        with function.range(0, count) as k:
            position = _checked(function.load(I64, function.offset(index, k * 8)), length, bad)
            function.store(function.load(kind, function.offset(start, position * size)), function.offset(row, k * size))
    _note(bad, wrong)
    function.give_back()
    return module.text()


def _checked(position: Value, length: Value, bad: Variable) -> Value:
    """A position counted from the front; where it is out of bounds `bad` becomes true, and the first place stands for it."""
    function = position.function
    position = function.select(position < 0, position + length, position)
    inside = position.below(length)
    bad.set(bad.get() | inside.equals(0))
    return function.select(inside, position, 0)


def _note(bad: Variable, wrong: Value) -> None:
    """Tell the caller."""
    with bad.function.when(bad.get()):
        bad.function.store(bad.function.constant(I64, 1), wrong)


# -- single elements -------------------------------------------------------------------------------------------------------------------


def gather(target: np.ndarray, source: np.ndarray, axis: int, index: np.ndarray) -> bool | None:
    """target[..., i, ...] = source[..., index[..., i, ...], ...]. False: an index is out of bounds. None: not for this kernel."""
    return _pick_or_place(source, axis, index, target, "gather", str(target.itemsize))


def scatter(target: np.ndarray, axis: int, index: np.ndarray, values: np.ndarray, mode: str) -> bool | None:
    """Combine `values` (of index's shape) into target at the index along `axis`: mode set, add, multiply, amax or amin. As `gather`."""
    kind = str(target.itemsize) if mode == "set" else name_of(target.dtype)
    if mode != "set" and kind not in NUMBERS:
        return None
    return _pick_or_place(target, axis, index, values, mode, kind)


def _pick_or_place(array: np.ndarray, axis: int, index: np.ndarray, values: np.ndarray, mode: str, kind: str) -> bool | None:
    plan = _plan(index.shape, axis, values.strides, index.strides, array.strides, array.shape[axis], mode == "gather", array.itemsize)
    if plan is None or array.itemsize not in ELEMENTS:
        return None
    words, units, grain = plan
    if units:
        if not array.shape[axis]:
            return False
        wrong = np.zeros(1, np.int64)
        code = jit.kernel("picking", (mode, kind), functools.partial(_picking_module, mode, kind))
        addresses = [blocks.address(a) for a in (values, index, array, wrong)]
        dense = words[-5:-1] == (array.itemsize, 8, 0, array.itemsize)
        pool.parallel(code.address("pick_dense" if dense else "pick"), pool.arguments(*addresses, *words), units, grain)
        return not wrong[0]
    return True


@functools.lru_cache(maxsize=256)
def _plan(shape: tuple[int, ...], axis: int, values: tuple[int, ...], index: tuple[int, ...], array: tuple[int, ...], length: int,
          reads: bool, size: int) -> tuple[tuple[int, ...], int, int] | None:
    """Words, units and grain. The walk's arrays are the values, the positions, and the array (standing still along `axis`)."""
    if 0 in shape:
        return (), 0, 1
    still = tuple(0 if d == axis else s for d, s in enumerate(array))
    last = len(shape) - 1
    if axis == last:
        slow, fast = None, axis
    else:
        slow, fast = axis, last
    outer = [d for d in range(len(shape)) if d not in (slow, fast)]
    strides = (values, index, still)
    pieces = 1 if axis == last and not reads else -(-shape[fast] // PIECE)  # positions of one row may name the same place twice
    piece = PIECE if pieces > 1 else shape[fast]
    if reads and slow is not None:
        outer, slow = sorted([*outer, slow]), None
    walk = merged((*(shape[d] for d in outer), pieces), [(*(s[d] for d in outer), s[fast] * piece) for s in strides], 1)
    if len(walk.shape) > RANK:
        return None
    turns = 1 if slow is None else shape[slow]
    slow_steps = [0 if slow is None else s[slow] for s in strides[:2]]
    words = (*walk.arguments(), turns, *slow_steps, shape[fast], piece, *(s[fast] for s in strides), array[axis], length)
    return words, math.prod(walk.shape), max(1, GRAIN // (8 * turns * piece))


def _picking_module(mode: str, kind: str) -> str:
    module = Module()
    element = ELEMENTS[int(kind)] if mode in ("gather", "set") else NUMBERS[kind]
    _write_picking(write_task(module, "pick"), mode, element, False)
    _write_picking(write_task(module, "pick_dense"), mode, element, True)
    return module.text()


def _write_picking(task: Task, mode: str, element: Type, dense: bool) -> None:
    """dense: rows that lie side by side are picked from, or placed in, along themselves."""
    function = task.function
    wrong = task.pointer(3)
    turns, value_turn, index_turn, count, piece, *steps, length = (task.word(_INNER + k) for k in range(10))
    size = element.size
    value_step, index_step, array_step, stride = (size, 8, 0, size) if dense else steps

    def unit(places: list[Value], numbers: list[Value]) -> None:
        values, index, array = places
        stop = smaller(function, count - numbers[0] * piece, piece)
        bad = function.variable(I1, 0)
        if dense:
            _fetch(function, array, length * size, stop)
        with function.range(0, turns) as turn:
            value_row, index_row = function.offset(values, turn * value_turn), function.offset(index, turn * index_turn)
            with function.range(0, stop) as k:
                position = _checked(function.load(I64, function.offset(index_row, k * index_step)), length, bad)
                place = function.offset(array, position * stride if dense else position * stride + k * array_step)
                value_place = function.offset(value_row, k * value_step)
                if mode == "gather":
                    function.store(function.load(element, place), value_place)
                elif mode == "set":
                    function.store(function.load(element, value_place), place)
                else:
                    old, new = function.load(element, place), function.load(element, value_place)
                    function.store(_combined(function, old, new, mode), place)
        _note(bad, wrong)

    write_walk(task, 3, 4, unit, 1)


def _fetch(function: Function, place: Value, size: Value, count: Value) -> None:
    """Ask for all of a row that so many positions are going to be picked from, where they reach most of it: its lines then come in order."""
    lines = size.shift_in_zeros(6)
    with function.when((lines < count * 2) & (lines < FETCHED)):
        hints = [function.constant(I32, hint) for hint in (0, 3, 1)]
        with function.range(0, lines) as line:
            function.effect("prefetch", [POINTER], [function.offset(place, line << 6), *hints])


def _combined(function: Function, old: Value, new: Value, mode: str) -> Value:
    if mode == "add":
        return old + new
    if mode == "multiply":
        return old * new
    better = new > old if mode == "amax" else new < old
    if old.type.is_float:  # NaN wins
        return function.select(old.differs(old), old, function.select(better | new.differs(new), new, old))
    return function.select(better, new, old)


# -- sums of rows ----------------------------------------------------------------------------------------------------------------------


def add_rows(target: np.ndarray, axis: int, index: np.ndarray, values: np.ndarray) -> bool:
    """target = zeros with the slices of `values` added at the int64 `index` along `axis`; row-major, more than one element behind the axis.

    False: an index is out of bounds (of either sign).
    """
    kind = NUMBERS[name_of(target.dtype)]
    outer, inner = math.prod(target.shape[:axis]), math.prod(target.shape[axis + 1:])
    length, count = target.shape[axis], index.shape[0]
    if not target.size:
        return not count or length > 0
    starts, order, wrong = blocks.empty((length + 2,), np.dtype(np.int64)), blocks.empty((max(count, 1),), np.dtype(np.int64)), np.zeros(1, np.int64)
    code = jit.kernel("adding_rows", (name_of(target.dtype),), functools.partial(_adding_module, kind))
    addresses = [blocks.address(a) for a in (target, values, index, starts, order, wrong)]
    pieces = -(-inner // COLUMNS)
    arguments = pool.arguments(*addresses, length, count, inner, pieces, streamed(target, inner * kind.size))
    pool.parallel(code.address("order"), arguments, 1, 1)
    if wrong[0]:
        return False
    pool.parallel(code.address("add"), arguments, outer * length * pieces, max(1, GRAIN // (4 * kind.size * min(inner, COLUMNS))))
    return True


def _adding_module(kind: Type) -> str:
    module = Module()
    module.declare(STREAMING)
    _write_order(write_task(module, "order"))
    task = write_task(module, "add")
    function, size = task.function, kind.size
    target, values, _, starts, order, _ = (task.pointer(k) for k in range(6))
    length, count, inner, pieces, streams = (task.word(6 + k) for k in range(5))
    vector = kind.vector(VECTOR_BYTES // size)
    with function.range(task.begin, task.end) as unit:
        row = unit / pieces
        first = (unit - row * pieces) * COLUMNS
        columns = smaller(function, inner - first, COLUMNS)
        outer = row / length
        place = function.offset(starts, (row - outer * length) * 8)
        begin, end = function.load(I64, place), function.load(I64, function.offset(place, 8))
        goal = function.offset(target, (row * inner + first) * size)

        def add() -> None:
            def source(number: Value) -> Value:
                at = function.load(I64, function.offset(order, number * 8))
                return function.offset(values, ((outer * count + at) * inner + first) * size)

            # what is added to is best kept in the cache
            alone = (begin + 1).equals(end)
            move(function, goal, source(begin), columns * size, function.select(alone, streams, 0))
            with function.range(begin + 1, end) as number:
                more = source(number)
                whole = columns & -vector.lanes
                for start, stop, step, type in ((0, whole, vector.lanes, vector), (whole, columns, 1, kind)):
                    with function.range(start, stop, step) as column:
                        cell = function.offset(goal, column * size)
                        function.store(function.load(type, cell) + function.load(type, function.offset(more, column * size)), cell)

        function.either(begin < end, add, lambda: move(function, goal, None, columns * size, streams))
    function.line("fence seq_cst")
    function.give_back()
    return module.text()


def _write_order(task: Task) -> None:
    """The numbers of the positions, by the place that they name: `order` from starts[place] to starts[place + 1]. A counting sort."""
    function = task.function
    index, starts, order, wrong = (task.pointer(k) for k in (2, 3, 4, 5))
    length, count = task.word(6), task.word(7)
    zero = function.constant(I64, 0)
    function.effect("memset", [POINTER, I64], [starts, function.constant(I8, 0), (length + 2) * 8, function.constant(I1, 0)])
    with function.range(0, count) as k:
        position = function.load(I64, function.offset(index, k * 8))
        inside = position.below(length)
        with function.when(inside.equals(0)):
            function.store(function.constant(I64, 1), wrong)
        with function.when(inside):
            cell = function.offset(starts, (position + 2) * 8)
            function.store(function.load(I64, cell) + 1, cell)
    with function.when(function.load(I64, wrong).equals(0)):
        total = function.variable(I64, zero)
        with function.range(2, length + 2) as k:
            cell = function.offset(starts, k * 8)
            total.set(total.get() + function.load(I64, cell))
            function.store(total.get(), cell)
        # starts[place + 1] now counts up from where the place's numbers begin to where they end
        with function.range(0, count) as k:
            cell = function.offset(starts, (function.load(I64, function.offset(index, k * 8)) + 1) * 8)
            at = function.load(I64, cell)
            function.store(k, function.offset(order, at * 8))
            function.store(at + 1, cell)
    function.give_back()


# -- bounds ----------------------------------------------------------------------------------------------------------------------------


def bounds(index: np.ndarray) -> tuple[int, int]:
    """The smallest and largest of dense int64 positions, of which there is at least one."""
    pieces = -(-index.size // BOUNDS)
    found = np.empty((2, pieces), np.int64)
    words = pool.arguments(blocks.address(index), blocks.address(found), index.size, pieces)
    pool.parallel(jit.kernel("bounds", (), _bounds_module).address("bounds"), words, pieces, 2)
    return int(found[0].min()), int(found[1].max())


def _bounds_module() -> str:
    module = Module()
    task = write_task(module, "bounds")
    function = task.function
    index, found = task.pointer(0), task.pointer(1)
    count, pieces = task.word(2), task.word(3)
    vector = I64.vector(8)
    with function.range(task.begin, task.end) as piece:
        start = piece * BOUNDS
        stop = smaller(function, start + BOUNDS, count)
        first = function.load(I64, function.offset(index, start * 8))
        low, high = ([function.variable(vector, first) for _ in range(2)] for _ in range(2))
        whole = start + ((stop - start) & -16)

        def update(k: int, value: Value) -> None:
            low[k].set(function.intrinsic("smin", [vector], vector, [low[k].get(), value]))
            high[k].set(function.intrinsic("smax", [vector], vector, [high[k].get(), value]))

        with function.range(start, whole, 16) as at:
            for k in range(2):
                update(k, function.load(vector, function.offset(index, at * 8 + k * 64)))
        with function.range(whole, stop) as at:
            update(0, function.lift(function.load(I64, function.offset(index, at * 8)), vector))
        for row, name, registers in ((0, "smin", low), (1, "smax", high)):
            both = function.intrinsic(name, [vector], vector, [register.get() for register in registers])
            one = function.intrinsic(f"vector.reduce.{name}", [vector], I64, [both])
            function.store(one, function.offset(found, (pieces * row + piece) * 8))
    function.give_back()
    return module.text()
