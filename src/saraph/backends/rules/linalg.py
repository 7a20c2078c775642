"""Rules of linear algebra."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, rule
from saraph.shapes import broadcast_shapes

Result = tuple[Shape, np.dtype]
int32 = np.dtype(np.int32)


def _real(a: Any) -> np.dtype:
    return np.dtype(a.dtype.char.lower())


def _joint(a: Any, b: Any) -> Shape:
    return broadcast_shapes(a.shape[:-2], b.shape[:-2])


@rule("lu_factor")
def lu_factor(a: Any) -> list[Result]:
    return [(a.shape, a.dtype), ((*a.shape[:-2], min(a.shape[-2:])), int32), (a.shape[:-2], int32)]


@rule("permutation_matrix")
def permutation_matrix(pivots: Any, size: int, dtype: np.dtype) -> Result:
    return (*pivots.shape[:-1], size, size), dtype


@rule("inverse", "cholesky")
def inverse(a: Any, upper: bool = False) -> list[Result]:
    return [(a.shape, a.dtype), (a.shape[:-2], int32)]


@rule("solve")
def solve(a: Any, b: Any) -> list[Result]:
    return [((*_joint(a, b), *b.shape[-2:]), b.dtype), (a.shape[:-2], int32)]


@rule("det")
def det(a: Any) -> Result:
    return a.shape[:-2], a.dtype


@rule("slogdet")
def slogdet(a: Any) -> list[Result]:
    return [(a.shape[:-2], a.dtype), (a.shape[:-2], _real(a))]


@rule("det_gradient", "matrix_exp")
def same(a: Any) -> Result:
    return a.shape, a.dtype


@rule("triangular_solve")
def triangular_solve(a: Any, b: Any, upper: bool, left: bool, unitriangular: bool) -> Result:
    return (*_joint(a, b), *b.shape[-2:]), b.dtype


@rule("ldl_factor")
def ldl_factor(a: Any, hermitian: bool) -> list[Result]:
    return [(a.shape, a.dtype), (a.shape[:-1], int32), (a.shape[:-2], int32)]


@rule("ldl_solve")
def ldl_solve(ld: Any, pivots: Any, b: Any, hermitian: bool) -> Result:
    return (*_joint(ld, b), *b.shape[-2:]), b.dtype


@rule("qr")
def qr(a: Any, mode: str) -> list[Result]:
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    small = m if mode == "complete" else min(m, n)
    return [((0,) if mode == "r" else (*batch, m, small), a.dtype), ((*batch, small, n), a.dtype)]


@rule("geqrf")
def geqrf(a: Any) -> list[Result]:
    return [(a.shape, a.dtype), ((*a.shape[:-2], min(a.shape[-2:])), a.dtype)]


@rule("svd")
def svd(a: Any, full_matrices: bool) -> list[Result]:
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    k = min(m, n)
    return [((*batch, m, m if full_matrices else k), a.dtype), ((*batch, k), _real(a)), ((*batch, n if full_matrices else k, n), a.dtype)]


@rule("svdvals")
def svdvals(a: Any) -> Result:
    return (*a.shape[:-2], min(a.shape[-2:])), _real(a)


@rule("eigh")
def eigh(a: Any, lower: bool) -> list[Result]:
    return [(a.shape[:-1], _real(a)), (a.shape, a.dtype)]


@rule("eigvalsh")
def eigvalsh(a: Any, lower: bool) -> Result:
    return a.shape[:-1], _real(a)


@rule("eig")
def eig(a: Any) -> list[Result]:
    kind = np.result_type(a.dtype, np.complex64)
    return [(a.shape[:-1], kind), (a.shape, kind)]


@rule("lstsq")
def lstsq(a: Any, b: Any, rcond: float, driver: str) -> list[Result]:
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    return [((*batch, n, b.shape[-1]), a.dtype), (batch, np.dtype(np.int64)), ((*batch, min(m, n)), _real(a))]
