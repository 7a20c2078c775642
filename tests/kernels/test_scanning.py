"""Running sums, products and extremes against NumPy's accumulate in float64."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import numbers, same_for_threads

from saraph.kernels import scanning

DTYPES = (np.float32, np.float64, np.int64, np.int32)
OPERATIONS = {"add": np.add, "multiply": np.multiply}
some_shapes = st.lists(st.sampled_from([1, 2, 5, 8, 16, 63, 65, 130]), min_size=1, max_size=3)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def accumulated(a, axis, operation):
    wide = a.astype(np.float64) if a.dtype == np.float32 else a
    return OPERATIONS[operation].accumulate(wide, axis, wide.dtype).astype(a.dtype)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@given(shape=some_shapes, data=st.data(), seed=st.integers(0, 2**32 - 1), side=st.sampled_from(SIDES))
@settings(max_examples=40, deadline=None)
def test_sums_and_products(operation, dtype, shape, data, seed, side):
    a, axis = numbers(np.random.default_rng(seed), shape, dtype), data.draw(st.integers(0, len(shape) - 1))
    with watched(a, side=side) as (guarded,):
        got = scanning.accumulate(guarded, axis, operation)
    want = accumulated(a, axis, operation)
    if dtype is np.float32:
        np.testing.assert_allclose(got, want, rtol=3e-7, atol=1e-5 if operation == "add" else 1e-44)
    else:
        assert np.array_equal(got, want, equal_nan=True)


def test_zeros_keep_their_sign():
    a = np.full((3, 40), -0.0, np.float32)
    for axis in (0, 1):
        assert np.signbit(scanning.accumulate(a, axis, "add")).all()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_long_rows(operation, dtype):
    rng = np.random.default_rng(0)
    a = (1 + rng.standard_normal((2, 3 * scanning.PIECE + 5)) * (1e-3 if operation == "multiply" else 1)).astype(dtype)
    np.testing.assert_allclose(scanning.accumulate(a, 1, operation), accumulated(a, 1, operation), rtol=1e-6 if dtype is np.float32 else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@given(shape=some_shapes, data=st.data(), seed=st.integers(0, 2**32 - 1), largest=st.booleans(), side=st.sampled_from(SIDES))
@settings(max_examples=40, deadline=None)
def test_extremes(dtype, shape, data, seed, largest, side):
    a, axis = numbers(np.random.default_rng(seed), shape, dtype), data.draw(st.integers(0, len(shape) - 1))
    with watched(a, side=side) as (guarded,):
        values, positions = scanning.running(guarded, axis, largest)
    best = (np.maximum if largest else np.minimum).accumulate(a, axis)
    reached = (a == best) | (a != a)
    places = np.arange(a.shape[axis]).reshape([-1 if d == axis else 1 for d in range(a.ndim)])
    assert np.array_equal(values, best, equal_nan=True)
    assert np.array_equal(positions, np.maximum.accumulate(np.where(reached, places, 0), axis))


def test_threads():
    a = np.random.default_rng(3).standard_normal((300, 500)).astype(np.float32)
    assert same_for_threads(lambda: (scanning.accumulate(a, 0, "add"), scanning.accumulate(a, 1, "add"), scanning.accumulate(a.reshape(-1), 0, "add"),
                                     *scanning.running(a, 1, True)))
