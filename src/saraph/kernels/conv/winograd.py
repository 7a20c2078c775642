"""Convolution with a 3 x 3 window, stride 1, and the gradient of its input, by Winograd's minimal filtering (Lavin and Gray 2016), in float32.

4 x 4 outputs are made from 6 x 6 inputs with 36 products a pair of channels in place of 144. A weight is transformed once per call, into 36
matrices; then every unit of work transforms a block of tiles of the input into 36 matrices (tiles x channels), multiplies them, and transforms the
products back. Channels lie in the lanes throughout; what a unit makes stays in its scratch memory.

The numbers at which polynomials are evaluated decide the error. The usual 0, 1, -1, 2, -2 have 4 to 5 times the error of the direct sum; 0, 3/4,
-3/4, 3/2, -3/2, taken here, about 2 times, and sums over channels that are taken in pieces leave less than that of the direct kernel where channels
are many. Errors against float64 (root of the mean square, largest), in millionths, with weights of standard deviation sqrt(2 / (9 C)):

    C     input             result   this kernel      direct kernel    PyTorch
    64    normal             1.4      0.90    7.5      0.58    5.0      0.30   2.2
    64    normal, >= 0       1.0      0.53    4.5      0.30    3.1      0.15   1.1
    256   normal             1.3      1.10    6.9      1.12   10.6      0.30   1.5
    256   normal, >= 0       0.9      0.66    3.9      0.56    4.5      0.16   0.8
    512   normal             1.4      1.50   10.5      1.58   14.4      0.32   1.8
    512   normal, >= 0       0.9      0.88    5.7      0.80    7.0      0.17   1.0

An infinity or NaN would spread over a whole tile: where a result is not finite, the call says so and the direct kernel does it again.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.conv import parts
from saraph.kernels.conv.moving import clear, smaller, write_moving
from saraph.kernels.conv.parts import COPY, STRIP, TRANSPOSE, Writer
from saraph.kernels.gemm import micro
from saraph.kernels.ir import FLOAT, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.processor import Host

A, B = 0.75, 1.5  #: the points are 0, A, -A, B, -B and infinity
SIDE = 4  #: outputs of a tile in each dimension
REACH = 6  #: inputs
POINTS = REACH * REACH
TAPS = 9
SIZE = 4  #: bytes of a number
VECTORS = 2  #: in a row of a panel of the weight
DEPTH = 32  #: channels that are summed in one go, where there are no more than 128 in all; else a quarter of them
PIECE = 16  #: channels of the weight that are transformed in one unit
#: Tiles of a unit of work at most, and units that work is split into at least: with a weight that stays near, and with one of more than HEAVY bytes, which
#: should be read seldom.
LIGHT_TILES, HEAVY_TILES = 56, 112
LIGHT_UNITS, HEAVY_UNITS = 8, 4
HEAVY = 4 << 20
SLACK = 256  #: bytes behind scratch memory, to align it
CHANNELS = 32  #: from which on it is worth while
#: What transforming a tile of one channel, and the weight of a pair of channels, costs, in products of numbers.
INPUT_COST, WEIGHT_COST = 450, 3300
#: How the weight lies: (sum, made) channels, taps innermost or channels innermost.
ROWS, ROWS_LAST, COLUMNS, COLUMNS_LAST = range(4)

WORDS = (*STRIP,
         # the weight
         "w", "w_o", "w_c", "w_t", "order", "first_tap", "next_tap", "temporary", "weights", "weights_point", "pieces", "pack_units",
         # blocks of tiles
         "units", "panels", "at_once", "grid_n", "grid_h", "grid_w", "images", "block_n", "block_h", "block_w", "tiles_h", "tiles_w", "origin_h",
         "origin_w", "depth", "depth_piece", "made",
         # the input and the products in scratch memory
         "v_at", "v_point", "v_chunk", "m_at", "m_point", "m_chunk", "region_at",
         # the output
         "out", "out_n", "out_h", "out_w", "out_c", "high", "wide", "turned", "bias", "flags")

Line = Sequence[Value]
Transform = Callable[[Function, Line], list[Value]]


# -- transforms of six, three and six numbers ----------------------------------------------------------------------------------------


def input_line(f: Function, d: Line) -> list[Value]:
    a, b = A * A, B * B
    even_a, odd_a = f.fma(d[2], -b, d[4]), f.fma(d[1], -b, d[3])
    even_b, odd_b = f.fma(d[2], -a, d[4]), f.fma(d[1], -a, d[3])
    return [f.fma(d[2], -(a + b), f.fma(d[0], a * b, d[4])), f.fma(odd_a, A, even_a), f.fma(odd_a, -A, even_a), f.fma(odd_b, B, even_b),
            f.fma(odd_b, -B, even_b), f.fma(d[3], -(a + b), f.fma(d[1], a * b, d[5]))]


def _weight_line(f: Function, g: Line) -> list[Value]:
    a, b = A * A, B * B
    made = [g[0] * (1 / (a * b))]
    for point, square, other in ((A, a, b), (B, b, a)):
        scale = 1 / (2 * square * (square - other))
        even, odd = f.fma(g[2], square * scale, g[0] * scale), g[1] * (point * scale)
        made += [even + odd, even - odd]
    return [*made, g[2]]


def _output_line(f: Function, m: Line) -> list[Value]:
    sum_a, less_a, sum_b, less_b = m[1] + m[2], m[1] - m[2], m[3] + m[4], m[3] - m[4]
    return [m[0] + (sum_a + sum_b), f.fma(less_b, B, less_a * A), f.fma(sum_b, B ** 2, sum_a * A ** 2),
            f.fma(less_b, B ** 3, f.fma(less_a, A ** 3, m[5]))]


def both_ways(f: Function, line: Transform, square: Sequence[Line]) -> list[list[Value]]:
    """A transform of the columns, then of the rows, of square[row][column]."""
    columns = [line(f, column) for column in zip(*square, strict=True)]
    return [line(f, row) for row in zip(*columns, strict=True)]


# -- functions -----------------------------------------------------------------------------------------------------------------------


def build(host: Host) -> str:
    """The module."""
    tile = micro.tile(host, micro.FLOAT32, VECTORS)
    module = Module()
    module.declare(pool.PARALLEL)
    write_moving(module, FLOAT, tile.lanes)
    kind = FLOAT.vector(tile.lanes)
    write_input(module, "transform_input", kind, REACH, input_line)
    _write_output(module, kind)
    for rows in (tile.rows, tile.rows // 2):
        _write_product(module, tile._replace(rows=rows))
    _write_weights(Writer(module, "transform_weights", WORDS), kind)
    _write_main(Writer(module, "multiply", WORDS), tile)
    driver = module.function("winograd", (("args", POINTER),))
    args = driver.parameters[0]
    for task, units in (("transform_weights", "pack_units"), ("multiply", "units")):
        count = driver.load(I64, driver.offset(args, 8 * WORDS.index(units)))
        driver.call("saraph_parallel", (driver.address_of(task), args, count, driver.constant(I64, 1)))
    driver.give_back()
    return module.text()


def write_input(module: Module, name: str, kind: Type, reach: int, transform: Transform) -> None:
    """A row of `count` tiles of one vector of channels: from the strip, `reach` by `reach`, into the 36 matrices, `point` bytes apart."""
    f = module.function(name, (("source", POINTER), ("line", I64), ("target", POINTER), ("point", I64), ("count", I64)))
    source, line, target, point, count = f.parameters
    with f.range(0, count) as tile:
        start = f.offset(source, tile * (SIDE * kind.size))
        square = []
        for row in range(reach):
            at = f.offset(start, line * row)
            square.append([f.load(kind, f.offset(at, column * kind.size)) for column in range(reach)])
        end = f.offset(target, tile * kind.size)
        for number, value in enumerate(v for row in both_ways(f, transform, square) for v in row):
            f.store(value, f.offset(end, point * number))
    f.give_back()


def _write_output(module: Module, kind: Type) -> None:
    """A row of tiles of one vector of channels: from the products, plus the bias, into pixels `pixel` bytes apart in lines `line` bytes apart.

    Written are `high` lines and `wide` pixels at most, and `lanes` of each. The flag is set where a number is not finite.
    """
    f = module.function("transform_output", (("source", POINTER), ("point", I64), ("count", I64), ("target", POINTER), ("line", I64), ("pixel", I64),
                                             ("high", I64), ("wide", I64), ("lanes", I64), ("bias", POINTER), ("flag", POINTER)))
    source, point, count, target, line, pixel, high, wide, lanes, bias, flag = f.parameters
    addend = f.load(kind, bias)
    check = f.variable(kind, 0)
    some = f.array(kind, SIDE * SIDE)
    mask = f.counting(I64.vector(kind.lanes)) < lanes
    with f.range(0, count) as tile:
        start, end = f.offset(source, tile * kind.size), f.offset(target, tile * SIDE * pixel)
        square = [[f.load(kind, f.offset(start, point * (row * REACH + column))) for column in range(REACH)] for row in range(REACH)]
        made = [[value + addend for value in row] for row in both_ways(f, _output_line, square)]
        for value in (v for row in made for v in row):
            check.set(f.fma(value, 0.0, check.get()))
        left = wide - tile * SIDE

        def entire(made: list[list[Value]] = made, end: Value = end) -> None:
            for row, values in enumerate(made):
                at = f.offset(end, line * row)
                for column, value in enumerate(values):
                    f.store(value, f.offset(at, pixel * column))

        def partly(made: list[list[Value]] = made, end: Value = end, left: Value = left) -> None:
            for number, value in enumerate(v for row in made for v in row):
                f.store(value, f.offset(some, number * kind.size))
            with f.range(0, smaller(f, high, SIDE)) as row, f.range(0, smaller(f, left, SIDE)) as column:
                value = f.load(kind, f.offset(some, (row * SIDE + column) * kind.size))
                f.store_masked(value, f.offset(end, row * line + column * pixel), mask)

        f.either((high >= SIDE) & (left >= SIDE) & (lanes >= kind.lanes), entire, partly)
    bits = f.convert("bitcast", check.get().differs(0.0), Type(f"i{kind.lanes}"))
    with f.when(bits.differs(0)):
        f.store(f.constant(I64, 1), flag)
    f.give_back()


def _write_product(module: Module, tile: micro.Tile) -> None:
    """Some tiles times a panel, summed over `depth` channels: stored, or added to what is there.

    A vector of channels of one tile lies beside that of the next; `a_chunk` and `out_chunk` bytes further on lie the next channels.
    """
    f = module.function(f"product_{tile.rows}", (("a", POINTER), ("a_chunk", I64), ("panel", POINTER), ("out", POINTER), ("out_chunk", I64),
                                                 ("depth", I64), ("add", I64)))
    a, a_chunk, panel, out, out_chunk, depth, add = f.parameters
    kind = FLOAT.vector(tile.lanes)
    shift = tile.lanes.bit_length() - 1
    place: list[Value] = []

    def scalar(k: Value, row: int) -> Value:
        if not row:
            place[:] = [f.offset(a, (k >> shift) * a_chunk + (k & (tile.lanes - 1)) * SIZE)]
        return f.offset(place[0], row * kind.size)

    def vector(k: Value, v: int) -> Value:
        return f.load(kind, f.offset(panel, k * (VECTORS * kind.size) + v * kind.size))

    totals = micro.accumulate(f, micro.FLOAT32, tile, depth, scalar, vector)

    def store(more: bool) -> None:
        for v in range(VECTORS):
            column = f.offset(out, out_chunk * v)
            for row in range(tile.rows):
                at = f.offset(column, row * kind.size)
                f.store(totals[row][v] + f.load(kind, at) if more else totals[row][v], at)

    f.either(add.differs(0), lambda: store(True), lambda: store(False))
    f.give_back()


def _write_weights(w: Writer, kind: Type) -> None:
    """A piece of a panel's channels: laid out with the made channels in lanes, [channel][tap][lane], and transformed."""
    f, row = w.function, VECTORS * kind.size
    with f.range(w.begin, w.end) as unit:
        panel, piece = w.split(unit, "pieces")
        lane, first = panel * (VECTORS * kind.lanes), piece * PIECE
        lanes = smaller(f, w.word("made") - lane, VECTORS * kind.lanes)
        count = smaller(f, w.word("depth") - first, PIECE)
        temporary = f.offset(w.pointer("temporary"), w.slot * (PIECE * TAPS * row))
        with f.when(lanes < VECTORS * kind.lanes):
            clear(f, temporary, f.constant(I64, PIECE * TAPS * row))
        _lay_weights(w, lane, lanes, first, count, temporary, row)
        target = f.offset(w.pointer("weights"), (panel * w.word("depth") + first) * row)
        point, taps = w.word("weights_point"), f.offset(temporary, w.word("first_tap"))
        with f.range(0, count) as channel, f.range(0, f.constant(I64, row), kind.size) as v:
            start, end = f.offset(taps, channel * (TAPS * row) + v), f.offset(target, channel * row + v)
            loaded = [f.load(kind, f.offset(start, w.word("next_tap") * tap)) for tap in range(TAPS)]
            square = [loaded[k:k + 3] for k in range(0, TAPS, 3)]
            for number, value in enumerate(v for line in both_ways(f, _weight_line, square) for v in line):
                f.store(value, f.offset(end, point * number))
    f.give_back()


