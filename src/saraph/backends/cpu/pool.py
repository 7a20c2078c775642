"""Pooling on the CPU: one pass over the input for every element of the window, on strided slices."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from saraph.backends.cpu.pointwise import div_trunc
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)


def _offsets(kernel: tuple[int, ...]) -> Any:
    return itertools.product(*[range(k) for k in kernel])


def _reach(shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, out: Any) -> list[tuple[int, int]]:
    """How much every spatial dimension must be padded (before, after) so that all windows lie inside."""
    n = len(kernel)
    return [(p, max((o - 1) * s + (k - 1) * d + 1 - size - p, 0)) for size, k, s, p, d, o in
            zip(shape[-n:], kernel, stride, padding, dilation, out)]


def _slices(offset: Any, stride: Any, dilation: Any, out: Any) -> tuple:
    return (Ellipsis, *[slice(i * d, i * d + (o - 1) * s + 1, s) for i, s, d, o in zip(offset, stride, dilation, out)])


def _padded(a: np.ndarray, reach: list[tuple[int, int]], value: Any) -> np.ndarray:
    if not any(b or e for b, e in reach):
        return a
    lead = a.ndim - len(reach)
    found = np.full((*a.shape[:lead], *[n + b + e for n, (b, e) in zip(a.shape[lead:], reach)]), value, a.dtype)
    found[(Ellipsis, *[slice(b, b + n) for n, (b, _) in zip(a.shape[lead:], reach)])] = a
    return found


def _lowest(kind: np.dtype) -> Any:
    return -np.inf if kind.kind in "fV" else np.iinfo(kind).min


@primitive
def max_pool(a: np.ndarray, kernel: Any, stride: Any, padding: Any, dilation: Any, out: Any) -> tuple[np.ndarray, np.ndarray]:
    """The maxima and their flat positions in the (unpadded) spatial dimensions: the first of equal ones; nan wins."""
    n, kind = len(kernel), a.dtype
    if kind in REDUCED:
        values, index = max_pool(a.astype(float32), kernel, stride, padding, dilation, out)
        return values.astype(kind), index
    padded = _padded(a, _reach(a.shape, kernel, stride, padding, dilation, out), _lowest(kind))
    lead = a.shape[:-n]
    best, index = None, None
    sizes = a.shape[-n:]
    for offset in _offsets(kernel):
        here = padded[_slices(offset, stride, dilation, out)]
        position = _positions(offset, stride, padding, dilation, out, sizes)
        if best is None:
            best = here.copy()
            index = np.broadcast_to(np.where(position < 0, _first_inside(stride, padding, dilation, out, sizes), position),
                                    (*lead, *out)).astype(np.int64)
            continue
        better = here > best
        if kind.kind == "f":
            better |= np.isnan(here)
        better &= position >= 0
        np.copyto(best, here, where=better)
        np.copyto(index, np.broadcast_to(position, index.shape), where=better)
    return best, index


def _positions(offset: Any, stride: Any, padding: Any, dilation: Any, out: Any, sizes: Any) -> np.ndarray:
    """For every window the flat position of its element at `offset`; -1 in the padding."""
    flat, inside = np.zeros((), np.int64), np.ones((), bool)
    for i, s, p, d, o, size in zip(offset, stride, padding, dilation, out, sizes):
        at = np.arange(o) * s + i * d - p
        flat = np.expand_dims(flat, -1) * size + at
        inside = np.expand_dims(inside, -1) & (at >= 0) & (at < size)
    return np.where(inside, flat, -1)


def _first_inside(stride: Any, padding: Any, dilation: Any, out: Any, sizes: Any) -> np.ndarray:
    """For every window the flat position of its first element that is not padding."""
    flat = np.zeros((), np.int64)
    for s, p, d, o, size in zip(stride, padding, dilation, out, sizes):
        at = np.arange(o) * s - p
        at = np.where(at < 0, at + -(-np.maximum(-at, 0) // d) * d, at)
        flat = np.expand_dims(flat, -1) * size + np.minimum(at, size - 1)
    return flat


@primitive
def place_maxima(g: np.ndarray, index: np.ndarray, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> np.ndarray:
    """Zeros of `shape` with g added at the flat positions of `index`."""
    n = len(kernel)
    out, sizes, kind = g.shape[-n:], shape[-n:], g.dtype
    wide = float32 if kind in REDUCED else kind
    reach = _reach(shape, kernel, stride, padding, dilation, out)
    found = np.zeros((*shape[:-n], *[size + b + e for size, (b, e) in zip(sizes, reach)]), wide)
    for offset in _offsets(kernel):
        here = index == _positions(offset, stride, padding, dilation, out, sizes)
        part = found[_slices(offset, stride, dilation, out)]
        np.add(part, g, out=part, where=here, casting="unsafe")
    inner = found[(Ellipsis, *[slice(b, b + size) for size, (b, _) in zip(sizes, reach)])]
    return np.ascontiguousarray(inner).astype(kind, copy=False)


def _divided(a: np.ndarray, divisors: Any) -> np.ndarray:
    if len(divisors) == 1 and not isinstance(divisors[0], tuple):
        return div_trunc(a, a.dtype.type(divisors[0])) if a.dtype.kind in "iu" else a / a.dtype.type(divisors[0])
    total = np.ones((), a.dtype)
    for row in divisors:
        total = np.expand_dims(total, -1) * np.array(row, a.dtype)
    return div_trunc(a, np.broadcast_to(total, a.shape)) if a.dtype.kind in "iu" else a / total


@primitive
def avg_pool(a: np.ndarray, kernel: Any, stride: Any, padding: Any, out: Any, divisors: Any) -> np.ndarray:
    kind, ones = a.dtype, (1,) * len(kernel)
    if kind in REDUCED:
        a = a.astype(float32)
    padded = _padded(a, _reach(a.shape, kernel, stride, padding, ones, out), 0)
    total = None
    for offset in _offsets(kernel):
        here = padded[_slices(offset, stride, ones, out)]
        total = here.copy() if total is None else np.add(total, here, out=total)
    return _divided(total, divisors).astype(kind, copy=False)


@primitive
def spread_average(g: np.ndarray, shape: Any, kernel: Any, stride: Any, padding: Any, divisors: Any) -> np.ndarray:
    n, kind, ones = len(kernel), g.dtype, (1,) * len(kernel)
    if kind in REDUCED:
        g = g.astype(float32)
    share = _divided(g, divisors)
    out = g.shape[-n:]
    reach = _reach(shape, kernel, stride, padding, ones, out)
    found = np.zeros((*shape[:-n], *[size + b + e for size, (b, e) in zip(shape[-n:], reach)]), g.dtype)
    for offset in _offsets(kernel):
        found[_slices(offset, stride, ones, out)] += share
    inner = found[(Ellipsis, *[slice(b, b + size) for size, (b, _) in zip(shape[-n:], reach)])]
    return np.ascontiguousarray(inner).astype(kind, copy=False)


@primitive
def window_argmax(a: np.ndarray, windows: Any) -> np.ndarray:
    """For windows given as (start, end) per dimension and output: the flat position of each one's maximum (the first; nan wins)."""
    n = len(windows)
    if a.dtype in REDUCED:
        a = a.astype(float32)
    lead, sizes = a.shape[:-n], a.shape[-n:]
    found = np.zeros((*lead, *[len(w) for w in windows]), np.int64)
    for place in np.ndindex(*[len(w) for w in windows]):
        bounds = [windows[d][i] for d, i in enumerate(place)]
        part = a[(Ellipsis, *[slice(lo, hi) for lo, hi in bounds])]
        local = np.unravel_index(part.reshape(*lead, -1).argmax(-1), part.shape[-n:])
        flat = np.zeros(lead, np.int64)
        for at, (lo, _), size in zip(local, bounds, sizes):
            flat = flat * size + at + lo
        found[(Ellipsis, *place)] = flat
    return found


@primitive
def positions(values: Any) -> np.ndarray:
    """A vector of positions."""
    return np.array(values, np.int64)
