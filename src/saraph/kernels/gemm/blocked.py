"""The blocked matrix product as IR: C = activation(alpha * A @ B + beta * D), for one matrix or a batch.

A unit of work is a block of rows and columns of one product. It packs its rows of A, block by block of depth, into scratch memory of its slot; B is packed
before, by all threads (the driver does so), or by the unit itself where that is little. The sum over depth is in the order of k inside a block of depth,
then block after block, so that an element's bits depend on the depth alone.

The words of a call are WORDS, in that order; strides are in bytes. `alpha` and `beta` are the bits of doubles.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from saraph.kernels import pool
from saraph.kernels.emit import convert
from saraph.kernels.gemm.micro import Product, Tile, accumulate
from saraph.kernels.gemm.packing import STORED, smaller, widened, write_pack
from saraph.kernels.ir import DOUBLE, I32, I64, POINTER, Function, Module, Type, Value

RANK = 5  #: dimensions of a batch, after merging
WORDS = ("a", "b", "c", "d", "rows", "columns", "depth", "a_row", "a_depth", "b_depth", "b_column", "c_row", "c_column", "d_row", "d_column",
         "d_kind", "alpha", "beta", "packed", "scratch", "scratch_size", "b_scratch", "sums", "depth_block", "row_blocks",
         "column_blocks", "shared", "batch", "first_column",
         "chunk", "batches", "rank", *(f"{kind}{k}" for kind in ("size", "a_batch", "b_batch", "c_batch", "d_batch") for k in range(RANK)))
INDEX = {name: index for index, name in enumerate(WORDS)}
NO_ADDEND, ADD_ROW, ADD_NUMBER = 0, 1, 2  #: d_kind: nothing, a row of numbers side by side, one number for a whole row
PACK_DEPTH = 64  #: steps of depth of a unit of packing
PACK_PANELS = 8  #: panels of a unit of packing


class Shape(NamedTuple):
    """What is compiled into a module."""

    product: Product
    tile: Tile
    dtype: str  # of A and B
    result: str  # of C and D
    activation: Callable[[Function, Value], Value] | None = None


def source(shape: Shape) -> str:
    """The module: `driver(args)` for B packed by all, `compute` as a task for units that pack B themselves."""
    module = Module()
    module.declare(pool.PARALLEL)
    write_pack(module, "pack", shape.product, shape.dtype, shape.tile.lanes)
    _write_micro(module, shape)
    _write_finish(module, shape)
    _Compute(module, shape).write()
    _PackB(module, shape).write()
    _write_driver(module, shape)
    return module.text()


def panel_step(shape: Shape) -> int:
    """Bytes of one group of depth of a panel of A."""
    return shape.tile.rows * shape.product.element.size


def _write_micro(module: Module, shape: Shape) -> None:
    """A whole tile: into `c`, or on top of what is there."""
    product, tile = shape.product, shape.tile
    function = module.function("micro", (("depth", I64), ("a", POINTER), ("b", POINTER), ("c", POINTER), ("row", I64), ("add", I64)))
    depth, a, b, c, row, add = function.parameters
    size, total = product.element.size, product.total.vector(tile.lanes)
    sums = accumulate(function, product, tile, depth, lambda k, i: function.offset(a, k * (tile.rows * size) + i * size),
                      lambda k, j: function.load(product.element.vector(tile.lanes), function.offset(b, k * (tile.columns * size) + j * tile.lanes * size)))

    def write(on_top: bool) -> None:
        place = c
        for line in sums:
            for j, value in enumerate(line):
                at = function.offset(place, j * total.size)
                function.store(function.load(total, at) + value if on_top else value, at)
            place = function.offset(place, row)

    function.either(add.equals(0), lambda: write(False), lambda: write(True))
    function.give_back()


def _write_finish(module: Module, shape: Shape) -> None:
    """What is left to do for a tile: its sums from `tile` (in `tile_row` bytes per row) to C, the epilogue with the last block of depth.

    `sums` is where the sums of earlier blocks are.
    """
    product, tile = shape.product, shape.tile
    names = ("tile", "tile_row", "sums", "sums_row", "c", "d", "rows", "columns", "first", "last")
    function = module.function("finish", (("args", POINTER), *((n, POINTER if n in ("tile", "sums", "c", "d") else I64) for n in names)))
    args, source, tile_row, sums, sums_row, c, d, rows, columns, first, last = function.parameters
    total = product.total.vector(tile.lanes)

    def word(name: str, kind: Type = I64) -> Value:
        return function.load(kind, function.offset(args, 8 * INDEX[name]))

    c_row, d_row, d_kind = word("c_row"), word("d_row"), word("d_kind")
    alpha, beta = (function.convert("fptrunc", number, product.total) if product.total.is_float and product.total != DOUBLE else number
                   for number in (word("alpha", DOUBLE), word("beta", DOUBLE)))
    stored = STORED.get(shape.result, product.total).vector(tile.lanes)

    def finished(value: Value, i: Value, j: Value, mask: Value) -> Value:
        if not product.total.is_float:
            return value
        kept = function.variable(total, value * alpha)
        place = function.offset(d, i * d_row)
        with function.when(d_kind.equals(ADD_ROW)):
            addend = function.load_masked(stored, function.offset(place, j * stored.size), mask)
            kept.set(kept.get() + widened(function, addend, shape.result, product.total) * beta)
        with function.when(d_kind.equals(ADD_NUMBER)):
            number = widened(function, function.load(stored.vector(0), place), shape.result, product.total)
            kept.set(kept.get() + function.lift(number * beta, total))
        return kept.get() if shape.activation is None else shape.activation(function, kept.get())

    with function.range(0, rows) as i:
        with function.range(0, function.lift(tile.vectors, I64)) as j:
            mask = function.counting(I32.vector(tile.lanes)) < function.convert("trunc", columns - j * tile.lanes, I32)
            value = function.variable(total, function.load(total, function.offset(source, i * tile_row + j * total.size)))
            earlier = function.offset(sums, i * sums_row + j * total.size)
            with function.when(first.equals(0)):
                value.set(value.get() + function.load_masked(total, earlier, mask))

            def keep() -> None:
                result = convert(function, finished(value.get(), i, j, mask), product.total_name, shape.result)
                function.store_masked(result, function.offset(c, i * c_row + j * stored.size), mask)

            function.either(last.equals(0), lambda: function.store_masked(value.get(), earlier, mask), keep)
    function.give_back()


class ProductTask:
    """A task whose words are WORDS."""

    def __init__(self, module: Module, name: str) -> None:
        self.function = module.function(name, pool.TASK)
        self.args, self.begin, self.end, self.slot = self.function.parameters

    def word(self, name: str) -> Value:
        return self.function.load(I64, self.function.offset(self.args, 8 * INDEX[name]))

    def pointer(self, name: str) -> Value:
        return self.function.load(POINTER, self.function.offset(self.args, 8 * INDEX[name]))

    def batch_offsets(self, number: Value, kinds: str) -> list[Value]:
        """Bytes from the start of each operand to its matrix of this number."""
        function = self.function
        offsets = [function.variable(I64, 0) for _ in kinds]
        left, rank = function.variable(I64, number), self.word("rank")
        with function.range(0, rank) as turn:
            at = (rank - 1 - turn) * 8
            size = function.load(I64, function.offset(function.offset(self.args, at), 8 * INDEX["size0"]))
            quotient = left.get() / size
            place = left.get() - quotient * size
            left.set(quotient)
            for kind, offset in zip(kinds, offsets, strict=True):
                step = function.load(I64, function.offset(function.offset(self.args, at), 8 * INDEX[f"{kind}_batch0"]))
                offset.set(offset.get() + place * step)
        return [offset.get() for offset in offsets]


class _Blocked(ProductTask):
    """A task of the blocked product."""

    def __init__(self, module: Module, name: str, shape: Shape) -> None:
        super().__init__(module, name)
        self.shape = shape

    def groups(self, depth: Value) -> Value:
        """Groups of depth that hold so many elements."""
        group = self.shape.product.group
        return depth if group == 1 else (depth + (group - 1)) / group

    def pack_panels(self, source: Value, across: Value, along: Value, count: Value, depth: Value, target: Value, width: int, panel: Value) -> None:
        """Pack `count` rows (or columns) of a matrix into panels of this width, `panel` bytes apart; a slice of depth after the other."""
        function, lanes = self.function, self.shape.tile.lanes
        size = self.shape.product.element.size
        step, groups = function.constant(I64, width * size), -(-width // lanes)
        with function.range(0, depth, PACK_DEPTH) as k:
            slice_depth = smaller(function, depth - k, PACK_DEPTH)
            with function.range(0, count, width) as i:
                place = function.offset(target, i / width * panel + k / self.shape.product.group * (width * size))
                for group in reversed(range(groups)):  # backwards: what lies over the end of a step is written again by the first group of the next
                    first = i + group * lanes
                    valid = smaller(function, count - first, min(lanes, width - group * lanes))
                    with function.when(valid > 0):
                        at = function.offset(source, first * across + k * along)
                        function.call("pack", [at, across, along, valid, slice_depth, function.offset(place, group * lanes * size), step])


class _PackB(_Blocked):
    """Units: slices of depth times groups of panels of the columns of this chunk."""

    def __init__(self, module: Module, shape: Shape) -> None:
        super().__init__(module, "pack_b", shape)

    def write(self) -> None:
        function, tile, size = self.function, self.shape.tile, self.shape.product.element.size
        columns, depth = self.word("chunk"), self.word("depth")
        wide = tile.columns * PACK_PANELS
        across, along, panel = self.word("b_column"), self.word("b_depth"), self.groups(depth) * (tile.columns * size)
        slices = (depth + (PACK_DEPTH - 1)) / PACK_DEPTH
        (offset,) = self.batch_offsets(self.word("batch"), "b")
        b = function.offset(self.pointer("b"), offset + self.word("first_column") * across)
        with function.range(self.begin, self.end) as unit:
            group = unit / slices
            k = (unit - group * slices) * PACK_DEPTH
            first = group * wide
            target = function.offset(self.pointer("packed"), group * PACK_PANELS * panel + k / self.shape.product.group * (tile.columns * size))
            self.pack_panels(function.offset(b, first * across + k * along), across, along, smaller(function, columns - first, wide),
                             smaller(function, depth - k, PACK_DEPTH), target, tile.columns, panel)
        function.give_back()


class _Compute(_Blocked):
    """Units: batch x blocks of rows x blocks of columns."""

    def __init__(self, module: Module, shape: Shape) -> None:
        super().__init__(module, "compute", shape)
        self.direct = shape.result == shape.product.total_name  # sums of earlier blocks of depth wait in C itself

    def write(self) -> None:
        function = self.function
        self.tile_place = function.array(self.shape.product.total.vector(self.shape.tile.lanes), self.shape.tile.rows * self.shape.tile.vectors)
        row_blocks, column_blocks = self.word("row_blocks"), self.word("column_blocks")
        with function.range(self.begin, self.end) as unit:
            rest = unit / column_blocks
            column_block = unit - rest * column_blocks
            number = rest / row_blocks
            self._unit(self.word("batch") + number, rest - number * row_blocks, column_block)
        function.give_back()

    def _span(self, length: Value, width: int, block: Value, blocks: Value) -> tuple[Value, Value]:
        """First element and number of elements of a block; blocks are whole tiles."""
        tiles = (length + (width - 1)) / width
        first = block * tiles / blocks * width
        return first, smaller(self.function, length, (block + 1) * tiles / blocks * width) - first

    def _unit(self, number: Value, row_block: Value, column_block: Value) -> None:
        function, tile, size, group = self.function, self.shape.tile, self.shape.product.element.size, self.shape.product.group
        depth, a_row, a_depth = self.word("depth"), self.word("a_row"), self.word("a_depth")
        first_row, rows = self._span(self.word("rows"), tile.rows, row_block, self.word("row_blocks"))
        in_chunk, columns = self._span(self.word("chunk"), tile.columns, column_block, self.word("column_blocks"))
        first_column = in_chunk + self.word("first_column")
        offsets = self.batch_offsets(number, "abcd")
        a = function.offset(self.pointer("a"), offsets[0] + first_row * a_row)
        stored = STORED.get(self.shape.result, self.shape.product.total).size
        self.c = function.offset(self.pointer("c"), offsets[2] + first_row * self.word("c_row") + first_column * stored)
        along_d = function.select(self.word("d_kind").equals(ADD_ROW), first_column * stored, 0)
        self.d = function.offset(self.pointer("d"), offsets[3] + first_row * self.word("d_row") + along_d)
        scratch = function.offset(self.pointer("scratch"), self.slot * self.word("scratch_size"))
        self.panel_b = self.groups(depth) * (tile.columns * size)
        shared = self.word("shared")
        local = function.offset(scratch, self.word("b_scratch"))
        self.b = function.select(shared.differs(0), function.offset(self.pointer("packed"), in_chunk / tile.columns * self.panel_b), local)
        with function.when(shared.equals(0)):
            at = function.offset(self.pointer("b"), offsets[1] + first_column * self.word("b_column"))
            self.pack_panels(at, self.word("b_column"), self.word("b_depth"), columns, depth, local, tile.columns, self.panel_b)
        if self.direct:
            self.sums, self.sums_row = self.c, self.word("c_row")
        else:
            self.sums = function.offset(scratch, self.word("sums"))
            self.sums_row = (columns + (tile.columns - 1)) / tile.columns * (tile.columns * self.shape.product.total.size)
        self.plain = self.word("d_kind").equals(NO_ADDEND) & self.word("alpha").equals(0x3FF0000000000000)
        block = self.word("depth_block")
        with function.range(0, depth, block) as k:
            part = smaller(function, depth - k, block)
            panel = self.groups(part) * (tile.rows * size) + tile.lanes * size
            self.pack_panels(function.offset(a, k * a_depth), a_row, a_depth, rows, part, scratch, tile.rows, panel)
            self._tiles(rows, columns, self.groups(part), k / group, function.convert("zext", k.equals(0), I64),
                        function.convert("zext", (k + block) >= depth, I64), scratch, panel)

    def _tiles(self, rows: Value, columns: Value, groups: Value, k: Value, first: Value, last: Value, a: Value, panel: Value) -> None:
        function, tile, product = self.function, self.shape.tile, self.shape.product
        total = product.total.size
        stored = STORED.get(self.shape.result, product.total).size
        c_row, d_row = self.word("c_row"), self.word("d_row")
        along_d = function.select(self.word("d_kind").equals(ADD_ROW), function.constant(I64, stored), 0)
        on_the_way = last.equals(0)
        if self.direct and self.shape.activation is None:
            on_the_way = on_the_way | self.plain
        with function.range(0, columns, tile.columns) as j:
            b = function.offset(self.b, j / tile.columns * self.panel_b + k * (tile.columns * product.element.size))
            with function.range(0, rows, tile.rows) as i:
                a_panel = function.offset(a, i / tile.rows * panel)
                sums = function.offset(self.sums, i * self.sums_row + j * total)
                whole = ((rows - i) >= tile.rows) & ((columns - j) >= tile.columns) & on_the_way

                def straight(sums: Value = sums, a_panel: Value = a_panel) -> None:
                    function.call("micro", [groups, a_panel, b, sums, self.sums_row, 1 - first])

                def by_finish(i: Value = i, sums: Value = sums, a_panel: Value = a_panel) -> None:
                    tile_row = function.constant(I64, tile.columns * total)
                    function.call("micro", [groups, a_panel, b, self.tile_place, tile_row, function.constant(I64, 0)])
                    place = function.offset(self.c, i * c_row + j * stored)
                    addend = function.offset(self.d, i * d_row + j * along_d)
                    function.call("finish", [self.args, self.tile_place, tile_row, sums, self.sums_row, place, addend,
                                             smaller(function, rows - i, tile.rows), smaller(function, columns - j, tile.columns), first, last])

                function.either(whole, straight, by_finish)


def _write_driver(module: Module, shape: Shape) -> None:
    """For every matrix of the batch and every chunk of columns: pack B, then compute."""
    function = module.function("driver", (("args", POINTER),))
    given = function.parameters[0]
    args = function.array(I64, len(WORDS))
    with function.range(0, function.constant(I64, len(WORDS))) as k:
        function.store(function.load(I64, function.offset(given, k * 8)), function.offset(args, k * 8))

    def word(name: str) -> Value:
        return function.load(I64, function.offset(given, 8 * INDEX[name]))

    def put(name: str, value: Value) -> None:
        function.store(value, function.offset(args, 8 * INDEX[name]))

    one = function.constant(I64, 1)
    chunk, columns, depth = word("chunk"), word("columns"), word("depth")
    slices = (depth + (PACK_DEPTH - 1)) / PACK_DEPTH
    wide = shape.tile.columns * PACK_PANELS
    with function.range(0, word("batches")) as batch:
        put("batch", batch)
        with function.range(0, columns, chunk) as first:
            part = smaller(function, columns - first, chunk)
            put("first_column", first)
            put("chunk", part)
            function.call("saraph_parallel", [function.address_of("pack_b"), args, (part + (wide - 1)) / wide * slices, one])
            function.call("saraph_parallel", [function.address_of("compute"), args, word("row_blocks") * word("column_blocks"), one])
    function.give_back()
