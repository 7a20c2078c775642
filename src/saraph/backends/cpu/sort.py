"""Sorting and selection on the CPU.

Sorts are stable and put NaN last (first when descending). Types of up to 32 bits are sorted as 64-bit keys, the element's bits (in an order
that agrees with the numbers') above its position: one vectorised sort of integers, stable by construction.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.cpu.conversion import cast, copied
from saraph.backends.cpu.indexing import gather
from saraph.backends.cpu.reduce import widened
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import jit, sorting
from saraph.kernels.walking import name_of

MANY = 1 << 12  #: elements from which a kernel's call is quicker than NumPy's
_SMALL = 64  # rows below which NumPy's own stable argsort is quicker than building keys
_LOW = np.uint64(0xFFFFFFFF)


def _ordered_bits(a: np.ndarray) -> np.ndarray:
    """An unsigned 32-bit number per element, in the elements' order (NaNs equal and largest, both zeros equal)."""
    a = widened(a)
    if a.dtype.kind == "f":
        if a.dtype.itemsize == 2:
            a = a.astype(np.float32)
        bits = (a + np.float32(0)).view(np.uint32)  # -0 becomes +0
        bits = bits ^ ((bits.view(np.int32) >> 31).view(np.uint32) | np.uint32(0x80000000))
        return np.where(np.isnan(a), np.uint32(0xFFFFFFFF), bits)
    if a.dtype.kind == "i":
        return a.astype(np.int32).view(np.uint32) ^ np.uint32(0x80000000)
    return a.astype(np.uint32)


def _keyed(a: np.ndarray) -> bool:
    return a.dtype.itemsize <= 4 and a.dtype.kind != "c" and _SMALL < a.shape[-1] < 1 << 32


def _keys(a: np.ndarray, descending: bool) -> np.ndarray:
    """Element bits above positions along the last axis."""
    bits = _ordered_bits(a)
    keys = (~bits if descending else bits).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(a.shape[-1], dtype=np.uint64)
    return keys


def _positions(keys: np.ndarray) -> np.ndarray:
    return (keys & _LOW).view(np.int64)


def order_of_rows(a: np.ndarray, descending: bool) -> np.ndarray:
    """The stable order of each row (last axis)."""
    if _keyed(a):
        keys = _keys(a, descending)
        keys.sort(axis=-1)
        return _positions(keys)
    a = widened(a)
    if not descending:
        return np.argsort(a, -1, kind="stable")
    return a.shape[-1] - 1 - np.argsort(a[..., ::-1], -1, kind="stable")[..., ::-1]


def _rows(a: np.ndarray, axis: int) -> np.ndarray:
    return np.moveaxis(a, axis, -1)


