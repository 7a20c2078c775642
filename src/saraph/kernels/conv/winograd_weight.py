"""The gradient of a 3 x 3 convolution's weight (stride 1) by Winograd's filtering, in float32: 36 products for 144, as in winograd.py.

It is the gradient of that computation in the transformed weight: for each of the 36 points the product of the input's tiles, transposed, and the
gradient's tiles, summed over all tiles. Every share of the tiles is summed into matrices of its own; these are added up in a fixed order and
transformed back. Errors of the results against float64 (root of the mean square, relative to that of the result; normal data) are 0.9 millionths for
16 x 56 x 56 pixels and 64 channels, 0.7 in the direct kernel; 0.8 and 0.5 for 32 x 14 x 14 and 256, 0.6 and 0.5 for 32 x 7 x 7 and 512.
"""
from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.conv import parts
from saraph.kernels.conv.moving import smaller, write_moving
from saraph.kernels.conv.parts import COPY, STRIP, TRANSPOSE, Writer
from saraph.kernels.conv.winograd import (
    CHANNELS,
    POINTS,
    REACH,
    SIDE,
    SIZE,
    SLACK,
    TAPS,
    VECTORS,
    A,
    B,
    Line,
    both_ways,
    chosen,
    input_line,
    line_bytes,
    write_input,
)
from saraph.kernels.gemm import micro
from saraph.kernels.ir import FLOAT, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.processor import Host

TILES = 56  #: of a block: what is summed in one go
SHARES = 8
UNITS = 4  #: what work is split into at least
TOTAL_BYTES = 48 << 20  #: of all matrices
PIECE = 16  #: channels of the weight that are transformed back in one unit
#: What a tile of one channel, and the matrices of a pair of channels in every share, cost, in products of numbers.
TILE_COST, MATRIX_COST = 450, 3000

WORDS = (*STRIP, *("g_" + name for name in STRIP), "units", "shares", "share", "pieces", "panels", "at_once", "grid_h", "grid_w", "images", "block_n",
         "block_h", "block_w", "tiles_h", "tiles_w", "origin_h", "origin_w", "depth", "made", "v_at", "v_point", "v_chunk", "d_at", "d_point",
         "d_chunk", "matrices", "matrix", "matrix_point", "matrix_row", "rows", "out", "out_o", "last", "finish_units", "finish_pieces", "flags")


def _gradient_line(f: Function, g: Line) -> list[Value]:
    made = [g[0]]
    for point in (A, B):
        even, odd = f.fma(g[2], point ** 2, g[0]), f.fma(g[3], point ** 3, g[1] * point)
        made += [even + odd, even - odd]
    return [*made, g[3]]


def _weight_line(f: Function, m: Line) -> list[Value]:
    a, b = A * A, B * B
    scale_a, scale_b = 1 / (2 * a * (a - b)), 1 / (2 * b * (b - a))
    sum_a, less_a, sum_b, less_b = m[1] + m[2], m[1] - m[2], m[3] + m[4], m[3] - m[4]
    return [f.fma(m[0], 1 / (a * b), f.fma(sum_b, scale_b, sum_a * scale_a)), f.fma(less_b, B * scale_b, less_a * (A * scale_a)),
            f.fma(sum_b, b * scale_b, f.fma(sum_a, a * scale_a, m[5]))]


def _tile(host: Host) -> micro.Tile:
    lanes = host.vector_bytes // SIZE
    return micro.Tile(min(lanes, 8 if host.vector_registers >= 32 else 4), VECTORS, lanes)


def build(host: Host) -> str:
    """The module."""
    tile = _tile(host)
    module = Module()
    module.declare(pool.PARALLEL)
    write_moving(module, FLOAT, tile.lanes)
    kind = FLOAT.vector(tile.lanes)
    write_input(module, "transform_input", kind, REACH, input_line)
    write_input(module, "transform_gradient", kind, SIDE, _gradient_line)
    _write_product(module, tile)
    _write_share(Writer(module, "share", WORDS), tile)
    _write_finish(Writer(module, "finish", WORDS), kind)
    driver = module.function("winograd_weight", (("args", POINTER),))
    args = driver.parameters[0]
    for task, units in (("share", "units"), ("finish", "finish_units")):
        count = driver.load(I64, driver.offset(args, 8 * WORDS.index(units)))
        driver.call("saraph_parallel", (driver.address_of(task), args, count, driver.constant(I64, 1)))
    driver.give_back()
    return module.text()


