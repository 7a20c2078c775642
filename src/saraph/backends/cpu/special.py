"""Special functions on the CPU: SciPy's, and orthogonal polynomials by their recurrences; 16-bit floats go through float32."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.backends.cpu.lazy import special, special_function
from saraph.backends.cpu.pointwise import of_one, through_float32
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import functions

for _name, _scipy in {"entr": "entr", "erfcx": "erfcx", "i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "ndtri": "ndtri",
                      "log_ndtr": "log_ndtr", "xlog1py": "xlog1py",
                      "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_k0": "k0",
                      "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e"}.items():
    FUNCTIONS[_name] = through_float32(special_function(_scipy))

FUNCTIONS["ndtr"] = of_one(functions.ndtr, through_float32(special_function("ndtr")))


def _igamma(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """P(a, x), with PyTorch's limits where one of the two is nan."""
    return _limits(a, x, special.gammainc(a, x), 0, 1)


def _igammac(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _limits(a, x, special.gammaincc(a, x), 1, 0)


def _limits(a: np.ndarray, x: np.ndarray, result: np.ndarray, at_zero: int, at_infinity: int) -> np.ndarray:
    if not np.isnan(result).any():
        return result
    known = np.where(x == 0, at_zero, at_infinity)
    result = np.where(np.isnan(a) & ((x == 0) | np.isposinf(x)), known, result)
    return np.where(np.isposinf(a) & np.isnan(x), at_zero, result).astype(a.dtype)


def _zeta(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hurwitz's zeta; the limit at q = inf is nan, as in PyTorch."""
    return np.where(np.isposinf(q) & (x > 1), x.dtype.type(np.nan), special.zeta(x, q))


for _function in (_igamma, _igammac, _zeta):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)


def _airy_ai(x: np.ndarray) -> np.ndarray:
    return special.airy(x)[0]


def _spherical_bessel_j0(x: np.ndarray) -> np.ndarray:
    """sin(x) / x: 1 at 0, 0 far away."""
    with np.errstate(all="ignore"):
        return np.where(x == 0, x.dtype.type(1), np.where(np.isinf(x), x.dtype.type(0), np.sin(x) / x))


for _function in (_airy_ai, _spherical_bessel_j0):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)


@primitive
def angle(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "c":
        return np.angle(a)
    return np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(np.pi), a.dtype.type(0)))


@primitive
def frexp(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mantissa, exponent = np.frexp(a)
    return np.asarray(mantissa).astype(a.dtype, copy=False), np.asarray(exponent).astype(np.int32, copy=False)


# -- orthogonal polynomials (Abramowitz & Stegun, table 22.7) -----------------------------------------------------------------------

First = Callable[[Any], Any]
Step = Callable[[Any, Any, Any, Any], Any]
CLOSED_FROM = 8  # degrees up from here use a Chebyshev polynomial's trigonometric form inside (-1, 1)


def _recurrence(x: np.ndarray, n: np.ndarray, first: First, step: Step) -> np.ndarray:
    """p_n(x) with p_0 = 1, p_1 = first(x), p_{k+1} = step(k, x, p_k, p_{k-1}); 0 below degree 0.

    Ends where every element has its degree or is nan (which it stays).
    """
    kind = x.dtype
    before, now = np.ones(n.shape, kind), np.asarray(first(x)).astype(kind)
    result = np.where(n < 0, kind.type(0), before)
    k = 1
    while True:
        waiting = n >= k
        if not waiting.any():
            return result
        result = np.where(waiting, now, result)
        if np.isnan(now[waiting]).all():
            return result
        before, now = now, np.asarray(step(k, x, now, before)).astype(kind)
        k += 1


def _polynomial(first: First, step: Step, closed: Callable[[Any, Any], Any] | None = None, shifted: bool = False) -> Callable[..., Any]:
    """A polynomial primitive: `closed(x, n)` gives large degrees inside [-1, 1]; `shifted` takes 2x - 1 for x."""

    def evaluate(x: np.ndarray, degree: np.ndarray) -> np.ndarray:
        kind = x.dtype
        with np.errstate(all="ignore"):
            degree, x = np.broadcast_arrays(degree, 2 * x - 1 if shifted else x)
            n = degree.astype(np.int64)
            if closed is None:
                return _recurrence(x.astype(np.float64), n, first, step).astype(kind)
            use_closed = (n >= CLOSED_FROM) & (np.abs(x) <= 1)
            result = _recurrence(x, np.where(use_closed, 0, n), first, step)
            return np.where(use_closed, closed(x.astype(np.float64), n), result).astype(kind)

    return through_float32(evaluate)


def _angle_ratio(above: Callable[[Any, Any], Any], below: Callable[[Any], Any], right: Callable[[Any], Any], left: Callable[[Any], Any]) -> Any:
    """above(n, t) / below(t) at x = cos t, with the limits at x = 1 and x = -1 as functions of n."""

    def closed(x: np.ndarray, n: np.ndarray) -> np.ndarray:
        t = np.arccos(x)
        sign = np.where(n % 2 == 0, 1, -1)
        return np.where(x == 1, right(n), np.where(x == -1, sign * left(n), above(n, t) / below(t)))

    return closed


def _chebyshev(k: Any, x: Any, p: Any, q: Any) -> Any:
    return 2 * x * p - q


def _one(n: Any) -> Any:
    return n * 0 + 1


def _odd(n: Any) -> Any:
    return 2 * n + 1


for _letter, _first, _closed in (
        ("t", lambda x: x, _angle_ratio(lambda n, t: np.cos(n * t), _one, _one, _one)),
        ("u", lambda x: 2 * x, _angle_ratio(lambda n, t: np.sin((n + 1) * t), np.sin, lambda n: n + 1, lambda n: n + 1)),
        ("v", lambda x: 2 * x - 1, _angle_ratio(lambda n, t: np.cos((n + 0.5) * t), lambda t: np.cos(t / 2), _one, _odd)),
        ("w", lambda x: 2 * x + 1, _angle_ratio(lambda n, t: np.sin((n + 0.5) * t), lambda t: np.sin(t / 2), _odd, _one))):
    FUNCTIONS[f"chebyshev_polynomial_{_letter}"] = _polynomial(_first, _chebyshev, _closed)
    FUNCTIONS[f"shifted_chebyshev_polynomial_{_letter}"] = _polynomial(_first, _chebyshev, _closed, shifted=True)
FUNCTIONS["hermite_polynomial_h"] = _polynomial(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q)
FUNCTIONS["hermite_polynomial_he"] = _polynomial(lambda x: x, lambda k, x, p, q: x * p - k * q)
FUNCTIONS["laguerre_polynomial_l"] = _polynomial(lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1))
FUNCTIONS["legendre_polynomial_p"] = _polynomial(lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))
