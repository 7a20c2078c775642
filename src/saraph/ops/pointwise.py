"""Pointwise maths: exponentials, trigonometry, rounding, signs, minima and maxima, tests."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.arithmetic import divide_floor, divide_true, minus, no_bool, scaled
from saraph.ops.arithmetic import pow as power
from saraph.ops.complex import view_as_complex, view_as_real
from saraph.ops.families import binary, reflected, unary
from saraph.ops.inplace import update
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import method, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack

# -- exponentials and roots -------------------------------------------------------------------------------------------------

exp = unary("exp", lambda g, x, y: g * y.conj(), "y", doc="e to the power of each element.")
exp2 = unary("exp2", lambda g, x, y: g * (y * math.log(2)).conj(), "y", doc="2 to the power of each element.")
expm1 = unary("expm1", lambda g, x, y: g * (y + 1).conj(), "y", doc="exp(x) - 1, accurate near 0.")
log = unary("log", lambda g, x, y: g / x.conj(), "x", doc="The natural logarithm; nan below 0, -inf at 0.")
log2 = unary("log2", lambda g, x, y: g / (x.conj() * math.log(2)), "x", doc="The logarithm to base 2.")
log10 = unary("log10", lambda g, x, y: g / (x.conj() * math.log(10)), "x", doc="The logarithm to base 10.")
log1p = unary("log1p", lambda g, x, y: g / (x + 1).conj(), "x", doc="log(1 + x), accurate near 0.")
sqrt = unary("sqrt", lambda g, x, y: g / (y * 2).conj(), "y", doc="The square root; nan below 0.")
rsqrt = unary("rsqrt", lambda g, x, y: g * (y * y * y * -0.5).conj(), "y", doc="1 / sqrt(x).")
reciprocal = unary("reciprocal", lambda g, x, y: -g * (y * y).conj(), "y", doc="1 / x.")


@op(method=True, inplace=True)
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """x * x."""
    return power(check_tensor(input, "square"), 2)


# -- trigonometry -----------------------------------------------------------------------------------------------------------

sin = unary("sin", lambda g, x, y: g * x.cos().conj(), "x", doc="The sine of angles in radians.")
cos = unary("cos", lambda g, x, y: -g * x.sin().conj(), "x", doc="The cosine of angles in radians.")
tan = unary("tan", lambda g, x, y: g * (y * y + 1).conj(), "y", doc="The tangent of angles in radians.")
asin = unary("asin", lambda g, x, y: g * (1 - x * x).rsqrt().conj(), "x", aliases=("arcsin",), doc="The inverse sine, in radians.")
acos = unary("acos", lambda g, x, y: -g * (1 - x * x).rsqrt().conj(), "x", aliases=("arccos",), doc="The inverse cosine, in radians.")
atan = unary("atan", lambda g, x, y: g / (x * x + 1).conj(), "x", aliases=("arctan",), doc="The inverse tangent, in radians.")
sinh = unary("sinh", lambda g, x, y: g * x.cosh().conj(), "x", doc="The hyperbolic sine.")
cosh = unary("cosh", lambda g, x, y: g * x.sinh().conj(), "x", doc="The hyperbolic cosine.")
tanh = unary("tanh", lambda g, x, y: g - g * (y * y).conj(), "y", doc="The hyperbolic tangent.")
asinh = unary("asinh", lambda g, x, y: g * (x * x + 1).rsqrt().conj(), "x", aliases=("arcsinh",), doc="The inverse hyperbolic sine.")
acosh = unary("acosh", lambda g, x, y: g * (((x - 1).rsqrt() * (x + 1).rsqrt()).conj() if x.is_complex() else (x * x - 1).rsqrt()), "x", aliases=("arccosh",),
              doc="The inverse hyperbolic cosine.")
atanh = unary("atanh", lambda g, x, y: g / (1 - x * x).conj(), "x", aliases=("arctanh",), doc="The inverse hyperbolic tangent.")
atan2 = binary("atan2", lambda g, x, y: g * y / (x * x + y * y), lambda g, x, y: -g * x / (x * x + y * y), ("xy", "xy"), fraction=True,
               kinds="bif", numbers="", aliases=("arctan2",), doc="The angle of the point (other, input), in radians.")
hypot = binary("hypot", lambda g, x, y: g * x / x.hypot(y), lambda g, x, y: g * y / x.hypot(y), ("xy", "xy"), kinds="f", numbers="",
               doc="sqrt(input^2 + other^2).")

# -- signs and rounding -----------------------------------------------------------------------------------------------------

abs_ = unary("abs", lambda g, x, y: g * x.sgn(), "x", fraction=False, aliases=("absolute",), kinds="ifc",
             doc="The absolute value (of complex numbers: the modulus).")


Tensor.__abs__ = abs_


@method("abs_", "absolute_")
def _abs_in_place(self: Tensor) -> Tensor:
    """In-place `abs`; complex tensors are refused, for the result is real."""
    if self.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return update(self, "abs_", abs_, (), {})


def _zero(g: Tensor, x: Any, y: Any) -> Tensor:
    return g * 0


sign = unary("sign", _zero, fraction=False, kinds="bif", doc="-1, 0 or 1.")
sgn = unary("sgn", lambda g, x, y: _sgn_grad(g, x, y), "xy", fraction=False, doc="x / |x|, 0 at 0.")
floor = unary("floor", _zero, fraction=False, kinds="if", doc="The largest integer not above x.")
ceil = unary("ceil", _zero, fraction=False, kinds="if", doc="The smallest integer not below x.")
trunc = unary("trunc", _zero, fraction=False, aliases=("fix",), kinds="if", doc="x without its fraction.")
frac = unary("frac", lambda g, x, y: g, fraction=False, kinds="f", doc="The fraction of x, with its sign.")
positive = unary("positive", lambda g, x, y: g, fraction=False, inplace=False, kinds="ifc", out_dtype="none", doc="x itself.")
signbit = unary("signbit", None, fraction=False, inplace=False, kinds="bif", out_dtype="bool", doc="Whether the sign bit is set.")


def _sgn_grad(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if x._a.dtype.kind != "c":
        return g * 0
    size = x.abs()
    return ((g - (g * y.conj()).real * y) / size).masked_fill(size == 0, 0)


@derivative("RoundBackward0")
def RoundBackward(node: Any, g: Tensor) -> Tensor:
    return g * 0


@op(method=True, inplace=True)
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """To the nearest integer, halves to the even one; `decimals` digits after the point (before it, where negative)."""
    x = check_tensor(input, "round")
    promotion.check_kind("round", x, "if" if decimals == 0 else "f")
    return record(of(x._a).round(x._a, decimals), RoundBackward, (input,))


isnan = unary("isnan", None, fraction=False, inplace=False, out_dtype="none", doc="Which elements are nan.")
isinf = unary("isinf", None, fraction=False, inplace=False, out_dtype="none", doc="Which elements are infinite.")
isfinite = unary("isfinite", None, fraction=False, inplace=False, out_dtype="none", doc="Which elements are neither infinite nor nan.")
isposinf = unary("isposinf", None, fraction=False, inplace=False, kinds="bif", out_dtype="bool", doc="Which elements are +inf.")
isneginf = unary("isneginf", None, fraction=False, inplace=False, kinds="bif", out_dtype="bool", doc="Which elements are -inf.")
isreal = unary("isreal", None, fraction=False, inplace=False, out_dtype="none", doc="Which elements have no imaginary part.")
logical_not = unary("logical_not", None, fraction=False, out_dtype="any", doc="Which elements are 0.")
logical_and = binary("logical_and", None, None, comparison=True, numbers="", doc="Both are not 0.")
logical_or = binary("logical_or", None, None, comparison=True, numbers="", doc="At least one is not 0.")
logical_xor = binary("logical_xor", None, None, comparison=True, numbers="", doc="Exactly one is not 0.")

# -- special functions ------------------------------------------------------------------------------------------------------

_ERF = 2 / math.sqrt(math.pi)
erf = unary("erf", lambda g, x, y: g * (-x * x).exp() * _ERF, "x", namespaces=("torch", "special"), kinds="f", doc="The error function.")
erfc = unary("erfc", lambda g, x, y: g * (-x * x).exp() * -_ERF, "x", namespaces=("torch", "special"), kinds="f", doc="1 - erf(x).")
erfinv = unary("erfinv", lambda g, x, y: g * (y * y).exp() * (1 / _ERF), "y", namespaces=("torch", "special"), kinds="f", doc="The inverse of erf.")
lgamma = unary("lgamma", lambda g, x, y: g * x.digamma(), "x", kinds="f", doc="The logarithm of |gamma(x)|.")
digamma = unary("digamma", lambda g, x, y: g * x.polygamma(1), "x", kinds="f", doc="The derivative of lgamma.")
sigmoid = unary("sigmoid", lambda g, x, y: g * ((1 - y) * y).conj(), "y", namespaces=("torch", "nn.functional", "special"), doc="1 / (1 + exp(-x)).")


@derivative("PolygammaBackward0")
def PolygammaBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return g * polygamma(node.n + 1, x)


@op()
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma."""
    if not isinstance(n, int) or n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input)
    x = promotion.cast(check_tensor(input, "polygamma"), promotion.float_dtype(input.dtype))
    return record(of(x._a).polygamma(x._a, n), PolygammaBackward, (x,), (x,), n=n)


