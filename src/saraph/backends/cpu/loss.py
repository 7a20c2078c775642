"""Losses on the CPU that are worth a primitive of their own."""
from __future__ import annotations

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.kernels import blocks
from saraph.kernels.kernel import LARGE
from saraph.kernels.rows import scaled_softmax, softmax_terms


@primitive
def class_losses(a: np.ndarray, target: np.ndarray, ignore_index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-log softmax(a)[target] of every row, 0 where the target is `ignore_index`; and the two terms of the softmax of every row."""
    top, log_total = softmax_terms.function(a)
    kept = target != ignore_index
    own = a[np.arange(len(a)), np.where(kept, target, 0)] if a.size else np.zeros(len(a), a.dtype)
    return np.where(kept, log_total - (own - top), a.dtype.type(0)), top, log_total


@primitive
def class_losses_backward(g: np.ndarray, a: np.ndarray, target: np.ndarray, ignore_index: int, top: np.ndarray, log_total: np.ndarray) -> np.ndarray:
    """The gradient of `a` from that of every row's loss."""
    kept = target != ignore_index
    scale = np.where(kept, g, a.dtype.type(0))
    result = scaled_softmax.function(a, top, log_total, scale, out=blocks.empty(a.shape, a.dtype) if a.size >= LARGE else None)
    if a.size:
        result[~kept] = 0
        result[np.arange(len(a)), np.where(kept, target, 0)] -= scale
    return result
