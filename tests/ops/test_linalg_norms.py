"""linalg.norm and linalg.matrix_norm against numpy.linalg."""
import numpy as np
import pytest

import saraph as torch

L = torch.linalg
rng = np.random.default_rng(13)
X = rng.standard_normal((2, 3, 4))
INF = float("inf")
ORDERS = ["fro", "nuc", 2, -2, 1, -1, INF, -INF]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dim", [(-2, -1), (0, 2), (2, 0)])
def test_matrix_norm(order, dim, check_gradients):
    for x in (X, X + 1j * X[::-1]):
        for keepdim in (False, True):
            expected = np.linalg.norm(x, order, dim, keepdims=keepdim)
            found = L.matrix_norm(torch.from_numpy(x), order, dim, keepdim)
            assert not found.is_complex()
            np.testing.assert_allclose(found.numpy(), expected)
            np.testing.assert_allclose(L.norm(torch.from_numpy(x), order, dim, keepdim).numpy(), expected)
        check_gradients(lambda t: L.matrix_norm(t, order, dim), x, tolerance=1e-5)


@pytest.mark.parametrize("order", [2, 1, 0, INF, -INF, 3.5, -1])
def test_vector_cases(order):
    x = torch.from_numpy(X)
    np.testing.assert_allclose(L.norm(x[0, 0], order).item(), np.linalg.norm(X[0, 0], order))
    np.testing.assert_allclose(L.norm(x, order, 1).numpy(), np.linalg.norm(X, order, 1))


def test_without_order_everything_is_one_vector():
    np.testing.assert_allclose(L.norm(torch.from_numpy(X)).item(), np.sqrt((X**2).sum()))
    np.testing.assert_allclose(L.norm(torch.from_numpy(X), dim=(0, 1)).numpy(), np.sqrt((X**2).sum((0, 1))))


def test_empty_and_dtype():
    for order in ("fro", "nuc", 2, 1, INF):
        assert L.matrix_norm(torch.zeros(3, 0, 2), order).tolist() == [0.0, 0.0, 0.0]
    assert L.matrix_norm(torch.ones(2, 2), dtype=torch.float64).dtype is torch.float64


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: L.matrix_norm(x, "x"), "Order x not supported"),
    (lambda x: L.matrix_norm(x, 3), "Order 3 not supported"),
    (lambda x: L.matrix_norm(x, dim=(0, 0)), "dims must be different"),
    (lambda x: L.matrix_norm(x, dim=(0,)), "dim must be a 2-tuple"),
    (lambda x: L.matrix_norm(x[0]), "at least 2 dimensions"),
    (lambda x: L.norm(x.unsqueeze(0), 2), "the input must be 1D or 2D. Got 3D"),
    (lambda x: L.norm(x, 2, dim=(0, 1, 2)), "it must be of length 1 or 2"),
    (lambda x: L.matrix_norm(x.double(), dtype=torch.float32), "without narrowing"),
])
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones(2, 2))
