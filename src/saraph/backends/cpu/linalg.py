"""Linear algebra on the CPU: NumPy's batched LAPACK calls where it has them, SciPy's (one matrix at a time) for the rest.

SciPy's linear algebra takes a tenth of a second to import, so it is loaded by the first call that needs it. Arrays are float32, float64,
complex64 or complex128. Factorisations report failure through `info` (0, or as LAPACK numbers it), never by raising, unless said otherwise.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.errors import LinAlgError

int32 = np.dtype(np.int32)
_PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}


@cache
def _scipy_linalg() -> ModuleType:
    import scipy.linalg

    return scipy.linalg


def lapack(name: str, dtype: np.dtype) -> Callable:
    """LAPACK's routine for a dtype: `lapack("getrf", float32)` is sgetrf."""
    return getattr(_scipy_linalg().lapack, _PREFIX[dtype.char] + name)


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of magnitudes."""
    return np.dtype(dtype.char.lower())


#: Rows from which one matrix goes to SciPy's LAPACK: for large ones it is built faster than NumPy's.
LARGE = 64


def _one_large(a: np.ndarray) -> bool:
    return a.ndim == 2 and min(a.shape) >= LARGE


Spec = Sequence[tuple[tuple[int, ...], np.dtype]]


def each(function: Callable, arrays: Sequence[np.ndarray], ranks: Sequence[int], results: Spec) -> list[np.ndarray]:
    """Run `function` on every item of a batch: arrays have `ranks` own dimensions, results their own shapes and dtypes.

    All arrays have the same batch dimensions.
    """
    first = arrays[0]
    batch = first.shape[:first.ndim - ranks[0]]
    count = math.prod(batch)
    flat = [a.reshape((count, *a.shape[a.ndim - r:])) for a, r in zip(arrays, ranks)]
    made = [np.zeros((count, *shape), dtype) for shape, dtype in results]
    for i in range(count):
        for target, value in zip(made, function(*[a[i] for a in flat])):
            target[i] = value
    return [m.reshape(batch + m.shape[1:]) for m in made]


def _broadcast(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two stacks of matrices with one batch shape."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])


# -- LU and what follows from it ------------------------------------------------------------------------------------------------


@primitive
def lu_factor(a: np.ndarray) -> list[np.ndarray]:
    """Row-pivoted LU in one matrix, pivots (counted from 1), info."""
    m, n = a.shape[-2:]
    spec = [((m, n), a.dtype), ((min(m, n),), int32), ((), int32)]
    if min(m, n) == 0:
        return each(lambda x: (x, 0, 0), [a], [2], spec)
    getrf = lapack("getrf", a.dtype)

    def factor(x: np.ndarray) -> tuple:
        lu, pivots, info = getrf(x)
        return lu, pivots + 1, info

    return each(factor, [a], [2], spec)


@primitive
def permutation_matrix(pivots: np.ndarray, size: int, dtype: np.dtype) -> np.ndarray:
    """P such that P @ (L @ U) undoes the row swaps that LU's pivots name."""

    def matrix(swaps: np.ndarray) -> tuple:
        order = np.arange(size)
        for i, p in enumerate(swaps):
            order[[i, p - 1]] = order[[p - 1, i]]
        found = np.zeros((size, size), dtype)
        found[order, np.arange(size)] = 1
        return (found,)

    return each(matrix, [pivots], [1], [((size, size), dtype)])[0]


@primitive
def inverse(a: np.ndarray) -> list[np.ndarray]:
    """The inverse and info (the first zero on U's diagonal, counted from 1)."""
    try:
        with np.errstate(all="ignore"):
            return [np.linalg.inv(a), np.zeros(a.shape[:-2], int32)]
    except np.linalg.LinAlgError:
        identity = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
        return _solve_singular(a, identity)


