"""Convolution, and the gradient of its input, in machine code.

A weight is packed into panels once per call; then every unit of work lays a piece of the input with its border into a strip in scratch memory
(channels innermost, unless it can be used where it is) and multiplies it with the panels, tile by tile.
"""
from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.conv import geometry, parts
from saraph.kernels.conv.geometry import Dimension
from saraph.kernels.conv.moving import larger, smaller, write_moving, write_pairs
from saraph.kernels.conv.parts import COPY, DIRECT, PAIRS, STRIP, TRANSPOSE, Writer
from saraph.kernels.conv.tile import VECTORS, Shape, shape_of, write_strip, write_tiles
from saraph.kernels.gemm import micro
from saraph.kernels.ir import I64, POINTER, Module, Value
from saraph.kernels.processor import Host

#: By the character of what is multiplied: "i" is a pair of bfloat16 side by side, taken for one number of 4 bytes; the sums are float32.
PRODUCTS = {"f": micro.FLOAT32, "d": micro.FLOAT64, "i": micro.BFLOAT16}
DEPTH = 256  # steps of the sum whose piece of a panel stays in the nearest cache
PIXELS = 360  # outputs of a unit of work
STRIP_BYTES = 400 << 10
LANEWISE_BLOCKS = 4  # panels of channels in a strip, where every channel is on its own and channels lie side by side
LANEWISE_PIXELS = 2048
SLACK = 256  # bytes behind scratch memory: whole vectors reach beyond the last pixel's channels
UNITS = 16  # what work is split into at least, where there are as many blocks of channels
PACK_PIECE = 16  # channels, or steps of the sum, packed in one unit
LAY_PIECE = 32  # channels laid in one unit
#: How a weight of pairs lies: as rows of pairs; its channels apart, in bfloat16 or float32; side by side, in float32.
AS_PAIRS, APART, APART_WIDE, SIDE_WIDE = range(4)

#: Words that every call has of its own: addresses.
OWN = ("x", "w", "bias", "out", "panels", "scratch", "temporary", "shared")
WORDS = (*OWN, *(word for word in STRIP if word not in OWN),
         # packing
         "x_partner", "x_partners", "w_form", "w_pair", "w_partner", "w_partners", "w_o", "w_c", "w_t", "w_side", "taps",
         "tap_base", "tap_step", "panel_row", "steps", "blocks", "pack_pieces",
         "pack_units", "pack_steps", "lay_units", "group_in", "group_out", "piece", "inside", "own_panel",
         # the product
         "units", "at_once", "super_blocks", "grid_n", "grid_d", "grid_h", "grid_w", "images", "block_n", "block_h", "block_w",
         "origin_d", "origin_h", "origin_w", "advance_d", "advance_h", "advance_w", "phases", "phase_count", "bias_group",
         "out_n", "out_d", "out_h", "out_w", "out_c", "turned", "strip_bytes", "region_row", "region_h", "region_d", "whole",
         "step_d", "step_h", "step_w", "outputs_d", "outputs_h", "outputs_w")
#: Words of a phase: steps of its sum, where its panels begin, its tables, its place in depth, its counts in height and width.
PHASE = ("steps", "panel", "columns", "rows", "outs", "start_d", "count_h", "count_w")


def build(char: str, lanewise: bool) -> str:
    """The module for a dtype."""
    shape = shape_of(jit.host(), PRODUCTS[char], lanewise)
    module = Module()
    module.declare(pool.PARALLEL)
    write_moving(module, shape.element, shape.lanes)
    write_tiles(module, shape)
    pairs = char == "i"
    if pairs:
        write_pairs(module, shape.lanes)
    else:
        _write_pack(Writer(module, "pack_backward", WORDS), shape, _pack_backward)
    _write_pack(Writer(module, "pack_forward", WORDS, pairs), shape, _pack_forward)
    _write_lay(Writer(module, "lay", WORDS, pairs), shape)
    _write_main(Writer(module, "multiply", WORDS, pairs), shape)
    for name in ("forward",) if pairs else ("forward", "backward"):
        driver = module.function(name, (("args", POINTER),))
        args = driver.parameters[0]
        for task, units in ((f"pack_{name}", "pack_units"), ("lay", "lay_units"), ("multiply", "units")):
            count = driver.load(I64, driver.offset(args, 8 * WORDS.index(units)))
            driver.call("saraph_parallel", (driver.address_of(task), args, count, driver.constant(I64, 1)))
        driver.give_back()
    return module.text()


