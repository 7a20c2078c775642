"""Pooling on the CPU, over arrays (batch, channels, *spatial) in row-major or channels-last order.

Windows are boxes, so maxima and sums are taken along one dimension after the other, on strided slices: a 3x3 window costs 2 x 3 passes,
not 9. Where a maximum came from is counted along in small integers (its place in the window), and turned into positions at the end.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.cpu.pointwise import div_trunc
from saraph.backends.cpu.table import primitive
from saraph.backends.cpu.windows import Ints, channels_first, channels_last, is_channels_last
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)


def _lowest(kind: np.dtype) -> Any:
    return -np.inf if kind.kind == "f" else np.iinfo(kind).min


def _slice(a: np.ndarray, axis: int, start: int, step: int, count: int) -> np.ndarray:
    return a[(slice(None),) * axis + (slice(start, start + (count - 1) * step + 1, step),)]


def _extended(a: np.ndarray, axis: int, before: int, after: int, value: Any) -> np.ndarray:
    """The array with `value` put before and after along one axis, in its memory order."""
    if before <= 0 and after <= 0:
        return a
    before, after = max(before, 0), max(after, 0)
    shape = list(a.shape)
    shape[axis] += before + after
    wide = np.empty_like(a, shape=shape)
    _slice(wide, axis, before, 1, a.shape[axis])[...] = a
    for start, count in ((0, before), (before + a.shape[axis], after)):
        if count:
            _slice(wide, axis, start, 1, count)[...] = value
    return wide


def _overhang(size: int, k: int, s: int, p: int, d: int, o: int) -> int:
    """How far the last window sticks out behind the input."""
    return (o - 1) * s + (k - 1) * d + 1 - size - p


def _geometry(a: np.ndarray, *lists: Ints) -> Any:
    """(axis, one number of each list) for every spatial dimension, the last first."""
    rank = len(lists[0])
    return [(a.ndim - rank + i, *[values[i] for values in lists]) for i in reversed(range(rank))]


# -- maxima --------------------------------------------------------------------------------------------------------------------------


@primitive
def max_pool(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints, want_index: bool) -> Any:
    """The maxima; with `want_index` also the flat spatial position of each: the first of equal ones. NaN wins (the last one)."""
    kind = a.dtype
    if kind in REDUCED:
        found = max_pool(a.astype(float32), kernel, stride, padding, dilation, out, want_index)
        return (found[0].astype(kind), found[1]) if want_index else found.astype(kind)
    if not a.size:
        values = np.empty((*a.shape[: a.ndim - len(kernel)], *out), kind)
        return (values, np.zeros(values.shape, np.int64)) if want_index else values
    geometry = _geometry(a, kernel, stride, padding, dilation, out)
    if not want_index:
        return _maxima(a, geometry)
    values, place = _maxima_placed(a, geometry, False)
    if kind.kind == "f" and np.isnan(values).any():
        values, place = _maxima_placed(a, geometry, True)
    return values, _positions(values, place, a.shape[a.ndim - len(kernel):], kernel, stride, padding, dilation, out)


def _maxima(a: np.ndarray, geometry: Any) -> np.ndarray:
    a = a[...]  # a view: what is left of it at the end is copied
    for axis, k, s, p, d, o in geometry:
        a = _extended(a, axis, p, _overhang(a.shape[axis], k, s, p, d, o), _lowest(a.dtype))
        best = _slice(a, axis, 0, s, o)
        for t in range(1, k):
            best = np.maximum(best, _slice(a, axis, t * d, s, o), out=None if t == 1 else best)
        a = best
    return _dense(a)


def _dense(a: np.ndarray) -> np.ndarray:
    """The array itself, if its memory is its own, else a copy."""
    return a if a.base is None else a.copy("K")


def _maxima_placed(a: np.ndarray, geometry: Any, nan: bool) -> tuple[np.ndarray, np.ndarray]:
    """The maxima, and the number of each one's place in its window (in row-major order)."""
    count = math.prod(k for _, k, *_ in geometry)
    small = np.dtype(np.uint8 if count <= 256 else np.uint16 if count <= 65536 else np.int64)
    place, inner = np.zeros_like(a, small), 1
    a = a[...]
    for axis, k, s, p, d, o in geometry:
        over = _overhang(a.shape[axis], k, s, p, d, o)
        a, place = _extended(a, axis, p, over, _lowest(a.dtype)), _extended(place, axis, p, over, 0)
        best, best_place = _slice(a, axis, 0, s, o), _slice(place, axis, 0, s, o)
        for t in range(1, k):
            here, code = _slice(a, axis, t * d, s, o), _slice(place, axis, t * d, s, o)
            better = np.greater(here, best)
            if nan:
                better |= np.isnan(here)
            best = np.maximum(best, here, out=None if t == 1 else best)
            # a later place has a higher number, so the larger number is the later choice
            best_place = np.maximum(best_place, better * (code + small.type(t * inner)))
        a, place, inner = best, best_place, inner * k
    return _dense(a), place


