"""Sine, cosine, tangent and their inverses, for arguments of any size."""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.angles import reduce
from saraph.kernels.vmath.base import FORMATS, Terms, absolute, bits, copysign, fma, from_bits, quick_sum, series, square_root

#: (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4 in powers of r^2, on |r| <= pi / 4.
_SIN: Terms = {
    "float": (-0.16666655, 0.008332192, -0.00019518696),
    "double": (-0.16666666666666632, 0.008333333333322436, -0.00019841269829785067, 2.755731367376619e-06, -2.50507540283357e-08,
               1.58965007879347e-10)}
_COS: Terms = {
    "float": (0.041666646, -0.0013887313, 2.4432933e-05),
    "double": (0.041666666666666595, -0.0013888888888873437, 2.480158728909273e-05, -2.755731424776062e-07, 2.0875709836613784e-09,
               -1.1358981680772528e-11)}
#: (atan(t) / t - 1) / t^2 in powers of t^2, on |t| <= sqrt(2) - 1.
_ATAN: Terms = {
    "float": (-0.33333316, 0.19998524, -0.14244255, 0.10597888, -0.060862232),
    "double": (-0.3333333333333319, 0.1999999999995218, -0.1428571428005322, 0.11111110776145057, -0.09090897542145933, 0.07692056279631396,
               -0.06663058145303015, 0.05847546772429025, -0.050377235285487716, 0.038023454144719575, -0.017861204895323935)}
#: (asin(s) / s - 1) / s^2 in powers of s^2, on |s| <= 1 / 2.
_ASIN: Terms = {
    "float": (0.1666666, 0.07500517, 0.044514716, 0.03182497, 0.014377293, 0.037598167),
    "double": (0.16666666666666763, 0.07499999999970068, 0.04464285717532843, 0.030381942673269685, 0.02237221595708773, 0.017351594688391488,
               0.013981027101480708, 0.011397231096622527, 0.010789630058866243, 0.003671139876885199, 0.021792940373588292, -0.021119663708833128,
               0.032703841934859715)}
#: Multiples of pi / 4 in two parts.
_EIGHTHS = {
    "float": {1: (0.7853981852531433, -2.1855694143368964e-08), 2: (1.5707963705062866, -4.371138828673793e-08),
              3: (2.356194496154785, -5.962440319251527e-09), 4: (3.1415927410125732, -8.742277657347586e-08)},
    "double": {1: (0.7853981633974483, 3.061616997868383e-17), 2: (1.5707963267948966, 6.123233995736766e-17),
               3: (2.356194490192345, 9.184850993605148e-17), 4: (3.141592653589793, 1.2246467991473532e-16)}}
_TAN_EIGHTH = (math.sqrt(2) - 1, math.sqrt(2) + 1)  # the tangents of pi / 8 and 3 pi / 8


def _sine(function: Function, rest: Value, low: Value, square: Value) -> tuple[Value, Value]:
    """sin(rest + low) for |rest| <= pi / 4, as rest and what is to be added to it."""
    near = 1.0 - square * 0.5  # the cosine, to a few digits
    return rest, fma(function, low, near, rest * square * series(function, square, _SIN))


def _cosine(function: Function, rest: Value, low: Value, square: Value) -> tuple[Value, Value]:
    """cos(rest + low) for |rest| <= pi / 4, as 1 - rest^2 / 2 and what is to be added to it."""
    half = square * 0.5
    near = 1.0 - half
    lost = (1.0 - near) - half
    return near, fma(function, square * square, series(function, square, _COS), fma(function, rest, -low, lost))


def sine_and_cosine(function: Function, rest: Value, low: Value) -> tuple[Value, Value]:
    """Of rest + low, |rest| <= pi / 4."""
    square = rest * rest
    sine, cosine = (part(function, rest, low, square) for part in (_sine, _cosine))
    return sine[0] + sine[1], cosine[0] + cosine[1]


def _wave(function: Function, x: Value, ahead: int) -> Value:
    """sin(x + ahead * pi / 2)."""
    quadrant, rest, low = reduce(function, x)
    quadrant = quadrant + ahead if ahead else quadrant
    sine, cosine = sine_and_cosine(function, rest, low)
    result = function.select((quadrant & 1).equals(0), sine, cosine)
    form = FORMATS[x.type.scalar]
    sign_at = form.integer.size * 8 - 1
    return from_bits(function, bits(function, result) ^ ((quadrant & 2) << (sign_at - 1)), x.type)


def sin(function: Function, x: Value) -> Value:
    """The sine; -0 stays, NaN at the infinities."""
    return function.select(x.equals(0.0), x, _wave(function, x, 0))


def cos(function: Function, x: Value) -> Value:
    """The cosine; NaN at the infinities."""
    return _wave(function, x, 1)


