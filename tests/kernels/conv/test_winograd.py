"""Winograd's convolution against the definition in NumPy, in float64, with inaccessible pages beside every buffer."""
import numpy as np
import pytest
from guard import check, guarded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.backends.cpu import conv
from saraph.backends.cpu import conv_definition as definition
from saraph.backends.cpu.windows import channels_first
from saraph.kernels import blocks, jit
from saraph.kernels.conv import product, winograd, winograd_weight

pytestmark = pytest.mark.skipif(not jit.available(), reason="nothing can be compiled here")
SETTINGS = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
ONE = (1, 1)


def in_order(a, last):
    """The array, dense, with channels innermost or row-major."""
    return channels_first(np.ascontiguousarray(np.moveaxis(a, 1, -1))) if last else np.ascontiguousarray(a)


def by_winograd(x, w, bias, padding, last, w_last, size=None):
    """The convolution; with a size, the gradient of an input of that size. None where a result is not finite."""
    made = w.shape[0] if size is None else w.shape[1]
    high, wide = size or (n + 2 * p - 2 for n, p in zip(x.shape[2:], padding))
    if last:
        out = channels_first(blocks.empty((x.shape[0], high, wide, made), np.dtype(np.float32)))
    else:
        out = blocks.empty((x.shape[0], made, high, wide), np.dtype(np.float32))
    o = winograd.Operands(x.shape, x.strides, made, (high, wide), padding, size is not None, w_last, last)
    return out if winograd.run(o, x, w, bias, out) else None


def weight_by_winograd(x, g, padding, last):
    """The gradient of the weight, or None."""
    out = conv._empty((g.shape[1], x.shape[1], 3, 3), np.dtype(np.float32), last)
    return out if winograd_weight.run(winograd_weight.Operands(x.shape, x.strides, g.shape, g.strides, padding, last), x, g, out) else None


def weight(x, g, padding):
    return definition.convolution_weight_grad(wide(x), wide(g), (3, 3), ONE, padding, ONE, 1)


def wide(a):
    return None if a is None else a.astype(np.float64)


def forward(x, w, bias, padding):
    return definition.convolution(wide(x), wide(w), wide(bias), ONE, padding, ONE, 1)


def backward(g, w, size, padding):
    return definition.convolution_input_grad(wide(g), wide(w), size, ONE, padding, ONE, 1)


def assert_close(got, want):
    assert got.shape == want.shape and got.dtype == np.float32
    assert np.abs(got - want).max() <= 2e-5 * max(np.abs(want).max(), 1)


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
    draw = data.draw
    padding = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    size = tuple(draw(st.integers(max(1, 3 - 2 * p), 40)) for p in padding)
    if draw(st.integers(0, 9)) == 0:
        size = (size[0], draw(st.integers(200, 500)))
    images, channels, made = draw(st.integers(1, 7)), draw(st.sampled_from((16, 17, 32, 33, 70, 130, 200))), draw(st.sampled_from((1, 16, 31, 32, 50, 96)))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    last, w_last = draw(st.booleans()), draw(st.booleans())
    x = in_order(rng.standard_normal((images, channels, *size)).astype(np.float32), last)
    w = in_order(rng.standard_normal((made, channels, 3, 3)).astype(np.float32), w_last)
    bias = rng.standard_normal(made).astype(np.float32) if draw(st.booleans()) else None
    want = forward(x, w, bias, padding)
    g = in_order(rng.standard_normal(want.shape).astype(np.float32), draw(st.booleans()))
    x, w, g = (guarded(a, side, read_only=True) for a in (x, w, g))
    last = draw(st.booleans())
    assert_close(by_winograd(x, w, bias, padding, last, w_last), want)
    assert_close(by_winograd(g, w, None, padding, last, w_last, size), backward(g, w, size, padding))
    assert_close(weight_by_winograd(x, g, padding, w_last), weight(x, g, padding))
    check(*guards)
    guards.clear()


@pytest.mark.parametrize("limit", ["avx2", "sse2"])
def test_for_lesser_processors(limit):
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 37, 13, 22)).astype(np.float32), rng.standard_normal((41, 37, 3, 3)).astype(np.float32)
    with jit.host_as(limit):
        for last in (False, True):
            assert_close(by_winograd(in_order(x, last), in_order(w, last), None, ONE, last, last), forward(x, w, None, ONE))
            g = by_winograd(in_order(x, last), np.ascontiguousarray(w.swapaxes(0, 1)), None, ONE, last, False, x.shape[2:])
            assert_close(g, backward(x, w.swapaxes(0, 1), x.shape[2:], ONE))
            g = rng.standard_normal((2, 41, 13, 22)).astype(np.float32)
            assert_close(weight_by_winograd(in_order(x, last), g, ONE, last), weight(x, g, ONE))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("shape", [(5, 64, 30, 30), (9, 64, 7, 7), (1, 64, 5, 300)])
def test_same_bits_for_any_number_of_threads(shape, last):
    rng = np.random.default_rng(0)
    x = in_order(rng.standard_normal(shape).astype(np.float32), last)
    w, bias = rng.standard_normal((160, 64, 3, 3)).astype(np.float32), rng.standard_normal(160).astype(np.float32)
    before, made = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            y = by_winograd(x, w, bias, ONE, last, False)
            made.append(y.tobytes() + weight_by_winograd(x, y, ONE, last).tobytes())
    finally:
        threads.set_num_threads(before)
    assert len(set(made)) == 1


