"""The register-blocked inner product that matrix products, convolution and attention are made of.

    tile = micro.tile(jit.host(), micro.FLOAT32)            # 14 rows of 2 vectors of 16 lanes with AVX-512
    totals = micro.accumulate(
        function, micro.FLOAT32, tile, depth,
        lambda k, i: function.offset(a, (k * tile.rows + i) * 4),                                     # where the scalar (k, i) lies
        lambda k, j: function.load(FLOAT.vector(tile.lanes), function.offset(b, (k * tile.vectors + j) * tile.lanes * 4)))
    totals[i][j]                                            # the sum over k of a(k, i) * b(k, j), a vector

`accumulate` writes the loop over `depth` at the place where the function stands, and gives the totals back as Values that are good from there on.
`rows * vectors` accumulators stay in registers: at most what `tile` says. The order of the sum is that of k, each step one fused multiply-add
where the processor has it.

    a_at(k, i)   an address (POINTER): the scalar is loaded from there and repeated in every lane;
                 or a scalar Value, which is repeated; or a vector Value, which is used as it is
    b_at(k, j)   a vector Value of `product.element`
    start        the totals to begin with, [i][j]; zeros if not given
    unroll       steps of depth written out in one turn of the loop: 1 unless the tile is small

A `Product` is an instruction that multiplies and adds. FLOAT32 and FLOAT64 take one number per lane and step. BFLOAT16 takes a pair of neighbours in
depth in every 32-bit lane and adds both products to a float32; INT8 takes four (unsigned in a, signed in b) and adds to an int32: their
`element` is I32, their `group` 2 and 4, and `depth` counts groups. `available(host, product)` says whether the processor has it.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from saraph.kernels.ir import BFLOAT, DOUBLE, FLOAT, I32, I64, POINTER, Function, Type, Value
from saraph.kernels.processor import Host


class Product(NamedTuple):
    """An instruction that multiplies and adds in every lane."""

    name: str
    element: Type  # what a lane of an operand is loaded as
    group: int  # neighbours in depth that one lane holds
    total: Type  # what a lane of the sum is
    needs: tuple[str, ...]  # features of the processor, as LLVM spells them

    @property
    def total_name(self) -> str:
        """The dtype of the sums."""
        return {"float": "float32", "double": "float64"}.get(self.total.scalar, "int32")


FLOAT32 = Product("float32", FLOAT, 1, FLOAT, ())
FLOAT64 = Product("float64", DOUBLE, 1, DOUBLE, ())
BFLOAT16 = Product("bfloat16", I32, 2, FLOAT, ("avx512bf16",))
INT8 = Product("int8", I32, 4, I32, ("avx512vnni",))


class Tile(NamedTuple):
    """Accumulators that fit in the registers: `rows` rows of `vectors` vectors of `lanes` lanes."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """How many columns a row has."""
        return self.vectors * self.lanes


#: (vector registers, vectors in a row of the tile) -> rows: what leaves room for the row of b and for the scalars of a.
ROWS = {(32, 1): 24, (32, 2): 14, (32, 3): 8, (32, 4): 6, (16, 1): 12, (16, 2): 6, (16, 3): 4, (16, 4): 2}


def available(host: Host, product: Product) -> bool:
    """Whether the processor has the instruction (float products are made of what there is)."""
    return all(map(host.has, product.needs))


def tile(host: Host, product: Product, vectors: int = 2) -> Tile:
    """The largest tile with 1 to 4 vectors in a row: 14 x 2 with AVX-512, 6 x 2 with AVX2, 14 x 2 with NEON."""
    return Tile(ROWS[32 if host.vector_registers >= 32 else 16, vectors], vectors, host.vector_bytes // product.total.size)


def multiply_add(function: Function, product: Product, a: Value, b: Value, total: Value) -> Value:
    """total + a * b, lane by lane, for one group of depth."""
    if product.group == 1:
        return function.fma(a, b, total)
    bits = total.type.lanes * 32
    if product.group == 2:
        pairs = BFLOAT.vector(2 * total.type.lanes)
        a, b = (function.convert("bitcast", x, pairs) for x in (a, b))
        return function.intrinsic(f"x86.avx512bf16.dpbf16ps.{bits}", (), total.type, (total, a, b))
    return function.intrinsic(f"x86.avx512.vpdpbusd.{bits}", (), total.type, (total, a, b))


def accumulate(function: Function, product: Product, tile: Tile, depth: Value | int, a_at: Callable[[Value, int], Value],
               b_at: Callable[[Value, int], Value], start: Sequence[Sequence[Value]] | None = None, unroll: int = 1) -> list[list[Value]]:
    """The sums over k < depth of a(k, i) * b(k, j) for i < tile.rows and j < tile.vectors (see the module)."""
    depth = function.lift(depth, I64)
    kind = product.total.vector(tile.lanes)
    totals = [[function.variable(kind, 0 if start is None else start[i][j]) for j in range(tile.vectors)] for i in range(tile.rows)]

    def step(k: Value) -> None:
        row = [b_at(k, j) for j in range(tile.vectors)]
        for i in range(tile.rows):
            scalar = a_at(k, i)
            if scalar.type == POINTER:
                scalar = function.load(product.element, scalar)
            factor = function.lift(scalar, row[0].type)
            for j in range(tile.vectors):
                totals[i][j].set(multiply_add(function, product, factor, row[j], totals[i][j].get()))

    whole = depth if unroll == 1 else depth / unroll * unroll
    with function.range(0, whole, unroll) as k:
        for turn in range(unroll):
            step(k + turn if turn else k)
    if unroll > 1:
        with function.range(whole, depth) as k:
            step(k)
    return [[total.get() for total in row] for row in totals]
