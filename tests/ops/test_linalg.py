"""Pseudo-inverses, rank, condition, least squares, the exponential, tensor equations, low rank."""
import numpy as np
import pytest
import scipy.linalg

import saraph as torch

L = torch.linalg
rng = np.random.default_rng(10)


def matrix(*shape, complex_=False):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)


def t(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 3), (2, 0, 0)])
@pytest.mark.parametrize("complex_", [False, True])
def test_pinv(shape, complex_, check_gradients):
    a = matrix(*shape, complex_=complex_)
    np.testing.assert_allclose(L.pinv(t(a)).numpy(), np.linalg.pinv(a), atol=1e-10)
    check_gradients(L.pinv, a, tolerance=1e-5)


def test_pinv_of_low_rank_and_hermitian():
    low = matrix(4, 2) @ matrix(2, 4)
    np.testing.assert_allclose(L.pinv(t(low), rtol=1e-10).numpy(), np.linalg.pinv(low, 1e-10), atol=1e-8)
    symmetric = low + low.T
    np.testing.assert_allclose(L.pinv(t(symmetric), hermitian=True, rtol=1e-10).numpy(), np.linalg.pinv(symmetric, 1e-10), atol=1e-8)
    assert L.pinv(torch.diag(torch.tensor([2.0, 0.5])), atol=1.0).tolist() == [[0.5, 0.0], [0.0, 0.0]]


def test_rank():
    low = matrix(5, 4, 2) @ matrix(5, 2, 3)
    assert L.matrix_rank(t(low)).tolist() == [2] * 5
    assert L.matrix_rank(torch.eye(3), hermitian=True).item() == 3 and L.matrix_rank(torch.zeros(3, 3)).item() == 0
    assert L.matrix_rank(torch.diag(torch.tensor([3.0, 2.0, 1.0])), atol=1.5).item() == 2
    assert L.matrix_rank(torch.diag(torch.tensor([3.0, 2.0, 1.0])), tol=2.5).item() == 1
    assert L.matrix_rank(torch.zeros(2, 0, 3)).tolist() == [0, 0]


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_cond(p):
    a = matrix(3, 3)
    np.testing.assert_allclose(L.cond(t(a), p).item(), np.linalg.cond(a, p))
    assert L.cond(torch.ones(2, 2), 1).item() == np.inf


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("complex_", [False, True])
def test_lstsq(driver, complex_, check_gradients):
    for m, n in ((5, 3), (3, 3), (3, 5)):
        a, b = matrix(2, m, n, complex_=complex_), matrix(2, m, 2, complex_=complex_)
        found = L.lstsq(t(a), t(b), driver=driver)
        np.testing.assert_allclose(found.solution.numpy(), np.linalg.pinv(a) @ b, atol=1e-10)
        if driver in ("gelsd", "gelss"):
            np.testing.assert_allclose(found.singular_values.numpy(), np.linalg.svd(a, compute_uv=False))
        if driver != "gels":
            assert found.rank.tolist() == [min(m, n)] * 2
        if m > n and driver in ("gels", "gelsd", "gelss"):
            expected = (np.abs(a @ found.solution.numpy() - b) ** 2).sum(-2)
            np.testing.assert_allclose(found.residuals.numpy(), expected)
        else:
            assert found.residuals.shape == (0,)
        check_gradients(lambda x, y: [r for r in L.lstsq(x, y, driver=driver)[:2] if r.numel()], a, b, tolerance=1e-4)


def test_lstsq_vector_and_errors():
    a, b = matrix(2, 4, 3), matrix(2, 4)
    np.testing.assert_allclose(L.lstsq(t(a), t(b)).solution.numpy(), (np.linalg.pinv(a) @ b[..., None])[..., 0])
    with pytest.raises(RuntimeError, match=r"input.size\(-2\) should match other.size\(-2\)"):
        L.lstsq(torch.ones(2, 2), torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="should be one of"):
        L.lstsq(torch.ones(2, 2), torch.ones(2, 2), driver="x")


@pytest.mark.parametrize("complex_", [False, True])
def test_matrix_exp(complex_, check_gradients):
    a = matrix(2, 3, 3, complex_=complex_)
    np.testing.assert_allclose(torch.matrix_exp(t(a)).numpy(), scipy.linalg.expm(a), rtol=1e-10)
    check_gradients(L.matrix_exp, a[0], tolerance=1e-5)
    assert torch.matrix_exp(torch.zeros(2, 0, 0)).shape == (2, 0, 0)
    assert torch.matrix_exp(torch.zeros(2, 2, dtype=torch.bfloat16)).dtype is torch.bfloat16


def test_tensor_equations(check_gradients):
    a = matrix(2, 3, 6)
    np.testing.assert_allclose(L.tensorinv(t(a), 2).numpy(), np.linalg.tensorinv(a, 2), rtol=1e-8)
    b = matrix(2, 3)
    np.testing.assert_allclose(L.tensorsolve(t(a), t(b)).numpy(), np.linalg.tensorsolve(a, b), rtol=1e-8)
    moved = a.transpose(2, 0, 1).copy()
    np.testing.assert_allclose(L.tensorsolve(t(moved), t(b), dims=(0,)).numpy(), np.linalg.tensorsolve(moved, b, (0,)), rtol=1e-8)
    with pytest.raises(RuntimeError, match="requirement prod"):
        L.tensorinv(torch.ones(2, 3, 4))


def test_vander():
    assert L.vander(torch.tensor([1, 2, 3])).tolist() == [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    assert L.vander(torch.tensor([[2.0]]), N=4).tolist() == [[[1, 2, 4, 8]]]


def test_low_rank():
    a = matrix(8, 2) @ matrix(2, 6)
    u, s, v = torch.svd_lowrank(t(a), q=3)
    np.testing.assert_allclose((u @ s.diag() @ v.mH).numpy(), a, atol=1e-8)
    u, s, v = torch.pca_lowrank(t(a), q=2)
    np.testing.assert_allclose((u @ s.diag() @ v.mH).numpy(), a - a.mean(0), atol=1e-8)
    with pytest.raises(ValueError, match="must be non-negative integer and not greater than"):
        torch.pca_lowrank(t(a), q=7)


def test_diagonal_and_matmul_live_here_too():
    a = matrix(2, 3, 3)
    assert L.diagonal(t(a)).shape == (2, 3) and L.matmul is torch.matmul
