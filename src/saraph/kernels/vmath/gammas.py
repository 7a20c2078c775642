"""The logarithm of the gamma function and its derivative: lgamma, digamma."""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import Terms, absolute, bits, fma, polynomial, product, series, unary
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
#: log(gamma(x)) / ((x - 1) (x - 2)) in powers of x - 2, on [1, 3].
_LGAMMA: Terms = {
    "float": (0.42278433, -0.10031728, 0.03296558, -0.012384913, 0.004991839, -0.0021023736, 0.00094363897, -0.0004248988, 0.00013130781,
              -5.3069314e-05, 7.7924655e-05, -3.8502854e-05),
    "double": (0.42278433509846713, -0.1003173016743539, 0.03296500062115722, -0.012384192193374, 0.004998641164614694, -0.0021081308338387335,
               0.000915376924266468, -0.0004057073998070152, 0.00018255261308608664, -8.309510102156805e-05, 3.816909104613098e-05,
               -1.7661849805615064e-05, 8.221175166476745e-06, -3.846534528535409e-06, 1.8115559052137682e-06, -8.554311007416998e-07,
               3.955760637808064e-07, -1.8622049016353566e-07, 1.0462714311060649e-07, -5.192902566988864e-08, 5.528877137605947e-09,
               -8.789213754943667e-10, 1.6417396358443205e-08, -8.900612396429652e-09, -4.3886181962149716e-09, 2.4526652871043205e-09,
               1.5861811411450985e-09, -8.165656716801822e-10)}
#: Stirling's series: sum of B_2k / (2 k (2 k - 1) x^(2k - 1)), from 11 on (Abramowitz and Stegun, 6.1.40).
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
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


def _half_turn(function: Function, r: Value) -> tuple[Value, Value]:
    """The sine and the cosine of pi |r|, |r| <= 1 / 2."""
    pi, pi_low = _PI[r.type.scalar]
    size = absolute(function, r)
    steep = size > 0.25
    turn = function.select(steep, 0.5 - size, size)
    angle, low = product(function, turn, pi)
    sine, cosine = sine_and_cosine(function, angle, fma(function, turn, pi_low, low))
    return function.select(steep, cosine, sine), function.select(steep, sine, cosine)


def _pi_cotangent(function: Function, r: Value) -> Value:
    """pi / tan(pi r) for |r| <= 1 / 2."""
    sine, cosine = _half_turn(function, r)
    return function.intrinsic("copysign", [r.type], r.type, [cosine / sine * math.pi, r])


def lgamma(function: Function, x: Value) -> Value:
    """log(|gamma(x)|); infinite at 0, the negative integers and the infinities."""
    negative = x < -(2.0**-60)  # nearer to 0 it is -log(|x|) on both sides
    y = function.select(negative, 1.0 - x, absolute(function, x))
    positive = _lgamma_of_positive(function, y)
    # log(|gamma(x) gamma(1 - x)|) = log(pi / |sin(pi x)|)
    whole = unary(function, "rint", x)
    sine, _ = _half_turn(function, x - whole)
    reflected = (math.log(math.pi) - log(function, sine)) - positive
    result = function.select(negative, reflected, positive)
    pole = (x <= 0.0) & x.equals(whole)
    return function.select(pole | x.equals(math.inf), math.inf, result)


def _lgamma_of_positive(function: Function, y: Value) -> Value:
    """From [1, 3] by steps of one, whose factors make one logarithm; from 11 on by Stirling's series."""
    one = function.constant(y.type, 1.0)
    small, large = y < 1.0, y > 11.0
    # What is beyond 2; for small y it is that of y + 1, which would lose digits.
    beyond, factors = y - function.select(small, one, function.select(large, y, 2.0)), one
    for _ in range(8):
        above = beyond > 1.0
        beyond = function.select(above, beyond - 1.0, beyond)
        factors = factors * function.select(above, beyond + 2.0, one)
    logarithm = log(function, function.select(small | large, y, factors))
    roots = function.select(small, y, beyond + 1.0) * beyond
    near = fma(function, roots, series(function, beyond, _LGAMMA), function.select(small, -logarithm, logarithm))
    inverse = one / y
    far = fma(function, y - 0.5, logarithm - 1.0, fma(function, inverse, polynomial(function, inverse * inverse, _STIRLING), math.log(2 * math.pi) / 2 - 0.5))
    return function.select(large, far, near)
