"""Pointwise maths: exponentials, trigonometry, rounding, signs, minima and maxima, tests."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.families import binary, unary
from saraph.ops.promotion import check_tensor, is_number, promoted, unbroadcast
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, wrap

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
square = unary("square", lambda g, x, y: g * (x * 2).conj(), "x", fraction=False, node="PowBackward0", doc="x * x.")

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
acosh = unary("acosh", lambda g, x, y: g * ((x - 1).rsqrt() * (x + 1).rsqrt()).conj(), "x", aliases=("arccosh",),
              doc="The inverse hyperbolic cosine.")
atanh = unary("atanh", lambda g, x, y: g / (1 - x * x).conj(), "x", aliases=("arctanh",), doc="The inverse hyperbolic tangent.")
atan2 = binary("atan2", lambda g, x, y: g * y / (x * x + y * y), lambda g, x, y: -g * x / (x * x + y * y), ("xy", "xy"), fraction=True,
               aliases=("arctan2",), doc="The angle of the point (other, input), in radians.")
hypot = binary("hypot", lambda g, x, y: g * x / x.hypot(y), lambda g, x, y: g * y / x.hypot(y), ("xy", "xy"), fraction=True,
               doc="sqrt(input^2 + other^2).")

# -- signs and rounding -----------------------------------------------------------------------------------------------------

abs_ = unary("abs", lambda g, x, y: g * x.sgn(), "x", fraction=False, aliases=("absolute",), doc="The absolute value (of complex numbers: the modulus).")


def _zero(g: Tensor, x: Any, y: Any) -> Tensor:
    return g * 0


sign = unary("sign", _zero, fraction=False, doc="-1, 0 or 1.")
sgn = unary("sgn", lambda g, x, y: _sgn_grad(g, x, y), "xy", fraction=False, doc="x / |x|, 0 at 0.")
floor = unary("floor", _zero, fraction=False, doc="The largest integer not above x.")
ceil = unary("ceil", _zero, fraction=False, doc="The smallest integer not below x.")
trunc = unary("trunc", _zero, fraction=False, aliases=("fix",), doc="x without its fraction.")
frac = unary("frac", lambda g, x, y: g, fraction=False, doc="The fraction of x, with its sign.")
positive = unary("positive", lambda g, x, y: g, fraction=False, inplace=False, doc="x itself.")
signbit = unary("signbit", None, fraction=False, inplace=False, doc="Whether the sign bit is set.")


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
    a = check_tensor(input, "round")._a
    return record(of(a).round(a, decimals), RoundBackward, (input,))


isnan = unary("isnan", None, fraction=False, inplace=False, doc="Which elements are nan.")
isinf = unary("isinf", None, fraction=False, inplace=False, doc="Which elements are infinite.")
isfinite = unary("isfinite", None, fraction=False, inplace=False, doc="Which elements are neither infinite nor nan.")
isposinf = unary("isposinf", None, fraction=False, inplace=False, doc="Which elements are +inf.")
isneginf = unary("isneginf", None, fraction=False, inplace=False, doc="Which elements are -inf.")
isreal = unary("isreal", None, fraction=False, inplace=False, doc="Which elements have no imaginary part.")
logical_not = unary("logical_not", None, fraction=False, doc="Which elements are 0.")
logical_and = binary("logical_and", None, None, comparison=True, doc="Both are not 0.")
logical_or = binary("logical_or", None, None, comparison=True, doc="At least one is not 0.")
logical_xor = binary("logical_xor", None, None, comparison=True, doc="Exactly one is not 0.")

# -- special functions ------------------------------------------------------------------------------------------------------

_ERF = 2 / math.sqrt(math.pi)
erf = unary("erf", lambda g, x, y: g * (-x * x).exp() * _ERF, "x", namespaces=("torch", "special"), doc="The error function.")
erfc = unary("erfc", lambda g, x, y: g * (-x * x).exp() * -_ERF, "x", namespaces=("torch", "special"), doc="1 - erf(x).")
erfinv = unary("erfinv", lambda g, x, y: g * (y * y).exp() * (1 / _ERF), "y", namespaces=("torch", "special"), doc="The inverse of erf.")
lgamma = unary("lgamma", lambda g, x, y: g * x.digamma(), "x", doc="The logarithm of |gamma(x)|.")
digamma = unary("digamma", lambda g, x, y: g * x.polygamma(1), "x", doc="The derivative of lgamma.")
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


Tensor.polygamma = lambda self, n: polygamma(n, self)


# -- minima, maxima, limits -------------------------------------------------------------------------------------------------


def _half(mask: Tensor, tie: Tensor, g: Tensor) -> Tensor:
    """The gradient where an operand wins, half of it where both are equal."""
    return g * (mask.to(g.dtype) + tie.to(g.dtype) * 0.5)


maximum = binary("maximum", lambda g, x, y: _half(x > y, x == y, g), lambda g, x, y: _half(y > x, x == y, g), ("xy", "xy"), inplace=False,
                 doc="The larger of two; nan where either is nan.")
minimum = binary("minimum", lambda g, x, y: _half(x < y, x == y, g), lambda g, x, y: _half(y < x, x == y, g), ("xy", "xy"), inplace=False,
                 doc="The smaller of two; nan where either is nan.")
fmax = binary("fmax", lambda g, x, y: g.masked_fill(~((x >= y) | y.isnan()), 0), lambda g, x, y: g.masked_fill((x >= y) | y.isnan(), 0), ("xy", "xy"),
              inplace=False, doc="The larger of two; nan only where both are nan.")
fmin = binary("fmin", lambda g, x, y: g.masked_fill(~((x <= y) | y.isnan()), 0), lambda g, x, y: g.masked_fill((x <= y) | y.isnan(), 0), ("xy", "xy"),
              inplace=False, doc="The smaller of two; nan only where both are nan.")
copysign = binary("copysign", lambda g, x, y: g * (x.sign() * y.copysign(x).sign() * 0 + _copysign_ratio(x, y)), lambda g, x, y: g * 0, ("xy", ""),
                  fraction=True, doc="The magnitude of input with the sign of other.")


def _copysign_ratio(x: Tensor, y: Tensor) -> Tensor:
    return (x.copysign(y) / x).masked_fill(x == 0, 0)


nextafter = binary("nextafter", None, None, doc="The next floating point number after input towards other.")
heaviside = binary("heaviside", None, None, doc="0 below 0, other at 0, 1 above.")
gcd = binary("gcd", None, None, doc="The greatest common divisor of integers.")
lcm = binary("lcm", None, None, doc="The least common multiple of integers.")
fmod = binary("fmod", lambda g, x, y: g, lambda g, x, y: -g * x.div(y, rounding_mode="trunc"), ("", "xy"),
              doc="The remainder of truncated division, with input's sign.")
logaddexp = binary("logaddexp", lambda g, x, y: g / (1 + (y - x).exp()), lambda g, x, y: g / (1 + (x - y).exp()), ("xy", "xy"), inplace=False,
                   fraction=True, doc="log(exp(input) + exp(other)).")
logaddexp2 = binary("logaddexp2", lambda g, x, y: g / (1 + (y - x).exp2()), lambda g, x, y: g / (1 + (x - y).exp2()), ("xy", "xy"), inplace=False,
                    fraction=True, doc="log2(2^input + 2^other).")
remainder = binary("remainder", lambda g, x, y: g, lambda g, x, y: -g * x.div(y, rounding_mode="floor"), ("", "xy"),
                   doc="The remainder of floored division, with other's sign.")
xlogy = binary("xlogy", lambda g, x, y: (g * y.log()).masked_fill((x == 0) & (y <= 0), 0), lambda g, x, y: g * x / y, ("xy", "xy"), fraction=True,
               namespaces=("torch", "special"), doc="input log(other), 0 where input is 0.")
Tensor.__mod__ = remainder.operator
Tensor.__imod__ = Tensor.remainder_


@op(namespaces=(), method="__rmod__")
def _rmod(self: Tensor, other: Any) -> Tensor:
    return remainder(other, self)


@derivative("ClampBackward1")
def ClampBackward(node: Any, g: Tensor) -> Any:
    x, low, high = unpack(node)
    inside = None
    if low is not None:
        inside = x >= low
    if high is not None:
        inside = x <= high if inside is None else inside & (x <= high)
    gx = g.masked_fill(~inside, 0) if node.needs(0) else None
    glow = ghigh = None
    if node.needs(1):
        below = x < low if high is None else (x < low) & (low < high)
        glow = unbroadcast(g.masked_fill(~below, 0), low._a.shape)
    if node.needs(2):
        above = x > high if low is None else (x > high) | (low > high)
        ghigh = unbroadcast(g.masked_fill(~above, 0), high._a.shape)
    return unbroadcast(gx, x._a.shape) if gx is not None else None, glow, ghigh


@op(method=True, inplace=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """input held within [min, max] (numbers or tensors; None: no limit)."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if check_tensor(input, "clamp")._a.dtype.kind == "c":
        raise RuntimeError("clamp is not supported for complex types")
    operands = [v for v in (input, min, max) if v is not None]
    found = list(promoted("clamp", *operands))
    x = found.pop(0)
    low = found.pop(0) if min is not None else None
    high = found.pop(0) if max is not None else None
    a, backend = x._a, of(x._a)
    if low is not None:
        a = backend.maximum(a, low._a)
    if high is not None:
        a = backend.minimum(a, high._a)
    return record(a, ClampBackward, (x, low, high), (x, low, high))


