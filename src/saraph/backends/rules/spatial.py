"""Rules of the spatial primitives: windows, convolution, pooling, resizing, padding, picking."""
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
    if len(shape) < 4 or not any(_lies_channels_last(a) for a in arrays):
        return tuple(shape), dtype
    strides = [s * dtype.itemsize for s in channels_last_strides(shape)]
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)


def _counts(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation))


def _lead(a: Any, rank: int) -> Shape:
    return a.shape[: a.ndim - rank]


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
def convolution_input_grad(g: Any, w: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int, bias: Any = None) -> Any:
    return like_layout((g.shape[0], w.shape[1] * groups, *size), g.dtype, g, w)


@rule("convolution_weight_grad")
def convolution_weight_grad(x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    return (g.shape[1], x.shape[1] // groups, *kernel), x.dtype


@rule("max_pool")
def max_pool(a: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints, want_index: bool) -> Any:
    shape = (*_lead(a, len(kernel)), *out)
    values = like_layout(shape, a.dtype, a)
    return [values, like_layout(shape, int64, a)] if want_index else values


@rule("adaptive_max")
def adaptive_max(a: Any, out: Ints) -> list[Any]:
    shape = (*_lead(a, len(out)), *out)
    return [like_layout(shape, a.dtype, a), like_layout(shape, int64, a)]


@rule("fractional_windows")
def fractional_windows(a: Any, samples: Any, kernel: Ints, out: Ints) -> tuple[Shape, np.dtype]:
    return (*a.shape[:2], *out), int64


@rule("spatial_gather")
def spatial_gather(a: Any, index: Any, rank: int) -> tuple[Shape, np.dtype]:
    return index.shape, a.dtype


@rule("spatial_add", "spatial_put")
def spatial_add(g: Any, index: Any, sizes: Ints) -> Any:
    return like_layout((*_lead(g, len(sizes)), *sizes), g.dtype, g)


@rule("avg_pool")
def avg_pool(a: Any, kernel: Ints, stride: Ints, padding: Ints, out: Ints, divisors: Any) -> Any:
    return like_layout((*_lead(a, len(kernel)), *out), a.dtype, a)


@rule("spread_average")
def spread_average(g: Any, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, divisors: Any) -> Any:
    return like_layout((*_lead(g, len(sizes)), *sizes), g.dtype, g)


@rule("resize", "resize_adjoint")
def resize(a: Any, sizes: Ints, mode: str, scales: Any, align: bool) -> Any:
    return like_layout((*_lead(a, len(sizes)), *sizes), a.dtype, a)


@rule("pad_edges")
def pad_edges(a: Any, pads: Any, mode: str) -> Any:
    lead = a.ndim - len(pads)
    return like_layout((*a.shape[:lead], *[n + b + e for n, (b, e) in zip(a.shape[lead:], pads)]), a.dtype, a)


@rule("pad_edges_adjoint")
def pad_edges_adjoint(g: Any, sizes: Ints, pads: Any, mode: str) -> Any:
    return like_layout((*_lead(g, len(sizes)), *sizes), g.dtype, g)


@rule("pick_places")
def pick_places(a: Any, index: Any) -> tuple[Shape, np.dtype]:
    return (*a.shape[:2], *index.shape[1:]), a.dtype


@rule("pick_places_adjoint")
def pick_places_adjoint(g: Any, index: Any, sizes: Ints) -> tuple[Shape, np.dtype]:
    return (*g.shape[:2], *sizes), g.dtype