def _write_product(module: Module, tile: micro.Tile) -> None:
    """Some channels of the input by a panel of the gradient's, summed over `count` tiles: stored, or added to what is there."""
    f = module.function("product", (("a", POINTER), ("b", POINTER), ("b_chunk", I64), ("out", POINTER), ("out_row", I64), ("count", I64), ("add", I64)))
    a, b, b_chunk, out, out_row, count, add = f.parameters
    kind = FLOAT.vector(tile.lanes)
    totals = micro.accumulate(f, micro.FLOAT32, tile, count, lambda k, i: f.offset(f.offset(a, k * kind.size), i * SIZE),
                              lambda k, j: f.load(kind, f.offset(f.offset(b, k * kind.size), b_chunk * j)))

    def store(more: bool) -> None:
        for row in range(tile.rows):
            at = f.offset(out, out_row * row)
            for v in range(VECTORS):
                place = f.offset(at, v * kind.size)
                f.store(totals[row][v] + f.load(kind, place) if more else totals[row][v], place)

    f.either(add.differs(0), lambda: store(True), lambda: store(False))
    f.give_back()


def _write_share(w: Writer, tile: micro.Tile) -> None:
    f, vector = w.function, tile.lanes * SIZE
    gradient = w.prefixed("g_", STRIP)
    zero = f.constant(I64, 0)
    with f.range(w.begin, w.end) as unit:
        part, share = w.split(unit, "shares")
        panel = part * w.word("at_once")
        panels = smaller(f, w.word("panels") - panel, w.word("at_once"))
        matrix = f.offset(w.pointer("matrices"), share * w.word("matrix") + panel * (VECTORS * vector))
        first_piece = share * w.word("share")
        with f.range(first_piece, smaller(f, first_piece + w.word("share"), w.word("pieces"))) as piece:
            image, row, column = w.split(piece, "grid_h", "grid_w")
            first, row, column = image * w.word("block_n"), row * w.word("block_h"), column * w.word("block_w")
            images, rows, columns = (smaller(f, w.word(total) - at, w.word(each)) for total, at, each in (
                ("images", first, "block_n"), ("tiles_h", row, "block_h"), ("tiles_w", column, "block_w")))
            lane = panel * (VECTORS * tile.lanes)
            lanes = smaller(f, w.word("made") - lane, panels * (VECTORS * tile.lanes))
            for own, kind, begin, count, origins in ((w, "v", zero, w.word("depth"), (w.word("origin_h"), w.word("origin_w"))),
                                                     (gradient, "d", lane, lanes, (zero, zero))):
                at = (zero, row * SIDE + origins[0], column * SIDE + origins[1])
                with f.range(zero, count, tile.lanes) as channel:
                    strip = parts.write_stage(own, first, images, at, begin + channel, smaller(f, count - channel, tile.lanes), SIZE)
                    target = f.offset(w.scratch(), w.word(kind + "_at") + channel / tile.lanes * w.word(kind + "_chunk"))
                    with f.range(zero, images) as n, f.range(zero, rows) as line:
                        source = f.offset(strip, n * own.word("strip_image") + line * own.word("strip_row") * SIDE)
                        end = f.offset(target, (n * rows + line) * columns * vector)
                        f.call("transform_input" if own is w else "transform_gradient",
                               (source, own.word("strip_row"), end, w.word(kind + "_point"), columns))
            _write_products(w, tile, matrix, panels, images * rows * columns, piece - first_piece)
    f.give_back()


def _write_products(w: Writer, tile: micro.Tile, matrix: Value, panels: Value, tiles: Value, add: Value) -> None:
    f, vector = w.function, tile.lanes * SIZE
    zero = f.constant(I64, 0)
    with f.range(zero, f.constant(I64, POINTS)) as point, f.range(zero, panels) as panel, f.range(zero, w.word("rows"), tile.rows) as row:
        a = f.offset(w.scratch(), w.word("v_at") + point * w.word("v_point") + row / tile.lanes * w.word("v_chunk") + (row & (tile.lanes - 1)) * SIZE)
        b = f.offset(w.scratch(), w.word("d_at") + point * w.word("d_point") + panel * VECTORS * w.word("d_chunk"))
        out = f.offset(matrix, point * w.word("matrix_point") + row * w.word("matrix_row") + panel * (VECTORS * vector))
        f.call("product", (a, b, w.word("d_chunk"), out, w.word("matrix_row"), tiles, add))


