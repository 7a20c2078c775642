"""Products, systems, decompositions, Fourier transforms."""
import numpy as np
import scipy.linalg
import scipy.signal
from golden import C, I, J, M, S, V, W, X, Y, case, lower, symmetric

T = np.stack([M, S, M.T @ M + np.eye(3)])  # a batch
L = np.linalg.cholesky(S)
A = np.array([[1.3, 2.0, 0.5], [-1.0, 0.3, 2.0], [0.7, -0.2, 1.5], [0.1, 1.1, -0.6]])  # tall
G = X + 1j * Y
H = M + 1j * (M - M.T)

# -- products
case("matmul", np.matmul, X, M)
case("matmul", np.matmul, T, T[::-1].copy())
case("matmul", np.matmul, V, M)
case("matmul", np.matmul, C, M + 0j)
case("matmul", I @ J.T, I, J.T)
case("mm", np.matmul, X, M)
case("bmm", np.matmul, T, T[::-1].copy())
case("mv", np.matmul, M, V)
case("dot", np.dot(V, W), V, W)
case("vdot", np.vdot(C[0], C[1]), C[0].copy(), C[1].copy())
case("inner", np.inner(X, M), X, M)
case("outer", np.outer(V, W), V, W)
case("kron", np.kron(X, M), X, M)
case("tensordot", np.tensordot(T, T, 1), T, T, 1)
case("tensordot", np.tensordot(T, M, ([2, 1], [0, 1])), T, M, ([2, 1], [0, 1]))
case("einsum", X @ M @ V, "ij,jk,k->i", X, M, V)
case("einsum", np.einsum("bii->b", T), "bii->b", T)
case("linalg.cross", np.cross(V, W), V, W)
case("cross", np.cross(X, Y), X, Y)
case("linalg.vecdot", (X * Y).sum(1), X, Y)
case("chain_matmul", X @ M @ A.T, X, M, A.T)
case("linalg.multi_dot", X @ M @ A.T, [X, M, A.T])
case("matrix_power", np.linalg.matrix_power(M, 3), M, 3)
case("matrix_power", np.linalg.matrix_power(M, -2), M, -2)
case("addmm", 0.5 * X + 2 * (Y @ M), X, Y, M, beta=0.5, alpha=2)
case("_addmm_activation", np.maximum(X + Y @ M, 0), X, Y, M)
case("addmv", 0.5 * V + 2 * (M @ W), V, M, W, beta=0.5, alpha=2)
case("addbmm", 0.5 * M + (T @ T).sum(0), M, T, T, beta=0.5)
case("baddbmm", 0.5 * T + 2 * (T @ T), T, T, T, beta=0.5, alpha=2)
case("addr", 0.5 * M + 2 * np.outer(V, W), M, V, W, beta=0.5, alpha=2)
case("nn.functional.linear", X @ M.T + V, X, M, V)
case("nn.functional.linear", X @ A.T, X, A)
case("nn.functional.bilinear", np.einsum("bi,kij,bj->bk", X, T, Y) + V, X, Y, T, V)
case("nn.functional.grouped_mm", np.concatenate([A[:1] @ M, A[1:] @ S]), A, T[:2].copy(), offs=np.array([1, 4], np.int32))

# -- systems
case("linalg.inv", np.linalg.inv, M)
case("linalg.inv", np.linalg.inv, H)
case("inverse", np.linalg.inv, T)
case("linalg.inv_ex", (np.linalg.inv(M), np.int32(0)), M)
case("linalg.solve", np.linalg.solve(M, A.T), M, A.T)
case("linalg.solve", A @ np.linalg.inv(M), M, A, left=False)
case("linalg.solve_ex", (np.linalg.solve(M, A.T), np.int32(0)), M, A.T)
case("linalg.solve_triangular", scipy.linalg.solve_triangular(M, A.T), M, A.T, upper=True)
case("linalg.solve_triangular", scipy.linalg.solve_triangular(M, A.T, lower=True, unit_diagonal=True), M, A.T, upper=False, unitriangular=True)
case("triangular_solve", (scipy.linalg.solve_triangular(M, A.T), np.triu(M)), A.T, M, _post=lambda r, *_: (r[0], np.triu(r[1])))
case("linalg.cholesky", L, S, _before=symmetric)
case("linalg.cholesky", L.T, S, upper=True, _before=symmetric)
case("linalg.cholesky_ex", (L, np.int32(0)), S, _before=symmetric)
case("cholesky", L, S, _before=symmetric)
case("cholesky_solve", np.linalg.solve(S, A.T), A.T, L, _before=lambda b, factor: (b, factor.tril()))
case("cholesky_inverse", np.linalg.inv(S), L, _before=lower)
case("linalg.det", np.linalg.det(M), M)
case("linalg.det", np.linalg.det(T), T)
case("det", np.linalg.det(M), M)
case("linalg.slogdet", tuple(np.linalg.slogdet(-M)), -M, _through=lambda r: r[1])
case("slogdet", tuple(np.linalg.slogdet(M)), M, _through=lambda r: r[1])
case("logdet", np.log(np.linalg.det(S)), S)
_LU, _PIVOTS = scipy.linalg.lu_factor(A[:3].copy())
case("linalg.lu_factor", (_LU, _PIVOTS.astype(np.int32) + 1), A[:3].copy())
case("linalg.lu_factor_ex", (_LU, _PIVOTS.astype(np.int32) + 1, np.int32(0)), A[:3].copy())
case("lu", (_LU, _PIVOTS.astype(np.int32) + 1), A[:3].copy())
case("linalg.lu", tuple(scipy.linalg.lu(A)), A)
case("lu_unpack", tuple(scipy.linalg.lu(A[:3])), _LU, _PIVOTS.astype(np.int32) + 1)
case("linalg.lu_solve", np.linalg.solve(A[:3], X.T), _LU, _PIVOTS.astype(np.int32) + 1, X.T)
case("lu_solve", np.linalg.solve(A[:3], X.T), X.T, _LU, _PIVOTS.astype(np.int32) + 1)


