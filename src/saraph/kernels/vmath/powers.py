"""Powers and roots: pow, cbrt, hypot."""
from __future__ import annotations

import math

from saraph.kernels.ir import DOUBLE, FLOAT, Function, Value
from saraph.kernels.vmath.base import (
    FORMATS,
    absolute,
    at_least,
    at_most,
    bits,
    fma,
    from_bits,
    polynomial,
    power_of_two,
    product,
    quick_sum,
    square_root,
    unary,
)
from saraph.kernels.vmath.exponentials import LOG2, exp, expm1_of_rest, scaled, split
from saraph.kernels.vmath.logarithms import log, split_all

#: (log(m) - 2 s) / s^3 in powers of s^2, s = (m - 1) / (m + 1), and (exp(r) - 1 - r) / r^2: in double, to the digits that a float needs.
_LOG_SHORT = (0.6666666666658717, 0.40000000052241363, 0.28571417136912447, 0.22223371213381274, 0.18123655468367839, 0.16819691671563075)
_EXP_SHORT = (0.5000000078104596, 0.16666666830288557, 0.04166627000205006, 0.008333271230308022, 0.0013946056810640827, 0.00019914681794420662)
#: (log(m) - 2 s - 2 s^3 / 3) / s^5 in powers of s^2.
_LOG_REST = (0.3999999999999998, 0.28571428571443797, 0.22222222217807, 0.1818181884138804, 0.1538455862667459, 0.13336256404833827,
             0.11675950391325565, 0.1198031896325848)
_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
_FAR = 1e4  # e to more than this is infinite in any format


def _long_log(function: Function, x: Value) -> tuple[Value, Value]:
    """log(x) of positive doubles, in two parts, to 65 bits."""
    m, exponent = split_all(function, x)
    f = m - 1.0
    g = f + 2.0
    g_low = f - (g - 2.0)
    inverse = function.constant(x.type, 1.0) / g
    s = f * inverse
    s_low = fma(function, s, -g_low, fma(function, s, -g, f)) * inverse
    z, z_low = product(function, s, s)
    z_low = fma(function, s + s, s_low, z_low)
    cube, cube_low = product(function, s, z)
    cube_low = fma(function, s_low, z, fma(function, s, z_low, cube_low))
    term, term_low = product(function, cube, _TWO_THIRDS[0])
    term_low = fma(function, cube, _TWO_THIRDS[1], fma(function, cube_low, _TWO_THIRDS[0], term_low))
    main, lost = quick_sum(s + s, term)
    rest = fma(function, cube * z, polynomial(function, z, _LOG_REST), lost + (term_low + (s_low + s_low)))
    high, low = LOG2["double"]
    total, lost = quick_sum(exponent * high, main)
    return quick_sum(total, lost + fma(function, exponent, low, rest))


def _power_double(function: Function, base: Value, y: Value) -> Value:
    """base^y for positive finite bases."""
    log_high, log_low = _long_log(function, base)
    high, lost = product(function, y, log_high)
    lost = fma(function, y, log_low, lost)
    near = absolute(function, high) < _FAR
    lost = function.select(near, lost, 0.0)
    r, power = split(function, at_most(function, at_least(function, high, -747.0), 711.0))
    return scaled(function, expm1_of_rest(function, r + lost) + 1.0, power)


def _power_float(function: Function, base: Value, y: Value) -> Value:
    """The same for floats, computed in double and rounded once at the end."""
    wide = DOUBLE.like(base.type)
    base, y = (function.convert("fpext", value, wide) for value in (base, y))
    m, exponent = split_all(function, base)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    logarithm = fma(function, s * z, polynomial(function, z, _LOG_SHORT), s + s) + exponent * math.log(2)
    r, power = split(function, at_most(function, at_least(function, logarithm * y, -200.0), 200.0))
    result = fma(function, r * r, polynomial(function, r, _EXP_SHORT), r) + 1.0
    return function.convert("fptrunc", result * power_of_two(function, power, wide), FLOAT.like(base.type))


