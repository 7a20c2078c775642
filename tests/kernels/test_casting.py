"""Conversions between dtypes against NumPy's, and against C's where the result is out of range."""
import itertools

import ml_dtypes
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import same_for_threads, shapes, strided

from saraph.kernels import casting

bfloat16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(n) for n in ("bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64")] + [bfloat16]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def converted(a, dtype):
    """By way of float32 between 16-bit floats and others, as PyTorch."""
    short = ("float16", "bfloat16")
    if dtype == np.bool_:
        return a != 0
    if a.dtype.name in short:
        a = a.astype(np.float32)
    return a.astype(np.float32).astype(dtype) if dtype.name in short else a.astype(dtype)


def same(got, want):
    equal = (got == want) | ((got != got) & (want != want))
    if want.dtype.kind in "fV":
        equal &= (np.signbit(got) == np.signbit(want)) | (want != want)
    assert equal.all(), (got[~equal][:4], want[~equal][:4])


@pytest.mark.parametrize("source, target", list(itertools.permutations(DTYPES, 2)), ids=lambda d: d.name)
def test_every_pair(source, target):
    if not casting.convertible(source, target):
        assert target.name == "uint32"
        return
    rng = np.random.default_rng(0)
    if source.kind in "iu":
        a = rng.integers(np.iinfo(source).min, np.iinfo(source).max, 1003, source, endpoint=True)
    else:
        a = np.concatenate([rng.standard_normal(1000) * 100, [0.0, -0.0, 1.0]])
        a = a > 0 if source.kind == "b" else a.astype(source)
        if source.kind in "fV" and target.kind in "fVb":
            special = [np.nan, np.inf, -np.inf, 1e-40, 1e-8, 6e-8, 65504.0, 65520.0, 3.4e38, 3.3895e38, 256.5, 257.0]
            a = np.concatenate([a, np.array(special).astype(source)])
        if source.kind in "fV" and target.kind == "u":
            a = np.abs(a)
    for view in (a, a[::3], a[::-1]):
        with watched(np.zeros(view.shape, target), view) as (to, start):
            assert casting.cast_into(to, start)
            same(to, converted(view, target))


@given(data=st.data(), shape=shapes, side=st.sampled_from(SIDES), shift=st.sampled_from([0, 1]))
@settings(max_examples=80, deadline=None)
def test_any_layout(data, shape, side, shift):
    source, target = data.draw(strided(shape, np.float32)), data.draw(strided(shape, bfloat16, stretch=False))
    with watched(target, source, side=side, shift=shift) as (to, start):
        assert casting.cast_into(to, start)
        same(to, source.astype(bfloat16))


def test_floats_out_of_range_become_what_x86_makes_of_them():
    a = np.array([3e9, -3e9, np.nan, np.inf, 1e20], np.float32)
    for dtype, smallest in ((np.int32, -(2**31)), (np.int64, -(2**63))):
        to = np.zeros(5, dtype)
        casting.cast_into(to, a)
        assert to[2:].tolist() == [smallest] * 3
    to = np.zeros(4, np.int8)
    casting.cast_into(to, np.array([300.0, -129.0, 128.0, 65536.0]))
    assert to.tolist() == [44, 127, -128, 0]


def test_threads():
    a = np.random.default_rng(0).standard_normal(300_001).astype(np.float32)

    def cast():
        to = np.empty(a.shape, bfloat16)
        casting.cast_into(to, a)
        return to.view(np.int16)

    assert same_for_threads(cast)
