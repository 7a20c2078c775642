"""Convolution's kernels against their definition in NumPy, in float64, with inaccessible pages beside every buffer."""
import numpy as np
import pytest
from guard import check, guarded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16

from saraph import threads
from saraph.backends.cpu import conv
from saraph.backends.cpu import conv_definition as definition
from saraph.backends.cpu.windows import channels_first, is_channels_last, window_counts
from saraph.kernels import blocks, jit
from saraph.kernels.conv import geometry, product

SETTINGS = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def in_order(a, last):
    """The array, dense, with channels innermost or row-major."""
    return channels_first(np.ascontiguousarray(np.moveaxis(a, 1, -1))) if last else np.ascontiguousarray(a)


@st.composite
def calls(draw, lanewise=False):
    """(x, w, bias, g, how): the operands of a convolution of any kind."""
    rank = draw(st.integers(1, 3))

    def number(low, high):
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    kernel, stride, padding, dilation = number(1, 4), number(1, 3), number(0, 3), number(1, 3)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    size = tuple(draw(st.integers(max(1, r - 2 * p), r + (40, 14, 5)[rank - 1])) for r, p in zip(reach, padding))
    if lanewise:
        groups, inputs, outputs = draw(st.sampled_from((2, 5, 16, 32, 33, 70, 130))), 1, 1
    else:
        groups = draw(st.sampled_from((1, 1, 1, 2, 3)))
        inputs, outputs = draw(st.sampled_from((1, 2, 3, 16, 17, 33, 70))), draw(st.sampled_from((1, 3, 8, 16, 17, 32, 40, 70)))
        if groups > 1 == inputs:
            inputs = 2
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    kind = draw(st.sampled_from((np.float32, np.float64)))

    def make(*shape):
        return in_order(rng.standard_normal(shape).astype(kind), draw(st.booleans()))

    batch = draw(st.sampled_from((1, 2, 3, 7)))
    x, w = make(batch, inputs * groups, *size), make(outputs * groups, inputs, *kernel)
    g = make(batch, outputs * groups, *window_counts(size, kernel, stride, padding, dilation))
    bias = rng.standard_normal(outputs * groups).astype(kind) if draw(st.booleans()) else None
    return x, w, bias, g, (stride, padding, dilation, groups)


def wide(a):
    return None if a is None else a.astype(np.float64, order="K")


def assert_close(got, want, like):
    assert got.shape == want.shape and got.dtype == like.dtype
    bound = (2e-5 if like.dtype == np.float32 else 1e-12) * max(np.abs(want).max(initial=0), 1)
    assert np.abs(got - want).max(initial=0) <= bound


def all_three(x, w, bias, g, how):
    return (conv.convolution(x, w, bias, *how), conv.convolution_input_grad(g, w, x.shape[2:], *how),
            conv.convolution_weight_grad(x, g, w.shape[2:], *how))


def assert_as_defined(call):
    x, w, bias, g, how = call
    y, gx, gw = all_three(x, w, bias, g, how)
    assert_close(y, definition.convolution(wide(x), wide(w), wide(bias), *how), x)
    assert_close(gx, definition.convolution_input_grad(wide(g), wide(w), x.shape[2:], *how), x)
    assert_close(gw, definition.convolution_weight_grad(wide(x), wide(g), w.shape[2:], *how), x)
    if x.ndim > 3 and min(x.shape[1:]) > 1:
        assert y.size == 0 or is_channels_last(y) == (is_channels_last(x) or is_channels_last(w)) or y.flags.c_contiguous


@pytest.fixture
def guards(monkeypatch):
    """All memory that kernels ask for has inaccessible pages behind it."""
    made = []

    def empty(shape, dtype=np.float64):
        made.append(guarded(np.empty(shape, dtype)))
        return made[-1]

    monkeypatch.setattr(blocks, "empty", empty)
    yield made
    check(*made)


@pytest.mark.parametrize("side", ["after", "before"])
@given(data=st.data())
@SETTINGS
def test_against_the_definition(side, guards, data):
    x, w, bias, g, how = data.draw(calls(lanewise=data.draw(st.booleans())))
    x, w, g = (guarded(a, side, read_only=True) for a in (x, w, g))
    assert_as_defined((x, w, None if bias is None else guarded(bias, side), g, how))
    check(*guards)
    guards.clear()


@pytest.mark.parametrize("limit", ["avx2", "sse2"])
def test_for_lesser_processors(limit):
    rng = np.random.default_rng(3)
    with jit.host_as(limit):
        for last in (False, True):
            for groups, inputs, outputs in ((1, 5, 19), (20, 1, 1)):
                x = in_order(rng.standard_normal((2, groups * inputs, 9, 8)).astype(np.float32), last)
                w = rng.standard_normal((groups * outputs, inputs, 3, 2)).astype(np.float32)
                g = in_order(rng.standard_normal((2, groups * outputs, 5, 9)).astype(np.float32), last)
                assert_as_defined((x, w, None, g, ((2, 1), (1, 1), (1, 1), groups)))


