"""Pooling over windows against windows written out one by one."""
import itertools

import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(5)
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
NAN, INF = float("nan"), float("inf")


def count(n, k, s, p, d, ceil):
    found = (n + 2 * p - d * (k - 1) - 1) / s
    found = int(np.ceil(found) if ceil else np.floor(found)) + 1
    return found - 1 if ceil and (found - 1) * s >= n + p else found


def windows(shape, k, s, p, d, ceil):
    """Every window of (batch, channels, *spatial): its place, and the positions in it that lie in the input."""
    spatial = shape[2:]
    counts = [count(n, k, s, p, d, ceil) for n in spatial]
    for place in np.ndindex(*shape[:2], *counts):
        rows = [[i for i in range(o * s - p, o * s - p + k * d, d) if 0 <= i < n] for o, n in zip(place[2:], spatial)]
        yield place, [(*place[:2], *at) for at in itertools.product(*rows)]


CASES = [(2, 2, 0, 1, False), (3, 2, 1, 1, False), (2, 3, 1, 2, True), (3, 2, 1, 1, True), (1, 2, 0, 1, False), (2, 1, 1, 3, False)]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_maxima(rank, case):
    k, s, p, d, ceil = case
    x = rng.integers(-3, 3, (2, 2) + (7, 6, 5)[:rank]).astype(float)  # with ties: the first wins
    values, index = MAX[rank](torch.from_numpy(x), k, s, p, d, ceil, True)
    for place, positions in windows(x.shape, k, s, p, d, ceil):
        best = max(x[at] for at in positions)
        first = next(at for at in positions if x[at] == best)
        assert values[place].item() == best
        assert index[place].item() == np.ravel_multi_index(first[2:], x.shape[2:])
    assert index.dtype is torch.int64
    np.testing.assert_array_equal(MAX[rank](torch.from_numpy(x), k, s, p, d, ceil).numpy(), values.numpy())
    with torch.no_grad():
        half = MAX[rank](torch.from_numpy(x).to(torch.bfloat16), k, s, p, d, ceil)
    assert half.dtype is torch.bfloat16 and half.double().tolist() == values.tolist()


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("case", [c for c in CASES if c[3] == 1])
@pytest.mark.parametrize("include", [True, False])
def test_averages(rank, case, include):
    k, s, p, _, ceil = case
    x = rng.standard_normal((2, 2) + (7, 6, 5)[:rank])
    found = AVERAGE[rank](torch.from_numpy(x), k, s, p, ceil, include)
    for place, positions in windows(x.shape, k, s, p, 1, ceil):
        total = sum(x[at] for at in positions)
        size = len(positions)
        if include:
            size = np.prod([min(o * s - p + k, n + p) - (o * s - p) for o, n in zip(place[2:], x.shape[2:])])
        np.testing.assert_allclose(found[place].item(), total / size)


def test_divisor_and_integers():
    x = torch.arange(16.0).reshape(1, 4, 4)
    np.testing.assert_allclose(F.avg_pool2d(x, 2, divisor_override=3).numpy(), [[[10 / 3, 6], [14, 50 / 3]]], rtol=1e-6)
    assert F.avg_pool2d(-x.long(), 2).tolist() == [[[-2, -4], [-10, -12]]]  # towards zero
    assert F.max_pool2d(x.to(torch.uint8), 2).tolist() == [[[5, 7], [13, 15]]]
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        F.avg_pool2d(x.int(), 2)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        F.max_pool2d(x > 3, 2)


def test_nan_and_infinity():
    x = torch.tensor([[[[1.0, NAN, 3.0], [NAN, 2.0, 5.0], [0.0, 0.0, 0.0]]]])
    values, index = F.max_pool2d(x, 3, return_indices=True)
    assert values.isnan().all() and index.item() == 3  # the last nan
    values, index = F.max_pool2d(x, 2, 1, return_indices=True)
    assert index.tolist() == [[[[3, 1], [3, 5]]]] and values[0, 0, 1, 1].item() == 5
    lowest = torch.full((1, 1, 4, 4), -INF)
    assert F.max_pool2d(lowest, 3, 2, 1, return_indices=True)[1].tolist() == [[[[0, 1], [4, 5]]]]
    assert F.max_pool2d(lowest, 2, 2, 1, 2, return_indices=True)[1].tolist() == [[[[5, 5], [5, 5]]]]
    spread = F.avg_pool1d(torch.tensor([[[1.0, 1.0, INF, 1.0, 1.0, 1.0]]]), 2)
    assert spread.tolist() == [[[1.0, INF, 1.0]]]


