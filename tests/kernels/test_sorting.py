"""The best elements of rows against a stable sort of everything."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import numbers, same_for_threads

from saraph.kernels import sorting

DTYPES = (np.float32, np.float64, np.int64, np.int32)


def order(rows, largest):
    """Stable; NaN above every number."""
    if not largest:
        return np.argsort(rows, -1, kind="stable")
    return rows.shape[-1] - 1 - np.argsort(rows[..., ::-1], -1, kind="stable")[..., ::-1]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@given(rows=st.integers(1, 4), length=st.sampled_from([1, 2, 17, 127, 128, 129, 400, 1500]), k=st.sampled_from([1, 2, 10, 16, 17, 32, 33, 256]),
       largest=st.booleans(), seed=st.integers(0, 2**32 - 1), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_any_rows(dtype, rows, length, k, largest, seed, side):
    a, k = numbers(np.random.default_rng(seed), (rows, length), dtype), min(k, length)
    with watched(a, side=side) as (guarded,):
        assert np.array_equal(sorting.top(guarded, k, largest), order(a, largest)[:, :k])


@pytest.mark.parametrize("k", [1, 10, 100, 256])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_long_rows_are_merged(k, dtype):
    a = numbers(np.random.default_rng(k), (2, 3 * sorting.PIECE + 11), dtype)
    for largest in (True, False):
        assert np.array_equal(sorting.top(a, k, largest), order(a, largest)[:, :k])


@pytest.mark.parametrize("value", [np.iinfo(np.int32).min, np.iinfo(np.int32).max, 0])
def test_equal_elements_keep_their_order(value):
    a = np.full((2, 1000), value, np.int32)
    for largest in (True, False):
        assert sorting.top(a, 20, largest).tolist() == [list(range(20))] * 2


def test_threads():
    a = numbers(np.random.default_rng(5), (300, 1000), np.float32)
    assert same_for_threads(lambda: (sorting.top(a, 10, True), sorting.top(a.reshape(-1), 100, False)))