def _write_pack(w: Writer, shape: Shape, body: Any) -> None:
    """Panels: for every group and block of output lanes, steps x width."""
    function = w.function
    with function.range(w.begin, w.end) as unit:
        group, block, piece = w.split(unit, "blocks", "pack_pieces")
        lane = block * shape.width
        lanes = smaller(function, w.word("group_out") - lane, shape.width)
        panel = function.offset(w.pointer("panels"), (group * w.word("blocks") + block) * w.word("steps") * w.word("panel_row"))
        body(w, shape, group, lane, lanes, piece, panel)
    function.give_back()


def _pack_forward(w: Writer, shape: Shape, group: Value, lane: Value, lanes: Value, piece: Value, panel: Value) -> None:
    """The weight's rows (one an output channel) are transposed: they run along the steps already."""
    function = w.function
    step = piece * w.word("pack_steps")
    count = smaller(function, w.word("steps") - step, w.word("pack_steps"))
    _pack_steps(w, shape, group, lane, lanes, step, count, function.offset(panel, step * w.word("panel_row")))


def _pack_steps(w: Writer, shape: Shape, group: Value, lane: Value, lanes: Value, step: Value, count: Value, target: Value) -> None:
    """`count` steps of a panel, from `step` on."""
    function, row, each = w.function, w.word("panel_row"), w.word("w_o")
    start = function.offset(w.pointer("w"), (group * w.word("group_out") + lane) * each)
    if not w.pairs:
        function.call("transpose", (function.offset(start, step * shape.size), each, target, row, lanes, count))
        return
    form, taps = w.word("w_form"), w.word("taps")
    with function.when(form.equals(AS_PAIRS)):
        function.call("transpose", (function.offset(start, step * shape.size), each, target, row, lanes, count))
    with function.when(form.equals(SIDE_WIDE)):
        function.call("side_wide", (function.offset(start, step * (2 * shape.size)), each, target, row, lanes, count))
    for name, wanted in (("pair", APART), ("pair_wide", APART_WIDE)):
        with function.when(form.equals(wanted)), function.range(step / taps, (step + count) / taps) as pair:
            partners = function.select(pair < w.word("w_partners"), lanes, 0)
            function.call(name, (function.offset(start, pair * w.word("w_pair")), each, function.offset(target, (pair * taps - step) * row), row,
                                 lanes, taps, w.word("w_partner"), partners))


def _pack_backward(w: Writer, shape: Shape, group: Value, lane: Value, lanes: Value, piece: Value, panel: Value) -> None:
    """Lanes are the weight's second dimension; a step is an output channel and a tap, at the place that the tap's phase gives it."""
    function = w.function
    row, taps, zero = w.word("panel_row"), w.word("taps"), function.constant(I64, 0)
    stop = smaller(function, (piece + 1) * PACK_PIECE, w.word("group_in"))
    temporary = function.offset(w.pointer("temporary"), w.slot * taps * row)
    with function.range(piece * PACK_PIECE, stop) as channel:
        source = function.offset(w.pointer("w"), (group * w.word("group_in") + channel) * w.word("w_o") + lane * w.word("w_c"))
        side = w.word("w_side").differs(0)
        with function.when(w.word("w_side").equals(0)):
            function.call("transpose", (source, w.word("w_c"), temporary, row, lanes, taps))
        start, pitch = function.select(side, source, temporary), function.select(side, w.word("w_t"), row)
        with function.range(zero, taps) as tap:
            base = function.load(I64, function.offset(w.pointer("tap_base"), tap * 8))
            step = function.load(I64, function.offset(w.pointer("tap_step"), tap * 8))
            target = function.offset(panel, (base + channel * step) * row)
            with function.when(step > 0):  # no output is made of the other taps
                function.call("copy", (function.offset(start, tap * pitch), pitch, target, row, function.constant(I64, 1), lanes * shape.size))


