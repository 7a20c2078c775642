"""Running reductions, differences, integrals."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(6)
A = rng.standard_normal((3, 4, 2))
C = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
Z = np.array([[1.0, 0.0, 3.0, 2.0], [0.0, 2.0, 0.0, 1.5]])


def tensor(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cumsum_and_cumprod(dim, check_gradients):
    for kind in (np.float32, np.float64):
        x = tensor(A.astype(kind))
        np.testing.assert_allclose(x.cumsum(dim).numpy(), A.cumsum(dim), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(x.cumprod(dim).numpy(), A.cumprod(dim), rtol=1e-6, atol=1e-6)
    for function in (lambda x: x.cumsum(dim), lambda x: x.cumprod(dim), lambda x: x.logcumsumexp(dim), lambda x: x.cummax(dim).values,
                     lambda x: x.cummin(dim)[0]):
        check_gradients(function, A)


def test_dtypes_and_forms():
    x = torch.tensor([1, 2, 3], dtype=torch.int8)
    assert x.cumsum(0).dtype is torch.int64 and (x > 1).cumsum(0).tolist() == [0, 1, 2]
    assert x.cumsum(0, dtype=torch.float32).tolist() == [1.0, 3.0, 6.0] and x.cumprod(0).tolist() == [1, 2, 6]
    y = torch.tensor([1.0, 2.0])
    assert y.cumsum_(0) is y and y.tolist() == [1.0, 3.0]
    assert torch.tensor(2.0).cumsum(0).item() == 2 and torch.tensor(2.0).cummax(0).indices.item() == 0
    assert torch.zeros(0, 3).cumsum(0).shape == (0, 3)
    half = torch.full((3000,), 1.0, dtype=torch.float16).cumsum(0)
    assert half[-1].item() == 3000  # would stick at 2048 in float16
    with pytest.raises(IndexError):
        y.cumsum(1)


def test_cumprod_with_zeros_has_first_and_second_derivatives(check_gradients):
    def gradient(x):
        x = x if x.requires_grad else x.requires_grad_()
        y = x.cumprod(1)
        return torch.autograd.grad((y * y + y).sum(), x, create_graph=True)[0]

    check_gradients(lambda x: x.cumprod(1), Z)
    check_gradients(lambda x: x.cumprod(0), Z)
    check_gradients(gradient, Z)
    check_gradients(gradient, A[0])
    check_gradients(lambda x: x.cumprod(0), Z[0])


def test_complex(check_gradients):
    for function in (lambda x: x.cumsum(1), lambda x: x.cumprod(0), lambda x: x.logcumsumexp(1), lambda x: (x * x.new_tensor([0, 1, 1])).cumprod(1)):
        check_gradients(function, C)
    np.testing.assert_allclose(np.exp(tensor(C).logcumsumexp(1).numpy()), np.exp(C).cumsum(1))


def test_running_extremes():
    values, indices = torch.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0)
    assert values.tolist() == [1, 3, 3, 3] and indices.tolist() == [0, 1, 2, 2]
    values, indices = torch.tensor([1.0, 1.0, np.nan, 2.0, np.nan]).cummax(0)
    assert np.isnan(values.numpy()).tolist() == [False, False, True, True, True] and indices.tolist() == [0, 1, 2, 2, 4]
    assert torch.tensor([True, False]).cummin(0).values.tolist() == [True, False]


def test_logcumsumexp_does_not_overflow():
    x = torch.tensor([1000.0, 1000.0, -np.inf], dtype=torch.float64)
    np.testing.assert_allclose(x.logcumsumexp(0).numpy(), [1000, 1000 + np.log(2), 1000 + np.log(2)])
    assert torch.tensor([-np.inf, -np.inf]).logcumsumexp(0).tolist() == [-np.inf, -np.inf]


def test_diff(check_gradients):
    x = tensor(A)
    for n in (1, 2, 5):
        np.testing.assert_allclose(x.diff(n, 1).numpy(), np.diff(A, n, 1) if n < 5 else np.zeros((3, 0, 2)))
    np.testing.assert_allclose(x.diff(dim=0, prepend=x[:1], append=x).numpy(), np.diff(A, axis=0, prepend=A[:1], append=A))
    assert torch.tensor([True, False, False]).diff().tolist() == [True, False]
    check_gradients(lambda a: a.diff(2, 1), A)
    with pytest.raises(RuntimeError, match="at least one-dimensional"):
        torch.tensor(1.0).diff()
    with pytest.raises(RuntimeError, match="same dimension"):
        x.diff(prepend=torch.tensor(1.0))


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_is_numpys(order, check_gradients):
    x = tensor(A)
    wide = np.arange(4.0) ** 2 + 1
    for spacing, dims, reference in ((1, (1,), ()), ((2.0, 0.5), (0, 1), (2.0, 0.5)), ([tensor(wide)], (1,), (wide,))):
        got = torch.gradient(x, spacing=spacing, dim=dims, edge_order=order)
        expected = np.gradient(A, *reference, axis=dims, edge_order=order)
        for g, e in zip(got, expected if len(dims) > 1 else [expected]):
            np.testing.assert_allclose(g.numpy(), e)
    check_gradients(lambda a: torch.gradient(a, spacing=[tensor(wide)], dim=1, edge_order=order), A)
    with pytest.raises(RuntimeError, match="edge_order"):
        torch.gradient(x, edge_order=3)


def test_integrals(check_gradients):
    points = np.array([0.0, 1.0, 3.0, 4.5])
    x = tensor(A)
    np.testing.assert_allclose(torch.trapezoid(x, tensor(points), dim=1).numpy(), np.trapezoid(A, points, axis=1))
    np.testing.assert_allclose(torch.trapz(x, dx=0.5, dim=0).numpy(), np.trapezoid(A, dx=0.5, axis=0))
    running = torch.cumulative_trapezoid(x, dim=1).numpy()
    np.testing.assert_allclose(running[:, -1], np.trapezoid(A, axis=1))
    check_gradients(lambda a, p: torch.trapezoid(a, p, dim=1), A, points)
    assert torch.trapezoid(torch.zeros(2, 0)).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="one `x` value"):
        torch.trapezoid(x, tensor(points[:3]), dim=1)


@pytest.mark.parametrize("weights", [[1.0, -2.0, 3.0], [1.0, 0.0, 2.0], [0.0, -1.0, 0.0]])
def test_second_derivatives_of_logcumsumexp(weights):
    x = torch.tensor([[0.3, -1.2, 2.45], [1.0, 700.0, -700.0]], dtype=torch.float64, requires_grad=True)
    weighted = torch.tensor(weights, dtype=torch.float64)
    assert torch.autograd.gradgradcheck(lambda x: torch.logcumsumexp(x, 1) * weighted, (x,))
    (plain,) = torch.autograd.grad((torch.logcumsumexp(x, 1) * weighted).sum(), x)
    (followed,) = torch.autograd.grad((torch.logcumsumexp(x, 1) * weighted).sum(), x, create_graph=True)
    np.testing.assert_allclose(followed.detach().numpy(), plain.numpy(), rtol=1e-12, atol=1e-14)


def test_second_derivatives_of_complex_logcumsumexp():
    z = torch.tensor([0.3 + 0.4j, -0.5 + 1j, 1.2 - 0.7j], requires_grad=True, dtype=torch.complex128)
    assert torch.autograd.gradgradcheck(lambda z: torch.logcumsumexp(z, 0), (z,))


def test_cumprod_of_one_complex_row():
    z = torch.tensor([0.3 + 0.4j, 0.0, 1.2 - 0.7j], requires_grad=True, dtype=torch.complex128)
    assert torch.autograd.gradcheck(lambda z: torch.cumprod(z, 0), (z,))
