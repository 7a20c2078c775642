"""The gradient of a convolution's weight in machine code.

The same tiles as for convolution, with the parts exchanged: rows are the places of a window's elements, the sum runs over pixels, the panel is a
piece of the output's gradient. Every unit of work sums a fixed share of the pixels into a matrix of its own; these are added up in a fixed order.
"""
from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.conv import geometry, parts
from saraph.kernels.conv.moving import smaller, write_moving
from saraph.kernels.conv.parts import STRIP, Writer
from saraph.kernels.conv.product import LANEWISE_PIXELS, PRODUCTS, SLACK, Operands, Plan, dimensions_of, is_direct, pitch_of, strip_words
from saraph.kernels.conv.tile import Shape, shape_of, write_strip, write_tiles
from saraph.kernels.ir import I64, POINTER, Module, Value
from saraph.kernels.processor import Host

PIXELS = 200  # of a step: their piece of the gradient stays in the nearest cache
STRIP_BYTES = 800 << 10
SHARE_BYTES = 512 << 10  # of a unit's matrix
TOTAL_BYTES = 32 << 20  # of all matrices
SHARE_PIXELS = 400  # at least, so that adding the matrices up costs little
UNITS = 32
ADD_ROWS = 64  # of matrices, added up in one unit

#: Words that every call has of its own: addresses.
OWN = ("x", "g", "out", "matrices", "scratch")
WORDS = (*OWN, *(word for word in STRIP if word not in OWN),
         "units", "shares", "share", "pieces", "super_blocks", "at_once", "grid_n", "grid_d", "grid_h", "grid_w", "images", "block_n",
         "block_h", "block_w", "origin_d", "origin_h", "origin_w", "advance_d", "advance_h", "advance_w", "counts_h", "counts_w", "group_out",
         "g_n", "g_d", "g_h", "g_w", "g_c", "g_turned", "panel_row", "strip_bytes", "steps", "columns", "rows", "outs", "matrix",
         "zeros", "out_o", "add_units", "add_pieces", "matrix_row")


def build(char: str, lanewise: bool) -> str:
    """The module for a dtype."""
    shape = shape_of(jit.host(), PRODUCTS[char], lanewise)
    module = Module()
    module.declare(pool.PARALLEL)
    write_moving(module, shape.element, shape.lanes)
    write_tiles(module, shape)
    _write_share(Writer(module, "share", WORDS), shape)
    _write_add(Writer(module, "add", WORDS), shape)
    driver = module.function("weight", (("args", POINTER),))
    args = driver.parameters[0]
    for task, units in (("share", "units"), ("add", "add_units")):
        count = driver.load(I64, driver.offset(args, 8 * WORDS.index(units)))
        driver.call("saraph_parallel", (driver.address_of(task), args, count, driver.constant(I64, 1)))
    driver.give_back()
    return module.text()


def _write_share(w: Writer, shape: Shape) -> None:
    function = w.function
    with function.range(w.begin, w.end) as unit:
        group, part, share = w.split(unit, "super_blocks", "shares")
        lane = part * w.word("at_once") * shape.width
        lanes = smaller(function, w.word("group_out") - lane, w.word("at_once") * shape.width)
        matrix = function.offset(w.pointer("matrices"), unit * w.word("matrix"))
        first = share * w.word("share")
        with function.range(first, smaller(function, first + w.word("share"), w.word("pieces"))) as piece:
            image, depth, height, width = w.split(piece, "grid_d", "grid_h", "grid_w")
            image, height, width = image * w.word("block_n"), height * w.word("block_h"), width * w.word("block_w")
            images = smaller(function, w.word("images") - image, w.word("block_n"))
            origins = [w.word(f"origin_{d}") + at * w.word(f"advance_{d}") for d, at in zip("dhw", (depth, height, width), strict=True)]
            channel, channels = (lane, lanes) if shape.lanewise else (group * w.word("channels"), w.word("channels"))
            base = parts.write_stage(w, image, images, origins, channel, channels, shape.size)
            pixels = (smaller(function, w.word("counts_h") - height, w.word("block_h"))
                      * smaller(function, w.word("counts_w") - width, w.word("block_w")))
            source = function.offset(w.pointer("g"), image * w.word("g_n") + depth * w.word("g_d") + height * w.word("g_h") + width * w.word("g_w")
                                     + (group * w.word("group_out") + lane) * w.word("g_c"))
            start = function.select(piece.equals(first), w.pointer("zeros"), function.convert("inttoptr", function.constant(I64, 0), POINTER))
            with function.range(0, lanes, shape.width) as lane_here:
                own = function.offset(base, lane_here * shape.size) if shape.lanewise else base
                _write_panel(w, shape, own, function.offset(source, lane_here * w.word("g_c")), function.offset(matrix, lane_here * shape.size),
                             smaller(function, lanes - lane_here, shape.width), images, pixels, start)
    function.give_back()


