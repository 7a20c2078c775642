"""The list of primitive ops: what every backend implements, with the shape and dtype rule of each.

    VIEWS        name -> function over NumPy arrays that only rearranges shape and strides; every backend uses it as it is
    RULES        name -> rule: called with the primitive's own arguments (arrays may be ghosts: only shape, dtype and strides may be
                 read), returns (shape, numpy dtype), or a list of those for several results, or None for a write in place

The CPU implementations lie in `cpu/`, one file a family. A test runs every primitive on every backend and holds results to the rule.
Conventions: axes are normalised (0 <= axis < ndim) and given as tuples; dtypes are NumPy's; Python scalars are passed as such.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.shapes import broadcast_shapes, channels_last_strides

VIEWS: dict[str, Callable[..., Any]] = {}
RULES: dict[str, Callable[..., Any]] = {}


def view(function: Callable) -> Callable:
    """Register a view primitive under its function's name."""
    VIEWS[function.__name__] = function
    return function


def rule(*names: str) -> Callable[[Callable], Callable]:
    """Register a shape and dtype rule for the primitives of those names."""

    def add(function: Callable) -> Callable:
        for name in names:
            RULES[name] = function
        return function

    return add


# -- views ---------------------------------------------------------------------------------------------------------------


@view
def transpose(a: Any, axes: tuple[int, ...]) -> Any:
    return a.transpose(axes)


@view
def reshape_view(a: Any, shape: tuple[int, ...]) -> Any:
    """Another shape over the same memory; ValueError where that needs a copy."""
    return a.reshape(shape, copy=False)


@view
def broadcast_to(a: Any, shape: tuple[int, ...]) -> Any:
    """Stride 0 along new and stretched dimensions; writable like its source (writes through it are refused above)."""
    lead = len(shape) - a.ndim
    strides = (0,) * lead + tuple(0 if n == 1 != m else s for n, m, s in zip(a.shape, shape[lead:], a.strides))
    return as_strided_over(a, shape, strides)


@view
def getitem(a: Any, index: Any) -> Any:
    """Basic indexing: ints, slices, None and Ellipsis."""
    found = a[index]
    return found if found.__class__ is np.ndarray else a[(*index, ...) if index.__class__ is tuple else (index, ...)]


@view
def diagonal(a: Any, offset: int, axis1: int, axis2: int) -> Any:
    rows, columns = a.shape[axis1], a.shape[axis2]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    step = a.strides[axis1] + a.strides[axis2]
    start = [slice(None)] * a.ndim
    if length:
        start[axis1], start[axis2] = slice(max(-offset, 0), None), slice(max(offset, 0), None)
    moved = a[tuple(start)]
    keep = [d for d in range(a.ndim) if d not in (axis1, axis2)]
    return as_strided_over(moved, (*(a.shape[d] for d in keep), length), (*(a.strides[d] for d in keep), step))


@view
def real(a: Any) -> Any:
    return a.real


@view
def imag(a: Any) -> Any:
    return a.imag


@view
def pairs(a: Any) -> Any:
    """The (real, imaginary) pairs of a complex array, along a new last dimension."""
    part = a.real
    return restride(part, (*a.shape, 2), (*a.strides, part.itemsize), 0)


@view
def from_pairs(a: Any) -> Any:
    """The complex numbers whose parts lie side by side along the last dimension (of size 2)."""
    return a.view(np.dtype(a.dtype.char.upper()))[..., 0]


@view
def reinterpret(a: Any, dtype: np.dtype) -> Any:
    """The same bytes read as another dtype of the same item size, or along the last axis of another one."""
    return a.view(dtype)


