"""Reductions on the CPU. Axes come normalised, as a tuple; an empty tuple reduces nothing."""
from __future__ import annotations

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)


@primitive
def sum_(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool, dtype: np.dtype | None = None) -> np.ndarray:
    if dtype is not None and dtype != a.dtype:
        a = a.astype(dtype)
    if a.dtype in REDUCED:
        return np.asarray(np.add.reduce(a.astype(float32), axes, keepdims=keepdims)).astype(a.dtype)
    if a.dtype.kind == "b":
        return np.add.reduce(a, axes, np.int64, keepdims=keepdims)
    return np.add.reduce(a, axes, a.dtype, keepdims=keepdims)


@primitive
def prod(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    if a.dtype in REDUCED:
        return np.asarray(np.multiply.reduce(a.astype(float32), axes, keepdims=keepdims)).astype(a.dtype)
    return np.multiply.reduce(a, axes, a.dtype, keepdims=keepdims)


@primitive
def amax(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    return np.maximum.reduce(a, axes, keepdims=keepdims)


@primitive
def amin(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    return np.minimum.reduce(a, axes, keepdims=keepdims)


@primitive
def any_(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    return np.logical_or.reduce(a, axes, keepdims=keepdims)


@primitive
def all_(a: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    return np.logical_and.reduce(a, axes, keepdims=keepdims)


@primitive
def argmax(a: np.ndarray, axis: int, keepdims: bool) -> np.ndarray:
    return np.argmax(_nan_first(a), axis, keepdims=keepdims)


@primitive
def argmin(a: np.ndarray, axis: int, keepdims: bool) -> np.ndarray:
    return np.argmin(_nan_first(a), axis, keepdims=keepdims)


def _nan_first(a: np.ndarray) -> np.ndarray:
    """NumPy's argmax already stops at the first NaN, except for ml_dtypes' types."""
    return a.astype(float32) if a.dtype in REDUCED else a
