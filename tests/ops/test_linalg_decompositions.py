"""QR, SVD, eigenvalues, Householder products: values, gradients of what is unique, errors."""
import numpy as np
import pytest

import saraph as torch

L = torch.linalg
rng = np.random.default_rng(9)


def matrix(*shape, complex_=False):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)


def t(a):
    return torch.from_numpy(np.array(a))


def close(ours, expected):
    np.testing.assert_allclose(ours.numpy(), expected, atol=1e-10)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 4, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("complex_", [False, True])
def test_qr(shape, complex_, check_gradients):
    a = matrix(*shape, complex_=complex_)
    for mode in ("reduced", "complete"):
        q, r = L.qr(t(a), mode)
        close(q @ r, a)
        close(q.mH @ q, np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2))
    assert L.qr(t(a), "r").Q.shape == (0,) and L.qr(t(a), "r").R.shape == L.qr(t(a)).R.shape
    check_gradients(L.qr, a, tolerance=1e-5)


def test_qr_refuses_what_has_no_derivative():
    a = torch.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        L.qr(a, "complete")[0].sum().backward()
    with pytest.raises(RuntimeError, match="mode='r'"):
        L.qr(a, "r")[1].sum().backward()
    with pytest.raises(RuntimeError, match="unrecognized mode 'x'"):
        L.qr(a, "x")


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("complex_", [False, True])
def test_svd(shape, complex_, check_gradients):
    a = matrix(*shape, complex_=complex_)
    for full in (True, False):
        u, s, vh = L.svd(t(a), full_matrices=full)
        k = s.shape[-1]
        close((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], a)
    close(L.svdvals(t(a)), np.linalg.svd(a, compute_uv=False))
    assert not s.is_complex()
    check_gradients(L.svdvals, a, tolerance=1e-5)

    def unique(x):  # what does not depend on the phases of singular vectors
        u, s, vh = L.svd(x, full_matrices=False)
        weights = torch.arange(1.0, s.shape[-1] + 1, dtype=torch.float64)
        return s, (u * (s * weights).unsqueeze(-2)) @ vh

    check_gradients(unique, a, tolerance=1e-4)


def test_svd_of_the_torch_namespace():
    a = matrix(3, 2)
    u, s, v = torch.svd(t(a))
    close(u @ s.diag() @ v.mH, a)
    zeros = torch.svd(t(a), compute_uv=False)
    assert not zeros.U.any() and zeros.U.shape == (3, 3) and zeros.V.shape == (2, 2)


def test_svd_of_nan():
    with pytest.raises(L.LinAlgError, match="non-finite values"):
        L.svd(torch.full((2, 2), float("nan")))


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(complex_, triangle, check_gradients):
    a = matrix(2, 3, 3, complex_=complex_)
    full = np.tril(a) + np.tril(a, -1).conj().swapaxes(-1, -2) if triangle == "L" else np.triu(a) + np.triu(a, 1).conj().swapaxes(-1, -2)
    full = full - 1j * np.eye(3) * full.imag if complex_ else full
    values, vectors = L.eigh(t(a), triangle)
    close((vectors * values.unsqueeze(-2)) @ vectors.mH, full)
    close(L.eigvalsh(t(a), triangle), np.linalg.eigvalsh(full))

    def unique(x):
        values, vectors = L.eigh((x + x.mH) / 2)
        return values, (vectors * values.exp().unsqueeze(-2)) @ vectors.mH

    check_gradients(unique, a[0], tolerance=1e-5)
    check_gradients(lambda x: L.eigvalsh((x + x.mH) / 2), a[0], tolerance=1e-5)


@pytest.mark.parametrize("complex_", [False, True])
def test_eig(complex_, check_gradients):
    a = matrix(3, 3, complex_=complex_)
    values, vectors = L.eig(t(a))
    close(vectors @ values.diag() @ L.inv(vectors), a)

    def unique(x):
        values, vectors = L.eig(x)
        return (values**2).sum(), vectors @ (values**2).diag() @ L.inv(vectors)

    check_gradients(unique, a, tolerance=1e-5)
    check_gradients(lambda x: (L.eigvals(x) ** 3).sum(), a, tolerance=1e-5)


def test_eigenvalue_errors():
    with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
        L.eig(torch.full((2, 2), float("nan")))
    with pytest.raises(RuntimeError, match="'L' or 'U', but got X"):
        L.eigh(torch.eye(2), "X")
    a = t(matrix(3, 3, complex_=True)).requires_grad_()
    with pytest.raises(RuntimeError, match="specified up to multiplication by"):
        L.eig(a)[1].sum().abs().backward()


@pytest.mark.parametrize("complex_", [False, True])
def test_householder(complex_, check_gradients):
    a = matrix(2, 4, 3, complex_=complex_)
    packed, tau = torch.geqrf(t(a))
    q = L.householder_product(packed, tau)
    close(q @ packed.narrow(-2, 0, 3).triu(), a)
    whole = L.qr(t(a), "complete")[0]
    other = matrix(2, 4, 2, complex_=complex_)
    close(torch.ormqr(packed, tau, t(other)), (whole @ t(other)).numpy())
    close(torch.ormqr(packed, tau, t(other), transpose=True), (whole.mH @ t(other)).numpy())
    right = other.swapaxes(-1, -2).copy()
    close(torch.ormqr(packed, tau, t(right), left=False), (t(right) @ whole).numpy())
    check_gradients(L.householder_product, packed.numpy(), tau.numpy(), tolerance=1e-5)
    with pytest.raises(RuntimeError, match="must be greater than or equal to tau.shape"):
        L.householder_product(torch.ones(3, 2), torch.ones(3))
