"""Reductions across rows against NumPy in float64."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph.kernels.columns import CHUNK, PLAIN, ColumnKernel
from saraph.threads import set_num_threads

SQUARES = ColumnKernel("squares_of_products", "row_sum", lambda x, y: x * y * y, operands=2)


@given(outer=st.integers(0, 3), rows=st.sampled_from([0, 1, 2, 63, 64, 65, 200]), columns=st.sampled_from([0, 1, 7, 16, 100, 129, 300]),
       side=st.sampled_from(SIDES), double=st.booleans(), seed=st.integers(0, 999))
@settings(max_examples=80, deadline=None)
def test_sums_and_extremes(outer, rows, columns, side, double, seed):
    dtype = np.float64 if double else np.float32
    x = np.random.default_rng(seed).standard_normal((outer, rows, columns)).astype(dtype)
    with watched(x, side=side) as (guarded,):
        total, most = PLAIN["row_sum"](guarded), PLAIN["row_max"](guarded)
    np.testing.assert_allclose(total, x.sum(1, dtype=np.float64), rtol=1e-5, atol=1e-4 if not double else 1e-12)
    np.testing.assert_array_equal(most, x.max(1, initial=-np.inf))


def test_many_rows_are_summed_in_chunks():
    x = np.random.default_rng(0).standard_normal((2, 3 * CHUNK + 5, 20)).astype(np.float32)
    np.testing.assert_allclose(PLAIN["row_sum"](x), x.sum(1, dtype=np.float64), rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(PLAIN["row_min"](x), x.min(1))


def test_a_term_of_two_operands_with_steps_between_rows():
    x, y = np.random.default_rng(1).standard_normal((2, 4, 60, 50))
    x, y = x[::2, ::3], y[1::2, 1::3]
    np.testing.assert_allclose(SQUARES(x, y), (x * y * y).sum(1), rtol=1e-12, atol=1e-12)


def test_nan_wins_extremes():
    x = np.zeros((1, 5, 40), np.float32)
    x[0, 3, 7] = np.nan
    assert np.isnan(PLAIN["row_max"](x)[0]).tolist() == [k == 7 for k in range(40)]


@pytest.mark.parametrize("shape", [(1, 5000, 33), (3, 100, 700)])
def test_bits_do_not_depend_on_threads(shape):
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    try:
        results = set()
        for threads in (1, 2, 3, 7):
            set_num_threads(threads)
            results.add(PLAIN["row_sum"](x).tobytes())
    finally:
        set_num_threads(2)
    assert len(results) == 1