def _lay_weights(w: Writer, lane: Value, lanes: Value, first: Value, count: Value, temporary: Value, row: int) -> None:
    f, order, taps = w.function, w.word("order"), w.function.constant(I64, TAPS)
    w_o, w_c, w_t, step = w.word("w_o"), w.word("w_c"), w.word("w_t"), f.constant(I64, row)
    of_rows = f.offset(w.pointer("w"), lane * w_o + first * w_c)
    of_columns = f.offset(w.pointer("w"), first * w_o + lane * w_c)
    with f.when(order.equals(ROWS)):
        f.call("transpose", (of_rows, w_o, temporary, step, lanes, count * TAPS))
    with f.when(order.equals(ROWS_LAST)), f.range(0, taps) as tap:
        f.call("transpose", (f.offset(of_rows, tap * w_t), w_o, f.offset(temporary, tap * row), step * TAPS, lanes, count))
    with f.when(order.equals(COLUMNS)), f.range(0, count) as channel:
        f.call("transpose", (f.offset(of_columns, channel * w_o), w_c, f.offset(temporary, channel * (TAPS * row)), step, lanes, taps))
    with f.when(order.equals(COLUMNS_LAST)), f.range(0, count) as channel:
        f.call("copy", (f.offset(of_columns, channel * w_o), w_t, f.offset(temporary, channel * (TAPS * row)), step, taps, lanes * SIZE))


