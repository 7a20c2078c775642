"""Other dtypes, and copies between arrays of any strides: large ones by kernels, into reused memory; small ones by NumPy, whose calls cost less."""
from __future__ import annotations

from typing import Any, Literal

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import blocks, casting, copying, jit

LARGE = 1 << 16  #: bytes from which a kernel's call is quicker than NumPy's
STRIDED = 1 << 15  #: the same for copies whose order in memory changes
HUGE = 1 << 18  #: the same for copies and fills of dense memory
float32 = np.dtype(np.float32)


def dense_like(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Uninitialised, in the memory order of `a`, which has no stride of 0."""
    if a.flags.c_contiguous:
        return blocks.empty(a.shape, dtype)
    order = sorted(range(a.ndim), key=lambda d: (-abs(a.strides[d]), d))
    back = sorted(range(a.ndim), key=order.__getitem__)
    return blocks.empty(tuple(a.shape[d] for d in order), dtype).transpose(back)


def filled(shape: tuple[int, ...], value: Any, dtype: np.dtype) -> np.ndarray:
    """A new array that is `value` everywhere."""
    a = blocks.empty(shape, dtype)
    if a.nbytes < HUGE or not jit.available():
        a.fill(value)
    else:
        one = np.empty(1, dtype)
        one.fill(value)
        copying.fill(a, one.tobytes())
    return a


def copied(a: np.ndarray, order: Literal["C", "K"]) -> np.ndarray:
    """`a.copy(order)` for "C" and "K"."""
    if a.nbytes >= (HUGE if a.flags.c_contiguous else STRIDED) and jit.available():
        result = dense_like(a, a.dtype) if order == "K" else blocks.empty(a.shape, a.dtype)
        if copying.copy_into(result, a):
            return result
    return a.copy(order)


def write(destination: np.ndarray, source: Any) -> None:
    """destination[...] = source, broadcast and converted."""
    if destination.nbytes >= LARGE and source.__class__ is np.ndarray and source.ndim and _written(destination, source):
        return
    np.copyto(destination, source, casting="unsafe")


def _written(destination: np.ndarray, source: np.ndarray) -> bool:
    if not jit.available() or np.may_share_memory(destination, source):
        return False
    if source.shape != destination.shape:
        source = np.broadcast_to(source, destination.shape)
    if source.dtype == destination.dtype:
        return copying.copy_into(destination, source)
    return casting.convertible(source.dtype, destination.dtype) and casting.cast_into(destination, source)


@primitive
def cast(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in another dtype, in the same memory order; floats to integers truncate, complex to real drops the imaginary part."""
    if a.__class__ is np.ndarray and a.nbytes >= LARGE and casting.convertible(a.dtype, dtype) and 0 not in a.strides and jit.available():
        result = dense_like(a, dtype)
        if casting.cast_into(result, a):
            return result
    if a.dtype.kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return a != 0
        a = a.real
    if a.dtype in REDUCED and dtype.kind in "iu":
        a = a.astype(float32)
    if a.dtype.kind == "f" and (dtype.kind in "iu" or dtype.itemsize < a.dtype.itemsize):
        with np.errstate(invalid="ignore", over="ignore"):  # out of range: what x86 gives, as in PyTorch
            return a.astype(dtype)
    return a.astype(dtype)
