"""Normalisation on the CPU: values to mean 0 and variance 1 over some axes, times a weight, plus a bias; and the gradient of that.

Arrays are looked at in a `form`, a shape in which the axes to normalise over are few (batch norm: (N, C, L) over 0 and 2; layer norm:
(rows, M) over 1; group norm: (N, G, C / G, L) over 2 and 3). Weight and bias have a shape that broadcasts to the form. The work goes
along an axis that is kept, in pieces that stay in the cache.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.backends.cpu.windows import channels_first, channels_last, is_channels_last

PIECE = 1 << 16  # elements worked on at a time
LONG = 16  # from this length on, dot products along the last axis are BLAS's
Axes = tuple[int, ...]
Shape = tuple[int, ...]


def _pieces(a: np.ndarray, axes: Axes) -> Iterator[tuple[Any, int]]:
    """Indices of slices along the first axis that is kept, and that axis."""
    axis = next(d for d in range(a.ndim + 1) if d not in axes)
    if axis >= a.ndim or (a.strides[axis] == a.itemsize and a.shape[axis] > 1):
        yield (Ellipsis,), -1
        return
    length = a.shape[axis]
    step = max(1, PIECE * length // max(a.size, 1))
    for start in range(0, length, step):
        yield (slice(None),) * axis + (slice(start, start + step),), axis


def _cut(weight: Any, index: Any, axis: int) -> Any:
    """The part of a parameter (or None) that belongs to a piece."""
    return weight if weight is None or axis < 0 or weight.shape[axis] == 1 else weight[index]


def _sum(a: np.ndarray, axes: Axes) -> np.ndarray:
    """The sum over axes, kept: the last first, so that long rows are added pairwise."""
    for axis in reversed(axes):
        a = np.add.reduce(a, axis, keepdims=True)
    return a


def _dot(a: np.ndarray, b: np.ndarray, axes: Axes) -> np.ndarray:
    """The sum of a * b over axes, kept."""
    last = a.ndim - 1
    if last in axes and a.shape[last] >= LONG and a.strides[last] == a.itemsize and b.strides[last] == b.itemsize:
        return _sum(np.vecdot(a, b)[..., None], tuple(d for d in axes if d != last))
    return _sum(a * b, axes)


def _fits(weight: np.ndarray | None, axes: Axes) -> bool:
    """Whether the weight is the same all along the axes."""
    return weight is None or all(weight.shape[d] == 1 for d in axes)


def _count(a: np.ndarray, axes: Axes) -> Any:
    return a.dtype.type(max(math.prod(a.shape[d] for d in axes), 1))


def _statistics_shape(a: np.ndarray, axes: Axes) -> Shape:
    return tuple([1 if d in axes else n for d, n in enumerate(a.shape)])


def _back(r: np.ndarray, like: np.ndarray) -> np.ndarray:
    """A result in its form, in the shape and (batch, channels, ...) order of the array it was made from."""
    r = r.reshape(like.shape)
    return channels_first(channels_last(r).copy("C")) if is_channels_last(like) and not is_channels_last(r) else r


@primitive
def standardize(a: np.ndarray, form: Shape, axes: Axes, eps: float, weight: np.ndarray | None, bias: np.ndarray | None,
                centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """((x - mean) rstd weight + bias, mean, rstd, variance), rstd = 1 / sqrt(variance + eps); not `centred`: the same with mean 0."""
    x = a.reshape(form)
    shape, count = _statistics_shape(x, axes), _count(x, axes)
    y, mean, variance = np.empty_like(x), np.zeros(shape, x.dtype), np.empty(shape, x.dtype)
    rstd = np.empty(shape, x.dtype)
    for index, axis in _pieces(x, axes):
        part, out = x[index], y[index]
        if centred:
            mean[index] = _sum(part, axes) / count
            part = np.subtract(part, mean[index], out=out)
        variance[index] = _dot(part, part, axes) / count
        rstd[index] = 1 / np.sqrt(variance[index] + x.dtype.type(eps))
        w, b = _cut(weight, index, axis), _cut(bias, index, axis)
        if w is None or not _fits(w, axes):
            np.multiply(part, rstd[index], out=out)
            if w is not None:
                np.multiply(out, w, out=out)
        else:
            np.multiply(part, rstd[index] * w, out=out)
        if b is not None:
            np.add(out, b, out=out)
    return _back(y, a), mean, rstd, variance


@primitive
def standardize_grad(g: np.ndarray, a: np.ndarray, form: Shape, mean: np.ndarray, rstd: np.ndarray, axes: Axes, weight: np.ndarray | None,
                     centred: bool, wanted: tuple[bool, bool, bool], parameters: Shape) -> tuple[np.ndarray | None, ...]:
    """The gradients of `standardize` in x, weight and bias, those that are `wanted`; `parameters` is the shape of weight and bias."""
    x, g = a.reshape(form), g.reshape(form)
    dx = np.empty_like(x) if wanted[0] else None
    dw, db = (np.zeros(parameters, x.dtype) if want else None for want in wanted[1:])
    for index, axis in _pieces(x, axes):
        w = _cut(weight, index, axis)
        gp, unit = g[index], x[index] - mean[index] if centred else x[index].copy("K")
        unit *= rstd[index]
        if dw is not None or db is not None:
            shared = _cut(np.empty(parameters, bool), index, axis).shape
            rest = tuple([d for d, n in enumerate(shared) if n == 1])
            if dw is not None:
                _cut(dw, index, axis)[...] += _dot(gp, unit, rest)
            if db is not None:
                _cut(db, index, axis)[...] += _sum(gp, rest)
        if dx is not None:
            dx[index] = _input_grad(gp, unit, rstd[index], w, axes, _count(x, axes), centred)
    return None if dx is None else _back(dx, a), dw, db


def _input_grad(g: np.ndarray, unit: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, axes: Axes, count: Any,
                centred: bool) -> np.ndarray:
    """rstd (g w - mean(g w) - unit mean(g w unit)); `unit` is overwritten."""
    scale = rstd
    if weight is not None:
        if _fits(weight, axes):
            scale = rstd * weight
        else:
            g = g * weight
    unit *= _dot(g, unit, axes) / count
    if centred:
        unit += _sum(g, axes) / count
    np.subtract(g, unit, out=unit)
    unit *= scale
    return unit


@primitive
def scale_shift(a: np.ndarray, form: Shape, scale: np.ndarray, shift: np.ndarray | None) -> np.ndarray:
    """x scale + shift, where scale and shift broadcast to the form."""
    x = a.reshape(form)
    y = np.multiply(x, scale)
    if shift is not None:
        y += shift
    return _back(y, a)


@primitive
def epsilon(dtype: np.dtype) -> float:
    """The distance from 1 to the next number of a floating point (or complex) type."""
    return float(np.finfo(dtype).eps)
