"""Packing: a matrix in any strides becomes panels in the order in which the inner product reads them.

A panel is so many rows (or columns) wide; for every step of depth it holds one element of each, side by side. `write_pack` writes a function that
packs one group of lanes of a panel:

    void pack(ptr source, i64 across, i64 along, i64 valid, i64 depth, ptr target, i64 step)

for lanes i < `lanes` and steps k < depth: target[k * step + i] = source[min(i, valid - 1) * across + k * along], strides and step in bytes. What a lane
beyond `valid` gets means nothing. Where a product takes pairs or fours of neighbours in depth, `depth` counts the elements and zeros fill up the last group.
"""
from __future__ import annotations

from collections.abc import Callable

from saraph.kernels.copying import transposed
from saraph.kernels.gemm.micro import Product
from saraph.kernels.ir import DOUBLE, FLOAT, HALF, I8, I16, I32, I64, POINTER, Function, Module, Type, Value

#: How the elements of matrices lie in memory.
STORED = {"float32": FLOAT, "float64": DOUBLE, "bfloat16": I16, "float16": HALF, "int8": I8, "uint8": I8}
PACK = (("source", POINTER), ("across", I64), ("along", I64), ("valid", I64), ("depth", I64), ("target", POINTER), ("step", I64))


def widened(function: Function, value: Value, dtype: str, kind: Type) -> Value:
    """Elements as they lie in memory, as the numbers `kind` that are multiplied."""
    if dtype == "bfloat16":
        return function.convert("bitcast", function.convert("zext", value, I32.like(value.type)) << 16, FLOAT.like(value.type))
    return value if value.type.scalar == kind.scalar else function.convert("fpext", value, kind.like(value.type))


def smaller(function: Function, a: Value, b: Value | int) -> Value:
    """The smaller of two integers."""
    return function.select(a < b, a, b)


def write_pack(module: Module, name: str, product: Product, dtype: str, lanes: int) -> None:
    """Write the function that packs a group of lanes of a matrix of `dtype` for `product`."""
    writer = _Pack(module.function(name, PACK), product, dtype, lanes)
    function = writer.function
    function.either(writer.across.equals(writer.stored.size), writer.straight,
                    lambda: function.either(writer.along.equals(writer.stored.size), writer.turned, lambda: writer.one_by_one(function.constant(I64, 0))))
    function.give_back()


class _Pack:
    def __init__(self, function: Function, product: Product, dtype: str, lanes: int) -> None:
        self.function, self.product, self.dtype, self.lanes = function, product, dtype, lanes
        self.stored = STORED[dtype]
        self.source, self.across, self.along, self.valid, self.depth, self.target, self.step = function.parameters

    def _store(self, value: Value, k: Value, lane: Value | int = 0) -> None:
        place = self.function.offset(self.target, k * self.step)
        self.function.store(value, place if isinstance(lane, int) else self.function.offset(place, lane * self.product.element.size))

    def _grouped(self, parts: list[Value]) -> Value:
        """Small integers side by side in one lane."""
        function, kind = self.function, I32.like(parts[0].type)
        value = function.convert("zext", parts[0], kind)
        for number, part in enumerate(parts[1:], 1):
            value = value | (function.convert("zext", part, kind) << (8 * self.stored.size * number))
        return value

    def _steps(self, step: Callable[[Value, int], None], start: Value | None = None) -> None:
        """`step(k, count)` for every group k of depth, with the number of elements in it."""
        function, group = self.function, self.product.group
        whole = self.depth / group if group > 1 else self.depth
        with function.range(0 if start is None else start, whole) as k:
            step(k, group)
        for count in range(1, group):
            with function.when((self.depth - whole * group).equals(count)):
                step(whole, count)

    def straight(self) -> None:
        """The lanes lie side by side."""
        function, kind = self.function, self.stored.vector(self.lanes)
        mask = function.counting(I32.vector(self.lanes)) < function.convert("trunc", smaller(function, self.valid, self.lanes), I32)

        def step(load: Callable[[Value], Value]) -> Callable[[Value, int], None]:
            def write(k: Value, count: int) -> None:
                first = function.offset(self.source, k * self.along * self.product.group)
                rows = [load(function.offset(first, self.along * g) if g else first) for g in range(count)]
                self._store(widened(function, rows[0], self.dtype, self.product.element) if self.product.group == 1 else self._grouped(rows), k)

            return write

        function.either(self.valid >= self.lanes, lambda: self._steps(step(lambda p: function.load(kind, p))),
                        lambda: self._steps(step(lambda p: function.load_masked(kind, p, mask))))

    def turned(self) -> None:
        """The steps of depth lie side by side: squares are transposed in registers."""
        function, lanes, group = self.function, self.lanes, self.product.group
        unit = self.stored if group == 1 else self.product.element
        last = self.valid - 1
        rows = [function.offset(self.source, smaller(function, last, i) * self.across) for i in range(lanes)]
        whole = self.depth / (group * lanes) * lanes
        with function.range(0, whole, lanes) as k:
            at = k * (self.stored.size * group)
            lines = [function.load(unit.vector(lanes), function.offset(row, at)) for row in rows]
            if group == 1:
                lines = [widened(function, line, self.dtype, self.product.element) for line in lines]
            for turn, line in enumerate(transposed(function, lines)):
                self._store(line, k + turn)
        self.one_by_one(whole)

    def one_by_one(self, start: Value) -> None:
        """Any strides, from group number `start` on."""
        function = self.function

        def step(k: Value, count: int) -> None:
            with function.range(0, function.lift(self.lanes, I64)) as i:
                first = function.offset(self.source, smaller(function, i, self.valid - 1) * self.across + k * self.along * self.product.group)
                parts = [function.load(self.stored, function.offset(first, self.along * g) if g else first) for g in range(count)]
                self._store(widened(function, parts[0], self.dtype, self.product.element) if self.product.group == 1 else self._grouped(parts), k, i)

        self._steps(step, start)