def ldl(r, *_):
    """The factored matrix of definite input: L D L^T (no rows were exchanged)."""
    lower = np.tril(r[0], -1) + np.eye(3, dtype=r[0].dtype)
    return lower @ np.diag(np.diag(r[0])) @ lower.T, r[1]


_LD = scipy.linalg.ldl(S)
case("linalg.ldl_factor", (S, np.array([1, 2, 3], np.int32)), S, _post=ldl, _grad=False)
case("linalg.ldl_factor_ex", (S, np.array([1, 2, 3], np.int32)), S, _post=ldl, _grad=False)
case("linalg.ldl_solve", np.linalg.solve(S, A.T), _LD[0] - np.eye(3) + _LD[1], np.array([1, 2, 3], np.int32), A.T, _grad=False)
case("linalg.pinv", np.linalg.pinv(A), A)
case("pinverse", np.linalg.pinv(A), A)
case("linalg.lstsq", np.linalg.lstsq(A, A @ M + 1)[0], A, A @ M + 1, _post=lambda r, *_: r[0], _through=lambda r: r[0])
case("linalg.matrix_rank", np.int64(2), np.outer(V, W) + np.outer(W, V), _grad=False)
case("linalg.matrix_rank", np.int64(3), A, _grad=False)
case("linalg.cond", np.linalg.cond(M), M)
case("linalg.cond", np.linalg.cond(M, 1), M, 1)
case("linalg.tensorinv", np.linalg.tensorinv(np.kron(M, S).reshape(3, 3, 9), 2), np.kron(M, S).reshape(3, 3, 9))
case("linalg.tensorsolve", np.linalg.tensorsolve(np.kron(M, S).reshape(3, 3, 9), M), np.kron(M, S).reshape(3, 3, 9), M)
case("matrix_exp", scipy.linalg.expm(M), M)
case("matrix_exp", scipy.linalg.expm(8 * M), 8 * M, _rtol=1e-8)
case("linalg.vander", np.vander(V, increasing=True), V)
case("vander", np.vander(V, 4), V, 4)

# -- decompositions: results are unique up to signs or phases, so what they make up is compared
case("linalg.qr", A, A, _post=lambda r, a: r[0] @ np.triu(r[1]), _through=lambda r: (r[1].abs(), r[0].abs()))
case("linalg.qr", np.eye(4), A, "complete", _post=lambda r, a, mode: r[0].T @ r[0], _grad="of the reduced form")
case("qr", A, A, _post=lambda r, a: r[0] @ np.triu(r[1]), _through=lambda r: r[1].abs())
_GEQRF = scipy.linalg.qr(A, mode="raw")[0]
case("geqrf", tuple(np.ascontiguousarray(a) for a in _GEQRF), A, _grad=False)
case("linalg.householder_product", scipy.linalg.qr(A, mode="economic")[0], np.ascontiguousarray(_GEQRF[0]), _GEQRF[1])
case("orgqr", scipy.linalg.qr(A, mode="economic")[0], np.ascontiguousarray(_GEQRF[0]), _GEQRF[1])
case("ormqr", scipy.linalg.qr(A)[0] @ A, np.ascontiguousarray(_GEQRF[0]), _GEQRF[1], A)
case("ormqr", scipy.linalg.qr(A)[0].T @ A, np.ascontiguousarray(_GEQRF[0]), _GEQRF[1], A, True, True)
case("linalg.svd", A, A, False, _post=lambda r, a, full: (r[0] * r[1]) @ r[2], _through=lambda r: (r[0].abs(), r[1], r[2].abs()))
case("linalg.svd", np.eye(4), A, _post=lambda r, a: r[0].T @ r[0], _grad="of the reduced form")
case("linalg.svdvals", np.linalg.svd(A, compute_uv=False), A)
case("svd", A, A, _post=lambda r, a: (r[0] * r[1]) @ r[2].T, _through=lambda r: r[1])
case("linalg.eigh", (np.linalg.eigvalsh(S), S), S, _post=lambda r, s: (r[0], (r[1] * r[0]) @ r[1].T), _before=symmetric,
     _through=lambda r: (r[0], r[1].abs()))
