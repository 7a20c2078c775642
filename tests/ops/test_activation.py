"""Activation functions: values by their definitions, gradients, in-place forms, edges, errors."""
import math

import numpy as np
import pytest

import saraph as torch
from saraph.nn import functional as F

X = np.array([-8.0, -3.5, -1.2, -0.4, 0.3, 0.7, 1.9, 6.5])
erf = np.vectorize(math.erf)
DEFINITIONS = {
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)), "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, "silu": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "softplus": lambda x: np.log1p(np.exp(x)), "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x), "hardtanh": lambda x: np.clip(x, -1, 1), "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), "logsigmoid": lambda x: -np.log1p(np.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
}
INPLACE = ("relu", "relu6", "leaky_relu", "elu", "celu", "selu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid")


@pytest.mark.parametrize("name", DEFINITIONS)
def test_values_and_gradients(name, check_gradients):
    function = getattr(F, name)
    np.testing.assert_allclose(function(torch.from_numpy(X)).numpy(), DEFINITIONS[name](X), rtol=1e-12, atol=1e-15)
    check_gradients(function, X)
    for kind, tolerance in ((torch.float32, 2e-6), (torch.bfloat16, 1e-2), (torch.float16, 2e-3)):
        x = torch.tensor(X, dtype=kind)
        np.testing.assert_allclose(function(x).float().numpy(), DEFINITIONS[name](x.double().numpy()), rtol=tolerance, atol=tolerance)
    assert function(torch.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("name", INPLACE)
def test_in_place(name):
    x = torch.from_numpy(X.copy())
    assert getattr(F, name)(x, inplace=True) is x
    np.testing.assert_allclose(x.numpy(), DEFINITIONS[name](X), rtol=1e-12)
    leaf = torch.from_numpy(X.copy()).requires_grad_()
    y = leaf * 1
    getattr(F, name)(y, inplace=True).sum().backward()
    other = torch.from_numpy(X.copy()).requires_grad_()
    getattr(F, name)(other).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), other.grad.numpy())


def test_parameters(check_gradients):
    x = torch.from_numpy(X)
    np.testing.assert_allclose(F.elu(x, 2.0).numpy(), np.where(X > 0, X, 2 * np.expm1(X)))
    np.testing.assert_allclose(F.celu(x, 0.5).numpy(), np.where(X > 0, X, 0.5 * np.expm1(X / 0.5)))
    np.testing.assert_allclose(F.softplus(x, beta=2, threshold=5).numpy(), np.where(2 * X > 5, X, np.log1p(np.exp(2 * X)) / 2))
    np.testing.assert_allclose(F.hardtanh(x, -2, 3).numpy(), np.clip(X, -2, 3))
    np.testing.assert_allclose(F.threshold(x, 0.5, -7).numpy(), np.where(X > 0.5, X, -7))
    tanh = np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))
    np.testing.assert_allclose(F.gelu(x, approximate="tanh").numpy(), X * (1 + tanh) / 2)
    for function in (lambda a: F.celu(a, 0.5), lambda a: F.elu(a, 2.0), lambda a: F.softplus(a, 2, 5), lambda a: F.gelu(a, approximate="tanh"),
                     lambda a: F.threshold(a, 0.5, -7), lambda a: F.leaky_relu(a, 0.3), lambda a: F.hardtanh(a, -2, 3)):
        check_gradients(function, X)


def test_prelu_and_glu(check_gradients):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 4)), rng.uniform(0.1, 0.5, 3)
    np.testing.assert_allclose(F.prelu(torch.from_numpy(x), torch.from_numpy(w)).numpy(), np.where(x > 0, x, w[:, None] * x))
    check_gradients(F.prelu, x, w)
    check_gradients(F.prelu, x, w[:1])
    a, b = x[:, :, :2], x[:, :, 2:]
    np.testing.assert_allclose(F.glu(torch.from_numpy(x)).numpy(), a / (1 + np.exp(-b)))
    check_gradients(F.glu, x)
    with pytest.raises(RuntimeError, match="must be even"):
        F.glu(torch.ones(3))
    with pytest.raises(RuntimeError, match="channel size"):
        F.prelu(torch.ones(2, 3), torch.ones(2))


def test_rrelu():
    x = torch.tensor([-1.0] * 1000 + [2.0])
    assert F.rrelu(x, 0.2, 0.4)[0].item() == pytest.approx(-0.3)
    y = F.rrelu(x, 0.2, 0.4, training=True)
    assert y[-1].item() == 2.0 and -0.4 <= y.min().item() < y[:-1].max().item() <= -0.2
    with pytest.raises(RuntimeError, match="Lower bound"):
        F.rrelu(x, 0.5, 0.1)


