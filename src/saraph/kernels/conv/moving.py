"""Functions of IR that move blocks of memory: transposed, row by row, or with a border of zeros around."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from saraph.kernels.conv.tile import lanes_below, masked_load, masked_store
from saraph.kernels.copying import transposed
from saraph.kernels.ir import FLOAT, I1, I8, I16, I32, I64, POINTER, Function, Module, Type, Value

_BLOCK = (("source", POINTER), ("source_step", I64), ("target", POINTER), ("target_step", I64), ("rows", I64), ("columns", I64))
_PAIRS = (*_BLOCK, ("partner", I64), ("partners", I64))  # bytes from a row to its partner; rows that have one


def smaller(function: Function, a: Value, b: Value | int) -> Value:
    """The smaller of two integers."""
    return function.select(a < b, a, b)


def larger(function: Function, a: Value, b: Value | int) -> Value:
    """The larger of two integers."""
    return function.select(a > b, a, b)


def write_moving(module: Module, element: Type, lanes: int) -> None:
    """Define `transpose` and `copy` for elements of one type."""

    def load(block: Block) -> Value:
        kind = element.vector(lanes)
        return masked_load(block.function, kind, block.at(element.size), block.mask)

    _write_transpose(module, "transpose", lanes, load, _store_as_it_is)
    _write_copy(module)


def write_pairs(module: Module, lanes: int) -> None:
    """Define what makes pairs of bfloat16 from two rows, `pair` of bfloat16 and `pair_wide` of float32 that is rounded; `side_wide`, from float32 with
    both numbers of a pair side by side; and the ways back from float32, `narrow_transpose` and `narrow_copy`.
    """
    for name, element in (("pair", I16), ("pair_wide", FLOAT)):
        _write_transpose(module, name, lanes, functools.partial(_load_pair, element.vector(lanes)), _store_as_it_is, _PAIRS)
    _write_transpose(module, "side_wide", lanes, functools.partial(_load_side, FLOAT.vector(lanes)), _store_as_it_is)
    _write_transpose(module, "narrow_transpose", lanes, lambda block: masked_load(block.function, FLOAT.vector(lanes), block.at(4), block.mask),
                     _store_narrow)
    _write_narrow_copy(module, lanes)


class Block(NamedTuple):
    """A row of a square that is being loaded."""

    function: Function
    row: Value  # its number
    column: Value  # the first column
    columns: Value  # how many there are, at most a vector
    mask: Value  # those

    def at(self, size: int) -> Value:
        source, step = self.function.parameters[:2]
        return self.function.offset(source, self.row * step + self.column * size)


def _load_pair(kind: Type, block: Block) -> Value:
    """A row and its partner, zeros where it has none."""
    function = block.function
    partner, partners = function.parameters[6:]
    has = block.row < partners
    at = block.at(kind.size // kind.lanes)
    low = masked_load(function, kind, at, block.mask)
    high = masked_load(function, kind, function.offset(at, function.select(has, partner, 0)), block.mask)
    return _paired(function, low, high, function.select(has, function.constant(I32, -1), 0))


def _load_side(kind: Type, block: Block) -> Value:
    function, lanes, at = block.function, kind.lanes, block.at(8)
    count = block.columns * 2
    halves = [masked_load(function, kind, function.offset(at, k * kind.size), lanes_below(function, count - k * lanes, lanes)) for k in range(2)]
    low, high = (function.shuffle(halves[0], range(first, 2 * lanes, 2), halves[1]) for first in range(2))
    return _paired(function, low, high, function.constant(I32, -1))


def _paired(function: Function, low: Value, high: Value, keep: Value) -> Value:
    """Two bfloat16 (given as such, or as float32 that is rounded) in every lane, the second only where bits are kept."""
    kind = I32.like(low.type)
    if low.type.is_float:
        return function.convert("bitcast", rounded(function, low).shift_in_zeros(16) | (rounded(function, high) & (keep & -65536)), FLOAT.like(kind))
    low, high = (function.convert("zext", x, kind) for x in (low, high))
    return function.convert("bitcast", low | ((high & keep) << 16), FLOAT.like(kind))


def rounded(function: Function, value: Value) -> Value:
    """float32 rounded to the nearest bfloat16, which is the upper half of these bits."""
    bits = function.convert("bitcast", value, I32.like(value.type))
    near = bits + (bits.shift_in_zeros(16) & 1) + 0x7FFF
    return function.select(value.differs(value), 0x7FC00000, near)


def _store_as_it_is(function: Function, line: Value, target: Value, step: Value, row: Value, mask: Value) -> None:
    masked_store(function, line, function.offset(target, step + row * (line.type.size // line.type.lanes)), mask)


def _store_narrow(function: Function, line: Value, target: Value, step: Value, row: Value, mask: Value) -> None:
    half = function.convert("trunc", rounded(function, line).shift_in_zeros(16), I16.like(line.type))
    masked_store(function, half, function.offset(target, step + row * 2), mask)


def _write_transpose(module: Module, name: str, lanes: int, load: Callable[[Block], Value], store: Callable[..., None],
                     parameters: Sequence[tuple[str, Type]] = _BLOCK) -> None:
    """target[column][row] = source[row][column]; columns lie side by side in the source, rows in the target."""
    function = module.function(name, parameters)
    target, target_step, rows, columns = function.parameters[2:6]
    with function.range(0, rows, lanes) as row, function.range(0, columns, lanes) as column:
        rows_here, columns_here = smaller(function, rows - row, lanes), smaller(function, columns - column, lanes)
        mask = lanes_below(function, columns_here, lanes)
        lines = []
        for k in range(lanes):
            index = smaller(function, row + k, rows - 1) if k else row
            lines.append(load(Block(function, index, column, columns_here, mask)))
        mask = lanes_below(function, rows_here, lanes)
        for k, line in enumerate(transposed(function, lines)):
            wanted = columns_here > k
            with function.when(wanted):
                store(function, line, target, (column + k) * target_step, row, mask)
    function.give_back()


def _write_narrow_copy(module: Module, lanes: int) -> None:
    """Rows of float32 as rows of bfloat16."""
    function = module.function("narrow_copy", _BLOCK)
    source, source_step, target, target_step, rows, columns = function.parameters
    with function.range(0, rows) as row, function.range(0, columns, lanes) as column:
        mask = lanes_below(function, columns - column, lanes)
        line = masked_load(function, FLOAT.vector(lanes), function.offset(source, row * source_step + column * 4), mask)
        _store_narrow(function, line, target, row * target_step, column, mask)
    function.give_back()


def _write_copy(module: Module) -> None:
    """`columns` bytes of every row."""
    function = module.function("copy", _BLOCK)
    source, source_step, target, target_step, rows, count = function.parameters
    no = function.constant(I1, 0)
    dense = source_step.equals(count) & target_step.equals(count)

    def at_once() -> None:
        function.effect("memcpy", [POINTER, POINTER, I64], [target, source, rows * count, no])

    def row_by_row() -> None:
        whole = count & -64
        wide = I8.vector(64)
        with function.range(0, rows) as row:
            start, end = function.offset(source, row * source_step), function.offset(target, row * target_step)
            with function.range(0, whole, 64) as at:
                function.store(function.load(wide, function.offset(start, at)), function.offset(end, at))
            with function.range(whole, count, 2) as at:  # elements have 2 bytes or more
                two = I8.vector(2)
                function.store(function.load(two, function.offset(start, at)), function.offset(end, at))

    function.either(dense, at_once, row_by_row)
    function.give_back()


def clear(function: Function, target: Value, count: Value) -> None:
    """Zeros in `count` bytes."""
    function.effect("memset", [POINTER, I64], [target, function.constant(I8, 0), count, function.constant(I1, 0)])