def tan(function: Function, x: Value) -> Value:
    """The tangent; -0 stays, NaN at the infinities."""
    quadrant, rest, low = reduce(function, x)
    square = rest * rest
    sine, cosine = quick_sum(*_sine(function, rest, low, square)), quick_sum(*_cosine(function, rest, low, square))
    even = (quadrant & 1).equals(0)
    above, above_low = (function.select(even, s, -c) for s, c in zip(sine, cosine, strict=True))
    below, below_low = (function.select(even, c, s) for s, c in zip(sine, cosine, strict=True))
    inverse = function.constant(x.type, 1.0) / below
    result = above * inverse
    missing = fma(function, result, -below_low, fma(function, result, -below, above) + above_low)
    return function.select(x.equals(0.0), x, fma(function, missing, inverse, result))


def _arc(function: Function, x: Value) -> tuple[Value, Value, Value, Value]:
    """asin of s, where s is |x| up to 1 / 2 and sqrt((1 - |x|) / 2) above: whether |x| is below, |x|, s, and asin(s) - s."""
    size = absolute(function, x)
    small = size < 0.5
    square = function.select(small, size * size, (1.0 - size) * 0.5)
    s = function.select(small, size, square_root(function, square))
    return small, size, s, s * (square * series(function, square, _ASIN))


def asin(function: Function, x: Value) -> Value:
    """The arc sine; NaN outside [-1, 1]. Above 1 / 2 it is pi / 2 - 2 asin(sqrt((1 - x) / 2))."""
    quarter, quarter_low = _EIGHTHS[x.type.scalar][2]
    small, _, s, more = _arc(function, x)
    high, lost = quick_sum(function.constant(x.type, quarter), s * -2.0)
    large = high + (fma(function, more, -2.0, lost) + quarter_low)
    return copysign(function, function.select(small, s + more, large), x)


def acos(function: Function, x: Value) -> Value:
    """The arc cosine; NaN outside [-1, 1]."""
    parts = _EIGHTHS[x.type.scalar]
    small, _, s, more = _arc(function, x)
    negative = x < 0.0
    # pi / 2 - asin(x), pi - 2 asin(s) or 2 asin(s)
    signed = copysign(function, s, x)
    angle = function.select(small, -signed, function.select(negative, s * -2.0, s * 2.0))
    more = function.select(small, -copysign(function, more, x), function.select(negative, more * -2.0, more * 2.0))
    turn, turn_low = (function.select(small, parts[2][k], function.select(negative, function.constant(x.type, parts[4][k]), 0.0)) for k in range(2))
    high, lost = quick_sum(turn, angle)
    return high + ((lost + turn_low) + more)


def _arc_of_ratio(function: Function, ratio: Value) -> tuple[Value, Value]:
    """atan of |ratio| <= sqrt(2) - 1: the ratio, and what is to be added to it."""
    square = ratio * ratio
    return ratio, ratio * square * series(function, square, _ATAN)


def atan(function: Function, x: Value) -> Value:
    """The arc tangent, from the angle to the nearest of 0, pi / 4 and pi / 2."""
    parts, size = _EIGHTHS[x.type.scalar], absolute(function, x)
    middle, steep = size > _TAN_EIGHTH[0], size > _TAN_EIGHTH[1]
    above = function.select(steep, -1.0, function.select(middle, size - 1.0, size))
    below = function.select(steep, size, function.select(middle, size + 1.0, 1.0))
    ratio, more = _arc_of_ratio(function, above / below)
    base, base_low = (function.select(steep, parts[2][k], function.select(middle, function.constant(x.type, parts[1][k]), 0.0)) for k in range(2))
    return copysign(function, base + (ratio + (more + base_low)), x)


def atan2(function: Function, y: Value, x: Value) -> Value:
    """The angle of the point (x, y), in (-pi, pi]; signed zeros and infinities as in C."""
    form, parts = FORMATS[x.type.scalar], _EIGHTHS[x.type.scalar]
    up, right = absolute(function, y), absolute(function, x)
    largest = function.select(up > right, up, right)
    # Away from denormals and from overflow of the sum.
    one = function.constant(x.type, 1.0)
    raised = function.select(largest < 2.0 ** -(form.bias // 2), one * 2.0 ** (form.bias // 2 - 1), one)
    scale = function.select(largest > 2.0 ** (form.bias - 2), one * 0.25, raised)
    up, right = up * scale, right * scale
    diagonal = up.equals(right)
    middle = (up > right * _TAN_EIGHTH[0]) | (diagonal & (up > 0.0))
    steep = up > right * _TAN_EIGHTH[1]
    above = function.select(steep, -right, function.select(middle, up - right, up))
    below = function.select(steep, up, function.select(middle, up + right, right))
    ratio, more = _arc_of_ratio(function, function.select(diagonal, 0.0, above / below))
    left = bits(function, x) < 0
    ratio, more = (function.select(left, -value, value) for value in (ratio, more))
    base, base_low = (
        function.select(steep, function.constant(x.type, parts[2][k]),
                        function.select(middle, function.select(left, function.constant(x.type, parts[3][k]), parts[1][k]),
                                        function.select(left, function.constant(x.type, parts[4][k]), 0.0))) for k in range(2))
    return copysign(function, base + (ratio + (more + base_low)), y)
