"""Solving and inverting: inv, solve, triangular systems, Cholesky, LU, LDL, determinants."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import LinAlgError, describe
from saraph.ops import return_types
from saraph.ops.linalg_checks import failure, floating, incompatible, matrices, raise_indefinite, raise_singular, same_kind, square
from saraph.ops.matmul import adjoint_times, matmul, times_adjoint
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor, unbroadcast
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import grad_enabled
from saraph.tensor.tensor import Tensor, record, record_many, unpack, wrap


def not_implemented(name: str) -> type:
    """A node for ops that PyTorch does not differentiate either: it raises when a gradient arrives."""

    @derivative("NotImplemented")
    def formula(node: Any, *grads: Tensor) -> Any:
        raise RuntimeError(f"derivative for {name} is not implemented")

    return formula


def identity(like: Tensor, size: int) -> Tensor:
    """The identity matrix in the dtype (and on the device) of another tensor."""
    return wrap(of(like._a).eye(size, size, like._a.dtype))


# -- inverse --------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgInvExBackward0")
def InvBackward(node: Any, g: Tensor | None, _: Any) -> Tensor | None:
    (inverse,) = unpack(node)
    return None if g is None else -adjoint_times(inverse, times_adjoint(g, inverse))


def _inverse(name: str, A: Tensor, check: bool) -> tuple[Tensor, ...]:
    a = square(name, A)._a
    results = of(a).inverse(a)
    if check:
        raise_singular(name, results[1])
    return record_many(results, InvBackward, (A,), save_results=(0,))


@op(namespaces="linalg", autocast="float32")
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices (..., n, n). LinAlgError where one is singular."""
    return _inverse("linalg.inv", A, True)[0]


@op(namespaces="linalg", autocast="float32")
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """(inverse, info): as `inv`, but a singular matrix is reported in `info` (the position of the zero pivot), not raised."""
    return return_types.linalg_inv_ex(_inverse("linalg.inv_ex", A, check_errors))


@op(method=True, autocast="float32")
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices; see `linalg.inv`."""
    return _inverse("linalg.inv", input, True)[0]


# -- solve ------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgSolveExBackward0")
def SolveBackward(node: Any, g: Tensor | None, _: Any) -> tuple[Tensor | None, Tensor | None]:
    if g is None:
        return None, None
    A, X = unpack(node)
    gB = solve_matrices(A.mH, g)[0]
    gA = unbroadcast(-times_adjoint(gB, X), A._a.shape) if node.needs(0) else None
    return gA, unbroadcast(gB, node.shape) if node.needs(1) else None


def solve_matrices(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """X with A X = B for matrices, and info."""
    r = of(A._a, B._a).solve(A._a, B._a)
    return record_many(r, SolveBackward, (A, B), (A,), save_results=(0,), shape=B._a.shape)


def _is_vector(A: Tensor, B: Tensor) -> bool:
    return B._a.ndim == 1 or (B._a.ndim == A._a.ndim - 1 and B._a.shape == A._a.shape[:-1])


def _solve(name: str, A: Any, B: Any, left: bool, check: bool) -> tuple[Tensor, Tensor]:
    A, B = square(name, A), check_tensor(B, name, "B")
    same_kind(name, A, B)
    if B._a.ndim == 0:
        raise RuntimeError(f"{name}: B must have at least 1 dimension, got {describe(B)}")
    vector = _is_vector(A, B)
    if vector and not left:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case {name} is equivalent to "
                           "B / A.squeeze(-1)")
    b = B.unsqueeze(-1) if vector else B
    if b._a.shape[-2 if left else -1] != A._a.shape[-1]:
        raise incompatible(name, A, b, left)
    x, info = solve_matrices(A, b) if left else solve_matrices(A.mT, b.mT)
    if check:
        found = failure(info._a)
        if found:
            raise LinAlgError(f"torch.{name}: {found[0]}The solver failed because the input matrix is singular.")
    if not left:
        x = x.mT
    return x.squeeze(-1) if vector else x, info


@op(namespaces="linalg", autocast="float32")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = B` (or `X @ A = B` with left=False): A is (..., n, n), B (..., n, k), or (n) or (..., n) for vectors.

    LinAlgError where a matrix is singular.
    """
    return _solve("linalg.solve", A, B, left, True)[0]