def _write_panel(w: Writer, shape: Shape, base: Value, source: Value, target: Value, lanes: Value, images: Value, pixels: Value,
                 start: Value) -> None:
    """One panel of the gradient: laid out with channels innermost, and multiplied."""
    function, row = w.function, w.word("panel_row")
    panel = function.offset(w.scratch(), w.word("strip_bytes"))
    with function.range(0, images) as image:
        end, begin = function.offset(panel, image * pixels * row), function.offset(source, image * w.word("g_n"))
        turned = w.word("g_turned").differs(0)
        function.either(turned,
                        lambda: function.call("transpose", (begin, w.word("g_c"), end, row, lanes, pixels)),
                        lambda: function.call("copy", (begin, w.word("g_w"), end, row, pixels, lanes * shape.size)))
    write_strip(function, shape, base, w.pointer("columns"), w.word("steps"), w.pointer("rows"), images * pixels, panel, row, target,
                w.pointer("outs"), start, lanes)


def _write_add(w: Writer, shape: Shape) -> None:
    """Add up the shares' matrices and turn the sum into the weight's order."""
    function = w.function
    kind = shape.element.vector(shape.lanes)
    with function.range(w.begin, w.end) as unit:
        group, part, piece = w.split(unit, "super_blocks", "add_pieces")
        row, length = piece * ADD_ROWS, w.word("matrix_row")
        rows = smaller(function, w.word("steps") - row, ADD_ROWS)
        first = (group * w.word("super_blocks") + part) * w.word("shares") * w.word("matrix") + row * length
        total = function.offset(w.pointer("matrices"), first)
        with function.range(0, rows * length, kind.size) as at:
            place = function.offset(total, at)
            value = function.variable(kind, function.load(kind, place))
            with function.range(1, w.word("shares")) as share:
                value.set(value.get() + function.load(kind, function.offset(place, share * w.word("matrix"))))
            function.store(value.get(), place)
        lane = part * w.word("at_once") * shape.width
        lanes = smaller(function, w.word("group_out") - lane, w.word("at_once") * shape.width)
        target = function.offset(w.pointer("out"), (group * w.word("group_out") + lane) * w.word("out_o") + row * shape.size)
        function.call("transpose", (total, length, target, w.word("out_o"), rows, lanes))
    function.give_back()