class _Block(NamedTuple):
    """A block of tiles: its first image, tile row and tile column, and how many there are of each."""

    first: Value
    row: Value
    column: Value
    images: Value
    rows: Value
    columns: Value


def _write_main(w: Writer, tile: micro.Tile) -> None:
    f = w.function
    with f.range(w.begin, w.end) as unit:
        part, image, row, column = w.split(unit, "grid_n", "grid_h", "grid_w")
        first, row, column = image * w.word("block_n"), row * w.word("block_h"), column * w.word("block_w")
        block = _Block(first, row, column, smaller(f, w.word("images") - first, w.word("block_n")),
                       smaller(f, w.word("tiles_h") - row, w.word("block_h")), smaller(f, w.word("tiles_w") - column, w.word("block_w")))
        _write_inputs(w, block, tile.lanes)
        panel = part * w.word("at_once")
        panels = smaller(f, w.word("panels") - panel, w.word("at_once"))
        _write_products(w, block.images * block.rows * block.columns, panel, panels, tile)
        _write_outputs(w, block, unit, panel, panels, tile.lanes)
    f.give_back()


def _write_inputs(w: Writer, block: _Block, lanes: int) -> None:
    """The block's tiles of the input, one vector of channels after another."""
    f, vector = w.function, lanes * SIZE
    zero = f.constant(I64, 0)
    at = (zero, block.row * SIDE + w.word("origin_h"), block.column * SIDE + w.word("origin_w"))
    with f.range(0, w.word("depth"), lanes) as channel:
        strip = parts.write_stage(w, block.first, block.images, at, channel, smaller(f, w.word("depth") - channel, lanes), SIZE)
        target = f.offset(w.scratch(), w.word("v_at") + channel / lanes * w.word("v_chunk"))
        with f.range(zero, block.images) as image, f.range(zero, block.rows) as row:
            source = f.offset(strip, image * w.word("strip_image") + row * w.word("strip_row") * SIDE)
            end = f.offset(target, (image * block.rows + row) * block.columns * vector)
            f.call("transform_input", (source, w.word("strip_row"), end, w.word("v_point"), block.columns))