def error(got, want):
    """The root of the mean square of the difference."""
    return np.sqrt(np.mean((got - want) ** 2))


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("channels", [64, 512])
def test_error_is_about_that_of_the_direct_sum(channels, positive):
    rng = np.random.default_rng(channels)
    x = rng.standard_normal((2, channels, 14, 14)).astype(np.float32)
    x = np.maximum(x, 0) if positive else x
    w = (rng.standard_normal((64, channels, 3, 3)) * np.sqrt(2 / (9 * channels))).astype(np.float32)
    want = forward(x, w, None, ONE)
    direct = np.empty(want.shape, np.float32)
    operands = product.Operands("f", False, (2, channels, 1, 14, 14), x[:, :, None].strides, (64, channels, 1, 3, 3), False, (1, 14, 14), False,
                                (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)
    product.run(operands, x[:, :, None], w, None, direct)
    got = by_winograd(x, w, None, ONE, False, False)
    assert error(got, want) <= 3 * error(direct, want)
    assert np.abs(got - want).max() <= 3 * np.abs(direct - want).max()


def test_error_of_the_weight_is_about_that_of_the_direct_sum(monkeypatch):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal((8, 64, 28, 28)).astype(np.float32) for _ in range(2))
    want, got = weight(x, g, ONE), weight_by_winograd(x, g, ONE, False)
    monkeypatch.setattr(winograd_weight, "convolve", lambda *args: False)
    direct = conv.convolution_weight_grad(x, g, (3, 3), ONE, ONE, ONE, 1)
    assert error(got, want) <= 3 * error(direct, want)
    assert np.abs(got - want).max() <= 3 * np.abs(direct - want).max()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("where", ["x", "w", "bias"])
def test_not_finite_is_left_to_the_direct_kernel(where, value):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 64, 20, 20)).astype(np.float32), rng.standard_normal((64, 64, 3, 3)).astype(np.float32)
    bias = np.zeros(64, np.float32)
    {"x": x[1, 3], "w": w[5, 7], "bias": bias}[where].flat[-1:] = value
    if value != 3e38:
        assert by_winograd(x, w, bias, ONE, False, False) is None
    with np.errstate(all="ignore"):
        want = forward(x, w, bias, ONE).astype(np.float32)
        got = conv.convolution(x, w, bias, ONE, ONE, ONE, 1)
        g = np.ones_like(got)
        want_weight = weight(x, g, ONE).astype(np.float32)
        got_weight = conv.convolution_weight_grad(x, g, (3, 3), ONE, ONE, ONE, 1)
    for one, other in ((got, want), (got_weight, want_weight)):
        assert np.array_equal(np.isnan(one), np.isnan(other)) and np.array_equal(np.isinf(one), np.isinf(other))


def test_chosen_where_it_pays(monkeypatch):
    """Many channels and pixels; not a huge weight for a few pixels; no other window, stride, dilation, group or dtype."""
    calls = []
    monkeypatch.setattr(winograd, "run", lambda o, *rest: calls.append(o) or True)
    rng = np.random.default_rng(0)

    def chosen(x, w, stride=ONE, dilation=ONE, groups=1, kind=np.float32):
        calls.clear()
        x, w = rng.standard_normal(x).astype(kind), rng.standard_normal(w).astype(kind)
        conv.convolution(x, w, None, stride, ONE, dilation, groups)
        return bool(calls)

    assert chosen((16, 64, 28, 28), (64, 64, 3, 3)) and chosen((1, 64, 56, 56), (64, 64, 3, 3))
    assert not chosen((1, 512, 7, 7), (512, 512, 3, 3)) and not chosen((16, 8, 28, 28), (64, 8, 3, 3))
    assert not chosen((4, 64, 28, 28), (64, 64, 3, 3), stride=(2, 2)) and not chosen((4, 64, 28, 28), (64, 64, 3, 3), dilation=(2, 2))
    assert not chosen((4, 64, 28, 28), (64, 32, 3, 3), groups=2) and not chosen((4, 64, 28, 28), (64, 64, 3, 3), kind=np.float64)
    assert not chosen((4, 64, 28, 28), (64, 64, 1, 3))
    g, w = rng.standard_normal((4, 64, 28, 28)).astype(np.float32), rng.standard_normal((64, 48, 3, 3)).astype(np.float32)
    calls.clear()
    conv.convolution_input_grad(g, w, (28, 28), ONE, ONE, ONE, 1)
    assert calls[0].backward and calls[0].made == 48
    monkeypatch.setattr(winograd_weight, "run", lambda o, *rest: calls.append(o) or True)
    for images, expected in ((4, 1), (1, 0)):
        calls.clear()
        x, g = (rng.standard_normal((images, 64, 8, 8)).astype(np.float32) for _ in range(2))
        conv.convolution_weight_grad(np.repeat(x, 5, 0), np.repeat(g, 5, 0), (3, 3), ONE, ONE, ONE, 1)
        assert len(calls) == expected
