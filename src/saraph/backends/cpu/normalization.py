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

from saraph.backends.cpu.reduce import total
from saraph.backends.cpu.table import primitive
from saraph.backends.cpu.windows import channels_first, channels_last, is_channels_last
from saraph.dtypes import REDUCED
from saraph.kernels import blocks, functions, jit, normalization, normalization_columns, normalization_rows
from saraph.kernels.normalization import Planes
from saraph.kernels.rows import layer_norm_of_row

PIECE = 1 << 16  # elements worked on at a time
FEW = 1 << 10  # elements of rows that one call of a gufunc normalises
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
    if r.shape != like.shape:  # a reshape would be a view, which the engine copies where it keeps a gradient
        r = r.reshape(like.shape)
    return channels_first(channels_last(r).copy("C")) if is_channels_last(like) and not is_channels_last(r) else r


# -- by kernels ----------------------------------------------------------------------------------------------------------------------------


def _plan(form: Shape, axes: Axes, x: np.ndarray, weight: Shape) -> str | Planes:
    """How a kernel sees an array in its form: "rows", "columns" or planes; "" where none does. `weight` is the shape of parameters."""
    if x.dtype.char not in "fd" or not x.size or not jit.available():
        return ""
    if axes == (1,) and len(form) == 2:
        return "rows" if x.flags.c_contiguous else ""
    if axes == (0, 2):
        batch, channels, length = form
        if x.transpose(0, 2, 1).flags.c_contiguous and not (x.flags.c_contiguous and length > 1):
            return "columns"
        return Planes(channels, batch, length, length, channels * length, channels, 1, 0) if x.flags.c_contiguous else ""
    if not x.flags.c_contiguous:
        return ""
    if axes == (2,) and weight[:1] == (1,):
        return Planes(form[0] * form[1], 1, form[2], form[2], 0, form[1], 1, 0)
    if axes == (2, 3):
        batch, groups, members, length = form
        return Planes(batch * groups, members, length, members * length, length, groups, members, 1)
    return ""


def _dense(a: np.ndarray | None, kind: np.dtype) -> np.ndarray | None:
    return a if a is None or (a.dtype == kind and a.flags.c_contiguous) else np.ascontiguousarray(a, kind)


def _columns(x: np.ndarray) -> np.ndarray:
    """(N, C, L) with channels innermost as (N L, C)."""
    return x.transpose(0, 2, 1).reshape(-1, x.shape[1])


def _seen(a: np.ndarray, form: Shape) -> np.ndarray:
    """The array in its form; a copy where it lies in an order that no kernel reads."""
    x = a.reshape(form)
    return x if x.flags.c_contiguous or is_channels_last(a) else np.ascontiguousarray(x)


def _blank(a: np.ndarray, plan: Any) -> np.ndarray:
    """Memory for a result, in the order in which the kernel reads `a`."""
    if plan != "columns":
        return blocks.empty(a.shape, a.dtype)
    return np.empty_like(a) if a.ndim > 2 else blocks.empty(a.shape, a.dtype)