@method("polygamma")
def _polygamma_of(self: Tensor, n: int) -> Tensor:
    """`polygamma(n, self)`."""
    return polygamma(n, self)


@method("polygamma_")
def _polygamma_in_place(self: Tensor, n: int) -> Tensor:
    """In-place `polygamma(n, self)`."""
    return update(self, "polygamma_", _polygamma_of, (n,), {})


# -- minima, maxima, limits -------------------------------------------------------------------------------------------------


def _half(mask: Tensor, tie: Tensor, g: Tensor) -> Tensor:
    """The gradient where an operand wins, half of it where both are equal."""
    return g * (mask.to(g.dtype) + tie.to(g.dtype) * 0.5)


def _ordered(name: str) -> Any:
    def check(x: Tensor, y: Tensor) -> None:
        if x.is_complex() or y.is_complex():
            raise RuntimeError(f"{name} not implemented for complex tensors: they have no order. Compare abs() or .real.")
    return check


maximum = binary("maximum", lambda g, x, y: _half(x > y, x == y, g), lambda g, x, y: _half(y > x, x == y, g), ("xy", "xy"), inplace=False,
                 check=_ordered("maximum"), numbers="", doc="The larger of two; nan where either is nan.")
minimum = binary("minimum", lambda g, x, y: _half(x < y, x == y, g), lambda g, x, y: _half(y < x, x == y, g), ("xy", "xy"), inplace=False,
                 check=_ordered("minimum"), numbers="", doc="The smaller of two; nan where either is nan.")