@op(namespaces="linalg", autocast="float32")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """(result, info): as `solve`, but a singular matrix is reported in `info`, not raised."""
    return return_types.linalg_solve_ex(_solve("linalg.solve_ex", A, B, left, check_errors))


# -- triangular systems -----------------------------------------------------------------------------------------------------------------


@derivative("LinalgSolveTriangularBackward0", saves_result=True)
def SolveTriangularBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    A, X = unpack(node)
    upper, left, unit = node.upper, node.left, node.unitriangular
    gB = _triangular(A.mH, g, not upper, left, unit)
    gA = None
    if node.needs(0):
        gA = -times_adjoint(gB, X) if left else -adjoint_times(X, gB)
        gA = unbroadcast(gA.triu(int(unit)) if upper else gA.tril(-int(unit)), A._a.shape)
    return gA, unbroadcast(gB, node.shape) if node.needs(1) else None


def _triangular(A: Tensor, B: Tensor, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    a, b = A._a, B._a
    r = of(a, b).triangular_solve(a, b, upper, left, unitriangular)
    return record(r, SolveTriangularBackward, (A, B), (A,), upper=upper, left=left, unitriangular=unitriangular, shape=b.shape)


@op(namespaces="linalg", autocast="float32")
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = B` (or `X @ A = B`) for triangular A, of which only that triangle is read (with `unitriangular` not its diagonal, taken as 1).

    Nothing is raised for zeros on the diagonal: the result holds inf and nan.
    """
    name = "linalg.solve_triangular"
    A, B = square(name, A), matrices(name, B, "B")
    same_kind(name, A, B)
    if B._a.shape[-2 if left else -1] != A._a.shape[-1]:
        raise incompatible(name, A, B, left)
    return _triangular(A, B, upper, left, unitriangular)


@op(method=True, autocast="float32")
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *,
                     out: Any = None) -> tuple[Tensor, Tensor]:
    """(solution, a copy of A): X with `A @ X = input`, or `A^T @ X = input`. `linalg.solve_triangular` is the newer form."""
    b, A = matrices("triangular_solve", input, "b"), square("triangular_solve", A)
    same_kind("triangular_solve", A, b)
    if b._a.shape[-2] != A._a.shape[-1]:
        raise RuntimeError(f"Incompatible matrix sizes for triangular_solve: each A matrix is {A._a.shape[-1]} by "
                           f"{A._a.shape[-1]} but each b matrix is "
                           f"{b._a.shape[-2]} by {b._a.shape[-1]}")
    x = _triangular(A.mT, b, not upper, True, unitriangular) if transpose else _triangular(A, b, upper, True, unitriangular)
    return return_types.triangular_solve((x, A.clone().expand(x._a.shape[:-2] + A._a.shape[-2:])))


# -- Cholesky ------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgCholeskyExBackward0")
def CholeskyBackward(node: Any, g: Tensor | None, _: Any) -> Tensor | None:
    """With P = L^-1 dA L^-H: dL = L * half(P), where half takes the lower triangle and half of the diagonal."""
    if g is None:
        return None
    (L,) = unpack(node)
    if node.upper:
        L, g = L.mH, g.mH
    m = adjoint_times(L, g)
    half = m.tril() - (m.diagonal(0, -2, -1) * 0.5).diag_embed()
    symmetric = (half + half.mH) * 0.5
    inner = _triangular(L.mH, symmetric, True)
    return _triangular(L, inner, False, left=False)


def _cholesky(name: str, A: Any, upper: bool, check: bool) -> tuple[Tensor, Tensor]:
    x = square(name, A)
    r = of(x._a).cholesky(x._a, upper)
    if check:
        raise_indefinite(name, r[1])
    return record_many(r, CholeskyBackward, (x,), save_results=(0,), upper=upper)


@op(namespaces="linalg", name="cholesky", autocast="float32")
def linalg_cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """L with `L @ L^H = A` (or U with `U^H @ U = A`) for Hermitian positive-definite matrices; only one triangle of A is read.

    LinAlgError where a matrix is not positive-definite.
    """
    return _cholesky("linalg.cholesky", A, upper, True)[0]


@op(namespaces="linalg", autocast="float32")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """(L, info): as `cholesky`, but failure is reported in `info` (the order of the first bad minor), not raised."""
    return return_types.linalg_cholesky_ex(_cholesky("linalg.cholesky_ex", A, upper, check_errors))


@op(method=True, autocast="float32")
def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The Cholesky factor; see `linalg.cholesky`."""
    return _cholesky("cholesky", input, upper, True)[0]


@derivative("CholeskySolveBackward0", saves_result=True)
def CholeskySolveBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The gradient of the factor is whole, as in PyTorch: the triangle that is not read gets one too."""
    L, X = unpack(node)
    gB = cholesky_solve(g, L, node.upper)
    gL = None
    if node.needs(1):
        both = times_adjoint(gB, X)
        both = both + both.mH
        gL = unbroadcast(-(matmul(L, both) if node.upper else matmul(both, L)), L._a.shape)
    return unbroadcast(gB, node.shape) if node.needs(0) else None, gL


@derivative("CholeskyInverseBackward0", saves_result=True)
def CholeskyInverseBackward(node: Any, g: Tensor) -> Tensor:
    L, inverse = unpack(node)
    both = matmul(matmul(inverse, g + g.mH), inverse)
    return -(matmul(L, both) if node.upper else matmul(both, L))


@op(method=True, autocast="float32")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = input`, where `input2` is A's Cholesky factor (lower unless `upper`)."""
    b, L = matrices("cholesky_solve", input, "b"), square("cholesky_solve", input2)
    same_kind("cholesky_solve", L, b)
    if b._a.shape[-2] != L._a.shape[-1]:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L._a.shape[-1]} by "
                           f"{L._a.shape[-1]} but each b matrix is "
                           f"{b._a.shape[-2]} by {b._a.shape[-1]}")
    backend, a = of(L._a), L._a
    adjoint = backend.conj(backend.transpose(a, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)))
    lower, raised = (adjoint, a) if upper else (a, adjoint)
    r = backend.triangular_solve(lower, b._a, False, True, False)
    r = backend.triangular_solve(raised, r, True, True, False)
    return record(r, CholeskySolveBackward, (b, L), (L,), upper=upper, shape=b._a.shape)


