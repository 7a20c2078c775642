"""Copies, fills and joins against NumPy: any strides, element sizes and borders."""
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import same_for_threads, shapes, strided

from saraph.kernels import copying

DTYPES = (np.int8, np.float16, np.float32, np.float64, np.complex128)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@given(data=st.data(), shape=shapes, side=st.sampled_from(SIDES), shift=st.sampled_from([0, 1]))
@settings(max_examples=60, deadline=None)
def test_any_layout_into_any_other(dtype, data, shape, side, shift):
    source, target = data.draw(strided(shape, dtype)), data.draw(strided(shape, dtype, stretch=False))
    with watched(target, source, side=side, shift=shift) as (to, start):
        assert copying.copy_into(to, start)
        assert np.array_equal(to, source, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(257, 300), (3, 130, 67), (1, 4099), (5, 3, 40, 41)])
def test_transposes_of_many_tiles(dtype, shape):
    source = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for order in ((*range(len(shape) - 2), len(shape) - 1, len(shape) - 2), tuple(reversed(range(len(shape)))), (len(shape) - 1, *range(len(shape) - 1))):
        turned = source.transpose(order)
        with watched(np.zeros(turned.shape, dtype)) as (target,):
            assert copying.copy_into(target, turned) and np.array_equal(target, turned)


def test_long_rows_are_cut_into_pieces():
    source = np.arange(3 * 100_003, dtype=np.int16).reshape(3, -1)
    for view in (source, source[:, ::-1], source[:, ::2], source[0]):
        target = np.zeros(view.shape, np.int16)
        assert copying.copy_into(target, view) and np.array_equal(target, view)


def test_too_many_dimensions_are_refused():
    array = np.zeros((2,) * 12)[(slice(None, None, -1), slice(None)) * 6]
    target = np.zeros((2,) * 12)
    assert copying.copy_into(target, array) or not target.any()


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4096, 100_003])
@pytest.mark.parametrize("value", [b"\x07", b"\x01\x02", b"abcd", b"12345678", b"0123456789abcdef"], ids=len)
def test_fill(size, value):
    with watched(np.zeros(size, f"V{len(value)}")) as (target,):
        copying.fill(target, value)
        assert target.tobytes() == value * size


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_join_rows(axis):
    rng = np.random.default_rng(axis)
    parts = []
    for n in (1, 5, 0, 33):
        shape = [20, 7, 11]
        shape[axis] = n
        parts.append(rng.standard_normal(shape).astype(np.float32))
    want = np.concatenate(parts, axis)
    with watched(np.zeros_like(want)) as (target,):
        copying.join_rows(target, parts, axis)
        assert np.array_equal(target, want)


def test_threads():
    source = np.random.default_rng(0).standard_normal((700, 900)).astype(np.float32)

    def turned():
        target = np.empty(source.T.shape, np.float32)
        copying.copy_into(target, source.T)
        return target

    assert same_for_threads(turned)
