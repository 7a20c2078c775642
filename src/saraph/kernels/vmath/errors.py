"""The error function and its kin."""
from __future__ import annotations

from saraph.kernels.ir import Function, Value
from saraph.kernels.vmath.base import Terms, absolute, at_most, copysign, fma, series
from saraph.kernels.vmath.exponentials import exp_of_moderate

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
_ERF_FROM = {"float": 0.935, "double": 0.99}
_ERF_ONE = {"float": 3.95, "double": 5.95}


def erf(function: Function, x: Value) -> Value:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x: an odd polynomial, and further out 1 - exp(polynomial)."""
    kind = x.type.scalar
    size = absolute(function, x)
    small = fma(function, x, series(function, x * x, _ERF_SMALL), x)
    t = at_most(function, size, _ERF_ONE[kind])
    rest = exp_of_moderate(function, -fma(function, t, series(function, t, _ERF_LARGE), t))
    return function.select(size < _ERF_FROM[kind], small, copysign(function, 1.0 - rest, x))