def test_names_outside_functional():
    x = torch.tensor([-1.0, 2.0])
    assert torch.relu(x).tolist() == [0.0, 2.0] == x.relu().tolist() == torch.relu_(x.clone()).tolist() == F.relu_(x.clone()).tolist()
    for name in ("celu_", "selu_", "rrelu_"):
        y = x.clone()
        assert getattr(torch, name)(y) is y
    assert torch.threshold(x, 0, 5).tolist() == [5.0, 2.0]
    assert torch.hardshrink(x, 1).tolist() == [0.0, 2.0] == x.hardshrink(1).tolist()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(dim, check_gradients):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 4, 5))
    e = np.exp(a - a.max(dim, keepdims=True))
    expected = e / e.sum(dim, keepdims=True)
    x = torch.from_numpy(a)
    np.testing.assert_allclose(torch.softmax(x, dim).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(x.softmax(dim=dim).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(F.log_softmax(x, dim).numpy(), np.log(expected), rtol=1e-12)
    np.testing.assert_allclose(F.softmin(-x, dim).numpy(), expected, rtol=1e-12)
    for function in (torch.softmax, torch.log_softmax, F.softmin):
        check_gradients(lambda t: function(t, dim), a)  # noqa: B023


def test_softmax_edges():
    x = torch.tensor([[1000.0, 1000.0], [-math.inf, 0.0]])
    assert torch.softmax(x, 1).tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert torch.log_softmax(x, 1)[1].tolist() == [-math.inf, 0.0]
    assert torch.softmax(torch.tensor([1, 1]), 0, dtype=torch.float64).tolist() == [0.5, 0.5]
    assert torch.softmax(torch.tensor(3.0), 0).item() == 1.0
    assert torch.softmax(torch.empty(2, 0), 1).shape == (2, 0)
    with pytest.raises(IndexError):
        torch.softmax(torch.ones(2), 1)
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.softmax(torch.tensor([1, 2]), 0)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        F.softmax(torch.ones(2, 2))


def test_the_dim_of_softmax():
    x = torch.ones(2, 2)
    for call in (torch.softmax, torch.log_softmax, torch.special.softmax):
        with pytest.raises(TypeError, match="dim"):
            call(x)
        assert torch.equal(call(x, axis=0), call(x, 0)) and call(x, 0, torch.float64).dtype is torch.float64
    for call in (F.softmax, F.log_softmax, F.softmin, lambda t: F.softmax(t, _stacklevel=4)):
        with pytest.warns(UserWarning, match="Implicit dimension choice") as seen:
            found = call(x)
        assert seen[0].filename == __file__ and torch.equal(found.exp() if found[0, 0] < 0 else found, x / 2)
    with pytest.raises(TypeError, match="must be Tensor"):
        F.softmax([1.0])


def test_gradients_at_nan():
    x = torch.tensor([math.nan, 2.0], requires_grad=True)
    for function, slope in ((F.leaky_relu, [0.01, 1]), (F.hardtanh, [0, 0]), (F.relu6, [0, 1]), (F.hardshrink, [0, 1])):
        (grad,) = torch.autograd.grad(function(x).sum(), x)
        assert grad.tolist() == pytest.approx(slope)
    assert F.elu(x)[0].isnan() and F.leaky_relu(torch.tensor([-math.inf, math.inf]), 0.5).tolist() == [-math.inf, math.inf]


def test_second_derivatives():
    x = torch.from_numpy(X).requires_grad_()
    for function in (torch.sigmoid, torch.tanh, F.gelu, F.silu, F.softplus, F.logsigmoid, lambda t: t.softmax(0), lambda t: t.log_softmax(0)):
        assert torch.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("name", ["elu", "gelu", "softplus", "hardswish", "leaky_relu", "logsigmoid", "mish"])
def test_kinds_that_are_refused(name):
    for kind in (torch.int64, torch.complex64):
        with pytest.raises(RuntimeError, match="not implemented for"):
            getattr(F, name)(torch.ones(2, dtype=kind))


def test_arguments_that_are_refused():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="none or tanh"):
        F.gelu(x, approximate="fast")
    with pytest.raises(RuntimeError, match="greater or equal to 0"):
        F.softshrink(x, -1)
    with pytest.raises(RuntimeError, match="alpha cannot be 0"):
        F.celu(x, 0)
    with pytest.raises(RuntimeError, match="unsigned"):
        F.hardtanh(torch.ones(2, dtype=torch.uint8))
    with pytest.raises(TypeError, match="must be Tensor"):
        F.relu(1.0)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_of_many_elements_along_every_dimension(name, dim):
    x = torch.linspace(-4, 4, 30 * 40 * 50).sin().mul(5).reshape(30, 40, 50).requires_grad_()
    g = torch.linspace(-1, 1, 30 * 40 * 50).reshape(30, 40, 50)
    y = getattr(torch, name)(x, dim)
    y.backward(g)
    wide = x.detach().double().numpy()
    e = np.exp(wide - wide.max(dim, keepdims=True))
    p = e / e.sum(dim, keepdims=True)
    grad = g.double().numpy()
    want = p * (grad - (grad * p).sum(dim, keepdims=True)) if name == "softmax" else grad - p * grad.sum(dim, keepdims=True)
    np.testing.assert_allclose(y.detach().numpy(), p if name == "softmax" else np.log(p), rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(2, 3, 4), (40, 30, 20)])
def test_softmax_is_row_major(name, shape):
    x = torch.rand(*shape)
    for given in (x, x.permute(2, 0, 1), x.transpose(1, 2)):
        for dim in range(3):
            followed = given.detach().requires_grad_()
            result = getattr(torch, name)(followed, dim)
            assert result.is_contiguous()
            assert torch.autograd.grad(result.square().sum(), followed)[0].is_contiguous()
            assert result.view(-1).shape == (x.numel(),)
            moved = getattr(torch, name)(given.movedim(dim, -1).contiguous(), -1).movedim(-1, dim)
            np.testing.assert_allclose(result.detach().numpy(), moved.numpy(), rtol=1e-5)
