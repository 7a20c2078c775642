"""Lazy modules: shapes come from the first input."""
import pytest

import saraph as torch
from saraph import nn
from saraph.nn.parameter import UninitializedParameter


@pytest.mark.parametrize(("lazy", "made", "shape", "weight"), [
    (lambda: nn.LazyLinear(3), nn.Linear, (2, 5), (3, 5)),
    (lambda: nn.LazyConv1d(3, 2), nn.Conv1d, (2, 4, 6), (3, 4, 2)),
    (lambda: nn.LazyConv2d(3, 2), nn.Conv2d, (2, 4, 6, 6), (3, 4, 2, 2)),
    (lambda: nn.LazyConv3d(3, 2), nn.Conv3d, (2, 4, 3, 3, 3), (3, 4, 2, 2, 2)),
    (lambda: nn.LazyConvTranspose1d(3, 2), nn.ConvTranspose1d, (2, 4, 6), (4, 3, 2)),
    (lambda: nn.LazyConvTranspose2d(3, 2), nn.ConvTranspose2d, (2, 4, 6, 6), (4, 3, 2, 2)),
    (lambda: nn.LazyConvTranspose3d(3, 2), nn.ConvTranspose3d, (2, 4, 3, 3, 3), (4, 3, 2, 2, 2)),
    (lambda: nn.LazyBatchNorm1d(), nn.BatchNorm1d, (2, 4, 6), (4,)),
    (lambda: nn.LazyBatchNorm2d(), nn.BatchNorm2d, (2, 4, 6, 6), (4,)),
    (lambda: nn.LazyInstanceNorm1d(affine=True), nn.InstanceNorm1d, (2, 4, 6), (4,)),
])
def test_the_first_call_makes_the_plain_layer(lazy, made, shape, weight):
    m = lazy()
    assert isinstance(m.weight, UninitializedParameter) and m.has_uninitialized_params()
    m(torch.rand(*shape))
    assert type(m) is made and m.weight.shape == weight and not isinstance(m.weight, UninitializedParameter)
    assert not m._forward_pre_hooks and not m._load_state_dict_pre_hooks


def test_uninitialized_parameters_refuse_to_be_used():
    m = nn.LazyLinear(2)
    with pytest.raises(ValueError, match="uninitialized parameter"):
        m.weight + 1
    with pytest.raises(RuntimeError, match="shape"):
        assert m.weight.shape


def test_a_lazy_layer_loads_the_state_of_a_plain_one():
    plain, lazy = nn.Linear(3, 2), nn.LazyLinear(2)
    lazy.load_state_dict(plain.state_dict())
    assert lazy.weight.shape == (2, 3) and torch.equal(lazy.weight, plain.weight)
    x = torch.rand(4, 3)
    assert torch.equal(lazy(x), plain(x)) and type(lazy) is nn.Linear


def test_the_dtype_is_kept_and_optimizers_can_have_them_first():
    m = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1)).double()
    m(torch.rand(2, 3, dtype=torch.float64))
    assert m[0].weight.dtype is torch.float64 and m[2].weight.shape == (1, 4)


def test_a_wrong_input_rank_is_refused():
    with pytest.raises((ValueError, RuntimeError)):
        nn.LazyConv2d(3, 2)(torch.rand(2, 3))
