"""Making and moving memory on the CPU."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from saraph.backends.cpu.conversion import HUGE, LARGE, copied, filled, write
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import blocks, copying, jit

ROWS, ROW = 16, 256  #: rows, and bytes in one, from which arrays are joined row by row


@primitive
def full(shape: tuple[int, ...], value: Any, dtype: np.dtype) -> np.ndarray:
    if value.__class__ is not complex and value == 0:
        return blocks.zeros(shape, dtype)
    return filled(shape, value, dtype)


@primitive
def scalar(value: Any, dtype: np.dtype) -> np.ndarray:
    """A zero-dim array of a Python number; integers wrap around as C conversions do."""
    a = np.asarray(value)
    if a.dtype.kind == "O":  # an int beyond 64 bits
        a = np.asarray(int(value) & (2**64 - 1), np.uint64) if dtype.kind in "biu" else np.asarray(float(value))
    if a.dtype.kind == "c" and dtype.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow: it is complex ({value})")
    return a.astype(dtype)


@primitive
def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return blocks.empty(shape, dtype)


@primitive
def empty_like(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Uninitialised, in the memory order of `a` (gaps and broadcast dimensions closed)."""
    return np.empty_like(a, dtype, "K", subok=False)


@primitive
def empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised, with these strides in elements."""
    if 0 in shape:
        return np.empty(shape, dtype)
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return np.ndarray(shape, dtype, blocks.empty((extent,), dtype), 0, tuple(s * dtype.itemsize for s in strides))


@primitive
def copy(a: np.ndarray, order: Literal["C", "K"] = "K") -> np.ndarray:
    """A copy: "K" keeps the memory order (broadcast dimensions are filled in row-major), "C" is row-major."""
    if order == "K" and 0 in a.strides and a.size > 1:
        order = "C"
    return copied(a, order)


@primitive
def copy_into(destination: np.ndarray, source: Any) -> None:
    """Write `source` (broadcast, converted) over `destination`."""
    write(destination, source)


@primitive
def fill(destination: np.ndarray, value: Any) -> None:
    destination.fill(value)


# without the look for `__array_function__`, which costs a fifth of a small call: only ndarrays come here
_concatenate = getattr(np.concatenate, "_implementation", np.concatenate)
FUNCTIONS["cat_small"] = _concatenate  # `cat` of arrays that are known to be small


@primitive
def cat(arrays: Sequence[np.ndarray], axis: int = 0) -> np.ndarray:
    """Joined along an axis. ValueError where the other sizes differ."""
    if arrays[0].nbytes + arrays[-1].nbytes < HUGE:
        return _concatenate(arrays, axis)
    return _joined(arrays, axis)


def _joined(arrays: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """`cat` of large arrays: into reused memory, each by a parallel copy."""
    first = arrays[0]
    if any(a.__class__ is not np.ndarray or a.dtype != first.dtype or a.ndim != first.ndim for a in arrays) or not jit.available():
        return _concatenate(arrays, axis)
    rest = first.shape[:axis] + first.shape[axis + 1:] if axis >= 0 else ()
    if axis < 0 or any(not a.flags.c_contiguous or a.shape[:axis] + a.shape[axis + 1:] != rest for a in arrays):
        return _concatenate(arrays, axis)
    shape = (*first.shape[:axis], sum(a.shape[axis] for a in arrays), *first.shape[axis + 1:])
    result = blocks.empty(shape, first.dtype)
    rows = math.prod(shape[:axis])
    if rows >= ROWS and result.nbytes >= rows * ROW:
        copying.join_rows(result, arrays, axis)
        return result
    if result.nbytes < len(arrays) * LARGE:
        return _concatenate(arrays, axis, out=result)
    lead, start = (slice(None),) * axis, 0
    for a in arrays:
        write(result[(*lead, slice(start, start + a.shape[axis]))], a)
        start += a.shape[axis]
    return result


@primitive
def stack(arrays: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """Along a new axis; joining along the old one and reshaping is cheaper than `np.stack`."""
    shape = arrays[0].shape
    if axis < len(shape):
        return cat(arrays, axis).reshape(*shape[:axis], len(arrays), *shape[axis:])
    if arrays[0].nbytes < LARGE:
        return np.stack(arrays, axis)
    result = blocks.empty((*shape, len(arrays)), np.result_type(*arrays))
    for k, a in enumerate(arrays):
        if a.shape != shape:
            raise ValueError(f"stack of {shape} and {a.shape}")
        write(result[..., k], a)
    return result


@primitive
def pad_rows(arrays: Sequence[np.ndarray], longest: int, value: Any, batch_first: bool, left: bool) -> np.ndarray:
    """(length_i, *) arrays as the rows of one (batch, longest, *) or (longest, batch, *) array, the rest of it filled with `value`."""
    first = arrays[0]
    lead = (len(arrays), longest) if batch_first else (longest, len(arrays))
    padded = full((*lead, *first.shape[1:]), value, first.dtype)
    for row, a in zip(padded if batch_first else padded.swapaxes(0, 1), arrays):
        if left:
            row[longest - len(a):] = a
        else:
            row[:len(a)] = a
    return padded


@primitive
def copy_as(a: np.ndarray, layout: str) -> np.ndarray:
    """A dense copy in the memory order that a memory format names."""
    if layout == "contiguous_format":
        return copied(a, "C")
    axes = (0, *range(2, a.ndim), 1)
    back = (0, a.ndim - 1, *range(1, a.ndim - 1))
    return copied(a.transpose(axes), "C").transpose(back)


@primitive
def is_row_major(a: np.ndarray) -> bool:
    return a.flags.c_contiguous


@primitive
def address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


@primitive
def scatter_strided(g: np.ndarray, base_shape: Any, base_strides: Any, shape: Any, strides: Any, offset: int) -> np.ndarray:
    """Zeros with the base's shape and memory order, and g added where the view (shape, strides, offset) lies in it."""
    base, window = _layout(base_shape, base_strides, g.dtype, shape, strides, offset)
    if any(s == 0 and n > 1 for s, n in zip(strides, shape)) or _overlaps(shape, strides, g.dtype.itemsize):
        flat = window[0].reshape(-1)
        positions = window[2]
        np.add.at(flat, positions.reshape(-1), g.reshape(-1))
    else:
        window[1][...] = g
    return base


