"""Orthogonal and spectral decompositions: QR, SVD, eigenvalues, and the Householder form."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import describe
from saraph.ops import return_types
from saraph.ops.linalg_checks import matrices, square
from saraph.ops.linalg_solve import identity, not_implemented, solve_matrices, solve_triangular
from saraph.ops.matmul import adjoint_times, matmul, times_adjoint
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, needs_grad, record, record_many, unpack, wrap


def diagonal(x: Tensor) -> Tensor:
    """The diagonals of matrices, as vectors."""
    return x.diagonal(0, -2, -1)


def skew(x: Tensor) -> Tensor:
    """x - x^H."""
    return x - x.mH


def differences(values: Tensor, on_diagonal: float) -> Tensor:
    """values[j] - values[i] at (i, j), and a number of choice on the diagonal, where that is 0."""
    table = values.unsqueeze(-2) - values.unsqueeze(-1)
    return table + identity(values, values._a.shape[-1]) * on_diagonal


def scale_columns(x: Tensor, by: Tensor) -> Tensor:
    """x @ diag(by)."""
    return x * by.unsqueeze(-2)


# -- QR -----------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgQrBackward0")
def QrBackward(node: Any, gQ: Tensor | None, gR: Tensor | None) -> Tensor | None:
    if gQ is None and gR is None:
        return None
    if node.mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                           "linalg.qr(A, mode='reduced') if you "
                           "are going to differentiate through linalg.qr.")
    A, Q, R = unpack(node)
    m, n = A._a.shape[-2:]
    if node.mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _qr_gradient(Q, R, gQ, gR)
    rest = None  # a wide matrix: its first m columns decide Q, the others only R
    if gR is not None:
        rest = gR.narrow(-1, m, n - m)
        through = times_adjoint(A.narrow(-1, m, n - m), rest)
        gQ = through if gQ is None else gQ + through
        gR, right = gR.narrow(-1, 0, m), matmul(Q, rest)
    first = _qr_gradient(Q, R.narrow(-1, 0, m), gQ, gR)
    if rest is None:
        right = wrap(of(A._a).full((*A._a.shape[:-1], n - m), 0, A._a.dtype))
    return cat([first, right], -1)


def _qr_gradient(Q: Tensor, R: Tensor, gQ: Tensor | None, gR: Tensor | None) -> Tensor:
    """With C = Q^H dA R^-1 = W + dR R^-1, W skew-Hermitian: W holds C's lower triangle (and the diagonal's imaginary part)."""
    inner = None if gR is None else times_adjoint(gR, R)
    turned = None if gQ is None else adjoint_times(Q, gQ)
    m = -inner if turned is None else turned if inner is None else turned - inner
    core = skew(m).tril(-1)
    if core._a.dtype.kind == "c":
        core = core + (diagonal(m).imag * 1j).to(core.dtype).diag_embed()
    if inner is not None:
        core = core + inner
    if turned is not None:
        core = core - turned
    total = matmul(Q, core)
    if gQ is not None:
        total = total + gQ
    return solve_triangular(R.mH, total, upper=False, left=False)


def _qr(A: Any, mode: str) -> tuple[Tensor, Tensor]:
    x = matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return record_many(of(x._a).qr(x._a, mode), QrBackward, (x,), (x,), save_results=(0, 1), mode=mode)


@op(namespaces="linalg", name="qr", autocast="float32")
def linalg_qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(Q, R) with `A = Q @ R`, Q's columns orthonormal, R an upper triangle. `mode`: "reduced", "complete" (square Q), "r" (Q is empty)."""
    return return_types.linalg_qr(_qr(A, mode))


