"""Fills that draw a fixed number of words for each value: uniform, normal, integers, Bernoulli, inverse transforms.

Every function takes the word source first, then the shape and the NumPy dtype of the result, and returns a fresh
C-contiguous array with the values that PyTorch's CPU kernel writes, in the order in which it walks the memory of its
result.
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from saraph.random._arithmetic import box_muller32, box_muller64, c_math, scale_shift32, scale_shift64
from saraph.random._mt19937 import MersenneTwister, compiled

__all__ = [
    "bernoulli", "cauchy", "exponential", "fill_view", "geometric", "log_normal", "normal", "not_implemented",
    "random_full", "random_ints", "to_dtype", "type_name", "uniform",
]

_CHUNK = 1 << 15  # values made at once: the temporaries of one piece stay in the cache
_MASK24 = np.uint32((1 << 24) - 1)
_SCALE24 = np.float32(2.0 ** -24)
_WIDE_RANGE = 1 << 28  # from this range on, integers are drawn from 64 bits
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1

HALF, BFLOAT16, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))
FLOATS = (HALF, BFLOAT16, FLOAT32, FLOAT64)
_REAL_OF = {np.dtype(np.complex64): FLOAT32, np.dtype(np.complex128): FLOAT64}
_DIGITS = {HALF: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}
_BOOL, _INT64 = np.dtype(np.bool_), np.dtype(np.int64)
_SIGNED_OR_BYTE = tuple(np.dtype(t) for t in (np.uint8, np.int8, np.int16, np.int32, np.int64))
_WIDE_UNSIGNED = tuple(np.dtype(t) for t in (np.uint16, np.uint32, np.uint64))

# What PyTorch's error texts call each type: (the name of the scalar type, the name of the C++ type).
_NAMES = {np.dtype(key): names for key, names in {
    np.bool_: ("Bool", "bool"), np.uint8: ("Byte", "unsigned char"), np.int8: ("Char", "signed char"),
    np.int16: ("Short", "short int"), np.int32: ("Int", "int"), np.int64: ("Long", "long int"),
    np.uint16: ("UInt16", "short unsigned int"), np.uint32: ("UInt32", "unsigned int"),
    np.uint64: ("UInt64", "long unsigned int"), np.float16: ("Half", "c10::Half"),
    ml_dtypes.bfloat16: ("BFloat16", "c10::BFloat16"), np.float32: ("Float", "float"),
    np.float64: ("Double", "double"), np.complex64: ("ComplexFloat", "c10::complex<float>"),
    np.complex128: ("ComplexDouble", "c10::complex<double>")}.items()}


def type_name(dtype: np.dtype) -> str:
    """The name of PyTorch's scalar type, such as 'Float' or 'Long'."""
    return _NAMES[dtype][0] if dtype in _NAMES else dtype.name.capitalize()


def not_implemented(kernel: str, dtype: np.dtype) -> NotImplementedError:
    """The error for a dtype that PyTorch's kernel does not take either."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{type_name(dtype)}': use float32, then .to(dtype)")


def fill_view(destination: np.ndarray) -> np.ndarray:
    """`destination` with its dimensions in the order of its memory (largest stride first).

    PyTorch's in-place fills walk the memory of their target, so that is the order in which it takes the values:
    `view = fill_view(target); view[...] = generator.uniform(view.shape, target.dtype)`.
    """
    if destination.flags.c_contiguous:
        return destination
    return destination.transpose(sorted(range(destination.ndim), key=lambda axis: -abs(destination.strides[axis])))


def to_dtype(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values converted as C++ does it: to 16-bit floats by way of float32, to integers of int64; overflow is silent."""
    if dtype == values.dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype in (HALF, BFLOAT16):
            return values.astype(np.float32, copy=False).astype(dtype)
        if dtype.kind in "iu":
            values = values.astype(np.int64, copy=False)
        return values.astype(dtype)


