"""Hyperbolic functions and their inverses; tanh stands with the exponentials."""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import Terms, absolute, copysign, fma, quick_sum, series, square_root
from saraph.kernels.vmath.exponentials import exp
from saraph.kernels.vmath.logarithms import log1p

#: (sinh(x) / x - 1) / x^2 in powers of x^2 on |x| < 1.
_SINH: Terms = {
    "float": (0.16666667, 0.008333316, 0.00019841392, 2.7918782e-06),
    "double": (0.16666666666666669, 0.008333333333332969, 0.00019841269841533232, 2.755731912955317e-06, 2.505212700946522e-08,
               1.6056987219139737e-10,
               7.76633498692705e-13)}
#: From here log(1 + x) is log(x), to rounding, while the square is still far from overflow.
_FAR = {"float": 2.0**30, "double": 2.0**60}


def sinh(function: Function, x: Value) -> Value:
    """The hyperbolic sine: an odd polynomial near 0, else e^x / 2 - 1 / (2 e^x)."""
    size, square = absolute(function, x), x * x
    small = fma(function, x * square, series(function, square, _SINH), x)
    half = exp(function, size, -1)
    large = half - function.constant(x.type, 0.25) / half
    return function.select(size < 1.0, small, copysign(function, large, x))


def cosh(function: Function, x: Value) -> Value:
    """The hyperbolic cosine."""
    half = exp(function, absolute(function, x), -1)
    return half + function.constant(x.type, 0.25) / half


def asinh(function: Function, x: Value) -> Value:
    """The inverse of sinh: log(1 + (|x| + x^2 / (1 + sqrt(1 + x^2)))); -0 and denormals stay."""
    size = absolute(function, x)
    far = size > _FAR[x.type.scalar]
    near = function.select(far, 1.0, size)
    below = square_root(function, fma(function, near, near, 1.0)) + 1.0
    inverse = function.constant(x.type, 1.0) / below
    square = near * near
    ratio = square * inverse
    lost = fma(function, near, near, -square)
    total, rest = quick_sum(near, ratio)
    rest = fma(function, fma(function, ratio, -below, square) + lost, inverse, rest)
    result = log1p(function, function.select(far, size, total), function.select(far, 0.0, rest))
    return copysign(function, function.select(far, result + math.log(2), result), x)


def acosh(function: Function, x: Value) -> Value:
    """The inverse of cosh; NaN below 1. With t = x - 1 it is log(1 + (t + sqrt(2 t + t^2)))."""
    far = x > _FAR[x.type.scalar]
    t = function.select(far, 1.0, x) - 1.0
    square = fma(function, t, t, t + t)
    root = square_root(function, square)
    high, low = quick_sum(root, t)
    result = log1p(function, function.select(far, x, high), function.select(far, 0.0, low))
    result = function.select(far, result + math.log(2), result)
    return function.select(x < 1.0, math.nan, result)


def atanh(function: Function, x: Value) -> Value:
    """The inverse of tanh, log(1 + 2 |x| / (1 - |x|)) / 2; infinite at -1 and 1, NaN outside."""
    size = absolute(function, x)
    below = 1.0 - size
    lost = (1.0 - below) - size
    inverse = function.constant(x.type, 1.0) / below
    twice = size + size
    ratio = twice * inverse
    rest = fma(function, ratio, -lost, fma(function, ratio, -below, twice)) * inverse
    result = log1p(function, function.select(below.equals(0.0), math.inf, ratio), rest) * 0.5
    return copysign(function, result, x)