@op(method=True, autocast="float32")
def qr(input: Tensor, some: bool = True, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(Q, R); see `linalg.qr`. `some` is its mode "reduced", else "complete"."""
    return return_types.qr(_qr(input, "reduced" if some else "complete"))


GeqrfBackward = not_implemented("geqrf")


@op(method=True, autocast="float32")
def geqrf(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(a, tau): R in a's upper triangle, below it the Householder vectors (their leading 1 left out), and their factors. Not differentiable."""
    x = check_tensor(input, "torch.geqrf")
    if x._a.ndim < 2:
        raise RuntimeError(f"torch.geqrf: input must have at least 2 dimensions. Got {describe(x)}")
    matrices("torch.geqrf", x)
    return return_types.geqrf(record_many(of(x._a).geqrf(x._a), GeqrfBackward, (x,)))


def _reflectors(name: str, A: Any, tau: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A and tau, checked, and the Householder vectors as columns."""
    x, factors = check_tensor(A, name, "input"), check_tensor(tau, name, "tau")
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions. Got {describe(x)}")
    matrices(name, x)
    m, n = x._a.shape[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], got {describe(x)}")
    if factors._a.ndim == 0 or n < factors._a.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], got {describe(x, factors)}")
    if x._a.dtype != factors._a.dtype:
        raise RuntimeError(f"{name}: tau dtype {factors.dtype!r} does not match input dtype {x.dtype!r}")
    if factors._a.shape[:-1] != x._a.shape[:-2]:
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {describe(factors, x)}")
    return x, factors, x.tril(-1) + wrap(of(x._a).eye(m, n, x._a.dtype))


def _reflect(vectors: Tensor, tau: Tensor, target: Tensor, adjoint: bool) -> Tensor:
    """H1 H2 ... Hk @ target (or its adjoint @ target), with H = I - tau v v^H."""
    order = range(tau._a.shape[-1])
    for i in order if adjoint else reversed(order):
        v = vectors.narrow(-1, i, 1)
        factor = tau.narrow(-1, i, 1).unsqueeze(-1)
        target = target - (factor.conj() if adjoint else factor) * matmul(v, adjoint_times(v, target))
    return target


@derivative("LinalgHouseholderProductBackward0")
def NoReflectionBackward(node: Any, g: Tensor) -> tuple[None, None]:
    """Of a product of no reflections, which depends on nothing."""
    return None, None


@op(namespaces="linalg", autocast="float32")
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first n columns of the product of Householder reflections that `geqrf` gives: (..., m, n) and (..., k), m >= n >= k -> (..., m, n)."""
    x, factors, vectors = _reflectors("torch.linalg.householder_product", input, tau)
    start = wrap(of(x._a).eye(*x._a.shape[-2:], x._a.dtype)).expand(x._a.shape)
    if factors._a.shape[-1]:
        return _reflect(vectors, factors, start, False)
    return record(start.clone()._a, NoReflectionBackward, (x, factors))


@op(method=True, autocast="float32")
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.householder_product`."""
    return householder_product(input, input2)


@op(method=True, autocast="float32")
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False, *, out: Tensor | None = None) -> Tensor:
    """`Q @ input3` (or Q^H with `transpose`; from the right with left=False), Q the square product of the reflections in (input, input2)."""
    name = "torch.ormqr"
    x, tau, other = (check_tensor(v, name, p) for v, p in ((input, "input"), (input2, "tau"), (input3, "other")))
    if x._a.ndim < 2 or other._a.ndim < 2:
        raise RuntimeError(f"{name}: {'input' if x._a.ndim < 2 else 'other'} must have at least 2 dimensions.")
    dim = -2 if left else -1
    if tau._a.ndim == 0 or other._a.shape[dim] < tau._a.shape[-1]:
        raise RuntimeError(f"{name}: other.shape[{dim}] must be greater than or equal to tau.shape[-1], got {describe(other, tau)}")
    if other._a.shape[dim] != x._a.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{dim}] must be equal to input.shape[-2], got {describe(other, x)}")
    if x._a.shape[-1] < tau._a.shape[-1]:
        raise RuntimeError(f"{name}: tau.shape[-1] must be less than or equal to input.shape[-1], got {describe(tau, x)}")
    if tau._a.shape[:-1] != x._a.shape[:-2] or other._a.shape[:-2] != x._a.shape[:-2]:
        raise RuntimeError(f"{name}: batch dimensions of tau and other must be equal to those of input, got {describe(tau, other, x)}")
    matrices(name, x)
    if tau._a.dtype != x._a.dtype or other._a.dtype != x._a.dtype:
        raise RuntimeError(f"{name}: Expected input and tau and other to have the same dtype, got {describe(x, tau, other)}")
    vectors = x.tril(-1) + wrap(of(x._a).eye(*x._a.shape[-2:], x._a.dtype))
    if left:
        return _reflect(vectors, tau, other, transpose)
    return _reflect(vectors, tau, other.mH, not transpose).mH


# -- SVD -----------------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgSvdBackward0")
def SvdBackward(node: Any, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None) -> Tensor | None:
    """Of A = U diag(S) Vh; only the first min(m, n) singular vectors count. Not defined where singular values are equal."""
    if gU is None and gS is None and gVh is None:
        return None
    U, S, Vh = unpack(node)
    k = S._a.shape[-1]
    if node.full:
        U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
        gU = None if gU is None else gU.narrow(-1, 0, k)
        gVh = None if gVh is None else gVh.narrow(-2, 0, k)
    if gU is None and gVh is None:
        return matmul(scale_columns(U, gS), Vh)
    core = _svd_core(U, S, Vh, gU, gS, gVh)
    m, n = U._a.shape[-2], Vh._a.shape[-1]
    if gU is not None and m > k:
        outside = scale_columns(gU, 1 / S)
        core_u = matmul(U, core) + outside - matmul(U, adjoint_times(U, outside))
    else:
        core_u = matmul(U, core)
    total = matmul(core_u, Vh)
    if gVh is not None and n > k:
        outside = gVh / S.unsqueeze(-1)
        total = total + matmul(U, outside - matmul(times_adjoint(outside, Vh), Vh))
    return total


def _svd_core(U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None) -> Tensor:
    gaps = differences(S * S, 1.0)
    core = turned = other = None
    if gU is not None:
        turned = skew(adjoint_times(U, gU))
        core = scale_columns(turned / gaps, S)
    if gVh is not None:
        other = skew(adjoint_times(Vh.mH, gVh.mH))
        part = S.unsqueeze(-1) * (other / gaps)
        core = part if core is None else core + part
    if U._a.dtype.kind == "c":
        _check_phase("svd_backward: The singular vectors in the complex case are specified up to multiplication by "
                     "e^{i phi}. The specified loss function "
                     "depends on this phase term, making it ill-defined.", [t for t in (turned, other) if t is not None])
        core = core - diagonal(core).diag_embed()
        if gU is not None:
            core = core + (diagonal(turned) / (S * 2)).diag_embed()
    if gS is not None:
        core = core + gS.to(core.dtype).diag_embed()
    return core


def _check_phase(message: str, parts: list[Tensor]) -> None:
    """RuntimeError where a loss depends on the phase of complex vectors: the imaginary diagonals do not cancel."""
    total = diagonal(parts[0]).imag
    for part in parts[1:]:
        total = total + diagonal(part).imag
    largest = of(total._a).tolist(of(total._a).amax(of(total._a).abs(total._a), None, False)) if total._a.size else 0
    if largest > 1e-2:
        raise RuntimeError(message)


def _svd(A: Any, full_matrices: bool, driver: str | None, name: str = "linalg.svd") -> tuple[Tensor, Tensor, Tensor]:
    x = matrices(name, A)
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    return record_many(of(x._a).svd(x._a, full_matrices), SvdBackward, (x,), save_results=(0, 1, 2), full=full_matrices)


@op(namespaces="linalg", name="svd", autocast="float32")
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, Vh) with `A = U @ diag(S) @ Vh`: S (real, largest first), U (..., m, m) and Vh (..., n, n), or min(m, n) vectors of each."""
    return return_types.linalg_svd(_svd(A, full_matrices, driver))


@op(namespaces="linalg", autocast="float32")
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values, largest first."""
    x = matrices("linalg.svdvals", A)
    if driver is not None or needs_grad(x):
        return _svd(x, False, driver, "linalg.svdvals")[1]
    return wrap(of(x._a).svdvals(x._a))


@op(method=True, autocast="float32")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with `input = U @ diag(S) @ V^H`; see `linalg.svd`. Without `compute_uv` U and V are zeros."""
    if not compute_uv:
        x = matrices("linalg.svd", input)
        backend, (m, n) = of(x._a), x._a.shape[-2:]
        zeros = [wrap(backend.full((*x._a.shape[:-2], k, k), 0, x._a.dtype)) for k in (m, n)]
        return return_types.svd((zeros[0], svdvals(x), zeros[1]))
    U, S, Vh = _svd(input, not some, None)
    return return_types.svd((U, S, Vh.mH))


# -- eigenvalues ------------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgEighBackward0")
def EighBackward(node: Any, gL: Tensor | None, gV: Tensor | None) -> Tensor | None:
    if gL is None and gV is None:
        return None
    L, V = unpack(node)
    if gV is None:
        return times_adjoint(scale_columns(V, gL), V)
    turned = adjoint_times(V, gV)
    if V._a.dtype.kind == "c":
        _check_phase("linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss "
                     "function depends on this quantity, so it is ill-defined.", [turned])
    core = _over_gaps(skew(turned) * 0.5, L)
    if gL is not None:
        core = core + gL.to(core.dtype).diag_embed()
    return times_adjoint(matmul(V, core), V)


def _over_gaps(x: Tensor, values: Tensor) -> Tensor:
    """x / (values[j] - values[i]) off the diagonal, 0 on it."""
    quotient = x / differences(values, 1.0)
    return quotient - diagonal(quotient).diag_embed()


def _lower(name: str, UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "L"


def _eigh(name: str, A: Any, UPLO: str) -> tuple[Tensor, Tensor]:
    x, lower = square(name, A), _lower(name, UPLO)
    return record_many(of(x._a).eigh(x._a, lower), EighBackward, (x,), save_results=(0, 1))


@op(namespaces="linalg", autocast="float32")
def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues, eigenvectors) of Hermitian matrices, of which only the triangle UPLO is read: real, smallest first; vectors are columns."""
    return return_types.linalg_eigh(_eigh("linalg.eigh", A, UPLO))


@op(namespaces="linalg", autocast="float32")
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of Hermitian matrices, smallest first."""
    x, lower = square("linalg.eigvalsh", A), _lower("linalg.eigvalsh", UPLO)
    if needs_grad(x):
        return _eigh("linalg.eigvalsh", x, UPLO)[0]
    return wrap(of(x._a).eigvalsh(x._a, lower))


@derivative("LinalgEigBackward0")
def EigBackward(node: Any, gL: Tensor | None, gV: Tensor | None) -> Tensor | None:
    """Eigenvectors are of length 1, which takes away the part of gV along them."""
    if gL is None and gV is None:
        return None
    L, V = unpack(node)
    if gV is None:
        gA = solve_matrices(V.mH, gL.unsqueeze(-1) * V.mH)[0]
    else:
        turned = adjoint_times(V, gV)
        along = diagonal(turned)
        _check_phase("linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss "
                     "function depends on this quantity, so it is ill-defined.", [turned])
        core = _over_gaps(turned - scale_columns(adjoint_times(V, V), along.real.to(V.dtype)), L.conj())
        if gL is not None:
            core = core + gL.diag_embed()
        gA = solve_matrices(V.mH, times_adjoint(core, V))[0]
    return gA.real.clone() if node.real else gA


def _eig(name: str, A: Any) -> tuple[Tensor, Tensor]:
    x = square(name, A)
    return record_many(of(x._a).eig(x._a), EigBackward, (x,), save_results=(0, 1), real=x._a.dtype.kind != "c")


@op(namespaces="linalg", autocast="float32")
def eig(A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues, eigenvectors) of square matrices, both complex; vectors are columns of length 1, in no particular order."""
    return return_types.linalg_eig(_eig("linalg.eig", A))


@op(namespaces="linalg", autocast="float32")
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex, in no particular order."""
    return _eig("linalg.eigvals", A)[0]
