"""New arrays on the CPU, from values and from buffers, and values read back to Python."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.cpu.table import FUNCTIONS, primitive

FUNCTIONS["zeros"] = np.zeros
FUNCTIONS["from_values"] = np.array


@primitive
def ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    a = np.empty(shape, dtype)
    a.fill(1)
    return a


@primitive
def from_buffer(buffer: Any, dtype: np.dtype, count: int, offset: int) -> np.ndarray:
    """`count` elements of a Python buffer, shared with it."""
    return np.frombuffer(buffer, dtype, count, offset)


@primitive
def shared(data: Any) -> np.ndarray:
    """An array over the memory of an object that offers it (array interface, buffer)."""
    return np.asarray(data)


@primitive
def host(a: np.ndarray) -> np.ndarray:
    """The values as a NumPy array over the same memory."""
    return a.view()


@primitive
def item(a: np.ndarray) -> Any:
    """The one element as a Python number."""
    return a.item()


@primitive
def tolist(a: np.ndarray) -> Any:
    return a.tolist()


@primitive
def linspace(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """`steps` values from start to end: the first half counts up from start, the second down from end."""
    if steps == 1:
        return np.full(1, start, dtype)
    half = steps // 2
    k = np.arange(steps)
    if dtype.kind in "iu":
        step = np.float32((float(end) - float(start)) / (steps - 1))
        up, down = start + (step * k[:half].astype(np.float32)), end - step * (steps - 1 - k[half:]).astype(np.float32)
        return np.concatenate([up, down]).astype(dtype)
    inner = np.dtype(np.complex128) if dtype.kind == "c" else np.dtype(np.float64)
    if dtype in (np.dtype(np.float32), np.dtype(np.complex64)):
        inner = dtype
    first, last = inner.type(start), inner.type(end)
    step = (last - first) / inner.type(steps - 1)
    up, down = first + step * k[:half].astype(inner), last - step * (steps - 1 - k[half:]).astype(inner)
    return np.concatenate([up, down]).astype(dtype)


@primitive
def eye(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return np.eye(rows, columns, dtype=dtype)


@primitive
def triangle_indices(rows: int, columns: int, offset: int, lower: bool, dtype: np.dtype) -> np.ndarray:
    """Row and column numbers of a triangle of a matrix, in row-major order: shape (2, count)."""
    r, c = np.indices((rows, columns), sparse=True)
    mask = (c - r <= offset) if lower else (c - r >= offset)
    return np.stack(np.nonzero(np.broadcast_to(mask, (rows, columns)))).astype(dtype)


@primitive
def complex_(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """Complex numbers of two arrays of one floating type."""
    kind = np.dtype(np.complex128) if real.dtype.itemsize == 8 else np.dtype(np.complex64)
    r = np.empty(np.broadcast_shapes(real.shape, imag.shape), kind)
    r.real = real
    r.imag = imag
    return r