def _positions(values: np.ndarray, place: np.ndarray, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
               out: Ints) -> np.ndarray:
    """Flat positions in the unpadded input from places in windows; a window of nothing but the lowest value names its first element."""
    base, offset, first = (np.zeros((), np.int64) for _ in range(3))
    for size, k, s, p, d, o in zip(sizes, kernel, stride, padding, dilation, out):
        start = np.arange(o) * s - p
        base = np.expand_dims(base, -1) * size + start
        offset = np.expand_dims(offset, -1) * size + np.arange(k) * d
        first = np.expand_dims(first, -1) * size + np.where(start < 0, np.minimum(start % d, size - 1), start)
    index = offset.reshape(-1).take(place)
    if not place.flags.c_contiguous:
        index = index.copy("C")
    index += base
    lowest = values == _lowest(values.dtype)
    if lowest.any():
        index[lowest] = np.broadcast_to(first, index.shape)[lowest]
    return _ordered_as(index, values)


def _ordered_as(r: np.ndarray, like: np.ndarray) -> np.ndarray:
    """r in channels-last order where `like` lies so."""
    return channels_first(channels_last(r).copy("C")) if is_channels_last(like) and not is_channels_last(r) else r


@primitive
def spatial_gather(a: np.ndarray, index: np.ndarray, rank: int) -> np.ndarray:
    """The elements at flat positions of the last `rank` dimensions: a (N, C, *S), index (N, C, *O) -> (N, C, *O)."""
    lead = a.shape[: a.ndim - rank]
    flat = a.reshape(*lead, math.prod(a.shape[a.ndim - rank:]))
    return np.take_along_axis(flat, index.reshape(*lead, math.prod(index.shape[a.ndim - rank:])), -1).reshape(index.shape)


