"""Convolutions against sums over windows written out with NumPy, and their derivatives against each other."""
import itertools

import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(3)
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def reference(x, w, stride, padding, dilation, groups):
    """Convolution by sliding windows."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * rank)
    reach = [dilation * (k - 1) + 1 for k in w.shape[2:]]
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + rank)))
    windows = windows[(..., *[slice(None, None, stride)] * rank, *[slice(None, None, dilation)] * rank)]
    batch, channels, *counts = windows.shape[: 2 + rank]
    windows = windows.reshape(batch, groups, channels // groups, *windows.shape[2:])
    weight = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    out, kernel = "uvw"[:rank], "ijk"[:rank]
    return np.einsum(f"ngc{out}{kernel},goc{kernel}->ngo{out}", windows, weight).reshape(batch, w.shape[0], *counts)


def channels_last(a):
    return torch.from_numpy(a).to(memory_format=torch.channels_last if a.ndim == 4 else torch.channels_last_3d)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_convolution(rank, groups):
    for (stride, padding, dilation, kernel), last in itertools.product([(1, 0, 1, 3), (2, 1, 1, 3), (1, 2, 2, 2), (3, 1, 2, 2), (1, 0, 1, 1), (2, 0, 1, 1)],
                                                                       (False, True)):
        x, w = rng.standard_normal((3, 4) + (7,) * rank), rng.standard_normal((8, 4 // groups) + (kernel,) * rank)
        bias = rng.standard_normal(8)
        given = channels_last(x) if last and rank > 1 else torch.from_numpy(x)
        found = CONV[rank](given, torch.from_numpy(w), torch.from_numpy(bias), stride, padding, dilation, groups)
        expected = reference(x, w, stride, padding, dilation, groups) + bias.reshape(-1, *[1] * rank)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
        if last and rank == 2:
            assert found.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_transposed_convolution_is_the_adjoint(rank, groups):
    for stride, padding, dilation, kernel, extra in [(1, 0, 1, 3, 0), (2, 1, 1, 3, 1), (1, 2, 2, 2, 1), (3, 1, 2, 2, 2), (1, 0, 1, 1, 0)]:
        y, w = rng.standard_normal((2, 8) + (4,) * rank), rng.standard_normal((8, 4 // groups) + (kernel,) * rank)
        found = TRANSPOSED[rank](torch.from_numpy(y), torch.from_numpy(w), None, stride, padding, extra, groups, dilation).numpy()
        size = (4 - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1
        assert found.shape == (2, 4) + (size,) * rank
        x = rng.standard_normal(found.shape)
        forward = reference(x, w, stride, padding, dilation, groups)[(..., *[slice(4)] * rank)]
        np.testing.assert_allclose((found * x).sum(), (forward * y).sum(), rtol=1e-9)


@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_to_second_order(groups, check_gradients):
    x, w, b = rng.standard_normal((2, 2, 5, 4)), rng.standard_normal((4, 2 // groups, 3, 2)), rng.standard_normal(4)

    def conv(x, w, b):
        return F.conv2d(x, w, b, (2, 1), (1, 0), (1, 2), groups)

    def transposed(x, w, b):
        return F.conv_transpose2d(x, w, b[: 2], 2, 1, 1, groups)

    check_gradients(conv, x, w, b)
    turned = rng.standard_normal((2, 2 // groups, 3, 2)) if groups == 2 else rng.standard_normal((2, 2, 3, 2))
    check_gradients(transposed, x, turned, b)
    def roomy(x, w, b):
        return F.conv_transpose2d(x, w, None, 1, 1, 1, groups, 2)

    check_gradients(roomy, x, turned, b)
    for function, weight in ((conv, w), (transposed, turned), (roomy, turned)):
        inputs = [torch.from_numpy(a).requires_grad_() for a in (x, weight, b)]
        assert torch.autograd.gradgradcheck(function, inputs)
    complex_inputs = [a + 1j * rng.standard_normal(a.shape) for a in (x, w, b)]
    check_gradients(conv, *complex_inputs)


def test_gradients_of_channels_last_and_few_channels_a_group():
    x, w = rng.standard_normal((3, 4, 6, 5)), rng.standard_normal((8, 1, 3, 3))
    plain = [torch.from_numpy(a).requires_grad_() for a in (x, w)]
    last = [channels_last(x).requires_grad_(), torch.from_numpy(w).requires_grad_()]
    first, second = (F.conv2d(*t, padding=1, groups=4) for t in (plain, last))
    weights = torch.from_numpy(rng.standard_normal(first.shape))
    for a, b in zip(torch.autograd.grad(first, plain, weights), torch.autograd.grad(second, last, weights)):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-12)


def test_padding_by_name():
    x, w = torch.from_numpy(rng.standard_normal((1, 2, 6, 7))), torch.from_numpy(rng.standard_normal((3, 2, 4, 3)))
    assert F.conv2d(x, w, padding="valid").shape == (1, 3, 3, 5)
    same = F.conv2d(x, w, padding="same", dilation=(1, 2))
    assert same.shape == (1, 3, 6, 7)
    wide = np.pad(x.numpy(), [(0, 0), (0, 0), (1, 2), (2, 2)])
    expected = F.conv2d(torch.from_numpy(wide), w, dilation=(1, 2))
    np.testing.assert_allclose(same.numpy(), expected.numpy())
    with pytest.raises(RuntimeError, match="padding='same' is not supported for strided convolutions"):
        F.conv2d(x, w, padding="same", stride=2)
    with pytest.raises(RuntimeError, match="Invalid padding string"):
        F.conv2d(x, w, padding="other")


def test_without_a_batch():
    x, w = torch.from_numpy(rng.standard_normal((2, 6))), torch.from_numpy(rng.standard_normal((3, 2, 3)))
    np.testing.assert_allclose(F.conv1d(x, w).numpy(), F.conv1d(x[None], w)[0].numpy())
    assert F.conv_transpose1d(x, w.transpose(0, 1)).shape == (3, 8)


def test_dtypes():
    x = torch.arange(50).reshape(2, 1, 5, 5)
    w = torch.ones(1, 1, 2, 2, dtype=torch.int64)
    assert F.conv2d(x, w)[0, 0, 0].tolist() == [12, 16, 20, 24]
    assert F.conv2d(x.to(torch.uint8), w.to(torch.uint8)).dtype is torch.uint8
    for kind in (torch.float16, torch.bfloat16):
        found = F.conv2d((x / 50).to(kind), w.to(kind))
        assert found.dtype is kind
        np.testing.assert_allclose(found.float().numpy(), F.conv2d((x / 50).to(kind).float(), w.float()).numpy(), rtol=4e-3)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        F.conv2d(x > 3, w > 0)
    with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
        F.conv2d(x.double(), w.float())
    with pytest.raises(RuntimeError, match=r"Input type \(float\) and bias type \(double\) should be the same"):
        F.conv2d(x.float(), w.float(), torch.ones(1, dtype=torch.float64))


def test_empty_batch_and_no_channels():
    w = torch.ones(2, 3, 3, 3, requires_grad=True)
    y = F.conv2d(torch.zeros(0, 3, 5, 5), w)
    assert y.shape == (0, 2, 3, 3)
    y.sum().backward()
    assert not w.grad.any()
    assert F.conv2d(torch.zeros(1, 0, 5, 5), torch.zeros(2, 0, 3, 3), torch.ones(2)).sum().item() == 18
    assert F.conv_transpose2d(torch.zeros(0, 2, 5, 5), w).shape == (0, 3, 7, 7)


def test_larger_than_one_piece():
    x, w = rng.standard_normal((40, 16, 12, 12)).astype("f"), rng.standard_normal((24, 16, 3, 3)).astype("f")
    tx, tw = torch.from_numpy(x).requires_grad_(), torch.from_numpy(w).requires_grad_()
    y = F.conv2d(tx, tw, padding=1)
    np.testing.assert_allclose(y.detach().numpy(), reference(x, w, 1, 1, 1, 1), rtol=1e-3, atol=1e-3)
    gx, gw = torch.autograd.grad(y, (tx, tw), y.detach())
    np.testing.assert_allclose((gx.numpy() * x).sum(), (y.detach().numpy() ** 2).sum(), rtol=1e-3)
    np.testing.assert_allclose((gw.numpy() * w).sum(), (y.detach().numpy() ** 2).sum(), rtol=1e-3)


def test_meta():
    y = F.conv2d(torch.empty(2, 3, 8, 8, device="meta"), torch.empty(4, 3, 3, 3, device="meta"), stride=2, padding=1)
    assert y.shape == (2, 4, 4, 4) and y.is_meta
    assert F.conv_transpose1d(torch.empty(2, 3, 8, device="meta"), torch.empty(3, 5, 3, device="meta"), stride=2).shape == (2, 5, 17)


def test_other_spellings():
    x, w = torch.from_numpy(rng.standard_normal((1, 2, 5, 5))), torch.from_numpy(rng.standard_normal((2, 2, 3, 3)))
    np.testing.assert_allclose(torch.convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1).numpy(), torch.conv2d(x, w, padding=1).numpy())
    np.testing.assert_allclose(torch.convolution(x, w, None, [2], [1], [1], True, [1], 1).numpy(), torch.conv_transpose2d(x, w, None, 2, 1, 1).numpy())
    t, k, b = (torch.from_numpy(rng.standard_normal(s)) for s in ((6, 2, 3), (2, 3, 4), (4,)))
    expected = F.conv1d(t.permute(1, 2, 0), k.permute(2, 1, 0), b, padding=1).permute(2, 0, 1)
    np.testing.assert_allclose(F.conv_tbc(t, k, b, 1).numpy(), expected.numpy())


def test_names_of_nodes():
    w = torch.ones(2, 3, 2, 2, requires_grad=True)
    assert F.conv2d(torch.ones(1, 3, 4, 4), w).grad_fn.name() == "ConvolutionBackward0"
    assert F.conv_transpose2d(torch.ones(1, 2, 4, 4), w).grad_fn.name() == "ConvolutionBackward0"


X, W = torch.ones(1, 3, 5, 5), torch.ones(2, 3, 3, 3)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: F.conv2d(torch.ones(5, 5), W), r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got input of size: \[5, 5\]"),
    (lambda: F.conv2d(torch.ones(1, 1, 5, 5), W), r"Given groups=1, weight of size \[2, 3, 3, 3\], expected input\[1, 1, 5, 5\] to have 3 channels, but "
                                                  "got 1 channels instead"),
    (lambda: F.conv2d(torch.ones(1, 3, 2, 2), W), r"Calculated padded input size per channel: \(2 x 2\). Kernel size: \(3 x 3\). Kernel size can't be "
                                                  "greater than actual input size"),
    (lambda: F.conv2d(torch.ones(1, 4, 5, 5), torch.ones(3, 2, 3, 3), groups=2), "expected weight to be divisible by 2 at dimension 0"),
    (lambda: F.conv2d(X, torch.ones(1, 3, 3, 3), groups=3), "expected weight to be at least 3 at dimension 0"),
    (lambda: F.conv2d(X, W, torch.ones(3)), "expected bias to be 1-dimensional with 2 elements"),
    (lambda: F.conv2d(X, W, stride=0), "non-positive stride is not supported"),
    (lambda: F.conv2d(X, W, padding=-1), "negative padding is not supported"),
    (lambda: F.conv2d(X, W, dilation=0), "dilation should be greater than zero"),
    (lambda: F.conv2d(X, W, groups=0), "non-positive groups is not supported"),
    (lambda: F.conv2d(X, W, stride=(1, 1, 1)), "expected stride to be a single integer value or a list of 2 values"),
    (lambda: F.conv2d(X, torch.ones(3, 3)), "weight should have at least three dimensions"),
    (lambda: F.conv_transpose2d(X, torch.ones(3, 2, 3, 3), output_padding=1), "output padding must be smaller than either stride or dilation"),
    (lambda: F.conv_transpose2d(torch.ones(1, 1, 5, 5), torch.ones(3, 2, 3, 3)), "Given transposed=1, weight of size"),
    (lambda: F.conv_transpose2d(torch.ones(1, 3, 1, 1), torch.ones(3, 2, 3, 3), padding=3), "Output size is too small"),
    (lambda: F.conv_transpose2d(X, torch.ones(3, 2, 3, 3), output_padding=-1), "negative output_padding is not supported"),
])
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_arguments_of_the_wrong_type():
    with pytest.raises(TypeError, match="argument 'stride' must be tuple of ints"):
        F.conv2d(X, W, stride=1.5)
    with pytest.raises(TypeError, match="argument 'weight' must be Tensor"):
        F.conv2d(X, [1])


@pytest.mark.parametrize("size, kernel, options", [((2, 5, 9, 8), (7, 5, 3, 3), {}), ((1, 6, 8, 8), (4, 6, 1, 1), {"stride": 2}),
                                                   ((2, 6, 9, 8), (6, 1, 3, 3), {"groups": 6, "padding": "same"}), ((1, 3, 20), (4, 3, 5), {"padding": 2})])
def test_autocast_rounds_the_weight_as_a_cast_does(size, kernel, options):
    function = getattr(torch.nn.functional, f"conv{len(size) - 2}d")
    x, w = torch.randn(size), torch.randn(kernel)
    want = function(x.bfloat16(), w.bfloat16(), **options)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(function(x, w, **options), want)
        with torch.no_grad():
            assert torch.equal(function(x, w, **options), want)
            with pytest.raises(RuntimeError, match="expected scalar type Double"):
                function(x.double(), w, **options)
    with torch.no_grad(), pytest.raises(RuntimeError, match="expected scalar type BFloat16"):
        function(x.bfloat16(), w, **options)
