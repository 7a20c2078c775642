"""Logarithms: log, log1p, log2, log10.

A number is split into m * 2^power with m within [sqrt(1/2), sqrt(2)). With f = m - 1 and s = f / (2 + f),
log(m) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)); see P. Tang, Table-Driven Implementation of the Logarithm Function (1990), and the
classic description of fdlibm for why this keeps the error below one unit.
"""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import FORMATS, Terms, bits, fma, from_bits, polynomial, power_of_two, product, quick_sum, series
from saraph.kernels.vmath.exponentials import LOG2

#: (log(1 + f) - 2 s) / s^3 in powers of s^2, where s = f / (2 + f) and 1 + f is within [sqrt(1/2), sqrt(2)].
_LOG: Terms = {
    "float": (0.6666677671704172, 0.3997749558077215, 0.2987307323550175),
    "double": (0.6666666666666734896, 0.3999999999941109142, 0.2857142874326283835, 0.2222219847597350229, 0.1818356974033422968,
               0.153139032358107548, 0.1479750779695997615)}
#: 1 / (1 + f) on the same range, to 1 in 100.
_RECIPROCAL = (1.0049983, -1.0806037, 0.91418064)


def split(function: Function, x: Value) -> tuple[Value, Value]:
    """x = m * 2^power for positive x that are no denormals: m within [sqrt(1/2), sqrt(2)), and power as an integer."""
    form = FORMATS[x.type.scalar]
    # Counted from the bits of sqrt(1/2).
    origin = bits(function, function.constant(x.type, math.sqrt(0.5)))
    distance = bits(function, x) - origin
    m = from_bits(function, (distance & (2**form.mantissa_bits - 1)) + origin, x.type)
    return m, distance >> form.mantissa_bits


def split_all(function: Function, x: Value) -> tuple[Value, Value]:
    """The same for all positive x; power as a float."""
    form = FORMATS[x.type.scalar]
    tiny = x < form.smallest_normal
    m, power = split(function, function.select(tiny, x * 2.0**form.mantissa_bits, x))
    power = function.select(tiny, power - form.mantissa_bits, power)
    return m, function.convert("sitofp", power, x.type)


def _parts(function: Function, f: Value) -> tuple[Value, Value]:
    """f^2 / 2, and s (f^2 / 2 + R): what log(1 + f) is made of besides f."""
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return half_square, s * fma(function, z, series(function, z, _LOG), half_square)


def _with_limits(function: Function, x: Value, result: Value) -> Value:
    """-inf at 0, NaN below; infinity and NaN are their own logarithms."""
    result = function.select(x.equals(0.0), -math.inf, result)
    result = function.select(x < 0.0, math.nan, result)
    return function.select(x < math.inf, result, x)


def log(function: Function, x: Value) -> Value:
    """The natural logarithm; -inf at 0, NaN below, inf at inf, denormals exact."""
    high, low = LOG2[x.type.scalar]
    m, exponent = split_all(function, x)
    f = m - 1.0
    half_square, rest = _parts(function, f)
    rest = fma(function, exponent, low, rest)
    return _with_limits(function, x, fma(function, exponent, high, f - (half_square - rest)))


def log1p(function: Function, x: Value, more: Value | None = None) -> Value:
    """log(1 + x) without the loss of small values; -0 and denormals stay what they are, -inf at -1, NaN below.

    `more` is what rounding took from x, where that is known.
    """
    high, low = LOG2[x.type.scalar]
    above = x > 1.0
    large, small = function.select(above, x, 1.0), function.select(above, 1.0, x)
    total, lost = quick_sum(large, small)
    m, power = split(function, total)
    # Where 1 + x needs no power of two, f is x itself; else m - 1, and the bits that 1 + x lost are brought back: lost / total.
    zero = power.equals(0)
    f = function.select(zero, x, m - 1.0)
    exponent = function.convert("sitofp", power, x.type)
    form = FORMATS[x.type.scalar]
    scale = power_of_two(function, 0 - function.select(power > 100, 100, power), x.type)  # from 2^100 up nothing is lost that counts
    if more is None:
        lost = function.select(zero, 0.0, lost * scale)
    else:
        lost = function.select(zero, more, (lost + more) * scale)
    half_square, rest = _parts(function, f)
    rest = fma(function, lost, polynomial(function, m - 1.0, _RECIPROCAL), fma(function, exponent, low, rest))
    result = fma(function, exponent, high, f - (half_square - rest))
    result = function.select(x.equals(-1.0), -math.inf, result)
    result = function.select(x < -1.0, math.nan, result)
    unchanged = form.mantissa_bits + 2
    result = function.select(x * x < 2.0 ** (-2 * unchanged), x, result)
    return function.select(x < math.inf, result, x)


def _scaled_log(function: Function, x: Value, factor: float, low: float, unit: tuple[float, float]) -> Value:
    """log(x) * factor, where (factor, low) is the number in two parts and `unit` what a power of two adds, in two parts."""
    m, exponent = split_all(function, x)
    f = m - 1.0
    half_square, rest = _parts(function, f)
    # log(m) as a sum of two numbers, the first of which is the nearest to it but for a few units.
    main = f - half_square
    rest = ((f - main) - half_square) + rest
    scaled, lost = product(function, main, factor)
    lost = lost + fma(function, main, low, rest * factor)
    whole = exponent * unit[0]
    total, remainder = quick_sum(whole, scaled)
    remainder = fma(function, exponent, unit[1], remainder + lost)
    return _with_limits(function, x, total + remainder)


#: log2(e) and log10(e) in two parts; log10(2) in two, the first so short that its product with any exponent is exact.
_LOG2_E = {"float": (1.4426950216293335, 1.925963033500011e-08), "double": (1.4426950408889634, 2.0355273740931033e-17)}
_LOG10_E = {"float": (0.4342944920063019, -1.0103049952192578e-08), "double": (0.4342944819032518, 1.098319650216765e-17)}
_LOG10_2 = {"float": (0.30103302001953125, -3.024355464731343e-06), "double": (0.30102999566395283, 2.8363394551044964e-14)}


def log2(function: Function, x: Value) -> Value:
    """The logarithm to the base 2, whole for powers of two; -inf at 0, NaN below."""
    return _scaled_log(function, x, *_LOG2_E[x.type.scalar], (1.0, 0.0))


def log10(function: Function, x: Value) -> Value:
    """The logarithm to the base 10; -inf at 0, NaN below."""
    return _scaled_log(function, x, *_LOG10_E[x.type.scalar], _LOG10_2[x.type.scalar])
