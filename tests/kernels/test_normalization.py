"""Kernels of normalisation against the definitions in NumPy."""
import math

import numpy as np
import pytest
from guard import SIDES, check, guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.backends.cpu import normalization as definition
from saraph.kernels import normalization_rows

rng = np.random.default_rng(6)


def forms(shape, groups):
    """(form, axes, shape of parameters) of layer, batch, instance and group norm."""
    n, c = shape[:2]
    length = math.prod(shape[2:])
    found = [((n, c * length), (1,), (1, c * length)), ((n, c, length), (0, 2), (1, c, 1)), ((n, groups, c // groups, length), (2, 3),
             (1, groups, c // groups, 1))]
    return [*found, ((n, c, length), (2,), (1, c, 1))] if len(shape) > 2 else found


def close(found, expected, tolerance):
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(b).max()))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 9), st.sampled_from([(4, 2), (6, 3), (33, 1)]), st.sampled_from([(), (5,), (3, 7), (50, 41)]), st.sampled_from("fd"),
       st.sampled_from(["plain", "last", "reversed"]), st.booleans(), st.booleans())
def test_against_the_definition(batch, channels, spatial, kind, order, affine, centred):
    shape, groups = (batch, channels[0], *spatial), channels[1]
    x, g = ((rng.standard_normal(shape) * 3 + 2).astype(kind), rng.standard_normal(shape).astype(kind))
    if order == "last":
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    elif order == "reversed":
        x = x[::-1]
    tolerance = 2e-4 if kind == "f" else 1e-10
    for form, axes, parameters in forms(shape, groups):
        if math.prod(form[d] for d in axes) < 4 or (axes == (1,) and order != "plain"):
            continue
        w, b = rng.standard_normal((2, *parameters)).astype(kind) if affine else (None, None)
        about_mean = centred or axes != (1,)
        expected = definition.standardize_by_numpy(x, form, axes, 1e-3, w, b, about_mean)
        close(definition.standardize(x, form, axes, 1e-3, w, b, about_mean), expected, tolerance)
        how = (g, x, form, expected[1], expected[2], axes, w, about_mean, (True, affine, affine), parameters)
        close(definition.standardize_grad(*how), definition.standardize_grad_by_numpy(*how), tolerance)
    scale, shift = rng.standard_normal((2, 1, channels[0], 1)).astype(kind)
    form = (batch, channels[0], math.prod(spatial))
    close([definition.scale_shift(x, form, scale, shift)], [definition.scale_shift_by_numpy(x, form, scale, shift)], tolerance)


def test_a_mean_far_from_zero_leaves_the_variance_exact():
    x = (np.random.default_rng(0).standard_normal((4, 3, 5000)) + 10000).astype(np.float32)  # the mean of squares would be all rounding
    for form, axes in (((4, 3, 5000), (0, 2)), ((12, 5000), (1,))):
        variance = definition.standardize(x, form, axes, 1e-5, None, None, True)[3]
        np.testing.assert_allclose(variance, x.astype(np.float64).reshape(form).var(axes, keepdims=True), rtol=3e-5)


@pytest.mark.parametrize("side", SIDES)
def test_nothing_outside_is_touched(side):
    x, g, w, b = (guarded(rng.standard_normal(shape).astype(np.float32), side, read_only=True) for shape in ((9, 37), (9, 37), (37,), (37,)))
    y, mean, rstd, variance = (guarded(np.zeros(shape, np.float32), side) for shape in ((9, 37), (9, 1), (9, 1), (9, 1)))
    normalization_rows.forward(x, y, (mean, rstd, variance), w, b, 1e-5, True)
    normalization_rows.backward(g, x, y, mean, rstd, w, True, True)
    check(y, mean, rstd, variance)


def test_the_number_of_threads_changes_nothing():
    x, before = rng.standard_normal((8, 32, 30, 30)).astype(np.float32), threads.get_num_threads()
    for form, axes, parameters in forms(x.shape, 4):
        found = []
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            y, mean, rstd, variance = definition.standardize(x, form, axes, 1e-5, None, None, True)
            found.append([y, mean, rstd, variance, *definition.standardize_grad(y, x, form, mean, rstd, axes, None, True, (True,) * 3, parameters)])
        threads.set_num_threads(before)
        for others in found[1:]:
            for one, other in zip(found[0], others, strict=True):
                np.testing.assert_array_equal(one, other)
