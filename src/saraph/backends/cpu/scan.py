"""Running reductions on the CPU. float32 and the 16-bit floats are accumulated one precision up and rounded once per element."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.cpu.conversion import cast, copied
from saraph.backends.cpu.reduce import widened
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import jit, scanning
from saraph.kernels.walking import name_of

MANY = 1 << 12  #: elements from which a kernel's call is quicker than NumPy's
ROW = 256  # elements of a slice from which slice after slice is quicker
_HIGHER = {"f": np.dtype(np.float64), "F": np.dtype(np.complex128)}


def _accumulate(ufunc: np.ufunc, a: np.ndarray, axis: int) -> np.ndarray:
    if a.ndim == 0:
        return a.copy()
    kind = a.dtype
    if a.size >= MANY and jit.available():
        found = _by_kernel(a, axis, ufunc)
        if found is not None:
            return found
    a = widened(a)
    high = _HIGHER.get(a.dtype.char, a.dtype)
    if axis < a.ndim - 1 and a.size > ROW * a.shape[axis]:
        return _row_by_row(ufunc, a, axis, kind, high)
    return ufunc.accumulate(a.astype(high, copy=False), axis).astype(kind, copy=False)


def _by_kernel(a: np.ndarray, axis: int, ufunc: np.ufunc) -> np.ndarray | None:
    if a.dtype in REDUCED:
        found = _by_kernel(cast(a, np.dtype(np.float32)), axis, ufunc)
        return None if found is None else cast(found, a.dtype)
    if ufunc is np.logaddexp or name_of(a.dtype) not in scanning.KINDS:
        return None
    return scanning.accumulate(a if a.flags.c_contiguous else copied(a, "C"), axis % a.ndim, ufunc.__name__)


def _row_by_row(ufunc: np.ufunc, a: np.ndarray, axis: int, kind: np.dtype, high: np.dtype) -> np.ndarray:
    """Whole slices at a time, which NumPy's accumulate does not do."""
    result = np.empty(a.shape, kind)
    source, target = np.moveaxis(a, axis, 0), np.moveaxis(result, axis, 0)
    if len(source):
        running = source[0].astype(high)
        target[0] = running
        for k in range(1, len(source)):
            ufunc(running, source[k], running)
            target[k] = running
    return result


@primitive
def cumsum(a: np.ndarray, axis: int) -> np.ndarray:
    """The running sum, in the array's dtype."""
    return _accumulate(np.add, a, axis)


@primitive
def cumprod(a: np.ndarray, axis: int) -> np.ndarray:
    """The running product, in the array's dtype."""
    return _accumulate(np.multiply, a, axis)


@primitive
def cummax(a: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The running maximum (NaN from the first NaN on), and where it was last reached."""
    return _running(np.maximum, a, axis)


@primitive
def cummin(a: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The running minimum (NaN from the first NaN on), and where it was last reached."""
    return _running(np.minimum, a, axis)


def _running(ufunc: np.ufunc, a: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    if a.size >= MANY and name_of(a.dtype) in scanning.KINDS and jit.available():
        return scanning.running(a if a.flags.c_contiguous else copied(a, "C"), axis % a.ndim, ufunc is np.maximum)
    values = ufunc.accumulate(a, axis)
    reached = a == values
    if a.dtype.kind not in "biu":
        reached |= np.isnan(a)
    positions = np.arange(a.shape[axis]).reshape((-1,) + (1,) * (a.ndim - 1 - axis))
    return values, np.maximum.accumulate(np.where(reached, positions, 0), axis)


@primitive
def logcumsumexp(a: np.ndarray, axis: int) -> np.ndarray:
    """The logarithm of the running sum of exponentials."""
    if a.ndim == 0:
        return a.copy()
    if a.dtype.kind == "c":
        return _complex_logcumsumexp(a, axis)
    return _accumulate(np.logaddexp, a, axis)


def _complex_logcumsumexp(a: np.ndarray, axis: int) -> np.ndarray:
    result = np.empty(a.shape, np.complex128)
    source, target = np.moveaxis(a, axis, 0), np.moveaxis(result, axis, 0)
    running: Any = None
    for k, row in enumerate(source.astype(np.complex128)):
        running = row if running is None else _complex_logaddexp(row, running)
        target[k] = running
    return result.astype(a.dtype)


def _complex_logaddexp(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """log(exp(x) + exp(y)): the larger one plus a correction, so that the imaginary part goes on from the larger one's."""
    swap = x.real < y.real
    low, high = np.where(swap, x, y), np.where(swap, y, x)
    plain = np.isfinite(low.real) | (low.real != high.real)
    infinite = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high)))
    result = np.where(plain, high + np.log(1 + np.exp(np.where(plain, low - high, 0))), infinite)
    return np.where(np.isnan(x) | np.isnan(y), np.where(np.isnan(y), y, x), result)


@primitive
def recurrence(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
    """r[i] = b[i] + a[i] * r[i - 1] along an axis, with r[-1] = 0."""
    if b.ndim == 1 and b.dtype.kind != "c":
        return _recurrence_of_numbers(a, b)
    result = np.empty_like(b)
    factors, terms, target = (np.moveaxis(x, axis, 0) for x in (a, b, result))
    running: Any = None
    for k, (factor, term) in enumerate(zip(factors, terms)):
        running = term if running is None else term + factor * running
        target[k] = running
    return result


def _recurrence_of_numbers(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One row: Python's floats are quicker than arrays of one element."""
    running, found = 0.0, []
    for factor, term in zip(a.tolist(), b.tolist()):
        running = term + factor * running if found else term
        found.append(running)
    return np.array(found, b.dtype)
