"""Formulas and composites that run as one kernel give what their definitions give."""
import numpy as np
import pytest

import saraph as torch
from saraph.tensor import fusing
from saraph.tensor.fusing import Composite

F = torch.nn.functional


def close(got, want, rtol=1e-6, atol=1e-6):
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=rtol, atol=atol)


CUBE = Composite("CubeBackward0", lambda x, y, scale=1.0: x * x * x * scale + y.sin())
FORMULAS = {"gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": F.elu, "softplus": F.softplus,
            "sigmoid": torch.sigmoid,
            "tanh": torch.tanh, "exp": torch.exp, "hardswish": F.hardswish, "mish": F.mish,
            "clamp": lambda x: x.clamp(-0.7, 0.6), "log1p": lambda x: (x * x).log1p()}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_kernel_of_a_formula_agrees_with_its_definition(name):
    f = FORMULAS[name]
    x = torch.linspace(-2.9, 2.8, 77, dtype=torch.float64)
    kernel = x.clone().requires_grad_()
    f(kernel).backward(x)
    plain = x.clone().requires_grad_()
    grad, = torch.autograd.grad(f(plain), plain, x, create_graph=True)  # with grad mode on, the definition runs
    close(kernel.grad, grad.detach(), rtol=1e-12, atol=1e-14)
    assert torch.autograd.gradgradcheck(f, (x[::7].clone().requires_grad_(),))


def test_a_composite_and_its_sum():
    x = torch.linspace(-2, 2, 101, dtype=torch.float64, requires_grad=True)
    y = torch.linspace(0, 1, 101, dtype=torch.float64, requires_grad=True)
    close(CUBE(x, y, numbers=(2.0,)), (2 * x**3 + y.sin()).detach())
    CUBE.sum(x, y).backward()
    close(x.grad, 3 * x.detach() ** 2)
    close(y.grad, y.detach().cos())
    assert torch.autograd.gradcheck(CUBE, (x[:5], y[:5])) and torch.autograd.gradgradcheck(CUBE, (x[:5], y[:5]))
    assert CUBE(x, y).grad_fn.name() == "CubeBackward0"


def test_only_wanted_gradients_are_computed():
    x, y = torch.ones(4), torch.ones(4, requires_grad=True)
    CUBE(x, y).sum().backward()
    assert x.grad is None and y.grad is not None


def test_large_composites_are_summed_in_pieces():
    x = torch.linspace(-1, 1, 3 * fusing.PIECE + 11, requires_grad=True)
    total = CUBE.sum(x, torch.zeros_like(x))
    assert total.item() == pytest.approx(0.0, abs=1e-2)
    total.backward()
    close(x.grad, 3 * x.detach() ** 2)


def test_mixed_shapes_and_dtypes_take_the_definition():
    x, y = torch.ones(3, 4, requires_grad=True), torch.ones(4)
    assert CUBE(x, y).shape == (3, 4)
    assert CUBE(x, torch.ones(3, 4, dtype=torch.float64)).dtype is torch.float64
    assert not fusing.fits(x, y) and not fusing.fits(x, 3) and fusing.fits(x, x)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_of_zero_dim_tensors_are_arrays(name):
    x = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    FORMULAS[name](x).backward()
    assert x.grad.shape == () and x.grad.masked_fill(torch.tensor(True), 7).item() == 7
    y = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    F.mse_loss(y, x.detach(), reduction="none").backward()
    assert y.grad.masked_fill(torch.tensor(True), 7).item() == 7


def test_a_subclass_somewhere_leaves_plain_tensors_their_kernels():
    class Mine(torch.Tensor):
        pass

    mine, x = torch.ones(3).as_subclass(Mine), torch.ones(3, requires_grad=True)
    assert fusing.fits(x, x) and not fusing.fits(x, mine)
    assert type(CUBE(mine, x)) is Mine and CUBE(x, x).grad_fn.name() == "CubeBackward0"
    with torch.autocast("cpu"):
        assert not fusing.fits(x, x)
