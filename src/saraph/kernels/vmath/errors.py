"""The error function and its kin."""
from __future__ import annotations

import math

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import Terms, absolute, at_most, copysign, fma, polynomial, product, series, square_root, two_sum
from saraph.kernels.vmath.exponentials import exp_of_moderate, expm1_of_rest, scaled, split
from saraph.kernels.vmath.logarithms import log

#: erf(x) / x - 1 in powers of x^2, on |x| < 0.95 (float) and |x| < 1 (double).
_ERF_SMALL: Terms = {
    "float": (0.12837917, -0.37612632, 0.11283671, -0.026858067, 0.0051977267, -0.0008105208, 8.212246e-05),
    "double": (0.1283791670955126, -0.37612638903183876, 0.11283791670958745, -0.026866170645620385, 0.005223977629105892,
               -0.0008548327190270218, 0.00012055337803861744, -1.4925739160246316e-05, 1.6463097941614555e-06, -1.6370755504540343e-07,
               1.4787345855589465e-08, -1.1833690796674116e-09, 6.690084021960851e-11)}
#: -log(1 - erf(x)) / x - 1 from there to where erf is 1, to rounding; the error weighs as much as it does in erf.
_ERF_LARGE: Terms = {
    "float": (0.12865324, 0.63513154, 0.106270365, -0.023791566, 0.0036567133, -0.00032638203, 1.1595656e-05),
    "double": (0.12837921443487385, 0.6366192282789319, 0.10277555114277152, -0.01913846005301576, -0.00018527555818995863,
               0.001653492373700161, -0.0005309806016082012, -3.9078114304346574e-05, 0.00012181867593680183, -7.056807281733527e-05,
               2.677193359656661e-05, -7.654352370624842e-06, 1.7157172280756813e-06, -3.038866923479446e-07, 4.216482186057825e-08,
               -4.482478981819272e-09, 3.512453453694844e-10, -1.8998307590383358e-11, 6.273976600961961e-13, -9.384038062699547e-15)}
#: (1 + 2 x) exp(x^2) erfc(x) in powers of (x - k) / (x + k), from x = 0.47 to where erfc underflows; M. Shepherd and J. Laframboise, Chebyshev
#: Approximation of (1 + 2x) exp(x^2) erfc x (1981).
_ERFC: Terms = {
    "float": (1.2769784, -0.09276382, -0.16602999, 0.16405082, -0.054225758, -0.008026722, 0.008755639, 0.0012247947, -0.001538537, -0.00032196767,
              0.0002771375),
    "double": (1.2329951186255526, -0.13962111684056253, 0.015379652102613158, 0.06809705425469338, -0.10103906603602145, 0.09373283499834834,
               -0.06633036581785157, 0.03716751553706036, -0.016197733995238547, 0.0050319699868642005, -0.0007577737144369292,
               -0.00019925678016956597, 0.00015062354490711, -2.4398737137100396e-05, -1.1227434603883634e-05, 5.70806869918616e-06,
               3.040578164433543e-07, -8.217419026040768e-07, 6.236866308611038e-08, 1.0502935205596969e-07, -9.516479700005464e-09,
               -1.0254883329396048e-08, -6.716152414245579e-10)}
_ERFC_CENTER = {"float": 2.0, "double": 4.0}
_ERFC_ZERO = {"float": 10.1, "double": 27.3}
#: erfinv(x) / x in powers of w - center, and of sqrt(w) - center, where w = -log(1 - x^2); the ranges overlap.
_ERFINV_NEAR: Terms = {
    "float": (1.5014094, 0.2466403, -0.0041775107, -0.0012527579, 0.00021842704, -4.9548094e-06, -3.4849088e-06, 4.644346e-07, 2.5770467e-08,
              -8.671771e-09, -9.9735796e-11),
    "double": (1.6596547346987778, 0.23985512170845985, -0.006088525485266596, -0.0007221163000590342, 0.00018498632211178982,
               -1.4081811247792251e-05, -1.2918744265944228e-06, 4.17574168268671e-07, -2.9966316038307204e-08, -3.851760043976827e-09,
               1.0358101344015349e-09, -5.790874994569563e-11, -1.212863183459004e-11, 2.5996615730038108e-12, -9.527318872553905e-14,
               -3.740868037761853e-14, 6.499415897398307e-15, -9.357885231340417e-17, -1.1544488530754092e-16, 1.583177394600447e-17,
               4.796737583136734e-19, -3.38391044056649e-19, 1.9677668284239693e-20, 3.023164058765117e-21, -3.226133979429322e-22)}