fmax = binary("fmax", lambda g, x, y: g.masked_fill(~((x >= y) | y.isnan()), 0), lambda g, x, y: g.masked_fill((x >= y) | y.isnan(), 0), ("xy", "xy"),
              inplace=False, check=_ordered("fmax"), numbers="", doc="The larger of two; nan only where both are nan.")
fmin = binary("fmin", lambda g, x, y: g.masked_fill(~((x <= y) | y.isnan()), 0), lambda g, x, y: g.masked_fill((x <= y) | y.isnan(), 0), ("xy", "xy"),
              inplace=False, check=_ordered("fmin"), numbers="", doc="The smaller of two; nan only where both are nan.")
copysign = binary("copysign", lambda g, x, y: g * _copysign_ratio(x, y), lambda g, x, y: g * 0, ("xy", ""), fraction=True, kinds="bif",
                  doc="The magnitude of input with the sign of other.")


def _copysign_ratio(x: Tensor, y: Tensor) -> Tensor:
    return (x.copysign(y) / x).masked_fill(x == 0, 0)


def _same_dtype(name: str, input: Any, other: Any) -> None:
    """RuntimeError where two Tensors differ in dtype, for ops that promote nothing."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{name} is not yet implemented for tensors with different dtypes: got {input.dtype!r} and {other.dtype!r}.")


nextafter = binary("nextafter", lambda g, x, y: g.masked_fill(x == y, 0), lambda g, x, y: g * 0, ("xy", ""), kinds="f", numbers="",
                   doc="The next floating point number after input towards other.")
_step = binary("heaviside", None, None, namespaces="operator", method=False, inplace=False, doc="0 below 0, other at 0, 1 above.")


@op(method=True, inplace=True)
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 where input < 0, `values` where it is 0, 1 above. Both have one dtype, which is not complex."""
    promotion.check_operands("heaviside", input, values, "")
    if input.is_complex() or values.is_complex():
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    _same_dtype("heaviside", input, values)
    return _step(input, values)


