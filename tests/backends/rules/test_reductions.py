"""The rules of reductions, scans and sorting agree with what the CPU primitives return."""
import numpy as np
import pytest

from saraph.backends import MetaArray, cpu, meta

rng = np.random.default_rng(14)
INT64 = np.dtype(np.int64)


def both(name, arrays, *arguments):
    """Shapes and dtypes of a primitive's results on the CPU and by its rule."""
    found = getattr(cpu, name)(*arrays, *arguments)
    ghosts = getattr(meta, name)(*[MetaArray(a.shape, a.dtype) for a in arrays], *arguments)
    found, ghosts = ([r] if not isinstance(r, (tuple, list)) else r for r in (found, ghosts))
    return [(np.shape(r), r.dtype) for r in found], [(r.shape, r.dtype) for r in ghosts]


@pytest.mark.parametrize("kind", ["f", "d", "F", "l", "B", "?"])
@pytest.mark.parametrize("axes", [None, (0,), (1, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(kind, axes, keepdims):
    a = (rng.standard_normal((3, 4, 5)) * 3).astype(kind)
    names = ["prod", "any", "all", "count_nonzero"]
    if kind not in "?lB":
        names += ["mean", "logsumexp"]
    if kind in "fdlB":
        names += ["amax", "amin"]
    if kind in "fd":
        names += ["nansum"]
    for name in names:
        found, ruled = both(name, [a], axes, keepdims)
        assert found == ruled, name
    found, ruled = both("sum", [a], axes, keepdims, INT64 if kind in "?lB" else None)
    assert found == ruled
    if kind in "fdF":
        for with_mean in (False, True):
            found, ruled = both("var", [a], axes, keepdims, 1, with_mean)
            assert found == ruled
        for order in (0.0, 1.0, 2.0, 3.0, np.inf):
            found, ruled = both("vector_norm", [a], order, axes, keepdims)
            assert found == ruled, order


@pytest.mark.parametrize("kind", ["f", "d", "l", "h"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_selections_and_scans(kind, axis):
    a = (rng.standard_normal((3, 4, 5)) * 3).astype(kind)
    calls = [("argmax", (axis, True)), ("argmin", (axis, False)), ("sort", (axis, True)), ("argsort", (axis, False)), ("topk", (2, axis, True)),
             ("cumsum", (axis,)), ("cumprod", (axis,)), ("cummax", (axis,)), ("cummin", (axis,))]
    for keepdims in (False, True):
        calls += [("max_with_index", (axis, keepdims)), ("min_with_index", (axis, keepdims)), ("kth", (1, axis, keepdims)),
                  ("median", (axis, keepdims, True)), ("mode", (axis, keepdims))]
    if kind in "fd":
        calls.append(("logcumsumexp", (axis,)))
    for name, arguments in calls:
        found, ruled = both(name, [a], *arguments)
        assert found == ruled, name
    found, ruled = both("recurrence", [a, a], axis)
    assert found == ruled


def test_searching():
    edges, values = np.sort(rng.standard_normal(6)), rng.standard_normal((2, 3))
    for name, arrays, arguments in (("searchsorted", [edges, values], (True, INT64)), ("isin", [values, edges], ()),
                                    ("histc", [values], (5, 0.0, 1.0))):
        found, ruled = both(name, arrays, *arguments)
        assert found == ruled, name


def test_shapes_that_depend_on_values_are_refused():
    for name, arguments in (("unique", (None,)), ("unique_consecutive", (0,)), ("bincount", (None, 0))):
        with pytest.raises(NotImplementedError, match="meta"):
            getattr(meta, name)(MetaArray((3,), INT64), *arguments)


@pytest.mark.parametrize("kind", ["f", "d"])
@pytest.mark.parametrize("shape", [(300, 400), (70_000, 3), (2, 70_000), (40, 30, 100), (8, 16, 40, 40)])
def test_large_arrays_take_other_paths_to_the_same_numbers(kind, shape):
    a = rng.standard_normal(shape).astype(kind)
    wide = a.astype("d")
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if kind == "f" else {"rtol": 1e-9, "atol": 1e-9}
    rank = a.ndim
    for axes in [(0,), (rank - 1,), (0, rank - 1), tuple(range(rank))] + [(0, *range(2, rank))]:
        axes = tuple(sorted(set(axes)))
        np.testing.assert_allclose(cpu.sum(a, axes, False), wide.sum(axes), **tolerance)
        np.testing.assert_allclose(cpu.mean(a, axes, True), wide.mean(axes, keepdims=True), **tolerance)
        np.testing.assert_allclose(cpu.var(a, axes, False, 1), wide.var(axes, ddof=1), **tolerance)
        np.testing.assert_allclose(cpu.vector_norm(a, 2.0, axes, False), np.sqrt((wide**2).sum(axes)), **tolerance)
        np.testing.assert_allclose(cpu.logsumexp(a, axes, True), np.log(np.exp(wide).sum(axes, keepdims=True)), **tolerance)
        np.testing.assert_allclose(cpu.nansum(a, axes, False), wide.sum(axes), **tolerance)
    for axis in range(rank):
        values, index = cpu.max_with_index(a, axis, False)
        np.testing.assert_array_equal(values, a.max(axis))
        np.testing.assert_array_equal(index, a.argmax(axis))
        np.testing.assert_allclose(cpu.cumsum(a, axis), wide.cumsum(axis), rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(cpu.prod(a * 0.01 + 1, (axis,), True), (wide * 0.01 + 1).prod(axis, keepdims=True), rtol=1e-3)
        values, index = cpu.topk(a, 2, axis, True)
        np.testing.assert_array_equal(values, np.flip(np.sort(a, axis), axis).take([0, 1], axis))
        np.testing.assert_array_equal(np.take_along_axis(a, index, axis), values)
