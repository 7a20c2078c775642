"""Rules of the spatial primitives: windows, convolution, pooling, padding, resampling; and of the normalisations."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, rule
from saraph.shapes import channels_last_strides

Ints = tuple[int, ...]
int64 = np.dtype(np.int64)


def _lies_channels_last(a: Any) -> bool:
    return a.ndim >= 4 and a.shape[1] > 1 and not a.flags.c_contiguous and a.strides[1] == a.itemsize and a.strides[-1] == a.itemsize * a.shape[1]


def like_layout(shape: Shape, dtype: np.dtype, *arrays: Any) -> Any:
    """A ghost of that shape: channels innermost where one of `arrays` has them there, else row-major."""
    if not any(_lies_channels_last(a) for a in arrays):
        return shape, dtype
    strides = [s * dtype.itemsize for s in channels_last_strides(shape)]
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)


def _counts(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation))


@rule("im2col")
def im2col(a: Any, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> tuple[Shape, np.dtype]:
    counts = _counts(a.shape[2:], kernel, stride, padding, dilation)
    return (a.shape[0], a.shape[1] * math.prod(kernel), math.prod(counts)), a.dtype


@rule("col2im")
def col2im(columns: Any, size: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> tuple[Shape, np.dtype]:
    return (columns.shape[0], columns.shape[1] // max(math.prod(kernel), 1), *size), columns.dtype


@rule("convolution")
def convolution(x: Any, w: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    counts = _counts(x.shape[2:], w.shape[2:], stride, padding, dilation)
    return like_layout((x.shape[0], w.shape[0], *counts), x.dtype, x, w)


@rule("convolution_input_grad")
def convolution_input_grad(g: Any, w: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    return like_layout((g.shape[0], w.shape[1] * groups, *size), g.dtype, g, w)


@rule("convolution_weight_grad")
def convolution_weight_grad(x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    return (g.shape[1], x.shape[1] // groups, *kernel), x.dtype