def _write_lay(w: Writer, shape: Shape) -> None:
    """The strip of the only block of pixels, which all units share: some channels in each unit."""
    function = w.function
    origins = [w.word(f"origin_{d}") for d in "dhw"]
    with function.range(w.begin, w.end) as unit:
        channel = unit * LAY_PIECE
        parts.lay_rows(w, function.offset(w.pointer("x"), channel * w.word("x_c")), function.offset(w.pointer("shared"), channel * shape.size),
                       w.word("images"), origins, channel, smaller(function, w.word("channels") - channel, LAY_PIECE), shape.size, unit.equals(0))
    function.give_back()


def _write_main(w: Writer, shape: Shape) -> None:
    function = w.function
    with function.range(w.begin, w.end) as unit:
        outer, image, depth, height, width = w.split(unit, "grid_n", "grid_d", "grid_h", "grid_w")
        group, part = w.split(outer, "super_blocks")
        first, height, width = image * w.word("block_n"), height * w.word("block_h"), width * w.word("block_w")
        images = smaller(function, w.word("images") - first, w.word("block_n"))
        origins = [w.word(f"origin_{d}") + at * w.word(f"advance_{d}") for d, at in zip("dhw", (depth, height, width), strict=True)]
        block = part * w.word("at_once")
        lane = block * shape.width
        lanes = smaller(function, w.word("group_out") - lane, w.word("at_once") * shape.width)
        channel, channels = (lane, lanes) if shape.lanewise else (group * w.word("channels"), w.word("channels"))
        base = _write_base(w, shape, first, images, origins, channel, channels)
        turned = w.word("turned").differs(0)
        corner = (first * w.word("out_n") + depth * w.word("step_d") * w.word("out_d") + height * w.word("step_h") * w.word("out_h")
                  + width * w.word("step_w") * w.word("out_w") + (group * w.word("group_out") + lane) * w.word("out_c"))
        target = function.offset(w.pointer("out"), corner)
        region = function.offset(w.scratch(), w.word("strip_bytes"))
        with function.range(0, lanes, shape.width) as lane_here:
            end = function.offset(target, lane_here * w.word("out_c"))
            place = function.select(turned, region, end)
            own = function.offset(base, lane_here * shape.size) if shape.lanewise else base
            _write_phases(w, shape, own, place, group, block + lane_here / shape.width, lane + lane_here, lanes - lane_here,
                          (images, depth, height, width))
            with function.when(turned):
                _write_region(w, region, end, smaller(function, lanes - lane_here, shape.width), images, depth, height, width)
    function.give_back()


def _write_base(w: Writer, shape: Shape, first: Value, images: Value, origins: Sequence[Value], channel: Value, channels: Value) -> Value:
    """The strip: the one that is shared, or the unit's own."""
    function = w.function
    base = function.variable(POINTER, w.pointer("shared"))
    own = w.word("lay_units").equals(0)
    with function.when(own):
        base.set(parts.write_stage(w, first, images, origins, channel, channels, shape.size))
    return base.get()


def _write_phases(w: Writer, shape: Shape, base: Value, out: Value, group: Value, block: Value, lane: Value, lanes: Value,
                  at: tuple[Value, Value, Value, Value]) -> None:
    function = w.function
    images, depth, height, width = at
    zero, row = function.constant(I64, 0), w.word("panel_row")
    inside = w.word("inside").differs(0)
    panels = function.offset(w.pointer("panels"), (group * w.word("blocks") + block) * w.word("steps") * row)
    bias = function.offset(w.pointer("bias"), group * w.word("bias_group") + lane * shape.size)
    with function.range(zero, w.word("phase_count")) as number:
        record = function.offset(w.pointer("phases"), number * (8 * len(PHASE)))
        steps, panel, columns, rows, outs, start_d, count_h, count_w = (
            function.load(POINTER if name in ("columns", "rows", "outs") else I64, function.offset(record, 8 * k)) for k, name in enumerate(PHASE))
        high = smaller(function, w.word("block_h"), count_h - height)
        wide = smaller(function, w.word("block_w"), count_w - width)
        some = (depth * w.word("step_d") + start_d < w.word("outputs_d")) & (high > 0) & (wide > 0)
        with function.when(some), function.range(zero, larger(function, steps, 1), w.word("piece")) as step:
            count = smaller(function, steps - step, w.word("piece"))
            own = function.offset(w.scratch(), w.word("own_panel"))
            with function.when(inside):
                _pack_steps(w, shape, group, lane, smaller(function, lanes, shape.width), step, count, own)
            start = function.select(step.equals(0), bias, function.convert("inttoptr", zero, POINTER))
            write_strip(function, shape, base, rows, images * high * wide, function.offset(columns, step * 8), count,
                        function.select(inside, own, function.offset(panels, panel + step * row)), row, out, outs, start, lanes)