def _write_finish(w: Writer, kind: Type) -> None:
    """Add up the shares' matrices for some channels of the input and a vector of the output's, and transform the sum back."""
    f = w.function
    mask_type = I64.vector(kind.lanes)
    with f.range(w.begin, w.end) as unit:
        chunk, piece = w.split(unit, "finish_pieces")
        lane, first = chunk * kind.lanes, piece * PIECE
        lanes, count = smaller(f, w.word("made") - lane, kind.lanes), smaller(f, w.word("depth") - first, PIECE)
        mask, check = f.counting(mask_type) < lanes, f.variable(kind, 0)
        place = w.scratch()
        with f.range(0, count) as channel:
            start = f.offset(w.pointer("matrices"), (first + channel) * w.word("matrix_row") + lane * SIZE)
            sums = f.array(kind, POINTS)
            with f.range(0, f.constant(I64, POINTS)) as point:
                at = f.offset(start, point * w.word("matrix_point"))
                total = f.variable(kind, f.load(kind, at))
                with f.range(1, w.word("shares")) as share:
                    total.set(total.get() + f.load(kind, f.offset(at, share * w.word("matrix"))))
                f.store(total.get(), f.offset(sums, point * kind.size))
            square = [[f.load(kind, f.offset(sums, (row * REACH + column) * kind.size)) for column in range(REACH)] for row in range(REACH)]
            for tap, value in enumerate(v for line in both_ways(f, _weight_line, square) for v in line):
                check.set(f.fma(f.select(mask, value, 0.0), 0.0, check.get()))
                f.store(value, f.offset(place, (channel * TAPS + tap) * kind.size))
        step, out_o, size = f.constant(I64, kind.size), w.word("out_o"), f.constant(I64, SIZE)
        target = f.offset(w.pointer("out"), lane * out_o)

        def side_by_side(place: Value = place, target: Value = target) -> None:
            with f.range(0, f.constant(I64, TAPS)) as tap:
                end = f.offset(target, (tap * w.word("depth") + first) * size)
                f.call("transpose", (f.offset(place, tap * kind.size), step * TAPS, end, out_o, count, lanes))

        def taps_innermost(place: Value = place, target: Value = target) -> None:
            f.call("transpose", (place, step, f.offset(target, first * (TAPS * SIZE)), out_o, count * TAPS, lanes))

        f.either(w.word("last").differs(0), side_by_side, taps_innermost)
        bits = f.convert("bitcast", check.get().differs(0.0), Type(f"i{kind.lanes}"))
        with f.when(bits.differs(0)):
            f.store(f.constant(I64, 1), f.offset(w.pointer("flags"), unit * 8))
    f.give_back()


# -- plans and calls -------------------------------------------------------------------------------------------------------------------


class Operands(NamedTuple):
    """Sizes and strides (bytes) of a call: x (N, C, H, W), g (N, O, high, wide); `last`: the result's channels are innermost."""

    x_shape: tuple[int, ...]
    x_strides: tuple[int, ...]
    g_shape: tuple[int, ...]
    g_strides: tuple[int, ...]
    padding: tuple[int, int]
    last: bool


class Plan(NamedTuple):
    """All of a call but addresses."""

    words: dict[str, int]
    slot_bytes: int
    g_strip_at: int
    matrix_bytes: int