@functools.lru_cache(maxsize=128)
def plan(o: Operands, g_strides: tuple[int, ...], host: Host) -> Plan:
    """Blocks, tables and words for a call; `o` is that of the convolution, `o.w_last` the order of the result."""
    shape = shape_of(host, PRODUCTS[o.char], o.lanewise)
    size, width = shape.size, shape.width
    dimensions = dimensions_of(o)
    groups, (group_in, group_out) = o.groups, o.channels
    if o.lanewise:
        groups, group_out = 1, o.groups
    channels = min(width, o.groups) if o.lanewise else group_in
    block = geometry.choose_blocks(o.x_shape[0], dimensions, pitch_of(channels * size, o.lanewise), LANEWISE_PIXELS if o.lanewise else PIXELS,
                                   STRIP_BYTES)
    words = strip_words(o.x_shape, o.x_strides, dimensions, block, channels, size, is_direct(o, dimensions, host), o.lanewise)
    grid = (-(-o.x_shape[0] // block.images), dimensions[0].turns, -(-dimensions[1].turns // block.height), -(-dimensions[2].turns // block.width))
    words.update(zip(("grid_n", "grid_d", "grid_h", "grid_w"), grid, strict=True))
    columns, rows = _tables(o, words, dimensions, block, size)
    steps, count, pieces = len(columns), -(-group_out // width), int(np.prod(grid))
    at_once = 1 if o.lanewise else -(-count // min(count, -(-count * width * size * steps // SHARE_BYTES)))
    parts_all = groups * -(-count // at_once)
    row = at_once * width * size
    shares = min(-(-UNITS // parts_all), max(1, o.x_shape[0] * int(np.prod(o.out_size)) // SHARE_PIXELS), max(1, TOTAL_BYTES // (parts_all * steps * row)),
                 pieces)
    share = -(-pieces // shares)
    shares = -(-pieces // share)
    for d, dimension in zip("dhw", dimensions, strict=True):
        words[f"origin_{d}"], words[f"advance_{d}"] = dimension.origin, dimension.advance
    outs = np.arange(steps, dtype=np.int64) * row
    zeros = np.zeros(width, o.char)
    words.update(zip(("g_n", "g_c", "g_d", "g_h", "g_w"), g_strides, strict=True))
    panel = max(block.images * block.height * block.width, 1) * width * size
    words.update(units=parts_all * shares, shares=shares, share=share, pieces=pieces, super_blocks=-(-count // at_once), at_once=at_once,
                 images=o.x_shape[0], block_n=block.images, block_h=block.height, block_w=block.width, counts_h=o.out_size[1], counts_w=o.out_size[2],
                 group_out=group_out, g_turned=int(g_strides[1] != size and group_out > 1), panel_row=width * size, steps=steps, matrix=steps * row,
                 columns=blocks.address(columns), rows=blocks.address(rows), outs=blocks.address(outs), zeros=blocks.address(zeros),
                 out_o=steps * size, matrix_row=row, add_pieces=-(-steps // ADD_ROWS), add_units=parts_all * -(-steps // ADD_ROWS))
    words["scratch_slot"] = slot = words["strip_bytes"] + panel
    tail = pool.arguments(*(words[name] for name in WORDS[len(OWN):]))
    return Plan(words, tail, (columns, rows, outs), words["units"] * steps * row, slot, 0, 0, (0, 0), zeros)


def _tables(o: Operands, words: dict[str, int], dimensions: Any, block: geometry.Blocks, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets in the strip of a window's elements, in the order of the weight's memory, and of the windows."""
    row, pitch = words["strip_row"], words["pitch"]
    deep = words["x_d"] * words["gap_d"] if words["stage"] == parts.DIRECT else row * words["strip_h"]
    depth, height, width = dimensions
    taps = np.array([d * deep + h * row + w * pitch for _, d in depth.phases[0].taps for _, h in height.phases[0].taps
                     for _, w in width.phases[0].taps], np.int64)
    each = np.arange(o.w_shape[1], dtype=np.int64) * size
    columns = (taps[:, None] + each).ravel() if o.w_last else (each[:, None] + taps).ravel()
    image, j, i = np.arange(block.images)[:, None, None], np.arange(block.height)[:, None], np.arange(block.width)
    rows = image * words["strip_image"] + j * (height.mul * row) + i * (width.mul * pitch)
    return columns, np.ascontiguousarray(rows, np.int64)


@functools.lru_cache(maxsize=16)
def _driver(char: str, lanewise: bool, host: Host) -> int:
    return jit.kernel("convolution_weight", (char, lanewise), functools.partial(build, char, lanewise)).address("weight")


def run(o: Operands, x: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
    """Fill `out`, dense in the order that `o.w_last` says. g is dense, row-major or with its channels innermost."""
    host = jit.host()
    p = plan(o, g.strides, host)
    matrices = blocks.empty((p.panel_bytes,), np.uint8)
    scratch = blocks.empty((pool.slots() * p.slot_bytes + SLACK,), np.uint8)
    place = -(-blocks.address(scratch) // 64) * 64
    own = _pack_own(*map(blocks.address, (x, g, out, matrices)), place)
    pool.call(_driver(o.char, o.lanewise, host), own + p.tail)


_pack_own = struct.Struct(f"{len(OWN)}Q").pack