@view
def restride(a: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """Any shape and byte strides over the memory that owns `a`, starting `offset` bytes after a's first element.

    The caller has checked that this stays inside that memory.
    """
    return as_strided_over(a, shape, strides, offset)


def as_strided_over(a: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    """An array over a's memory with any shape and byte strides, `offset` bytes after a's first element.

    The array interface takes what the buffer constructor (cheap, and bounds-checked) does not: memory with gaps, negative offsets.
    """
    kind = a.dtype
    try:
        return np.ndarray(shape, kind, a if kind.kind != "V" else a.view(np.uint8 if a.ndim else f"u{kind.itemsize}"), offset, strides)
    except (ValueError, TypeError):
        return np.asarray(Window(a, shape, strides, offset)).view(kind)


class Window:
    """A piece of an array's memory for NumPy to wrap; it keeps that array alive as `base`."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, a: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int):
        address, readonly = a.__array_interface__["data"]
        size = a.dtype.itemsize
        text = a.dtype.str if a.dtype.kind != "V" else f"<u{size}"
        self.__array_interface__ = {"version": 3, "typestr": text, "shape": tuple(shape), "strides": tuple(strides),
                                    "data": (address + offset, readonly)}
        self.base = a


# -- rules ---------------------------------------------------------------------------------------------------------------

Shape = tuple[int, ...]
boolean = np.dtype(np.bool_)


def _broadcast(*arrays: Any) -> Shape:
    return broadcast_shapes(*[a.shape for a in arrays if hasattr(a, "shape")])


@rule("add", "sub", "mul", "div", "div_floor", "div_trunc", "maximum", "minimum", "fmax", "fmin", "pow", "atan2", "hypot", "fmod", "logaddexp", "logaddexp2",
      "bitwise_and", "bitwise_or", "bitwise_xor", "copysign", "nextafter", "floor_divide", "modulo", "gcd", "lcm", "ldexp", "xlog1py", "zeta",
      "igamma", "igammac", "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
      "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w",
      "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")
def binary(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    """Two operands of one dtype (or an array and a Python number): broadcast shape, that dtype."""
    return _broadcast(a, b), (a if hasattr(a, "dtype") else b).dtype


@rule("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
def comparison(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(a, b), boolean


@rule("neg", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan",
      "asinh", "acosh", "atanh", "sqrt", "rsqrt", "reciprocal", "square", "floor", "ceil", "trunc", "positive", "conj", "bitwise_not",
      "erf", "erfc", "erfinv", "lgamma", "digamma", "entr", "erfcx", "i0", "i0e", "i1", "i1e", "ndtr", "ndtri", "log_ndtr", "airy_ai",
      "spherical_bessel_j0", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1",
      "scaled_modified_bessel_k0", "scaled_modified_bessel_k1")
def unary(a: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("frexp")
def frexp(a: Any) -> tuple[tuple[Shape, np.dtype], ...]:
    return (a.shape, a.dtype), (a.shape, np.dtype(np.int32))


@rule("abs", "angle")
def absolute(a: Any) -> tuple[Shape, np.dtype]:
    return a.shape, np.empty(0, a.dtype).real.dtype


@rule("isnan", "isinf", "isfinite", "signbit", "logical_not")
def test(a: Any) -> tuple[Shape, np.dtype]:
    return a.shape, boolean


@rule("where")
def where(condition: Any, a: Any, b: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(condition, a, b), (a if hasattr(a, "dtype") else b).dtype


@rule("cast", "empty_like")
def cast(a: Any, dtype: np.dtype) -> Any:
    return np.empty(1, dtype)[:0].view() if 0 in a.shape and a.ndim == 1 else dense_like(a, dtype)


def dense_like(a: Any, dtype: np.dtype) -> Any:
    """A ghost of a's shape and memory order, dense, with another dtype."""
    order = sorted(range(a.ndim), key=lambda d: (-abs(a.strides[d]), d))
    strides, step = [0] * a.ndim, dtype.itemsize
    for d in reversed(order):
        strides[d] = step
        step *= max(a.shape[d], 1)
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), a.shape, strides)


@rule("copy")
def copy(a: Any, order: str = "K") -> Any:
    return (a.shape, a.dtype) if order == "C" or 0 in a.strides else dense_like(a, a.dtype)


@rule("copy_into", "fill")
def write(destination: Any, source: Any) -> None:
    return None


def reduced(shape: Shape, axes: tuple[int, ...] | None, keepdims: bool) -> Shape:
    """The shape that is left when those axes (None: all) are reduced."""
    if axes is None:
        axes = tuple(range(len(shape)))
    if keepdims:
        return tuple(1 if d in axes else n for d, n in enumerate(shape))
    return tuple(n for d, n in enumerate(shape) if d not in axes)


@rule("amax", "amin")
def reduction(a: Any, axes: tuple[int, ...] | None, keepdims: bool) -> tuple[Shape, np.dtype]:
    return reduced(a.shape, axes, keepdims), a.dtype


