"""Weight norm, spectral norm and orthogonal matrices, as parametrizations and by the old hooks."""
import copy

import numpy as np
import pytest

import saraph as torch
from saraph import nn
from saraph.nn import utils
from saraph.nn.utils import parametrizations, parametrize

WEIGHT = torch.arange(6, dtype=torch.float64).reshape(2, 3) / 10 + 0.1


def linear():
    m = nn.Linear(3, 2).double()
    with torch.no_grad():
        m.weight.copy_(WEIGHT)
    return m


def old_weight_norm(m, **options):
    with pytest.warns(FutureWarning, match="weight_norm"):
        return utils.weight_norm(m, **options)


def test_weight_norm_keeps_the_value_and_splits_it():
    m = parametrizations.weight_norm(linear())
    assert torch.allclose(m.weight, WEIGHT)
    parts = m.parametrizations.weight
    np.testing.assert_allclose(parts.original0.detach().numpy(), np.linalg.norm(WEIGHT.numpy(), axis=1, keepdims=True))
    assert torch.equal(parts.original1, WEIGHT) and list(m.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    with torch.no_grad():
        parts.original1.mul_(7)
    assert torch.allclose(m.weight, WEIGHT)  # the direction's length does not count
    m.weight = 2 * WEIGHT
    assert torch.allclose(m.weight, 2 * WEIGHT)
    assert parametrizations.weight_norm(linear(), dim=None).parametrizations.weight.original0.shape == ()
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear and isinstance(m.weight, nn.Parameter) and torch.allclose(m.weight, 2 * WEIGHT)


def test_weight_norm_reads_states_of_the_old_hook():
    old, new = old_weight_norm(linear()), parametrizations.weight_norm(nn.Linear(3, 2).double())
    new.load_state_dict(old.state_dict())
    assert torch.allclose(new.weight, WEIGHT)


def test_the_old_weight_norm():
    m = old_weight_norm(linear(), dim=1)
    assert list(m.state_dict()) == ["bias", "weight_g", "weight_v"] and m.weight_g.shape == (1, 3) and torch.allclose(m.weight, WEIGHT)
    with torch.no_grad():
        m.weight_g.mul_(2)
    x = torch.rand(1, 3, dtype=torch.float64)
    assert torch.allclose(m(x), x @ (2 * WEIGHT).T + m.bias)
    m(x).sum().backward()
    assert m.weight_v.grad is not None
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        old_weight_norm(m)
    utils.remove_weight_norm(m)
    assert list(m.state_dict()) == ["bias", "weight"] and torch.allclose(m.weight, 2 * WEIGHT) and not m._forward_pre_hooks
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        utils.remove_weight_norm(m)


def top(weight):
    return np.linalg.svd(weight.numpy(), compute_uv=False)[0]


def test_spectral_norm_approaches_the_largest_singular_value():
    m = parametrizations.spectral_norm(linear())
    for _ in range(30):
        assert m.weight.shape == (2, 3)
    assert torch.allclose(m.weight, WEIGHT / top(WEIGHT))
    m.eval()
    before = m.parametrizations.weight[0]._u.clone()
    assert m.weight.shape == (2, 3)
    assert torch.equal(m.parametrizations.weight[0]._u, before)
    conv = parametrizations.spectral_norm(nn.ConvTranspose2d(2, 3, 2))
    assert conv.parametrizations.weight[0]._u.shape == (3,)  # the outputs of a transposed convolution are dimension 1
    bias = parametrizations.spectral_norm(linear(), "bias")
    assert bias.bias.norm().item() == pytest.approx(1)
    with pytest.raises(ValueError, match="n_power_iterations to be positive"):
        parametrizations.spectral_norm(linear(), n_power_iterations=0)
    with pytest.raises(ValueError, match="has no parameter or buffer with name 'nothing'"):
        parametrizations.spectral_norm(linear(), "nothing")


def test_the_old_spectral_norm():
    m, x = utils.spectral_norm(linear()), torch.ones(1, 3, dtype=torch.float64)
    assert list(m.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert m.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    for _ in range(30):
        m(x)
    assert torch.allclose(m.weight, WEIGHT / top(WEIGHT))
    twin = utils.spectral_norm(nn.Linear(3, 2).double())
    twin.load_state_dict(m.state_dict())
    assert torch.allclose(twin.eval()(x), m.eval()(x))
    m.train()
    y = m(x) + m(x)  # two calls share the vectors, which the second one writes
    y.sum().backward()
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        utils.spectral_norm(m)
    utils.remove_spectral_norm(m)
    assert list(m.state_dict()) == ["bias", "weight"] and not m._state_dict_hooks and not m._load_state_dict_pre_hooks


def test_states_from_before_the_second_vector():
    m = utils.spectral_norm(linear())
    for _ in range(50):
        m(torch.ones(1, 3, dtype=torch.float64))
    state = m.state_dict()
    v = state.pop("weight_v")
    state["weight"] = m.weight.detach()
    state._metadata[""].pop("spectral_norm")
    twin = utils.spectral_norm(nn.Linear(3, 2).double())
    twin.load_state_dict(state)
    assert torch.allclose(twin.weight_v, v, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivialized", [True, False])
def test_orthogonal_matrices_stay_orthogonal(shape, name, trivialized):
    m = nn.Linear(shape[1], shape[0]).double()
    parametrizations.orthogonal(m, orthogonal_map=name, use_trivialization=trivialized)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.3)
    for _ in range(3):
        w = m.weight if shape[0] <= shape[1] else m.weight.T
        assert torch.allclose(w @ w.T, torch.eye(min(shape), dtype=torch.float64))
        optimizer.zero_grad()
        (m.weight * torch.arange(12.0)[: shape[0] * shape[1]].reshape(shape)).sum().backward()
        optimizer.step()


def test_assigning_an_orthogonal_matrix():
    m = parametrizations.orthogonal(nn.Linear(3, 3).double())
    turn = torch.tensor([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]], dtype=torch.float64)
    m.weight = turn
    assert torch.allclose(m.weight, turn)
    fixed = parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
    with pytest.raises(NotImplementedError, match="not possible to assign"):
        fixed.weight = turn.float()
    with pytest.raises(ValueError, match="matrix or batch of matrices"):
        parametrizations.orthogonal(nn.Linear(3, 3), "bias")
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="other")


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