@primitive
def gather_strided(x: np.ndarray, base_strides: Any, shape: Any, strides: Any, offset: int) -> np.ndarray:
    base, window = _layout(x.shape, base_strides, x.dtype, shape, strides, offset)
    base[...] = x
    return window[1].copy("C")


@primitive
def erase_strided(x: np.ndarray, base_strides: Any, shape: Any, strides: Any, offset: int) -> np.ndarray:
    """A copy of x in the base's memory order, with zeros where the view lies in it."""
    base, window = _layout(x.shape, base_strides, x.dtype, shape, strides, offset)
    base[...] = x
    window[1][...] = 0
    return base


def _layout(base_shape: Any, base_strides: Any, dtype: np.dtype, shape: Any, strides: Any, offset: int) -> Any:
    """Zeroed memory, the base and the view in it, and the element number of every element of the view."""
    size = dtype.itemsize
    low = sum(min(0, (n - 1) * s) for n, s in zip(base_shape, base_strides) if n)
    high = sum(max(0, (n - 1) * s) for n, s in zip(base_shape, base_strides) if n)
    view_low = offset + sum(min(0, (n - 1) * s) for n, s in zip(shape, strides) if n)
    view_high = offset + sum(max(0, (n - 1) * s) for n, s in zip(shape, strides) if n)
    low, high = min(low, view_low), max(high, view_high)
    memory = np.zeros((high - low) // size + 1, dtype)
    buffer = memory if dtype.kind != "V" else memory.view(np.uint8)
    base = np.ndarray(base_shape, dtype, buffer, -low, base_strides) if 0 not in base_shape else np.zeros(base_shape, dtype)
    inner = np.ndarray(shape, dtype, buffer, offset - low, strides) if 0 not in shape else np.zeros(shape, dtype)
    numbers = np.full(shape, (offset - low) // size, np.int64)
    for d, (n, s) in enumerate(zip(shape, strides)):
        numbers += (np.arange(n) * (s // size)).reshape((-1,) + (1,) * (len(shape) - d - 1))
    return base, (memory, inner, numbers)


def _overlaps(shape: Any, strides: Any, size: int) -> bool:
    """Whether two elements of a view may be the same one (never wrong when it says no)."""
    reach = size
    for s, n in sorted((abs(s), n) for s, n in zip(strides, shape) if n > 1):
        if s < reach:
            return True
        reach = s * (n - 1) + reach
    return False
