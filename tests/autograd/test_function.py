"""autograd.Function: ops with derivatives of the user's own."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import saraph as torch
from saraph.autograd import Function
from saraph.autograd.function import once_differentiable


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * g


class Exponential(Function):
    """Saves its result; context filled apart from forward."""

    @staticmethod
    def forward(x, scale=1.0):
        return torch.exp(x * scale)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.scale = inputs[1] if len(inputs) > 1 else 1.0

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * ctx.scale, None


def test_forward_and_backward():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x)
    assert y.tolist() == [1, 8] and y.grad_fn.name() == "CubeBackward" and type(y.grad_fn).__name__ == "CubeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [3, 12]


def test_higher_derivatives():
    x = leaf(2.0)
    (g,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
    (g,) = torch.autograd.grad(g, x, create_graph=True)
    (g,) = torch.autograd.grad(g, x)
    assert g.item() == 6
    assert torch.autograd.gradcheck(Cube.apply, x) and torch.autograd.gradgradcheck(Cube.apply, x)


def test_saving_results_and_other_arguments():
    x = leaf(0.5, 1.0)
    y = Exponential.apply(x, 2.0)
    y.sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * np.exp([1, 2]))
    assert torch.autograd.gradgradcheck(lambda t: Exponential.apply(t, 2.0), x)
    (g,) = torch.autograd.grad(Exponential.apply(x, 0.5).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert np.allclose(h.detach().numpy(), 0.25 * np.exp([0.25, 0.5]))


def test_nothing_is_recorded_without_need():
    assert Cube.apply(torch.ones(2)).grad_fn is None
    with torch.no_grad():
        assert not Cube.apply(leaf(1.0)).requires_grad
    seen = []

    class Look(Function):
        @staticmethod
        def forward(ctx, x, n, y):
            seen.append((torch.is_grad_enabled(), ctx.needs_input_grad))
            return x * n + y

        @staticmethod
        def backward(ctx, g):
            seen.append((torch.is_grad_enabled(), ctx.needs_input_grad))
            return g, None, None

    x = leaf(1.0)
    Look.apply(x, 3, torch.ones(1, dtype=torch.float64)).sum().backward()
    assert seen == [(False, (True, False, False)), (False, (True, False, False))]


def test_several_inputs_and_results():
    class Both(Function):
        @staticmethod
        def forward(ctx, x, y, flag=True):
            ctx.save_for_backward(x, y)
            return x * y, x + y, "text"

        @staticmethod
        def backward(ctx, g_product, g_sum, g_text):
            x, y = ctx.saved_tensors
            assert g_text is None
            return g_product * y + g_sum, g_product * x + g_sum, None

    x, y = leaf(2.0), leaf(3.0)
    product, total, text = Both.apply(x, y)
    assert text == "text"
    (product * 10 + total).sum().backward()
    assert x.grad.item() == 31 and y.grad.item() == 21
    x.grad = None
    Both.apply(x, y)[1].sum().backward()
    assert x.grad.item() == 1


def test_gradients_that_did_not_arrive():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a if a is None else a.tolist(), b if b is None else b.tolist()))
            return a if b is None else b, None

    x = leaf(1.0)
    Two.apply(x, True)[1].sum().backward()
    Two.apply(x, False)[0].sum().backward()
    assert seen == [([0], [1]), ([1], None)]


def test_results_without_gradient():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x.sort()
            doubled = x * 2
            ctx.mark_non_differentiable(index, doubled)
            ctx.save_for_backward(index)
            return values, index, doubled

        @staticmethod
        def backward(ctx, g, g_index, g_doubled):
            (index,) = ctx.saved_tensors
            assert g_doubled.tolist() == [0, 0, 0]
            return torch.zeros_like(g).index_add(0, index, g)

    x = leaf(3.0, 1.0, 2.0)
    values, index, doubled = Sorted.apply(x)
    assert not index.requires_grad and not doubled.requires_grad and values.requires_grad
    (values * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)).sum().backward()
    assert x.grad.tolist() == [3, 1, 2]


class Doubled(Function):
    """Writes over its input."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_writing_over_an_input():
    w = leaf(1.0, 2.0)
    x = w * 1
    y = Doubled.apply(x)
    assert y is x and x.tolist() == [2, 4] and x.grad_fn.name() == "DoubledBackward" and x._version == 2
    (x * x).sum().backward()
    assert w.grad.tolist() == [8, 16]
    with pytest.raises(RuntimeError, match="leaf"):
        Doubled.apply(leaf(1.0))


