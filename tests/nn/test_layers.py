"""Layers against their formulas in NumPy."""
import numpy as np
import pytest

import saraph as torch
from saraph import nn
from saraph.autograd import gradcheck
from saraph.nn import functional as F

RNG = np.random.default_rng(11)


def doubles(*shape):
    return torch.from_numpy(RNG.standard_normal(shape))


def direct_conv2d(x, w, b, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    out, per, kh, kw = w.shape
    h = (x.shape[2] - dilation * (kh - 1) - 1) // stride + 1
    v = (x.shape[3] - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((x.shape[0], out, h, v))
    for o in range(out):
        first = o // (out // groups) * per
        for i in range(h):
            for j in range(v):
                part = x[:, first:first + per, i * stride:i * stride + dilation * (kh - 1) + 1:dilation,
                         j * stride:j * stride + dilation * (kw - 1) + 1:dilation]
                y[:, o, i, j] = (part * w[o]).sum((1, 2, 3)) + b[o]
    return y


@pytest.mark.parametrize(("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 1, 1, 4)])
def test_conv2d_is_the_sum_over_windows(stride, padding, dilation, groups):
    x, w, b = doubles(2, 4, 7, 8), doubles(4, 4 // groups, 3, 2), doubles(4)
    y = F.conv2d(x, w, b, stride, padding, dilation, groups)
    np.testing.assert_allclose(y.numpy(), direct_conv2d(x.numpy(), w.numpy(), b.numpy(), stride, padding, dilation, groups))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed_convolution_is_the_adjoint(rank):
    f, t = getattr(F, f"conv{rank}d"), getattr(F, f"conv_transpose{rank}d")
    x, w = doubles(2, 4, *[6] * rank), doubles(4, 2, *[3] * rank)
    y = f(x, w, stride=1, padding=1, groups=2)
    z = doubles(*y.shape)
    np.testing.assert_allclose((y * z).sum().item(), (x * t(z, w, padding=1, groups=2)).sum().item())


def test_gradient_of_a_transposed_convolution_with_room_for_more_windows():
    x, w = doubles(1, 2, 3, 3).requires_grad_(), doubles(2, 2, 2, 2).requires_grad_()
    assert gradcheck(lambda a, b: F.conv_transpose2d(a, b, stride=1, output_padding=1, dilation=2), (x, w))


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def test_lstm_is_the_textbook_recurrence_in_both_directions():
    layer = nn.LSTM(3, 4, batch_first=True, bidirectional=True).double()
    x = doubles(2, 5, 3)
    y, (h, c) = layer(x)
    for direction, suffix in enumerate(("", "_reverse")):
        w, u, b, d = (getattr(layer, n + suffix).detach().numpy() for n in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"))
        hidden, cell = np.zeros((2, 4)), np.zeros((2, 4))
        for t in (range(5), reversed(range(5)))[direction]:
            i, f, g, o = np.split(x.numpy()[:, t] @ w.T + b + hidden @ u.T + d, 4, 1)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            hidden = sigmoid(o) * np.tanh(cell)
            np.testing.assert_allclose(y.detach().numpy()[:, t, 4 * direction:4 * direction + 4], hidden, rtol=1e-10)
        np.testing.assert_allclose(h[direction].detach().numpy(), hidden, rtol=1e-10)
        np.testing.assert_allclose(c[direction].detach().numpy(), cell, rtol=1e-10)


def test_packed_sequences_run_as_if_each_were_alone():
    layer = nn.GRU(3, 4, num_layers=2, batch_first=True).double()
    x, lengths = doubles(3, 6, 3), torch.tensor([2, 6, 4])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    out, h = layer(packed)
    y, found = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
    assert found.tolist() == [2, 6, 4]
    for k, n in enumerate(lengths.tolist()):
        alone, last = layer(x[k:k + 1, :n])
        assert torch.allclose(y[k, :n], alone[0]) and torch.allclose(h[:, k], last[:, 0]) and y[k, n:].abs().sum() == 0


def test_batch_norm_normalises_the_batch_and_remembers_it():
    layer = nn.BatchNorm2d(3, momentum=0.25).double()
    x = doubles(4, 3, 2, 2) * 3 + 1
    y = layer(x).detach().numpy()
    a = x.numpy()
    mean, var = a.mean((0, 2, 3)), a.var((0, 2, 3))
    np.testing.assert_allclose(y, (a - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None], rtol=1e-8)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.25 * mean)
    np.testing.assert_allclose(layer.running_var.numpy(), 0.75 + 0.25 * var * 16 / 15)
    layer.eval()
    np.testing.assert_allclose(layer(x).detach().numpy()[:, 0], (a[:, 0] - 0.25 * mean[0]) / np.sqrt(0.75 + 0.25 * var[0] * 16 / 15 + 1e-5), rtol=1e-8)


def test_attention_is_softmax_of_products():
    q, k, v = doubles(2, 3, 5, 4), doubles(2, 3, 6, 4), doubles(2, 3, 6, 4)
    scores = q.numpy() @ k.numpy().swapaxes(-1, -2) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(F.scaled_dot_product_attention(q, k, v).numpy(), weights @ v.numpy())
    mask = torch.ones(5, 6, dtype=torch.bool).tril()
    scores = np.where(mask.numpy(), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy(), weights @ v.numpy())


def test_cross_entropy_with_weights_smoothing_and_ignored_classes():
    x, target, weight = doubles(6, 4), torch.tensor([0, 3, 1, -100, 2, 3]), torch.tensor([1.0, 2.0, 0.5, 3.0], dtype=torch.float64)
    a, w = x.numpy(), weight.numpy()
    logp = a - a.max(1, keepdims=True)
    logp = logp - np.log(np.exp(logp).sum(1, keepdims=True))
    keep = target.numpy() != -100
    t = target.numpy()[keep]
    hit = -(logp[keep][np.arange(5), t]) * w[t]
    smooth = -(logp[keep] * w).sum(1)
    expected = (0.9 * hit.sum() + 0.1 / 4 * smooth.sum()) / w[t].sum()
    assert F.cross_entropy(x, target, weight, label_smoothing=0.1).item() == pytest.approx(expected)
    assert F.cross_entropy(x, target, weight, reduction="none")[3].item() == 0


def test_softmax_gradients_along_every_dimension():
    x = doubles(3, 4, 2).requires_grad_()
    for dim in range(-1, 3):
        assert gradcheck(lambda a, d=dim: a.softmax(d), (x,)) and gradcheck(lambda a, d=dim: a.log_softmax(d), (x,))
    rows = doubles(300, 80)  # too many to be read with strides
    assert torch.allclose(rows.softmax(0), rows.t().softmax(-1).t())
