"""Pointwise functions of the framework, written as what they compute. `interpret` reads the same definitions."""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from saraph.kernels.kernel import Pointwise
from saraph.kernels.program import Expression, apply


def where(condition: Expression, yes: Expression | float, no: Expression | float) -> Expression:
    return apply("where", condition, yes, no)


def exp(x: Expression) -> Expression:
    return apply("exp", x)


def sigmoid(x: Expression) -> Expression:
    return apply("sigmoid", x)


def maximum(x: Expression, y: Expression | float) -> Expression:
    return apply("maximum", x, y)


def minimum(x: Expression, y: Expression | float) -> Expression:
    return apply("minimum", x, y)


def simple(name: str, operands: int = 1) -> Pointwise:
    """The function that is one operation."""
    if operands == 1:
        return Pointwise(name, lambda x: apply(name, x))
    return Pointwise(name, lambda x, y: apply(name, x, y))


#: Functions of one and two operands that are one operation each.
UNARY = {name: simple(name) for name in (
    "neg", "abs", "square", "sqrt", "rsqrt", "reciprocal", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "signbit",
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid")}
BINARY = {name: simple(name, 2) for name in (
    "add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "atan2", "hypot", "pow", "copysign")}



def _sinc(x: Expression) -> Expression:
    """sin(pi x) / (pi x), 1 at 0."""
    angle = x * math.pi
    return where(apply("eq", angle, 0.0), 1.0, apply("sin", angle) / angle)


def _logaddexp(x: Expression, y: Expression) -> Expression:
    """log(e^x + e^y), from the larger of the two; of equal infinities that infinity."""
    usual = maximum(x, y) + apply("log1p", exp(-apply("abs", x - y)))
    return where(apply("eq", x, y), x + math.log(2), usual)


def _xlogy(x: Expression, y: Expression) -> Expression:
    """x log(y); 0 where x is 0, unless y is NaN."""
    product = x * apply("log", y)
    return where(apply("eq", x, 0.0) & ~apply("isnan", y), 0.0, product)


sinc = Pointwise("sinc", _sinc)
logaddexp = Pointwise("logaddexp", _logaddexp)
xlogy = Pointwise("xlogy", _xlogy)
ndtr = simple("ndtr")
where_kernel = Pointwise("where", where)
relu = Pointwise("relu", lambda x: maximum(x, 0.0))
silu = Pointwise("silu", lambda x: x * sigmoid(x))
hardswish = Pointwise("hardswish", lambda x: x * minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0)
hardsigmoid = Pointwise("hardsigmoid", lambda x: minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0)
logsigmoid = Pointwise("logsigmoid", lambda x: minimum(x, 0.0) - apply("log1p", exp(-apply("abs", x))))
gelu = Pointwise("gelu", lambda x: x * 0.5 * (apply("erf", x * math.sqrt(0.5)) + 1.0))
gelu_tanh = Pointwise("gelu_tanh", lambda x: x * 0.5 * (apply("tanh", (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1.0))


def _lerp(start: Expression, end: Expression, weight: Expression) -> Expression:
    """start + weight (end - start), from the nearer end."""
    step = end - start
    return where(apply("abs", weight) < 0.5, start + step * weight, end - step * (1.0 - weight))


lerp = Pointwise("lerp", _lerp)
add_scaled = Pointwise("add_scaled", lambda x, y, alpha: apply("fma", y, alpha, x))
addcmul = Pointwise("addcmul", lambda x, a, b, value: x + a * value * b)
addcdiv = Pointwise("addcdiv", lambda x, a, b, value: x + a * value / b)


def _sign(x: Expression) -> Expression:
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, x.builder.constant(0.0, x.dtype)))


def _fmod(x: Expression, y: Expression) -> tuple[Expression, Expression]:
    """The remainder of |x| / |y| with the sign of x, exact; and where it is not: there the quotient is too large for the format's integers."""
    size, step = apply("abs", x), apply("abs", y)
    quotient = apply("trunc", size / step)
    far = (quotient >= (2.0**22 if x.dtype.itemsize == 4 else 2.0**51)) & apply("isfinite", x) & apply("ne", y, 0.0)
    rest = apply("fma", -quotient, step, size)
    rest = where(rest < 0.0, rest + step, rest)
    rest = where(rest >= step, rest - step, rest)
    rest = where(apply("isinf", y) & apply("isfinite", x), size, rest)
    return apply("copysign", rest, x), far


def _remainder(x: Expression, y: Expression) -> tuple[Expression, Expression]:
    """As Python's %: with the sign of y; a zero has the sign of x."""
    rest, far = _fmod(x, y)
    turned = apply("ne", rest, 0.0) & ((y < 0.0) ^ (rest < 0.0))
    return where(turned, rest + y, rest), far


def _affine_terms(mean: Expression, variance: Expression, weight: Expression, bias: Expression, eps: Expression) -> tuple[Expression, Expression]:
    """What normalisation by known statistics multiplies by and adds."""
    scale = apply("rsqrt", variance + eps) * weight
    return scale, bias - mean * scale


affine_terms = Pointwise("affine_terms", _affine_terms)
scale_shift = Pointwise("scale_shift", lambda x, scale, shift: x * scale + shift)
sign = Pointwise("sign", _sign)
fmod, remainder = Pointwise("fmod", _fmod), Pointwise("remainder", _remainder)
rint = simple("rint")
limited = Pointwise("limited", lambda x, low, high: minimum(maximum(x, low), high))
exp_of_difference = Pointwise("exp_of_difference", lambda x, top: exp(x - top))
log_softmax_from_terms = Pointwise("log_softmax_from_terms", lambda x, top, total: (x - top) - apply("log", total))
softmax_gradient = Pointwise("softmax_gradient", lambda grad, y, total: (grad - total) * y)
log_softmax_gradient = Pointwise("log_softmax_gradient", lambda grad, y, total: grad - exp(y) * total)


class Numbered:
    """A function of one array and some numbers. The first MOST tuples of numbers have a kernel each, in which they are constants; all further ones
    share one, which takes them as operands: a number that changes with every call compiles nothing."""

    __slots__ = ("name", "definition", "_own", "_shared")
    MOST = 8

    def __init__(self, name: str, definition: Callable[..., Expression]) -> None:
        """`definition` takes an expression and the numbers."""
        self.name, self.definition = name, definition
        self._own: dict[tuple[float, ...], Pointwise] = {}
        self._shared = Pointwise(name, definition)

    def of(self, *numbers: float) -> Pointwise:
        """The kernel in which the numbers are constants."""
        return Pointwise(self.name, lambda x: self.definition(x, *numbers))

    def __call__(self, a: np.ndarray, *numbers: float) -> np.ndarray:
        kernel = self._own.get(numbers)
        if kernel is None:
            if len(self._own) >= self.MOST:
                kind = np.float64 if a.dtype.char == "d" else np.float32
                return self._shared(a, *[np.asarray(number, kind) for number in numbers])
            kernel = self._own[numbers] = self.of(*numbers)
        return kernel(a)


def _elu(x: Expression, alpha: float, scale: float, slope: float) -> Expression:
    """scale x where x > 0, else alpha scale (exp(slope x) - 1)."""
    return where(x > 0.0, x * scale, apply("expm1", x * slope) * (alpha * scale))


def _softplus(x: Expression, beta: float, threshold: float) -> Expression:
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""
    scaled = x * beta
    return where(scaled > threshold, x, (apply("log1p", exp(-apply("abs", scaled))) + maximum(scaled, 0.0)) / beta)


def clamp(x: Expression, low: float | None, high: float | None) -> Expression:
    """x held within limits; NaN stays."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


leaky_relu = Numbered("leaky_relu", lambda x, slope: where(x > 0.0, x, x * slope))
elu = Numbered("elu", _elu)
softplus = Numbered("softplus", _softplus)