def test_gradients(check_gradients):
    x = rng.standard_normal((2, 2, 5, 6))
    for case in CASES:
        check_gradients(lambda t, case=case: F.max_pool2d(t, *case), x)
        k, s, p, d, ceil = case
        for include in (False, True) if d == 1 else ():
            check_gradients(lambda t, how=(k, s, p, ceil, include): F.avg_pool2d(t, *how), x)
    y = np.abs(x) + 0.1
    check_gradients(lambda t: F.lp_pool2d(t, 3.0, 2), y)
    check_gradients(lambda t: F.max_pool1d(t[0], 3, 1), x[:1, :, 0])
    given = torch.from_numpy(x).requires_grad_()
    for function in (lambda t: F.max_pool2d(t, 3, 2, 1), lambda t: F.avg_pool2d(t, 3, 2, 1), lambda t: F.max_pool2d(t, 2, 1) ** 2):
        assert torch.autograd.gradgradcheck(function, [given])


def test_channels_last():
    x = torch.from_numpy(rng.standard_normal((2, 3, 6, 5))).to(memory_format=torch.channels_last).requires_grad_()
    plain = x.detach().contiguous().requires_grad_()
    for function in (lambda t: F.max_pool2d(t, 3, 2, 1), lambda t: F.avg_pool2d(t, 3, 2, 1)):
        y, z = function(x), function(plain)
        assert y.is_contiguous(memory_format=torch.channels_last) and z.is_contiguous()
        np.testing.assert_array_equal(y.detach().numpy(), z.detach().numpy())
        weights = torch.from_numpy(rng.standard_normal(y.shape))
        np.testing.assert_allclose(torch.autograd.grad(y, x, weights)[0].numpy(), torch.autograd.grad(z, plain, weights)[0].numpy())


def test_many_planes():
    x = rng.standard_normal((9, 40, 30, 30)).astype("f")
    blocks = x.reshape(9, 40, 15, 2, 15, 2)
    t = torch.from_numpy(x).requires_grad_()
    np.testing.assert_array_equal(F.max_pool2d(t, 2).detach().numpy(), blocks.max((3, 5)))
    np.testing.assert_allclose(F.avg_pool2d(t, 2).detach().numpy(), blocks.mean((3, 5)), rtol=1e-5, atol=1e-6)
    g = torch.autograd.grad(F.max_pool2d(t, 2).sum(), t)[0].numpy()
    np.testing.assert_array_equal(g, x == blocks.max((3, 5)).repeat(2, 2).repeat(2, 3))


def test_indices_that_were_written_to_are_noticed():
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    values, index = F.max_pool2d(x, 2, return_indices=True)
    index.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_empty_batch_meta_and_no_batch():
    assert F.max_pool2d(torch.zeros(0, 2, 5, 5), 2).shape == (0, 2, 2, 2)
    assert F.avg_pool3d(torch.zeros(0, 2, 5, 5, 5), 2).shape == (0, 2, 2, 2, 2)
    values, index = F.max_pool2d(torch.empty(1, 2, 7, 7, device="meta"), 3, return_indices=True)
    assert values.shape == index.shape == (1, 2, 2, 2) and index.dtype is torch.int64 and values.is_meta
    assert F.max_pool1d(torch.arange(6.0).reshape(1, 6), 2).tolist() == [[1, 3, 5]]
    assert F.max_pool1d_with_indices(torch.arange(6.0).reshape(1, 6), 2)[1].tolist() == [[1, 3, 5]]


