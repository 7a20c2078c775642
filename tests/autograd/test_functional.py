"""jacobian, hessian, vjp, jvp, hvp, vhp against closed forms."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.autograd import functional as F

A = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64)
S = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
X, Y = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([0.5, -1.0], dtype=torch.float64)


def form(x):
    """x' S x / 2: gradient S x, Hessian S."""
    return (x @ S @ x) / 2


def test_jacobian():
    x = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
    assert torch.equal(F.jacobian(lambda v: A @ v, x), A)
    found = F.jacobian(lambda v: v * v, x.reshape(3, 1))
    assert found.shape == (3, 1, 3, 1) and torch.equal(found.reshape(3, 3), torch.diag(2 * x))
    assert F.jacobian(lambda v: v.sum(), x).tolist() == [1, 1, 1]
    assert not found.requires_grad and not x.requires_grad
    assert torch.equal(F.jacobian(lambda v: A @ v, x, vectorize=True), A)


def test_jacobian_of_several():
    (dxx, dxy), (dsx, dsy) = F.jacobian(lambda x, y: (x * y, x.sum()), (X, Y))
    assert torch.equal(dxx, torch.diag(Y)) and torch.equal(dxy, torch.diag(X)) and dsx.tolist() == [1, 1] and dsy.tolist() == [0, 0]
    only = F.jacobian(lambda x: (x * 2, x), X)
    assert isinstance(only, tuple) and torch.equal(only[0], 2 * torch.eye(2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="independent"):
        F.jacobian(lambda x, y: x * 2, (X, Y), strict=True)


def test_jacobian_keeps_the_graph():
    x = X.clone().requires_grad_()
    F.jacobian(lambda v: v ** 3, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_hessian():
    assert torch.allclose(F.hessian(form, X), S)
    (xx, xy), (yx, yy) = F.hessian(lambda x, y: (x * x * y).sum(), (X, Y))
    assert torch.equal(xx, torch.diag(2 * Y)) and torch.equal(xy, torch.diag(2 * X)) and torch.equal(yx, torch.diag(2 * X)) and not yy.any()
    with pytest.raises(RuntimeError, match="single"):
        F.hessian(lambda x: x * x, X)


def test_vjp():
    value, found = F.vjp(lambda v: v * v, X, Y)
    assert torch.equal(value, X * X) and torch.equal(found, 2 * X * Y)
    value, found = F.vjp(lambda v: v.sum(), X)
    assert value.item() == 3 and found.tolist() == [1, 1]
    value, (fx, fy) = F.vjp(lambda x, y: x * y, (X, Y), torch.ones(2, dtype=torch.float64))
    assert torch.equal(fx, Y) and torch.equal(fy, X)
    with pytest.raises(RuntimeError, match="vector v"):
        F.vjp(lambda v: v * v, X)


def test_jvp():
    value, found = F.jvp(lambda v: v * v, X, Y)
    assert torch.equal(value, X * X) and torch.equal(found, 2 * X * Y)
    _, found = F.jvp(lambda x, y: (x * y, x + y), (X, Y), (Y, X))
    assert torch.equal(found[0], Y * Y + X * X) and torch.equal(found[1], X + Y)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        F.jvp(lambda v: v * v, X, torch.ones(3, dtype=torch.float64))


def test_products_with_the_hessian():
    value, found = F.hvp(form, X, Y)
    assert torch.allclose(value, form(X)) and torch.allclose(found, S @ Y)
    value, found = F.vhp(form, X, Y)
    assert torch.allclose(found, S @ Y)
    _, (hx, hy) = F.hvp(lambda x, y: (x * x * y).sum(), (X, Y), (Y, X))
    assert torch.allclose(hx, 2 * Y * Y + 2 * X * X) and torch.allclose(hy, 2 * X * Y)
    _, (hx, hy) = F.vhp(lambda x, y: (x * x * y).sum(), (X, Y), (Y, X))
    assert torch.allclose(hx, 2 * Y * Y + 2 * X * X) and torch.allclose(hy, 2 * X * Y)
    with pytest.raises(RuntimeError, match="single"):
        F.hvp(lambda x: x * x, X, Y)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        F.jacobian(lambda x: x, 3)
    with pytest.raises(TypeError, match="outputs"):
        F.vjp(lambda x: 3, X)


def test_inputs_and_grad_are_left_alone():
    x = X.clone().requires_grad_()
    for call in (lambda: F.vjp(lambda v: v * v, x, Y), lambda: F.jvp(lambda v: v * v, x, Y), lambda: F.hessian(form, x), lambda: F.hvp(form, x, Y)):
        call()
    assert x.grad is None
