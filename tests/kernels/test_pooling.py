"""Kernels of pooling against the definitions in NumPy."""
import ml_dtypes
import numpy as np
import pytest
from guard import SIDES, check, guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.backends.cpu import pool, resample
from saraph.kernels import pooling
from saraph.ops.pool import window_count

KINDS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
rng = np.random.default_rng(4)


def channels_last(a):
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1)


def same(a, b, exact=True):
    assert a.shape == b.shape and a.dtype == b.dtype
    tolerance = 0 if exact else {2: 3e-2, 4: 2e-5, 8: 1e-12}[a.dtype.itemsize]
    np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)


@st.composite
def problems(draw):
    rank = draw(st.integers(1, 3))

    def numbers(low, high):
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    sizes, kernel, stride, dilation = numbers(1, (60, 35, 10)[rank - 1]), numbers(1, 5), numbers(1, 3), numbers(1, 2)
    a = np.random.default_rng(draw(st.integers(0, 99))).integers(-9, 9, (2, 3, *sizes)).astype(draw(st.sampled_from(KINDS)))
    last = rank > 1 and draw(st.booleans())
    return (channels_last(a) if last else a), kernel, stride, dilation, draw(st.booleans())


@settings(deadline=None, max_examples=60)
@given(problems(), st.booleans())
def test_maxima_and_their_gradient(problem, special):
    a, kernel, stride, dilation, ceil = problem
    sizes = a.shape[2:]
    if special:
        flat = a.reshape(-1) if a.flags.c_contiguous else np.moveaxis(a, 1, -1).reshape(-1)
        flat[::7], flat[::11] = -np.inf, np.nan
    padding = tuple(((k - 1) * d + 1) // 2 for k, d in zip(kernel, dilation))
    out = tuple(window_count(*numbers, ceil) for numbers in zip(sizes, kernel, stride, padding, dilation))
    if min(out) < 1:
        return
    how = (kernel, stride, padding, dilation, out)
    values, index = pool.max_pool(a, *how, True)
    expected = pool.max_pool_by_numpy(a, *how, True)
    np.testing.assert_array_equal(index, expected[1])
    same(values, expected[0])
    same(pool.max_pool(a, *how, False), expected[0])
    g = np.empty_like(values)
    g[...] = rng.integers(-9, 9, g.shape)
    same(pool.spatial_add(g, index, sizes), pool.spatial_add_by_numpy(g, index, sizes))


@settings(deadline=None, max_examples=60)
@given(problems(), st.booleans())
def test_averages_and_their_gradient(problem, one_divisor):
    a, kernel, stride, _, ceil = problem
    sizes, rank = a.shape[2:], a.ndim - 2
    padding = tuple(k // 2 for k in kernel)
    out = tuple(window_count(n, k, s, p, 1, ceil) for n, k, s, p in zip(sizes, kernel, stride, padding))
    if min(out) >= 1:
        counts = tuple(tuple(min((i * s - p) + k, n) - max(i * s - p, 0) for i in range(o)) for n, k, s, p, o in zip(sizes, kernel, stride, padding, out))
        divisors = (3,) if one_divisor else counts
        same(pool.avg_pool(a, kernel, stride, padding, out, divisors), pool.avg_pool_by_numpy(a, kernel, stride, padding, out, divisors), False)
        g = np.empty_like(a, shape=(*a.shape[:2], *out))
        g[...] = rng.integers(-9, 9, g.shape)
        how = (sizes, kernel, stride, padding, divisors)
        same(pool.spread_average(g, *how), pool.spread_average_by_numpy(g, *how), False)
    parts = tuple(n // 2 + 1 for n in sizes)
    values, index = pool.adaptive_max(a, parts)
    expected = pool.adaptive_max_by_numpy(a, parts)
    np.testing.assert_array_equal(index, expected[1])
    same(values, expected[0])
    how = ("area", (None,) * rank, False)
    same(pool.adaptive_average(a, parts), resample._in_order(a, parts, *how, False), False)
    same(pool.adaptive_average_adjoint(values, sizes), resample._in_order(values, sizes, *how, True), False)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("side", SIDES)
def test_nothing_outside_is_touched(side, last):
    x, channels, lead = ((2, 1, 9, 7, 5), 5, (2, 5)) if last else ((6, 1, 9, 7), 0, (2, 3))
    x = guarded(rng.standard_normal(x).astype(np.float32), side, read_only=True)
    windows = pooling.regular((9, 7), (3, 3), (2, 2), (1, 1), (1, 1), (5, 4))
    shape = (2, 1, 5, 4, 5) if last else (6, 1, 5, 4)
    y, index = guarded(np.zeros(shape, np.float32), side), guarded(np.zeros(shape, np.int64), side)
    pooling.pool_windows("placed", x, y, index, windows, channels)
    dx = guarded(np.zeros(x.shape, np.float32), side)
    pooling.scatter(y, index, dx, 63, 20, channels)
    pooling.pool_windows("average", x, y, None, windows, channels)
    pooling.spread(y, dx, windows, channels)
    check(y, index, dx)
    assert lead[0] == 2


def test_the_number_of_threads_changes_nothing():
    a = rng.standard_normal((8, 16, 40, 40)).astype(np.float32)
    how, before = ((3, 3), (2, 2), (1, 1), (20, 20)), threads.get_num_threads()
    found = []
    for count in (1, 2, 3, 7):
        threads.set_num_threads(count)
        values, index = pool.max_pool(a, *how[:3], (1, 1), how[3], True)
        found.append([values, index, pool.spatial_add(values, index, (40, 40)), pool.avg_pool(a, *how, (9,)),
                      pool.spread_average(values, (40, 40), *how[:3], (9,))])
    threads.set_num_threads(before)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
