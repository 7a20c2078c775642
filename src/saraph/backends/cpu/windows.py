"""Sliding windows over the spatial dimensions of (batch, channels, *spatial) arrays: what convolution, pooling and fold share."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)
Ints = Sequence[int]


def is_channels_last(a: np.ndarray) -> bool:
    """Whether a (batch, channels, *spatial) array lies in memory with its channels innermost (and could not be read as row-major)."""
    if a.ndim < 4 or a.shape[1] == 1 or a.size == 0 or a.flags.c_contiguous:
        return False
    return a.strides[1] == a.itemsize and a.transpose(0, *range(2, a.ndim), 1).flags.c_contiguous


def empty_like_layout(a: np.ndarray, shape: tuple[int, ...], dtype: np.dtype | None = None) -> np.ndarray:
    """Uninitialised memory of another shape: channels innermost where `a` has them there, else row-major."""
    kind = a.dtype if dtype is None else dtype
    if not is_channels_last(a):
        return np.empty(shape, kind)
    return channels_first(np.empty((shape[0], *shape[2:], shape[1]), kind))


def channels_first(a: np.ndarray) -> np.ndarray:
    """(batch, *spatial, channels) seen as (batch, channels, *spatial)."""
    return a.transpose(0, a.ndim - 1, *range(1, a.ndim - 1))


def channels_last(a: np.ndarray) -> np.ndarray:
    """(batch, channels, *spatial) seen as (batch, *spatial, channels)."""
    return a.transpose(0, *range(2, a.ndim), 1)


def window_counts(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> tuple[int, ...]:
    """How many windows fit in each (symmetrically padded) dimension."""
    return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)])


def windows(a: np.ndarray, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints) -> np.ndarray:
    """A view (batch, channels, *kernel, *counts) of every window of an array that is already padded."""
    spatial = a.strides[2:]
    strides = (*a.strides[:2], *[s * d for s, d in zip(spatial, dilation)], *[s * t for s, t in zip(spatial, stride)])
    return np.lib.stride_tricks.as_strided(a, (*a.shape[:2], *kernel, *counts), strides)


def interior(padding: Ints, size: Ints) -> tuple[Any, ...]:
    """The index of what is not padding in a padded (batch, channels, *spatial) array."""
    return (slice(None), slice(None), *[slice(p, p + n) for p, n in zip(padding, size)])


def taps(kernel: Ints) -> Any:
    """All positions in a window, in row-major order."""
    return np.ndindex(*kernel)


def tap_slices(tap: Ints, stride: Ints, dilation: Ints, counts: Ints) -> tuple[slice, ...]:
    """Where the elements lie that stand at position `tap` of their window, one slice a spatial dimension."""
    return tuple([slice(t * d, t * d + (n - 1) * s + 1, s) for t, s, d, n in zip(tap, stride, dilation, counts)])


def padded(a: np.ndarray, padding: Ints, value: Any = 0) -> np.ndarray:
    """The array with a border of `value` around its spatial dimensions, in the same memory order."""
    if not any(padding):
        return a
    size = a.shape[2:]
    out = empty_like_layout(a, (*a.shape[:2], *[n + 2 * p for n, p in zip(size, padding)]))
    out[...] = value
    out[interior(padding, size)] = a
    return out


@primitive
def im2col(a: np.ndarray, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> np.ndarray:
    """Every window of (batch, channels, *spatial) as a column: (batch, channels * window elements, windows)."""
    counts = window_counts(a.shape[2:], kernel, stride, padding, dilation)
    view = windows(padded(a, padding), kernel, stride, dilation, counts)
    batch, rows = a.shape[0], a.shape[1] * int(np.prod(kernel))
    return view.copy("C").reshape(batch, rows, int(np.prod(counts)))


@primitive
def col2im(columns: np.ndarray, size: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> np.ndarray:
    """The adjoint of im2col: columns are added up where their elements came from, in an array of that spatial size."""
    kind = columns.dtype
    if kind in REDUCED:
        return col2im(columns.astype(float32), size, kernel, dilation, padding, stride).astype(kind)
    counts = window_counts(size, kernel, stride, padding, dilation)
    batch, channels = columns.shape[0], columns.shape[1] // max(int(np.prod(kernel)), 1)
    wide = np.zeros((batch, channels, *[n + 2 * p for n, p in zip(size, padding)]), kind)
    add_columns(wide, columns.reshape(batch, channels, *kernel, *counts), kernel, stride, dilation, counts)
    return wide[interior(padding, size)].copy("C") if any(padding) else wide


def add_columns(wide: np.ndarray, columns: np.ndarray, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints) -> None:
    """Add columns (batch, channels, *kernel, *counts) to the padded array they are windows of."""
    every = slice(None)
    for tap in taps(kernel):
        target = wide[(every, every, *tap_slices(tap, stride, dilation, counts))]
        np.add(target, columns[(every, every, *tap)], target) if target.dtype.kind != "b" else np.logical_or(target, columns[(every, every, *tap)], target)