def _filled(shape: Sequence[int], dtype: np.dtype, make: Callable[[int], np.ndarray]) -> np.ndarray:
    """An array whose values come from `make(count)`, called for one piece after the other."""
    count = math.prod(shape)
    if count <= _CHUNK:
        return make(count).astype(dtype, copy=False).reshape(shape)
    out = np.empty(count, dtype)
    for start in range(0, count, _CHUNK):
        piece = out[start:start + _CHUNK]
        piece[...] = make(piece.size)
    return out.reshape(shape)


def _floats(source: MersenneTwister, count: int) -> np.ndarray:
    """Uniform float32 values in [0, 1) from the low 24 bits of a word each."""
    found = source.fill("uniform32", count, count, FLOAT32, 1.0, 0.0, 1.0, 0.0)
    if found is not None:
        return found

    def make(size: int) -> np.ndarray:
        bits = source.words(size) & _MASK24
        values = bits.view(np.int32).astype(np.float32)
        values *= _SCALE24
        return values
    return _filled((count,), FLOAT32, make)


def _doubles(source: MersenneTwister, count: int) -> np.ndarray:
    found = source.fill("uniform64", 2 * count, count, FLOAT64, 1.0, 0.0, 1.0, 0.0)
    return _filled((count,), FLOAT64, source.doubles) if found is None else found


# ---- uniform -------------------------------------------------------------------------------------

def _check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    limit = float(ml_dtypes.finfo(dtype).max)
    for name, value in (("from", low), ("to", high)):
        if not -limit <= value <= limit:
            raise RuntimeError(f"{name} is out of bounds for {_NAMES[dtype][1]}: got {value:g}")
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > limit:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{type_name(dtype)}>::max(), but found "
                           f"to={high:g} and from={low:g} which result in to-from to exceed the limit")


def uniform(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, low: float = 0.0,
            high: float = 1.0) -> np.ndarray:
    """Values in [low, high): 24 random bits in float32, 53 in float64; complex types draw their parts in turn."""
    if dtype in _REAL_OF:
        return uniform(source, (*shape, 2), _REAL_OF[dtype], low, high).view(dtype).reshape(shape)
    if dtype not in FLOATS:
        raise not_implemented("check_uniform_bounds", dtype)
    _check_uniform(dtype, low, high)
    plain = low == 0 and high == 1
    if plain and dtype == FLOAT32:
        return _floats(source, math.prod(shape)).reshape(shape)
    if plain and dtype == FLOAT64:
        return _doubles(source, math.prod(shape)).reshape(shape)
    top, bottom = np.asarray(high).astype(dtype), np.asarray(low).astype(dtype)
    count, single = math.prod(shape), dtype == FLOAT32
    span = float(np.float32(high) - np.float32(low)) if single else float(high - low)
    if dtype in (FLOAT32, FLOAT64):
        kind, words = ("uniform32", count) if single else ("uniform64", 2 * count)
        found = source.fill(kind, words, count, dtype, span, float(low), float(top), float(bottom))
        if found is not None:
            return found.reshape(shape)

    def make(count: int) -> np.ndarray:
        if dtype == FLOAT64:
            values = scale_shift64(source.doubles(count), high - low, low)
        else:
            span = float(np.float32(high) - np.float32(low))
            values = scale_shift32(_floats(source, count), span, low).astype(dtype, copy=False)
        # Rounding may reach the upper bound, which is not part of the range.
        reached = values == top
        if reached.any():
            values[reached] = bottom
        return values
    return _filled(shape, dtype, make)


# ---- normal --------------------------------------------------------------------------------------

def _paired_normals(source: MersenneTwister, count: int, mean: float, std: float) -> np.ndarray:
    """float64 normals made in pairs, one of which waits in the source for the next call."""
    values = []
    if source.next_normal is not None and count:
        values.append(source.next_normal)
        source.next_normal = None
    missing = count - len(values)
    uniforms = source.doubles(missing + missing % 2).tolist()
    for first, second in zip(uniforms[::2], uniforms[1::2], strict=True):
        radius = math.sqrt(-2.0 * math.log1p(-second))
        angle = 2.0 * math.pi * first
        values.append(radius * math.cos(angle))
        values.append(radius * math.sin(angle))
    if missing % 2:
        source.next_normal = values.pop()
    return scale_shift64(np.array(values, np.float64), std, mean)


