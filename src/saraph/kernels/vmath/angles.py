"""Angles less a multiple of pi / 2, exact to more than the format's digits for every finite number.

Up to 2^17 (float) or 2^30 (double) by three-part subtraction (Cody and Waite), with fma. Beyond, by the method of M. Payne and R. Hanek (Radian
Reduction for Trigonometric Functions, 1983): the mantissa times those 192 bits of 2 / pi that decide the quadrant and the fraction.
"""
from __future__ import annotations

import math

from saraph.kernels.ir import DOUBLE, I1, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.vmath.base import FORMATS, absolute, fma, nearest, power_of_two, product

_I128 = Type("i128")
#: pi / 2 in three parts, each rounded to the nearest.
_QUARTER = {"float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
            "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)}
_LIMIT = {"float": 2.0**17, "double": 2.0**30}
#: 2 / pi after 64 bits of zeros, cut into words; its digits are those of OEIS A060294.
_TWO_OVER_PI = (
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB)
_TABLE = "saraph_two_over_pi"


def reduce(function: Function, x: Value) -> tuple[Value, Value, Value]:
    """x = quadrant * pi / 2 + (rest + low), with |rest| hardly above pi / 4 and `low` far below it: quadrant (an integer, of which the lowest
    two bits count), rest, low. NaN for infinities."""
    kind = x.type.scalar
    first, second, third = _QUARTER[kind]
    whole, quadrant = nearest(function, x, 2 / math.pi)
    near = fma(function, whole, -first, x)
    part, part_low = product(function, whole, second)
    rest = near - part
    low = fma(function, whole, -third, ((near - rest) - part) - part_low)
    huge = absolute(function, x) > _LIMIT[kind]
    results = [function.variable(value.type, value) for value in (quadrant, rest, low)]
    some = function.intrinsic("vector.reduce.or", [huge.type], I1, [huge]) if huge.type.lanes else huge
    with function.when(some):
        exact = _reduce_huge(function, x)
        for result, value in zip(results, exact, strict=True):
            result.set(function.select(huge, value, result.get()))
    quadrant, rest, low = (result.get() for result in results)
    return quadrant, rest, low


def _reduce_huge(function: Function, x: Value) -> tuple[Value, Value, Value]:
    """The same, lane by lane, by a function of its own."""
    name = function.module.once("saraph_reduce_huge", _write_reduction)
    lanes = max(1, x.type.lanes)
    places = {label: function.array(type, lanes) for label, type in (("x", DOUBLE), ("quadrant", I64), ("rest", DOUBLE), ("low", DOUBLE))}
    wide = DOUBLE.like(x.type)
    function.store(x if x.type == wide else function.convert("fpext", x, wide), places["x"])
    with function.range(0, function.constant(I64, lanes)) as lane:
        at = {label: function.offset(place, lane * 8) for label, place in places.items()}
        function.call(name, [function.load(DOUBLE, at["x"]), at["quadrant"], at["rest"], at["low"]])
    quadrant = function.load(I64.like(x.type), places["quadrant"])
    rest, low = (function.load(wide, places[label]) for label in ("rest", "low"))
    if x.type == wide:
        return quadrant, rest, low
    short = function.convert("fptrunc", rest, x.type)
    low = function.convert("fptrunc", rest - function.convert("fpext", short, wide), x.type)
    return function.convert("trunc", quadrant, FORMATS["float"].integer.like(x.type)), short, low


def _write_reduction(module: Module, name: str) -> None:
    words = ", ".join(f"i64 {word}" for word in _TWO_OVER_PI)
    module.declare(f"@{_TABLE} = internal constant [{len(_TWO_OVER_PI)} x i64] [{words}]")
    function = module.function(name, [("x", DOUBLE), ("quadrant", POINTER), ("rest", POINTER), ("low", POINTER)])
    x, *places = function.parameters
    bits = function.convert("bitcast", x, I64)
    exponent = bits.shift_in_zeros(52) & 0x7FF
    mantissa = (bits & (2**52 - 1)) | 2**52
    turns = _times_two_over_pi(function, mantissa, exponent - 1013)
    for value, place in zip(_as_angle(function, x, exponent, turns), places, strict=True):
        function.store(value, place)
    function.give_back()


def _times_two_over_pi(function: Function, mantissa: Value, position: Value) -> Value:
    """The uppermost 128 of 192 bits of the mantissa times the 192 bits of the table from `position` on; the bits above are multiples of 4."""
    start, shift = position >> 6, position & 63
    table = function.address_of(_TABLE)
    read = [function.load(I64, function.offset(table, (start + k) * 8)) for k in range(4)]
    window = [(read[k] << shift) | read[k + 1].shift_in_zeros(1).shift_in_zeros(63 - shift) for k in range(3)]
    wide, *pieces = (function.convert("zext", value, _I128) for value in (mantissa, *window))
    lowest = wide * pieces[2]
    middle = wide * pieces[1] + lowest.shift_in_zeros(64)
    return ((wide * pieces[0]) << 64) + middle


def _as_angle(function: Function, x: Value, exponent: Value, turns: Value) -> tuple[Value, Value, Value]:
    """The quadrant and the rest in two parts, from quarter turns with 126 bits after the point."""
    half = function.constant(_I128, 1) << 125
    quadrant = function.convert("trunc", (turns + half).shift_in_zeros(126), I64)
    fraction = turns << 2
    below = fraction < 0
    size = function.select(below, 0 - fraction, fraction)
    never = function.constant(I1, 0)
    zeros = function.intrinsic("ctlz", [_I128], _I128, [size, never])
    size = size << zeros
    # The first 53 bits and the next 63.
    head = function.convert("trunc", size.shift_in_zeros(75), I64)
    tail = function.convert("trunc", size.shift_in_zeros(12), I64) & (2**63 - 1)
    high = function.convert("sitofp", head, DOUBLE) * 2.0**-53
    more = function.convert("sitofp", tail, DOUBLE) * 2.0**-116
    first, second, _ = _QUARTER["double"]
    rest = high * first
    low = fma(function, high, first, -rest) + fma(function, high, second, more * first)
    negative = x < 0.0
    scale = power_of_two(function, 0 - function.convert("trunc", zeros, I64), DOUBLE)
    scale = function.select(below ^ negative, -scale, scale)
    scale = function.select(exponent.equals(0x7FF), math.nan, scale)
    return function.select(negative, 0 - quadrant, quadrant), rest * scale, low * scale
