"""Passes over elements that lie side by side, a vector at a time: what kernels of normalisation, pooling and resizing are made of.

Vectors have 64 bytes on every processor, so that the order of additions depends on the number of elements alone.
"""
from __future__ import annotations

from collections.abc import Callable

from saraph.kernels.ir import DOUBLE, FLOAT, I1, I32, I64, POINTER, Function, Type, Value

VECTOR_BYTES = 64
UNROLLED = 4  #: vectors that one turn of a loop takes

#: Gets the index of a vector's first element, the lanes that count (None: all), and the vector's number within its turn.
Action = Callable[[Value, "Value | None", int], None]


def vector_of(scalar: str) -> Type:
    """The vector that elements of a dtype are computed in."""
    kind = {"float32": FLOAT, "float64": DOUBLE}[scalar]
    return kind.vector(VECTOR_BYTES // kind.size)


def smaller(function: Function, a: Value, b: Value | int) -> Value:
    """The smaller of two integers."""
    return function.select(a < b, a, b)


def larger(function: Function, a: Value, b: Value | int) -> Value:
    """The larger of two integers."""
    return function.select(a > b, a, b)


def remainder(function: Function, a: Value, b: Value) -> Value:
    """a - b * (a / b) of integers that are not negative."""
    return function.value(a.type, f"urem {a}, {b.text}")


def each(function: Function, vector: Type, first: Value | int, last: Value, action: Action, unrolled: int = UNROLLED) -> None:
    """Write a loop over the elements first <= i < last: whole turns of `unrolled` vectors, then single vectors under a mask."""
    first = function.lift(first, I64)
    turn = vector.lanes * unrolled
    whole = first + ((last - first) & -turn) if turn & (turn - 1) == 0 else first + (last - first) / turn * turn
    with function.range(first, whole, turn) as index:
        for k in range(unrolled):
            action(index + k * vector.lanes, None, k)
    with function.range(whole, last, vector.lanes) as index:
        action(index, first_lanes(function, vector, last - index), 0)


def first_lanes(function: Function, vector: Type, count: Value) -> Value:
    """The mask of the first `count` lanes."""
    held = smaller(function, count, vector.lanes)
    return function.counting(I32.like(vector)) < function.convert("trunc", held, I32)


def load(function: Function, vector: Type, pointer: Value, mask: Value | None, otherwise: float = 0.0) -> Value:
    """The vector at an address; `otherwise` in the lanes that do not count, whose memory is not touched."""
    if mask is None:
        return function.load(vector, pointer)
    given = function.constant(vector, otherwise)
    return function.intrinsic("masked.load", [vector, POINTER], vector, [pointer, function.constant(I32, 1), mask, given])


def store(function: Function, value: Value, pointer: Value, mask: Value | None) -> None:
    """Write the lanes that count."""
    if mask is None:
        function.store(value, pointer)
    else:
        function.effect("masked.store", [value.type, POINTER], [value, pointer, function.constant(I32, 1), mask])


def gather(function: Function, vector: Type, places: Value, mask: Value | None, otherwise: float = 0.0) -> Value:
    """The elements at a vector of addresses."""
    mask = function.constant(I1.like(vector), 1) if mask is None else mask
    given = function.constant(vector, otherwise)
    return function.intrinsic("masked.gather", [vector, places.type], vector, [places, function.constant(I32, 1), mask, given])


def widen(function: Function, value: Value) -> Value:
    """Floats as doubles."""
    return value if value.type.scalar == "double" else function.convert("fpext", value, DOUBLE.like(value.type))


def narrow(function: Function, value: Value, kind: Type) -> Value:
    """Doubles as `kind`."""
    return value if kind.scalar == "double" else function.convert("fptrunc", value, kind.like(value.type))


def fold(function: Function, vector: Value) -> Value:
    """The sum of all lanes, by halves."""
    while vector.type.lanes > 1:
        half = vector.type.lanes // 2
        vector = function.shuffle(vector, range(half)) + function.shuffle(vector, range(half, 2 * half))
    return function.extract(vector, 0)


class Total:
    """A sum over one pass by `each`, of a few thousand elements at most: every vector of a turn has its own registers, folded in fixed order.

    The registers hold the elements' type, the folded sum is a double.
    """

    __slots__ = ("_function", "_registers")

    def __init__(self, function: Function, vector: Type, unrolled: int = UNROLLED) -> None:
        self._function = function
        self._registers = [function.variable(vector, 0.0) for _ in range(unrolled)]

    def clear(self) -> None:
        for register in self._registers:
            register.set(0.0)

    def add(self, value: Value, mask: Value | None, number: int) -> None:
        """Add the lanes that count."""
        register = self._registers[number]
        register.set(register.get() + (value if mask is None else self._function.select(mask, value, 0.0)))

    def get(self) -> Value:
        """The sum so far."""
        values = [widen(self._function, register.get()) for register in self._registers]
        while len(values) > 1:
            half = len(values) // 2
            values = [a + b for a, b in zip(values[:half], values[half:], strict=True)]
        return fold(self._function, values[0])
