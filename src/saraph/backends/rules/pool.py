"""Rules of pooling and padding."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import rule

Shape = tuple[int, ...]
int64 = np.dtype(np.int64)


@rule("max_pool")
def max_pool(a: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, out: Shape) -> list[tuple[Shape, np.dtype]]:
    shape = (*a.shape[:a.ndim - len(kernel)], *out)
    return [(shape, a.dtype), (shape, int64)]


@rule("place_maxima")
def place_maxima(g: Any, index: Any, shape: Shape, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Shape, np.dtype]:
    return tuple(shape), g.dtype


@rule("avg_pool")
def avg_pool(a: Any, kernel: Any, stride: Any, padding: Any, out: Shape, divisors: Any) -> tuple[Shape, np.dtype]:
    return (*a.shape[:a.ndim - len(kernel)], *out), a.dtype


@rule("spread_average")
def spread_average(g: Any, shape: Shape, kernel: Any, stride: Any, padding: Any, divisors: Any) -> tuple[Shape, np.dtype]:
    return tuple(shape), g.dtype


@rule("window_argmax")
def window_argmax(a: Any, windows: Any) -> tuple[Shape, np.dtype]:
    return (*a.shape[:a.ndim - len(windows)], *[len(w) for w in windows]), int64


@rule("positions")
def positions(values: Any) -> tuple[Shape, np.dtype]:
    return (len(values),), int64


@rule("im2col")
def im2col(a: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Shape, np.dtype]:
    blocks = 1
    for s, k, d, p, t in zip(a.shape[2:], kernel, dilation, padding, stride):
        blocks *= (s + 2 * p - d * (k - 1) - 1) // t + 1
    return (a.shape[0], a.shape[1] * kernel[0] * kernel[1], blocks), a.dtype


@rule("col2im")
def col2im(a: Any, sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Shape, np.dtype]:
    return (a.shape[0], a.shape[1] // (kernel[0] * kernel[1]), *sizes), a.dtype
