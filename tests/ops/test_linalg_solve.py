"""Solving, inverting and factorising: values against NumPy and SciPy, gradients against differences, errors."""
import numpy as np
import pytest

import saraph as torch

L = torch.linalg
rng = np.random.default_rng(8)
A = rng.standard_normal((2, 3, 3)) + 2 * np.eye(3)
B = rng.standard_normal((2, 3, 2))
Z = A + 1j * rng.standard_normal((2, 3, 3))
S = A @ A.swapaxes(-1, -2) + np.eye(3)  # symmetric, positive-definite
H = Z @ Z.conj().swapaxes(-1, -2) + np.eye(3)


def t(a):
    return torch.from_numpy(np.array(a))


def hermitian(x):
    return (x + x.mH) / 2


@pytest.mark.parametrize("a", [A, Z, A.astype(np.float32), A[0], np.zeros((0, 3, 3)), np.zeros((2, 0, 0))])
def test_inverse_and_determinant(a):
    np.testing.assert_allclose(L.inv(t(a)).numpy(), np.linalg.inv(a), rtol=1e-4)
    np.testing.assert_allclose(torch.det(t(a)).numpy(), np.linalg.det(a), rtol=1e-4)
    sign, value = L.slogdet(t(a))
    np.testing.assert_allclose(sign.numpy() * np.exp(value.numpy()), np.linalg.det(a), rtol=1e-4)
    assert L.inv(t(a)).dtype == t(a).dtype


@pytest.mark.parametrize("a", [A, Z])
@pytest.mark.parametrize("function", [L.inv, torch.det, L.slogdet, lambda x: L.inv_ex(x)[0], lambda x: torch.logdet(x @ x.mH)])
def test_gradients_of_inverse_and_determinant(a, function, check_gradients):
    check_gradients(function, a, tolerance=1e-5)


def test_determinant_of_singular_matrices_has_a_gradient(check_gradients):
    check_gradients(L.det, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), tolerance=1e-5)
    check_gradients(L.det, np.zeros((2, 2)))


def test_logdet_of_a_negative_determinant():
    assert np.isnan(torch.logdet(-torch.eye(3)).item()) and torch.logdet(torch.zeros(2, 2)).item() == -np.inf


@pytest.mark.parametrize("a", [A, Z])
@pytest.mark.parametrize("left", [True, False])
def test_solve(a, left, check_gradients):
    b = B.astype(a.dtype) if left else B.astype(a.dtype).swapaxes(-1, -2)
    x = L.solve(t(a), t(b), left=left).numpy()
    np.testing.assert_allclose(a @ x if left else x @ a, b, atol=1e-12)
    check_gradients(lambda u, v: L.solve(u, v, left=left), a, b, tolerance=1e-5)


def test_solve_broadcasts_and_takes_vectors(check_gradients):
    v = rng.standard_normal((2, 3))
    np.testing.assert_allclose(L.solve(t(A), t(v)).numpy(), np.linalg.solve(A, v[..., None])[..., 0])
    np.testing.assert_allclose(L.solve(t(A[0]), t(v[0])).numpy(), np.linalg.solve(A[0], v[0]))
    check_gradients(lambda a, b: L.solve(a, b), A[0], np.stack([B, B]), tolerance=1e-5)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_solve_triangular(upper, left, unit, check_gradients):
    b = B if left else B.swapaxes(-1, -2)
    for a in (A, Z):
        full = np.triu(a) if upper else np.tril(a)
        if unit:
            full = full - full * np.eye(3) + np.eye(3)
        for given in (t(a), t(a.swapaxes(-1, -2).copy()).mT):
            x = L.solve_triangular(given, t(b.astype(a.dtype)), upper=upper, left=left, unitriangular=unit).numpy()
            np.testing.assert_allclose(full @ x if left else x @ full, b, atol=1e-12)
    check_gradients(lambda u, v: L.solve_triangular(u, v, upper=upper, left=left, unitriangular=unit), Z, b.astype(complex), tolerance=1e-5)


def test_triangular_solve_of_the_torch_namespace():
    solution, copy = torch.triangular_solve(t(B), t(A), transpose=True)
    np.testing.assert_allclose(np.triu(A).swapaxes(-1, -2) @ solution.numpy(), B, atol=1e-12)
    assert (copy.numpy() == A).all()