def _normals_of(uniforms: np.ndarray, mean: float, std: float) -> None:
    if uniforms.size < _CHUNK or not compiled or not compiled[0].normals_in_place(uniforms, mean, std):
        box_muller32(uniforms, mean, std)


def normal(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, mean: float = 0.0, std: float = 1.0,
           contiguous: bool = True) -> np.ndarray:
    """Normal values. Targets of 16 and more values that are contiguous are made in groups of 16, others pair by pair.

    Complex types have independent parts, each with variance std**2 / 2.
    """
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype in _REAL_OF:
        parts = normal(source, (*shape, 2), _REAL_OF[dtype], mean, std / math.sqrt(2), contiguous)
        return parts.view(dtype).reshape(shape)
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    if dtype not in FLOATS:
        raise not_implemented("normal_kernel_cpu", dtype)
    if count < 16 or not contiguous:
        return _filled(shape, dtype, lambda size: to_dtype(_paired_normals(source, size, mean, std), dtype))
    draw, transform = (_doubles, box_muller64) if dtype == FLOAT64 else (_floats, _normals_of)
    if not count % 16:
        if dtype != FLOAT64:
            found = source.fill("normal32", count, count, FLOAT32, float(std), float(mean))
            if found is not None:
                return to_dtype(found, dtype).reshape(shape)
        values = draw(source, count)
        transform(values, mean, std)
        return to_dtype(values, dtype).reshape(shape)
    # The last 16 values are made anew from draws of their own. The wide types have drawn for the values past the last
    # whole group before that, the narrow ones have not.
    whole = count - count % 16
    first = count if dtype in (FLOAT32, FLOAT64) else whole
    uniforms = draw(source, first + 16)
    values = np.concatenate((uniforms[:whole], uniforms[first:]))
    transform(values, mean, std)
    values = to_dtype(values, dtype)
    out = np.empty(count, dtype)
    out[:whole] = values[:whole]
    out[-16:] = values[whole:]
    return out.reshape(shape)


