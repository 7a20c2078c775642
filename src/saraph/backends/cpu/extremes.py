"""Positions of extreme elements on the CPU: large arrays by kernels, small ones by NumPy."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saraph.backends.cpu.conversion import cast, copied
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import extremes, jit
from saraph.kernels.walking import name_of

MANY = 1 << 13  #: elements from which a kernel's call is quicker than NumPy's
IN_ROWS = 1 << 17  #: the same where only positions are wanted, along the last axis: NumPy is good at that
float32, int64 = np.dtype(np.float32), np.dtype(np.int64)


def _found(a: np.ndarray, axis: int | None, largest: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """(values, positions) without the axis, by the kernel; None where it does not serve. An axis of None takes the array as one row."""
    kind = a.dtype
    if kind in REDUCED:
        found = _found(cast(a, float32), axis, largest)
        return None if found is None else (cast(found[0], kind), found[1])
    if name_of(kind) not in extremes.KINDS or not jit.available() or max(a.shape) >= 1 << 31:
        return None
    if not a.flags.c_contiguous:
        a = copied(a, "C")
    return extremes.extremes(a.reshape(-1), 0, largest) if axis is None else extremes.extremes(a, axis % a.ndim, largest)


def _position(a: np.ndarray, axis: int | None, keepdims: bool, largest: bool, search: Callable) -> np.ndarray:
    if a.size >= (IN_ROWS if axis is None or axis == a.ndim - 1 else MANY):
        found = _found(a, axis, largest)
        if found is not None:
            index = found[1]
            if keepdims:
                return index.reshape((1,) * a.ndim) if axis is None else np.expand_dims(index, axis)
            return index
    return np.asarray(search(a.astype(float32) if a.dtype in REDUCED else a, axis, keepdims=keepdims), int64)


@primitive
def argmax(a: np.ndarray, axis: int | None, keepdims: bool) -> np.ndarray:
    """The position of the first largest element (or NaN); over the flattened array with axis None."""
    return _position(a, axis, keepdims, True, np.argmax)


@primitive
def argmin(a: np.ndarray, axis: int | None, keepdims: bool) -> np.ndarray:
    """The position of the first smallest element (or NaN); over the flattened array with axis None."""
    return _position(a, axis, keepdims, False, np.argmin)


@primitive
def max_with_index(a: np.ndarray, axis: int, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    """The largest elements along an axis, and the position of the first of each."""
    return _with_index(a, axis, keepdims, True, np.maximum, np.argmax)


@primitive
def min_with_index(a: np.ndarray, axis: int, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    """The smallest elements along an axis, and the position of the first of each."""
    return _with_index(a, axis, keepdims, False, np.minimum, np.argmin)


def _with_index(a: np.ndarray, axis: int, keepdims: bool, largest: bool, extreme: np.ufunc, search: Callable) -> tuple[np.ndarray, np.ndarray]:
    if a.size >= MANY:
        found = _found(a, axis, largest)
        if found is not None:
            values, index = found
            return (np.expand_dims(values, axis), np.expand_dims(index, axis)) if keepdims else found
    if a.dtype not in REDUCED:
        return extreme.reduce(a, axis, keepdims=keepdims), search(a, axis, keepdims=keepdims)
    index = search(a.astype(float32), axis, keepdims=True)
    values = np.take_along_axis(a, index, axis)
    return (values, index) if keepdims else (values.squeeze(axis), index.squeeze(axis))
