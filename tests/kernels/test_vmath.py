import math
import warnings

import numpy as np
import pytest

from saraph.kernels import vmath

DTYPES = (np.float32, np.float64)
WIDER = {np.float32: np.float64, np.float64: np.longdouble}
more_precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no format wider than float64")


def worst_ulp(got, want, dtype):
    last_place = np.spacing(np.abs(want).astype(dtype)).astype(want.dtype)
    return float(np.max(np.abs(got.astype(want.dtype) - want) / last_place))


@more_precise
@pytest.mark.parametrize("lanes", [0, 16])
@pytest.mark.parametrize("dtype, low, high", [(np.float32, -103.2, 88.7), (np.float64, -744.0, 709.7)])
def test_exp_is_within_two_ulp(elementwise, dtype, low, high, lanes):
    rng, exp = np.random.default_rng(0), elementwise(vmath.exp, lanes)
    for x in (rng.uniform(low, high, 200_000), rng.uniform(-1, 1, 200_000), -np.exp(rng.uniform(-30, 4, 200_000))):
        x = x.astype(dtype)
        assert worst_ulp(exp(x), np.exp(x.astype(WIDER[dtype])), dtype) < 1.1


@more_precise
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("dtype, decades", [(np.float32, 37), (np.float64, 300)])
def test_log_is_within_one_ulp(elementwise, dtype, decades, lanes):
    rng, log = np.random.default_rng(0), elementwise(vmath.log, lanes)
    everywhere, near_one = 10 ** rng.uniform(-decades, decades, 200_000), rng.uniform(0.5, 2, 200_000)
    for x in (everywhere, near_one, rng.uniform(1, 1e4, 200_000)):
        x = x.astype(dtype)
        assert worst_ulp(log(x), np.log(x.astype(WIDER[dtype])), dtype) < 0.9


def special_values(dtype):
    form = np.finfo(dtype)
    ends = [form.tiny, form.smallest_subnormal, form.max, -form.max]
    return np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1, -1, *ends], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lanes", [0, 4])
def test_special_values(elementwise, dtype, lanes):
    exp, log = elementwise(vmath.exp, lanes), elementwise(vmath.log, lanes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        powers, logarithms = exp(special_values(dtype)), log(special_values(dtype))
    assert powers.dtype == dtype and logarithms.dtype == dtype
    want = np.array([1, 1, math.inf, 0, math.nan, math.e, 1 / math.e, 1, 1, math.inf, 0], dtype)
    np.testing.assert_allclose(powers, want, rtol=2e-7)
    form = np.finfo(dtype)
    ends = [math.log(form.tiny), math.log(form.smallest_subnormal), math.log(form.max)]
    want = np.array([-math.inf, -math.inf, math.inf, math.nan, math.nan, 0, math.nan, *ends, math.nan], dtype)
    np.testing.assert_allclose(logarithms, want, rtol=2e-7)


@pytest.mark.parametrize("dtype, first_inf, last_zero", [
    (np.float32, 88.72284, -103.97208), (np.float64, 709.7827128933841, -745.1332191019412)])
def test_exp_at_the_ends_of_the_range(elementwise, dtype, first_inf, last_zero):
    exp = elementwise(vmath.exp)
    below = np.nextafter(dtype(first_inf), dtype(0))
    assert exp(dtype(first_inf) * dtype(1.0001)) == math.inf and exp(below) < math.inf
    assert exp(dtype(last_zero) * dtype(1.0001)) == 0 and exp(dtype(last_zero) * dtype(0.999)) > 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_maximum_passes_over_nan(elementwise, dtype):
    def at_least_two(function, x):
        return vmath.maximum(function, x, 2.0)

    got = elementwise(at_least_two)(np.array([1, 3, math.nan, math.inf, -math.inf], dtype))
    np.testing.assert_array_equal(got, np.array([2, 3, 2, math.inf, 2], dtype))
