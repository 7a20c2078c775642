"""Pointwise primitives on the CPU: mostly NumPy's own ufuncs, which take `out=` and keep a dense input's memory order.

float16 and bfloat16 (and float8) go through float32: computed one precision up, rounded once at the end, as PyTorch's CPU kernels do.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.backends.cpu.lazy import special as sc
from saraph.backends.cpu.lazy import special_function
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.dtypes import REDUCED
from saraph.kernels import functions
from saraph.kernels.kernel import LARGE, Pointwise

float32 = np.dtype(np.float32)
ndarray = np.ndarray
KERNEL_FLOATS = "fdeE"  # dtype characters of what kernels compute: float32, float64, float16, bfloat16


def through_float32(function: Callable) -> Callable:
    """Wrap a function of arrays so that 16-bit floating inputs are computed in float32 and the result is rounded back."""

    def compute(*arrays: Any) -> Any:
        kind = arrays[0].dtype
        if kind is not float32 and kind in REDUCED:
            return np.asarray(function(*[x.astype(float32) if getattr(x, "dtype", None) in REDUCED else x for x in arrays])).astype(kind)
        return function(*arrays)

    compute.__name__ = function.__name__
    compute.unwrapped = function  # for callers that know their arrays to be float32 or wider
    return compute


class Sized:
    """A NumPy ufunc of two operands; calls on many floating elements go to a kernel."""

    __slots__ = ("ufunc", "kernel", "__name__")

    def __init__(self, name: str, ufunc: np.ufunc) -> None:
        self.ufunc, self.kernel, self.__name__ = ufunc, functions.BINARY[name], name

    def __call__(self, a: Any, b: Any, out: np.ndarray | None = None) -> Any:
        if a.__class__ is ndarray:
            kind = a.dtype
            if kind.char in KERNEL_FLOATS:
                if b.__class__ is ndarray:
                    if b.dtype is kind and (a.size >= LARGE or b.size >= LARGE or a.shape != b.shape) and (out is None or out.dtype.kind in "fV"):
                        return self.kernel(a, b, out=out)
                elif a.size >= LARGE and (b.__class__ is float or b.__class__ is int) and kind.itemsize > 2:
                    return self.kernel(a, np.asarray(b, kind), out=out)
        return self.ufunc(a, b) if out is None else self.ufunc(a, b, out)


def of_one(kernel: Pointwise, otherwise: Callable) -> Callable:
    """A function of one array by a kernel, and by `otherwise` for dtypes that are no floats and where nothing can be compiled."""
    functions_of: dict[str, Callable] = {}  # by dtype: for few elements the ufunc itself, the shortest way there is

    def settle(a: Any) -> Callable:
        char = a.dtype.char
        found = (kernel.small(a) if char in KERNEL_FLOATS else None) or otherwise
        functions_of[char] = found
        return found

    def compute(a: Any) -> Any:
        function = functions_of.get(a.dtype.char)
        if function is None:
            function = settle(a)
        return function(a) if a.size < LARGE or function is otherwise else kernel(a)

    compute.__name__ = kernel.name
    return compute


# exact in 16 bits (ml_dtypes and NumPy round once): NumPy's ufuncs as they are
for name, ufunc in {
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor, "logical_not": np.logical_not,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "bitwise_not": np.invert,
    "positive": np.positive, "nextafter": np.nextafter, "floor_divide": np.floor_divide, "modulo": np.remainder, "gcd": np.gcd, "lcm": np.lcm,
}.items():
    FUNCTIONS[name] = ufunc

for name, ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax,
    "fmin": np.fmin, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "copysign": np.copysign,
}.items():
    FUNCTIONS[name] = Sized(name, ufunc)

for name, ufunc in {
    "neg": np.negative, "abs": np.absolute, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "square": np.square, "sqrt": np.sqrt,
    # transcendental: float32 inside for 16-bit inputs
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "erf": special_function("erf"), "erfc": special_function("erfc"), "erfinv": special_function("erfinv"),
    "digamma": special_function("digamma"),
}.items():
    FUNCTIONS[name] = of_one(functions.UNARY[name], through_float32(ufunc))

def of_two(kernel: Pointwise, otherwise: Callable) -> Callable:
    """A function of two arrays by a kernel where both are floats of one dtype, else by `otherwise`."""

    def compute(a: Any, b: Any) -> Any:
        if a.__class__ is ndarray and b.__class__ is ndarray and a.dtype is b.dtype and a.dtype.char in KERNEL_FLOATS:
            return kernel(a, b)
        return otherwise(a, b)

    compute.__name__ = kernel.name
    return compute


for name, ufunc in {"atan2": np.arctan2, "hypot": np.hypot}.items():
    FUNCTIONS[name] = of_two(functions.BINARY[name], through_float32(ufunc))

FUNCTIONS["logaddexp2"] = through_float32(np.logaddexp2)


def _reciprocal(a: np.ndarray) -> np.ndarray:
    return np.true_divide(1, a, dtype=a.dtype) if a.dtype.kind in "fc" else (np.float32(1) / a.astype(float32)).astype(a.dtype)


def _rsqrt(a: np.ndarray) -> np.ndarray:
    if a.dtype in REDUCED:
        return (1 / np.sqrt(a.astype(float32))).astype(a.dtype)
    return np.true_divide(1, np.sqrt(a))


FUNCTIONS["reciprocal"] = of_one(functions.UNARY["reciprocal"], _reciprocal)
FUNCTIONS["rsqrt"] = of_one(functions.UNARY["rsqrt"], _rsqrt)


@primitive
def ldexp(a: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return through_float32(np.ldexp)(a, np.clip(exponent, -5000, 5000).astype(np.int32))


@primitive
def where(condition: np.ndarray, a: Any, b: Any) -> np.ndarray:
    if condition.size >= LARGE and a.dtype is b.dtype and a.dtype.char in "fd":
        return functions.where_kernel(condition, a, b)
    return np.where(condition, a, b)


def _check_integer_zero(a: np.ndarray, b: np.ndarray) -> None:
    if b.dtype.kind in "iu" and not np.all(b) and a.size:
        raise RuntimeError("ZeroDivisionError")


@primitive
def div_floor(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Floor division as Python's for finite floats; division by a floating zero gives what true division gives."""
    _check_integer_zero(a, b)
    if a.dtype.kind in "biu":
        return np.floor_divide(a, b)
    kind = a.dtype
    if kind in REDUCED:
        a, b = a.astype(float32), b.astype(float32)
    quotient = np.floor_divide(a, b)
    return np.where(b == 0, np.true_divide(a, b), quotient).astype(kind)


