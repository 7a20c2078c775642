"""Pixel and channel shuffles, unfold and fold."""
import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(12)


def test_pixel_shuffle():
    x = rng.standard_normal((2, 8, 3, 4))
    y = F.pixel_shuffle(torch.from_numpy(x), 2)
    assert y.shape == (2, 2, 6, 8)
    for c, i, j in np.ndindex(2, 2, 2):
        np.testing.assert_array_equal(y[:, c, i::2, j::2].numpy(), x[:, 4 * c + 2 * i + j])
    np.testing.assert_array_equal(F.pixel_unshuffle(y, 2).numpy(), x)
    np.testing.assert_array_equal(torch.pixel_shuffle(torch.from_numpy(x[0]), 2).numpy(), y[0].numpy())
    for function, shape, text in ((F.pixel_shuffle, (1, 3, 2, 2), "to be divisible by the square of upscale_factor"),
                                  (F.pixel_shuffle, (2, 2), "at least 3 dimensions"), (F.pixel_unshuffle, (1, 3, 3, 2), "height to be divisible")):
        with pytest.raises(RuntimeError, match=text):
            function(torch.ones(shape), 2)


def test_channel_shuffle():
    x = torch.arange(12).reshape(1, 6, 2)
    assert F.channel_shuffle(x, 3)[0, :, 0].tolist() == [0, 4, 8, 2, 6, 10]
    with pytest.raises(RuntimeError, match="Number of channels must be divisible by groups"):
        F.channel_shuffle(x, 4)


def test_shuffles_keep_channels_last():
    x = torch.from_numpy(rng.standard_normal((2, 8, 4, 4))).to(memory_format=torch.channels_last)
    for function in (F.pixel_shuffle, F.pixel_unshuffle, F.channel_shuffle):
        y = function(x, 2)
        assert y.is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_array_equal(y.numpy(), function(x.contiguous(), 2).numpy())


@pytest.mark.parametrize("geometry", [((2, 3), 1, 0, 1), ((3, 2), (1, 2), (1, 0), (2, 1)), ((1, 1), 1, 0, 2)])
def test_unfold_and_fold(geometry, check_gradients):
    kernel, dilation, padding, stride = geometry
    x = rng.standard_normal((2, 3, 6, 7))
    columns = F.unfold(torch.from_numpy(x), kernel, dilation, padding, stride)
    w = rng.standard_normal((4, 3, *kernel))
    product = w.reshape(4, -1) @ columns.numpy()
    conv = F.conv2d(torch.from_numpy(x), torch.from_numpy(w), None, stride, padding, dilation)
    np.testing.assert_allclose(product, conv.flatten(2).numpy(), atol=1e-12)
    y = rng.standard_normal(columns.shape)
    back = F.fold(torch.from_numpy(y), (6, 7), kernel, dilation, padding, stride)
    np.testing.assert_allclose((back.numpy() * x).sum(), (y * columns.numpy()).sum())
    check_gradients(lambda t: F.unfold(t, kernel, dilation, padding, stride), x[:1, :1])
    check_gradients(lambda t: F.fold(t, (6, 7), kernel, dilation, padding, stride), y[:1, : kernel[0] * kernel[1]])


def test_without_a_batch_and_other_dtypes():
    x = torch.arange(16.0).reshape(1, 4, 4)
    assert F.unfold(x, 2, stride=2).tolist() == F.unfold(x[None], 2, stride=2)[0].tolist() == [[0, 2, 8, 10], [1, 3, 9, 11], [4, 6, 12, 14], [5, 7, 13, 15]]
    assert F.fold(F.unfold(x, 2, stride=2), (4, 4), 2, stride=2).tolist() == x.tolist()
    assert F.unfold(x.bfloat16(), 2).dtype is torch.bfloat16
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.unfold(x.long(), 2)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: F.unfold(torch.ones(4, 4), 2), r"Expected 3D or 4D \(batch mode\) tensor"),
    (lambda: F.unfold(torch.ones(1, 1, 2, 2), 3), "its components must be at least one"),
    (lambda: F.unfold(torch.ones(1, 1, 4, 4), 0), "kernel size should be greater than zero"),
    (lambda: F.fold(torch.ones(1, 5, 4), (4, 4), 2), "divisible by the product of kernel_size"),
    (lambda: F.fold(torch.ones(1, 4, 5), (4, 4), 2), "match the calculated number of sliding blocks 3 \\* 3 = 9"),
])
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
