"""Products of a few rows with a large matrix, as IR: C = alpha * A @ B + beta * D at the speed of reading B once.

The words of a call are those of the blocked product (blocked.WORDS). A unit is a block of `chunk` columns of one product of the batch.

* `along_depth`: the columns of B lie along depth (x @ weight^T). Several columns at a time, lanes over depth, one sum per lane; the lanes are added at the
  end, halves to halves.
* `along_columns`: the rows of B lie along columns (x @ b). Slices of DEPTH steps of a block of columns, sums in scratch memory in between.
"""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from saraph.kernels.emit import convert
from saraph.kernels.gemm.blocked import NO_ADDEND, ProductTask
from saraph.kernels.gemm.micro import Product, Tile, accumulate, multiply_add
from saraph.kernels.gemm.packing import STORED, smaller, widened
from saraph.kernels.ir import DOUBLE, I32, Module, Value

ROWS = 8  #: the most rows
DEPTH = 32  #: steps of depth of a slice
ACCUMULATORS = 16


class Thin(NamedTuple):
    """What is compiled into a module: `rows` rows of A in `a_dtype`, B and the result in `dtype`."""

    product: Product
    rows: int
    lanes: int
    dtype: str
    a_dtype: str


def source(thin: Thin) -> str:
    """The tasks `along_depth` and `along_columns`."""
    module = Module()
    if thin.product.group == 1:
        _AlongColumns(module, "along_columns", thin).write()
    _AlongDepth(module, "along_depth", thin).write()
    return module.text()


class _Thin(ProductTask):
    def __init__(self, module: Module, name: str, thin: Thin) -> None:
        super().__init__(module, name)
        self.thin = thin
        self.total, self.stored = thin.product.total, STORED[thin.dtype]
        self.names = {n: self.word(n) for n in (
            "a_row", "a_depth", "b_depth", "b_column", "c_row", "c_column", "d_row", "d_column", "d_kind", "depth", "columns", "chunk")}
        self.alpha, self.beta = (self._number(n) for n in ("alpha", "beta"))

    def _number(self, name: str) -> Value:
        number = self.function.convert("bitcast", self.word(name), DOUBLE)
        return number if self.total == DOUBLE else self.function.convert("fptrunc", number, self.total)

    def write(self) -> None:
        function = self.function
        column_blocks = self.word("column_blocks")
        with function.range(self.begin, self.end) as unit:
            number = unit / column_blocks
            first = (unit - number * column_blocks) * self.names["chunk"]
            offsets = self.batch_offsets(number, "abcd")
            self.a, self.b, self.c, self.d = (function.offset(self.pointer(n), o) for n, o in zip("abcd", offsets, strict=True))
            self.block(first, smaller(function, self.names["columns"], first + self.names["chunk"]))
        function.give_back()

    @abstractmethod
    def block(self, first: Value, last: Value) -> None:
        """The columns from `first` to before `last`."""

    def finish(self, value: Value, row: int, column: Value) -> None:
        """One number of the result."""
        function, names = self.function, self.names
        kept = function.variable(self.total, value * self.alpha)
        with function.when(names["d_kind"].differs(NO_ADDEND)):
            addend = function.load(self.stored, function.offset(self.d, names["d_row"] * row + column * names["d_column"]))
            kept.set(kept.get() + widened(function, addend, self.thin.dtype, self.total) * self.beta)
        result = convert(function, kept.get(), self.thin.product.total_name, self.thin.dtype)
        function.store(result, function.offset(self.c, names["c_row"] * row + column * names["c_column"]))