@primitive
def div_trunc(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _check_integer_zero(a, b)
    if a.dtype.kind in "biu":
        if a.dtype.kind != "i":
            return np.floor_divide(a, b)
        quotient = np.floor_divide(a, b)
        return quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype)
    kind = a.dtype
    if kind in REDUCED:
        a, b = a.astype(float32), b.astype(float32)
    return np.trunc(np.true_divide(a, b)).astype(kind)


@primitive
def sign(a: np.ndarray) -> np.ndarray:
    """-1, 0 or 1, of nan 0."""
    if a.dtype.kind == "b":
        return a.copy()
    if a.dtype.kind in "iu":
        return np.sign(a)
    if a.size >= LARGE and a.dtype.char in "fd":
        return functions.sign(a)
    if a.dtype.kind == "V" or not a.ndim:
        return np.subtract(a > 0, a < 0, dtype=np.int8).astype(a.dtype)
    result = np.sign(a)
    np.copyto(result, 0, where=result != result)
    return result


@primitive
def sgn(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind != "c":
        return sign(a)
    size = np.abs(a)
    return np.divide(a, size, out=np.zeros_like(a), where=size != 0)


@primitive
def conj(a: np.ndarray) -> np.ndarray:
    return np.conjugate(a) if a.dtype.kind == "c" else a.copy()


def _sinc(a: np.ndarray) -> np.ndarray:
    product = a * a.dtype.type(np.pi)
    return np.divide(np.sin(product), product, out=np.ones_like(a), where=product != 0)


def _logit(a: np.ndarray, eps: float | None) -> np.ndarray:
    if eps is not None:
        a = np.clip(a, a.dtype.type(eps), a.dtype.type(1 - eps))
    return np.log(a / (1 - a))


def _lgamma(a: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(a), np.inf, sc.gammaln(a)).astype(a.dtype)


FUNCTIONS["lgamma"] = of_one(functions.UNARY["lgamma"], through_float32(_lgamma))
FUNCTIONS["sinc"] = of_one(functions.sinc, through_float32(_sinc))
FUNCTIONS["logit"] = through_float32(_logit)


@primitive
def frac(a: np.ndarray) -> np.ndarray:
    return a - np.trunc(a)


@primitive
def round_(a: np.ndarray, decimals: int) -> np.ndarray:
    if a.dtype.kind in "biu":
        return a.copy()
    kind = a.dtype
    if kind in REDUCED:
        a = a.astype(float32)
    if decimals == 0:
        return functions.rint(a) if a.size >= LARGE and a.dtype.char in "fd" and kind is a.dtype else np.rint(a).astype(kind)
    factor = a.dtype.type(10.0 ** abs(decimals))
    return (np.rint(a * factor) / factor if decimals > 0 else np.rint(a / factor) * factor).astype(kind)


@primitive
def isposinf(a: np.ndarray) -> np.ndarray:
    return a == np.inf if a.dtype.kind in "fV" else np.zeros(a.shape, bool)


@primitive
def isneginf(a: np.ndarray) -> np.ndarray:
    return a == -np.inf if a.dtype.kind in "fV" else np.zeros(a.shape, bool)


@primitive
def isreal(a: np.ndarray) -> np.ndarray:
    return a.imag == 0 if a.dtype.kind == "c" else np.ones(a.shape, bool)


def _sigmoid(a: np.ndarray) -> np.ndarray:
    return np.true_divide(1, np.add(np.exp(np.negative(a)), 1))


FUNCTIONS["sigmoid"] = of_one(functions.UNARY["sigmoid"], through_float32(_sigmoid))


@primitive
def polygamma(a: np.ndarray, n: int) -> np.ndarray:
    kind = a.dtype
    return np.asarray(sc.polygamma(n, a.astype(np.float64))).astype(kind)


@primitive
def heaviside(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a == 0, b, (a > 0)).astype(a.dtype)


@primitive
def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if b.dtype.kind in "iu":
        _check_integer_zero(a, b)
        return np.remainder(a, b)
    found = _exact_remainder(functions.remainder, a, b)
    if found is not None:
        return found
    kind = a.dtype
    if kind in REDUCED:
        a, b = a.astype(float32), b.astype(float32)
    r = np.remainder(a, b)
    return np.where(r == 0, np.copysign(r, a), r).astype(kind, copy=False)  # a zero has the sign of fmod's


def _exact_remainder(kernel: Pointwise, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The kernel's result, if no quotient was too large for it."""
    if a.size < LARGE or a.dtype.char not in "fd" or b.dtype is not a.dtype:
        return None
    result, far = kernel(a, b)
    return None if far.any() else result


@primitive
def fmod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if b.dtype.kind in "iu":
        _check_integer_zero(a, b)
    found = _exact_remainder(functions.fmod, a, b)
    return _fmod(a, b) if found is None else found


@primitive
def limited(a: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    """A floating array held within limits (None: there is none); NaN stays."""
    if a.size >= LARGE and a.dtype.char in "fd":
        low, high = (np.asarray(limit, a.dtype) for limit in (-np.inf if low is None else low, np.inf if high is None else high))
        return functions.limited(a, low, high)
    if low is not None:
        a = np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


_fmod = through_float32(np.fmod)


@primitive
def pow_(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^b; of integers, a negative power is 0 except for 1 and -1."""
    if a.dtype.kind == "i" and (np.asarray(b) < 0).any():
        result = np.power(a, np.maximum(b, 0))
        odd = np.where(b % 2 == 0, a.dtype.type(1), a.dtype.type(-1))
        return np.where(b < 0, np.where(a == 1, a, np.where(a == -1, odd, a.dtype.type(0))), result)
    return _power(a, b)


_power = of_two(functions.BINARY["pow"], through_float32(np.power))


@primitive
def logaddexp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind != "c":
        return _logaddexp(a, b)
    smaller = a.real < b.real
    high, low = np.where(smaller, b, a), np.where(smaller, a, b)
    result = np.where(np.isneginf(low.real), high, high + np.log1p(np.exp(low - high)))
    return np.where(np.isinf(high.real) & (high.real == low.real) & (high.real > 0), np.log(np.exp(high) + np.exp(low)), result).astype(a.dtype)


_logaddexp = of_two(functions.logaddexp, through_float32(np.logaddexp))


FUNCTIONS["xlogy"] = of_two(functions.xlogy, through_float32(special_function("xlogy")))


@primitive
def bitwise_left_shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "b":
        a, b = a.astype(np.int64), b.astype(np.int64)
    return np.left_shift(a, b)


@primitive
def bitwise_right_shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "b":
        a, b = a.astype(np.int64), b.astype(np.int64)
    return np.right_shift(a, b)


# -- three operands ---------------------------------------------------------------------------------------------------------


def _lerp(a: np.ndarray, b: np.ndarray, weight: Any) -> np.ndarray:
    """a + weight (b - a), from the nearer end."""
    if a.dtype.char in "fd" and (weight.__class__ is not ndarray or weight.dtype is a.dtype):
        return functions.lerp(a, b, weight if weight.__class__ is ndarray else np.asarray(weight, a.dtype))
    step = b - a
    if not isinstance(weight, np.ndarray):
        return a + step * weight if abs(weight) < 0.5 else b - step * (1 - weight)
    return np.where(np.abs(weight) < 0.5, a + step * weight, b - step * (1 - weight))


def _add_scaled(a: np.ndarray, b: np.ndarray, alpha: Any) -> np.ndarray:
    """a + alpha b, rounded once."""
    if a.dtype.char in "fd":
        return functions.add_scaled(a, b, np.asarray(alpha, a.dtype))
    return a + alpha * b


def _addcmul(a: np.ndarray, b: np.ndarray, c: np.ndarray, value: Any) -> np.ndarray:
    if a.dtype.char in "fd":
        return functions.addcmul(a, b, c, np.asarray(value, a.dtype))
    return a + (b * c if value == 1 else b * value * c)


def _addcdiv(a: np.ndarray, b: np.ndarray, c: np.ndarray, value: Any) -> np.ndarray:
    if a.dtype.char in "fd":
        return functions.addcdiv(a, b, c, np.asarray(value, a.dtype))
    return a + (b / c if value == 1 else b * value / c)


for _function in (_lerp, _add_scaled, _addcmul, _addcdiv):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)
