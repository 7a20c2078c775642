"""Transforms against derivatives worked out by hand."""
import math

import pytest

import saraph as torch
from saraph.autograd import forward_ad
from saraph.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap


def test_gradients_nest_and_leave_no_graph():
    x = torch.tensor(0.3, dtype=torch.float64)
    assert grad(torch.sin)(x).item() == pytest.approx(math.cos(0.3))
    third = grad(grad(grad(torch.sin)))(x)
    assert third.item() == pytest.approx(-math.cos(0.3)) and not third.requires_grad


def test_inner_derivative_ignores_the_outer_variable():
    one = torch.tensor(1.0)
    assert grad(lambda x: x * grad(lambda y: x + y)(one))(one).item() == 1.0


def test_result_follows_what_is_outside():
    w = torch.tensor(2.0, requires_grad=True)
    d = grad(lambda x: w * x * x)(torch.tensor(3.0))
    d.backward()
    assert d.item() == 12.0 and w.grad.item() == 6.0


def test_trees_aux_and_argnums():
    tree = {"a": torch.ones(2), "b": torch.tensor(3.0)}
    found, (value, aux) = grad_and_value(lambda t, k: ((t["a"].sum() * t["b"] * k), t["a"] + 1), has_aux=True)(tree, 2.0)
    assert found["a"].tolist() == [6.0, 6.0] and found["b"].item() == 4.0 and value.item() == 12.0 and aux.tolist() == [2.0, 2.0]
    first, second = grad(lambda x, y: x * y, argnums=(0, 1))(torch.tensor(2.0), torch.tensor(5.0))
    assert (first.item(), second.item()) == (5.0, 2.0)
    with pytest.raises(RuntimeError, match="scalar Tensor"):
        grad(lambda x: x)(torch.ones(2))


def test_jacobians_and_hessian_of_a_quadratic_map():
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = torch.tensor([1.0, -1.0])
    for jacobian in (jacrev, jacfwd):
        assert jacobian(lambda v: a @ v)(x).tolist() == a.tolist()
    assert hessian(lambda v: v @ a @ v)(x).tolist() == [[2.0, 5.0], [5.0, 8.0]]


def test_products():
    f = lambda v: v * v  # noqa: E731
    x, t = torch.tensor([1.0, 3.0]), torch.tensor([1.0, 2.0])
    value, pushed = jvp(f, (x,), (t,))
    assert value.tolist() == [1.0, 9.0] and pushed.tolist() == [2.0, 12.0]
    assert linearize(f, x)[1](t).tolist() == [2.0, 12.0]
    assert vjp(f, x)[1](t)[0].tolist() == [2.0, 12.0]


def test_vmap_dims_errors_and_randomness():
    x = torch.arange(6.0).reshape(2, 3)
    assert vmap(torch.sum)(x).tolist() == [3.0, 12.0]
    assert vmap(torch.sum, in_dims=1)(x).tolist() == [3.0, 5.0, 7.0]
    assert vmap(lambda r, k: r * k, (0, None), out_dims=1)(x, 2.0).shape == (3, 2)
    assert vmap(torch.sum)(torch.zeros(0, 3)).shape == (0,)
    assert vmap(grad(lambda w, r: (w * r).sum()), (None, 0))(torch.ones(3), x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        vmap(torch.add)(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda r: r + torch.rand(()))(x)
    same = vmap(lambda r: torch.rand(()), randomness="same")(x)
    different = vmap(lambda r: torch.rand(()), randomness="different")(x)
    assert same[0] == same[1] and different[0] != different[1]


def test_ensembles():
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    x = torch.ones(4, 2)
    found = vmap(lambda p: functional_call(models[0], p, (x,)))(parameters)
    assert parameters["weight"].shape == (3, 1, 2) and torch.allclose(found[2], models[2](x)) and buffers == {}


def test_dual_tensors():
    with torch.no_grad(), forward_ad.dual_level():
        y = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(5.0)) ** 2
        primal, tangent = forward_ad.unpack_dual(y)
    assert (primal.item(), tangent.item()) == (4.0, 20.0)
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(torch.ones(1), torch.ones(1))