def log_normal(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, mean: float = 1.0,
               std: float = 2.0) -> np.ndarray:
    """Exponentials of normal values (made pair by pair)."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if dtype not in FLOATS:
        raise not_implemented("log_normal_cpu", dtype)

    def make(count: int) -> np.ndarray:
        exponents = _paired_normals(source, count, mean, std)
        return to_dtype(_through(math.exp, np.exp, exponents, dtype), dtype)
    return _filled(shape, dtype, make)


# ---- integers ------------------------------------------------------------------------------------

def _float_bound(dtype: np.dtype, value: int, step: int) -> int:
    """A bound that rounding cannot carry outside `value`: a lower bound when step is 1, an upper one when it is -1."""
    rounded = float(to_dtype(np.asarray(value + step), dtype))
    if not abs(rounded) < 1 << 63:
        return value  # no 64-bit integer: the check of the bounds reports it, if it is out of them
    inner = int(rounded)
    outside = inner < value if step > 0 else inner >= value
    if outside:
        spacing = 1 << max(abs(value + step).bit_length() - _DIGITS[dtype], 0)
        return inner + step * spacing
    return value


def _check_bounds(dtype: np.dtype, low: int, last: int) -> None:
    if dtype in FLOATS:
        limit = float(ml_dtypes.finfo(dtype).max)
        allowed = (-limit, limit)
    elif dtype == _BOOL:
        allowed = (0, 1)
    else:
        allowed = (int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), _INT64_MAX))
    digits = _DIGITS.get(dtype, 64)
    for name, value in (("from", low), ("to - 1", last)):
        if not allowed[0] <= value <= allowed[1]:
            raise RuntimeError(f"{name} is out of bounds for {_NAMES[dtype][1]}: got {value}")
        if abs(value) > 1 << digits:
            warnings.warn(f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                          f"{_NAMES[dtype][1]} can support discrete uniform distribution only within this range.",
                          UserWarning, stacklevel=5)


def _integer_range(dtype: np.dtype, low: int, high: int | None) -> tuple[int, int]:
    """(first value, number of values) for `random_(low, high)`; high None means up to the largest value."""
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype not in _NAMES:
        raise not_implemented("random_update_from_to", dtype)
    if high is None:
        if dtype in FLOATS:
            last = 1 << _DIGITS[dtype]
            low = _float_bound(dtype, low, 1)
            if low >= last:
                raise RuntimeError("random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted "
                                   f"to dtype, but got from={low} > to_inc={last}")
        else:
            last = 1 if dtype == _BOOL else int(np.iinfo(dtype).max)
    else:
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if dtype in FLOATS:
            low, high = _float_bound(dtype, low, 1), _float_bound(dtype, high, -1)
            if low >= high:
                raise RuntimeError("random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
                                   f"got from={low} >= to={high}")
        last = high - 1
    _check_bounds(dtype, low, last)
    return low, last - low + 1


def random_ints(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, low: int = 0,
                high: int | None = None) -> np.ndarray:
    """Integers in [low, high), or up to the largest value of the dtype (2**digits for floats) where high is None.

    Ranges of 2**28 values and more use 64 random bits for each value, others 32.
    """
    if high is None and low == _INT64_MIN:
        return _all_64_bits(source, shape, dtype)
    first, span = _integer_range(dtype, low, high)
    if span < _WIDE_RANGE:
        found = source.fill("integers", math.prod(shape), math.prod(shape), _INT64, first, span)
        if found is not None:
            return to_dtype(found, dtype).reshape(shape)

    def make(count: int) -> np.ndarray:
        if span >= _WIDE_RANGE:
            wide = source.words64(count) % np.uint64(span)
            wide += np.uint64(first % (1 << 64))
            return to_dtype(wide.view(np.int64), dtype)
        values = (source.words(count) % np.uint32(span)).astype(np.int64)
        values += first
        return to_dtype(values, dtype)
    return _filled(shape, dtype, make)


def _all_64_bits(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    if dtype not in (*_SIGNED_OR_BYTE, BFLOAT16, FLOAT32, FLOAT64):
        raise not_implemented("random_full_64_bits_range_kernel_cpu", dtype)
    if dtype in _SIGNED_OR_BYTE and dtype != np.int64:
        raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return _filled(shape, dtype, lambda count: to_dtype(source.words64(count).view(np.int64), dtype))


def random_full(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """What `random_()` without bounds gives: 0 to the largest value for integers and bool, to 2**digits for floats."""
    if dtype not in (_BOOL, *_SIGNED_OR_BYTE, *FLOATS):
        raise not_implemented("random_kernel_cpu", dtype)
    if dtype == _BOOL:
        span = 2
    elif dtype in FLOATS:
        span = (1 << _DIGITS[dtype]) + 1
    else:
        span = int(np.iinfo(dtype).max) + 1
    wide = dtype in (np.int64, FLOAT64)

    def make(count: int) -> np.ndarray:
        values = source.words64(count) % np.uint64(span) if wide else source.words(count) % np.uint32(span)
        return to_dtype(values.astype(np.int64), dtype)
    return _filled(shape, dtype, make)


# ---- Bernoulli -----------------------------------------------------------------------------------

def bernoulli(source: MersenneTwister, p: float | np.ndarray, shape: Sequence[int], dtype: np.dtype, one: float = 1.0) -> np.ndarray:
    """Ones (or another number) with probability p, else zeros. An array p must broadcast to the shape.

    Each value takes a float64 draw for a scalar p or a float64 array, and a float32 draw for arrays of other types.
    """
    if not isinstance(p, np.ndarray):
        return _bernoulli_scalar(source, float(p), shape, dtype, one)
    if dtype not in (_BOOL, *_SIGNED_OR_BYTE, *FLOATS):
        raise not_implemented("bernoulli_tensor_cpu_self_", dtype)
    if p.dtype not in FLOATS:
        raise not_implemented("bernoulli_tensor_cpu_p_", p.dtype)
    chances = p.astype(np.float32) if p.dtype in (HALF, BFLOAT16) else p
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli needs probabilities "
                           "from 0 to 1")
    draws = (_doubles if p.dtype == FLOAT64 else _floats)(source, math.prod(shape)).reshape(shape)
    return _times((draws < np.broadcast_to(chances, shape)).astype(dtype, copy=False), one)


def _times(values: np.ndarray, one: float) -> np.ndarray:
    return values if one == 1 else values * values.dtype.type(one)


def _bernoulli_scalar(source: MersenneTwister, p: float, shape: Sequence[int], dtype: np.dtype, one: float) -> np.ndarray:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if dtype not in (_BOOL, *_SIGNED_OR_BYTE, *FLOATS):
        raise not_implemented("bernoulli_scalar_cpu_", dtype)
    # A draw of 53 bits is below p exactly when the bits are below this bound; most are decided by the upper word alone.
    bound = math.ceil(p * 2.0 ** 53)
    size = math.prod(shape)
    if dtype == FLOAT32:
        found = source.fill("choice32", 2 * size, size, FLOAT32, bound, float(one))
        if found is not None:
            return found.reshape(shape)
    else:
        found = source.fill("choice8", 2 * size, size, _BOOL, bound)
        if found is not None:
            return _times(found.astype(dtype, copy=False), one).reshape(shape)
    bound_high, bound_low = divmod(bound, 1 << 32)
    upper_mask = np.uint32((1 << 21) - 1)

    def make(count: int) -> np.ndarray:
        pairs = source.words(2 * count)
        upper = pairs[0::2] & upper_mask
        hits = upper < np.uint32(bound_high)
        ties = upper == np.uint32(bound_high)
        if ties.any():
            hits |= ties & (pairs[1::2] < np.uint32(bound_low))
        return hits
    return _times(_filled(shape, dtype, make), one)


# ---- inverse transforms of a uniform double ------------------------------------------------------

def _through(exact: Callable[[float], float], fast: np.ufunc, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A function of float64 values: the C library's where the result stays float64, NumPy's where it is rounded."""
    return c_math(exact, values) if dtype == FLOAT64 else fast(values)