@pytest.mark.parametrize("groups", [1, 2, 64])
@pytest.mark.parametrize("last", [False, True])
def test_same_bits_for_any_number_of_threads(groups, last):
    rng = np.random.default_rng(0)
    x, g = (in_order(rng.standard_normal((9, 64, 20, 19)).astype(np.float32), last) for _ in range(2))
    w = rng.standard_normal((64, 64 // groups, 3, 3)).astype(np.float32)
    before, results = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            results.append(all_three(x, w, w[:, 0, 0, 0], g, ((1, 1), (1, 1), (1, 1), groups)))
    finally:
        threads.set_num_threads(before)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.array_equal(a, b)


LAYOUTS = {
    "every second": lambda a: a[:, :, ::2, ::2],
    "reversed": lambda a: a[:, :, ::-1, ::-1],
    "rows exchanged with columns": lambda a: a.swapaxes(2, 3),
    "channels repeated": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "images repeated": lambda a: np.broadcast_to(a[:1], a.shape),
    "one number": lambda a: np.broadcast_to(a[:1, :1, :1, :1], a.shape),
    "some channels of an array with channels innermost": lambda a: in_order(a, True)[:, 1:-1],
    "unaligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strides(layout):
    rng = np.random.default_rng(1)
    x = LAYOUTS[layout](rng.standard_normal((3, 6, 12, 14)).astype(np.float32))
    w = rng.standard_normal((8, x.shape[1], 3, 2)).astype(np.float32)
    how = ((1, 2), (1, 0), (2, 1), 1)
    y = definition.convolution(x, w, None, *how)
    g = LAYOUTS[layout](rng.standard_normal(y.shape).astype(np.float32))
    if g.shape == y.shape:
        assert_as_defined((x, w, None, g, how))
    else:
        assert_close(conv.convolution(x, w, None, *how), y, x)


@pytest.mark.parametrize("size, kernel, stride, padding, groups", [
    ((0, 3, 5, 5), (4, 3, 3, 3), 1, 1, 1), ((2, 3, 5, 5), (0, 3, 3, 3), 1, 1, 1), ((2, 0, 5, 5), (4, 0, 3, 3), 1, 1, 1),
    ((2, 3, 5, 5), (4, 3, 7, 7), 1, 1, 1), ((2, 3, 9, 9), (4, 3, 1, 1), 4, 0, 1), ((2, 3, 9, 9), (4, 3, 2, 2), 5, 1, 1),
    ((2, 4, 9, 9), (12, 1, 3, 3), 1, 1, 4), ((2, 1, 9, 9), (1, 1, 9, 9), 1, 0, 1), ((1, 2, 1, 3000), (3, 2, 1, 5), 1, 2, 1),
    ((1, 300, 2, 3), (5, 300, 2, 2), 1, 1, 1), ((5, 2, 40, 40), (33, 2, 5, 5), 1, 2, 1)])
@pytest.mark.parametrize("last", [False, True])
def test_odd_sizes(size, kernel, stride, padding, groups, last):
    rng = np.random.default_rng(2)
    how = ((stride,) * 2, (padding,) * 2, (1, 1), groups)
    x, w = in_order(rng.standard_normal(size).astype(np.float32), last), rng.standard_normal(kernel).astype(np.float32)
    g = rng.standard_normal((size[0], kernel[0], *window_counts(size[2:], kernel[2:], *how[:3]))).astype(np.float32)
    assert_as_defined((x, w, None, in_order(g, last), how))


def test_nan_and_infinity_stay_where_they_belong():
    x = np.ones((1, 2, 6, 40), np.float32)
    x[0, 0, 2, 3], x[0, 1, 5, 39] = np.nan, np.inf
    w = np.ones((3, 2, 3, 3), np.float32)
    y = conv.convolution(x, w, None, (1, 1), (1, 1), (1, 1), 1)
    assert np.isnan(y[0, :, 1:4, 2:5]).all() and np.isnan(y).sum() == 27
    assert np.isinf(y[0, :, 4:, 38:]).all() and np.isinf(y).sum() == 12


def test_a_block_is_a_function_of_sizes_and_fits():
    dimensions = [geometry.forward(1, 1, 1, 1, 0, 1), geometry.forward(56, 56, 3, 1, 1, 1), geometry.forward(56, 56, 3, 1, 1, 1)]
    block = geometry.choose_blocks(16, dimensions, 320, 360, 400 << 10)
    assert block.images == 1 and block.width == 56 and 1 < block.height <= 6
    small = [dimensions[0], *[geometry.forward(7, 7, 3, 1, 1, 1)] * 2]
    assert geometry.choose_blocks(16, small, 320, 360, 400 << 10).images == 6
    long = [dimensions[0], dimensions[0], geometry.forward(100000, 100000, 3, 1, 1, 1)]
    assert geometry.choose_blocks(16, long, 320, 360, 400 << 10).width <= 360


def test_phases_of_the_gradient_cover_every_tap():
    dimension = geometry.backward(4, 11, 3, 3, 1, 2)
    assert sorted(t for phase in dimension.phases for t, _ in phase.taps) == [0, 1, 2]
    assert sum(phase.length for phase in dimension.phases) == 11


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("size, kernel, groups", [((2, 5, 9, 8), (7, 5, 3, 3), 1), ((2, 8, 9, 8), (40, 4, 2, 3), 2), ((3, 3, 20), (17, 3, 5), 1),
                                                  ((3, 64, 5, 6), (33, 64, 1, 1), 1), ((2, 1, 6, 6), (3, 1, 3, 3), 1)])
def test_bfloat16_is_summed_in_float32(size, kernel, groups, last):
    rng = np.random.default_rng(4)
    x, w = in_order(rng.standard_normal(size).astype(bfloat16), last), rng.standard_normal(kernel).astype(bfloat16)
    bias = rng.standard_normal(kernel[0]).astype(bfloat16)
    rank = len(size) - 2
    how = ((1,) * rank, (1,) * rank, (1,) * rank, groups)
    y = conv.convolution(x, w, bias, *how)
    want = definition.convolution(wide(x), wide(w), wide(bias), *how)
    assert y.dtype == x.dtype and y.shape == want.shape
    assert np.abs(y.astype(np.float64) - want).max() <= 2**-8 * np.abs(want).max()


@pytest.mark.parametrize("side", ["after", "before"])
@given(data=st.data())
@SETTINGS
def test_bfloat16_in_any_layout(side, guards, data):
    x, w, bias, _, how = data.draw(calls())
    x, wide_w = (in_order(a.astype(np.float32), data.draw(st.booleans())) for a in (x, w))
    x = guarded(in_order(x.astype(bfloat16), is_channels_last(x)), side, read_only=True)
    narrow = in_order(wide_w.astype(bfloat16), is_channels_last(wide_w))
    bias = None if bias is None else bias.astype(bfloat16)
    y = conv.convolution(x, guarded(narrow, side, read_only=True), bias, *how)
    want = definition.convolution(wide(x), wide(narrow), wide(bias), *how)
    assert y.dtype == x.dtype and y.shape == want.shape
    assert np.abs(y.astype(np.float64) - want).max(initial=0) <= 2**-8 * np.abs(want).max(initial=0)
    # a float32 weight is rounded first
    assert np.array_equal(conv.convolution(x, guarded(wide_w, side, read_only=True), bias, *how), y)
    check(*guards)
    guards.clear()


@pytest.mark.parametrize("shape", [(1, 300, 8, 7), (2, 65, 4, 4), (3, 40, 20, 19), (1, 512, 1, 1)])
@pytest.mark.parametrize("last", [False, True])
def test_bfloat16_has_the_same_bits_for_any_number_of_threads(shape, last):
    rng = np.random.default_rng(6)
    x = in_order(rng.standard_normal(shape).astype(bfloat16), last)
    w = rng.standard_normal((70, shape[1], 3, 3)).astype(np.float32)
    before, results = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            results.append(conv.convolution(x, w, None, (1, 1), (1, 1), (1, 1), 1))
    finally:
        threads.set_num_threads(before)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    want = definition.convolution(wide(x), wide(w.astype(bfloat16)), None, (1, 1), (1, 1), (1, 1), 1)
    assert np.abs(results[0].astype(np.float64) - want).max() <= 2**-8 * np.abs(want).max()


def test_bfloat16_is_rounded_as_by_a_cast():
    x = np.array([1.00390625, -1.01171875, 2e-40, np.nan, np.inf, -np.inf, 3.4e38, 0.0, -0.0, 7e-46], np.float32)
    eye = np.ones((1, 2, 1, 1), np.float32)
    halves = np.zeros((1, 2, 1, x.size), bfloat16)
    halves[0, 0, 0] = x.astype(bfloat16)
    halves[0, 1, 0, :2] = 2.0**-9
    with np.errstate(all="ignore"):
        want = (halves[0, 0, 0].astype(np.float32) + halves[0, 1, 0].astype(np.float32)).astype(bfloat16)
    got = conv.convolution(halves, eye, None, (1, 1), (0, 0), (1, 1), 1)[0, 0, 0]
    normal = np.abs(want.astype(np.float32)) > 1e-37  # the instruction takes smaller numbers for zero
    assert np.array_equal(got[normal].astype(np.float32), want[normal].astype(np.float32)) and np.isnan(got[3].astype(np.float32))


def test_other_dtypes_have_the_definition():
    assert not product.available(np.dtype(np.complex64)) and not product.available(np.dtype(np.int64))
    x = np.arange(24, dtype=np.int64).reshape(1, 2, 3, 4)
    assert np.array_equal(conv.convolution(x, np.ones((1, 2, 1, 1), np.int64), None, (1, 1), (0, 0), (1, 1), 1)[0, 0], x.sum(1)[0])
