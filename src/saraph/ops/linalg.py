"""The rest of linear algebra: least squares, pseudo-inverses, rank and condition, the exponential, tensor equations, low-rank approximations."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, finfo, float32, int64
from saraph.errors import describe
from saraph.ops import return_types
from saraph.ops.linalg_checks import floating, matrices, same_kind, square
from saraph.ops.linalg_decompositions import eigh, linalg_qr, linalg_svd, scale_columns, svdvals
from saraph.ops.linalg_norms import matrix_norm
from saraph.ops.linalg_solve import inv, inv_ex, solve
from saraph.ops.matmul import adjoint_times, matmul, times_adjoint
from saraph.ops.movement import cat
from saraph.ops.promotion import cast, check_tensor, unbroadcast
from saraph.ops.registry import NAMESPACES, op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many, unpack, wrap

NAMESPACES["linalg"]["matmul"] = matmul


@op(namespaces="linalg", name="diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, as a view; like `torch.diagonal`, but of the last two dimensions by default."""
    return check_tensor(A, "linalg.diagonal", "A").diagonal(offset, dim1, dim2)


# -- pseudo-inverse and rank ------------------------------------------------------------------------------------------------------------


def _pinv_gradient(g: Tensor, A: Tensor, P: Tensor) -> Tensor:
    """Of the pseudo-inverse P of A, where its rank is constant."""
    projected = g.mH - matmul(times_adjoint(g.mH, P.mH), A)  # g^H (1 - P A)
    first = matmul(adjoint_times(P, P), projected)
    outer = g.mH - matmul(A, matmul(P, g.mH))  # (1 - A P) g^H
    second = matmul(outer, times_adjoint(P, P))
    return first + second - times_adjoint(adjoint_times(P, g), P)


@derivative("LinalgPinvBackward0", saves_result=True)
def PinvBackward(node: Any, g: Tensor) -> Tensor:
    A, P = unpack(node)
    return _pinv_gradient(g, A, P)


def _threshold(x: Tensor, largest: Tensor, atol: Any, rtol: Any) -> Tensor:
    """max(atol, rtol * largest) per matrix; by default max(m, n) * eps of the largest singular value."""
    if rtol is None:
        no_atol = atol is None or (not isinstance(atol, Tensor) and atol == 0)
        rtol = max(x._a.shape[-2:]) * finfo(x.dtype).eps if no_atol else 0.0
        if isinstance(atol, Tensor):
            default = max(x._a.shape[-2:]) * finfo(x.dtype).eps
            rtol = (atol <= 0).to(largest.dtype) * default
    relative = largest * _tolerance(rtol, largest, "rtol")
    return relative if atol is None else relative.maximum(_tolerance(atol, largest, "atol"))


def _tolerance(value: Any, like: Tensor, which: str) -> Tensor:
    if isinstance(value, Tensor):
        if value._a.dtype.kind == "c":
            raise RuntimeError(f"{which} tensor of complex type is not supported. Got {value.dtype!r}")
        return value.to(like.dtype)
    return wrap(of(like._a).scalar(float(value), like._a.dtype))