def exponential(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Exponential values with the given rate (lambda)."""
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if dtype.kind in "biuc":
        raise RuntimeError("Exponential distribution is a continuous probability distribution. dtype must be a "
                           f"floating point but you specified {type_name(dtype)}")
    if dtype not in FLOATS:
        raise not_implemented("exponential_cpu", dtype)

    def make(count: int) -> np.ndarray:
        logarithms = _through(math.log1p, np.log1p, -source.doubles(count), dtype)
        return to_dtype((-1.0 / rate) * logarithms, dtype)
    return _filled(shape, dtype, make)


def geometric(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, p: float) -> np.ndarray:
    """Numbers of trials up to the first success (1, 2, ...), each with probability p."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if dtype not in (*_SIGNED_OR_BYTE, *FLOATS):
        raise not_implemented("geometric_cpu", dtype)
    failure = math.log1p(-p)

    def make(count: int) -> np.ndarray:
        # A draw may be 0, whose logarithm Python's function refuses; NumPy's gives -inf, as the kernel has it.
        with np.errstate(divide="ignore"):
            return to_dtype(np.ceil(np.log(source.doubles(count)) / failure), dtype)
    return _filled(shape, dtype, make)


def cauchy(source: MersenneTwister, shape: Sequence[int], dtype: np.dtype, median: float = 0.0,
           sigma: float = 1.0) -> np.ndarray:
    """Cauchy values."""
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if dtype.kind in "biuc":
        raise RuntimeError("Cauchy distribution is a continuous probability distribution. dtype must be a floating "
                           f"point but you specified {_NAMES[dtype][1]}")
    if dtype not in FLOATS:
        raise not_implemented("cauchy_cpu", dtype)

    def make(count: int) -> np.ndarray:
        tangents = _through(math.tan, np.tan, math.pi * (source.doubles(count) - 0.5), dtype)
        return to_dtype(scale_shift64(tangents, sigma, median), dtype)
    return _filled(shape, dtype, make)
