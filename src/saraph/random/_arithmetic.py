"""The arithmetic behind the normal and uniform fills, rounded exactly as PyTorch's CPU kernels round it.

Those kernels are compiled with fused multiply-add, so a product and the sum after it are rounded once. NumPy has no
such operation; here a float32 one goes through float64 (where the product is exact), and a float64 one through pairs of
doubles. The float32 logarithm, sine and cosine are the classic single-precision Cephes polynomials that PyTorch's AVX2
kernel evaluates.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["box_muller32", "box_muller64", "c_math", "scale_shift32", "scale_shift64"]

_PAIRS = 16384  # pairs of normals made at once: the temporaries stay in the cache
_HALF_STEP32 = np.int64(1 << 28)  # the bits below a float32's last place in a float64, when exactly half way
_BELOW32 = np.int64((1 << 29) - 1)
_SPLIT = 134217729.0  # 2**27 + 1: splits a double into two halves whose products are exact


def c_math(function: Callable[[float], float], values: np.ndarray) -> np.ndarray:
    """The C library's function for each float64 value: NumPy's vector versions may differ from it in the last place."""
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def scale_shift32(values: np.ndarray, scale: float, shift: float) -> np.ndarray:
    """values * scale + shift in float32, rounded once; scale and shift are rounded to float32 first."""
    factor, offset = np.float32(scale), np.float32(shift)
    if offset == 0:
        return values if factor == 1 else values * factor
    product = values.astype(np.float64)
    product *= float(factor)
    total = product + float(offset)
    # Rounding to float64 and then to float32 errs only where the first lands half way between two float32 values.
    half_way = (total.view(np.int64) & _BELOW32) == _HALF_STEP32
    if half_way.any():
        part, near = product[half_way], total[half_way]
        error = _sum_error(part, float(offset), near)
        total[half_way] = np.where(error == 0, near, np.nextafter(near, np.copysign(np.inf, error)))
    return total.astype(np.float32)


def scale_shift64(values: np.ndarray, scale: float, shift: float) -> np.ndarray:
    """values * scale + shift in float64, rounded once (Boldo and Melquiond: add up the small parts, rounded to odd)."""
    if shift == 0 or values.size == 0:
        return values if scale == 1 else values * scale
    with np.errstate(over="ignore", invalid="ignore"):
        product = values * scale
        plain = product + shift
        low = _product_error(values, scale, product)
        small = low + shift
        small_error = _sum_error(low, shift, small)
        total = product + small
        rest = _sum_error(product, small, total)
        correction = rest + small_error
        error = _sum_error(rest, small_error, correction)
        even = (correction.view(np.int64) & 1) == 0
        correction = np.where(even & (error != 0), np.nextafter(correction, np.copysign(np.inf, error)), correction)
        fused = total + correction
    return np.where(np.isfinite(fused), fused, plain)


def _sum_error(a: np.ndarray, b: np.ndarray | float, total: np.ndarray) -> np.ndarray:
    """What rounding lost in total = a + b, exactly (Knuth)."""
    back = total - a
    return (a - (total - back)) + (b - back)


def _product_error(a: np.ndarray, b: float, product: np.ndarray) -> np.ndarray:
    """What rounding lost in product = a * b, exactly (Dekker)."""
    wide = a * _SPLIT
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide_b = b * _SPLIT
    b_high = wide_b - (wide_b - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


_LOG = tuple(float(np.float32(c)) for c in (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1))
_LN2_HIGH = 0.693359375
_LN2_LOW = np.float32(-2.12194440e-4)
_SQRT_HALF = np.float32(0.707106781186547524)
_MANTISSA = np.uint32(0x807FFFFF)
_HALF_BITS = np.uint32(0x3F000000)
_FOUR_OVER_PI = np.float32(1.27323954473516)
_QUARTER_PI = tuple(float(np.float32(c)) for c in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8))
_SIN_COS = tuple(np.array(pair, np.float32).astype(np.float64).reshape(2, 1, 1) for pair in (
    (-1.9515295891e-4, 2.443315711809948e-5), (8.3321608736e-3, -1.388731625493765e-3),
    (-1.6666654611e-1, 4.166664568298827e-2)))
_TWO_PI32 = np.float32(2 * math.pi)
_ENDS = np.array((1.0, -0.5)).reshape(2, 1, 1)
_ONE = np.float32(1)
_BIAS = np.float32(126)
_MINUS_TWO = np.float32(-2)
_HALF = np.float32(0.5)


def _fused(a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
    """a * b + c as float32 rounds it once; `a` is float32, `b` float64. (Exact but for a chance of 2**-29.)"""
    wide = a.astype(np.float64)
    wide *= b
    wide += c
    return wide.astype(np.float32)


def _polynomial(coefficients: Sequence[np.ndarray | float], x: np.ndarray) -> np.ndarray:
    """Horner's rule with fused steps; `x` is float64 holding float32 values."""
    wide = x * coefficients[0]
    wide += coefficients[1]
    for coefficient in coefficients[2:]:
        wide = wide.astype(np.float32).astype(np.float64)
        wide *= x
        wide += coefficient
    return wide.astype(np.float32)


