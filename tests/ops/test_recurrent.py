"""Recurrent layers as one primitive against their steps as ops: results, gradients, second derivatives, shapes without values."""
import numpy as np
import pytest

import saraph as torch
from saraph import nn
from saraph.ops import recurrent


def by_steps(monkeypatch, function):
    with monkeypatch.context() as patch:
        patch.setattr(recurrent, "_run", recurrent._by_steps)
        return function()


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize(("cls", "options"), [(nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu"}), (nn.LSTM, {"proj_size": 3}),
                                              (nn.GRU, {"bias": False, "batch_first": True})])
def test_layers_and_their_gradients(monkeypatch, cls, options, kind):
    torch.manual_seed(1)
    layer = cls(5, 6, 2, bidirectional=True, dtype=kind, **options)
    x = torch.randn(4, 3, 5, dtype=kind, requires_grad=True)

    def everything():
        output, last = layer(x)
        states = last if isinstance(last, tuple) else (last,)
        total = (output * torch.arange(output.numel(), dtype=kind).view(output.shape).sin()).sum() + sum(s.cos().sum() for s in states)
        return [output, *states, *torch.autograd.grad(total, [x, *layer.parameters()])]

    tolerance = 1e-4 if kind is torch.float32 else 1e-10
    for a, b in zip(everything(), by_steps(monkeypatch, everything), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tolerance, tolerance)


def test_packed_sequences(monkeypatch):
    torch.manual_seed(2)
    layer = nn.LSTM(3, 4, bidirectional=True, dtype=torch.float64)
    packed = nn.utils.rnn.pack_sequence([torch.randn(n, 3, dtype=torch.float64) for n in (5, 3, 3, 1)])

    def everything():
        output, (h, c) = layer(packed)
        return [output.data, h, c, *torch.autograd.grad(output.data.sin().sum() + (h * c).sum(), list(layer.parameters()))]

    for a, b in zip(everything(), by_steps(monkeypatch, everything), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-10, 1e-10)


@pytest.mark.parametrize("cls", [nn.LSTM, nn.GRU])
def test_second_derivatives(cls):
    torch.manual_seed(3)
    layer = cls(2, 2, 2, dtype=torch.float64)
    x = torch.randn(2, 1, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda t: layer(t)[0], (x,))


def test_only_the_last_state_is_used():
    layer = nn.LSTM(3, 4)
    x = torch.randn(5, 2, 3, requires_grad=True)
    layer(x)[1][0].sum().backward()
    assert x.grad.shape == x.shape and float(x.grad.abs().sum()) > 0


def test_shapes_without_values():
    layer = nn.GRU(3, 4, bidirectional=True, device="meta")
    output, last = layer(torch.empty(5, 2, 3, device="meta"))
    assert output.shape == (5, 2, 8) and last.shape == (2, 2, 4)


def test_writing_into_the_result_leaves_the_gradient_right():
    layer = nn.RNN(3, 4, dtype=torch.float64)
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    y = layer(x)[0]
    before = torch.autograd.grad(y.sum(), x)[0]
    y = layer(x)[0]
    z = y * 1
    with torch.no_grad():
        y.zero_()
    np.testing.assert_allclose(torch.autograd.grad(z.sum(), x)[0].numpy(), before.numpy())