def _write_region(w: Writer, region: Value, target: Value, lanes: Value, images: Value, depth: Value, height: Value, width: Value) -> None:
    """What was made with channels innermost, into an output where pixels are, or of bfloat16."""
    function, zero = w.function, w.function.constant(I64, 0)
    high = smaller(function, w.word("block_h") * w.word("step_h"), w.word("outputs_h") - height * w.word("step_h"))
    wide = smaller(function, w.word("block_w") * w.word("step_w"), w.word("outputs_w") - width * w.word("step_w"))
    deep = smaller(function, w.word("step_d"), w.word("outputs_d") - depth * w.word("step_d"))
    whole = w.word("whole").differs(0)
    lines, length = function.select(whole, 1, high), function.select(whole, high * wide, wide)
    pixel = w.word("region_row")
    with function.range(zero, images) as image, function.range(zero, deep) as d, function.range(zero, lines) as line:
        start = function.offset(region, image * w.word("region_d") * w.word("step_d") + d * w.word("region_d") + line * w.word("region_h"))
        end = function.offset(target, image * w.word("out_n") + d * w.word("out_d") + line * w.word("out_h"))
        if w.pairs:
            function.either(w.word("out_c").equals(2),
                            lambda: function.call("narrow_copy", (start, pixel, end, w.word("out_w"), length, lanes)),
                            lambda: function.call("narrow_transpose", (start, pixel, end, w.word("out_c"), length, lanes)))
        else:
            function.call("transpose", (start, pixel, end, w.word("out_c"), length, lanes))


# -- plans -------------------------------------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """All of a call but addresses."""

    words: dict[str, int]
    tail: bytes  # all words but OWN
    keep: tuple[np.ndarray, ...]  # tables that the words point to
    panel_bytes: int
    slot_bytes: int
    temporary_bytes: int
    shared_bytes: int
    bias_shape: tuple[int, int]
    zero_bias: np.ndarray


class Operands(NamedTuple):
    """Sizes and strides (bytes) of a call, in three spatial dimensions."""

    char: str
    backward: bool
    x_shape: tuple[int, ...]
    x_strides: tuple[int, ...]
    w_shape: tuple[int, ...]
    w_last: bool  # the weight's channels are innermost
    out_size: tuple[int, ...]
    last: bool  # so are the output's
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    # of pairs (char "i"):
    apart: bool = False  # x has pixels side by side: x_strides[1] is that of two channels
    odd: bool = False  # the last channel is alone
    w_form: int = AS_PAIRS

    @property
    def lanewise(self) -> bool:
        """Whether every channel is on its own, and makes one."""
        return self.groups > 1 and self.x_shape[1] == self.groups and self.channels[1] == 1

    @property
    def channels(self) -> tuple[int, int]:
        """Of a group: summed over, and made."""
        return self.x_shape[1] // self.groups, (self.w_shape[1] if self.backward else self.w_shape[0] // self.groups)


