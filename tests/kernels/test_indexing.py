"""Picking and placing by positions against NumPy: any strides, modes and axes, borders, positions out of bounds."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import numbers, same_for_threads, strided

from saraph.kernels import indexing

DTYPES = (np.int8, np.float16, np.float32, np.float64, np.complex128)
MODES = {"add": np.add, "multiply": np.multiply, "amax": np.maximum, "amin": np.minimum}
full_shapes = st.lists(st.sampled_from([1, 2, 3, 17, 40]), min_size=1, max_size=4).map(tuple)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@st.composite
def cases(draw, dtypes):
    """An array, an axis, and positions for every place of an index that is no larger elsewhere."""
    shape = draw(full_shapes)
    axis = draw(st.integers(0, len(shape) - 1))
    array = draw(strided(shape, draw(st.sampled_from(dtypes)), stretch=False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    own = tuple(draw(st.sampled_from([0, 1, 5, 30])) if d == axis else draw(st.integers(0 if n > 3 else 1, n)) for d, n in enumerate(shape))
    index = rng.integers(-shape[axis], shape[axis], own)
    return array, axis, index


def places(index, axis):
    grid = list(np.ogrid[tuple(slice(0, n) for n in index.shape)])
    grid[axis] = index
    return tuple(grid)


@given(case=cases(DTYPES), data=st.data(), side=st.sampled_from(SIDES), shift=st.sampled_from([0, 1]))
@settings(max_examples=100, deadline=None)
def test_gather(case, data, side, shift):
    array, axis, index = case
    with watched(data.draw(strided(index.shape, array.dtype, stretch=False)), array, index, side=side, shift=shift) as (target, source, where):
        assert indexing.gather(target, source, axis, where) is True
        assert np.array_equal(target, array[places(index, axis)], equal_nan=True)


@given(case=cases(DTYPES), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_scatter_sets_the_last_of_several(case, side):
    array, axis, index = case
    values = np.arange(index.size).reshape(index.shape).astype(array.dtype)
    want = array.copy()
    want[places(index, axis)] = values
    with watched(array, index, values, side=side) as (target, where, new):
        assert indexing.scatter(target, axis, where, new, "set") is True
        assert np.array_equal(target, want, equal_nan=True)


@pytest.mark.parametrize("mode", MODES)
@given(case=cases((np.int8, np.int16, np.int32, np.int64, np.float32, np.float64)), data=st.data(), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_scatter_combines_in_order(mode, case, data, side):
    array, axis, index = case
    values = data.draw(strided(index.shape, array.dtype))
    want = array.copy()
    MODES[mode].at(want, places(index, axis), values)
    with watched(array, index, values, side=side) as (target, where, new):
        assert indexing.scatter(target, axis, where, new, mode) is True
        assert np.array_equal(target, want, equal_nan=True)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_rows(axis, dtype):
    rng = np.random.default_rng(axis)
    for shape in ((9, 11, 13), (5, 1, 64), (3, 7, 1)):
        array, index = numbers(rng, shape, dtype), rng.integers(-shape[axis], shape[axis], 21)
        want = np.take(array, index, axis)
        with watched(np.zeros_like(want), array, index) as (target, source, where):
            assert indexing.take_rows(target, source, axis, where)
            assert np.array_equal(target, want, equal_nan=True)


@given(shape=st.tuples(*[st.sampled_from([1, 2, 7, 40])] * 3), count=st.sampled_from([0, 1, 5, 200]), axis=st.integers(0, 1), seed=st.integers(0, 99),
       dtype=st.sampled_from([np.float32, np.float64, np.int64, np.int32]), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_sums_of_rows(shape, count, axis, seed, dtype, side):
    rng = np.random.default_rng(seed)
    index = rng.integers(0, shape[axis], count)
    values = rng.integers(-50, 50, (*shape[:axis], count, *shape[axis + 1:])).astype(dtype)
    want = np.zeros(shape, dtype)
    np.add.at(want, (slice(None),) * axis + (index,), values)
    with watched(np.ones(shape, dtype), index, values, side=side) as (target, where, new):
        assert indexing.add_rows(target, axis, where, new)
        assert np.array_equal(target, want)


@pytest.mark.parametrize("wrong", [7, -8, 2**62, -(2**62)])
def test_positions_out_of_bounds_are_told_and_touch_nothing_else(wrong):
    array = np.arange(21.0).reshape(3, 7)
    index = np.array([[0, wrong], [1, 2], [3, 4]])
    with watched(array, index, index.astype(float)) as (a, i, v):
        assert indexing.gather(v, a, 1, i) is False
        assert indexing.scatter(a, 1, i, v, "set") is False
        assert indexing.scatter(a, 1, i, v, "add") is False
        row = np.ascontiguousarray(i[0])
        assert not indexing.take_rows(np.zeros((3, 2)), a, 1, row)
        assert not indexing.take_rows(np.zeros((2, 7)), a, 0, row)
        assert not indexing.add_rows(np.zeros((7, 5)), 0, row, np.ones((2, 5)))


def test_nothing_can_be_picked_from_nothing():
    index = np.zeros((2, 3), np.int64)
    assert indexing.gather(np.zeros((2, 3)), np.zeros((2, 0)), 1, index) is False
    assert not indexing.take_rows(np.zeros((2, 3)), np.zeros((2, 0)), 1, index[0])
    assert indexing.gather(np.zeros((2, 0)), np.zeros((2, 5)), 1, index[:, :0]) is True


@pytest.mark.parametrize("size", [1, 15, 16, 17, 1000, 3 * indexing.BOUNDS + 5])
def test_bounds(size):
    with watched(np.random.default_rng(size).integers(-(2**40), 2**40, size)) as (index,):
        assert indexing.bounds(index) == (index.min(), index.max())


def test_threads():
    rng = np.random.default_rng(0)
    values, index = rng.standard_normal((5000, 64)).astype(np.float32), rng.integers(0, 300, 5000)
    places_of = rng.integers(0, 64, (300, 900))
    more = rng.standard_normal((300, 900)).astype(np.float32)

    def sums():
        rows = np.empty((300, 64), np.float32)
        indexing.add_rows(rows, 0, index, values)
        elements, across = np.zeros((300, 64), np.float32), np.zeros((64, 900), np.float32)
        indexing.scatter(elements, 1, places_of, more, "add")
        indexing.scatter(across, 0, places_of, more, "add")
        return rows, elements, across

    assert same_for_threads(sums)
