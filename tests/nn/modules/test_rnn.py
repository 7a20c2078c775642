"""RNN, LSTM, GRU: formulas of the cells, projections, packed input, refusals."""
import numpy as np
import pytest

import saraph as torch
from saraph import nn

RNG = np.random.default_rng(5)


def doubles(*shape):
    return torch.from_numpy(RNG.standard_normal(shape))


def arrays(module, *names):
    return [getattr(module, n).detach().numpy() for n in names]


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


CELL = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def gru_step(x, h, w, u, b, d):
    (xr, xz, xn), (hr, hz, hn) = np.split(x @ w.T + b, 3, 1), np.split(h @ u.T + d, 3, 1)
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    return (1 - z) * np.tanh(xn + r * hn) + z * h


def test_cells_by_their_formulas():
    x, h, c = doubles(2, 3), doubles(2, 4), doubles(2, 4)
    cell = nn.GRUCell(3, 4).double()
    np.testing.assert_allclose(cell(x, h).detach().numpy(), gru_step(x.numpy(), h.numpy(), *arrays(cell, *CELL)))
    cell = nn.RNNCell(3, 4, nonlinearity="relu").double()
    w, u, b, d = arrays(cell, *CELL)
    np.testing.assert_allclose(cell(x, h).detach().numpy(), np.maximum(x.numpy() @ w.T + b + h.numpy() @ u.T + d, 0))
    cell = nn.LSTMCell(3, 4).double()
    w, u, b, d = arrays(cell, *CELL)
    i, f, g, o = np.split(x.numpy() @ w.T + b + h.numpy() @ u.T + d, 4, 1)
    state = sigmoid(f) * c.numpy() + sigmoid(i) * np.tanh(g)
    found = cell(x, (h, c))
    np.testing.assert_allclose(found[1].detach().numpy(), state)
    np.testing.assert_allclose(found[0].detach().numpy(), sigmoid(o) * np.tanh(state))
    assert torch.allclose(cell(x[0])[0], cell(x)[0][0])  # without a batch, from zeros
    assert nn.RNNCell(3, 4, bias=False)(torch.rand(2, 3)).shape == (2, 4)


def test_layers_run_their_cells_over_time_and_through_layers():
    m, x, h = nn.GRU(3, 4, num_layers=2).double(), doubles(5, 2, 3), doubles(2, 2, 4)
    y, last = m(x, h)
    below = x.numpy()
    for layer in range(2):
        state, rows = h[layer].numpy(), []
        for t in range(5):
            state = gru_step(below[t], state, *arrays(m, *(f"{n}_l{layer}" for n in CELL)))
            rows.append(state)
        below = np.stack(rows)
        np.testing.assert_allclose(last[layer].detach().numpy(), state)
    np.testing.assert_allclose(y.detach().numpy(), below)


def test_projections_shrink_the_output_but_not_the_cell():
    m = nn.LSTM(3, 5, proj_size=2, num_layers=2, bidirectional=True).double()
    y, (h, c) = m(doubles(4, 2, 3))
    assert y.shape == (4, 2, 4) and h.shape == (4, 2, 2) and c.shape == (4, 2, 5)
    assert m.weight_hr_l0.shape == (2, 5) and m.weight_ih_l1.shape == (20, 4) and m.weight_hh_l0.shape == (20, 2)
    one = nn.LSTM(3, 5, proj_size=2).double()
    plain = nn.LSTM(3, 5).double()
    x = doubles(1, 2, 3)
    with torch.no_grad():
        for name in ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"):
            getattr(plain, name).copy_(getattr(one, name))
    assert torch.allclose(one(x)[0], plain(x)[0] @ one.weight_hr_l0.T)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_layouts_and_packing_agree(kind):
    m, x = kind(3, 4, bidirectional=True).double(), doubles(5, 3, 3)
    y, _ = m(x)
    first = kind(3, 4, bidirectional=True, batch_first=True).double()
    first.load_state_dict(m.state_dict())
    assert torch.allclose(first(x.transpose(0, 1))[0].transpose(0, 1), y)
    assert torch.allclose(m(x[:, 1])[0], y[:, 1])
    packed, states = m(nn.utils.rnn.pack_padded_sequence(x, [5, 3, 1]))
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    assert lengths.tolist() == [5, 3, 1] and torch.allclose(padded[:, 0], y[:, 0])
    for b, n in ((1, 3), (2, 1)):
        alone, final = m(x[:n, b:b + 1])
        assert torch.allclose(padded[:n, b], alone[:, 0])
        pair = zip(states, final) if kind is nn.LSTM else [(states, final)]
        assert all(torch.allclose(s[:, b], f[:, 0]) for s, f in pair)


def test_gradients_flow_through_time():
    m = nn.LSTM(2, 3, num_layers=2, bidirectional=True).double()
    names = [n for n, _ in m.named_parameters()]

    def run(x, *weights):
        return torch.func.functional_call(m, dict(zip(names, weights)), (x,))[0]

    values = [p.detach().clone().requires_grad_() for p in m.parameters()]
    assert torch.autograd.gradcheck(run, (doubles(3, 2, 2).requires_grad_(), *values), fast_mode=True)


def test_dropout_acts_between_layers_in_training_only():
    with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
        nn.GRU(2, 3, dropout=0.5)
    m, x = nn.GRU(2, 30, num_layers=2, dropout=0.9), torch.rand(3, 1, 2)
    assert not torch.equal(m(x)[0], m(x)[0])
    m.eval()
    assert torch.equal(m(x)[0], m(x)[0])


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: nn.GRU(3, 0), ValueError, "hidden_size must be greater than zero"),
    (lambda: nn.GRU(3, 4, bias=1), TypeError, "bias should be of type bool, got: int"),
    (lambda: nn.GRU("3", 4), TypeError, "input_size should be of type int, got: str"),
    (lambda: nn.GRU(3, 4, dropout=2), ValueError, r"dropout should be a number in range \[0, 1\]"),
    (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
    (lambda: nn.RNN(3, 4, nonlinearity="elu"), ValueError, "Unknown nonlinearity 'elu'"),
    (lambda: nn.GRU(3, 4)(torch.rand(5, 2, 7)), RuntimeError, "input.size.-1. must be equal to input_size. Expected 3, got 7"),
    (lambda: nn.GRU(3, 4)(torch.rand(5, 2, 3), torch.rand(1, 3, 4)), RuntimeError, r"Expected hidden size \(1, 2, 4\), got \[1, 3, 4\]"),
    (lambda: nn.LSTM(3, 4)(torch.rand(5, 2, 3), (torch.rand(1, 2, 4), torch.rand(1, 2, 5))), RuntimeError, r"Expected hidden\[1\] size"),
    (lambda: nn.GRU(3, 4)(torch.rand(5, 2, 3).double()), ValueError, "does not match weight dtype"),
    (lambda: nn.GRU(3, 4)(torch.rand(3)), ValueError, "Expected input to be 2D or 3D, got 1D"),
    (lambda: nn.GRUCell(3, 4)(torch.rand(2, 5)), RuntimeError, "input has inconsistent input_size: got 5, expected 3"),
])
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
