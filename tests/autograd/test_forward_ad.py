"""Dual tensors: tangents against derivatives worked out by hand."""
import pytest

import saraph as torch
from saraph.autograd import forward_ad as fw

X = torch.arange(6.0).reshape(2, 3) + 1


def push(function, x=X, tangent=None):
    with fw.dual_level():
        return fw.unpack_dual(function(fw.make_dual(x.clone(), torch.full_like(x, 2.0) if tangent is None else tangent)))


def in_place(d):
    y = d * 1
    y.mul_(3)
    y[0] = 5.0
    return y


def through_a_view(d):
    y = d * 1
    y[0].mul_(2)
    return y


def without_grad(d):
    with torch.no_grad():
        return d * 3


@pytest.mark.parametrize(("function", "tangent"), [
    (lambda d: d * d, X * 4), (lambda d: d.sin(), X.cos() * 2), (without_grad, X * 0 + 6),
    (lambda d: d.mul_(3), X * 0 + 6), (in_place, torch.tensor([[0.0] * 3, [6.0] * 3])), (through_a_view, torch.tensor([[4.0] * 3, [2.0] * 3])),
    (lambda d: torch.zeros(2, 3).copy_(d), X * 0 + 2), (lambda d: (d.T @ X).T, (X.T @ torch.full((2, 3), 2.0))),
    (lambda d: torch.cat([d, X]), torch.cat([X * 0 + 2, X * 0])), (lambda d: d.max(1)[0], torch.full((2,), 2.0))])
def test_tangents(function, tangent):
    found = push(function)
    torch.testing.assert_close(found.tangent, tangent)
    assert not found.primal.requires_grad


def test_what_does_not_depend_has_no_tangent():
    assert push(lambda d: torch.ones(2)).tangent is None
    assert push(lambda d: d.argmax()).tangent is None
    assert push(lambda d: d.detach() * 3).tangent is None
    with fw.dual_level():
        dual = fw.make_dual(X, X)
    assert fw.unpack_dual(dual).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(dual).tangent is None


def test_gradients_of_tangents():
    w = torch.ones(3, requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual((fw.make_dual(w, torch.full((3,), 2.0)) ** 3).sum()).tangent
        tangent.backward()
    assert w.grad.tolist() == [12.0] * 3


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def jvp(ctx, t):
        return t * 100 + ctx.saved_tensors[0] * 0


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g


def test_custom_functions_say_their_tangent():
    assert push(Cube.apply).tangent.tolist() == [[200.0] * 3] * 2
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        push(Plain.apply)
    assert fw.thread.dual is None


def test_modules_with_dual_parameters():
    layer = torch.nn.Linear(3, 1)
    with fw.dual_level():
        for name, p in list(layer.named_parameters()):
            delattr(layer, name)
            setattr(layer, name, fw.make_dual(p, torch.ones_like(p)))
        assert fw.unpack_dual(layer(X)).tangent.tolist() == [[7.0], [16.0]]


def test_errors():
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(X, X)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="different size"):
            fw.make_dual(X, X[0])
        with pytest.raises(ValueError, match="Expected primal to be floating point"):
            fw.make_dual(torch.arange(3), torch.ones(3))
        with pytest.raises(ValueError, match="Expected tangent to be floating point"):
            fw.make_dual(torch.ones(3), torch.arange(3))
        with pytest.raises(TypeError, match="must be Tensor"):
            fw.unpack_dual(3)
