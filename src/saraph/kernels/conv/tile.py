"""The product that every convolution is made of: a few rows of broadcast numbers, found through two tables, times rows of vectors.

    out[row, lane] = bias[lane] + sum over i of  base[rows[row] + columns[i]]  *  panel[i, lane]

Forward, `rows` are pixels, `columns` are the places of a window's elements, the panel is the weight. For the gradient of the weight, `rows` are
the places of a window's elements, `columns` are pixels, the panel is the gradient of the output. What lies in `base` is the input with its channels
innermost (or as they are in it), so nothing is ever laid out window by window.

Where every channel is on its own (depthwise), the number from `base` is not repeated but another one in every lane: tiles are `lanewise`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from saraph.kernels.gemm import micro
from saraph.kernels.ir import I32, I64, POINTER, Function, Module, Type, Value, Variable
from saraph.kernels.processor import Host

#: Rows of the large and of the small tile. Every row keeps an address in a register: 10 is what x86 has room for, and LLVM spills vectors from 11 on.
ROWS = {32: (10, 4), 16: (6, 2)}
#: The same for lanewise tiles.
LANEWISE_ROWS = {32: (8, 4), 16: (4, 2)}
VECTORS = 2  # in a row of a tile, and of a panel

#: Parameters of a tile function. `bias` null: add to what is in `out`. `lanes`: how many of a row are written. `count`: steps of the sum.
PARAMETERS = (("base", POINTER), ("rows", POINTER), ("columns", POINTER), ("count", I64), ("panel", POINTER), ("panel_step", I64),
              ("out", POINTER), ("outs", POINTER), ("bias", POINTER), ("lanes", I64), ("valid", I64))


class Shape(NamedTuple):
    """How a processor's registers are used for one dtype."""

    product: micro.Product
    lanes: int
    rows: tuple[int, int]
    lanewise: bool

    @property
    def width(self) -> int:
        """Lanes of a panel's row."""
        return VECTORS * self.lanes

    @property
    def element(self) -> Type:
        return self.product.total

    @property
    def size(self) -> int:
        return self.product.total.size


def shape_of(host: Host, product: micro.Product, lanewise: bool = False) -> Shape:
    """The tiles for a processor."""
    rows = (LANEWISE_ROWS if lanewise else ROWS)[32 if host.vector_registers >= 32 else 16]
    return Shape(product, host.vector_bytes // product.total.size, rows, lanewise)


def lanes_below(function: Function, count: Value, lanes: int) -> Value:
    """A mask of the first `count` lanes (none where it is negative)."""
    return function.counting(I64.vector(lanes)) < count


def masked_load(function: Function, type: Type, pointer: Value, mask: Value) -> Value:
    """A vector from memory, zero where the mask is false; nothing is read there."""
    align = function.constant(I32, 1)
    return function.intrinsic("masked.load", [type, POINTER], type, [pointer, align, mask, function.constant(type, 0)])


def masked_store(function: Function, value: Value, pointer: Value, mask: Value) -> None:
    """A vector into memory where the mask is true."""
    function.effect("masked.store", [value.type, POINTER], [value, pointer, function.constant(I32, 1), mask])


def write_tiles(module: Module, shape: Shape) -> None:
    """The functions tile_RxV of all sizes."""
    for rows in shape.rows:
        for vectors in (1, VECTORS):
            _write_tile(module, shape, rows, vectors)


def tile_name(rows: int, vectors: int) -> str:
    return f"tile_{rows}x{vectors}"


def _write_tile(module: Module, shape: Shape, rows: int, vectors: int) -> None:
    function = module.function(tile_name(rows, vectors), PARAMETERS)
    base, row_table, columns, count, panel, panel_step, out, outs, bias, lanes, valid = function.parameters
    kind, bytes_each = shape.element.vector(shape.lanes), shape.size
    masks = [lanes_below(function, lanes - v * shape.lanes, shape.lanes) for v in range(vectors)]

    def place(table: Value, start: Value, row: int) -> Value:
        index = function.select(valid > row, row, valid - 1) if row else function.constant(I64, 0)
        return function.offset(start, function.load(I64, function.offset(table, index * 8)))

    starts = [[function.variable(kind, 0) for _ in range(vectors)] for _ in range(rows)]
    fresh = function.convert("ptrtoint", bias, I64).differs(0)

    def from_bias() -> None:
        for v in range(vectors):
            value = function.load(kind, function.offset(bias, v * shape.lanes * bytes_each))
            for row in range(rows):
                starts[row][v].set(value)

    def from_out() -> None:
        for row in range(rows):
            at = place(outs, out, row)
            for v in range(vectors):
                starts[row][v].set(masked_load(function, kind, function.offset(at, v * shape.lanes * bytes_each), masks[v]))

    function.either(fresh, from_bias, from_out)
    pointers = [place(row_table, base, row) for row in range(rows)]
    step: list[Value] = []

    def scalar(k: Value, row: int) -> Value:
        if not row:
            step[:] = [function.load(I64, function.offset(columns, k * 8))]
        return function.offset(pointers[row], step[0])

    def vector(k: Value, v: int) -> Value:
        at = function.offset(panel, k * panel_step)
        return function.load(shape.product.element.vector(shape.lanes), function.offset(at, v * shape.lanes * bytes_each))

    if shape.lanewise:
        totals = _lanewise(function, shape, count, starts, scalar, vector)
    else:
        tile = micro.Tile(rows, vectors, shape.lanes)
        totals = micro.accumulate(function, shape.product, tile, count, scalar, vector, [[x.get() for x in row] for row in starts])
    for row in range(rows):
        at = place(outs, out, row)
        wanted = valid > row
        with function.when(wanted):
            for v in range(vectors):
                masked_store(function, totals[row][v], function.offset(at, v * shape.lanes * bytes_each), masks[v])
    function.give_back()


def _lanewise(function: Function, shape: Shape, count: Value, totals: list[list[Variable]], place: Callable[[Value, int], Value],
              vector: Callable[[Value, int], Value]) -> list[list[Value]]:
    """Totals plus the sum over steps of a vector at `place` times the panel's vector."""
    with function.range(0, count) as k:
        panel = [vector(k, v) for v in range(len(totals[0]))]
        for row, line in enumerate(totals):
            at = place(k, row)
            for v, total in enumerate(line):
                value = function.load(panel[v].type, function.offset(at, v * shape.lanes * shape.size))
                total.set(micro.multiply_add(function, shape.product, value, panel[v], total.get()))
    return [[total.get() for total in line] for line in totals]


def write_strip(function: Function, shape: Shape, base: Value, rows: Value, count_rows: Value, columns: Value, count: Value, panel: Value,
                panel_step: Value | int, out: Value, outs: Value, bias: Value, lanes: Value) -> None:
    """Tiles over `count_rows` rows: large ones, and small ones for what is left over."""
    large, small = shape.rows
    step = function.lift(panel_step, I64)

    def tiles(vectors: int) -> None:
        rest = count_rows - count_rows / large * large
        whole = function.select(rest > 2 * small, count_rows, count_rows - rest)
        for start, stop, rows_each in ((0, whole, large), (whole, count_rows, small)):
            with function.range(start, stop, rows_each) as row:
                left = count_rows - row
                valid = function.select(left < rows_each, left, rows_each)
                at = row * 8
                function.call(tile_name(rows_each, vectors), (base, function.offset(rows, at), columns, count, panel, step, out,
                                                             function.offset(outs, at), bias, lanes, valid))

    function.either(lanes > shape.lanes, lambda: tiles(VECTORS), lambda: tiles(1))