class _AlongDepth(_Thin):
    def block(self, first: Value, last: Value) -> None:
        count = max(1, ACCUMULATORS // self.thin.rows // 2 * 2)
        count = min(4, count)
        function = self.function
        whole = first + (last - first) / count * count
        with function.range(first, whole, count) as column:
            self._columns(column, count)
        with function.range(whole, last) as column:
            self._columns(column, 1)

    def _columns(self, column: Value, count: int) -> None:
        function, thin, names = self.function, self.thin, self.names
        lanes, group = thin.lanes, thin.product.group
        sums = [[function.variable(self.total.vector(lanes), 0) for _ in range(thin.rows)] for _ in range(count)]
        starts = [function.offset(self.b, (column + n) * names["b_column"]) for n in range(count)]
        rows = [function.offset(self.a, names["a_row"] * m) for m in range(thin.rows)]
        step = lanes * group

        def turn(k: Value, load: Callable[[str, Value], Value]) -> None:
            left = [load(thin.a_dtype, function.offset(row, k * STORED[thin.a_dtype].size)) for row in rows]
            for n, start in enumerate(starts):
                right = load(thin.dtype, function.offset(start, k * self.stored.size))
                for m, x in enumerate(left):
                    sums[n][m].set(multiply_add(function, thin.product, x, right, sums[n][m].get()))

        whole = names["depth"] / step * step
        with function.range(0, whole, step) as k:
            turn(k, self._load)
        with function.when(whole < names["depth"]):
            mask = function.counting(I32.vector(step)) < function.convert("trunc", names["depth"] - whole, I32)
            turn(whole, lambda dtype, place: self._load(dtype, place, mask))
        for n in range(count):
            for m in range(thin.rows):
                self.finish(self._added(sums[n][m].get()), m, column + n)

    def _load(self, dtype: str, place: Value, mask: Value | None = None) -> Value:
        function, thin = self.function, self.thin
        kind = STORED[dtype].vector(thin.lanes * thin.product.group)
        value = function.load(kind, place) if mask is None else function.load_masked(kind, place, mask)
        if thin.product.group == 1:
            return widened(function, value, dtype, self.total)
        return function.convert("bitcast", value, thin.product.element.vector(thin.lanes))

    def _added(self, vector: Value) -> Value:
        function, lanes = self.function, self.thin.lanes
        while lanes > 1:
            lanes //= 2
            vector = function.shuffle(vector, range(lanes)) + function.shuffle(vector, range(lanes, 2 * lanes))
        return function.extract(vector, 0)


class _AlongColumns(_Thin):
    def block(self, first: Value, last: Value) -> None:
        function, thin, names = self.function, self.thin, self.names
        vectors = min(8, max(2, 24 // thin.rows))
        self.tile = Tile(thin.rows, vectors, thin.lanes)
        self.scratch = function.offset(self.pointer("scratch"), self.slot * self.word("scratch_size"))
        self.row = (names["chunk"] + (self.tile.columns - 1)) / self.tile.columns * (self.tile.columns * self.total.size)
        with function.range(0, names["depth"], DEPTH) as k:
            part = smaller(function, names["depth"] - k, DEPTH)
            with function.range(first, last, self.tile.columns) as column:
                function.either((last - column) >= self.tile.columns,
                                partial(self._tile, k, part, first, column, None),
                                partial(self._tile, k, part, first, column, last))
        for m in range(thin.rows):
            with function.range(first, last) as column:
                place = function.offset(self.scratch, self.row * m + (column - first) * self.total.size)
                self.finish(function.load(self.total, place), m, column)

    def _tile(self, k: Value, part: Value, first: Value, column: Value, last: Value | None) -> None:
        function, names, tile = self.function, self.names, self.tile
        kind, stored = self.total.vector(tile.lanes), self.stored.vector(tile.lanes)
        b = function.offset(self.b, k * names["b_depth"] + column * self.stored.size)
        a = function.offset(self.a, k * names["a_depth"])
        masks = [None if last is None else function.counting(I32.vector(tile.lanes)) < function.convert("trunc", last - column - j * tile.lanes, I32)
                 for j in range(tile.vectors)]

        def load(step: Value, j: int) -> Value:
            place = function.offset(b, step * names["b_depth"] + j * stored.size)
            mask = masks[j]
            return widened(function, function.load(stored, place) if mask is None else function.load_masked(stored, place, mask), self.thin.dtype, self.total)

        places = [[function.offset(self.scratch, self.row * m + (column - first) * self.total.size + j * kind.size) for j in range(tile.vectors)]
                  for m in range(tile.rows)]
        fresh = function.lift(k.equals(0), k.equals(0).type.vector(tile.lanes))
        start = [[function.select(fresh, 0.0, function.load(kind, place)) for place in row] for row in places]
        sums = accumulate(function, self.thin.product, tile, part, lambda step, i: function.offset(a, step * names["a_depth"] + names["a_row"] * i), load,
                          start, 2)
        for row, values in zip(places, sums, strict=True):
            for place, value in zip(row, values, strict=True):
                function.store(value, place)
