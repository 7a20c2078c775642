"""Losses on the CPU that are worth a primitive of their own."""
from __future__ import annotations

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.kernels import blocks, rows
from saraph.kernels.kernel import LARGE


@primitive
def class_losses(a: np.ndarray, target: np.ndarray, ignore_index: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-log softmax(a)[target] of every row, 0 where the target is `ignore_index`; and the two terms of the softmax of every row."""
    losses, top, log_total = rows.class_loss.function(a, target)
    if ignore_index is not None:
        losses[target == ignore_index] = 0
    return losses, top, log_total


@primitive
def class_losses_backward(g: np.ndarray, a: np.ndarray, target: np.ndarray, ignore_index: int | None, top: np.ndarray, log_total: np.ndarray) -> np.ndarray:
    """The gradient of `a` from that of every row's loss."""
    if ignore_index is not None:
        g = np.where(target == ignore_index, a.dtype.type(0), g)
    if a.size < LARGE:
        return rows.class_loss_backward.function(a, target, top, log_total, g)
    return rows.class_loss_backward.function(a, target, top, log_total, g, out=blocks.empty(a.shape, a.dtype))


@primitive
def all_within(a: np.ndarray, limit: int) -> bool:
    """Whether every number of an int64 array is at least 0 and below a limit."""
    return not (a.view(np.uint64) >= limit).any() if a.flags.c_contiguous else bool(((a >= 0) & (a < limit)).all())
