"""Gathering and scattering on the CPU. Indices come as int64 arrays within bounds (negative ones already counted from the front)."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)


def _along(index: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Index arrays for every dimension, `index` itself along `axis`."""
    grid = [np.arange(n).reshape((1,) * d + (n,) + (1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape)]
    grid[axis] = index
    return tuple(grid)


@primitive
def take_index(a: np.ndarray, index: Any) -> np.ndarray:
    """Advanced indexing: a[index]."""
    return np.asarray(a[index])


@primitive
def put_index(a: np.ndarray, index: Any, values: Any, accumulate: bool) -> np.ndarray:
    """A copy of `a` with values at (or added to) a[index]."""
    found = a.copy()
    if accumulate:
        _add_at(found, index, values)
    else:
        found[index] = values
    return found


@primitive
def write_index(a: np.ndarray, index: Any, values: Any) -> None:
    """a[index] = values, in place."""
    a[index] = values


def _add_at(a: np.ndarray, index: Any, values: Any) -> None:
    if a.dtype in REDUCED:
        wide = a.astype(float32)
        np.add.at(wide, index, np.asarray(values).astype(float32))
        a[...] = wide.astype(a.dtype)
    else:
        np.add.at(a, index, values)


@primitive
def index_select(a: np.ndarray, axis: int, index: np.ndarray) -> np.ndarray:
    return np.take(a, index, axis)


@primitive
def add_rows(shape: tuple[int, ...], axis: int, index: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zeros of that shape with the slices of `values` added along `axis` at `index`, in order."""
    kind = values.dtype
    wide = float32 if kind in REDUCED else kind
    moved = np.moveaxis(values, axis, 0)
    rows = moved.reshape(len(index), int(np.prod(moved.shape[1:])))
    found = np.zeros((shape[axis], rows.shape[1] if len(index) else int(np.prod(shape) // max(shape[axis], 1))), wide)
    if len(index):
        order = np.argsort(index, kind="stable")
        ordered = index[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        _sum_runs(found, rows, order, ordered[starts], starts, wide)
    found = found.astype(kind, copy=False)
    if axis == 0 and found.shape == tuple(shape):
        return found  # owns its memory: it can become a gradient as it is
    rest = [n for d, n in enumerate(shape) if d != axis]
    return np.ascontiguousarray(np.moveaxis(found.reshape([shape[axis], *rest]), 0, axis))


FEW_ROUNDS = 32  # of additions of whole sets of rows


def _sum_runs(found: np.ndarray, rows: np.ndarray, order: np.ndarray, targets: np.ndarray, starts: np.ndarray, wide: np.dtype) -> None:
    """found[targets[k]] = the sum of rows[order] from starts[k] to the next start, first to last."""
    lengths = np.diff(starts, append=len(order))
    if lengths.max() > FEW_ROUNDS:
        found[targets] = np.add.reduceat(rows[order].astype(wide, copy=False), starts, 0)
        return
    found[targets] = rows[order[starts]]
    k = 1
    while True:
        longer = lengths > k
        if not longer.any():
            return
        targets, starts, lengths = targets[longer], starts[longer], lengths[longer]
        found[targets] += rows[order[starts + k]]
        k += 1


@primitive
def gather(a: np.ndarray, axis: int, index: np.ndarray) -> np.ndarray:
    if index.size == 0:
        return np.empty(index.shape, a.dtype)
    return a[_along(index, axis)]


@primitive
def scatter(a: np.ndarray, axis: int, index: np.ndarray, values: Any, mode: str) -> np.ndarray:
    """A copy of `a` with values at the places that `index` names along `axis`: set, or combined by add, multiply, amax, amin."""
    found = a.copy()
    if index.size == 0:
        return found
    if isinstance(values, np.ndarray) and values.ndim:
        values = values[tuple(slice(0, n) for n in index.shape)]
    place = _along(index, axis)
    if mode == "set":
        found[place] = values
    elif mode == "add":
        _add_at(found, place, values)
    else:
        {"multiply": np.multiply, "amax": np.maximum, "amin": np.minimum}[mode].at(found, place, values)
    return found


@primitive
def nonzero(a: np.ndarray) -> np.ndarray:
    """The positions (count, dims) of what is not 0."""
    if a.ndim == 0:
        return np.zeros((int(bool(a)), 0), np.int64)
    return np.ascontiguousarray(np.argwhere(a)).astype(np.int64)


@primitive
def masked_fill(a: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
    if value.__class__ is int and value == 0 and a.shape == mask.shape and a.dtype.kind == "f":
        # all bits kept or cleared: several times faster than a copy that branches at every element
        bits = np.dtype(f"i{a.itemsize}")
        return np.bitwise_and(a.view(bits), mask.view(np.int8) - np.int8(1)).view(a.dtype)
    found = a.copy() if a.shape == np.broadcast_shapes(a.shape, mask.shape) else np.broadcast_to(a, np.broadcast_shapes(a.shape, mask.shape)).copy()
    np.copyto(found, value, where=mask, casting="unsafe")
    return found


@primitive
def masked_select(a: np.ndarray, mask: np.ndarray) -> np.ndarray:
    if a.shape != mask.shape:
        a, mask = np.broadcast_arrays(a, mask)
    return a[mask]


@primitive
def masked_scatter(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(a.shape, mask.shape)
    found, where = np.broadcast_to(a, shape).copy(), np.broadcast_to(mask, shape)
    found[where] = source.reshape(-1)[: int(where.sum())]
    return found