def _flat_positions(index: np.ndarray, lead: Ints, total: int) -> np.ndarray:
    rows = math.prod(lead)
    return (index.reshape(rows, index.size // max(rows, 1)) + (np.arange(rows) * total)[:, None]).reshape(-1)


@primitive
def spatial_add(g: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """The adjoint of spatial_gather: zeros (N, C, *sizes) with g (N, C, *O) added at flat positions."""
    kind = g.dtype
    lead, total = g.shape[: g.ndim - len(sizes)], math.prod(sizes)
    found = np.zeros(math.prod(lead) * total, float32 if kind in REDUCED else kind)
    if g.size:
        np.add.at(found, _flat_positions(index, lead, total), g.reshape(-1).astype(found.dtype, copy=False))
    return _ordered_as(found.reshape(*lead, *sizes).astype(kind, copy=False), g)


@primitive
def spatial_put(a: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """Zeros (N, C, *sizes) with the elements of `a` written at flat positions (of several at one, the last stays)."""
    lead, total = a.shape[: a.ndim - len(sizes)], math.prod(sizes)
    wrong = (index < 0) | (index >= total)
    if wrong.any():
        raise RuntimeError(f"Found an invalid max index: {int(index[wrong].flat[0])} (output volumes are of size {'x'.join(map(str, sizes))})")
    found = np.zeros(math.prod(lead) * total, a.dtype)
    if a.size:
        found[_flat_positions(index, lead, total)] = a.reshape(-1)
    return _ordered_as(found.reshape(*lead, *sizes), a)


# -- averages --------------------------------------------------------------------------------------------------------------------------


def _divided(a: np.ndarray, divisors: Any) -> np.ndarray:
    """a (which is ours to write to) divided by one number, or by the product of one count a dimension and window."""
    if len(divisors) == 1 and not isinstance(divisors[0], tuple):
        total: Any = a.dtype.type(divisors[0])
    elif all(len(set(row)) == 1 for row in divisors):
        total = a.dtype.type(math.prod(row[0] for row in divisors))
    else:
        total = np.ones((), a.dtype)
        for row in divisors:
            total = np.expand_dims(total, -1) * np.array(row, a.dtype)
    if a.dtype.kind in "iu":
        return div_trunc(a, np.broadcast_to(total, a.shape))
    return np.divide(a, total, out=a)


@primitive
def avg_pool(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, out: Ints, divisors: Any) -> np.ndarray:
    """Sums over windows, divided: see `_divided`."""
    kind = a.dtype
    if kind in REDUCED:
        a = a.astype(float32)
    a = a[...]
    for axis, k, s, p, o in _geometry(a, kernel, stride, padding, out):
        a = _extended(a, axis, p, _overhang(a.shape[axis], k, s, p, 1, o), 0)
        total = _slice(a, axis, 0, s, o)
        for t in range(1, k):
            total = np.add(total, _slice(a, axis, t, s, o), out=None if t == 1 else total)
        a = total
    return _divided(_dense(a), divisors).astype(kind, copy=False)


@primitive
def spread_average(g: np.ndarray, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, divisors: Any) -> np.ndarray:
    """The adjoint of avg_pool."""
    kind, rank = g.dtype, len(kernel)
    g = _divided(g.astype(float32) if kind in REDUCED else g.copy("K"), divisors)
    for (axis, k, s, p, o), size in reversed(list(zip(_geometry(g, kernel, stride, padding, g.shape[g.ndim - rank:]), reversed(sizes)))):
        g = _spread(g, axis, size, k, s, p, o)
    return np.asarray(g).astype(kind, copy=False)


def _spread(g: np.ndarray, axis: int, size: int, k: int, s: int, p: int, o: int) -> np.ndarray:
    """Every element added to all k elements of its window along one axis."""
    reach = max((o - 1) * s + k, size + p)
    shape = list(g.shape)
    shape[axis] = reach
    wide = np.zeros_like(g, shape=shape) if k != s or reach != o * k else np.empty_like(g, shape=shape)
    for t in range(k):
        target = _slice(wide, axis, t, s, o)
        if k <= s:
            target[...] = g
        else:
            target += g
    return wide if reach == size else _slice(wide, axis, p, 1, size).copy("K")


# -- windows of other shapes -------------------------------------------------------------------------------------------------------


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _last_argmax(part: np.ndarray, axis: int) -> np.ndarray:
    """The first maximum along an axis, kept; of NaN the last."""
    index = part.argmax(axis, keepdims=True)
    if part.dtype.kind == "f":
        nan = np.isnan(part)
        if nan.any():
            last = part.shape[axis] - 1 - np.flip(nan, axis).argmax(axis, keepdims=True)
            index = np.where(nan.any(axis, keepdims=True), last, index)
    return index


@primitive
def adaptive_max(a: np.ndarray, out: Ints) -> tuple[np.ndarray, np.ndarray]:
    """The maxima of windows that make `out` of them along the last dimensions, and their flat positions."""
    kind, rank = a.dtype, len(out)
    if kind in REDUCED:
        a = a.astype(float32)
    sizes = a.shape[a.ndim - rank:]
    index = np.broadcast_to(np.arange(math.prod(sizes)).reshape(sizes), a.shape)
    given = a
    for i in reversed(range(rank)):
        axis = a.ndim - rank + i
        shape = (*a.shape[:axis], out[i], *a.shape[axis + 1:])
        values, where = np.empty(shape, a.dtype), np.empty(shape, np.int64)
        for j, (lo, hi) in enumerate(_bounds(sizes[i], out[i])):
            part = _slice(a, axis, lo, 1, hi - lo)
            best = _last_argmax(part, axis)
            _slice(values, axis, j, 1, 1)[...] = np.take_along_axis(part, best, axis)
            _slice(where, axis, j, 1, 1)[...] = np.take_along_axis(_slice(index, axis, lo, 1, hi - lo), best, axis)
        a, index = values, where
    return _ordered_as(a, given).astype(kind, copy=False), _ordered_as(np.ascontiguousarray(index), given)


@primitive
def fractional_windows(a: np.ndarray, samples: np.ndarray, kernel: Ints, out: Ints) -> np.ndarray:
    """Positions of the maxima of windows at pseudo-random places (Graham 2014): samples (N, C, rank) in the order of the dimensions."""
    kind, rank = a.dtype, len(out)
    if kind in REDUCED:
        a, samples = a.astype(float32), samples.astype(float32)
    sizes, lead = a.shape[2:], a.shape[:2]
    if not lead[0]:
        return np.zeros((*lead, *out), np.int64)
    flat = np.zeros((*lead, *[1] * 2 * rank), np.int64)
    for i, (size, k, o) in enumerate(zip(sizes, kernel, out)):
        rows = _fractional_starts(size, k, o, samples[..., i])[..., None] + np.arange(k)
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = o, k
        flat = flat * size + rows.reshape(*lead, *shape)
    flat = np.broadcast_to(flat, (*lead, *out, *kernel)).reshape(*lead, *out, math.prod(kernel))
    picked = np.take_along_axis(a.reshape(*lead, math.prod(sizes)), flat.reshape(*lead, math.prod(out + kernel)), -1).reshape(flat.shape)
    return np.take_along_axis(flat, _last_argmax(picked, -1), -1)[..., 0]


def _fractional_starts(size: int, kernel: int, count: int, sample: np.ndarray) -> np.ndarray:
    """Where the windows of one dimension begin; the last one ends with the input."""
    starts = np.full((*sample.shape, count), size - kernel, np.int64)
    if count > 1:
        alpha = sample.dtype.type(size - kernel) / sample.dtype.type(count - 1)
        shifted = (np.arange(count - 1, dtype=sample.dtype) + sample[..., None]) * alpha
        starts[..., :-1] = shifted.astype(np.int64) - (sample * alpha).astype(np.int64)[..., None]
    return starts