def _write_products(w: Writer, tiles: Value, panel: Value, panels: Value, tile: micro.Tile) -> None:
    f, vector = w.function, tile.lanes * SIZE
    large, small = tile.rows, tile.rows // 2
    rest = tiles - tiles / large * large
    whole = f.select(rest > small, tiles, tiles - rest)
    zero, depth, piece, row = f.constant(I64, 0), w.word("depth"), w.word("depth_piece"), VECTORS * vector
    with f.range(zero, f.constant(I64, POINTS)) as point, f.range(zero, depth, piece) as k, f.range(zero, panels) as number:
        a = f.offset(w.scratch(), w.word("v_at") + point * w.word("v_point") + k / tile.lanes * w.word("v_chunk"))
        b = f.offset(w.pointer("weights"), point * w.word("weights_point") + ((panel + number) * depth + k) * row)
        out = f.offset(w.scratch(), w.word("m_at") + point * w.word("m_point") + number * VECTORS * w.word("m_chunk"))
        steps = smaller(f, depth - k, piece)
        for start, stop, rows in ((zero, whole, large), (whole, tiles, small)):
            with f.range(start, stop, rows) as first:
                f.call(f"product_{rows}", (f.offset(a, first * vector), w.word("v_chunk"), b, f.offset(out, first * vector), w.word("m_chunk"),
                                           steps, k))