def pitch_of(channel_bytes: int, lanewise: bool = False) -> int:
    """Bytes from one pixel of a strip to the next: an odd number of cache lines, so that neighbours do not fall upon each other in the cache."""
    if channel_bytes < 64 or lanewise:  # lanewise, neighbours are read one after the other
        return channel_bytes
    lines = -(-channel_bytes // 64)
    return 64 * (lines | 1)


def strip_words(shape: Sequence[int], strides: Sequence[int], dimensions: Sequence[Dimension], block: geometry.Blocks, channels: int, size: int,
                direct: bool, lanewise: bool) -> dict[str, int]:
    """The words of STRIP but addresses, and the strip's bytes under "strip_bytes"."""
    depth, height, width = dimensions
    words = dict(zip(("x_n", "x_c", "x_d", "x_h", "x_w"), strides, strict=True))
    lengths = (depth.strip(1), height.strip(block.height), width.strip(block.width))
    if direct:
        pitch, row, image = strides[4] * width.gap, strides[3] * height.gap, strides[0]
    else:
        pitch = pitch_of(channels * size, lanewise)
        row = pitch * lengths[2]
        image = row * lengths[0] * lengths[1]
    for d, dimension, length in zip("dhw", dimensions, lengths, strict=True):
        words[f"size_{d}"], words[f"gap_{d}"], words[f"strip_{d}"] = dimension.size, dimension.gap, length
    side = strides[1] == size or channels == 1
    words.update(pitch=pitch, strip_row=row, strip_image=image, channels=channels,
                 stage=DIRECT if direct else COPY if side else TRANSPOSE, strip_bytes=0 if direct else -(-block.images * image // 64) * 64)
    return words


def dimensions_of(o: Operands) -> tuple[Dimension, ...]:
    """The three dimensions of a call."""
    side = o.x_strides[1] == np.dtype(o.char).itemsize and not o.apart
    made = []
    for size, outputs, kernel, stride, padding, dilation, skip in zip(o.x_shape[2:], o.out_size, o.w_shape[2:], o.stride, o.padding, o.dilation,
                                                                      (True, True, side), strict=True):
        if o.backward:
            made.append(geometry.backward(size, outputs, kernel, stride, padding, dilation))
        else:
            made.append(geometry.forward(size, outputs, kernel, stride, padding, dilation, skip))
    return tuple(made)


def is_direct(o: Operands, dimensions: Sequence[Dimension], host: Host) -> bool:
    """Whether the input can be used where it lies: channels side by side, nothing beyond its border is touched, rows are a whole number apart."""
    size = np.dtype(o.char).itemsize
    side = o.x_strides[1] == size or o.x_shape[1] == 1
    if o.lanewise and o.x_shape[1] * size % (VECTORS * host.vector_bytes):
        return False  # whole vectors would reach beyond the last pixel
    if o.apart:
        return False
    inside = all(d.origin >= 0 and d.origin + ((d.turns - 1) * d.mul + d.reach) * d.gap < d.size for d in dimensions)
    return side and inside


@functools.lru_cache(maxsize=128)
def plan(o: Operands, host: Host) -> Plan:
    """Blocks, tables and words for a call."""
    shape = shape_of(host, PRODUCTS[o.char], o.lanewise)
    size, width = shape.size, shape.width
    dimensions = dimensions_of(o)
    groups, (group_in, group_out) = o.groups, o.channels
    if o.lanewise:
        groups, group_in, group_out = 1, 1, o.groups
    count = -(-group_out // width)
    at_once = (min(count, LANEWISE_BLOCKS) if o.x_strides[1] == size else 1) if o.lanewise else 0
    channels = min(at_once * width, o.groups) if o.lanewise else group_in
    pixels = LANEWISE_PIXELS // at_once if o.lanewise else PIXELS
    block = geometry.choose_blocks(o.x_shape[0], dimensions, pitch_of(channels * size, o.lanewise), pixels, STRIP_BYTES)
    words = strip_words(o.x_shape, o.x_strides, dimensions, block, channels, size, is_direct(o, dimensions, host), o.lanewise)
    grid = (-(-o.x_shape[0] // block.images), dimensions[0].turns, -(-dimensions[1].turns // block.height), -(-dimensions[2].turns // block.width))
    pieces = int(np.prod(grid)) * groups
    at_once = at_once or -(-count // min(count, max(1, -(-UNITS // pieces))))
    words.update(zip(("grid_n", "grid_d", "grid_h", "grid_w"), grid, strict=True))
    words.update(blocks=count, at_once=at_once, super_blocks=-(-count // at_once), units=pieces * -(-count // at_once), panel_row=width * size,
                 group_in=group_in, group_out=group_out, images=o.x_shape[0], block_n=block.images, block_h=block.height, block_w=block.width,
                 bias_group=count * width * size)
    for d, dimension in zip("dhw", dimensions, strict=True):
        words[f"origin_{d}"], words[f"advance_{d}"] = dimension.origin, dimension.advance
        words[f"step_{d}"], words[f"outputs_{d}"] = dimension.step, dimension.outputs
    region = _out_words(o, words, dimensions, block, width * size, size)
    keep = _phases(o, words, dimensions, block, size)
    _weight_words(o, words, size)
    alone = pieces == groups and not o.backward and not o.lanewise  # of every weight's panel, one unit has need
    panel_bytes = _pack_words(o, words, shape, alone)
    shared = 0
    if alone and groups == 1 < words["super_blocks"] and words["stage"] != DIRECT:
        shared, words["lay_units"] = words["strip_bytes"], -(-channels // LAY_PIECE)
    zero = np.zeros(groups * count * width, o.char)
    words["own_panel"] = words["strip_bytes"] + region
    words["scratch_slot"] = slot = words["own_panel"] + (words["piece"] * width * size if words["inside"] else 0)
    tail = pool.arguments(*(words[name] for name in WORDS[len(OWN):]))
    return Plan(words, tail, keep, panel_bytes, slot, words["taps"] * width * size if o.backward else 0, shared, (groups, count * width), zero)


def _weight_words(o: Operands, words: dict[str, int], size: int) -> None:
    """Strides and form of the weight."""
    taps = words["taps"]
    stride_c, stride_t = (size, size * o.w_shape[1]) if o.w_last else (taps * size, size)
    stride_o = o.w_shape[1] * taps * size
    if o.lanewise:  # a panel's lanes are the weight's first dimension
        stride_c = stride_o
    channels = 2 * o.w_shape[1] - o.odd  # of a weight that is to become pairs
    each = taps * (2 if o.w_form == APART else 4)
    if o.w_form != AS_PAIRS:
        stride_o = channels * each
    words.update(w_o=stride_o, w_c=stride_c, w_t=stride_t, w_side=int(stride_c == size), w_form=o.w_form, w_pair=2 * each, w_partner=each,
                 w_partners=channels // 2)
    words.update(x_partner=words["x_c"] // 2, x_partners=o.x_shape[1] - o.odd)
    if o.apart:
        words["stage"] = PAIRS


def _pack_words(o: Operands, words: dict[str, int], shape: Shape, alone: bool) -> int:
    """How the weight is packed: before all else, or piece by piece where it is used. The bytes of all panels."""
    steps, taps = words["steps"], words["taps"]
    whole = taps if o.w_form in (APART, APART_WIDE) else 1  # steps that are packed together
    inside = alone and whole <= DEPTH
    piece = DEPTH // whole * whole if inside else DEPTH
    pack = PACK_PIECE * (whole if whole > 1 else shape.lanes)
    pieces = -(-words["group_in"] // PACK_PIECE) if o.backward else max(1, -(-steps // pack))
    panels = o.groups if not o.lanewise else 1
    panels *= words["blocks"]
    words.update(inside=int(inside), piece=piece, pack_steps=pack, pack_pieces=pieces, pack_units=0 if inside else panels * pieces, lay_units=0)
    return 0 if inside else panels * max(steps, 1) * words["panel_row"]


def _out_words(o: Operands, words: dict[str, int], dimensions: Sequence[Dimension], block: geometry.Blocks, pixel: int, size: int) -> int:
    """The words of the output; gives the bytes of scratch it needs."""
    channels, (d, h, w) = o.channels[1] * o.groups, o.out_size
    strides = (d * h * w * channels, 1, h * w * channels, w * channels, channels) if o.last else (channels * d * h * w, d * h * w, h * w, w, 1)
    each = 2 if o.char == "i" else size
    words.update((name, s * each) for name, s in zip(("out_n", "out_c", "out_d", "out_h", "out_w"), strides, strict=True))
    whole = block.width == dimensions[2].turns
    wide = w if whole else block.width * dimensions[2].step
    high = min(block.height * dimensions[1].step, h)
    words.update(turned=int(o.char == "i" or not (o.last or channels == 1)), whole=int(whole), region_row=pixel,
                 region_h=pixel * wide, region_d=pixel * wide * high)
    return block.images * dimensions[0].step * pixel * wide * high if words["turned"] else 0


def _phases(o: Operands, words: dict[str, int], dimensions: Sequence[Dimension], block: geometry.Blocks, size: int) -> tuple[np.ndarray, ...]:
    """The table of phases and what it points to. A step of the sum is a channel and a tap, in the order of the weight's memory."""
    kernel = o.w_shape[2:]
    taps = kernel[0] * kernel[1] * kernel[2]
    channels = words["group_in"]
    base, step = np.zeros(max(taps, 1), np.int64), np.zeros(max(taps, 1), np.int64)
    records, keep, done = [], [base, step], 0
    if words["turned"]:
        out = (words["region_d"] * dimensions[0].step, words["region_d"], words["region_h"], words["region_row"])
    else:
        out = words["out_n"], words["out_d"], words["out_h"], words["out_w"]
    row, pitch = words["strip_row"], words["pitch"]
    deep = words["x_d"] * words["gap_d"] if words["stage"] == DIRECT else row * words["strip_h"]
    depth, height, width = dimensions
    for pd, ph, pw in ((a, b, c) for a in depth.phases for b in height.phases for c in width.phases):
        mine = [((td * kernel[1] + th) * kernel[2] + tw, d * deep + h * row + w * pitch)
                for td, d in pd.taps for th, h in ph.taps for tw, w in pw.taps]
        offsets = np.array([at for _, at in mine], np.int64)
        for rank, (tap, _) in enumerate(mine):
            base[tap], step[tap] = done + rank, len(mine)
        each = np.arange(channels, dtype=np.int64) * size
        columns = (offsets[:, None] + each).ravel() if o.w_last and not o.backward else (each[:, None] + offsets).ravel()
        image, j, i = np.arange(block.images)[:, None, None], np.arange(min(block.height, ph.length))[:, None], np.arange(min(block.width, pw.length))
        rows = np.ascontiguousarray(image * words["strip_image"] + j * (height.mul * row) + i * (width.mul * pitch), np.int64)
        outs = image * out[0] + pd.start * out[1] + (ph.start + height.step * j) * out[2] + (pw.start + width.step * i) * out[3]
        outs = np.ascontiguousarray(outs, np.int64)
        keep += [columns, rows, outs]
        records.append((len(columns), done * words["panel_row"], *(blocks.address(a) for a in (columns, rows, outs)), pd.start, ph.length, pw.length))
        done += len(columns)
    table = np.array(records, np.int64)
    words.update(steps=done, taps=taps, phases=blocks.address(table), phase_count=len(records), tap_base=blocks.address(base),
                 tap_step=blocks.address(step))
    return (table, *keep)


# -- calls -------------------------------------------------------------------------------------------------------------------------


def available(dtype: np.dtype) -> bool:
    """Whether there is machine code for this dtype."""
    return dtype.char in "fd" and jit.available()


def pairs_available() -> bool:
    """Whether the processor multiplies pairs of bfloat16."""
    return jit.available() and micro.available(jit.host(), micro.BFLOAT16)


@functools.lru_cache(maxsize=64)
def _driver(char: str, lanewise: bool, name: str, host: Host) -> int:
    return jit.kernel("convolution", (char, lanewise), functools.partial(build, char, lanewise)).address(name)


def run(o: Operands, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray) -> None:
    """Fill `out`: dense, channels innermost or row-major as `o.last` says. The weight is dense; x has channels or pixels side by side.

    Of pairs (char "i"), x, w and out are arrays of bfloat16 (w perhaps of float32), bias is float32.
    """
    host = jit.host()
    p = plan(o, host)
    slots = pool.slots()
    scratch = p.panel_bytes + p.shared_bytes
    temporary = scratch + slots * p.slot_bytes
    memory = blocks.empty((temporary + slots * p.temporary_bytes + SLACK,), np.uint8)
    wide = p.zero_bias
    if bias is not None:
        wide = np.zeros(p.bias_shape, bias.dtype)
        wide[:, :p.words["group_out"]] = bias.reshape(len(wide), -1)
    address = blocks.address
    place = -(-address(memory) // 64) * 64
    own = _pack_own(address(x), address(w), address(wide), address(out), place, place + scratch, place + temporary, place + p.panel_bytes)
    pool.call(_driver(o.char, o.lanewise, "backward" if o.backward else "forward", host), own + p.tail)


_pack_own = struct.Struct(f"{len(OWN)}Q").pack
