"""Initialisers: moments, ranges, structure, errors; the streams themselves are tested with the generator."""
import math

import pytest

import saraph as torch
from saraph import nn
from saraph.nn import init


def empty(*shape):
    return torch.empty(*shape)


@pytest.mark.parametrize(("name", "expected"), [("linear", 1), ("conv2d", 1), ("sigmoid", 1), ("tanh", 5 / 3), ("relu", math.sqrt(2)),
                                                ("leaky_relu", math.sqrt(2 / (1 + 0.01 ** 2))), ("selu", 0.75)])
def test_gains(name, expected):
    assert init.calculate_gain(name) == pytest.approx(expected)


def test_gain_arguments():
    assert init.calculate_gain("leaky_relu", 0.5) == pytest.approx(math.sqrt(2 / 1.25))
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("swish")
    with pytest.raises(ValueError, match="negative_slope"):
        init.calculate_gain("leaky_relu", "x")


def test_constants_return_the_tensor_and_need_no_history():
    w = nn.Parameter(empty(2, 2))
    assert init.constant_(w, 3.5) is w and w.tolist() == [[3.5, 3.5]] * 2 and w.grad_fn is None
    assert init.zeros_(w).sum() == 0 and init.ones_(w).sum() == 4 and init.eye_(w).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="2 dimensions"):
        init.eye_(empty(3))


def test_uniform_and_normal():
    torch.manual_seed(0)
    w = init.uniform_(empty(100, 100), -2.0, 6.0)
    assert w.min() >= -2 and w.max() < 6 and w.mean().item() == pytest.approx(2, abs=0.1)
    w = init.normal_(empty(100, 100), 3.0, 0.5)
    assert w.mean().item() == pytest.approx(3, abs=0.02) and w.std().item() == pytest.approx(0.5, abs=0.02)
    w = init.trunc_normal_(empty(100, 100), 0.0, 1.0, -0.5, 0.25)
    assert w.min() >= -0.5 and w.max() <= 0.25


@pytest.mark.parametrize(("shape", "fan_in", "fan_out"), [((30, 50), 50, 30), ((8, 6, 3, 3), 54, 72)])
def test_xavier_and_kaiming_scales(shape, fan_in, fan_out):
    torch.manual_seed(1)
    bound = math.sqrt(6 / (fan_in + fan_out))
    w = init.xavier_uniform_(empty(*shape), gain=2.0)
    assert w.abs().max() <= 2 * bound and w.abs().max() > 1.8 * bound
    assert init.xavier_normal_(empty(*shape)).std().item() == pytest.approx(math.sqrt(2 / (fan_in + fan_out)), rel=0.15)
    for mode, fan in (("fan_in", fan_in), ("fan_out", fan_out)):
        w = init.kaiming_uniform_(empty(*shape), mode=mode, nonlinearity="relu")
        assert w.abs().max() <= math.sqrt(6 / fan) and w.abs().max() > 0.9 * math.sqrt(6 / fan)
        assert init.kaiming_normal_(empty(*shape), mode=mode, nonlinearity="relu").std().item() == pytest.approx(math.sqrt(2 / fan), rel=0.15)


def test_errors_of_fans_and_modes():
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(empty(3))
    with pytest.raises(ValueError, match="not supported, please use one of"):
        init.kaiming_uniform_(empty(2, 2), mode="both")
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(empty(0, 2))


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3), (4, 2, 3)])
def test_orthogonal_rows_or_columns(shape):
    w = init.orthogonal_(torch.empty(*shape, dtype=torch.float64), gain=2.0)
    flat = w.reshape(shape[0], -1)
    product = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    assert torch.allclose(product, 4 * torch.eye(product.shape[0], dtype=torch.float64))


def test_dirac_passes_channels_through():
    w = init.dirac_(empty(4, 2, 3, 3), groups=2)
    x = torch.rand(1, 4, 5, 5)
    assert torch.equal(nn.functional.conv2d(x, w, padding=1, groups=2), x)
    with pytest.raises(ValueError, match="dim 0 must be divisible by groups"):
        init.dirac_(empty(3, 2, 3), groups=2)
    with pytest.raises(ValueError, match="3, 4, or 5 dimensions"):
        init.dirac_(empty(3, 2))


def test_sparse_columns():
    torch.manual_seed(3)
    w = init.sparse_(empty(10, 4), sparsity=0.35)
    assert (w == 0).sum(0).tolist() == [4, 4, 4, 4]
    with pytest.raises(ValueError, match="2 dimensions"):
        init.sparse_(empty(3), 0.1)


def test_layers_start_as_the_papers_say():
    torch.manual_seed(0)
    linear = nn.Linear(400, 30)
    assert linear.weight.abs().max() <= 1 / 20 and linear.bias.abs().max() <= 1 / 20 and linear.weight.abs().max() > 0.049
    conv = nn.Conv2d(16, 8, 5)
    assert conv.weight.abs().max() <= 1 / 20 and conv.bias.abs().max() <= 1 / 20
    assert nn.LSTM(3, 25).weight_hh_l0.abs().max() <= 0.2
    table = nn.Embedding(100, 50, padding_idx=3)
    assert table.weight.std().item() == pytest.approx(1, abs=0.05) and table.weight[3].abs().sum() == 0


def test_the_first_values_of_seed_0_are_pytorchs():
    torch.manual_seed(0)
    assert nn.Linear(2, 2).weight.flatten().tolist() == pytest.approx([-0.00529398, 0.37932289, -0.58198076, -0.52038747], abs=1e-7)