def _log32(x: np.ndarray) -> np.ndarray:
    """Natural logarithm of positive, normal float32 values."""
    bits = x.view(np.uint32)
    exponent = (bits >> np.uint32(23)).astype(np.float32)
    exponent -= _BIAS
    fraction = ((bits & _MANTISSA) | _HALF_BITS).view(np.float32)
    small = fraction < _SQRT_HALF
    exponent -= small
    fraction = (fraction - _ONE) + fraction * small
    square = fraction * fraction
    value = _polynomial(_LOG, fraction.astype(np.float64))
    value *= fraction
    value = _fused(value, square.astype(np.float64), exponent * _LN2_LOW)
    value -= square * _HALF
    value += fraction
    return _fused(exponent, _LN2_HIGH, value)


def _sin_cos32(x: np.ndarray) -> np.ndarray:
    """Sine and cosine, stacked in front: shape (2, *x.shape). The angles are float32, from 0 to a few thousand."""
    octant = (x * _FOUR_OVER_PI).astype(np.int32)
    octant += 1
    octant &= ~1
    turns = octant.astype(np.float32)
    angle = x
    for part in _QUARTER_PI:
        angle = _fused(turns, part, angle)
    square = angle * angle
    # The sine's last step is v * angle + angle, the cosine's is v * square - square / 2.
    factor = np.empty((2, *x.shape), np.float64)
    factor[0] = angle
    factor[1] = square
    both = _polynomial(_SIN_COS, factor[1])
    both *= square
    both = _fused(both, factor, factor * _ENDS)
    both[1] += _ONE
    sign = np.stack((octant, ~(octant - 2)))
    sign &= 4
    sign <<= 29
    both = np.where((octant & 2) == 0, both, both[::-1]).view(np.int32)
    both ^= sign
    return both.view(np.float32)


def box_muller32(uniforms: np.ndarray, mean: float, std: float) -> None:
    """Turn float32 uniforms (flat, contiguous, a multiple of 16 of them) into normals, in place.

    In each group of 16 the first eight give the radii, the last eight the angles; cosines come out first, then sines.
    """
    groups = uniforms.reshape(-1, 2, 8)
    step = _PAIRS // 8
    for start in range(0, len(groups), step):
        part = groups[start:start + step]
        radius = _log32(_ONE - part[:, 0])
        radius *= _MINUS_TWO
        np.sqrt(radius, out=radius)
        sine_cosine = _sin_cos32(part[:, 1] * _TWO_PI32)
        sine_cosine *= radius
        sine_cosine = scale_shift32(sine_cosine, std, mean)
        part[:, 0] = sine_cosine[1]
        part[:, 1] = sine_cosine[0]


def box_muller64(uniforms: np.ndarray, mean: float, std: float) -> None:
    """As `box_muller32` for float64 uniforms, through the C library's functions (NumPy's sine and cosine call them)."""
    groups = uniforms.reshape(-1, 2, 8)
    step = _PAIRS // 8
    for start in range(0, len(groups), step):
        part = groups[start:start + step]
        radius = np.sqrt(-2.0 * c_math(math.log, 1.0 - part[:, 0]))
        angle = (2 * math.pi) * part[:, 1]
        part[:, 0] = scale_shift64(radius * np.cos(angle), std, mean)
        part[:, 1] = scale_shift64(radius * np.sin(angle), std, mean)