def test_writing_over_a_view():
    w = leaf(1.0, 2.0)
    x = w * 1
    Doubled.apply(x[:1])
    assert x.tolist() == [2, 2]
    (x * x).sum().backward()
    assert w.grad.tolist() == [8, 4]


def test_an_input_given_back():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    w = leaf(1.0)
    x = w * 1
    y = Same.apply(x)
    assert y is not x and y.grad_fn.name() == "SameBackward" and x.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert w.grad.item() == 5


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return torch.from_numpy(g.numpy() * 2 * x.detach().numpy())

    x = leaf(3.0)
    Once.apply(x).sum().backward()
    assert x.grad.item() == 6
    (g,) = torch.autograd.grad((Once.apply(x) * leaf(2.0)).sum(), x, create_graph=True)
    assert g.item() == 12
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_saved_tensors_are_checked():
    x = leaf(1.0)
    y = x * 1
    z = Cube.apply(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    z = Cube.apply(x)
    z.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.sum().backward()


def test_what_backward_must_return():
    class Wrong(Function):
        answer = None

        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return Wrong.answer

    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    for Wrong.answer, error, text in ((torch.ones(2), RuntimeError, "incorrect number of gradients"),
                                      ((torch.ones(3, dtype=torch.float64), None), RuntimeError, "invalid gradient at index 0"),
                                      ((None, torch.ones((), dtype=torch.float64)), RuntimeError, "invalid gradient at index 1"),
                                      ((1, 2), RuntimeError, "expected Variable or None")):
        with pytest.raises(error, match=text):
            Wrong.apply(x, y).sum().backward()
    Wrong.answer = (torch.ones(2, dtype=torch.float64), None, None, None)
    Wrong.apply(x, y).sum().backward()
    assert x.grad.tolist() == [1, 1] and y.grad is None
    Wrong.answer = (None, torch.ones(3, 2, dtype=torch.float64))
    Wrong.apply(x, y).sum().backward()
    assert y.grad.tolist() == [3, 3]


def test_what_must_be_defined():
    class Nothing(Function):
        pass

    class OnlyForward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError):
        Nothing.apply(leaf(1.0))
    y = OnlyForward.apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="backward"):
        y.sum().backward()


def test_numpy_inside():
    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x.detach().numpy()
            return torch.from_numpy(np.sin(ctx.x))

        @staticmethod
        def backward(ctx, g):
            return g * torch.from_numpy(np.cos(ctx.x))

    assert torch.autograd.gradcheck(Sine.apply, leaf(0.3, -1.0, 2.0))


def test_a_function_within_a_function():
    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = Cube.apply(ctx.x)
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            (found,) = torch.autograd.grad(ctx.y, ctx.x, g)
            return found

    x = leaf(2.0)
    Outer.apply(x).sum().backward()
    assert x.grad.item() == 12


def test_nothing_is_kept_alive():
    x = leaf(1.0)
    y = Exponential.apply(x)
    ref = weakref.ref(y)
    del y
    assert ref() is None  # at once: there is no cycle
    gc.collect()


def test_integers_and_lists_as_arguments():
    class Weighted(Function):
        @staticmethod
        def forward(ctx, tensors, x, index):
            ctx.n = len(tensors)
            return x[index] * ctx.n

        @staticmethod
        def backward(ctx, g):
            return None, g.new_tensor([0.0, ctx.n]), None

    x = leaf(1.0, 2.0)
    y = Weighted.apply([leaf(1.0)], x, torch.tensor(1))
    y.backward()
    assert y.item() == 2 and x.grad.tolist() == [0, 1]
