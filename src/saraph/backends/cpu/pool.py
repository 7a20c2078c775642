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
from saraph.backends.cpu.windows import Ints, channels_first, channels_last, empty_like_layout, is_channels_last
from saraph.dtypes import REDUCED
from saraph.kernels import blocks, jit, pooling

float32 = np.dtype(np.float32)
BLOCK = 1 << 16  # elements worked on at a time, so that intermediate arrays stay in the cache


def _blocks(a: np.ndarray, rank: int, *others: np.ndarray) -> Any:
    """The arrays (all of `a`'s leading dimensions) cut into blocks of a few planes, or of a few samples where channels lie innermost."""
    arrays = (a, *others)
    if a.flags.c_contiguous and all(x.flags.c_contiguous for x in others):
        arrays = tuple([x.reshape(math.prod(x.shape[: x.ndim - rank]), *x.shape[x.ndim - rank:]) for x in arrays])
    length = arrays[0].shape[0]
    step = max(1, BLOCK * length // max(a.size, 1))
    for start in range(0, length, step):
        yield [x[start : start + step] for x in arrays]


def _empty(a: np.ndarray, rank: int, sizes: Ints, kind: np.dtype | None = None) -> np.ndarray:
    """Uninitialised memory for a's leading dimensions and other spatial ones, in a's order."""
    return empty_like_layout(a, (*a.shape[: a.ndim - rank], *sizes), kind)


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


# -- by kernels ----------------------------------------------------------------------------------------------------------------------


def _channels(a: np.ndarray, rank: int) -> int:
    """The number of channels where they lie innermost, else 0."""
    return a.shape[1] if a.ndim == rank + 2 and is_channels_last(a) else 0


def _result(a: np.ndarray, rank: int, sizes: Ints, channels: int, kind: np.dtype | None = None) -> np.ndarray:
    """Memory for a result: a's leading dimensions and other spatial ones, in the order in which the kernel writes it."""
    shape, kind = (*a.shape[: a.ndim - rank], *sizes), a.dtype if kind is None else kind
    if not channels:
        return blocks.empty(shape, kind)
    pattern = channels_first(np.empty((2,) * a.ndim, np.bool_))  # not a view of other memory, as a transposed array would be
    return np.empty_like(pattern, kind, shape=shape)


def _pooled(operation: str, a: np.ndarray, windows: pooling.Windows, out: Ints, counts: Any = None) -> Any:
    """Values, and for the operation "placed" positions too."""
    rank, channels = len(out), _channels(a, len(out))
    x = a if channels or a.flags.c_contiguous else np.ascontiguousarray(a)
    y = _result(x, rank, out, channels)
    index = _result(x, rank, out, channels, np.dtype(np.int64)) if operation == "placed" else None
    if y.size:
        pooling.pool_windows(operation, x, y, index, windows, channels, counts)
    return y if index is None else (y, index)


def _spread_by_kernel(g: np.ndarray, sizes: Ints, windows: pooling.Windows, counts: Any) -> np.ndarray:
    kind, rank, channels = g.dtype, len(sizes), _channels(g, len(sizes))
    x = g.astype(float32) if kind in REDUCED else g
    x = x if channels or x.flags.c_contiguous else np.ascontiguousarray(x)
    dx = _result(x, rank, sizes, channels)
    if dx.size:
        pooling.spread(x, dx, windows, channels, counts)
    return dx.astype(kind, copy=False)


def adaptive_average(a: np.ndarray, out: Ints) -> np.ndarray | None:
    """The averages of nearly equal parts; None where there is no kernel."""
    windows = pooling.adaptive(tuple(a.shape[a.ndim - len(out):]), tuple(out))
    return _pooled("average", a, windows, out) if a.size and pooling.can_compute(a.dtype, windows) else None


def adaptive_average_adjoint(g: np.ndarray, sizes: Ints) -> np.ndarray | None:
    """The adjoint of `adaptive_average`; None where there is no kernel."""
    windows = pooling.adaptive(tuple(sizes), tuple(g.shape[g.ndim - len(sizes):]))
    return _spread_by_kernel(g, sizes, windows, None) if g.size and pooling.can_compute(g.dtype, windows) else None


def _regular(sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> pooling.Windows:
    return pooling.regular(*(tuple(values) for values in (sizes, kernel, stride, padding, dilation, out)))


# -- maxima --------------------------------------------------------------------------------------------------------------------------


@primitive
def max_pool(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints, want_index: bool) -> Any:
    """The maxima; with `want_index` also the flat spatial position of each: the first of equal ones. NaN wins (the last one)."""
    if a.size:
        windows = _regular(a.shape[a.ndim - len(kernel):], kernel, stride, padding, dilation, out)
        if pooling.can_compute(a.dtype, windows):
            return _pooled("placed" if want_index else "max", a, windows, out)
    return max_pool_by_numpy(a, kernel, stride, padding, dilation, out, want_index)


def max_pool_by_numpy(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints, want_index: bool) -> Any:
    """`max_pool` without kernels."""
    kind = a.dtype
    if kind in REDUCED:
        found = max_pool_by_numpy(a.astype(float32), kernel, stride, padding, dilation, out, want_index)
        return (found[0].astype(kind), found[1]) if want_index else found.astype(kind)
    if not a.size:
        values = np.empty((*a.shape[: a.ndim - len(kernel)], *out), kind)
        return (values, np.zeros(values.shape, np.int64)) if want_index else values
    rank = len(kernel)
    how = (kernel, stride, padding, dilation, out)
    values = _empty(a, rank, out)
    if not want_index:
        for part, target in _blocks(a, rank, values):
            target[...] = _maxima(part, _geometry(part, *how))
        return values
    index = _empty(a, rank, out, np.dtype(np.int64))
    tables = _position_tables(a.shape[a.ndim - rank:], *how)
    for part, target, places in _blocks(a, rank, values, index):
        geometry = _geometry(part, *how)
        best, place = _maxima_placed(part, geometry, False)
        if kind.kind == "f" and np.isnan(best).any():
            best, place = _maxima_placed(part, geometry, True)
        target[...] = best
        _write_positions(places, best, place, *tables)
    return values, index


def _maxima(a: np.ndarray, geometry: Any) -> np.ndarray:
    for axis, k, s, p, d, o in geometry:
        a = _extended(a, axis, p, _overhang(a.shape[axis], k, s, p, d, o), _lowest(a.dtype))
        best = _slice(a, axis, 0, s, o)
        for t in range(1, k):
            best = np.maximum(best, _slice(a, axis, t * d, s, o), out=None if t == 1 else best)
        a = best
    return a


def _maxima_placed(a: np.ndarray, geometry: Any, nan: bool) -> tuple[np.ndarray, np.ndarray]:
    """The maxima, and the number of each one's place in its window (in row-major order)."""
    count = math.prod(k for _, k, *_ in geometry)
    small = np.dtype(np.uint8 if count <= 256 else np.uint16 if count <= 65536 else np.int64)
    place, inner = np.zeros_like(a, small), 1
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
    return a, place


def _position_tables(sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[np.ndarray, ...]:
    """Flat positions: of every window's start, of every place in a window from there on, and of every window's first true element."""
    base, offset, first = (np.zeros((), np.int64) for _ in range(3))
    for size, k, s, p, d, o in zip(sizes, kernel, stride, padding, dilation, out):
        start = np.arange(o) * s - p
        base = np.expand_dims(base, -1) * size + start
        offset = np.expand_dims(offset, -1) * size + np.arange(k) * d
        first = np.expand_dims(first, -1) * size + np.where(start < 0, np.minimum(start % d, size - 1), start)
    return base, offset.reshape(-1), first


def _write_positions(index: np.ndarray, values: np.ndarray, place: np.ndarray, base: np.ndarray, offset: np.ndarray, first: np.ndarray) -> None:
    """Flat positions in the unpadded input from places in windows; a window of nothing but the lowest value names its first element."""
    np.add(offset.take(place), base, out=index)
    lowest = values == _lowest(values.dtype)
    if lowest.any():
        index[lowest] = np.broadcast_to(first, index.shape)[lowest]


def _ordered_as(r: np.ndarray, like: np.ndarray) -> np.ndarray:
    """r in channels-last order where `like` lies so."""
    return channels_first(channels_last(r).copy("C")) if is_channels_last(like) and not is_channels_last(r) else r


@primitive
def spatial_gather(a: np.ndarray, index: np.ndarray, rank: int) -> np.ndarray:
    """The elements at flat positions of the last `rank` dimensions: a (N, C, *S), index (N, C, *O) -> (N, C, *O)."""
    lead = a.shape[: a.ndim - rank]
    flat = a.reshape(*lead, math.prod(a.shape[a.ndim - rank:]))
    return np.take_along_axis(flat, index.reshape(*lead, math.prod(index.shape[a.ndim - rank:])), -1).reshape(index.shape)


def _planes(index: np.ndarray, lead: Ints, total: int) -> Any:
    """Blocks of planes: which planes, and their positions counted through all planes of the block."""
    rows = math.prod(lead)
    flat = index.reshape(rows, index.size // max(rows, 1))
    step = max(1, BLOCK // max(flat.shape[1], 1))
    for start in range(0, rows, step):
        part = flat[start : start + step]
        yield slice(start, start + step), (part + (np.arange(len(part)) * total)[:, None]).reshape(-1)


@primitive
def spatial_add(g: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """The adjoint of spatial_gather: zeros (N, C, *sizes) with g (N, C, *O) added at flat positions."""
    kind, rank, total = g.dtype, len(sizes), math.prod(sizes)
    if g.size and total < pooling.LARGEST and kind.name in ("float32", "float64", "float16", "bfloat16") and jit.available():
        channels = _channels(g, rank) if _channels(g, rank) and _channels(index, rank) else 0
        x, places = (v if channels or v.flags.c_contiguous else np.ascontiguousarray(v) for v in (g, index))
        x = x.astype(float32) if kind in REDUCED else x
        dx = _result(x, rank, sizes, channels)
        pooling.scatter(x, places, dx, total, math.prod(g.shape[g.ndim - rank:]), channels)
        return dx.astype(kind, copy=False)
    return spatial_add_by_numpy(g, index, sizes)


def spatial_add_by_numpy(g: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """`spatial_add` without kernels."""
    kind = g.dtype
    lead, total = g.shape[: g.ndim - len(sizes)], math.prod(sizes)
    found = np.zeros((math.prod(lead), total), float32 if kind in REDUCED else kind)
    values = g.reshape(len(found), g.size // max(len(found), 1)).astype(found.dtype, copy=False)
    for block, places in _planes(index, lead, total) if g.size else ():
        np.add.at(found[block].reshape(-1), places, values[block].reshape(-1))
    return _ordered_as(found.reshape(*lead, *sizes).astype(kind, copy=False), g)


@primitive
def spatial_put(a: np.ndarray, index: np.ndarray, sizes: Ints) -> np.ndarray:
    """Zeros (N, C, *sizes) with the elements of `a` written at flat positions (of several at one, the last stays)."""
    lead, total = a.shape[: a.ndim - len(sizes)], math.prod(sizes)
    wrong = (index < 0) | (index >= total)
    if wrong.any():
        raise RuntimeError(f"Found an invalid max index: {int(index[wrong].flat[0])} (output volumes are of size {'x'.join(map(str, sizes))})")
    found = np.zeros((math.prod(lead), total), a.dtype)
    values = a.reshape(len(found), a.size // max(len(found), 1))
    for block, places in _planes(index, lead, total) if a.size else ():
        found[block].reshape(-1)[places] = values[block].reshape(-1)
    return _ordered_as(found.reshape(*lead, *sizes), a)


# -- averages --------------------------------------------------------------------------------------------------------------------------


def _divide(a: np.ndarray, divisors: Any, out: np.ndarray) -> None:
    """a divided by one number, or by the product of one count a dimension and window, into `out`."""
    if len(divisors) == 1 and not isinstance(divisors[0], tuple):
        total: Any = a.dtype.type(divisors[0])
    elif all(len(set(row)) == 1 for row in divisors):
        total = a.dtype.type(math.prod(row[0] for row in divisors))
    else:
        total = np.ones((), a.dtype)
        for row in divisors:
            total = np.expand_dims(total, -1) * np.array(row, a.dtype)
    if a.dtype.kind in "iu":
        out[...] = div_trunc(a, np.broadcast_to(total, a.shape))
    else:
        np.divide(a, total, out=out)


@primitive
def avg_pool(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, out: Ints, divisors: Any) -> np.ndarray:
    """Sums over windows, divided: see `_divide`."""
    if a.size:
        windows = _regular(a.shape[a.ndim - len(kernel):], kernel, stride, padding, (1,) * len(kernel), out)
        if pooling.can_compute(a.dtype, windows):
            return _pooled("average", a, windows, out, divisors)
    return avg_pool_by_numpy(a, kernel, stride, padding, out, divisors)


def avg_pool_by_numpy(a: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, out: Ints, divisors: Any) -> np.ndarray:
    """`avg_pool` without kernels."""
    kind = a.dtype
    if kind in REDUCED:
        a = a.astype(float32)
    rank = len(kernel)
    found = _empty(a, rank, out)
    for part, target in _blocks(a, rank, found) if a.size else ():
        for axis, k, s, p, o in _geometry(part, kernel, stride, padding, out):
            part = _extended(part, axis, p, _overhang(part.shape[axis], k, s, p, 1, o), 0)
            total = _slice(part, axis, 0, s, o)
            for t in range(1, k):
                total = np.add(total, _slice(part, axis, t, s, o), out=None if t == 1 else total)
            part = total
        _divide(part, divisors, target)
    return found.astype(kind, copy=False)


@primitive
def spread_average(g: np.ndarray, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, divisors: Any) -> np.ndarray:
    """The adjoint of avg_pool."""
    if g.size:
        windows = _regular(sizes, kernel, stride, padding, (1,) * len(kernel), g.shape[g.ndim - len(kernel):])
        if pooling.can_compute(g.dtype, windows):
            return _spread_by_kernel(g, sizes, windows, divisors)
    return spread_average_by_numpy(g, sizes, kernel, stride, padding, divisors)


def spread_average_by_numpy(g: np.ndarray, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, divisors: Any) -> np.ndarray:
    """`spread_average` without kernels."""
    kind, rank = g.dtype, len(kernel)
    if kind in REDUCED:
        g = g.astype(float32)
    counts = g.shape[g.ndim - rank:]
    found = _empty(g, rank, sizes)
    for part, target in _blocks(g, rank, found) if g.size else ():
        share = np.empty_like(part)
        _divide(part, divisors, share)
        for (axis, k, s, p, o), size in reversed(list(zip(_geometry(part, kernel, stride, padding, counts), reversed(sizes)))):
            share = _spread(share, axis, size, k, s, p, o)
        target[...] = share
    return found.astype(kind, copy=False)


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
    return wide if reach == size else _slice(wide, axis, p, 1, size)


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
    if a.size:
        windows = pooling.adaptive(tuple(a.shape[a.ndim - len(out):]), tuple(out))
        if pooling.can_compute(a.dtype, windows):
            return _pooled("placed", a, windows, out)
    return adaptive_max_by_numpy(a, out)


def adaptive_max_by_numpy(a: np.ndarray, out: Ints) -> tuple[np.ndarray, np.ndarray]:
    """`adaptive_max` without kernels."""
    kind, rank, given = a.dtype, len(out), a
    if kind in REDUCED:
        a = a.astype(float32)
    sizes, index = a.shape[a.ndim - rank:], np.zeros((1,) * a.ndim, np.int64)
    step = 1
    for i in reversed(range(rank)):  # the last dimension first; `index` is the flat position within the dimensions that are done
        axis = a.ndim - rank + i
        shape = (*a.shape[:axis], out[i], *a.shape[axis + 1:])
        values, where = np.empty(shape, a.dtype), np.empty(shape, np.int64)
        for j, (lo, hi) in enumerate(_bounds(sizes[i], out[i])):
            part = _slice(a, axis, lo, 1, hi - lo)
            best = _last_argmax(part, axis)
            _slice(values, axis, j, 1, 1)[...] = np.maximum.reduce(part, axis, keepdims=True)
            inner = index if index.size == 1 else np.take_along_axis(_slice(index, axis, lo, 1, hi - lo), best, axis)
            _slice(where, axis, j, 1, 1)[...] = (best + lo) * step + inner
        a, index, step = values, where, step * sizes[i]
    return _ordered_as(a, given).astype(kind, copy=False), _ordered_as(index, given)


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
    picked = np.take_along_axis(a.reshape(*lead, math.prod(sizes)), flat.reshape(*lead, math.prod(out) * math.prod(kernel)), -1).reshape(flat.shape)
    return np.take_along_axis(flat, _last_argmax(picked, -1), -1)[..., 0]


def _fractional_starts(size: int, kernel: int, count: int, sample: np.ndarray) -> np.ndarray:
    """Where the windows of one dimension begin; the last one ends with the input."""
    starts = np.full((*sample.shape, count), size - kernel, np.int64)
    if count > 1:
        alpha = sample.dtype.type(size - kernel) / sample.dtype.type(count - 1)
        shifted = (np.arange(count - 1, dtype=sample.dtype) + sample[..., None]) * alpha
        starts[..., :-1] = shifted.astype(np.int64) - (sample * alpha).astype(np.int64)[..., None]
    return starts
