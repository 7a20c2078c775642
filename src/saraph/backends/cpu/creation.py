"""New arrays on the CPU, from values and from buffers, and values read back to Python."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import blocks

FUNCTIONS["zeros"] = blocks.zeros
FUNCTIONS["from_values"] = np.array


@primitive
def ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    a = blocks.empty(shape, dtype)
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
def arange(start: Any, step: Any, count: int, dtype: np.dtype) -> np.ndarray:
    """start, start + step, ...: floats are computed as PyTorch's AVX2 loops do, so that the last bit agrees."""
    if dtype.kind in "iu":
        if dtype.itemsize == 8 and dtype.kind == "i":
            if start == 0 and step == 1:
                return np.arange(count)
            return np.arange(start, start + step * count, step, dtype) if step else np.full(count, start, dtype)
        return (start + step * np.arange(count)).astype(dtype)
    if dtype == np.float64:
        return _lanes(np.longdouble(start), np.longdouble(step), count, 4, 8, np.float64)
    if dtype == np.float32:
        return _lanes(np.float64(start), np.float64(step), count, 8, 8, np.float32)
    return (start + step * np.arange(count, dtype=np.float64)).astype(dtype)


def _lanes(start: Any, step: Any, count: int, lanes: int, block: int, dtype: Any) -> np.ndarray:
    """Whole blocks in vectors that start at a rounded multiple of the step; the rest element by element."""
    k = np.arange(count)
    first = np.where(k < count - count % block, k - k % lanes, k)
    base = (start + step * first).astype(dtype)
    return (base + step * (k - first)).astype(dtype)


def _spaced(start: Any, end: Any, steps: int, dtype: np.dtype, wide: Any) -> np.ndarray:
    """Evenly spaced values: the first half counts up from start, the second down from end, one rounding each (`wide` stands in for
    fused multiply-add)."""
    one = dtype.type
    first, last = one(start), one(end)
    step = one((last - first) / one(steps - 1)) if steps > 1 else one(0)
    k = np.arange(steps)
    half = steps // 2
    with np.errstate(invalid="ignore", over="ignore"):
        up = wide(first) + wide(step) * k[:half].astype(wide)
        down = wide(last) - wide(step) * (steps - 1 - k[half:]).astype(wide)
    return np.concatenate([up, down]).astype(dtype) if steps != 1 else np.full(1, first, dtype)


@primitive
def linspace(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        if steps == 1:
            return np.full(1, start).astype(dtype)
        return _spaced(int(start), int(end), steps, np.dtype(np.float64), np.longdouble).astype(dtype)
    if dtype.kind == "c":
        inner = np.dtype(np.float64 if dtype.itemsize == 16 else np.float32)
        start, end = complex(start), complex(end)
        return (linspace(start.real, end.real, steps, inner) + 1j * linspace(start.imag, end.imag, steps, inner)).astype(dtype)
    if dtype.itemsize < 4:
        return _spaced(start, end, steps, dtype, np.float32)
    return _spaced(start, end, steps, dtype, np.float64 if dtype.itemsize == 4 else np.longdouble)


@primitive
def logspace(start: Any, end: Any, steps: int, base: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        exponents = linspace(int(start), int(end), steps, np.dtype(np.float32 if dtype.itemsize < 8 else np.float64))
        return np.power(exponents.dtype.type(base), exponents).astype(dtype)
    inner = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
    return np.power(inner.type(base), linspace(start, end, steps, inner)).astype(dtype)


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


@primitive
def copy_memory(destination: np.ndarray, source: np.ndarray) -> None:
    """As many bytes of the memory that `source` owns as fit into `destination`, which owns its own."""
    size = min(destination.nbytes, source.nbytes if source.flags.c_contiguous else 0)
    if size:
        destination.reshape(-1).view(np.uint8)[:size] = source.reshape(-1).view(np.uint8)[:size]
        return
    if source.size:
        flat = np.lib.stride_tricks.as_strided(source, (1 + sum((n - 1) * s for n, s in zip(source.shape, source.strides)) // source.itemsize,),
                                               (source.itemsize,))
        count = min(flat.size * source.itemsize, destination.nbytes) // destination.itemsize
        destination.reshape(-1)[:count] = flat.view(destination.dtype)[:count]