@primitive
def solve(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """X with A X = B for stacks of matrices (batches broadcast), and info per A."""
    if _one_large(a) and b.ndim == 2 and b.shape[-1]:
        _, _, x, info = lapack("gesv", a.dtype)(a, b)
        if info == 0:
            return [np.ascontiguousarray(x), np.zeros((), int32)]
    try:
        with np.errstate(all="ignore"):
            return [np.linalg.solve(a, b), np.zeros(a.shape[:-2], int32)]
    except np.linalg.LinAlgError:
        wide_a, wide_b = _broadcast(a, b)
        x, _ = _solve_singular(wide_a, wide_b)
        return [x, lu_factor(a)[2]]


def _solve_singular(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    getrf, getrs = lapack("getrf", a.dtype), lapack("getrs", a.dtype)

    def one(x: np.ndarray, y: np.ndarray) -> tuple:
        lu, pivots, info = getrf(x)
        return getrs(lu, pivots, y)[0], info

    return each(one, [a, b], [2, 2], [(b.shape[-2:], b.dtype), ((), int32)])


@primitive
def det(a: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.det(a))


@primitive
def slogdet(a: np.ndarray) -> list[np.ndarray]:
    """The sign (or phase) of the determinant and the logarithm of its magnitude."""
    return [np.asarray(r) for r in np.linalg.slogdet(a)]


@primitive
def det_gradient(a: np.ndarray) -> np.ndarray:
    """conj of d det / d A, also where A is singular: from the SVD, det(U) det(Vh) U diag(products of the other singular values) Vh."""
    u, s, vh = np.linalg.svd(a, full_matrices=True)
    n = s.shape[-1]
    others = np.stack([np.prod(np.delete(s, k, -1), -1) for k in range(n)], -1) if n else s
    phase = np.conj(np.linalg.det(u) * np.linalg.det(vh))
    return (phase[..., None, None] * (u * others[..., None, :]) @ vh).astype(a.dtype, copy=False)


@primitive
def triangular_solve(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unitriangular: bool) -> np.ndarray:
    """X with A X = B (left) or X A = B, for triangular A; the other triangle is not read. Zeros on the diagonal give inf and nan."""
    a, b = _broadcast(a, b)
    if b.size == 0 or a.size == 0:
        return np.zeros(b.shape, b.dtype)
    trsm = getattr(_scipy_linalg().blas, _PREFIX[a.dtype.char] + "trsm")
    side, diag = int(not left), int(unitriangular)

    def one(x: np.ndarray, y: np.ndarray) -> tuple:
        if x.flags.c_contiguous:  # BLAS reads columns: a row-major matrix is its transpose there
            return (trsm(1, x.T, y, side=side, lower=int(upper), trans_a=1, diag=diag),)
        return (trsm(1, x, y, side=side, lower=int(not upper), diag=diag),)

    return each(one, [a, b], [2, 2], [(b.shape[-2:], b.dtype)])[0]


# -- Cholesky and LDL -----------------------------------------------------------------------------------------------------------------


@primitive
def cholesky(a: np.ndarray, upper: bool) -> list[np.ndarray]:
    """The triangular factor of a Hermitian positive-definite matrix (only that triangle is read), and info."""
    if _one_large(a):  # LAPACK reads columns: it is given the transpose, and gives the transpose of the factor
        factor, info = lapack("potrf", a.dtype)(a.T, lower=int(upper), clean=1)
        if info == 0:
            return [factor.T, np.zeros((), int32)]
    try:
        return [np.linalg.cholesky(a, upper=upper), np.zeros(a.shape[:-2], int32)]
    except np.linalg.LinAlgError:
        potrf = lapack("potrf", a.dtype)
        return each(lambda x: potrf(x, lower=not upper, clean=1), [a], [2], [(a.shape[-2:], a.dtype), ((), int32)])


@primitive
def ldl_factor(a: np.ndarray, hermitian: bool) -> list[np.ndarray]:
    """Bunch-Kaufman factors of a symmetric (or Hermitian) matrix in its lower triangle, pivots, info."""
    n = a.shape[-1]
    routine = lapack("hetrf" if hermitian and a.dtype.kind == "c" else "sytrf", a.dtype)

    def one(x: np.ndarray) -> tuple:
        ldu, pivots, info = routine(x, lower=1, lwork=max(64 * n, 1))
        return np.tril(ldu), pivots, info

    return each(one if n else lambda x: (x, 0, 0), [a], [2], [((n, n), a.dtype), ((n,), int32), ((), int32)])


@primitive
def ldl_solve(ld: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool) -> np.ndarray:
    """X with A X = B, from the factors of A."""
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    ld, b = _broadcast(ld, b)
    pivots = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    if b.size == 0:
        return np.zeros(b.shape, b.dtype)
    routine = lapack("hetrs" if hermitian and ld.dtype.kind == "c" else "sytrs", ld.dtype)
    return each(lambda x, p, y: (routine(x, p, y, lower=1)[0],), [ld, pivots, b], [2, 1, 2], [(b.shape[-2:], b.dtype)])[0]


# -- orthogonal factors -----------------------------------------------------------------------------------------------------------------


@primitive
def qr(a: np.ndarray, mode: str) -> list[np.ndarray]:
    """Q and R; `mode` is "reduced", "complete" or "r" (Q is then empty)."""
    if mode == "r":
        return [np.empty(0, a.dtype), np.linalg.qr(a, "r")]
    return list(np.linalg.qr(a, mode))


@primitive
def geqrf(a: np.ndarray) -> list[np.ndarray]:
    """R with the Householder vectors below it, and their factors tau."""
    m, n = a.shape[-2:]
    if min(m, n) == 0:
        return [a.copy(), np.zeros((*a.shape[:-2], min(m, n)), a.dtype)]
    h, tau = np.linalg.qr(a, "raw")
    return [h.swapaxes(-1, -2).astype(a.dtype).copy(), tau.astype(a.dtype, copy=False)]


def _converged(name: str, a: np.ndarray, function: Callable) -> Any:
    """Run an iterative decomposition; LinAlgError where it fails."""
    try:
        return function()
    except np.linalg.LinAlgError:
        if a.size and not np.isfinite(a).all():
            raise LinAlgError(f"linalg.{name}: The algorithm failed to converge because the input matrix contained non-finite values.") from None
        raise LinAlgError(f"linalg.{name}: (Batch element 0): The algorithm failed to converge because the input matrix is ill-conditioned or has "
                          "too many repeated singular values.") from None


@primitive
def svd(a: np.ndarray, full_matrices: bool) -> list[np.ndarray]:
    """U, the singular values (largest first) and Vh; raises LinAlgError where the iteration fails."""
    found = _large_svd(a, True, full_matrices)
    return found or list(_converged("svd", a, lambda: np.linalg.svd(a, full_matrices)))


def _large_svd(a: np.ndarray, vectors: bool, full_matrices: bool) -> list[np.ndarray] | None:
    """U, singular values and Vh of one large matrix; None where there is none, or where the iteration fails."""
    if not _one_large(a):
        return None
    turned = a.T  # LAPACK reads columns
    m, n = turned.shape
    work = int(np.real(lapack("gesdd_lwork", a.dtype)(m, n, compute_uv=int(vectors), full_matrices=int(full_matrices))[0]))
    u, values, vh, info = lapack("gesdd", a.dtype)(turned, compute_uv=int(vectors), full_matrices=int(full_matrices), lwork=work)
    return [vh.T, values, u.T] if info == 0 else None


@primitive
def svdvals(a: np.ndarray) -> np.ndarray:
    found = _large_svd(a, False, False)
    return found[1] if found else _converged("svd", a, lambda: np.linalg.svd(a, compute_uv=False))


@primitive
def eigh(a: np.ndarray, lower: bool) -> list[np.ndarray]:
    """Eigenvalues (smallest first) and eigenvectors of a Hermitian matrix, of which one triangle is read."""
    return list(_converged("eigh", a, lambda: np.linalg.eigh(a, "L" if lower else "U")))


@primitive
def eigvalsh(a: np.ndarray, lower: bool) -> np.ndarray:
    return _converged("eigh", a, lambda: np.linalg.eigvalsh(a, "L" if lower else "U"))


@primitive
def eig(a: np.ndarray) -> list[np.ndarray]:
    """Complex eigenvalues and eigenvectors (columns of length 1); RuntimeError for inf or nan."""
    if not np.isfinite(a).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    kind = np.result_type(a.dtype, np.complex64)
    return [np.asarray(r).astype(kind, copy=False) for r in _converged("eig", a, lambda: np.linalg.eig(a))]


@primitive
def lstsq(a: np.ndarray, b: np.ndarray, rcond: float, driver: str) -> list[np.ndarray]:
    """The least-squares solution, the rank and (for gelsd and gelss) the singular values."""
    m, n = a.shape[-2:]
    k = b.shape[-1]
    rhs = np.zeros((*b.shape[:-2], max(m, n), k), b.dtype)
    rhs[..., :m, :] = b
    small = min(m, n)
    spec = [((n, k), a.dtype), ((), np.dtype(np.int64)), ((small,), real_dtype(a.dtype))]
    one = _least_squares(driver, a.dtype, rcond, m, n, k) if small and k else lambda x, y: (0, 0, 0)
    return each(one, [a, rhs], [2, 2], spec)


def _least_squares(driver: str, dtype: np.dtype, rcond: float, m: int, n: int, k: int) -> Callable:
    routine = lapack(driver, dtype)
    if driver == "gels":
        return lambda x, y: (routine(x, y)[1][:n], 0, 0)
    work = lapack(driver + "_lwork", dtype)
    if driver == "gelsy":
        size = int(np.real(work(m, n, k, rcond)[0]))

        def pivoted(x: np.ndarray, y: np.ndarray) -> tuple:
            found = routine(x, y, np.zeros(n, int32), rcond, size)
            return found[1][:n], found[3], 0

        return pivoted
    if driver == "gelss":
        size = int(np.real(work(m, n, k, rcond)[0]))

        def by_svd(x: np.ndarray, y: np.ndarray) -> tuple:
            _, found, values, rank, *_ = routine(x, y, rcond, size)
            return found[:n], rank, values

        return by_svd
    sizes = [int(np.real(s)) for s in work(m, n, k, rcond)[:-1]]

    def divided(x: np.ndarray, y: np.ndarray) -> tuple:
        found, values, rank, _ = routine(x, y, *sizes, rcond)
        return found[:n], rank, values

    return divided


@primitive
def matrix_exp(a: np.ndarray) -> np.ndarray:
    """Computed one precision up: the squarings at the end amplify rounding."""
    if a.size == 0:
        return a.copy()
    return _scipy_linalg().expm(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)).astype(a.dtype)