def _take(rows: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Elements of each row; NumPy's take_along_axis, with less ado for vectors and matrices."""
    if rows.ndim == 1:
        return rows[index]
    if rows.ndim == 2:
        return rows[np.arange(len(rows))[:, None], index]
    return np.take_along_axis(rows, index, -1)


def _back(rows: np.ndarray, axis: int) -> np.ndarray:
    """Rows moved back, dense in memory."""
    return np.ascontiguousarray(np.moveaxis(rows, -1, axis)) if axis != rows.ndim - 1 else rows


@primitive
def sort(a: np.ndarray, axis: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    """Sorted values and where they were."""
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    rows = _rows(a, axis)
    order = order_of_rows(rows, descending)
    return _back(_take(rows, order), axis), _back(np.ascontiguousarray(order), axis)


@primitive
def argsort(a: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The stable order along an axis."""
    if a.ndim == 0:
        return np.zeros((), np.int64)
    return _back(np.ascontiguousarray(order_of_rows(_rows(a, axis), descending)), axis)


@primitive
def topk(a: np.ndarray, k: int, axis: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k largest (or smallest) elements in order, and where they were."""
    if a.ndim == 0:
        return (a.copy(), np.zeros((), np.int64)) if k else (np.empty(0, a.dtype), np.empty(0, np.int64))
    rows = _rows(a, axis)
    order = _first_of_order(rows, k, largest)
    values = gather(rows, a.ndim - 1, order) if a.ndim > 1 else rows[order]
    return _back(values, axis), _back(np.ascontiguousarray(order), axis)


def _first_of_order(rows: np.ndarray, k: int, largest: bool) -> np.ndarray:
    length = rows.shape[-1]
    if rows.size >= MANY and 0 < k <= sorting.MOST and k * 4 <= length and jit.available():
        found = _top(rows, k, largest)
        if found is not None:
            return found
    if k * 4 > length or length <= _SMALL or rows.size == 0 or k == 0:
        return order_of_rows(rows, largest)[..., :k]
    if rows.size > 1 << 16 and rows.dtype.char in "fdil":
        found = _above_threshold(rows, k, largest)
        if found is not None:
            return np.take_along_axis(found, order_of_rows(_take(rows, found), largest), -1)
    if _keyed(rows):
        keys = _keys(rows, largest)
        keys.partition(k - 1, axis=-1)
        keys = keys[..., :k]
        keys.sort(axis=-1)
        return _positions(np.ascontiguousarray(keys))
    rows = widened(rows)
    if largest:
        found = np.argpartition(rows, length - k, -1)[..., length - k:]
    else:
        found = np.argpartition(rows, k - 1, -1)[..., :k]
    return np.take_along_axis(found, order_of_rows(_take(rows, found), largest), -1)


def _top(rows: np.ndarray, k: int, largest: bool) -> np.ndarray | None:
    """The positions of the k best elements by the kernel; narrow dtypes in one that holds them all."""
    kind = rows.dtype
    if name_of(kind) not in sorting.KINDS:
        if kind in REDUCED:
            rows = cast(rows, np.dtype(np.float32))
        elif name_of(kind) in ("int16", "int8", "uint8"):
            rows = cast(rows, np.dtype(np.int32))
        else:
            return None
    return sorting.top(rows if rows.flags.c_contiguous else copied(rows, "C"), k, largest)


def _above_threshold(rows: np.ndarray, k: int, largest: bool) -> np.ndarray | None:
    """The positions of each row's k best elements in ascending order, found by the k-th best; None where that has equals, or NaN occurs."""
    place = rows.shape[-1] - k if largest else k - 1
    threshold = np.partition(rows, place, -1)[..., place:place + 1]
    chosen = rows >= threshold if largest else rows <= threshold
    if rows.dtype.kind == "f" and np.isnan(rows.sum()):
        return None
    if np.any(np.count_nonzero(chosen, -1) != k):
        return None
    return np.nonzero(chosen)[-1].reshape(*rows.shape[:-1], k)


@primitive
def kth(a: np.ndarray, k: int, axis: int, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    """The element that would be number k (from 0) after sorting, and where it is."""
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    rows = _rows(a, axis)
    if _keyed(rows):
        keys = _keys(rows, False)
        keys.partition(k, axis=-1)
        index = _positions(keys[..., k:k + 1].copy())
    else:
        index = np.argpartition(widened(rows), k, -1)[..., k:k + 1]
    return _selected(rows, index, axis, keepdims)


def _selected(rows: np.ndarray, index: np.ndarray, axis: int, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    values = _take(rows, index)
    if keepdims:
        return _back(values, axis), _back(index, axis)
    return values[..., 0].copy(), index[..., 0].copy()


@primitive
def median(a: np.ndarray, axis: int, keepdims: bool, ignore_nan: bool) -> tuple[np.ndarray, np.ndarray]:
    """The lower median and where it is. A NaN counts as the median, or is passed over; a row of NaN only gives NaN."""
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    rows = _rows(a, axis)
    length = rows.shape[-1]
    if a.dtype.kind in "iu":
        return kth(a, (length - 1) // 2, axis, keepdims)
    missing = np.isnan(rows)
    if not missing.any():
        return kth(a, (length - 1) // 2, axis, keepdims)
    order = order_of_rows(rows, False)
    valid = length - missing.sum(-1, keepdims=True)
    if ignore_nan:
        place = np.maximum(valid - 1, 0) // 2
    else:
        place = np.where(valid < length, valid, (length - 1) // 2)
    return _selected(rows, np.take_along_axis(order, place, -1), axis, keepdims)


@primitive
def mode(a: np.ndarray, axis: int, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    """The most frequent element (the smallest of several) and its last position."""
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    rows = _rows(a, axis)
    order = order_of_rows(rows, False)
    sorted_rows = _take(rows, order)
    length = rows.shape[-1]
    starts = np.ones(rows.shape, bool)
    starts[..., 1:] = sorted_rows[..., 1:] != sorted_rows[..., :-1]
    positions = np.arange(length)
    run = positions - np.maximum.accumulate(np.where(starts, positions, 0), -1)  # place within the run of equal elements
    return _selected(rows, np.take_along_axis(order, np.argmax(run, -1)[..., None], -1), axis, keepdims)


# -- equal elements -------------------------------------------------------------------------------------------------------------


def _run_starts(rows: np.ndarray) -> np.ndarray:
    """Which rows (first axis) differ from the one before. NaN differs from everything."""
    starts = np.ones(len(rows), bool)
    differs = rows[1:] != rows[:-1]
    starts[1:] = differs.any(tuple(range(1, rows.ndim)))
    return starts


def _runs(starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First position, number of every element, and length, of the runs."""
    firsts = np.flatnonzero(starts)
    return firsts, np.cumsum(starts) - 1, np.diff(np.append(firsts, len(starts)))


@primitive
def unique_consecutive(a: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first of each run of equal elements (of slices along `axis`), which run each element is in, and the runs' lengths."""
    rows = a.reshape(-1) if axis is None else np.moveaxis(a, axis, 0)
    firsts, numbers, lengths = _runs(_run_starts(rows))
    values = rows[firsts]
    if axis is None:
        return values, numbers.reshape(a.shape), lengths
    return np.ascontiguousarray(np.moveaxis(values, 0, axis)), numbers, lengths


@primitive
def unique(a: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different elements (slices along `axis`) in ascending order, which of them each element is, and how often each occurs."""
    rows = a.reshape(-1) if axis is None else np.moveaxis(a, axis, 0)
    order = order_of_rows(rows, False) if axis is None else _order_of_slices(rows)
    sorted_rows = rows[order]
    firsts, numbers, lengths = _runs(_run_starts(sorted_rows))
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = numbers
    values = sorted_rows[firsts]
    if axis is None:
        return values, inverse.reshape(a.shape), lengths
    return np.ascontiguousarray(np.moveaxis(values, 0, axis)), inverse, lengths


def _order_of_slices(rows: np.ndarray) -> np.ndarray:
    """Lexicographic order of the slices along the first axis."""
    columns = widened(rows.reshape(len(rows), math.prod(rows.shape[1:])))
    return np.lexsort(columns.T[::-1]) if columns.shape[1] else np.arange(len(rows))


# -- searching ----------------------------------------------------------------------------------------------------------------


@primitive
def searchsorted(edges: np.ndarray, values: np.ndarray, right: bool, dtype: np.dtype) -> np.ndarray:
    """Where each value goes into the sorted last axis of `edges` (one row for all, or one per row of `values`)."""
    side: Any = "right" if right else "left"
    edges, values = widened(edges), widened(values)
    if edges.ndim == 1:
        return np.asarray(np.searchsorted(edges, values, side)).astype(dtype)
    result = np.empty(values.shape, dtype)
    if not values.size:
        return result
    rows = edges.reshape(math.prod(edges.shape[:-1]), edges.shape[-1])
    for row, wanted, found in zip(rows, values.reshape(-1, values.shape[-1]), result.reshape(-1, values.shape[-1])):
        found[...] = np.searchsorted(row, wanted, side)
    return result


@primitive
def isin(a: np.ndarray, tests: np.ndarray) -> np.ndarray:
    """Whether each element is among `tests`."""
    return np.isin(widened(a), widened(tests))


@primitive
def bincount(a: np.ndarray, weights: np.ndarray | None, minlength: int) -> np.ndarray:
    """How often each number occurs in a 1-d integer array, or the sum of its weights."""
    counts = np.bincount(a, weights, minlength)
    return counts if weights is None or weights.dtype != np.float32 else counts.astype(np.float32)


@primitive
def histogram_counts(values: np.ndarray, edges: Any, weights: np.ndarray | None) -> np.ndarray:
    """How many rows of `values` (n, d) fall into each cell of the grid of `edges` (one sorted 1-d array per column), or their weights' sum.

    Cells are half open, the last one closed; what lies outside is not counted.
    """
    shape = tuple(len(e) - 1 for e in edges)
    inside = np.ones(len(values), bool)
    cell = np.zeros(len(values), np.int64)
    for column, e in zip(values.T, edges):
        place = np.searchsorted(e, column, "right") - 1
        place[column == e[-1]] = len(e) - 2
        inside &= (column >= e[0]) & (column <= e[-1])
        cell = cell * (len(e) - 1) + place
    size = int(np.prod(shape, dtype=np.int64))
    counts = np.bincount(cell[inside], None if weights is None else weights[inside], size)
    return counts.astype(values.dtype).reshape(shape)


@primitive
def histc(a: np.ndarray, bins: int, low: float, high: float) -> np.ndarray:
    """Counts in equal intervals of [low, high], an element's interval computed in its own dtype; what lies outside is not counted."""
    values = a.reshape(-1)
    kind = values.dtype.type
    values = values[(values >= kind(low)) & (values <= kind(high))]
    place = ((values - kind(low)) * kind(bins) / (kind(high) - kind(low))).astype(np.int64)
    return np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(a.dtype)
