"""Parts of vectors as IR: the first lanes of one, loads and stores that touch no others, and one number from all of them."""
from __future__ import annotations

from collections.abc import Callable

from saraph.kernels.ir import I32, I64, POINTER, Function, Type, Value


def lanes_below(function: Function, lanes: int, count: Value) -> Value:
    """The mask of the first `count` lanes; `count` may be negative or more than there are."""
    return function.counting(I64.vector(lanes)) < count


def load_part(function: Function, kind: Type, pointer: Value, mask: Value, otherwise: float = 0) -> Value:
    """The lanes of the mask; the others are not touched in memory, and hold `otherwise`."""
    return function.intrinsic("masked.load", [kind, POINTER], kind, [pointer, function.constant(I32, 1), mask, function.constant(kind, otherwise)])


def store_part(function: Function, value: Value, pointer: Value, mask: Value) -> None:
    """Write the lanes of the mask."""
    function.effect("masked.store", [value.type, POINTER], [value, pointer, function.constant(I32, 1), mask])


def combined(function: Function, vector: Value, combine: Callable[[Value, Value], Value]) -> Value:
    """One number from all lanes, by halves."""
    lanes = vector.type.lanes
    while lanes > 1:
        lanes //= 2
        vector = combine(function.shuffle(vector, range(lanes)), function.shuffle(vector, range(lanes, 2 * lanes)))
    return function.extract(vector, 0)
