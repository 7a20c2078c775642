"""Special functions on the CPU: SciPy's, and orthogonal polynomials by their recurrences; 16-bit floats go through float32."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.backends.cpu.lazy import special, special_function
from saraph.backends.cpu.pointwise import through_float32
from saraph.backends.cpu.table import FUNCTIONS, primitive

for _name, _scipy in {"entr": "entr", "erfcx": "erfcx", "i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "ndtr": "ndtr", "ndtri": "ndtri",
                      "log_ndtr": "log_ndtr", "xlog1py": "xlog1py", "zeta": "zeta", "igamma": "gammainc", "igammac": "gammaincc",
                      "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_k0": "k0",
                      "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e"}.items():
    FUNCTIONS[_name] = through_float32(special_function(_scipy))


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


def _polynomial(first: Callable[[Any], Any], step: Callable[[int, Any, Any, Any], Any], shifted: bool = False) -> Callable[..., Any]:
    """p_n(x) with p_0 = 1, p_1 = first(x), p_{k+1} = step(k, x, p_k, p_{k-1}); 0 below degree 0; `shifted` takes 2x - 1 for x."""

    def evaluate(x: np.ndarray, degree: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            n = np.broadcast_arrays(degree, x)[0].astype(np.int64)
            kind = np.result_type(x)
            x = np.broadcast_to(2 * x - 1 if shifted else x, n.shape)
            before, now = np.ones(n.shape, kind), np.asarray(first(x)).astype(kind)
            result = np.where(n < 0, kind.type(0), before)
            top = int(n.max(initial=0))
            for k in range(1, top + 1):
                result = np.where(n == k, now, result)
                before, now = now, np.asarray(step(k, x, now, before)).astype(kind)
            return result

    return through_float32(evaluate)


def _chebyshev(k: int, x: Any, p: Any, q: Any) -> Any:
    return 2 * x * p - q


_FIRST: dict[str, Callable[[Any], Any]] = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
for _letter, _first in _FIRST.items():
    FUNCTIONS[f"chebyshev_polynomial_{_letter}"] = _polynomial(_first, _chebyshev)
    FUNCTIONS[f"shifted_chebyshev_polynomial_{_letter}"] = _polynomial(_first, _chebyshev, shifted=True)
FUNCTIONS["hermite_polynomial_h"] = _polynomial(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q)
FUNCTIONS["hermite_polynomial_he"] = _polynomial(lambda x: x, lambda k, x, p, q: x * p - k * q)
FUNCTIONS["laguerre_polynomial_l"] = _polynomial(lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1))
FUNCTIONS["legendre_polynomial_p"] = _polynomial(lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))