@pytest.mark.parametrize("a", [S, H])
@pytest.mark.parametrize("upper", [True, False])
def test_cholesky(a, upper, check_gradients):
    factor = L.cholesky(t(a), upper=upper).numpy()
    product = factor.conj().swapaxes(-1, -2) @ factor if upper else factor @ factor.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(product, a)
    check_gradients(lambda x: L.cholesky(hermitian(x), upper=upper), a[0], tolerance=1e-5)
    b = B.astype(a.dtype)
    np.testing.assert_allclose(torch.cholesky_solve(t(b), t(factor), upper).numpy(), np.linalg.solve(a, b))
    np.testing.assert_allclose(torch.cholesky_inverse(t(factor), upper).numpy(), np.linalg.inv(a))


def test_cholesky_reports_failure():
    bad = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    factor, info = L.cholesky_ex(torch.stack([torch.eye(2), bad]))
    assert info.tolist() == [0, 2] and info.dtype is torch.int32 and factor[0].tolist() == [[1, 0], [0, 1]]
    with pytest.raises(L.LinAlgError, match=r"\(Batch element 1\).*leading minor of order 2"):
        L.cholesky(torch.stack([torch.eye(2), bad]))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3), (0, 3), (3, 0), (0, 2, 2)])
@pytest.mark.parametrize("complex_", [False, True])
def test_lu(shape, complex_, check_gradients):
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)
    P, low, up = L.lu(t(a))
    np.testing.assert_allclose((P @ low @ up).numpy(), a, atol=1e-12)
    assert (np.tril(up.numpy(), -1) == 0).all() and (np.triu(low.numpy(), 1) == 0).all()
    check_gradients(lambda x: L.lu(x)[1:], a, tolerance=1e-5)
    lu, pivots = L.lu_factor(t(a)) if a.size else L.lu_factor_ex(t(a))[:2]
    assert pivots.dtype is torch.int32
    assert [x.shape for x in torch.lu_unpack(lu, pivots, unpack_data=False)][1:] == [(0,), (0,)]


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_lu_solve(adjoint, left, check_gradients):
    lu, pivots = L.lu_factor(t(Z))
    b = B.astype(complex) if left else B.astype(complex).swapaxes(-1, -2)
    x = L.lu_solve(lu, pivots, t(b), left=left, adjoint=adjoint).numpy()
    a = Z.conj().swapaxes(-1, -2) if adjoint else Z
    np.testing.assert_allclose(a @ x if left else x @ a, b, atol=1e-12)
    check_gradients(lambda m, v: L.lu_solve(m, pivots, v, left=left, adjoint=adjoint), lu.numpy(), b, tolerance=1e-5)


@pytest.mark.parametrize("hermitian_", [False, True])
def test_ldl(hermitian_):
    a = H if hermitian_ else Z + Z.swapaxes(-1, -2)
    ld, pivots = L.ldl_factor(t(a), hermitian=hermitian_)
    np.testing.assert_allclose(a @ L.ldl_solve(ld, pivots, t(B.astype(complex)), hermitian=hermitian_).numpy(), B, atol=1e-10)


def test_singular_matrices():
    ones = torch.ones(2, 2)
    assert issubclass(L.LinAlgError, RuntimeError)
    with pytest.raises(L.LinAlgError, match="linalg.inv: The diagonal element 2 is zero"):
        L.inv(ones)
    with pytest.raises(L.LinAlgError, match="Batch element 1"):
        torch.inverse(torch.stack([torch.eye(2), ones]))
    with pytest.raises(L.LinAlgError, match="linalg.solve: The solver failed because the input matrix is singular"):
        L.solve(ones, torch.ones(2))
    assert L.inv_ex(ones).info.item() == 2 and L.solve_ex(ones, torch.ones(2)).info.item() == 2
    assert L.lu_factor_ex(ones).info.item() == 2
    with pytest.raises(RuntimeError, match=r"U\[2,2\] is zero"):
        L.lu_factor(ones)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: L.inv(torch.ones(2, 3)), "batches of square matrices, but they are 2 by 3"),
    (lambda: L.inv(torch.ones(2)), "must have at least 2 dimensions"),
    (lambda: L.inv(torch.ones(2, 2, dtype=torch.int64)), "Expected a floating point or complex tensor as input. Got Long"),
    (lambda: L.inv(torch.ones(2, 2, dtype=torch.float16)), "Low precision dtypes not supported. Got Half"),
    (lambda: L.solve(torch.eye(2), torch.ones(3, 2)), r"AX = B \(2x2 and 3x2\)"),
    (lambda: L.solve(torch.eye(2), torch.ones(2).double()), "A of type Float and B of type Double"),
    (lambda: L.lu_factor(torch.eye(2), pivot=False), "without pivoting is not implemented on the CPU"),
    (lambda: torch.lu_unpack(torch.eye(2), torch.ones(2)), "torch.int32 dtype"),
])
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
