"""Special functions: Bessel functions, the normal distribution, incomplete gamma functions, orthogonal polynomials."""
from __future__ import annotations

import functools
import math
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import arithmetic, pointwise, promotion, return_types
from saraph.ops.activation import log_softmax, softmax
from saraph.ops.families import binary, compute, unary
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import NAMESPACES, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many, unpack

SPACE = "special"
BOTH = ("torch", SPACE)
_ROOT = math.sqrt(2 * math.pi)


def _special(name: str, dx: Any, keep: str, doc: str, spaces: Any = SPACE, method: bool = False) -> Any:
    return unary(name, dx, keep, doc=doc, namespaces=spaces, method=method, inplace=method, kinds="f",
                 node="Special" + name.title().replace("_", "") + "Backward0")


# -- the normal distribution and entropies -------------------------------------------------------------------------------------------

entr = _special("entr", lambda g, x, y: g * (-x.log() - 1).masked_fill(x < 0, math.nan), "x", "-x log x; 0 at 0, -inf below.")
erfcx = _special("erfcx", lambda g, x, y: g * (2 * x * y - 2 / math.sqrt(math.pi)), "xy", "exp(x^2) erfc(x).")
ndtr = _special("ndtr", lambda g, x, y: g * (x * x * -0.5).exp() / _ROOT, "x", "The area under the standard normal density left of x.")
ndtri = _special("ndtri", lambda g, x, y: g * (y * y * 0.5).exp() * _ROOT, "y", "The inverse of ndtr.")
log_ndtr = _special("log_ndtr", lambda g, x, y: g / erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi), "x", "log(ndtr(x)), accurate far to the left.")

# -- Bessel functions --------------------------------------------------------------------------------------------------------------------

i0 = _special("i0", lambda g, x, y: g * i1(x), "x", "The modified Bessel function of the first kind, of order 0.", BOTH, True)
i0e = _special("i0e", lambda g, x, y: g * (i1e(x) - x.sgn() * y), "xy", "i0(x) exp(-|x|).")
i1 = _special("i1", lambda g, x, y: g * (i0(x) - y / x).masked_fill(x == 0, 0.5), "xy", "The modified Bessel function of the first kind, of order 1.")
i1e = _special("i1e", lambda g, x, y: g * (i0e(x) - y * (x.sgn() + x.reciprocal())).masked_fill(x == 0, 0.5), "xy", "i1(x) exp(-|x|).")
for _name, _what in {"airy_ai": "The Airy function Ai.", "bessel_j0": "The Bessel function of the first kind, of order 0.",
                     "bessel_j1": "The Bessel function of the first kind, of order 1.", "bessel_y0": "The Bessel function of the second kind, of order 0.",
                     "bessel_y1": "The Bessel function of the second kind, of order 1.",
                     "modified_bessel_k0": "The modified Bessel function of the second kind, of order 0.",
                     "modified_bessel_k1": "The modified Bessel function of the second kind, of order 1.",
                     "scaled_modified_bessel_k0": "modified_bessel_k0(x) exp(x).", "scaled_modified_bessel_k1": "modified_bessel_k1(x) exp(x).",
                     "spherical_bessel_j0": "sin(x) / x."}.items():
    _special(_name, None, "", _what)
modified_bessel_i0 = unary("modified_bessel_i0", None, doc="i0(x).", primitive="i0", kinds="f", namespaces=SPACE, method=False, inplace=False)
modified_bessel_i1 = unary("modified_bessel_i1", None, doc="i1(x).", primitive="i1", kinds="f", namespaces=SPACE, method=False, inplace=False)

def _no_derivative(what: str) -> Any:
    """A formula for what has no derivative in PyTorch either: NotImplementedError when the gradient is asked for."""
    return functools.partial(_refuse_gradient, what)