def _write_outputs(w: Writer, block: _Block, unit: Value, panel: Value, panels: Value, lanes: int) -> None:
    """The block's outputs, one vector of channels after another: written in place, or side by side in scratch memory and then transposed."""
    f, vector = w.function, lanes * SIZE
    zero, turned = f.constant(I64, 0), w.word("turned").differs(0)
    high = smaller(f, w.word("high") - block.row * SIDE, block.rows * SIDE)
    wide = smaller(f, w.word("wide") - block.column * SIDE, block.columns * SIDE)
    first = panel * (VECTORS * lanes)
    last = smaller(f, w.word("made"), first + panels * (VECTORS * lanes))
    corner = f.offset(w.pointer("out"), block.first * w.word("out_n") + block.row * SIDE * w.word("out_h") + block.column * SIDE * w.word("out_w"))
    flag = f.offset(w.pointer("flags"), unit * 8)
    with f.range(first, last, lanes) as lane:
        target = f.offset(corner, lane * w.word("out_c"))
        region = f.offset(w.scratch(), w.word("region_at"))
        place, pixel = f.select(turned, region, target), f.select(turned, vector, w.word("out_w"))
        line = f.select(turned, wide * vector, w.word("out_h"))
        image_step = f.select(turned, high * wide * vector, w.word("out_n"))
        here = f.select(turned, lanes, last - lane)
        source = f.offset(w.scratch(), w.word("m_at") + (lane - first) / lanes * w.word("m_chunk"))
        bias = f.offset(w.pointer("bias"), lane * SIZE)
        with f.range(zero, block.images) as image, f.range(zero, block.rows) as row:
            f.call("transform_output", (f.offset(source, (image * block.rows + row) * block.columns * vector), w.word("m_point"), block.columns,
                                        f.offset(place, image * image_step + row * SIDE * line), line, pixel, high - row * SIDE, wide, here, bias, flag))
        with f.when(turned):
            whole = wide.equals(w.word("wide"))
            lines, length = f.select(whole, 1, high), f.select(whole, high * wide, wide)
            with f.range(zero, block.images) as image, f.range(zero, lines) as row:
                f.call("transpose", (f.offset(region, image * image_step + row * line), f.constant(I64, vector),
                                     f.offset(target, image * w.word("out_n") + row * w.word("out_h")), w.word("out_c"), length,
                                     smaller(f, last - lane, lanes)))


# -- plans ---------------------------------------------------------------------------------------------------------------------------


class Operands(NamedTuple):
    """Sizes and strides (bytes) of a call: x (N, sum channels, H, W), out (N, made channels, high, wide)."""

    x_shape: tuple[int, ...]
    x_strides: tuple[int, ...]
    made: int
    out_size: tuple[int, int]
    padding: tuple[int, int]
    backward: bool  # the weight is (sum, made, 3, 3) and flipped, else (made, sum, 3, 3)
    w_last: bool  # the weight's channels are innermost
    last: bool  # so are the output's


