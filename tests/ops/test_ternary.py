"""Limits, interpolation, products and quotients added."""
import math

import numpy as np
import pytest

import saraph as torch


def test_clamp_by_numbers():
    x = torch.tensor([-2.0, 0.5, 3.0, math.nan])
    assert x.clamp(-1, 1)[:3].tolist() == [-1.0, 0.5, 1.0]
    assert math.isnan(x.clamp(-1, 1)[3].item())
    assert torch.clip(x, max=1.0)[:3].tolist() == [-2.0, 0.5, 1.0]
    assert torch.clamp_min(x, 0)[:3].tolist() == [0.0, 0.5, 3.0]
    assert torch.clamp_max(x, 0)[:3].tolist() == [-2.0, 0.0, 0.0]
    assert torch.clamp(x[:3], 2, 1).tolist() == [1.0, 1.0, 1.0]
    assert torch.clamp(torch.tensor([-5, 5]), 0, 2.5).tolist() == [0.0, 2.5]
    y = x.clone()
    assert y.clamp_(0, 1) is y and y[:3].tolist() == [0.0, 0.5, 1.0]
    assert torch.ones(0, 3).clamp(0, 1).shape == (0, 3)


def test_clamp_by_tensors():
    x = torch.tensor([[-2.0, 0.5, 3.0]])
    assert torch.clamp(x, torch.tensor([[0.0], [1.0]]), torch.tensor(2.0)).tolist() == [[0.0, 0.5, 2.0], [1.0, 1.0, 2.0]]
    assert torch.clamp(torch.tensor([1, 5]), min=torch.tensor([2.5, 2.5])).dtype is torch.float32
    with pytest.raises(RuntimeError, match="At least one of"):
        x.clamp()
    with pytest.raises(RuntimeError, match="not supported for complex"):
        torch.clamp(torch.ones(2, dtype=torch.complex64), 0, 1)


def test_gradients_of_limits(check_gradients):
    x = torch.tensor([-2.0, 0.0, 0.5, 1.0, 3.0], requires_grad=True)
    x.clamp(0, 1).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    rng = np.random.default_rng(1)
    check_gradients(torch.clamp, rng.normal(size=(4, 3)), rng.normal(size=(3,)) - 0.5, rng.normal(size=(4, 1)) + 0.5)
    check_gradients(lambda a: a.clamp(min=-0.3), rng.normal(size=5))


def test_lerp(check_gradients):
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([5.0, -2.0])
    assert torch.lerp(a, b, 0.25).tolist() == [2.0, 1.0]
    assert torch.lerp(a, b, torch.tensor([0.0, 1.0])).tolist() == [1.0, -2.0]
    assert a.clone().lerp_(b, 1.0).tolist() == [5.0, -2.0]
    rng = np.random.default_rng(2)
    x, y, w = rng.normal(size=(2, 3)), rng.normal(size=3), rng.uniform(size=(2, 1))
    check_gradients(torch.lerp, x, y, w)
    check_gradients(lambda x, y: torch.lerp(x, y, 0.7), x, y)
    with pytest.raises(RuntimeError, match="expected dtype"):
        torch.lerp(a, b.double(), 0.5)


def test_products_and_quotients_added(check_gradients):
    x, a, b = (torch.tensor(v) for v in ([1.0, 2.0], [3.0, 4.0], [2.0, 8.0]))
    assert torch.addcmul(x, a, b, value=0.5).tolist() == [4.0, 18.0]
    assert torch.addcdiv(x, a, b, value=2).tolist() == [4.0, 3.0]
    assert x.clone().addcmul_(a, b).tolist() == [7.0, 34.0]
    assert x.clone().addcdiv_(a, b).tolist() == [2.5, 2.5]
    assert torch.addcmul(torch.tensor([1]), torch.tensor([2]), torch.tensor([3]), value=2).tolist() == [13]
    rng = np.random.default_rng(3)
    arrays = rng.normal(size=(2, 3)), rng.normal(size=3), rng.uniform(1, 2, (2, 1))
    check_gradients(lambda x, a, b: torch.addcmul(x, a, b, value=1.5), *arrays)
    check_gradients(lambda x, a, b: torch.addcdiv(x, a, b, value=1.5), *arrays)
    check_gradients(lambda x, a, b: torch.addcdiv(x, a, b, value=1 - 2j), *(v + 0.5j for v in arrays))
    with pytest.raises(RuntimeError, match="Integer division with addcdiv"):
        torch.addcdiv(x, torch.tensor([1, 2]), torch.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="size of tensor"):
        torch.addcmul(x, torch.ones(3), torch.ones(2))


def test_16_bit_combinations_are_rounded_once():
    x, a, b = (torch.tensor([v], dtype=torch.bfloat16) for v in (1.0, 1.0078125, 1.0078125))
    exact = 1.0 + 1.0078125**2 * 0.3
    assert torch.addcmul(x, a, b, value=0.3).item() == torch.tensor([exact], dtype=torch.float32).bfloat16().item()