def _refuse_gradient(what: str, g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    message = f"the derivative for '{what}' is not implemented."
    raise NotImplementedError(message)


# -- two arguments ------------------------------------------------------------------------------------------------------------------

xlog1py = binary("xlog1py", lambda g, x, y: (g * y.log1p()).masked_fill((x == 0) & (y <= -1), 0), lambda g, x, y: g * x / (y + 1), ("xy", "xy"),
                 fraction=True, kinds="bif", numbers="xy", namespaces=SPACE, method=False, inplace=False,
                 node="SpecialXlog1PyBackward0", doc="input log1p(other), 0 where input is 0.")
zeta = binary("zeta", _no_derivative("zeta"), lambda g, x, y: g * -x * zeta(x + 1, y), ("", "xy"), fraction=True, kinds="bif", numbers="xy",
              namespaces=SPACE, method=False, inplace=False, node="SpecialZetaBackward0",
              doc="The Hurwitz zeta function: the sum of (k + other)^-input over k = 0, 1, ...")


def _gamma_density(x: Tensor, y: Tensor) -> Tensor:
    """The derivative of igamma(x, y) in y: y^(x - 1) e^-y / gamma(x)."""
    return ((x - 1) * y.log() - y - x.lgamma()).exp()


igamma = binary("igamma", _no_derivative("igamma: input"), lambda g, x, y: g * _gamma_density(x, y), ("", "xy"), kinds="f", numbers="",
                doc="The regularised lower incomplete gamma function P(input, other).")
igammac = binary("igammac", _no_derivative("igammac: input"), lambda g, x, y: -g * _gamma_density(x, y), ("", "xy"), kinds="f", numbers="",
                 doc="The regularised upper incomplete gamma function Q(input, other).")
for _name in (*(f"{_shift}chebyshev_polynomial_{_letter}" for _shift in ("", "shifted_") for _letter in "tuvw"), "hermite_polynomial_h",
              "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"):
    binary(_name, None, None, fraction=True, kinds="bif", numbers="xy", namespaces=SPACE, method=False, inplace=False,
           doc="The polynomial of degree `other` at `input`.")

# -- the rest -------------------------------------------------------------------------------------------------------------------------


@op(method=True, inplace=True, aliases=())
def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, of elements above (p - 1) / 2."""
    x = check_tensor(input, "mvlgamma")
    if x.dtype is dtypes.bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    x = promotion.cast(x, promotion.float_dtype(x.dtype))
    result = x.lgamma() + p * (p - 1) / 4 * math.log(math.pi)
    for k in range(1, p):
        result = result + (x - k / 2).lgamma()
    return result


@derivative("LdexpBackward0")
def LdexpBackward(node: Any, g: Tensor) -> Tensor:
    (exponent,) = unpack(node)
    return promotion.unbroadcast(ldexp(g, exponent), node.shape)


@op(method=True, inplace=True)
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input 2^other. With integer exponents exact wherever the result is a normal number."""
    promotion.check_operands("ldexp", input, other, "")
    if other.dtype.category < 2 and input.dtype.category < 3:
        x = promotion.cast(input, promotion.float_dtype(input.dtype))
        exponent = promotion.cast(other, dtypes.int64)
        return record(compute("ldexp", x._a, exponent._a), LdexpBackward, (x,), (exponent,), shape=x._a.shape)
    if other.dtype.category < 2:
        other = promotion.cast(other, input.dtype.to_real())
    return input * arithmetic.pow(2.0, other)


@derivative("FrexpBackward0", outputs=2)
def FrexpBackward(node: Any, g: Tensor, _: Any) -> Tensor:
    (exponent,) = unpack(node)
    return g / exponent.exp2().to(g.dtype)


@op(method=True)
def frexp(input: Tensor, *, out: Any = None) -> Any:
    """(mantissa, exponent): input = mantissa 2^exponent, with |mantissa| in [0.5, 1) and the exponent an int32."""
    x = check_tensor(input, "frexp")
    if not x.is_floating_point():
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {x.dtype!r}")
    found = record_many(of(x._a).frexp(x._a), FrexpBackward, (x,), differentiable=(0,), save_results=(1,))
    return return_types.frexp(found)


for _name, _function in {"digamma": pointwise.digamma, "psi": pointwise.digamma, "exp2": pointwise.exp2, "expm1": pointwise.expm1,
                         "expit": NAMESPACES["torch"]["sigmoid"], "gammaln": pointwise.lgamma, "gammainc": igamma, "gammaincc": igammac,
                         "log1p": pointwise.log1p, "round": pointwise.round, "polygamma": pointwise.polygamma, "multigammaln": mvlgamma,
                         "softmax": softmax, "log_softmax": log_softmax}.items():
    NAMESPACES[SPACE][_name] = _function