class Plan(NamedTuple):
    """All of a call but addresses."""

    words: dict[str, int]
    slot_bytes: int
    weight_bytes: int
    temporary_bytes: int
    lanes: int  # of all panels


def line_bytes(count: int) -> int:
    """Bytes rounded up to whole cache lines, an odd number of them: what lies so far apart does not fall upon each other in the cache."""
    return (-(-count // 64) | 1) * 64


def chosen(images: int, rows: int, columns: int, tile_rows: int, most: int) -> tuple[int, int, int]:
    """Images, tile rows and tile columns of a block: at most `most` tiles, in whole rows where they fit, wasting little of the product's tiles."""
    if columns > most:
        count = -(-columns // most)
        return 1, 1, -(-columns // count)

    def waste(total: int, each: int, parts: int) -> float:
        """Time for all blocks, in tiles."""
        half = tile_rows // 2
        sizes = [each] * (total // each) + ([total % each] if total % each else [])
        return parts * sum(-(-size * unit // half) * half + 8 for size in sizes)

    if rows * columns <= most:
        unit = rows * columns
        count = min(range(1, min(images, most // unit) + 1), key=lambda n: (waste(images, n, 1), n))
        return count, rows, columns
    unit = columns
    count = min(range(1, min(rows, most // unit) + 1), key=lambda n: (waste(rows, n, images), n))
    return 1, count, columns


@functools.lru_cache(maxsize=128)
def plan(o: Operands, host: Host) -> Plan:
    """Blocks and words for a call."""
    tile = micro.tile(host, micro.FLOAT32, VECTORS)
    lanes, vector = tile.lanes, tile.lanes * SIZE
    images, depth = o.x_shape[:2]
    tiles_h, tiles_w = (-(-n // SIDE) for n in o.out_size)
    panels, chunks = -(-o.made // (VECTORS * lanes)), -(-depth // lanes)
    heavy = POINTS * SIZE * depth * o.made > HEAVY
    units = HEAVY_UNITS if heavy else LIGHT_UNITS
    most = HEAVY_TILES if heavy else min(LIGHT_TILES, max(tile.rows, images * tiles_h * tiles_w // units))
    block = chosen(images, tiles_h, tiles_w, tile.rows, most)
    half = tile.rows // 2
    tiles = -(-block[0] * block[1] * block[2] // half) * half
    grid = (-(-images // block[0]), -(-tiles_h // block[1]), -(-tiles_w // block[2]))
    pieces = grid[0] * grid[1] * grid[2]
    at_once = -(-panels // min(panels, max(1, -(-units // pieces))))
    words = dict.fromkeys(WORDS, 0)
    words.update(zip(("x_n", "x_c", "x_h", "x_w"), o.x_strides, strict=True))
    strip_h, strip_w = block[1] * SIDE + 2, block[2] * SIDE + 2
    row = line_bytes(strip_w * vector)
    words.update(size_d=1, size_h=o.x_shape[2], size_w=o.x_shape[3], gap_d=1, gap_h=1, gap_w=1, strip_d=1, strip_h=strip_h, strip_w=strip_w,
                 pitch=vector, strip_row=row, strip_image=strip_h * row, channels=lanes, stage=COPY if o.x_strides[1] == SIZE else TRANSPOSE)
    v_chunk, m_chunk = tiles * vector, tiles * vector
    v_point, m_point = line_bytes(chunks * v_chunk), line_bytes(at_once * VECTORS * m_chunk)
    v_at = -(-block[0] * strip_h * row // 64) * 64
    m_at = v_at + POINTS * v_point
    region_at = m_at + POINTS * m_point
    slot = region_at + (0 if o.last else tiles * SIDE * SIDE * vector)
    words.update(scratch_slot=slot, v_at=v_at, v_point=v_point, v_chunk=v_chunk, m_at=m_at, m_point=m_point, m_chunk=m_chunk, region_at=region_at)
    weight_row = VECTORS * vector
    weights_point = line_bytes(panels * depth * weight_row)
    words.update(_weight_words(o, weight_row), weights_point=weights_point, pieces=-(-depth // PIECE), pack_units=panels * -(-depth // PIECE))
    turn = 2 if o.backward else 0
    words.update(zip(("grid_n", "grid_h", "grid_w"), grid, strict=True))
    words.update(zip(("block_n", "block_h", "block_w"), block, strict=True))
    words.update(units=pieces * -(-panels // at_once), panels=panels, at_once=at_once, images=images, tiles_h=tiles_h, tiles_w=tiles_w,
                 origin_h=(o.padding[0] - turn if turn else -o.padding[0]), origin_w=(o.padding[1] - turn if turn else -o.padding[1]),
                 depth=depth, depth_piece=DEPTH * max(1, depth // (4 * DEPTH)), made=o.made, high=o.out_size[0], wide=o.out_size[1], turned=int(not o.last))
    high, wide = o.out_size
    strides = (high * wide * o.made, 1, wide * o.made, o.made) if o.last else (o.made * high * wide, high * wide, wide, 1)
    words.update((name, s * SIZE) for name, s in zip(("out_n", "out_c", "out_h", "out_w"), strides, strict=True))
    return Plan(words, slot, POINTS * weights_point, PIECE * TAPS * weight_row, panels * VECTORS * lanes)


def _weight_words(o: Operands, row: int) -> dict[str, int]:
    inner = o.made if o.backward else o.x_shape[1]
    stride_c, stride_t = (SIZE, SIZE * inner) if o.w_last else (TAPS * SIZE, SIZE)
    order = (COLUMNS_LAST if o.w_last else COLUMNS) if o.backward else (ROWS_LAST if o.w_last else ROWS)
    first, following = ((TAPS - 1) * row, -row) if o.backward else (0, row)
    return {"w_o": inner * TAPS * SIZE, "w_c": stride_c, "w_t": stride_t, "order": order, "first_tap": first, "next_tap": following}


def pays(depth: int, made: int, tiles: int, pixels: int) -> bool:
    """Whether the direct kernel would take longer by more than a seventh, as measured: all in products of numbers, the transforms too."""
    product, direct = POINTS * tiles * depth * made, TAPS * pixels * depth * made
    return product + INPUT_COST * tiles * (depth + made) + WEIGHT_COST * depth * made < 0.85 * direct


# -- calls ---------------------------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=8)
def _driver(host: Host) -> int:
    return jit.kernel("winograd", (), functools.partial(build, host)).address("winograd")


def convolve(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray, padding: tuple[int, int], last: bool, w_last: bool,
             backward: bool) -> bool:
    """Fill `out` (N, made, high, wide) from x (N, sum, H, W) and w, or leave it: whether that was done.

    Sizes that do not pay are left to the direct kernel, and results that are not finite. Forward w is (made, sum, 3, 3); backward it is
    (sum, made, 3, 3), `out` the gradient of a convolution's input and `padding` that convolution's.
    """
    (images, depth), made, (high, wide) = x.shape[:2], out.shape[1], out.shape[2:]
    if min(depth, made) < CHANNELS or not pays(depth, made, images * -(-high // SIDE) * -(-wide // SIDE), images * high * wide):
        return False
    return run(Operands(x.shape, x.strides, made, (high, wide), padding, backward, w_last, last), x, w, bias, out)


def run(o: Operands, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray) -> bool:
    """Fill `out`: dense, channels innermost or row-major. The weight is dense; x has channels or pixels side by side.

    False where a result is not finite: infinities and NaNs reach more outputs than they should, and what is in `out` means nothing.
    """
    host = jit.host()
    p = plan(o, host)
    words, slots = p.words, pool.slots()
    weights = blocks.empty((p.weight_bytes + 64,), np.uint8)
    scratch = blocks.empty((slots * (p.slot_bytes + p.temporary_bytes) + SLACK,), np.uint8)
    wide = np.zeros(p.lanes, np.float32)
    if bias is not None:
        wide[:o.made] = bias
    flags = np.zeros(words["units"], np.int64)
    place = -(-blocks.address(scratch) // 64) * 64
    own = {"x": blocks.address(x), "w": blocks.address(w), "weights": -(-blocks.address(weights) // 64) * 64, "scratch": place,
           "temporary": place + slots * p.slot_bytes, "bias": blocks.address(wide), "out": blocks.address(out), "flags": blocks.address(flags)}
    pool.call(_driver(host), pool.arguments(*(own[name] if name in own else words[name] for name in WORDS)))
    return not flags.any()
