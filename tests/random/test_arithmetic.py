"""Fused rounding against exact fractions, and the Box-Muller transforms against plain float64 formulas."""
import math
from fractions import Fraction

import numpy as np
import pytest

from saraph.random._arithmetic import box_muller32, box_muller64, c_math, scale_shift32, scale_shift64


def rounded32(value: Fraction) -> np.float32:
    """The float32 nearest to a fraction, ties to even."""
    near = np.float32(float(value))
    options = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    return min(options, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(np.uint32)) & 1))


@pytest.mark.parametrize("scale, shift", [(5.0, -2.0), (0.4, -0.1), (1e-3, 7.25), (3.0, 1e-9), (-1.7, 1.7)])
def test_scale_shift_rounds_once(scale, shift):
    rng = np.random.default_rng(0)
    values = rng.random(300)
    for x, found in zip(values.tolist(), scale_shift64(values, scale, shift).tolist(), strict=True):
        assert found == float(Fraction(x) * Fraction(scale) + Fraction(shift))
    narrow = values.astype(np.float32)
    factor, offset = Fraction(float(np.float32(scale))), Fraction(float(np.float32(shift)))
    for x, found in zip(narrow, scale_shift32(narrow, scale, shift), strict=True):
        assert found == rounded32(Fraction(float(x)) * factor + offset)


def test_scale_shift32_where_two_roundings_would_err():
    # The product is 2**-24 - 2**-60. So the exact sums lie 2**-60 beside the middle of two float32 values; float64 puts
    # them on it, and rounding the middle to even goes the wrong way.
    x = np.array([1 + 2.0 ** -18], np.float32)
    scale = 2.0 ** -24 * (1 - 2.0 ** -18)
    up, down = scale_shift32(x, -scale, 1 + 2.0 ** -23), scale_shift32(x, scale, 1 + 2.0 ** -23)
    assert up == 1 + 2.0 ** -23 and down == 1 + 2.0 ** -23
    assert np.float32(float(x[0]) * scale + 1 + 2.0 ** -23) == 1 + 2.0 ** -22


def test_scale_shift64_of_overflow_and_nan():
    with np.errstate(all="ignore"):
        found = scale_shift64(np.array([1e308, np.inf, np.nan, -1e308]), 1e10, 1.0)
    np.testing.assert_array_equal(found, [np.inf, np.inf, np.nan, -np.inf])


def test_c_math_keeps_the_shape():
    values = np.linspace(0.1, 3, 6).reshape(2, 3)
    np.testing.assert_array_equal(c_math(math.log, values), [[math.log(v) for v in row] for row in values.tolist()])


@pytest.mark.parametrize("transform, dtype, tolerance", [
    (box_muller32, np.float32, 1e-5), (box_muller64, np.float64, 1e-12),
])
def test_box_muller(transform, dtype, tolerance):
    uniforms = np.random.default_rng(1).random(64, np.float32).astype(dtype)
    uniforms[0] = 0  # the radius of it is zero
    wide = uniforms.astype(np.float64).reshape(-1, 2, 8)
    radius = np.sqrt(-2 * np.log(1 - wide[:, 0]))
    angle = 2 * np.pi * wide[:, 1]
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel() * 3 + 2
    values = uniforms.copy()
    transform(values, 2.0, 3.0)
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)
    assert values[0] == 2
