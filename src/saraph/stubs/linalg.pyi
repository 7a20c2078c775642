# Made by `python -m saraph stubs` from the functions themselves: change those.

from typing import Any as _Any, NamedTuple as _NamedTuple
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator, Mapping as _Mapping, Sequence as _Sequence
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, slice as _slice, str as _str, tuple as _tuple, type as _type
from numpy import ndarray as _ndarray
from saraph.dtypes import dtype as _dtype
from saraph.devices import device as _device
from saraph.shapes import Size as _Size, layout as _layout, memory_format as _memory_format
from saraph.random import Generator as _Generator
from saraph.tensor.tensor import Tensor as _Tensor
from saraph.tensor.storages import TypedStorage as _TypedStorage, UntypedStorage as _UntypedStorage

def cholesky(A: _Tensor, *, upper: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """L with `L @ L^H = A` (or U with `U^H @ U = A`) for Hermitian positive-definite matrices; only one triangle of A is read."""
def cholesky_ex(A: _Tensor, *, upper: _bool = False, check_errors: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(L, info): as `cholesky`, but failure is reported in `info` (the order of the first bad minor), not raised."""
def cond(A: _Tensor, p: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """The condition number: for p None, 2 or -2 from the singular values, else norm(A, p) * norm(inverse, p), inf where A is singular."""
def cross(input: _Tensor, other: _Tensor, *, dim: _int = -1, out: _Tensor | None = None) -> _Tensor:
    """The cross product of vectors of 3 elements along `dim`; the other dimensions broadcast."""
def det(A: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The determinant of square matrices (..., n, n) -> (...)."""
def diagonal(A: _Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> _Tensor:
    """The diagonals of matrices, as a view; like `torch.diagonal`, but of the last two dimensions by default."""
def eig(A: _Tensor, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(eigenvalues, eigenvectors) of square matrices, both complex; vectors are columns of length 1, in no particular order."""
def eigh(A: _Tensor, UPLO: _str = 'L', *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(eigenvalues, eigenvectors) of Hermitian matrices, of which only the triangle UPLO is read: real, smallest first; vectors are columns."""
def eigvals(A: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The eigenvalues of square matrices, complex, in no particular order."""
def eigvalsh(A: _Tensor, UPLO: _str = 'L', *, out: _Tensor | None = None) -> _Tensor:
    """The eigenvalues of Hermitian matrices, smallest first."""
def householder_product(input: _Tensor, tau: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The first n columns of the product of Householder reflections that `geqrf` gives: (..., m, n) and (..., k), m >= n >= k -> (..., m, n)."""
def inv(A: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of square matrices (..., n, n). LinAlgError where one is singular."""
def inv_ex(A: _Tensor, *, check_errors: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(inverse, info): as `inv`, but a singular matrix is reported in `info` (the position of the zero pivot), not raised."""
def ldl_factor(A: _Tensor, *, hermitian: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(LD, pivots): Bunch-Kaufman factors of symmetric (or, with `hermitian`, Hermitian) matrices, for `ldl_solve`. Not differentiable."""
def ldl_factor_ex(A: _Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(LD, pivots, info): as `ldl_factor`, with failure reported in `info`."""
def ldl_solve(LD: _Tensor, pivots: _Tensor, B: _Tensor, *, hermitian: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = B`, from the results of `ldl_factor(A)`. Not differentiable."""
def lstsq(A: _Tensor, B: _Tensor, rcond: _float | None = None, *, driver: _str | None = None, out: _Any = None) -> _tuple[_Tensor, ...]:
    """(solution, residuals, rank, singular_values) of min |A X - B|: A (..., m, n), B (..., m, k) or (..., m)."""
def lu(A: _Tensor, *, pivot: _bool = True, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(P, L, U) with `A = P @ L @ U`: a permutation, a lower triangle with unit diagonal, an upper triangle."""
def lu_factor(A: _Tensor, *, pivot: _bool = True, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(LU, pivots): the factors of (..., m, n) in one matrix (L's unit diagonal is left out), and the row swaps, counted from 1."""
def lu_factor_ex(A: _Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(LU, pivots, info): as `lu_factor`, but a zero pivot is reported in `info`, not raised."""
def lu_solve(LU: _Tensor, pivots: _Tensor, B: _Tensor, *, left: _bool = True, adjoint: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = B` (or `X @ A = B`; with `adjoint` A^H in place of A), from the results of `lu_factor(A)`."""
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The matrix product, by the ranks of the operands:"""
def matrix_exp(A: _Tensor) -> _Tensor:
    """The exponential of square matrices, by scaling and squaring."""
def matrix_norm(A: _Tensor, ord: _Any = 'fro', dim: _Any = ..., keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The norm of the matrices in the two dimensions `dim`."""
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None = None) -> _Tensor:
    """Square matrices (batched) multiplied with themselves n times; 0 gives the identity, a negative n powers of the inverse."""
def matrix_rank(A: _Tensor, tol: _Any = None, hermitian: _bool = False, *, atol: _Any = None, rtol: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """How many singular values exceed max(atol, rtol * largest) (by default rtol is max(m, n) * eps). `tol` is an older name of `atol`."""
def multi_dot(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors."""
def norm(A: _Tensor, ord: _Any = None, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """A vector or matrix norm: of the matrices in two dimensions `dim`, else of vectors; with neither `ord` nor `dim`, the 2-norm of all elements."""
def pinv(A: _Tensor, rcond: _Any = None, hermitian: _bool = False, *, atol: _Any = None, rtol: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The pseudo-inverse (..., n, m) of matrices (..., m, n): singular values up to max(atol, rtol * largest) count as zero."""
def qr(A: _Tensor, mode: _str = 'reduced', *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(Q, R) with `A = Q @ R`, Q's columns orthonormal, R an upper triangle. `mode`: "reduced", "complete" (square Q), "r" (Q is empty)."""
def slogdet(A: _Tensor, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(sign, logabsdet): the sign (or phase) of the determinant and the logarithm of its magnitude, -inf where it is 0."""
def solve(A: _Tensor, B: _Tensor, *, left: _bool = True, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = B` (or `X @ A = B` with left=False): A is (..., n, n), B (..., n, k), or (n) or (..., n) for vectors."""
def solve_ex(A: _Tensor, B: _Tensor, *, left: _bool = True, check_errors: _bool = False, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(result, info): as `solve`, but a singular matrix is reported in `info`, not raised."""
def solve_triangular(A: _Tensor, B: _Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = B` (or `X @ A = B`) for triangular A, of which only that triangle is read (with `unitriangular` not its diagonal, taken as 1)."""
def svd(A: _Tensor, full_matrices: _bool = True, *, driver: _str | None = None, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(U, S, Vh) with `A = U @ diag(S) @ Vh`: S (real, largest first), U (..., m, m) and Vh (..., n, n), or min(m, n) vectors of each."""
def svdvals(A: _Tensor, *, driver: _str | None = None, out: _Tensor | None = None) -> _Tensor:
    """The singular values, largest first."""
def tensorinv(A: _Tensor, ind: _int = 2, *, out: _Tensor | None = None) -> _Tensor:
    """The tensor that undoes `tensordot(A, ...)` over A's dimensions from `ind` on; their sizes multiply to the same as those before."""
def tensorsolve(A: _Tensor, B: _Tensor, dims: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """X with `tensordot(A, X, X.ndim) = B`; `dims` are moved to the end of A first."""
def vander(x: _Tensor, *, N: _int | None = None) -> _Tensor:
    """The powers 0 to N - 1 of every element, as a last dimension: (..., n) -> (..., n, N)."""
def vecdot(x: _Tensor, y: _Tensor, *, dim: _int = -1, out: _Tensor | None = None) -> _Tensor:
    """Sums of `conj(x) * y` along a dimension; the others broadcast."""
def vector_norm(x: _Tensor, ord: _Any = 2, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """sum(|x|^ord)^(1/ord) of all elements or over the dimensions `dim`; ord inf, -inf: the largest, smallest |x|; 0: the number of non-zeros."""