_ERFINV_FAR: Terms = {
    "float": (2.8329768, 1.0016749, 0.009444816, -0.0076360675, 0.005690041, -0.003602903, 0.0014783677, -4.7280908e-05, -0.00030497965,
              0.00011010859),
    "double": (3.0838856104922208, 1.0052589676941655, 0.005370914553544139, -0.003751208508230537, 0.0024914420983577004, -0.001688275535281942,
               0.0009532893348225925, -0.00035503781608891037, 2.4031575462265673e-05, 6.828713506820238e-05, -4.732102911462934e-05,
               1.2464947467610666e-05, 2.9337937146899833e-06, -3.985481302466604e-06, 1.478922679102822e-06, -2.7990000423442396e-08,
               -2.4188942685435066e-07, 1.3192571874310414e-07, -2.363789542556042e-08, -1.543535191610186e-08, 8.560558419288012e-09)}
_ERFINV_FARTHEST = (4.849906401408584, 1.0103004648645457, -0.00013871931838233478, -0.00021503011984470508, 7.599527809231229e-05,
                    -1.9681770472666627e-05, 4.526052872191324e-06, -9.930307814789334e-07, 2.290501267368606e-07, -6.75516185771108e-08,
                    2.9028148901760915e-08, -1.5263606625077443e-08, 7.80328753349136e-09, -3.4622552405575382e-09, 1.3353735701132628e-09,
                    -4.4267088975427583e-10, 5.867642321161562e-11, 4.4050167879341574e-11, -1.788036293273983e-11)
_NEAR_CENTER, _NEAR_END, _FAR_CENTER = {"float": 2.5, "double": 3.15}, {"float": 4.97, "double": 6.25}, {"float": 3.0, "double": 3.25}
#: sqrt(1 / 2) in two parts.
_ROOT_HALF = {"float": (0.7071067690849304, 1.2101617485882343e-08), "double": (0.7071067811865476, -4.833646656726457e-17)}
_ERF_FROM = {"float": 0.935, "double": 0.99}
_ERF_ONE = {"float": 3.95, "double": 5.95}


def _erf_small(function: Function, x: Value) -> Value:
    return fma(function, x, series(function, x * x, _ERF_SMALL), x)


def erf(function: Function, x: Value) -> Value:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x: an odd polynomial, and further out 1 - exp(polynomial)."""
    kind = x.type.scalar
    size = absolute(function, x)
    small = _erf_small(function, x)
    t = at_most(function, size, _ERF_ONE[kind])
    rest = exp_of_moderate(function, -fma(function, t, series(function, t, _ERF_LARGE), t))
    return function.select(size < _ERF_FROM[kind], small, copysign(function, 1.0 - rest, x))


def _tail(function: Function, x: Value, more: Value | None) -> Value:
    """erfc(x) for x > 0.47, where `more` is to be added to x."""
    kind = x.type.scalar
    center = _ERFC_CENTER[kind]
    x = at_most(function, x, _ERFC_ZERO[kind])
    smooth = series(function, (x - center) / (x + center), _ERFC)
    below, lost = two_sum(x + x, function.constant(x.type, 1.0))
    inverse = function.constant(x.type, 1.0) / below
    ratio = smooth * inverse
    ratio_low = fma(function, ratio, -lost, fma(function, ratio, -below, smooth)) * inverse
    square, square_low = product(function, x, x)
    if more is not None:
        square_low = fma(function, x + x, more, square_low)
    r, power = split(function, -square)
    return scaled(function, ratio + fma(function, expm1_of_rest(function, r - square_low), ratio, ratio_low), power)


def erfc(function: Function, x: Value, more: Value | None = None) -> Value:
    """1 - erf(x) without the loss of small values. `more` is what rounding took from x, where that is known."""
    size = absolute(function, x)
    low = None if more is None else function.select(x < 0.0, -more, more)
    tail = _tail(function, size, low)
    near = 1.0 - _erf_small(function, x)
    return function.select(size < 0.5, near, function.select(x < 0.0, 2.0 - tail, tail))


def ndtr(function: Function, x: Value) -> Value:
    """The distribution function of the standard normal distribution, erfc(-x / sqrt(2)) / 2."""
    factor, factor_low = _ROOT_HALF[x.type.scalar]
    scaled_x, low = product(function, x, -factor)
    low = fma(function, x, -factor_low, low)
    return erfc(function, scaled_x, function.select(absolute(function, x) < 100.0, low, 0.0)) * 0.5


def erfinv(function: Function, x: Value) -> Value:
    """The inverse of erf, as x times a function of w = -log(1 - x^2) or of its root (after M. Giles, Approximating the erfinv Function, 2010)."""
    kind = x.type.scalar
    w = -log(function, fma(function, x, -x, 1.0))
    root = square_root(function, w)
    near = series(function, w - _NEAR_CENTER[kind], _ERFINV_NEAR)
    far = series(function, root - _FAR_CENTER[kind], _ERFINV_FAR)
    factor = function.select(w < _NEAR_END[kind], near, far)
    if kind == "double":
        factor = function.select(w < 16.05, factor, polynomial(function, root - 5.0, _ERFINV_FARTHEST))
    return function.select(w < math.inf, x * factor, w * x)
