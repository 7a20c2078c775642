"""gradcheck and gradgradcheck: they accept right derivatives and refuse wrong ones."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.autograd import Function, gradcheck, gradgradcheck
from saraph.autograd.gradcheck import GradcheckError


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Off(Function):
    """x^2, whose derivative is off by a factor."""

    factor = 1.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g * Off.factor


class OffTwice(Function):
    """x^2 with the right first derivative, but a second one that is missing."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x.detach() * g


def test_right_derivatives():
    x, y = leaf(0.5, -1.0, 2.0), leaf(1.5, 1.0, 0.5)
    assert gradcheck(lambda a, b: (a.sin() * b, (a / b).sum()), (x, y))
    assert gradgradcheck(lambda a, b: (a.sin() * b, (a / b).sum()), (x, y))
    assert gradcheck(torch.mm, (torch.rand(2, 3, dtype=torch.float64, requires_grad=True), torch.rand(3, 2, dtype=torch.float64)))
    assert gradcheck(lambda a: a[0], ([x][0],)) and gradcheck(lambda a, n: a ** n, (y, 3))


@pytest.mark.parametrize("factor", [0.0, 0.5, -1.0, 1.01, float("nan")])
def test_wrong_derivatives(factor):
    Off.factor = factor
    x = leaf(0.5, -1.0)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Off.apply, x)
    assert gradcheck(Off.apply, x, raise_exception=False) is False
    Off.factor = 1.0
    assert gradcheck(Off.apply, x)


def test_tolerances():
    Off.factor = 1.01
    assert gradcheck(Off.apply, leaf(1.0), rtol=0.1)
    Off.factor = 1.0


def test_wrong_second_derivatives():
    x = leaf(0.5, -1.0)
    assert gradcheck(OffTwice.apply, x)
    with pytest.raises(GradcheckError):
        gradgradcheck(OffTwice.apply, x)
    assert not gradgradcheck(OffTwice.apply, x, raise_exception=False)


def test_complex_numbers():
    z, w = leaf(1 + 2j, -0.5j, dtype=torch.complex128), leaf(0.5 - 1j, 2.0, dtype=torch.complex128)
    assert gradcheck(lambda a, b: a * b.conj(), (z, w)) and gradcheck(torch.abs, z) and gradcheck(torch.real, z)
    assert gradgradcheck(lambda a, b: a * b, (z, w)) and gradcheck(lambda a: a.exp().imag, z)

    class WrongConj(Function):
        @staticmethod
        def forward(ctx, x):
            return x.conj().clone()

        @staticmethod
        def backward(ctx, g):
            return g

    assert not gradcheck(WrongConj.apply, z, raise_exception=False)


def test_what_is_missing():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(torch.sin, torch.ones(2, dtype=torch.float64))
    assert not gradcheck(lambda x: x.detach() * 2, leaf(1.0), raise_exception=False)
    assert gradcheck(lambda x: (x * 2, torch.ones(2)), leaf(1.0))


def test_backward_that_differs_each_time():
    class Noisy(Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            Noisy.calls += 1
            return g * (2 + 1e-9 * Noisy.calls)

    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(Noisy.apply, leaf(1.0))
    assert gradcheck(Noisy.apply, leaf(1.0), nondet_tol=1e-3)
