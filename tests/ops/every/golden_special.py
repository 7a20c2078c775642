"""Special functions, against SciPy and mpmath."""
import math

import mpmath
import numpy as np
import scipy.special as sp
from golden import P, Q, U, X, Y, case

Z = np.array([0.4, 1.3, 3.7, 8.5, 12.0])  # both sides of where series and asymptotic expansions meet
N = np.array([0.0, 1.0, 2.0, 3.0, 5.0])  # degrees of polynomials
T = np.array([0.3, -0.7, 0.9, -0.2, 0.5])


def by_mpmath(function, *arrays):
    with mpmath.workdps(30):
        return np.array([float(function(*(mpmath.mpf(float(v)) for v in values))) for values in zip(*arrays)])


for _name, _of in {"erf": sp.erf, "erfc": sp.erfc, "special.erfcx": sp.erfcx, "special.ndtr": sp.ndtr, "special.log_ndtr": sp.log_ndtr,
                   "i0": sp.i0, "special.i0e": sp.i0e, "special.i1": sp.i1, "special.i1e": sp.i1e}.items():
    case(_name, _of, X)
    case(_name, _of, np.concatenate([Z, -Z]))
case("erf", by_mpmath(mpmath.erf, Z), Z)
case("i0", by_mpmath(lambda z: mpmath.besseli(0, z), Z), Z)
case("erfinv", sp.erfinv, U)
case("special.ndtri", sp.ndtri, Q)
case("special.entr", sp.entr, np.array([0.3, 1.2, 2.5]))
case("special.entr", np.array([0.0, -math.inf]), np.array([0.0, -1.0]), _grad="on the border")
case("lgamma", sp.gammaln, P)
case("lgamma", sp.gammaln, np.array([-0.5, -1.7, 20.0, 100.5]))
case("digamma", sp.digamma, P)
case("digamma", by_mpmath(mpmath.digamma, [-0.5, -1.7, 20.0]), np.array([-0.5, -1.7, 20.0]))
case("polygamma", sp.polygamma(1, P), 1, P)
case("polygamma", sp.polygamma(3, P), 3, P)
case("mvlgamma", sp.multigammaln(np.array(2.5), 3) * np.ones(2), np.array([2.5, 2.5]), 3)
case("mvlgamma", np.array([[sp.multigammaln(v, 2) for v in row] for row in P + 1]), P + 1, 2)
case("special.zeta", sp.zeta, P + 1.5, np.array([[1.0, 2.0, 0.5], [3.0, 1.5, 4.0]]), _fixed=(0, 1))
case("igamma", sp.gammainc, P, np.array([[0.5, 2.0, 1.0], [1.7, 3.0, 0.2]]), _fixed=(0,))
case("igammac", sp.gammaincc, P, np.array([[0.5, 2.0, 1.0], [1.7, 3.0, 0.2]]), _fixed=(0,))
case("special.xlog1py", X * np.log1p(P), X, P)

UNDIFFERENTIATED = {
    "special.airy_ai": lambda x: sp.airy(x)[0], "special.bessel_j0": sp.j0, "special.bessel_j1": sp.j1, "special.modified_bessel_i0": sp.i0,
    "special.modified_bessel_i1": sp.i1, "special.spherical_bessel_j0": lambda x: np.sin(x) / x}
for _name, _of in UNDIFFERENTIATED.items():
    case(_name, _of, X, _grad=False)
    case(_name, _of, Z, _grad=False)
for _name, _of in {"special.bessel_y0": sp.y0, "special.bessel_y1": sp.y1, "special.modified_bessel_k0": sp.k0, "special.modified_bessel_k1": sp.k1,
                   "special.scaled_modified_bessel_k0": sp.k0e, "special.scaled_modified_bessel_k1": sp.k1e}.items():
    case(_name, _of, Z, _grad=False)
case("special.airy_ai", by_mpmath(mpmath.airyai, Z), Z, _grad=False)
case("special.bessel_j0", by_mpmath(lambda z: mpmath.besselj(0, z), Z), Z, _grad=False)
case("special.modified_bessel_k0", by_mpmath(lambda z: mpmath.besselk(0, z), Z), Z, _grad=False)


def third_kind(x, n):
    """V_n(cos a) = cos((n + 1/2) a) / cos(a / 2)."""
    a = np.arccos(x)
    return np.cos((n + 0.5) * a) / np.cos(a / 2)


def fourth_kind(x, n):
    """W_n(cos a) = sin((n + 1/2) a) / sin(a / 2)."""
    a = np.arccos(x)
    return np.sin((n + 0.5) * a) / np.sin(a / 2)


KINDS = {"chebyshev_polynomial_t": lambda x, n: sp.eval_chebyt(n, x), "chebyshev_polynomial_u": lambda x, n: sp.eval_chebyu(n, x),
         "chebyshev_polynomial_v": third_kind, "chebyshev_polynomial_w": fourth_kind}
for _name, _of in KINDS.items():
    case(f"special.{_name}", _of, T, N, _grad=False)
    case(f"special.shifted_{_name}", _of(2 * np.abs(T) - 1, N), np.abs(T), N, _grad=False)
for _name, _of in {"hermite_polynomial_h": sp.eval_hermite, "hermite_polynomial_he": sp.eval_hermitenorm, "laguerre_polynomial_l": sp.eval_laguerre,
                   "legendre_polynomial_p": sp.eval_legendre}.items():
    case(f"special.{_name}", lambda x, n, _of=_of: _of(n.astype(int), x), T, N, _grad=False)
case("special.hermite_polynomial_h", np.array([8 * 0.5 ** 3 - 12 * 0.5]), np.array([0.5]), np.array([3.0]), _grad=False)

# -- along a dimension
case("softmax", sp.softmax, X, 1)
case("softmax", sp.softmax(X, 0), X, 0)
case("log_softmax", sp.log_softmax, X, 1)
case("logsumexp", lambda x, d: sp.logsumexp(x, d), X, 1)
case("logsumexp", sp.logsumexp(X), X, (0, 1))
case("logcumsumexp", np.logaddexp.accumulate(X, 1), X, 1)
case("cosine_similarity", (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1), X, Y)
