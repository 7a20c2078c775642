"""Resizing, padding by repetition, and picking elements at given places, on the CPU.

Resizing is separable: along each dimension every output element is a weighted sum of a few input elements. The lists of those elements
(`Taps`) depend on sizes only and are kept; the derivative uses the same lists transposed, so that both directions only gather.
"""
from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from saraph.backends.cpu.pool import adaptive_average, adaptive_average_adjoint
from saraph.backends.cpu.table import primitive
from saraph.backends.cpu.windows import Ints, channels_first, channels_last, is_channels_last
from saraph.dtypes import REDUCED
from saraph.kernels import blocks, jit, resample

float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
KEPT = 512  # lists of taps that are remembered
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # output element, input element, weight


class Tap(NamedTuple):
    """One term of the sums: out[where] += weight * in[index] (where None: everywhere; weight None: 1)."""

    where: Any
    index: Any
    weight: np.ndarray | None


# -- which elements, with which weights -----------------------------------------------------------------------------------------------


def _scale(size: int, out: int, given: float | None, align: bool, kind: np.dtype) -> Any:
    """Input elements per output element, rounded as PyTorch rounds it."""
    if align:
        return kind.type(size - 1) / kind.type(out - 1) if out > 1 else kind.type(0)
    return kind.type(1.0 / given) if given is not None and given > 0 else kind.type(size) / kind.type(out)


def _nearest(size: int, out: int, scale: Any, kind: np.dtype, exact: bool) -> Entries:
    o = np.arange(out)
    at = (o.astype(kind) + kind.type(0.5) if exact else o.astype(kind)) * scale
    return o, np.minimum(np.floor(at.astype(float32)).astype(np.int64), size - 1), np.ones(out, kind)


def _linear(size: int, out: int, scale: Any, kind: np.dtype, align: bool) -> Entries:
    o = np.arange(out)
    at = o.astype(kind) * scale if align else np.maximum((o.astype(kind) + kind.type(0.5)) * scale - kind.type(0.5), 0)
    low = np.minimum(at.astype(np.int64), size - 1)
    part = np.clip(at - low.astype(kind), 0, 1).astype(kind)
    return np.concatenate([o, o]), np.concatenate([low, np.minimum(low + 1, size - 1)]), np.concatenate([1 - part, part])


def _cubic(size: int, out: int, scale: Any, kind: np.dtype, align: bool) -> Entries:
    """Keys' cubic convolution with a = -0.75; beyond the edges the edge goes on."""
    o = np.arange(out)
    at = o.astype(kind) * scale if align else (o.astype(kind) + kind.type(0.5)) * scale - kind.type(0.5)
    low = np.floor(at)
    t = at - low
    a = kind.type(-0.75)
    columns, weights = [], []
    for k, distance in enumerate((t + 1, t, 1 - t, 2 - t)):
        x = distance
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        columns.append(np.clip(low.astype(np.int64) + (k - 1), 0, size - 1))
        weights.append(near if k in (1, 2) else far)
    return np.tile(o, 4), np.concatenate(columns), np.concatenate(weights).astype(kind)


def _antialiased(size: int, out: int, scale: Any, kind: np.dtype, cubic: bool) -> Entries:
    """The filter is stretched by the scale when shrinking (as Pillow's is); weights of every output element sum to 1."""
    scale = float(scale)
    support = (2.0 if cubic else 1.0) * max(scale, 1.0)
    stretch = 1.0 / scale if scale >= 1.0 else 1.0
    centre = scale * (np.arange(out) + 0.5)
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + support + 0.5).astype(np.int64), size)
    columns = first[:, None] + np.arange(max(int((last - first).max()), 1))
    x = np.abs((columns - centre[:, None] + 0.5) * stretch)
    if cubic:
        a = -0.5
        weights = np.where(x < 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0.0))
    else:
        weights = np.maximum(1.0 - x, 0.0)
    inside = columns < last[:, None]
    weights = np.where(inside, weights, 0.0)
    total = weights.sum(1, keepdims=True)
    weights = weights / np.where(total == 0, 1.0, total)
    rows = np.broadcast_to(np.arange(out)[:, None], columns.shape)
    return rows[inside], columns[inside], weights[inside].astype(kind)


