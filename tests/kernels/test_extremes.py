"""Positions of extremes against NumPy's: the first of equals, NaN above all."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import numbers, same_for_threads

from saraph.kernels import extremes

DTYPES = (np.float32, np.float64, np.int64, np.int32, np.int16, np.int8, np.uint8)


def check(a, axis, largest, side="after"):
    with watched(a, side=side) as (guarded,):
        values, positions = extremes.extremes(guarded, axis, largest)
    want = (np.argmax if largest else np.argmin)(a, axis)
    assert positions.dtype == np.int64 and np.array_equal(positions, want)
    assert np.array_equal(values, np.take_along_axis(a, np.expand_dims(want, axis), axis).squeeze(axis), equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@given(shape=st.lists(st.sampled_from([1, 2, 5, 16, 63, 64, 65, 130]), min_size=1, max_size=3), data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_any_shape(dtype, shape, data, seed):
    a = numbers(np.random.default_rng(seed), shape, dtype)
    check(a, data.draw(st.integers(0, len(shape) - 1)), data.draw(st.booleans()), data.draw(st.sampled_from(SIDES)))


@pytest.mark.parametrize("largest", [True, False])
def test_long_rows_are_searched_in_pieces(largest):
    a = numbers(np.random.default_rng(0), (3, 2 * extremes.PIECE + 9), np.float32)
    check(a, 1, largest)
    check(np.nan_to_num(a), 1, largest)
    check(np.zeros((2, 3 * extremes.PIECE)), 1, largest)


def test_lowest_numbers_and_nothing_but_nan():
    for a in (np.full((3, 40), -np.inf), np.full((3, 40), np.nan), np.full((3, 40), np.iinfo(np.int64).min)):
        for axis in (0, 1):
            check(a, axis, True)
            check(a, axis, False)


def test_threads():
    a = numbers(np.random.default_rng(3), (500, 300), np.float32)
    assert same_for_threads(lambda: (*extremes.extremes(a, 0, True), *extremes.extremes(a, 1, True), *extremes.extremes(a.reshape(-1), 0, False)))