gcd = binary("gcd", None, None, kinds="i", numbers="", doc="The greatest common divisor of integers.")
lcm = binary("lcm", None, None, kinds="i", numbers="", doc="The least common multiple of integers.")
fmod = binary("fmod", lambda g, x, y: g, lambda g, x, y: -g * x.div(y, rounding_mode="trunc"), ("", "xy"), kinds="if",
              doc="The remainder of truncated division, with input's sign.")
logaddexp = binary("logaddexp", lambda g, x, y: g / (1 + (y - x).exp()).conj(), lambda g, x, y: g / (1 + (x - y).exp()).conj(), ("xy", "xy"),
                   inplace=False, kinds="fc", numbers="", doc="log(exp(input) + exp(other)).")
logaddexp2 = binary("logaddexp2", lambda g, x, y: g / (1 + (y - x).exp2()), lambda g, x, y: g / (1 + (x - y).exp2()), ("xy", "xy"), inplace=False,
                    kinds="f", numbers="", doc="log2(2^input + 2^other).")
remainder = binary("remainder", lambda g, x, y: g, lambda g, x, y: -g * x.div(y, rounding_mode="floor"), ("", "xy"), kinds="if", numbers="xy",
                   by_number="modulo", doc="The remainder of floored division, with other's sign.")
xlogy = binary("xlogy", lambda g, x, y: (g * y.log()).masked_fill((x == 0) & (y <= 0), 0), lambda g, x, y: g * x / y, ("xy", "xy"), fraction=True,
               kinds="bif", numbers="xy", namespaces=("torch", "special"), doc="input log(other), 0 where input is 0.")
Tensor.__mod__ = remainder.operator
Tensor.__imod__ = Tensor.remainder_


Tensor.__rmod__ = reflected("__rmod__", remainder)


@op(method=True, inplace=True)
def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None, *,
               out: Tensor | None = None) -> Tensor:
    """nan becomes `nan` (0), infinities the dtype's largest numbers or what is given; of complex numbers in both parts."""
    x = check_tensor(input, "nan_to_num")
    if x._a.dtype.kind in "biu":
        return x.clone()
    if x._a.dtype.kind == "c":
        return view_as_complex(nan_to_num(view_as_real(x), nan, posinf, neginf))
    limits = dtypes.finfo(x.dtype)
    x = x.masked_fill(x.isnan(), 0.0 if nan is None else nan)
    x = x.masked_fill(x == math.inf, limits.max if posinf is None else posinf)
    return x.masked_fill(x == -math.inf, limits.min if neginf is None else neginf)