def _pinv(name: str, A: Any, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    x = check_tensor(A, name, "A")
    if x._a.ndim < 2 or x._a.dtype.kind in "biu":
        raise RuntimeError(f"{name}({describe(x)}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types")
    floating(name, x)
    plain = wrap(x._a)
    backend = of(x._a)
    if x._a.size == 0:
        result = backend.full((*x._a.shape[:-2], x._a.shape[-1], x._a.shape[-2]), 0, x._a.dtype)
        return record(result, PinvBackward, (x,), (x,))
    if hermitian:
        square(name, x)
        values, vectors = eigh(plain)
        sizes = values.abs()
        left, right = vectors, vectors
    else:
        left, values, right = linalg_svd(plain, False)
        sizes, right = values, right.mH
    limit = _threshold(x, sizes.amax(-1, keepdim=True), _column(atol), _column(rtol))
    inverted = values.reciprocal().masked_fill(sizes <= limit, 0)
    return record(times_adjoint(scale_columns(right, inverted), left)._a, PinvBackward, (x,), (x,))


def _column(value: Any) -> Any:
    """A tolerance per matrix, ready to meet the values of each matrix."""
    return value.unsqueeze(-1) if isinstance(value, Tensor) else value


@op(namespaces="linalg", autocast="float32")
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """The pseudo-inverse (..., n, m) of matrices (..., m, n): singular values up to max(atol, rtol * largest) count as zero.

    With `hermitian` the eigenvalues are taken instead. `rcond` is an older name of `rtol`.
    """
    return _pinv("linalg.pinv", A, atol, rtol if rcond is None else rcond, hermitian)


@op(method=True, autocast="float32")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse; see `linalg.pinv`."""
    return _pinv("linalg.pinv", input, None, rcond, False)


@op(namespaces="linalg", autocast="float32")
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """How many singular values exceed max(atol, rtol * largest) (by default rtol is max(m, n) * eps). `tol` is an older name of `atol`."""
    name = "torch.linalg.matrix_rank"
    x = check_tensor(A, name, "input")
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor input must have at least 2 dimensions.")
    floating(name, x)
    if tol is not None:
        atol, rtol = tol, 0.0
    plain = wrap(x._a)
    if x._a.size == 0:
        return wrap(of(x._a).full(x._a.shape[:-2], 0, int64.numpy))
    if hermitian:
        square(name, x)
        sizes = eigh(plain)[0].abs()
    else:
        sizes = svdvals(plain)
    limit = _threshold(x, sizes.amax(-1, keepdim=True), _column(atol), _column(rtol))
    return (sizes > limit).sum(-1)


@op(namespaces="linalg", autocast="float32")
def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number: for p None, 2 or -2 from the singular values, else norm(A, p) * norm(inverse, p), inf where A is singular."""
    x = check_tensor(A, "linalg.cond", "A")
    if x._a.ndim < 2:
        raise RuntimeError(f"linalg.cond: The input tensor must have at least 2 dimensions. Got {describe(x)}")
    floating("linalg.cond", x)
    if p is None or p in (2, -2):
        values = svdvals(x)
        largest, smallest = values.select(-1, 0), values.select(-1, -1)
        return largest / smallest if p != -2 else smallest / largest
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    square("linalg.cond", x)
    if x._a.shape[-1] == 0:
        return wrap(of(x._a).full(x._a.shape[:-2], 0, svdvals(x)._a.dtype))
    inverse, info = inv_ex(x)
    value = matrix_norm(x, p) * matrix_norm(inverse, p)
    return value.masked_fill(wrap(of(info._a).ne(info._a, 0)), float("inf"))


# -- least squares -------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgLstsqBackward0")
def LstsqBackward(node: Any, g: Tensor | None, g_residuals: Tensor | None, *_: Any) -> tuple[Tensor | None, Tensor | None]:
    """The solution is pinv(A) @ B; what is left over, |B - A X|^2 by columns, changes at fixed X."""
    A, B, X = unpack(node)
    gA = gB = None
    if g is not None:
        P = _pinv("linalg.lstsq", A, None, None, False)
        gB = adjoint_times(P, g)
        gA = _pinv_gradient(times_adjoint(g, B), A, P) if node.needs(0) else None
    if g_residuals is not None and g_residuals._a.size:
        rest = (B - matmul(A, X)) * (g_residuals.unsqueeze(-2) * 2)
        gB = rest if gB is None else gB + rest
        change = -times_adjoint(rest, X)
        gA = change if gA is None else gA + change
    return (None if gA is None else unbroadcast(gA, A._a.shape), None if gB is None else unbroadcast(gB, B._a.shape))


@op(namespaces="linalg", autocast="float32")
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Any = None) -> tuple[Tensor, ...]:
    """(solution, residuals, rank, singular_values) of min |A X - B|: A (..., m, n), B (..., m, k) or (..., m).

    `driver`: "gelsy" (the default), "gels" (full rank), "gelsd" or "gelss" (by SVD). Residuals are given where m > n, the rank is full and the driver
    is not gelsy; singular values by the SVD drivers; what is not given is empty.
    """
    name = "torch.linalg.lstsq"
    A, B = check_tensor(A, name, "input"), check_tensor(B, name, "other")
    vector = _check_lstsq(name, A, B, driver)
    driver = driver or "gelsy"
    b = B.unsqueeze(-1) if vector else B
    m, n = A._a.shape[-2:]
    a, wide = A, b
    if A._a.shape[:-2] != b._a.shape[:-2]:
        shape = NAMESPACES["torch"]["broadcast_shapes"](A._a.shape[:-2], b._a.shape[:-2])
        a, wide = A.expand(*shape, m, n), b.expand(*shape, *b._a.shape[-2:])
    cut = finfo(A.dtype).eps * max(m, n) if rcond is None else float(rcond)
    backend = of(A._a)
    x, rank, values = backend.lstsq(a._a, wide._a, cut, driver)
    real = values.dtype
    residuals = backend.empty((0,), real)
    full_rank = driver == "gels" or (driver in ("gelsd", "gelss") and m > n and all(r == n for r in _flat(rank)))
    if m > n and full_rank:
        rest = backend.abs(backend.sub(wide._a, backend.matmul(a._a, x)))
        residuals = backend.sum(backend.mul(rest, rest), (rest.ndim - 2,), False)
    if driver == "gels":
        rank = backend.empty((0,), rank.dtype)
    if driver in ("gels", "gelsy"):
        values = backend.empty((0,), real)
    results = record_many([x, residuals, rank, values], LstsqBackward, (a, wide), (a, wide), differentiable=(0, 1), save_results=(0,))
    if vector:
        results = (results[0].squeeze(-1), *results[1:])
    return return_types.linalg_lstsq(results)


def _flat(a: Any) -> list[int]:
    return of(a).tolist(of(a).reshape_view(a, (a.size,)))


