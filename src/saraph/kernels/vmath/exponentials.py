"""Exponentials and what is made of them: exp, exp2, expm1, sigmoid, tanh, sinh, cosh.

x is split into whole * log(2) + r with |r| <= log(2) / 2 (Cody and Waite, Software Manual for the Elementary Functions, 1980); e^r is a
minimax polynomial, and 2^whole is made from bits.
"""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import (
    Terms,
    absolute,
    at_least,
    at_most,
    copysign,
    fma,
    nearest,
    power_of_two,
    series,
)

#: log(2) in two parts; the first has so few bits that its product with any exponent is exact.
LOG2 = {"float": (6.9314575195e-1, 1.4286067653e-6), "double": (6.93147180369123816490e-1, 1.90821492927058770002e-10)}
#: exp is 0 below the first and inf above the second, and so is exp / 2; both a little outside the format's range.
_RANGE = {"float": (-105.0, 90.0), "double": (-747.0, 711.0)}
#: expm1 is -1 below the first, to rounding, and inf above the second, where 2^whole / 2 is still a normal number.
_RANGE_EXPM1 = {"float": (-20.0, 88.8), "double": (-40.0, 709.9)}
#: Beyond this tanh is 1, to rounding.
_TANH_ONE = {"float": 10.0, "double": 20.0}

#: (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2.
_EXP: Terms = {
    "float": (0.5, 0.16666667, 0.041666478, 0.00833319, 0.001393369, 0.00019960261),
    "double": (0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321438, 0.0013888888888873008, 0.00019841269886605698,
               2.480158735019857e-05, 2.7557243723310413e-06, 2.755725066303396e-07, 2.5109208557626095e-08, 2.0922202113013345e-09)}


#: (tanh(x) / x - 1) / x^2 in powers of x^2 on |x| < 0.56.
_TANH: Terms = {
    "float": (-0.33333316, 0.13332528, -0.053844724, 0.021035764, -0.0062180264),
    "double": (-0.3333333333333328, 0.13333333333323868, -0.05396825396218362, 0.02186948834085371, -0.008863231862556794, 0.0035920845317978793,
               -0.0014554942725915898, 0.0005882433347114813, -0.00023286634696565437, 8.257317245327978e-05, -1.9032978391356214e-05)}


def split(function: Function, x: Value) -> tuple[Value, Value]:
    """x = whole * log(2) + r: r, and whole as an integer."""
    high, low = LOG2[x.type.scalar]
    whole, power = nearest(function, x, math.log2(math.e))
    return fma(function, whole, -low, fma(function, whole, -high, x)), power


def expm1_of_rest(function: Function, r: Value) -> Value:
    """e^r - 1 for |r| <= log(2) / 2."""
    return fma(function, r * r, series(function, r, _EXP), r)


def scaled(function: Function, value: Value, power: Value) -> Value:
    """value * 2^power, for powers beyond the format's range as well.

    By two factors: either is a normal number, and only the last product rounds, to a denormal or to infinity.
    """
    half = power >> 1
    return value * power_of_two(function, half, value.type) * power_of_two(function, power - half, value.type)


def exp(function: Function, x: Value, shift: int = 0) -> Value:
    """e^x (times 2^shift, for a shift of -1 or 0); exact at 0 and the infinities, gradual underflow, NaN stays NaN."""
    low, high = _RANGE[x.type.scalar]
    r, power = split(function, at_most(function, at_least(function, x, low), high))
    return scaled(function, expm1_of_rest(function, r) + 1.0, power + shift if shift else power)


def exp_of_moderate(function: Function, x: Value) -> Value:
    """e^x where it is a normal number."""
    r, power = split(function, x)
    scale = power_of_two(function, power, x.type)
    return fma(function, scale, expm1_of_rest(function, r), scale)


def exp2(function: Function, x: Value) -> Value:
    """2^x; exact for whole x, gradual underflow, NaN stays NaN."""
    low, high = (-152.0, 130.0) if x.type.scalar == "float" else (-1080.0, 1026.0)
    x = at_most(function, at_least(function, x, low), high)
    whole, power = nearest(function, x, 1.0)
    return scaled(function, expm1_of_rest(function, (x - whole) * math.log(2)) + 1.0, power)


def expm1(function: Function, x: Value) -> Value:
    """e^x - 1 without the loss of small values; -0 and denormals stay what they are."""
    low, high = _RANGE_EXPM1[x.type.scalar]
    r, power = split(function, at_most(function, at_least(function, x, low), high))
    # Half of the result first, or 2^128 would overflow before e^x does.
    scale = power_of_two(function, power - 1, x.type)
    result = fma(function, scale, expm1_of_rest(function, r), scale - 0.5) * 2.0
    return function.select(absolute(function, x) < 2.0 ** (-25 if x.type.scalar == "float" else -54), x, result)


def sigmoid(function: Function, x: Value) -> Value:
    """1 / (1 + e^-x), as e^x / (1 + e^x) for negative x, so that the smallest results are right too."""
    power = exp(function, -absolute(function, x))
    return function.select(x < 0.0, power, 1.0) / (power + 1.0)


def tanh(function: Function, x: Value) -> Value:
    """The hyperbolic tangent: an odd polynomial near 0, else 1 - 2 / (e^2|x| + 1)."""
    size = absolute(function, x)
    square = x * x
    small = fma(function, x * square, series(function, square, _TANH), x)
    power = exp_of_moderate(function, at_most(function, size, _TANH_ONE[x.type.scalar]) * 2.0)
    large = 1.0 - function.constant(x.type, 2.0) / (power + 1.0)
    return copysign(function, function.select(size < 0.55, small, large), x)  # the polynomial of -0 is 0