def _strip(prefix: str, shape: tuple[int, ...], strides: tuple[int, ...], high: int, wide: int, vector: int) -> dict[str, int]:
    row = line_bytes(wide * vector)
    names = {"x_n": strides[0], "x_c": strides[1], "x_h": strides[2], "x_w": strides[3], "size_d": 1, "size_h": shape[2], "size_w": shape[3], "gap_d": 1,
             "gap_h": 1, "gap_w": 1, "strip_d": 1, "strip_h": high, "strip_w": wide, "pitch": vector, "strip_row": row, "strip_image": high * row,
             "channels": vector // SIZE, "stage": COPY if strides[1] == SIZE else TRANSPOSE}
    return {prefix + name: value for name, value in names.items()}


@functools.lru_cache(maxsize=128)
def plan(o: Operands, host: Host) -> Plan:
    """Blocks and words for a call."""
    tile = _tile(host)
    lanes, vector = tile.lanes, tile.lanes * SIZE
    (images, depth), (made, high, wide) = o.x_shape[:2], o.g_shape[1:]
    tiles_h, tiles_w = -(-high // SIDE), -(-wide // SIDE)
    block = chosen(images, tiles_h, tiles_w, 2, TILES)
    tiles = block[0] * block[1] * block[2]
    grid = (-(-images // block[0]), -(-tiles_h // block[1]), -(-tiles_w // block[2]))
    pieces = grid[0] * grid[1] * grid[2]
    panels, chunks = -(-made // (VECTORS * lanes)), -(-depth // lanes)
    matrix_row = panels * VECTORS * vector
    matrix_point = line_bytes(chunks * lanes * matrix_row)
    matrix = POINTS * matrix_point
    share = -(-pieces // max(1, min(pieces, SHARES, TOTAL_BYTES // matrix)))
    shares = -(-pieces // share)
    at_once = -(-panels // min(panels, -(-UNITS // shares)))
    words = dict.fromkeys(WORDS, 0)
    strip_h, strip_w = block[1] * SIDE, block[2] * SIDE
    words.update(_strip("", o.x_shape, o.x_strides, strip_h + 2, strip_w + 2, vector))
    words.update(_strip("g_", o.g_shape, o.g_strides, strip_h, strip_w, vector))
    chunk = tiles * vector
    v_point, d_point = line_bytes(chunks * chunk), line_bytes(at_once * VECTORS * chunk)
    g_strip_at = -(-max(block[0] * words["strip_image"], PIECE * TAPS * vector) // 64) * 64
    v_at = g_strip_at + block[0] * words["g_strip_image"]
    d_at = v_at + POINTS * v_point
    slot = d_at + POINTS * d_point
    finish_pieces = -(-depth // PIECE)
    words.update(scratch_slot=slot, g_scratch_slot=slot, v_at=v_at, v_point=v_point, v_chunk=chunk, d_at=d_at, d_point=d_point, d_chunk=chunk,
                 units=shares * -(-panels // at_once), shares=shares, share=share, pieces=pieces, panels=panels, at_once=at_once, images=images,
                 tiles_h=tiles_h, tiles_w=tiles_w, origin_h=-o.padding[0], origin_w=-o.padding[1], depth=depth, made=made, matrix=matrix,
                 matrix_point=matrix_point, matrix_row=matrix_row, rows=depth, out_o=depth * TAPS * SIZE, last=int(o.last),
                 finish_pieces=finish_pieces, finish_units=-(-made // lanes) * finish_pieces)
    words.update(zip(("grid_h", "grid_w"), grid[1:], strict=True))
    words.update(zip(("block_n", "block_h", "block_w"), block, strict=True))
    return Plan(words, slot, g_strip_at, shares * matrix)


@functools.lru_cache(maxsize=8)
def _driver(host: Host) -> int:
    return jit.kernel("winograd_weight", (), functools.partial(build, host)).address("winograd_weight")


def pays(depth: int, made: int, tiles: int, pixels: int) -> bool:
    """Whether the direct kernel would take longer by more than a seventh, as measured: in products of numbers."""
    product, direct = POINTS * tiles * depth * made, TAPS * pixels * depth * made
    return product + TILE_COST * tiles * (depth + made) + MATRIX_COST * depth * made < 0.85 * direct


def convolve(x: np.ndarray, g: np.ndarray, out: np.ndarray, padding: tuple[int, int], last: bool) -> bool:
    """Fill `out` (O, C, 3, 3), row-major or with its channels innermost, or leave it: whether that was done.

    Sizes that do not pay are left to the direct kernel, and results that are not finite. x and g have channels or pixels side by side.
    """
    (images, depth), (made, high, wide) = x.shape[:2], g.shape[1:]
    if min(depth, made) < CHANNELS or not pays(depth, made, images * -(-high // SIDE) * -(-wide // SIDE), images * high * wide):
        return False
    return run(Operands(x.shape, x.strides, g.shape, g.strides, padding, last), x, g, out)


def run(o: Operands, x: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
    """Fill `out`. False where a result is not finite: what is in `out` then means nothing."""
    host = jit.host()
    p = plan(o, host)
    words = p.words
    matrices = blocks.empty((p.matrix_bytes + 64,), np.uint8)
    scratch = blocks.empty((pool.slots() * p.slot_bytes + SLACK,), np.uint8)
    flags = np.zeros(words["finish_units"], np.int64)
    place = -(-blocks.address(scratch) // 64) * 64
    own = {"x": blocks.address(x), "g_x": blocks.address(g), "out": blocks.address(out), "matrices": -(-blocks.address(matrices) // 64) * 64,
           "scratch": place, "g_scratch": place + p.g_strip_at, "flags": blocks.address(flags)}
    pool.call(_driver(host), pool.arguments(*(own[name] if name in own else words[name] for name in WORDS)))
    return not flags.any()
