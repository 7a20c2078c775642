"""How gamma and beta numbers move with their parameters when their place in the distribution stays: -(dF/dp) / f, F the distribution
function and f the density. Computed in float64 to about 12 digits, whatever the parameters.

dF/dp is the integral of f times a factor that changes its sign once. Integrated from the side of x where the factor has one sign, nothing
cancels: by the power series of the integral where it converges fast, else by Gauss-Legendre in a variable in which the integrand is
exp(concave function), up to where that has fallen to exp(-42).
"""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from saraph.backends.cpu.lazy import special
from saraph.backends.cpu.table import primitive

_FALL = 42.0
_FEW = 30.0  # parameters up to which the series converge fast
_MOST_TERMS = 600


@functools.cache
def _nodes() -> list[tuple[float, float]]:
    """Places and weights of Gauss-Legendre on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(56)
    return [((p + 1) / 2, w / 2) for p, w in zip(places.tolist(), weights.tolist())]


def _summed(first: np.ndarray, shift: np.ndarray, ratio: Any, step: Any) -> np.ndarray:
    """The sum of c_n (first - shift_n), c_0 = 1, c_(n+1) = c_n ratio(n), shift_(n+1) = shift_n - step(n), all terms of one sign."""
    total, c = first - shift, np.ones_like(first)
    for n in range(_MOST_TERMS):
        c = c * ratio(n)
        shift = shift - step(n)
        term = c * (first - shift)
        total = total + term
        if not (np.abs(term) > 1e-17 * np.abs(total)).any():
            break
    return total


def _gamma_by_series(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    """F = x^a e^-x sum x^n / gamma(a + n + 1), differentiated term by term."""
    return -x / a * _summed(np.log(x), special.digamma(a + 1), lambda n: x / (a + n + 1), lambda n: -1 / (a + n + 1))


def _gamma_by_quadrature(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The integral over t = x e^(side s), from x up (side 1) or down (side -1)."""
    factor = np.log(x) - special.digamma(a)
    side = np.where(factor > 0, 1.0, -1.0)
    end = np.where(side > 0, (0.5 + np.sqrt(0.25 + 2 * x * _FALL)) / x, (x + _FALL) / a)
    for _ in range(40):  # Newton from the right of the end of a concave function
        step = (side * a * end - x * np.expm1(side * end) + _FALL) / (side * (a - x * np.exp(side * end)))
        end = end - step
        if not (np.abs(step) > 1e-6 * end).any():
            break
    total = np.zeros_like(x)
    for place, weight in _nodes():
        s = end * place
        total = total + weight * np.exp(side * a * s - x * np.expm1(side * s)) * (side * factor + s)
    return x * end * total


def _beta_by_lower_series(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """F = x^a (1 - x)^b / gamma(b) sum gamma(a + b + n) / gamma(a + 1 + n) x^n, differentiated term by term."""
    shift = special.digamma(a + 1) - special.digamma(a + b)
    return -x / a * _summed(np.log(x), shift, lambda n: x * (a + b + n) / (a + 1 + n), lambda n: 1 / (a + b + n) - 1 / (a + 1 + n))


def _beta_by_upper_series(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same for 1 - F, in y = 1 - x."""
    y = 1 - x
    shift = special.digamma(a) - special.digamma(a + b)
    return x / b * _summed(np.log(x), shift, lambda n: y * (a + b + n) / (b + 1 + n), lambda n: 1 / (a + b + n))


def _beta_by_quadrature(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The integral over logit(t) = logit(x) + side s."""
    factor = np.log(x) - special.digamma(a) + special.digamma(a + b)
    side = np.where(factor > 0, 1.0, -1.0)
    end = (_FALL - (a + b) * np.where(side > 0, np.log(x), np.log1p(-x))) / np.where(side > 0, b, a)
    for _ in range(60):
        grown = np.exp(side * end)
        mixed = 1 - x + x * grown
        step = (side * a * end - (a + b) * np.log(mixed) + _FALL) / (side * (a - (a + b) * x * grown / mixed))
        end = end - step
        if not (np.abs(step) > 1e-6 * end).any():
            break
    total = np.zeros_like(x)
    for place, weight in _nodes():
        s = end * place
        m = np.log1p(x * np.expm1(side * s))
        total = total + weight * np.exp(side * a * s - (a + b) * m) * (side * (factor - m) + s)
    return x * end * total


def _chosen(choices: list[tuple[np.ndarray, Any]], arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """For each element what the first choice that is true there gives; nan where none is."""
    result = np.full(arrays[0].shape, np.nan)
    left = np.ones(arrays[0].shape, bool)
    with np.errstate(all="ignore"):
        for where, function in choices:
            here = left & where
            if here.any():
                result[here] = function(*[a[here] for a in arrays])
            left &= ~where
    return result


@primitive
def gamma_slope(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    """dx/da of gamma numbers x (of rate 1) with shape parameters a."""
    kind = x.dtype
    x, a = np.broadcast_arrays(x.astype(np.float64), a.astype(np.float64))
    with np.errstate(all="ignore"):
        series = (a <= _FEW) & (x <= np.exp(special.digamma(a + 1)))
    return _chosen([((x <= 0) & (a >= 0), lambda x, a: np.zeros_like(x)), (series, _gamma_by_series),
                    ((x < np.inf) & (a > 0), _gamma_by_quadrature)], (x, a)).astype(kind)


@primitive
def beta_slope(x: np.ndarray, a: np.ndarray, total: np.ndarray) -> np.ndarray:
    """dx/da / (1 - x) of beta numbers x with parameters a and total - a."""
    kind = x.dtype
    x, a, total = np.broadcast_arrays(x.astype(np.float64), a.astype(np.float64), total.astype(np.float64))
    b = total - a
    with np.errstate(all="ignore"):
        balance = np.exp(special.digamma(a) - special.digamma(a + b))
        below = (x <= np.exp(special.digamma(a + 1) - special.digamma(a + b))) & np.where(a <= 1, x <= 0.9, (a <= _FEW) & (x <= 0.5))
    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    return _chosen([((x <= 0) | (x >= 1), lambda x, a, b: np.zeros_like(x)), (inside & below, _beta_by_lower_series),
                    (inside & (x > 0.5) & (x >= balance) & (b <= _FEW), _beta_by_upper_series), (inside, _beta_by_quadrature)],
                   (x, a, b)).astype(kind)
