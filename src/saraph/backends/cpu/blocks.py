"""Sliding blocks of images on the CPU."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)


def _counts(sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[int, int]:
    return tuple((s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, d, p, t in zip(sizes, kernel, dilation, padding, stride))


def _places(kernel: Any, dilation: Any, stride: Any, counts: Any) -> Any:
    """For every element of the kernel: its number, and the slices of the padded image it walks over."""
    for number, offset in enumerate(itertools.product(*[range(k) for k in kernel])):
        yield number, tuple(slice(i * d, i * d + (c - 1) * t + 1, t) for i, d, c, t in zip(offset, dilation, counts, stride))


@primitive
def im2col(a: np.ndarray, kernel: Any, dilation: Any, padding: Any, stride: Any) -> np.ndarray:
    """(batch, channels, h, w) -> (batch, channels * kernel, blocks)."""
    batch, channels, *sizes = a.shape
    counts = _counts(sizes, kernel, dilation, padding, stride)
    padded = np.zeros((batch, channels, *[s + 2 * p for s, p in zip(sizes, padding)]), a.dtype)
    padded[:, :, padding[0]:padding[0] + sizes[0], padding[1]:padding[1] + sizes[1]] = a
    found = np.empty((batch, channels, kernel[0] * kernel[1], *counts), a.dtype)
    for number, place in _places(kernel, dilation, stride, counts):
        found[:, :, number] = padded[(slice(None), slice(None), *place)]
    return found.reshape(batch, channels * kernel[0] * kernel[1], counts[0] * counts[1])


@primitive
def col2im(a: np.ndarray, sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> np.ndarray:
    """(batch, channels * kernel, blocks) -> (batch, channels, h, w), overlapping blocks added."""
    batch, count = a.shape[0], kernel[0] * kernel[1]
    channels, counts = a.shape[1] // count, _counts(sizes, kernel, dilation, padding, stride)
    wide = float32 if a.dtype in REDUCED else a.dtype
    blocks = a.reshape(batch, channels, count, *counts)
    padded = np.zeros((batch, channels, *[s + 2 * p for s, p in zip(sizes, padding)]), wide)
    for number, place in _places(kernel, dilation, stride, counts):
        padded[(slice(None), slice(None), *place)] += blocks[:, :, number].astype(wide, copy=False)
    inner = padded[:, :, padding[0]:padding[0] + sizes[0], padding[1]:padding[1] + sizes[1]]
    return np.ascontiguousarray(inner).astype(a.dtype, copy=False)