def _check_lstsq(name: str, A: Tensor, B: Tensor, driver: str | None) -> bool:
    """Raises where the arguments do not fit; whether B is a vector (per matrix)."""
    if A._a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B._a.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A._a.dtype != B._a.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype {A.dtype!r} and "
                           f"other's dtype {B.dtype!r}")
    lead = A._a.ndim - B._a.ndim
    if lead not in (0, 1):
        raise RuntimeError(f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1, got {describe(A, B)}")
    vector = lead == 1
    if A._a.shape[-2] != B._a.shape[-1 if vector else -2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({-1 if vector else -2}), got {describe(A, B)}")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}")
    floating(name, A)
    return vector


# -- the exponential ----------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgMatrixExpBackward0")
def MatrixExpBackward(node: Any, g: Tensor) -> Tensor:
    """The upper right block of exp([[A^H, g], [0, A^H]])."""
    (A,) = unpack(node)
    n = A._a.shape[-1]
    upper = cat([A.mH, g], -1)
    lower = cat([wrap(of(A._a).full(A._a.shape, 0, A._a.dtype)), A.mH], -1)
    return _matrix_exp(cat([upper, lower], -2)).narrow(-2, 0, n).narrow(-1, n, n)


def _matrix_exp(x: Tensor) -> Tensor:
    return record(of(x._a).matrix_exp(x._a), MatrixExpBackward, (x,), (x,))


@op(namespaces=("torch", "linalg"), method=True, autocast="float32")
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices, by scaling and squaring."""
    x = check_tensor(A, "linalg.matrix_exp", "A")
    kind = x.dtype
    if kind.numpy in REDUCED:
        return cast(matrix_exp(cast(x, float32)), kind)
    return _matrix_exp(square("linalg.matrix_exp", x))


# -- polynomials and tensor equations -----------------------------------------------------------------------------------------------------------


@op(namespaces="linalg", name="vander")
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of every element, as a last dimension: (..., n) -> (..., n, N)."""
    t = check_tensor(x, "linalg.vander", "x")
    count = N if N is not None else t._a.shape[-1] if t._a.ndim else 1
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1. Got N={count} for {describe(t)}")
    t = t if t._a.ndim else t.reshape(1)
    powers = t.unsqueeze(-1).expand(*t._a.shape, count - 1).cumprod(-1)
    return cat([wrap(of(t._a).full((*t._a.shape, 1), 1, powers._a.dtype)), powers], -1)


@op(namespaces="linalg", autocast="float32")
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The tensor that undoes `tensordot(A, ...)` over A's dimensions from `ind` on; their sizes multiply to the same as those before."""
    x = check_tensor(A, "linalg.tensorinv", "A")
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    front, back = x._a.shape[:ind], x._a.shape[ind:]
    n, m = _count(front), _count(back)
    if n != m:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {m} != {n}")
    return inv(x.reshape(n, m)).reshape(back + front)


@op(namespaces="linalg", autocast="float32")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """X with `tensordot(A, X, X.ndim) = B`; `dims` are moved to the end of A first."""
    x, b = check_tensor(A, "linalg.tensorsolve", "A"), check_tensor(B, "linalg.tensorsolve", "B")
    same_kind("linalg.tensorsolve", x, b)
    if dims is not None:
        moved = [wrap_dim(d, x._a.ndim) for d in dims]
        x = x.movedim(tuple(moved), tuple(range(x._a.ndim - len(moved), x._a.ndim)))
    shape = x._a.shape[b._a.ndim:]
    n, m = _count(shape), _count(x._a.shape[:b._a.ndim])
    if n != m:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
                           f"{n} != {m}")
    return solve(x.reshape(m, n), b.flatten()).reshape(shape)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


# -- low-rank approximations -----------------------------------------------------------------------------------------------------------------------


def _range_basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span what A maps random vectors to, after `niter` rounds of power iteration."""
    start = NAMESPACES["torch"]["randn"](A._a.shape[-1], q, dtype=A.dtype)
    basis = linalg_qr(matmul(A, start))[0]
    for _ in range(niter):
        basis = linalg_qr(adjoint_times(A, basis))[0]
        basis = linalg_qr(matmul(A, basis))[0]
    return basis


def _svd_lowrank(A: Tensor, q: int, niter: int) -> tuple[Tensor, Tensor, Tensor]:
    wide = A._a.shape[-2] < A._a.shape[-1]
    x = A.mH if wide else A
    basis = _range_basis(x, q, niter)
    U, S, Vh = linalg_svd(adjoint_times(basis, x), False)
    U, V = matmul(basis, U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


@op()
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with `A - M` close to `U @ diag(S) @ V^H`: about q singular values, found from random projections."""
    x = matrices("svd_lowrank", A)
    if M is not None:
        x = x - M.expand(x._a.shape)
    return _svd_lowrank(x, 6 if q is None else q, 2 if niter is None else niter)


@op()
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) of the principal components of the rows of A (centred first unless `center` is False); q is min(6, m, n) by default."""
    x = matrices("pca_lowrank", A)
    m, n = x._a.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        x = x - x.sum(-2, keepdim=True) / m
    return _svd_lowrank(x, q, niter)
