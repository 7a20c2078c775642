"""The logarithmic derivative of the gamma function."""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import Terms, bits, fma, polynomial, product, series, unary
from saraph.kernels.vmath.logarithms import log
from saraph.kernels.vmath.trigonometry import sine_and_cosine

#: digamma(x) / (x - root) in powers of x - root, on [1, 2]; the root in two parts.
_NEAR: Terms = {
    "float": (0.9676723, -0.44276294, 0.2584947, -0.16395591, 0.1079683, -0.07201258, 0.047222264, -0.03386696, 0.029831942, -0.01667616),
    "double": (0.9676722454476212, -0.44276316898359214, 0.258499760955638, -0.1639427054423969, 0.10782405069274192, -0.07219956125758839,
               0.04880428808662256, -0.033161126408400916, 0.02259765048681516, -0.0154247681061132, 0.010538751657056655, -0.007204489989624411,
               0.004927233590911623, -0.0033703706716331694, 0.0023018126012855724, -0.001572221683342392, 0.0010942543876434163,
               -0.0007631094884259277, 0.00046252994926423616, -0.0002640823325518691, 0.0002907759603706709, -0.00030472992333107637,
               0.00011560897084772025, 1.246375867938586e-05)}
_ROOT = {"float": (1.4616321325302124, 1.243815006546356e-08), "double": (1.4616321449683622, 9.549995429965697e-17)}
#: The asymptotic series log(x) - 1 / (2 x) - sum of B_2k / (2 k x^2k); from 13 on these are enough (Abramowitz and Stegun, 6.3.18).
_FAR = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_PI = {"float": (3.1415927410125732, -8.742277657347586e-08), "double": (3.141592653589793, 1.2246467991473532e-16)}


def digamma(function: Function, x: Value) -> Value:
    """The derivative of log(gamma(x)); infinite at 0, with the other sign, and NaN at the negative integers and -inf."""
    negative = x < 0.0
    y = function.select(negative, 1.0 - x, x)
    positive = function.select(y < 5.0, _below_five(function, y), _from_five(function, y))
    whole = unary(function, "rint", x)
    reflected = positive - _pi_cotangent(function, x - whole)
    result = function.select(negative, function.select(x.equals(whole), math.nan, reflected), positive)
    pole = function.select(bits(function, x) < 0, function.constant(x.type, math.inf), -math.inf)
    result = function.select(x.equals(0.0), pole, result)
    return function.select(x.equals(math.inf), x, result)


def _below_five(function: Function, y: Value) -> Value:
    """By steps of one to where the polynomial is: digamma(x + 1) = digamma(x) + 1 / x."""
    root, root_low = _ROOT[y.type.scalar]
    one = function.constant(y.type, 1.0)
    first, second, third = y - 1.0, y - 2.0, y - 3.0
    z = function.select(y < 1.0, y + 1.0, function.select(y > 4.0, third, function.select(y > 3.0, second, function.select(y > 2.0, first, y))))
    pair = first * second
    above = function.select(y > 4.0, fma(function, pair, 1.0, (first + second) * third),
                            function.select(y > 3.0, first + second, function.select(y > 2.0, one, function.select(y < 1.0, -one, 0.0))))
    below = function.select(y > 4.0, pair * third, function.select(y > 3.0, pair, function.select(y > 2.0, first, function.select(y < 1.0, y, 1.0))))
    offset = (z - root) - root_low
    return fma(function, offset, series(function, offset, _NEAR), above / below)


def _from_five(function: Function, y: Value) -> Value:
    """By eight steps up, in pairs of equal sums, and the asymptotic series."""
    near = y < 13.0
    base = function.select(near, y, 5.0)
    u = fma(function, base, base, base * 7.0)
    a, b, c, d = u, u + 6.0, u + 10.0, u + 12.0
    steps = ((a + b) / (a * b) + (c + d) / (c * d)) * (base + base + 7.0)
    w = function.select(near, y + 8.0, y)
    inverse = function.constant(y.type, 1.0) / w
    square = inverse * inverse
    rest = fma(function, inverse, 0.5, square * polynomial(function, square, _FAR)) + function.select(near, steps, 0.0)
    return log(function, w) - rest


def _pi_cotangent(function: Function, r: Value) -> Value:
    """pi / tan(pi r) for |r| <= 1 / 2."""
    pi, pi_low = _PI[r.type.scalar]
    size = function.intrinsic("fabs", [r.type], r.type, [r])
    steep = size > 0.25
    turn = function.select(steep, 0.5 - size, size)
    angle, low = product(function, turn, pi)
    sine, cosine = sine_and_cosine(function, angle, fma(function, turn, pi_low, low))
    ratio = function.select(steep, sine, cosine) / function.select(steep, cosine, sine) * pi
    return function.intrinsic("copysign", [r.type], r.type, [ratio, r])