@op(method=True, inplace=True)
def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Tensor:
    """`clamp(input, min=min)`."""
    return clamp(input, min)


@op(method=True, inplace=True)
def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Tensor:
    """`clamp(input, max=max)`."""
    return clamp(input, None, max)


@op(method=True, inplace=True)
def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None, *,
               out: Tensor | None = None) -> Tensor:
    """nan becomes `nan` (0), infinities the dtype's largest numbers or what is given."""
    x = check_tensor(input, "nan_to_num")
    if x._a.dtype.kind in "biu":
        return x.clone()
    limits = dtypes.finfo(x.dtype)
    x = x.masked_fill(x.isnan(), 0.0 if nan is None else nan)
    x = x.masked_fill(x == math.inf, limits.max if posinf is None else posinf)
    return x.masked_fill(x == -math.inf, limits.min if neginf is None else neginf)


# -- combinations -----------------------------------------------------------------------------------------------------------


@op(method=True, inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """input + weight (end - input)."""
    if input.dtype is not end.dtype:
        raise RuntimeError(f"expected dtype {str(input.dtype).removeprefix('torch.')} for `end` but got dtype {str(end.dtype).removeprefix('torch.')}")
    if is_number(weight):
        return input + (end - input) * weight if abs(weight) < 0.5 else end - (end - input) * (1 - weight)
    near = input + (end - input) * weight
    far = end - (end - input) * (1 - weight)
    return (weight.abs() < 0.5).where(near, far)


@op(method=True, inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 tensor2."""
    product = tensor1 * tensor2
    return input + (product if value == 1 and value.__class__ is int else product * value)


@op(method=True, inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 / tensor2. Integer division is refused."""
    if tensor1._a.dtype.kind in "biu" and tensor2._a.dtype.kind in "biu":
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
                           "tensor1 and tensor2. Use input + value * torch.true_divide(tensor1, tensor2).")
    quotient = tensor1 / tensor2
    return input + (quotient if value == 1 and value.__class__ is int else quotient * value)


@op(method=True, inplace=True)
def floor_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The quotient rounded down."""
    return (input if isinstance(input, Tensor) else wrap(of(other._a).scalar(input, promotion.result_dtype(input, other).numpy))).div(
        other, rounding_mode="floor")


@op(method=True, inplace=True)
def true_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The quotient as a floating point number."""
    return input / other


@op()
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha input."""
    return other - input if alpha == 1 else other - input * alpha


@op(method=True, inplace=True)
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent in float64 (or complex128)."""
    kind = promotion.result_dtype(input, exponent)
    wide = dtypes.complex128 if kind.is_complex else dtypes.float64
    base = input.to(wide) if isinstance(input, Tensor) else input
    power = exponent.to(wide) if isinstance(exponent, Tensor) else exponent
    return base ** power


@op(method=True, inplace=True)
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees to radians."""
    return promotion.cast(input, promotion.float_dtype(input.dtype)) * (math.pi / 180)


@op(method=True, inplace=True)
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians to degrees."""
    return promotion.cast(input, promotion.float_dtype(input.dtype)) * (180 / math.pi)


@op(method=True, inplace=True, namespaces=("torch", "special"))
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps] where eps is given."""
    x = promotion.cast(input, promotion.float_dtype(input.dtype))
    if eps is not None:
        x = x.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


@op(method=True, inplace=True, namespaces=("torch", "special"))
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
    x = promotion.cast(input, promotion.float_dtype(input.dtype)) * math.pi
    zero = x == 0
    return (x.sin() / x.masked_fill(zero, 1)).masked_fill(zero, 1)


@op(method=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where |input - other| <= atol + rtol |other| (equal infinities too, and nans if asked)."""
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
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@op(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    return input._a.shape == other._a.shape and bool((input == other).all())