@op(method=True, autocast="float32")
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A, whose Cholesky factor is given."""
    L = square("cholesky_inverse", input)
    plain = wrap(L._a)
    root = _triangular(plain.mH if upper else plain, identity(L, L._a.shape[-1]), False)
    return record(adjoint_times(root, root)._a, CholeskyInverseBackward, (L,), (L,), upper=upper)


# -- LU ---------------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgLuFactorExBackward0")
def LuFactorBackward(node: Any, g: Tensor | None, *_: Any) -> Tensor | None:
    """With X = L1^-1 dA1 U1^-1: dL1 = L1 tril(X, -1), dU1 = triu(X) U1; what lies beyond the leading square follows from those."""
    if g is None:
        return None
    lu, pivots = unpack(node)
    m, n = lu._a.shape[-2:]
    k = min(m, n)
    P, L, U = lu_unpack(lu, pivots)
    gL, gU = g.narrow(-1, 0, k).tril(-1), g.narrow(-2, 0, k).triu()
    L1, U1 = L.narrow(-2, 0, k), U.narrow(-1, 0, k)
    below = adjoint_times(L1, gL.narrow(-2, 0, k))
    above = times_adjoint(gU.narrow(-1, 0, k), U1)
    parts = []
    if n > m:
        U2, gU2 = U.narrow(-1, k, n - k), gU.narrow(-1, k, n - k)
        below = below - times_adjoint(gU2, U2)
        parts.append((-1, _triangular(L1.mH, gU2, True, True, True)))
    elif m > n:
        L2, gL2 = L.narrow(-2, k, m - k), gL.narrow(-2, k, m - k)
        above = above - adjoint_times(L2, gL2)
        parts.append((-2, _triangular(U1.mH, gL2, False, False)))
    core = _triangular(L1.mH, below.tril(-1) + above.triu(), True, True, True)
    gA = _triangular(U1.mH, core, False, False)
    for dim, part in parts:
        gA = cat([gA, part], dim)
    return matmul(P, gA)


def _lu_factor(name: str, A: Any, pivot: bool) -> tuple[Tensor, ...]:
    x = floating(name, check_tensor(A, name, "A"))
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(x._a.shape)} instead")
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")
    return record_many(of(x._a).lu_factor(x._a), LuFactorBackward, (x,), save_results=(0, 1))


@op(namespaces="linalg", autocast="float32")
def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> tuple[Tensor, Tensor]:
    """(LU, pivots): the factors of (..., m, n) in one matrix (L's unit diagonal is left out), and the row swaps, counted from 1."""
    lu, pivots, info = _lu_factor("linalg.lu_factor", A, pivot)
    found = failure(info._a)
    if found:
        raise RuntimeError(f"torch.linalg.lu_factor: {found[0]}U[{found[1]},{found[1]}] is zero and using it on lu_solve "
                           "would result in a division by "
                           "zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                           "linalg.lu_factor_ex(A, pivot)")
    return return_types.linalg_lu_factor((lu, pivots))


@op(namespaces="linalg", autocast="float32")
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(LU, pivots, info): as `lu_factor`, but a zero pivot is reported in `info`, not raised."""
    results = _lu_factor("linalg.lu_factor_ex", A, pivot)
    if check_errors and failure(results[2]._a):
        where, k = failure(results[2]._a)
        raise LinAlgError(f"torch.linalg.lu_factor_ex: {where}U[{k},{k}] is zero and using it on lu_solve would result in a division by zero.")
    return return_types.linalg_lu_factor_ex(results)


@op(autocast="float32")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True, *,
              out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(P, L, U) from `lu_factor`'s results, with `A = P @ L @ U`; parts that are not asked for are empty."""
    lu = floating("lu_unpack", check_tensor(LU_data, "lu_unpack", "LU_data"))
    if unpack_pivots and LU_pivots._a.dtype.name != "int32":
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. Note: "
                           "this function is intended to be "
                           f"used with the output produced by torch.linalg.lu_factor (got {describe(LU_pivots)})")
    backend, kind = of(lu._a), lu._a.dtype
    empty = wrap(backend.empty((0,), kind))
    m, n = lu._a.shape[-2:]
    k = min(m, n)
    P = wrap(backend.permutation_matrix(LU_pivots._a, m, kind)) if unpack_pivots else empty
    if not unpack_data:
        return return_types.lu_unpack((P, empty, empty))
    L = lu.narrow(-1, 0, k).tril(-1) + wrap(backend.eye(m, k, kind))
    return return_types.lu_unpack((P, L, lu.narrow(-2, 0, k).triu()))


@op(namespaces="linalg", name="lu", autocast="float32")
def linalg_lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(P, L, U) with `A = P @ L @ U`: a permutation, a lower triangle with unit diagonal, an upper triangle."""
    lu, pivots, _ = _lu_factor("linalg.lu", A, pivot)
    return return_types.linalg_lu(lu_unpack(lu, pivots))


@op(method=True, autocast="float32")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> tuple[Tensor, ...]:
    """(LU, pivots), and info with `get_infos`; see `linalg.lu_factor_ex`."""
    results = _lu_factor("lu", A, pivot)
    return return_types._lu_with_info(results) if get_infos else results[:2]


@op(namespaces="linalg", name="lu_solve", autocast="float32")
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = B` (or `X @ A = B`; with `adjoint` A^H in place of A), from the results of `lu_factor(A)`."""
    name = "linalg.lu_solve"
    LU, B = square(name, LU, "LU"), matrices(name, B, "B")
    same_kind(name, LU, B)
    if check_tensor(pivots, name, "pivots")._a.dtype.name != "int32":
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32, got {describe(pivots)}")
    if pivots._a.shape != LU._a.shape[:-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix, got {describe(LU, pivots)}")
    if B._a.shape[-2 if left else -1] != LU._a.shape[-1]:
        raise incompatible(name, LU, B, left)
    if not left:  # (X A)^H = A^H X^H
        return linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    P = wrap(of(LU._a).permutation_matrix(pivots._a, LU._a.shape[-1], LU._a.dtype))
    if adjoint:
        return matmul(P, _triangular(LU.mH, _triangular(LU.mH, B, False), True, True, True))
    return _triangular(LU, _triangular(LU, matmul(P.mT, B), False, True, True), True)


@op(method=True, autocast="float32")
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = input`, from the results of `lu_factor(A)`."""
    return linalg_lu_solve(LU_data, LU_pivots, input)


# -- LDL ------------------------------------------------------------------------------------------------------------------------------------------

_LdlFactorBackward = not_implemented("linalg_ldl_factor_ex")
_LdlSolveBackward = not_implemented("linalg_ldl_solve")


def _ldl_factor(name: str, A: Any, hermitian: bool, check: bool) -> tuple[Tensor, ...]:
    x = square(name, A)
    results = of(x._a).ldl_factor(x._a, hermitian)
    if check and failure(results[2]):
        where, k = failure(results[2])
        raise LinAlgError(f"{name}: {where}The diagonal element {k} of D is zero: the factorization cannot be used to solve.")
    return record_many(results, _LdlFactorBackward, (x,))


@op(namespaces="linalg", autocast="float32")
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """(LD, pivots): Bunch-Kaufman factors of symmetric (or, with `hermitian`, Hermitian) matrices, for `ldl_solve`. Not differentiable."""
    return return_types.linalg_ldl_factor(_ldl_factor("torch.linalg.ldl_factor", A, hermitian, True)[:2])


@op(namespaces="linalg", autocast="float32")
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(LD, pivots, info): as `ldl_factor`, with failure reported in `info`."""
    return return_types.linalg_ldl_factor_ex(_ldl_factor("torch.linalg.ldl_factor_ex", A, hermitian, check_errors))


@op(namespaces="linalg", autocast="float32")
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """X with `A @ X = B`, from the results of `ldl_factor(A)`. Not differentiable."""
    name = "torch.linalg.ldl_solve"
    LD, B = square(name, LD, "LD"), matrices(name, B, "B")
    if check_tensor(pivots, name, "pivots")._a.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {describe(pivots)}")
    same_kind(name, LD, B)
    if pivots._a.shape != LD._a.shape[:-1]:
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, got {describe(LD, pivots)}")
    if B._a.shape[-2] != LD._a.shape[-1]:
        raise incompatible(name, LD, B, True)
    r = of(LD._a).ldl_solve(LD._a, pivots._a, B._a, hermitian)
    return record(r, _LdlSolveBackward, (LD, B))


# -- determinants -----------------------------------------------------------------------------------------------------------------------------------


@derivative("LinalgDetBackward0")
def DetBackward(node: Any, g: Tensor) -> Tensor:
    """The cofactors; they exist for singular matrices too, but are written with the inverse where they are to be differentiated again."""
    (A,) = unpack(node)
    g = g.unsqueeze(-1).unsqueeze(-1)
    if grad_enabled():
        value = det_of(A).unsqueeze(-1).unsqueeze(-1)
        return g * value.conj() * inv_ex(A)[0].mH
    return g * wrap(of(A._a).det_gradient(A._a))


def det_of(A: Tensor) -> Tensor:
    """The determinant of matrices that were checked."""
    return record(of(A._a).det(A._a), DetBackward, (A,), (A,))


@op(namespaces="linalg", name="det", autocast="float32")
def linalg_det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of square matrices (..., n, n) -> (...)."""
    return det_of(square("linalg.det", A))


@op(method=True, autocast="float32")
def det(input: Tensor) -> Tensor:
    """The determinant; see `linalg.det`."""
    return det_of(square("linalg.det", input))


@derivative("LinalgSlogdetBackward0")
def SlogdetBackward(node: Any, g_sign: Tensor | None, g_log: Tensor | None) -> Tensor | None:
    A, sign = unpack(node)
    weight = g_log
    if A._a.dtype.kind == "c":
        if weight is not None:
            weight = weight.to(A.dtype)
        if g_sign is not None:
            turn = (g_sign.conj() * sign).imag * 1j
            weight = -turn if weight is None else weight - turn
    if weight is None:
        return None
    return weight.unsqueeze(-1).unsqueeze(-1) * inv_ex(A)[0].mH


def _slogdet(A: Any) -> tuple[Tensor, Tensor]:
    x = square("linalg.slogdet", A)
    return record_many(of(x._a).slogdet(x._a), SlogdetBackward, (x,), (x,), save_results=(0,))


@op(namespaces="linalg", name="slogdet", autocast="float32")
def linalg_slogdet(A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(sign, logabsdet): the sign (or phase) of the determinant and the logarithm of its magnitude, -inf where it is 0."""
    return return_types.linalg_slogdet(_slogdet(A))


@op(method=True, autocast="float32")
def slogdet(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(sign, logabsdet); see `linalg.slogdet`."""
    return return_types.slogdet(_slogdet(input))


@op(method=True, autocast="float32")
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: nan where a real one is negative, -inf where it is 0."""
    sign, value = _slogdet(input)
    if sign._a.dtype.kind == "c":
        return sign.log() + value
    return value.masked_fill(sign == -1, float("nan"))
