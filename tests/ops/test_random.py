"""Random tensors: shapes, dtypes, errors and history. The streams themselves are tested in tests/random; a few values from PyTorch 2.13 are here."""
from __future__ import annotations

import pytest

import saraph as torch


def test_values_of_a_seed():
    torch.manual_seed(0)
    assert torch.rand(2).tolist() == [0.49625658988952637, 0.7682217955589294]
    torch.manual_seed(0)
    assert torch.randn(2).tolist() == pytest.approx([1.5409960746765137, -0.293428897857666], rel=1e-6)
    torch.manual_seed(0)
    assert torch.randint(10, (5,)).tolist() == [4, 9, 3, 0, 3]
    torch.manual_seed(0)
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_generators_are_streams_of_their_own():
    a, b = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    before = torch.get_rng_state()
    assert torch.rand(3, generator=a).tolist() == torch.rand(3, generator=b).tolist()
    assert torch.get_rng_state().tolist() == before.tolist()
    x = torch.randn(4)
    torch.set_rng_state(before)
    assert torch.randn(4).tolist() == x.tolist()
    with pytest.raises(TypeError):
        torch.rand(2, generator=3)
    with pytest.raises(TypeError):
        torch.set_rng_state(torch.zeros(3))


def test_shapes_dtypes_and_out():
    assert torch.rand(2, 3).shape == torch.rand((2, 3)).shape == torch.rand(size=(2, 3)).shape == (2, 3)
    assert torch.randint(5, (2,)).dtype is torch.randperm(3).dtype is torch.int64
    assert torch.randint(low=0, high=5, size=(2,), dtype=torch.uint8).dtype is torch.uint8
    assert torch.randint_like(torch.ones(2), 2, 5).dtype is torch.float32
    assert torch.randn(2, dtype=torch.complex64).dtype is torch.complex64
    assert torch.randn(2, requires_grad=True).requires_grad
    out = torch.empty(0)
    assert torch.rand(3, out=out) is out and out.shape == (3,)
    like = torch.ones(2, 3).transpose(0, 1)
    assert torch.randn_like(like).stride() == torch.rand_like(like).stride() == (1, 3)
    assert torch.rand(2, device="meta").device.type == "meta"


@pytest.mark.parametrize("call, error", [
    (lambda: torch.rand(), TypeError), (lambda: torch.rand(-1), RuntimeError), (lambda: torch.rand(2, dtype=torch.int64), NotImplementedError),
    (lambda: torch.randint(5, 2, (2,)), RuntimeError), (lambda: torch.randint(5), TypeError), (lambda: torch.randint(0.5, 5, (2,)), TypeError),
    (lambda: torch.randperm(-1), RuntimeError), (lambda: torch.randperm(5.0), TypeError), (lambda: torch.normal(0.0, 1.0), TypeError),
    (lambda: torch.normal(torch.zeros(2), -torch.ones(2)), RuntimeError), (lambda: torch.bernoulli(torch.tensor([0.5, 2])), RuntimeError),
    (lambda: torch.ones(2).bernoulli_(2.0), RuntimeError), (lambda: torch.multinomial(torch.ones(3), 4), RuntimeError),
    (lambda: torch.ones(2).uniform_(2, 1), RuntimeError), (lambda: torch.ones(2).uniform_(from_=1), TypeError),
    (lambda: torch.ones(2).geometric_(), TypeError), (lambda: torch.ones(2, 1).expand(2, 2).uniform_(), RuntimeError),
    (lambda: torch.ones(2, requires_grad=True).uniform_(), RuntimeError)])
def test_refusals(call, error):
    with pytest.raises(error):
        call()


def test_fills_change_their_tensor_only():
    base = torch.zeros(4)
    base.as_strided((2,), (1,), 1).fill_(0).uniform_(3, 4)
    values = base.tolist()
    assert values[0] == values[3] == 0 and all(3 <= v < 4 for v in values[1:3])
    x = torch.empty(100)
    for fill in (x.normal_, x.exponential_, x.log_normal_, x.cauchy_, lambda: x.geometric_(0.5), lambda: x.random_(3, 9), lambda: x.bernoulli_(0.5)):
        version = x._version
        assert fill() is x and x._version == version + 1
    assert x.random_(**{"from": 3, "to": 4}).tolist() == [3.0] * 100
    assert set(x.bernoulli_(torch.linspace(0, 1, 100)).tolist()) <= {0.0, 1.0}


def test_a_fill_cuts_the_history():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.uniform_()
    assert type(y.grad_fn).__name__ == "UniformBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_normal_with_tensors_is_scaled_noise():
    torch.manual_seed(3)
    noise = torch.randn(2, 3)
    torch.manual_seed(3)
    mean, std = torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0, 0.0])
    assert torch.normal(mean, std).tolist() == (noise * std + mean).tolist()
    assert torch.normal(mean, 2.0).shape == (2, 1) and torch.normal(0.0, std).shape == (3,)
    assert torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 1).tolist() == [1]
    assert torch.bernoulli(torch.tensor([0.0, 1.0])).tolist() == [0.0, 1.0] and torch.poisson(torch.zeros(2)).tolist() == [0.0, 0.0]
