"""Standardising on the CPU."""
from __future__ import annotations

import numpy as np

from saraph.backends.cpu.table import primitive


@primitive
def standardize(a: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """((a - mean) rstd, mean, rstd) over the axes, which are kept."""
    count = 1
    for d in axes:
        count *= a.shape[d]
    divisor = a.dtype.type(max(count, 1))
    mean = np.add.reduce(a, axes, keepdims=True) / divisor
    centred = a - mean
    variance = np.add.reduce(np.square(centred), axes, keepdims=True) / divisor
    rstd = 1 / np.sqrt(variance + a.dtype.type(eps))
    np.multiply(centred, rstd, out=centred)
    return centred, mean, rstd


@primitive
def epsilon(dtype: np.dtype) -> float:
    """The distance from 1 to the next number of a floating point (or complex) type."""
    return float(np.finfo(dtype).eps)