def test_parametrizations_stack_cache_copy_and_go_away():
    m = nn.Linear(2, 2)
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert parametrize.is_parametrized(m) and parametrize.is_parametrized(m, "weight") and not parametrize.is_parametrized(m, "bias")
    assert torch.equal(m.weight, m.weight.T) and type(m).__name__ == "ParametrizedLinear" and parametrize.type_before_parametrizations(m) is nn.Linear
    target = torch.tensor([[1.0, 2.0], [2.0, 3.0]])
    m.weight = target
    assert torch.equal(m.weight, target) and m.parametrizations.weight.original.tolist() == [[1, 2], [0, 3]]
    with parametrize.cached():
        assert m.weight is m.weight
    assert m.weight is not m.weight
    twin = copy.deepcopy(m)
    assert torch.equal(twin.weight, target) and twin.parametrizations.weight.original is not m.parametrizations.weight.original

    class Doubled(nn.Module):
        def forward(self, x):
            return 2 * x

    parametrize.register_parametrization(m, "weight", Doubled())
    assert torch.equal(m.weight, 2 * target) and len(m.parametrizations.weight) == 2
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        m.weight = target
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    assert type(m) is nn.Linear and m.weight.tolist() == [[1, 2], [0, 3]]


def test_parametrizations_that_do_not_fit():
    class Narrow(nn.Module):
        def forward(self, x):
            return x[:1]

    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Narrow())
    m = nn.Linear(2, 2)
    parametrize.register_parametrization(m, "weight", Narrow(), unsafe=True)
    assert m.weight.shape == (1, 2)
    with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element"):
        parametrize.register_parametrization(m, "nothing", Symmetric())
    with pytest.raises(ValueError, match="does not have a parametrization on bias"):
        parametrize.remove_parametrizations(m, "bias")
