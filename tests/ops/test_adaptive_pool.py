"""Adaptive and fractional pooling against windows written out one by one."""
import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(6)
AVERAGE = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
NAN, INF = float("nan"), float("inf")


def part(i, size, out):
    return slice(i * size // out, -(-(i + 1) * size // out))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("out", [1, 2, 3, 5, 8])
def test_parts(rank, out):
    x = rng.integers(-3, 4, (2, 2) + (7, 5, 6)[:rank]).astype(float)
    average, (values, index) = AVERAGE[rank](torch.from_numpy(x), out), MAX[rank](torch.from_numpy(x), out, True)
    assert average.shape == values.shape == (2, 2) + (out,) * rank
    for place in np.ndindex(*values.shape):
        cut = tuple(part(i, n, out) for i, n in zip(place[2:], x.shape[2:]))
        window = x[place[:2]][cut]
        np.testing.assert_allclose(average[place].item(), window.mean(), atol=1e-12)
        assert values[place].item() == window.max()
        first = np.unravel_index(window.argmax(), window.shape)
        assert index[place].item() == np.ravel_multi_index([c.start + f for c, f in zip(cut, first)], x.shape[2:])


def test_sizes_kept_and_zero():
    x = torch.ones(2, 3, 5, 4)
    assert F.adaptive_avg_pool2d(x, (None, 2)).shape == (2, 3, 5, 2)
    assert F.adaptive_avg_pool2d(x, 0).shape == (2, 3, 0, 0)
    assert F.adaptive_max_pool2d(x, (0, 2)).shape == (2, 3, 0, 2)
    assert F.adaptive_avg_pool2d(torch.ones(0, 3, 5, 4), 2).shape == (0, 3, 2, 2)
    assert F.adaptive_avg_pool2d(x[0], 2).shape == (3, 2, 2)
    assert torch.adaptive_max_pool1d(x[0, :1], 2)[1].tolist() == [[[0, 2]] * 5]


def test_what_lies_outside_a_window_does_not_count():
    x = torch.ones(1, 1, 7)
    x[0, 0, 1], x[0, 0, 6] = NAN, INF
    assert F.adaptive_avg_pool1d(x, 3)[0, 0, 1].item() == 1
    assert F.adaptive_avg_pool1d(x, 3)[0, 0, 2].item() == INF
    y = torch.tensor([[[1.0, NAN, 3.0, NAN, 2.0]]])
    values, index = F.adaptive_max_pool1d(y, 1, True)
    assert values.isnan().all() and index.item() == 3


def test_gradients(check_gradients):
    x = rng.standard_normal((2, 2, 5, 7))
    for out in (1, (2, 3), (5, 9)):
        check_gradients(lambda t, out=out: F.adaptive_avg_pool2d(t, out), x)
        check_gradients(lambda t, out=out: F.adaptive_max_pool2d(t, out), x)
    given = torch.from_numpy(x).requires_grad_()
    for function in (lambda t: F.adaptive_avg_pool2d(t, (2, 3)) ** 2, lambda t: F.adaptive_max_pool2d(t, 3) ** 2):
        assert torch.autograd.gradgradcheck(function, [given])


def test_dtypes_and_order():
    x = torch.from_numpy(rng.standard_normal((2, 3, 6, 5)))
    for kind in (torch.float16, torch.bfloat16):
        for function in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
            assert function(x.to(kind), 4).dtype is kind and function(x.to(kind), (6, 5)).dtype is kind
    last = x.to(memory_format=torch.channels_last)
    for function in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        assert function(last, 2).is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_allclose(function(last, 2).numpy(), function(x, 2).numpy())
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.adaptive_avg_pool2d(x.long(), 2)
    assert F.adaptive_avg_pool2d(torch.empty(1, 2, 7, 7, device="meta"), 3).shape == (1, 2, 3, 3)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: F.adaptive_avg_pool2d(torch.ones(5, 5), 2), RuntimeError, r"Expected 3D or 4D tensor, but got \[5, 5\]"),
    (lambda: F.adaptive_avg_pool2d(torch.ones(5, 5), (2, 2)), ValueError, "Expected 3D or 4D tensor"),
    (lambda: F.adaptive_avg_pool2d(torch.ones(1, 1, 5, 5), (2, 2, 2)), RuntimeError, "output_size must be 2"),
    (lambda: F.adaptive_avg_pool2d(torch.ones(1, 1, 5, 5), -1), RuntimeError, "must be greater than or equal to 0"),
    (lambda: F.adaptive_max_pool2d(torch.ones(1, 2, 0, 5), 2), RuntimeError, "with dimension 2 being empty"),
    (lambda: F.adaptive_avg_pool1d(torch.ones(1, 2, 5), 2.5), TypeError, "must be tuple of ints"),
    (lambda: F.fractional_max_pool2d(torch.ones(1, 1, 5, 5), 2), ValueError, "requires specifying either an output_size or an output_ratio"),
    (lambda: F.fractional_max_pool2d(torch.ones(1, 1, 5, 5), 5, 5), RuntimeError, "pool height 5 too large relative to input height 5"),
    (lambda: F.fractional_max_pool2d(torch.ones(1, 1, 5, 5), 2, 2, _random_samples=torch.ones(1, 1, 3)), RuntimeError, r"size\(2\) equals to 2; got 3"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_fractional_windows(check_gradients):
    """Starts are floor((i + u) a) - floor(u a) with a = (size - kernel) / (windows - 1), and the last window ends with the input."""
    x, u = rng.standard_normal((2, 2, 9, 8)), rng.random((2, 2, 2))
    values, index = F.fractional_max_pool2d(torch.from_numpy(x), (2, 3), (4, 3), return_indices=True, _random_samples=torch.from_numpy(u))
    for place in np.ndindex(*values.shape):
        cut = []
        for d, (size, k, o) in enumerate(((9, 2, 4), (8, 3, 3))):
            sample, alpha, i = u[place[0], place[1], 1 - d], (size - k) / (o - 1), place[2 + d]
            start = size - k if i == o - 1 else int((i + sample) * alpha) - int(sample * alpha)
            cut.append(slice(start, start + k))
        window = x[place[:2]][tuple(cut)]
        assert values[place].item() == window.max() and x[place[:2]].reshape(-1)[index[place].item()] == window.max()
    check_gradients(lambda t: F.fractional_max_pool2d(t, (2, 3), (4, 3), _random_samples=torch.from_numpy(u)), x)


def test_fractional_draws():
    x = torch.arange(2 * 3 * 49.0).reshape(2, 3, 7, 7)
    torch.manual_seed(3)
    first = F.fractional_max_pool2d(x, 2, output_ratio=0.5)
    torch.manual_seed(3)
    given = F.fractional_max_pool2d(x, 2, 3, _random_samples=torch.rand(2, 3, 2))
    assert first.shape == (2, 3, 3, 3) and first.tolist() == given.tolist()
    solid, places = F.fractional_max_pool3d(torch.ones(1, 1, 4, 4, 4), 2, (2, 3, 2), return_indices=True)
    assert solid.shape == places.shape == (1, 1, 2, 3, 2)
    assert F.fractional_max_pool2d_with_indices(x[0], 2, 3)[1].shape == (3, 3, 3)
