"""Gathering and scattering on the CPU. Indices come as int64 arrays within bounds (negative ones already counted from the front)."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.cpu.conversion import LARGE, cast, copied
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import blocks, functions, indexing, jit, masking
from saraph.kernels.walking import name_of

MANY = 1 << 12  #: positions from which a kernel's call is quicker than NumPy's
FEW_BYTES = 16  #: the largest element that the kernels move
float32, int64 = np.dtype(np.float32), np.dtype(np.int64)


def _along(index: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Index arrays for every dimension, `index` itself along `axis`."""
    grid = [np.arange(n).reshape((1,) * d + (n,) + (1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape)]
    grid[axis] = index
    return tuple(grid)


@primitive
def index_of(values: Any) -> np.ndarray:
    """Numbers in a sequence or array as positions (int64) or, for bools and uint8, as a mask."""
    a = np.asarray(values)
    if a.dtype.kind == "b" or a.dtype == np.uint8:
        return a.astype(bool, copy=False)
    if a.dtype.kind not in "iuf":
        raise TypeError(f"an index holds integers or bools, not {a.dtype}")
    return a.astype(np.int64, copy=False)


@primitive
def bounds(index: np.ndarray) -> tuple[int, int]:
    """The smallest and largest position; (0, -1) where there is none."""
    if index.size >= MANY and index.dtype == int64 and index.flags.c_contiguous and jit.available():
        return indexing.bounds(index)
    return (int(index.min()), int(index.max())) if index.size else (0, -1)


@primitive
def take_index(a: np.ndarray, index: Any) -> np.ndarray:
    """Advanced indexing: a[index]."""
    if a.nbytes >= LARGE:
        places = index if index.__class__ is tuple else (index,)
        arrays = [i for i in places if i.__class__ is np.ndarray]
        if len(arrays) == 1 and all(i == _ALL for i in places if i.__class__ is slice) and len(places) <= a.ndim:
            found = _picked(a, places, arrays[0])
            if found is not None:
                return found
    return np.asarray(a[index])


_ALL = slice(None)


def _picked(a: np.ndarray, places: tuple[Any, ...], index: np.ndarray) -> np.ndarray | None:
    """a[index] for one array among whole slices, where that is work for a kernel."""
    if index.dtype == int64 and index.ndim:
        axis = next(d for d, i in enumerate(places) if i is index)
        if not index.flags.c_contiguous:
            index = index.copy()
        found = _take(a, axis, index.reshape(-1))
        return None if found is None else found.reshape(a.shape[:axis] + index.shape + a.shape[axis + 1:])
    if index.dtype.kind == "b" and index.shape == a.shape:
        return _masked(a, index)
    return None


def _take(a: np.ndarray, axis: int, index: np.ndarray) -> np.ndarray | None:
    """The slices at `index` along an axis by the kernel; None where NumPy is quicker, or knows what is wrong with the index."""
    nbytes = a.nbytes // max(a.shape[axis], 1) * len(index)
    if nbytes < LARGE or not a.flags.c_contiguous or a.itemsize > FEW_BYTES or not index.flags.c_contiguous or not jit.available():
        return None
    found = blocks.empty(a.shape[:axis] + index.shape + a.shape[axis + 1:], a.dtype)
    return found if indexing.take_rows(found, a, axis, index) else None


def _masked(a: np.ndarray, mask: np.ndarray) -> np.ndarray | None:
    if a.size < MANY or not (a.flags.c_contiguous and mask.flags.c_contiguous) or a.itemsize > FEW_BYTES or not jit.available():
        return None
    return masking.chosen(a, mask)


@primitive
def put_index(a: np.ndarray, index: Any, values: Any, accumulate: bool) -> np.ndarray:
    """A copy of `a` with values at (or added to) a[index]."""
    found = copied(a, "K")
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
    """a[index] += values, also where a place is named several times."""
    arrays = [i for i in index if isinstance(i, np.ndarray)]
    if all(i.dtype.kind == "b" for i in arrays):  # masks name each place once
        a[index] += values
    elif len(arrays) == 1 and a.dtype.kind in "fc" and arrays[0].size > 32:
        _add_slices(a, index, arrays[0], values)
    elif a.dtype in REDUCED:
        wide = a.astype(float32)
        np.add.at(wide, index, np.asarray(values).astype(float32))
        a[...] = wide.astype(a.dtype)
    else:
        np.add.at(a, index, values)


def _add_slices(a: np.ndarray, index: Any, at: np.ndarray, values: Any) -> None:
    """`_add_at` for one array of positions, by sorting."""
    axis = next(d for d, i in enumerate(index) if i is at)
    count = a.shape[axis]
    if at.min() < -count or at.max() >= count:
        a[index]  # raises NumPy's error
    full = np.broadcast_to(values, a.shape[:axis] + at.shape + a.shape[axis + 1:])
    flat = full.reshape(a.shape[:axis] + (at.size,) + a.shape[axis + 1:]).astype(a.dtype, copy=False)
    a += add_rows(a.shape, axis, np.where(at < 0, at + count, at).ravel(), flat)


@primitive
def index_select(a: np.ndarray, axis: int, index: np.ndarray) -> np.ndarray:
    if a.nbytes >= LARGE:
        found = _take(a, axis, index)
        if found is not None:
            return found
    return np.take(a, index, axis)


@primitive
def add_rows(shape: tuple[int, ...], axis: int, index: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zeros of that shape with the slices of `values` added along `axis` at `index`, in order."""
    if values.nbytes >= LARGE and jit.available():
        found = _added(shape, axis, index, values)
        if found is not None:
            return found
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


def _added(shape: tuple[int, ...], axis: int, index: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """`add_rows` by a kernel."""
    kind = values.dtype
    if kind in REDUCED:
        found = _added(shape, axis, index, cast(values, float32))
        return None if found is None else cast(found, kind)
    if name_of(kind) not in indexing.NUMBERS or not index.flags.c_contiguous:
        return None
    values = values if values.flags.c_contiguous else copied(values, "C")
    if axis == len(shape) - 1:
        found = blocks.zeros(shape, kind)
        return found if indexing.scatter(found, axis, np.broadcast_to(index, values.shape), values, "add") else None
    found = blocks.empty(shape, kind)
    return found if indexing.add_rows(found, axis, index, values) else None


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
    if index.size >= MANY and jit.available():
        found = blocks.empty(index.shape, a.dtype)
        if indexing.gather(found, a, axis, index):
            return found
    return a[_along(index, axis)]


@primitive
def scatter(a: np.ndarray, axis: int, index: np.ndarray, values: Any, mode: str) -> np.ndarray:
    """A copy of `a` with values at the places that `index` names along `axis`: set, or combined by add, multiply, amax, amin."""
    found = copied(a, "K") if 0 not in a.strides else copied(a, "C")
    if index.size == 0:
        return found
    if isinstance(values, np.ndarray) and values.ndim:
        values = values[tuple(slice(0, n) for n in index.shape)]
    if index.size >= MANY and jit.available() and _scattered(found, axis, index, values, mode):
        return found
    place = _along(index, axis)
    if mode == "set":
        found[place] = values
    elif mode == "add":
        _add_at(found, place, values)
    else:
        {"multiply": np.multiply, "amax": np.maximum, "amin": np.minimum}[mode].at(found, place, values)
    return found


def _scattered(a: np.ndarray, axis: int, index: np.ndarray, values: Any, mode: str) -> bool:
    """`scatter` into `a` by a kernel. Not done where it knows the dtype or the strides not."""
    values = np.asarray(values, a.dtype)
    return indexing.scatter(a, axis, index, values if values.shape == index.shape else np.broadcast_to(values, index.shape), mode) is True


@primitive
def add_elements(shape: tuple[int, ...], axis: int, index: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zeros of that shape with the elements of `values` added at the places that `index` (of the same shape) names along `axis`."""
    found = blocks.zeros(shape, values.dtype)
    if index.size < MANY or not jit.available() or not _scattered(found, axis, index, values, "add"):
        if index.size:
            _add_at(found, _along(index, axis), values)
    return found


@primitive
def nonzero(a: np.ndarray) -> np.ndarray:
    """The positions (count, dims) of what is not 0."""
    if a.ndim == 0:
        return np.zeros((int(bool(a)), 0), np.int64)
    if a.size >= MANY and jit.available():
        mask = a if a.dtype.kind == "b" else a != 0
        return masking.positions(mask if mask.flags.c_contiguous else copied(mask, "C"))
    return np.ascontiguousarray(np.argwhere(a)).astype(np.int64)


@primitive
def masked_fill(a: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
    if a.nbytes >= LARGE and a.dtype.char in "fd":
        return functions.where_kernel(mask, np.asarray(value, a.dtype), a)
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
    found = _masked(a, mask) if a.size >= MANY else None
    return a[mask] if found is None else found


@primitive
def masked_scatter(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(a.shape, mask.shape)
    found, where = np.broadcast_to(a, shape).copy(), np.broadcast_to(mask, shape)
    found[where] = source.reshape(-1)[: int(where.sum())]
    return found


@primitive
def xor_patterns(a: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """The exclusive or of 64-bit patterns over axes, as uint64."""
    return np.asarray(np.bitwise_xor.reduce(a.view(np.uint64), axis=axes, keepdims=keepdims))