def _standardize_by_kernel(a: np.ndarray, x: np.ndarray, plan: Any, axes: Axes, eps: float, weight: np.ndarray | None,
                           bias: np.ndarray | None, centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    kind = a.dtype
    y, shape = _blank(a, plan), _statistics_shape(x, axes)
    statistics: Any = tuple([np.empty(shape, kind) for _ in range(3)])
    weight, bias = _dense(weight, kind), _dense(bias, kind)
    if plan == "rows":
        normalization_rows.forward(x, y, statistics, weight, bias, eps, centred)
    elif plan == "columns":
        normalization_columns.forward(_columns(x), y, statistics, weight, bias, eps)
    else:
        normalization.forward(x, y, statistics, weight, bias, eps, plan)
    return (y if plan == "columns" else _back(y, a)), *statistics


def _grad_by_kernel(g: np.ndarray, a: np.ndarray, x: np.ndarray, plan: Any, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None,
                    centred: bool, wanted: tuple[bool, bool, bool], parameters: Shape) -> tuple[np.ndarray | None, ...]:
    """g lies as x does."""
    kind = a.dtype
    weight, mean, rstd = _dense(weight, kind), np.ascontiguousarray(mean, kind), np.ascontiguousarray(rstd, kind)
    dx: Any = _blank(a, plan) if wanted[0] or plan == "rows" else None
    if plan == "rows":
        parts = normalization_rows.backward(g, x, dx, mean, rstd, weight, centred, wanted[1] or wanted[2])
        found = None if parts is None else total(parts, (1,), False)
        dw, db = (None, None) if found is None else (found[0].reshape(parameters), found[1].reshape(parameters))
    else:
        if plan == "columns":
            sums = normalization_columns.backward(_columns(g), _columns(x), dx, mean, rstd, weight)
            sums = np.moveaxis(sums, 1, -1).sum(0)
        else:
            sums = normalization.backward(g, x, dx, mean, rstd, weight, plan)
            sums = sums.reshape(*mean.shape, -1, plan.pieces, 2).sum(-2) if plan.along else sums.sum(1)
        dw, db = _parameter_grads(sums, rstd, parameters, wanted, kind)
    if dx is not None and plan != "columns":
        dx = _back(dx, a)
    return dx if wanted[0] else None, dw if wanted[1] else None, db if wanted[2] else None


def _parameter_grads(sums: np.ndarray, rstd: np.ndarray, parameters: Shape, wanted: tuple[bool, bool, bool],
                     kind: np.dtype) -> tuple[np.ndarray | None, np.ndarray | None]:
    """From the sums of g and of g (x - mean) of every group (or plane of one) those over all samples, times rstd."""
    if not (wanted[1] or wanted[2]):
        return None, None
    count = math.prod(parameters)
    scale = rstd.reshape(-1) if len(parameters) == 3 else np.broadcast_to(rstd, (*rstd.shape[:2], parameters[2], 1)).reshape(-1)
    sums = sums.reshape(-1, 2)
    dw, db = (part.reshape(-1, count).sum(0).astype(kind).reshape(parameters) for part in (sums[:, 1] * scale, sums[:, 0]))
    return dw, db


# -- by NumPy, and the primitives ------------------------------------------------------------------------------------------------------------


@primitive
def standardize(a: np.ndarray, form: Shape, axes: Axes, eps: float, weight: np.ndarray | None, bias: np.ndarray | None,
                centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """((x - mean) rstd weight + bias, mean, rstd, variance), rstd = 1 / sqrt(variance + eps); not `centred`: the same with mean 0."""
    x = _seen(a, form)
    plan = _plan(form, axes, x, (1,) if weight is None else weight.shape)
    if plan == "rows" and centred and x.size <= FEW:
        return _standardize_few(a, x, eps, weight, bias)
    if plan:
        return _standardize_by_kernel(a, x, plan, axes, eps, weight, bias, centred)
    return standardize_by_numpy(a, form, axes, eps, weight, bias, centred)


def _standardize_few(a: np.ndarray, x: np.ndarray, eps: float, weight: np.ndarray | None,
                     bias: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Few short rows, by one call."""
    kind, length, constant = a.dtype, x.shape[1], normalization.constant
    weight = constant(1.0, length, kind) if weight is None else weight
    bias = constant(0.0, length, kind) if bias is None else bias
    y, mean, rstd, variance = layer_norm_of_row.function(x, weight, bias, constant(eps, 1, kind), constant(length, 1, kind))
    return y.reshape(a.shape), mean[:, None], rstd[:, None], variance[:, None]


def standardize_by_numpy(a: np.ndarray, form: Shape, axes: Axes, eps: float, weight: np.ndarray | None, bias: np.ndarray | None,
                         centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`standardize` without kernels."""
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
    x = _seen(a, form)
    plan = _plan(form, axes, x, (1,) if weight is None else weight.shape)
    if plan:
        lies = channels_last(g).flags.c_contiguous if plan == "columns" else g.flags.c_contiguous
        if not lies or g.dtype != a.dtype:
            lying = _blank(a, plan)
            np.copyto(lying, g, "same_kind")
            g = lying
        return _grad_by_kernel(g.reshape(form), a, x, plan, mean, rstd, weight, centred, wanted, parameters)
    return standardize_grad_by_numpy(g, a, form, mean, rstd, axes, weight, centred, wanted, parameters)


def standardize_grad_by_numpy(g: np.ndarray, a: np.ndarray, form: Shape, mean: np.ndarray, rstd: np.ndarray, axes: Axes, weight: np.ndarray | None,
                              centred: bool, wanted: tuple[bool, bool, bool], parameters: Shape) -> tuple[np.ndarray | None, ...]:
    """`standardize_grad` without kernels."""
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
    x = _seen(a, form)
    batch, channels, length = form
    plan = _plan(form, (0, 2), x, (1,))
    if plan and scale.dtype == a.dtype and (shift is None or shift.dtype == a.dtype):
        y, factor, shift = _blank(a, plan), np.ascontiguousarray(scale, a.dtype), _dense(shift, a.dtype)
        if plan == "columns":
            normalization_columns.apply(_columns(x), y, factor, shift)
        else:
            zero, one = (normalization.constant(value, 1, a.dtype) for value in (0.0, 1.0))
            normalization.apply(x, y, zero, one, factor, shift, Planes(batch * channels, 1, length, length, 0, channels, 1, 0))
        return y if plan == "columns" else _back(y, a)
    return scale_shift_by_numpy(a, form, scale, shift)


@primitive
def normalized_by(a: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float) -> np.ndarray:
    """(x - mean) / sqrt(variance + eps) weight + bias, with one number a channel (axis 1); 16-bit numbers are read and written once."""
    kind = np.dtype(np.float32) if a.dtype in REDUCED else a.dtype
    channels = a.shape[1]
    weight = normalization.constant(1.0, channels, kind) if weight is None else weight
    bias = normalization.constant(0.0, channels, kind) if bias is None else bias
    given = [t.astype(kind, copy=False) for t in (mean, variance, weight, bias)]
    scale, shift = functions.affine_terms(*given, np.asarray(eps, kind))
    if kind is a.dtype:
        length = math.prod(a.shape[2:])
        return scale_shift(a, (a.shape[0], channels, length), scale.reshape(1, channels, 1), shift.reshape(1, channels, 1))
    form = (channels, *(1,) * (a.ndim - 2))
    return functions.scale_shift(a, scale.reshape(form), shift.reshape(form))


def scale_shift_by_numpy(a: np.ndarray, form: Shape, scale: np.ndarray, shift: np.ndarray | None) -> np.ndarray:
    """`scale_shift` without kernels."""
    x = a.reshape(form)
    y = np.multiply(x, scale)
    if shift is not None:
        y += shift
    return _back(y, a)


@primitive
def epsilon(dtype: np.dtype) -> float:
    """The distance from 1 to the next number of a floating point (or complex) type."""
    return float(np.finfo(dtype).eps)