def pow(function: Function, x: Value, y: Value) -> Value:
    """x^y with the special cases of IEEE 754: 1 where y is 0 or x is 1, NaN for negative x and broken y, the sign of odd powers."""
    size, far = absolute(function, x), absolute(function, y)
    usual = (size > 0.0) & (size < math.inf)
    base = function.select(usual, size, 1.0)
    write = _power_double if x.type.scalar == "double" else _power_float
    result = write(function, base, y)
    # |x| is 0 or infinite: so is the result, unless y is 0 or NaN.
    grows = (size > 1.0) ^ (y < 0.0)
    edge = function.select(grows, function.constant(x.type, math.inf), 0.0)
    edge = function.select(y.differs(y), y, function.select(size.differs(size), size, edge))
    result = function.select(usual, result, edge)
    whole = unary(function, "floor", y).equals(y)
    half = y * 0.5
    odd = whole & unary(function, "floor", half).differs(half)
    negative = bits(function, x) < 0
    sign_bit = bits(function, x) & -(2 ** (FORMATS[x.type.scalar].integer.size * 8 - 1))
    result = from_bits(function, bits(function, result) ^ function.select(odd, sign_bit, 0), x.type)
    broken = negative & usual & (whole ^ 1)
    result = function.select(broken & (y.equals(y)), math.nan, result)
    unit = y.equals(0.0) | x.equals(1.0) | (size.equals(1.0) & far.equals(math.inf))
    return function.select(unit, 1.0, result)


def cbrt(function: Function, x: Value) -> Value:
    """The cube root: e^(log|x| / 3), and one step of Newton's method with the error of the cube in two parts."""
    raise_from, factor = (2.0**-60, 25) if x.type.scalar == "float" else (2.0**-500, 200)
    size, one = absolute(function, x), function.constant(x.type, 1.0)
    tiny, vast = size < raise_from, size > 1 / raise_from
    usual = (size > 0.0) & (size < math.inf)
    number = size * function.select(tiny, one * 2.0 ** (3 * factor), function.select(vast, one * 2.0 ** (-3 * factor), one))
    number = function.select(usual, number, 1.0)
    root = exp(function, log(function, number) * (1 / 3))
    square, square_low = product(function, root, root)
    cube, cube_low = product(function, square, root)
    missing = fma(function, square_low, -root, (number - cube) - cube_low)
    root = root + missing / (square * 3.0)
    root = root * function.select(tiny, one * 2.0**-factor, function.select(vast, one * 2.0**factor, one))
    return function.intrinsic("copysign", [x.type], x.type, [function.select(usual, root, size), x])


def hypot(function: Function, x: Value, y: Value) -> Value:
    """sqrt(x^2 + y^2) without overflow on the way; infinite where one is, even beside NaN."""
    a, b = absolute(function, x), absolute(function, y)
    infinite = a.equals(math.inf) | b.equals(math.inf)
    if x.type.scalar == "float":
        wide = DOUBLE.like(x.type)
        a, b = (function.convert("fpext", value, wide) for value in (a, b))
        result = function.convert("fptrunc", square_root(function, fma(function, a, a, b * b)), x.type)
    else:
        result = _hypot_double(function, a, b)
    return function.select(infinite, math.inf, result)


def _hypot_double(function: Function, a: Value, b: Value) -> Value:
    """The squares' sum in two parts; the root, corrected by what it misses."""
    swap = a < b
    a, b = function.select(swap, b, a), function.select(swap, a, b)
    one = function.constant(a.type, 1.0)
    scale = function.select(a > 2.0**500, one * 2.0**-600, function.select(a < 2.0**-400, one * 2.0**600, one))
    back = function.select(a > 2.0**500, one * 2.0**600, function.select(a < 2.0**-400, one * 2.0**-600, one))
    a, b = a * scale, b * scale
    first, first_low = product(function, a, a)
    second, second_low = product(function, b, b)
    total, lost = quick_sum(first, second)
    root = square_root(function, total)
    missing = fma(function, root, -root, total) + (lost + (first_low + second_low))
    corrected = root + missing / function.select(root > 0.0, root + root, 1.0)
    return corrected * back