# -- quotients and powers by other names ----------------------------------------------------------------------------------


@op(method=True, inplace=True)
def floor_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The quotient rounded down."""
    return divide_floor(input, other)


@op(method=True, inplace=True)
def true_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The quotient as a floating point number."""
    return divide_true(input, other)


@op()
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha input."""
    promotion.check_operands("rsub", input, other, "y")
    no_bool(other, input)
    return minus(other, scaled("rsub", input, alpha, other))


@op(method=True)
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent in float64 (or complex128)."""
    promotion.check_operands("float_power", input, exponent, "xy")
    wide = dtypes.complex128 if promotion.result_dtype(input, exponent).is_complex else dtypes.float64
    base = promotion.cast(input, wide) if isinstance(input, Tensor) else input
    return power(base, promotion.cast(exponent, wide) if isinstance(exponent, Tensor) else exponent)


@op(name="float_power_", namespaces=(), method=True)
def float_power_(input: Tensor, exponent: Any) -> Tensor:
    """In-place `float_power`, of a float64 or complex128 tensor only."""
    wide = dtypes.complex128 if promotion.result_dtype(input, exponent).is_complex else dtypes.float64
    if input.dtype is not wide:
        raise RuntimeError(f"the base given to float_power_ has dtype {dtypes.title(input.dtype)} but the operation's result requires dtype "
                           f"{dtypes.title(wide)}")
    return update(input, "float_power_", float_power, (exponent,), {})


@op(method=True, inplace=True)
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees to radians."""
    return _real_floats(input, "deg2rad") * (math.pi / 180)


@op(method=True, inplace=True)
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians to degrees."""
    return _real_floats(input, "rad2deg") * (180 / math.pi)


def _real_floats(input: Any, name: str) -> Tensor:
    x = check_tensor(input, name)
    if x.is_complex():
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return promotion.cast(x, promotion.float_dtype(x.dtype))


@derivative("LogitBackward0")
def LogitBackward(node: Any, g: Tensor) -> Tensor:
    """1 / (x (1 - x)); where x was clamped 0, outside [0, 1] nan."""
    (x,) = unpack(node)
    eps = node.eps
    slope = g / (x * (1 - x))
    return slope.masked_fill((x < 0) | (x > 1), math.nan) if eps is None else slope.masked_fill((x < eps) | (x > 1 - eps), 0)


@op(method=True, inplace=True, namespaces=("torch", "special"))
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps] where eps is given."""
    x = check_tensor(input, "logit")
    x = promotion.cast(x, promotion.float_dtype(x.dtype))
    promotion.check_kind("logit", x, "f")
    return record(of(x._a).logit(x._a, eps), LogitBackward, (x,), (x,), eps=eps)


def _sinc_dx(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """(cos(pi x) - sinc(x)) / x."""
    return g * (((x * math.pi).cos() - y) / x).masked_fill(x == 0, 0).conj()


sinc = unary("sinc", _sinc_dx, "xy", namespaces=("torch", "special"), doc="sin(pi x) / (pi x), 1 at 0.")


@op(method=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where |input - other| <= atol + rtol |other| (equal infinities too, and nans if asked)."""
    promotion.check_operands("isclose", input, other, "")
    if rtol < 0 or atol < 0:
        raise RuntimeError("rtol and atol must be greater than or equal to zero")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype!r} did not match {other.dtype!r}")
    close = input == other
    if equal_nan and input._a.dtype.kind in "fcV":
        close = close | (input.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return close
    x, y = (input.double(), other.double()) if input._a.dtype.kind in "biu" else (input, other)
    difference = (x - y).abs()
    return close | (difference.isfinite() & (difference <= y.abs() * rtol + atol))


@op(method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close (see `isclose`)."""
    promotion.check_operands("allclose", input, other, "")
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@op(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    promotion.check_operands("equal", input, other, "")
    return input._a.shape == other._a.shape and bool((input == other).all())