def test_lp_pool():
    x = rng.random((1, 2, 4, 6))
    expected = (x.reshape(1, 2, 2, 2, 3, 2) ** 3).sum((3, 5)) ** (1 / 3)
    np.testing.assert_allclose(F.lp_pool2d(torch.from_numpy(x), 3.0, 2).numpy(), expected)
    np.testing.assert_allclose(F.lp_pool1d(torch.from_numpy(x[0]), 2.0, 3).numpy(), np.sqrt((x[0].reshape(2, 4, 2, 3) ** 2).sum(3)))
    assert F.lp_pool3d(torch.ones(1, 1, 2, 2, 2), 1.0, 2).item() == 8


def test_unpooling(check_gradients):
    x = torch.from_numpy(rng.standard_normal((2, 3, 6, 8)))
    values, index = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, index, 2)
    np.testing.assert_array_equal(back.numpy(), np.where(np.isin(x.numpy(), values.numpy()), x.numpy(), 0))
    assert F.max_unpool2d(values, index, 2, output_size=(7, 9)).shape == (2, 3, 7, 9)
    assert F.max_unpool2d(values, index, 2, output_size=(2, 3, 7, 9)).shape == (2, 3, 7, 9)
    check_gradients(lambda t: F.max_unpool2d(t, index, 2), values.numpy())
    line, places = F.max_pool1d(x[0, 0], 2, return_indices=True)
    assert F.max_unpool1d(line, places, 2).shape == (6, 8)
    solid = torch.ones(1, 1, 2, 2, 2)
    assert F.max_unpool3d(solid, torch.arange(8).reshape(solid.shape), 2).sum().item() == 8
    with pytest.raises(ValueError, match=r"dim 0 must be between 4 and 8"):
        F.max_unpool2d(values, index, 2, output_size=(20, 20))
    with pytest.raises(ValueError, match="output_size should be a sequence containing 2 or 4 elements"):
        F.max_unpool2d(values, index, 2, output_size=(7,))
    with pytest.raises(RuntimeError, match="Found an invalid max index: 1000"):
        F.max_unpool2d(values, index * 0 + 1000, 2)
    with pytest.raises(RuntimeError, match="elements in indices should be type int64 but got: Int"):
        F.max_unpool2d(values, index.int(), 2)
    with pytest.raises(RuntimeError, match="Expected shape of indices to be same as that of the input tensor"):
        F.max_unpool2d(values, index[:, :, :2], 2)


X = torch.ones(1, 2, 5, 5)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: F.max_pool2d(X, 2, 0), "stride should not be zero"),
    (lambda: F.max_pool2d(X, 2, padding=2), "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1"),
    (lambda: F.max_pool2d(X, 2, padding=-1), "pad must be non-negative"),
    (lambda: F.max_pool2d(X, 2, dilation=0), "dilation should be greater than zero"),
    (lambda: F.max_pool2d(X, 7), r"Given input size: \(2x5x5\). Calculated output size: \(2x0x0\). Output size is too small"),
    (lambda: F.max_pool2d(X, (2, 2, 2)), "kernel_size must either be a single int, or a tuple of two ints"),
    (lambda: F.max_pool2d(X, 2, (1, 1, 1)), "stride must either be omitted, a single int, or a tuple of two ints"),
    (lambda: F.max_pool2d(torch.ones(5, 5), 2), r"3D or 4D \(batch mode\) tensor expected for input"),
    (lambda: F.max_pool2d(torch.ones(1, 0, 5, 5), 2), "with optional 0 dim batch size for input"),
    (lambda: F.avg_pool2d(X, 2, divisor_override=0), "divisor must be not zero"),
    (lambda: F.avg_pool1d(torch.ones(5), 2), "Expected 2 to 3 dimensions, but got 1-dimensional tensor"),
    (lambda: F.max_pool1d(torch.ones(1, 2, 5), (2, 2)), "of size 1 but got size 2"),
])
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_names_of_nodes():
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    assert F.max_pool2d(x, 2).grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    assert F.avg_pool2d(x, 2).grad_fn.name() == "AvgPool2DBackward0"
    assert F.max_pool3d(x, 1).grad_fn.name() == "MaxPool3DWithIndicesBackward0"
