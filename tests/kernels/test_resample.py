"""Kernels of resizing against the definition in NumPy."""
import numpy as np
import pytest
from guard import SIDES, check, guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.backends.cpu import resample as definition
from saraph.kernels import resample

MODES = ["nearest", "nearest-exact", "linear", "cubic", "linear-antialias", "cubic-antialias", "area"]
rng = np.random.default_rng(5)


def by_numpy(a, sizes, *how):
    """The sums along one axis after the other."""
    mode, scales, align, transposed = how
    for i, want in enumerate(sizes):
        axis = a.ndim - len(sizes) + i
        size, out = (want, a.shape[axis]) if transposed else (a.shape[axis], want)
        a = definition._apply(a, axis, definition._taps(mode, size, out, scales[i], align, a.dtype, transposed), want)
    return a


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 50)), min_size=1, max_size=3), st.sampled_from(MODES), st.sampled_from("fd"),
       st.booleans(), st.booleans())
def test_against_the_definition(pairs, mode, kind, align, last):
    pairs = pairs[:2] + [(min(n, 9), min(m, 9)) for n, m in pairs[2:]]
    sizes, outs = tuple(n for n, _ in pairs), tuple(m for _, m in pairs)
    a, g = (rng.standard_normal((2, 3, *shape)).astype(kind) for shape in (sizes, outs))
    how = (mode, (None,) * len(sizes), align and mode in ("linear", "cubic"))
    tolerance = 1e-4 if kind == "f" else 1e-11
    for array, wanted, transposed in ((a, outs, False), (g, sizes, True)):
        expected = by_numpy(array, wanted, *how, transposed)
        if last:
            array = np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
        found = definition._in_order(array, wanted, *how, transposed)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("out", [(5, 3), (20, 23)])
def test_nothing_outside_is_touched(out, side):
    kind = np.dtype(np.float32)
    x, y = guarded(rng.standard_normal((3, 9, 11)).astype(kind), side, read_only=True), guarded(np.zeros((3, *out), kind), side)
    tables = [definition._table("cubic", size, wanted, None, False, kind, False) for size, wanted in zip((9, 11), out)]
    resample.planes(x, y, *tables)
    check(y)
    y = guarded(np.zeros((3, out[0], 11), kind), side)
    resample.lines(x, y, tables[0])
    check(y)


def test_the_number_of_threads_changes_nothing():
    a, before = rng.standard_normal((4, 8, 40, 40)).astype(np.float32), threads.get_num_threads()
    found = []
    for count in (1, 2, 3, 7):
        threads.set_num_threads(count)
        found.append([definition.resize(a, sizes, "linear", (None, None), False) for sizes in ((80, 80), (13, 17))])
    threads.set_num_threads(before)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
