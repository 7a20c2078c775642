"""Attention in tiles, forward and backward, against its definition in float64: shapes, strides, masks, groups of heads, borders of memory, threads."""
import numpy as np
import pytest
from guard import SIDES, check, guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.kernels import jit
from saraph.kernels.attention import attend, attend_few
from saraph.kernels.attention_gradient import attend_backward

pytestmark = pytest.mark.skipif(not jit.available(), reason="nothing can be compiled here")
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-12}


def definition(q, k, v, mask, causal, scale):
    """(out, weights) in float64; rows that see nothing are 0 where there is a mask."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.astype(np.float64), k.astype(np.float64).repeat(group, 1), v.astype(np.float64).repeat(group, 1)
    scores = q @ k.swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ v, weights


def gradients(g, q, k, v, mask, causal, scale):
    out, weights = definition(q, k, v, mask, causal, scale)
    batch, groups, source = k.shape[:3]
    g, q = g.astype(np.float64), q.astype(np.float64)
    wide = [x.astype(np.float64).repeat(q.shape[1] // groups, 1) for x in (k, v)]
    slopes = weights * (g @ wide[1].swapaxes(-1, -2) - (g * out).sum(-1, keepdims=True)) * scale

    def summed(x):
        return x.reshape(batch, groups, -1, source, x.shape[-1]).sum(2)

    return slopes @ wide[0], summed(slopes.swapaxes(-1, -2) @ q), summed(weights.swapaxes(-1, -2) @ g)


def strided(random, shape, dtype, layout):
    """Numbers with the heads beside the batch, behind the rows, or with gaps between rows that run backwards."""
    if layout == "rows first":
        return random.standard_normal((shape[0], shape[2], shape[1], shape[3])).astype(dtype).transpose(0, 2, 1, 3)
    if layout == "gaps":
        return random.standard_normal((*shape[:2], 2 * shape[2], shape[3] + 3)).astype(dtype)[:, :, ::-2, 2:-1]
    return random.standard_normal(shape).astype(dtype)


def masks(random, kind, batch, heads, length, source, dtype):
    shapes = {"bool": (1, heads, length, source), "keys": (batch, 1, 1, source), "add": (length, source), "nothing": (1, 1, length, source)}
    if kind == "none":
        return None
    mask = random.random(shapes[kind]) < 0.6
    if kind == "nothing":
        mask = np.where(mask & (np.arange(length)[:, None] % 3 != 0), 0, -np.inf).astype(dtype)
    elif kind == "add":
        mask = random.standard_normal(shapes[kind]).astype(dtype)
    return np.broadcast_to(mask, (batch, heads, length, source))


cases = st.fixed_dictionaries({
    "sizes": st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.integers(1, 75), st.integers(1, 140)),
    "widths": st.tuples(st.sampled_from([1, 3, 8, 16, 17, 33, 64]), st.sampled_from([1, 5, 16, 24, 40, 64])),
    "dtype": st.sampled_from([np.float32, np.float64]), "mask": st.sampled_from(["none", "bool", "keys", "add", "nothing"]), "causal": st.booleans(),
    "layouts": st.lists(st.sampled_from(["dense", "rows first", "gaps"]), min_size=3, max_size=3), "seed": st.integers(0, 1000)})


def operands(case):
    random = np.random.default_rng(case["seed"])
    batch, groups, group, length, source = case["sizes"]
    size, width = case["widths"]
    heads, dtype = groups * group, case["dtype"]
    shapes = ((batch, heads, length, size), (batch, groups, source, size), (batch, groups, source, width))
    q, k, v = (strided(random, shape, dtype, layout) for shape, layout in zip(shapes, case["layouts"]))
    grad = random.standard_normal((batch, heads, length, width)).astype(dtype)
    return q, k, v, masks(random, case["mask"], batch, heads, length, source, dtype), case["causal"] and case["mask"] == "none", grad


@settings(max_examples=40, deadline=None)
@given(case=cases)
def test_any_shapes_strides_and_masks(case):
    q, k, v, mask, causal, grad = operands(case)
    tolerance = TOLERANCE[case["dtype"]]
    expected, _ = definition(q, k, v, mask, causal, 0.3)
    out, lse = attend(q, k, v, mask, causal, 0.3)
    np.testing.assert_allclose(out, expected, tolerance, tolerance)
    np.testing.assert_allclose(attend_few(q, k, v, mask, causal, 0.3), expected, tolerance, tolerance)
    found = attend_backward(grad, q, k, v, mask, causal, 0.3, out, lse)
    for d, e in zip(found, gradients(grad, q, k, v, mask, causal, 0.3)):
        np.testing.assert_allclose(d, e, 10 * tolerance, 10 * tolerance * max(1, np.abs(e).max()))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("length", "source", "size", "width"), [(1, 1, 1, 1), (33, 65, 17, 5), (32, 64, 16, 32)])
def test_nothing_beyond_the_borders_is_touched(side, length, source, size, width):
    random = np.random.default_rng(3)
    shapes = ((1, 2, length, size), (1, 2, source, size), (1, 2, source, width), (1, 2, length, width))
    q, k, v, grad = (guarded(random.standard_normal(s).astype(np.float32), side, read_only=True) for s in shapes)
    mask = guarded(random.random((1, 2, length, source)) < 0.7, side, read_only=True)
    for m in (None, mask):
        out, lse = attend(q, k, v, m, False, 0.5)
        attend_few(q, k, v, m, False, 0.5)
        attend_backward(grad, q, k, v, m, False, 0.5, guarded(out, side), guarded(lse, side))
    check(q, k, v, grad, mask)


def test_the_same_bits_with_any_number_of_threads():
    random = np.random.default_rng(4)
    q, k, v, grad = (random.standard_normal((1, 2, 300, 48)).astype(np.float32) for _ in range(4))
    before, found = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            out, lse = attend(q, k, v, None, True, 0.2)
            found.append((out, lse, attend_few(q, k, v, None, True, 0.2), *attend_backward(grad, q, k, v, None, True, 0.2, out, lse)))
    finally:
        threads.set_num_threads(before)
    for others in found[1:]:
        for a, b in zip(found[0], others):
            np.testing.assert_array_equal(a, b)


def test_a_few_heads_and_many_keys_are_cut_into_chunks():
    random = np.random.default_rng(5)
    q, k, v, grad = (random.standard_normal((1, 1, n, 16)) for n in (40, 900, 900, 40))
    out, lse = attend(q, k, v, None, False, 0.4)
    for d, e in zip(attend_backward(grad, q, k, v, None, False, 0.4, out, lse), gradients(grad, q, k, v, None, False, 0.4)):
        np.testing.assert_allclose(d, e, 1e-11, 1e-12)


def test_nan_and_infinities_stay_in_their_rows():
    random = np.random.default_rng(6)
    q, k, v = (random.standard_normal((1, 1, 40, 8)).astype(np.float32) for _ in range(3))
    clean = attend(q, k, v, None, False, 0.5)[0]
    q[0, 0, 7, 3], q[0, 0, 9, 2] = np.nan, np.inf
    for function in (lambda: attend(q, k, v, None, False, 0.5)[0], lambda: attend_few(q, k, v, None, False, 0.5)):
        out = function()
        assert np.isnan(out[0, 0, [7, 9]]).all()
        kept = np.delete(np.arange(40), [7, 9])
        np.testing.assert_allclose(out[0, 0, kept], clean[0, 0, kept], 1e-6, 1e-6)
    k[0, 0, 5] = np.nan
    assert np.isnan(attend(q, k, v, None, False, 0.5)[0]).all()
    assert not np.isnan(attend(q, k, v, None, True, 0.5)[0][0, 0, :5]).any()


def test_huge_scores_do_not_overflow():
    q, k = np.full((1, 1, 3, 4), 50, np.float32), np.full((1, 1, 5, 4), 50, np.float32)
    k[0, 0, 2] = -50
    v = np.arange(10, dtype=np.float32).reshape(1, 1, 5, 2)
    for out in (attend(q, k, v, None, False, 1.0)[0], attend_few(q, k, v, None, False, 1.0)):
        np.testing.assert_allclose(out, np.broadcast_to(v[0, 0, [0, 1, 3, 4]].mean(0), (1, 1, 3, 2)), 1e-6)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_few_queries_of_16_bits(name):
    import ml_dtypes

    kind = np.dtype(np.float16 if name == "float16" else ml_dtypes.bfloat16)
    random = np.random.default_rng(7)
    q, k, v = (random.standard_normal(shape).astype(kind) for shape in ((2, 4, 1, 33), (2, 2, 70, 33), (2, 2, 70, 20)))
    out = attend_few(q, k, v, None, False, 0.2)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, definition(q, k, v, None, False, 0.2)[0], 1e-5, 1e-5)


@pytest.mark.parametrize("instructions", ["avx2", "sse2"])
def test_other_processors(instructions):
    try:
        context = jit.host_as(instructions)
        with context:
            found = _some_results()
    except ValueError:
        pytest.skip("not that family of processors")
    for a, b in zip(found, _some_results()):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5)


def _some_results():
    random = np.random.default_rng(8)
    q, k, v, grad = (random.standard_normal(shape).astype(np.float32) for shape in ((1, 2, 37, 20), (1, 2, 70, 20), (1, 2, 70, 12), (1, 2, 37, 12)))
    mask = random.random((1, 2, 37, 70)) < 0.5
    out, lse = attend(q, k, v, mask, False, 0.3)
    return out, lse, attend_few(q, k, v, mask, False, 0.3), *attend_backward(grad, q, k, v, mask, False, 0.3, out, lse)