case("linalg.eigvalsh", np.linalg.eigvalsh(S), S, _before=symmetric)
_R = np.array([[2.0, 0.5, 0.1], [0.3, 1.0, -0.4], [0.2, 0.6, -1.0]])
case("linalg.eig", _R + 0j, _R, _post=lambda r, a: (r[1] * r[0]) @ np.linalg.inv(r[1]), _through=lambda r: r[0])
case("linalg.eigvals", np.sort_complex(np.linalg.eigvals(_R) + 0j), _R, _post=lambda r, a: np.sort_complex(r))
_LOW = np.outer(A[:, 0], V) + np.outer(A[:, 1], W)  # of rank 2: two random directions find all of it
case("svd_lowrank", _LOW, _LOW, 2, _post=lambda r, *_: (r[0] * r[1]) @ r[2].T, _grad="of random directions")
case("pca_lowrank", _LOW - _LOW.mean(0), _LOW, 2, _post=lambda r, *_: (r[0] * r[1]) @ r[2].T, _grad="of random directions")

# -- Fourier
R = np.array([[0.3, -1.2, 2.5, 0.4], [1.7, -0.4, -2.1, 0.9]])
for _name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft"):
    _of = getattr(np.fft, _name)
    for _given in ([R] if _name in ("rfft", "ihfft") else [C] if _name in ("irfft", "hfft") else [R, C]):
        case(f"fft.{_name}", _of(_given), _given)
        case(f"fft.{_name}", _of(_given, 3, 0, "ortho"), _given, 3, 0, "ortho")
        case(f"fft.{_name}", _of(_given, norm="forward"), _given, norm="forward")
for _name in ("fftn", "ifftn", "fft2", "ifft2", "rfftn", "rfft2"):
    case(f"fft.{_name}", getattr(np.fft, _name)(R), R)
    case(f"fft.{_name}", getattr(np.fft, _name)(R, (3, 3), (0, 1), "ortho"), R, (3, 3), (0, 1), "ortho")
for _name in ("irfftn", "irfft2"):
    case(f"fft.{_name}", getattr(np.fft, _name)(C), C)
    case(f"fft.{_name}", getattr(np.fft, _name)(C, (2, 5), (0, 1)), C, (2, 5))
for _name in ("hfftn", "hfft2"):  # Hermitian input along the last dimension, plain transforms before
    case(f"fft.{_name}", np.fft.hfft(np.fft.fft(C, axis=0), axis=1), C)
for _name in ("ihfftn", "ihfft2"):
    case(f"fft.{_name}", np.fft.ifft(np.fft.ihfft(R, axis=1), axis=0), R)
case("fft.fftshift", np.fft.fftshift(R), R)
case("fft.fftshift", np.fft.fftshift(R, 1), R, 1)
case("fft.ifftshift", np.fft.ifftshift(M), M)
case("fft.fftfreq", np.fft.fftfreq(5, 0.5).astype(np.float32), 5, 0.5, _rtol=1e-6)
case("fft.rfftfreq", np.fft.rfftfreq(6, 0.5).astype(np.float32), 6, 0.5, _rtol=1e-6)
_WAVE = np.sin(np.arange(16) * 0.7) + 0.1 * np.arange(16)
_HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 8)


def frames(x, n=8, hop=4):
    """Short-time spectra, the signal reflected at its ends: (frequencies, frames)."""
    padded = np.pad(x, n // 2, mode="reflect")
    return np.stack([np.fft.rfft(padded[i: i + n] * _HANN) for i in range(0, len(padded) - n + 1, hop)], 1)


case("stft", frames(_WAVE), _WAVE, 8, 4, window=_HANN, return_complex=True)
case("istft", _WAVE, frames(_WAVE), 8, 4, window=_HANN)
