"""Matrix products on the CPU: kernels for floats, BLAS where it is small or complex. 16-bit floats are summed in float32 and rounded once; integers wrap
around.
"""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import jit
from saraph.kernels.gemm import plan

float32 = np.dtype(np.float32)
BLAS = "fdFD"  # dtype characters that BLAS multiplies
_EXACT = 2.0**53  # integers up to here are exact in float64
_SMALL = 4096  # multiplications below which integers are multiplied as they are
#: Multiplications up to which BLAS takes less time than a kernel. It uses one thread up to there.
BLAS_WORK = 1 << 18
BLAS_MATRIX = 4096  # the same for one matrix of a batch
DOT = 1 << 13  # elements of a piece of a dot product; BLAS uses one thread up to there
REDUCED_WORK = 512  # multiplications of 16-bit floats from which they are not converted first


@primitive
def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` by the rules of `np.matmul` (vectors, matrices, broadcast batches); ValueError where shapes do not fit."""
    char = a.dtype.char
    if char in BLAS:
        if a.ndim <= 2 and b.ndim <= 2:
            if a.ndim == b.ndim == 1 and char in "fd":
                return _dot(a, b)
            if a.size * b.shape[-1] <= BLAS_WORK or char in "FD":
                return a.dot(b)
        elif b.ndim == 2 and char in "FD" and a.shape[-1] == b.shape[0]:  # one product of all rows beats one per batch
            return a.reshape(math.prod(a.shape[:-1]), a.shape[-1]).dot(b).reshape(*a.shape[:-1], *b.shape[1:])
    elif a.dtype not in REDUCED:
        return _integers(a, b)
    if a.ndim == 1 or b.ndim == 1:
        return _with_vectors(a, b)
    return _product(a, b)


@primitive
def matmul_nt(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b^H` for operands of two or more dimensions."""
    b = b.swapaxes(-1, -2)
    return matmul(a, b.conj() if b.dtype.kind == "c" else b)


@primitive
def matmul_tn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a^H @ b` for operands of two or more dimensions."""
    a = a.swapaxes(-1, -2)
    return matmul(a.conj() if a.dtype.kind == "c" else a, b)


@primitive
def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """`x @ weight^T + bias` for real x (..., m), weight (p, m), bias (p): (..., p)."""
    return affine(bias, x, weight.T)


@primitive
def affine(addend: np.ndarray, a: np.ndarray, b: np.ndarray, beta: float = 1, alpha: float = 1) -> np.ndarray:
    """`beta * addend + alpha * a @ b` for operands of two or more dimensions and one dtype (an integer's beta and alpha are integers).

    The addend broadcasts to the product. With beta 0 it is not looked at. 16-bit floats are rounded once.
    """
    kind = a.dtype
    if beta != 0 and (kind.char in "fd" or kind in REDUCED) and _worth(a, b):
        r = plan.multiply(a, b, np.asarray(addend), float(alpha), float(beta))
        if r is not None:
            return r
    if kind in REDUCED:
        wide = affine(addend.astype(float32), a.astype(float32), b.astype(float32), beta, alpha)
        return wide.astype(kind)
    r = matmul(a, b)
    if alpha != 1:
        r *= kind.type(alpha)
    if beta != 0:
        r += addend if beta == 1 else addend * kind.type(beta)
    return r


def _worth(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a kernel multiplies these two in less time than BLAS."""
    one = a.shape[-2] * a.shape[-1] * b.shape[-1]
    if not one or not a.size or not b.size or not jit.available():
        return False
    work = one * max(a.size // (a.shape[-2] * a.shape[-1]), b.size // (b.shape[-2] * b.shape[-1]))
    if a.dtype in REDUCED:
        return work >= REDUCED_WORK
    return work > BLAS_WORK and (one > BLAS_MATRIX or b.ndim == 2)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of real floats, two or more dimensions."""
    if _worth(a, b):
        r = plan.multiply(a, b)
        if r is not None:
            return r
    if a.dtype in REDUCED:
        return np.matmul(a.astype(float32), b.astype(float32)).astype(a.dtype)
    return np.matmul(_blasable(a), _blasable(b))


def _with_vectors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Vectors are a row (left) or a column (right)."""
    if a.shape[-1] != (b.shape[0] if b.ndim == 1 else b.shape[-2]):
        raise ValueError(f"matmul: inner sizes of {a.shape} and {b.shape} differ")
    r = _product(a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b)
    shape = r.shape[:-1] if b.ndim == 1 else r.shape
    if a.ndim == 1:
        shape = shape[:-1] if b.ndim == 1 else (*shape[:-2], shape[-1])
    return r.reshape(shape)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of two vectors: the sum of the sums of pieces, which threads share."""
    pieces = a.size // DOT
    if pieces < 2 or a.size != b.size or not jit.available():
        return a.dot(b)
    cut = pieces * DOT
    heads = plan.multiply(a[:cut].reshape(pieces, 1, DOT), b[:cut].reshape(pieces, DOT, 1))
    return a.dot(b) if heads is None else heads.sum() + a[cut:].dot(b[cut:])


def _blasable(a: np.ndarray) -> np.ndarray:
    """np.matmul hands matrices to BLAS only when one of their dimensions is dense; others are copied first."""
    if a.ndim < 3:
        return a
    rows, columns = a.strides[-2:]
    size = a.itemsize
    if (columns == size and rows >= size * a.shape[-1]) or (rows == size and columns >= size * a.shape[-2]) or a.size == 0:
        return a
    return a.copy("C")


def _integers(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy multiplies integers without BLAS; where all sums are exact in float64, BLAS does it."""
    inner = a.shape[-1]
    if a.size * max(b.shape[-1], 1) <= _SMALL or a.dtype.kind == "b" or b.size == 0:
        return np.matmul(a, b)
    largest = [max(abs(int(x.max())), abs(int(x.min()))) for x in (a, b)]
    if float(largest[0]) * float(largest[1]) * inner >= _EXACT:
        return np.matmul(a, b)
    return np.asarray(matmul(a.astype(np.float64), b.astype(np.float64))).astype(np.int64).astype(a.dtype)


@primitive
def cross(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
    """The cross product along an axis (counted from the end) of size 3; the rest broadcasts."""
    x, y = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    return np.stack(parts, axis).astype(a.dtype, copy=False)