def _area(size: int, out: int, kind: np.dtype) -> Entries:
    o = np.arange(out)
    first, last = o * size // out, -(-(o + 1) * size // out)
    count = last - first
    rows = np.repeat(o, count)
    columns = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    return rows, columns, np.repeat(1 / count.astype(kind), count).astype(kind)


def _entries(mode: str, size: int, out: int, given: float | None, align: bool, kind: np.dtype) -> Entries:
    scale = _scale(size, out, given, align, kind)
    if mode in ("nearest", "nearest-exact"):
        return _nearest(size, out, scale, kind, mode == "nearest-exact")
    if mode == "linear":
        return _linear(size, out, scale, kind, align)
    if mode == "cubic":
        return _cubic(size, out, scale, kind, align)
    if mode == "area":
        return _area(size, out, kind)
    return _antialiased(size, out, scale, kind, mode == "cubic-antialias")


def _sorted_entries(mode: str, size: int, out: int, given: float | None, align: bool, kind: np.dtype,
                    transposed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The entries in the order of rows and columns, and the number of rows."""
    rows, columns, weights = _entries(mode, size, out, given, align, kind)
    count = out
    if transposed:
        rows, columns, count = columns, rows, size
    keys, inverse = np.unique(rows * max(size, out) + columns, return_inverse=True)
    weights = np.bincount(inverse, weights.astype(float64), len(keys)).astype(kind)  # elements named twice (at the edges) once
    return keys // max(size, out), keys % max(size, out), weights, count


@functools.lru_cache(KEPT)
def _table(mode: str, size: int, out: int, given: float | None, align: bool, kind: np.dtype, transposed: bool) -> resample.Table:
    """What `_taps` says, as kernels read it."""
    return resample.Table(*_sorted_entries(mode, size, out, given, align, kind, transposed))


@functools.lru_cache(KEPT)
def _taps(mode: str, size: int, out: int, given: float | None, align: bool, kind: np.dtype, transposed: bool) -> tuple[Tap, ...]:
    """The terms of every output element; transposed: for every input element what it is used in."""
    rows, columns, weights, count = _sorted_entries(mode, size, out, given, align, kind, transposed)
    starts = np.searchsorted(rows, np.arange(count))
    turn = np.arange(len(rows)) - starts[rows]
    found = []
    for t in range(int(turn.max(initial=-1)) + 1):
        chosen = turn == t
        where, weight = rows[chosen], weights[chosen]
        found.append(Tap(None if len(where) == count else _regular(where), _regular(columns[chosen]), None if (weight == 1).all() else weight))
    return tuple(found)


def _regular(index: np.ndarray) -> Any:
    """A slice, where the index is one."""
    if len(index) == 1:
        return slice(int(index[0]), int(index[0]) + 1)
    steps = np.diff(index)
    if len(steps) and steps[0] > 0 and (steps == steps[0]).all():
        return slice(int(index[0]), int(index[-1]) + 1, int(steps[0]))
    return index


# -- applying them -----------------------------------------------------------------------------------------------------------------------


def _take(a: np.ndarray, axis: int, index: Any) -> np.ndarray:
    return a[(slice(None),) * axis + (index,)] if index.__class__ is slice else a.take(index, axis)


def _apply(a: np.ndarray, axis: int, terms: tuple[Tap, ...], count: int) -> np.ndarray:
    """The weighted sums along one axis, which then has `count` elements."""
    shape = (*a.shape[:axis], count, *a.shape[axis + 1:])
    if len(terms) == 1 and terms[0].where is None and terms[0].weight is None:
        return np.ascontiguousarray(_take(a, axis, terms[0].index))
    out: Any = np.zeros(shape, a.dtype) if terms[0].where is not None else None
    tail = (1,) * (a.ndim - axis - 1)
    for where, index, weight in terms:
        part = _take(a, axis, index)
        if weight is not None:
            part = np.multiply(part, weight.reshape(-1, *tail), out=None if index.__class__ is slice else part)
        if out is None:
            out = np.array(part, order="C") if part.base is not None else part
        elif where is None:
            out += part
        else:
            out[(slice(None),) * axis + (where,)] += part
    return out


def _resized_by_kernel(a: np.ndarray, tables: dict[int, resample.Table]) -> np.ndarray:
    """A contiguous array with some axes resized, those that shrink most first; the last two together."""
    last = a.ndim - 1
    steps: list[tuple[int, ...]] = [(axis,) for axis in tables if axis < last - 1]
    if last in tables:
        steps.append((last - 1, last))
    elif last - 1 in tables:
        steps.append((last - 1,))
    steps.sort(key=lambda axes: (math.prod(tables[axis].count / a.shape[axis] for axis in axes if axis in tables), -axes[0]))
    for axes in steps:
        shape = tuple([tables[d].count if d in axes and d in tables else n for d, n in enumerate(a.shape)])
        result = blocks.empty(shape, a.dtype)
        if len(axes) == 1:
            outer, inner = math.prod(a.shape[: axes[0]]), math.prod(a.shape[axes[0] + 1:])
            resample.lines(a.reshape(outer, -1, inner), result, tables[axes[0]])
        else:
            vertical = tables.get(last - 1) or resample.unchanged(a.shape[-2], a.dtype)
            resample.planes(a.reshape(-1, *a.shape[-2:]), result, vertical, tables[last])
        a = result
    return a


def _resized(a: np.ndarray, sizes: Ints, mode: str, scales: Any, align: bool, transposed: bool) -> np.ndarray:
    """All axes, those that shrink most first. `sizes` are the result's (transposed: of what was resized to a's size)."""
    rank = len(sizes)
    if 0 in sizes or not a.size:
        return np.zeros((*a.shape[: a.ndim - rank], *sizes), a.dtype)
    wide = float64 if a.dtype == float64 else float32
    order = sorted(range(rank), key=lambda i: (sizes[i] / max(a.shape[a.ndim - rank + i], 1), -i))
    a = np.ascontiguousarray(a)
    if a.dtype == wide and rank < a.ndim and jit.available():
        return _resized_by_kernel(a, _tables(a, sizes, mode, scales, align, wide, transposed))
    for i in order:
        axis = a.ndim - rank + i
        have, want = a.shape[axis], sizes[i]
        size, out = (want, have) if transposed else (have, want)
        if mode == "area" and out == 1 and not transposed:
            a = np.add.reduce(a, axis, keepdims=True) * wide.type(1 / size)
        elif size != out or (scales[i] is not None and mode != "area"):
            a = _apply(a, axis, _taps(mode, size, out, scales[i], align, wide, transposed), want)
    return a


def _tables(a: np.ndarray, sizes: Ints, mode: str, scales: Any, align: bool, kind: np.dtype, transposed: bool) -> dict[int, resample.Table]:
    """The tables of the axes that change."""
    found = {}
    for i, want in enumerate(sizes):
        axis = a.ndim - len(sizes) + i
        size, out = (want, a.shape[axis]) if transposed else (a.shape[axis], want)
        if size != out or (scales[i] is not None and mode != "area"):
            found[axis] = _table(mode, size, out, scales[i], align, kind, transposed)
    return found


def _in_order(a: np.ndarray, sizes: Ints, *how: Any) -> np.ndarray:
    """`_resized` in the memory order of `a`, in float32 for 16-bit floats and bytes."""
    kind, given = a.dtype, a
    exact = how[0] in ("nearest", "nearest-exact") and not how[3]
    if not exact and (kind in REDUCED or kind.kind in "iu"):
        a = a.astype(float32)
    if is_channels_last(a):
        mode, scales, *rest = how
        r = channels_first(_resized(channels_last(a), (*sizes, a.shape[1]), mode, (*scales, None), *rest))
    else:
        r = _resized(a, sizes, *how)
    if kind.kind in "iu" and not exact:
        limits = np.iinfo(kind)
        r = np.clip(np.rint(r), limits.min, limits.max)
    return r.copy("K") if np.may_share_memory(r, given) else r.astype(kind, copy=False)


@primitive
def resize(a: np.ndarray, sizes: Ints, mode: str, scales: Any, align: bool) -> np.ndarray:
    """The last dimensions resized. Modes: nearest, nearest-exact, linear, cubic, linear-antialias, cubic-antialias, area."""
    found = adaptive_average(a, sizes) if mode == "area" else None
    return found if found is not None else _in_order(a, sizes, mode, scales, align, False)


@primitive
def resize_adjoint(g: np.ndarray, sizes: Ints, mode: str, scales: Any, align: bool) -> np.ndarray:
    """The adjoint of `resize` for inputs whose last dimensions are `sizes`."""
    found = adaptive_average_adjoint(g, sizes) if mode == "area" else None
    return found if found is not None else _in_order(g, sizes, mode, scales, align, True)


# -- padding -------------------------------------------------------------------------------------------------------------------------------


def _pad_positions(size: int, before: int, after: int, mode: str) -> np.ndarray:
    """Which element of a dimension stands at each place of the padded one."""
    if mode == "reflect":
        i = np.arange(-before, size + after) % max(2 * (size - 1), 1)
        return (size - 1) - np.abs((size - 1) - i)
    if mode == "replicate":
        return np.clip(np.arange(-before, size + after), 0, size - 1)
    kept = np.arange(max(-before, 0), size - max(-after, 0))  # what is cropped does not come round
    return kept[np.arange(-max(before, 0), len(kept) + max(after, 0)) % len(kept)] if len(kept) else kept


def _edges(a: np.ndarray, pads: Any) -> Any:
    """(axis, before, after) of every dimension that is padded; `pads` are pairs for the last dimensions."""
    return [(a.ndim - len(pads) + i, before, after) for i, (before, after) in enumerate(pads) if before or after]


@primitive
def pad_edges(a: np.ndarray, pads: Any, mode: str) -> np.ndarray:
    """The last dimensions padded by "reflect", "replicate" or "circular"; negative pads crop."""
    order = is_channels_last(a)
    r = channels_last(a) if order else a
    for axis, before, after in _edges(a, pads):
        r = np.take(r, _pad_positions(a.shape[axis], before, after, mode), axis - 1 if order else axis)
    r = r.copy("C") if r.base is not None or r is a else r
    return channels_first(r) if order else r


@primitive
def pad_edges_adjoint(g: np.ndarray, sizes: Ints, pads: Any, mode: str) -> np.ndarray:
    """The adjoint of `pad_edges` for inputs whose last dimensions are `sizes`: what was repeated is added up."""
    kind = g.dtype
    r = g.astype(float32) if kind in REDUCED else g
    for axis, before, after in reversed(_edges(g, pads)):
        size = sizes[axis - g.ndim + len(pads)]
        positions = _pad_positions(size, before, after, mode)
        shape = list(r.shape)
        shape[axis] = size
        found = np.zeros_like(r, shape=shape)
        head = (slice(None),) * axis
        low, high = max(before, 0), len(positions) - max(after, 0)
        if high > low:
            found[(*head, slice(positions[low], positions[low] + high - low))] = r[(*head, slice(low, high))]
        for i in (*range(low), *range(max(high, low), len(positions))):
            found[(*head, positions[i])] += r[(*head, i)]
        r = found
    return r.copy("K") if r is g else r.astype(kind, copy=False)


# -- picking -------------------------------------------------------------------------------------------------------------------------------


@primitive
def pick_places(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """a (N, C, *S) at flat positions (N, *O), the same for all channels -> (N, C, *O); 0 where the position is -1."""
    batch, channels = a.shape[:2]
    flat = index.reshape(batch, math.prod(index.shape[1:]))
    rows = a.reshape(batch, channels, math.prod(a.shape[2:]))
    out = np.empty((batch, channels, flat.shape[1]), a.dtype)
    for n in range(batch):
        rows[n].take(flat[n], 1, out[n], "wrap")
    outside = flat < 0
    if outside.any():
        np.copyto(out, 0, where=outside[:, None])
    return out.reshape(batch, channels, *index.shape[1:])


@primitive
def pick_places_adjoint(g: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """The adjoint of `pick_places`: zeros (N, C, *sizes) with g added at flat positions; what stands at -1 is dropped."""
    batch, channels, total = *g.shape[:2], math.prod(sizes)
    found = np.zeros((batch, channels, total + 1), g.dtype)  # position -1 is one more place, behind the others
    flat = index.reshape(batch, 1, -1) % (total + 1)
    places = flat + (np.arange(batch * channels) * (total + 1)).reshape(batch, channels, 1)
    np.add.at(found.reshape(-1), places.reshape(-1), g.reshape(-1))
    return found[:, :, :total].reshape(batch, channels, *sizes)