@rule("sum")
def summed(a: Any, axes: tuple[int, ...] | None, keepdims: bool, dtype: np.dtype | None = None) -> tuple[Shape, np.dtype]:
    return reduced(a.shape, axes, keepdims), dtype or a.dtype


@rule("any", "all")
def truth(a: Any, axes: tuple[int, ...] | None, keepdims: bool) -> tuple[Shape, np.dtype]:
    return reduced(a.shape, axes, keepdims), boolean


@rule("full")
def full(shape: Shape, value: Any, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return shape, dtype


@rule("scalar")
def scalar(value: Any, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return (), dtype


@rule("empty")
def empty(shape: Shape, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return shape, dtype


@rule("empty_strided")
def empty_strided(shape: Shape, strides: tuple[int, ...], dtype: np.dtype) -> Any:
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, [s * dtype.itemsize for s in strides])


@rule("arange")
def arange(start: Any, step: Any, count: int, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return (count,), dtype


@rule("cat", "cat_small")
def cat(arrays: Any, axis: int) -> tuple[Shape, np.dtype]:
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    return tuple(shape), arrays[0].dtype


@rule("pad_rows")
def pad_rows(arrays: Any, longest: int, value: Any, batch_first: bool, left: bool) -> tuple[Shape, np.dtype]:
    lead = (len(arrays), longest) if batch_first else (longest, len(arrays))
    return (*lead, *arrays[0].shape[1:]), arrays[0].dtype


@rule("stack")
def stack(arrays: Any, axis: int) -> tuple[Shape, np.dtype]:
    shape = list(arrays[0].shape)
    shape.insert(axis, len(arrays))
    return tuple(shape), arrays[0].dtype


@rule("copy_as")
def copy_as(a: Any, layout: str) -> Any:
    if layout == "contiguous_format":
        return a.shape, a.dtype
    strides = [s * a.dtype.itemsize for s in channels_last_strides(a.shape)]
    return np.lib.stride_tricks.as_strided(np.empty(1, a.dtype), a.shape, strides)


@rule("is_row_major")
def is_row_major(a: Any) -> bool:
    return a.flags.c_contiguous


@rule("address")
def address(a: Any) -> int:
    """Ghosts share addresses within a view family, which is all that offsets need."""
    return a.__array_interface__["data"][0]


@rule("scatter_strided")
def scatter_strided(g: Any, base_shape: Shape, base_strides: Shape, shape: Shape, strides: Shape, offset: int) -> Any:
    return np.lib.stride_tricks.as_strided(np.empty(1, g.dtype), base_shape, base_strides)


@rule("erase_strided")
def erase_strided(x: Any, base_strides: Shape, shape: Shape, strides: Shape, offset: int) -> Any:
    return np.lib.stride_tricks.as_strided(np.empty(1, x.dtype), x.shape, base_strides)


@rule("gather_strided")
def gather_strided(x: Any, base_strides: Shape, shape: Shape, strides: Shape, offset: int) -> tuple[Shape, np.dtype]:
    return shape, x.dtype


@rule("sign", "sgn", "frac", "sigmoid", "sinc")
def unary_more(a: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("round", "polygamma", "logit")
def unary_with(a: Any, argument: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("limited")
def limited(a: Any, low: Any, high: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("add_scaled", "lerp")
def lerp(a: Any, b: Any, weight: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(a, b, weight), a.dtype


@rule("addcmul", "addcdiv")
def combination(a: Any, b: Any, c: Any, value: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(a, b, c), a.dtype


@rule("isposinf", "isneginf", "isreal")
def test_more(a: Any) -> tuple[Shape, np.dtype]:
    return a.shape, boolean


@rule("gamma_slope", "beta_slope")
def slope(x: Any, *parameters: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(x, *parameters), x.dtype


@rule("heaviside", "remainder", "xlogy", "bitwise_left_shift", "bitwise_right_shift")
def binary_more(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    return _broadcast(a, b), (a if hasattr(a, "dtype") else b).dtype


@rule("relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "logsigmoid", "hardswish", "hardsigmoid", "softmax", "log_softmax",
      "softmax_backward", "log_softmax_backward")
def activation(a: Any, *arguments: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype
