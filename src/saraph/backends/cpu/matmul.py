"""Matrix products on the CPU. 16-bit floats are multiplied in float32 and rounded once; integers wrap around."""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)
BLAS = "fdFD"  # dtype characters that BLAS multiplies
_EXACT = 2.0**53  # integers up to here are exact in float64
_SMALL = 4096  # multiplications below which integers are multiplied as they are


@primitive
def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b` by the rules of `np.matmul` (vectors, matrices, broadcast batches); ValueError where shapes do not fit."""
    if a.dtype.char in BLAS:
        if b.ndim <= 2:
            if a.ndim <= 2:
                return a.dot(b)
            if a.shape[-1] == b.shape[0]:  # one product of all rows beats one per batch
                return a.reshape(math.prod(a.shape[:-1]), a.shape[-1]).dot(b).reshape(*a.shape[:-1], *b.shape[1:])
        return np.matmul(_blasable(a), _blasable(b))
    if a.dtype in REDUCED:
        return np.asarray(matmul(a.astype(float32), b.astype(float32))).astype(a.dtype)
    return _integers(a, b)


@primitive
def matmul_nt(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b^H` for operands of two or more dimensions."""
    if a.ndim == 2 and b.ndim == 2 and b.dtype.char in "fd":
        return a.dot(b.T)
    b = b.swapaxes(-1, -2)
    return matmul(a, b.conj() if b.dtype.kind == "c" else b)


@primitive
def matmul_tn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a^H @ b` for operands of two or more dimensions."""
    if a.ndim == 2 and b.ndim == 2 and a.dtype.char in "fd":
        return a.T.dot(b)
    a = a.swapaxes(-1, -2)
    return matmul(a.conj() if a.dtype.kind == "c" else a, b)


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
