"""Reductions on the CPU. Axes come normalised, as a tuple (None: all of them); an empty tuple reduces nothing.

Sums: dense rows go through the compiled row sum (vectors, compensated); other axes add whole rows in blocks of BLOCK, block sums likewise, so that
rounding errors grow with the logarithm of the length. 16-bit floats are added in float32 and rounded once.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import RowKernel, sum_rows
from saraph.kernels.columns import PLAIN, ColumnKernel
from saraph.kernels.kernel import LARGE
from saraph.kernels.rows import largest_of_row, logsumexp_of_row, numbers_of_row, product_of_row, sizes_of_row, smallest_of_row, squares_of_row, sums_about
from saraph.kernels.updates import scale, sums_of_squares

float32 = np.dtype(np.float32)
int64 = np.dtype(np.int64)
Axes = tuple[int, ...] | None
BLOCK = 64  # rows that are added one after the other
FEW = 1024  # elements that may be added in any order
NARROW = 16  # columns below which adding row by row is slower than walking down the columns
CHUNK = 1 << 16  # elements that are worked on while they are in the cache
PIECE = 1 << 15  # elements of a row that are reduced at a time
COLUMN_SUM, COLUMN_MAXIMUM, COLUMN_MINIMUM = (PLAIN[name] for name in ("row_sum", "row_max", "row_min"))
SMALL = 1 << 14  # elements up to which a copy of the array costs next to nothing


def widened(a: np.ndarray) -> np.ndarray:
    """16-bit (and 8-bit) floats as float32, others as they are."""
    return a.astype(float32) if a.dtype in REDUCED else a


def _axes(a: np.ndarray, axes: Axes) -> tuple[int, ...]:
    return tuple(range(a.ndim)) if axes is None else axes


# -- sums ----------------------------------------------------------------------------------------------------------------


def total(a: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The sum of a floating or complex array over some axes, accurate to about the last place."""
    axes = all_axes = tuple(sorted(axes))
    if not axes or a.size <= FEW:
        return np.add.reduce(a, axes, a.dtype, keepdims=keepdims)
    if len(axes) == a.ndim and (a.flags.c_contiguous or a.flags.f_contiguous):
        r = _along_row(a.ravel("K"), 0)
        return np.reshape(r, (1,) * a.ndim) if keepdims else r
    shape = tuple(1 if d in axes else n for d, n in enumerate(a.shape))
    run = _trailing_run(axes, a.ndim)
    if run and a.flags.c_contiguous:
        lead = a.shape[:a.ndim - run]
        a = np.asarray(_along_row(a.reshape(*lead, -1), len(lead))).reshape(*lead, *(1,) * run)
        axes = axes[:len(axes) - run]
    for axis in sorted(axes, key=lambda d: abs(a.strides[d])):
        a = _along(a, axis)
    return a.reshape(shape) if keepdims else a.reshape(tuple(n for d, n in enumerate(shape) if d not in all_axes))


def _trailing_run(axes: tuple[int, ...], rank: int) -> int:
    """How many of the last dimensions are all among the (sorted) axes."""
    run = 0
    while run < len(axes) and axes[-1 - run] == rank - 1 - run:
        run += 1
    return run


def by_pieces(kernel: RowKernel, rows: np.ndarray, combine: RowKernel) -> np.ndarray:
    """A reduction of the rows of (count, length). Long rows are cut into pieces of PIECE, which threads share, and `combine` reduces what these give."""
    count, length = rows.shape
    pieces = length // PIECE
    if pieces < 2:
        return kernel.function(rows)
    parts = kernel.function(rows[:, :pieces * PIECE].reshape(count, pieces, PIECE))
    if length > pieces * PIECE:
        parts = np.concatenate([parts, np.asarray(kernel.function(rows[:, pieces * PIECE:])).reshape(count, 1)], 1)
    return combine.function(parts)


def across_rows(kernel: ColumnKernel, a: np.ndarray, axis: int, *others: np.ndarray) -> np.ndarray:
    """A reduction of dense arrays of one shape along an axis that is not the last; the axis stays with size 1."""
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1:])
    rows = (math.prod(a.shape[:axis]), a.shape[axis], math.prod(a.shape[axis + 1:]))
    return kernel(*(x.reshape(rows) for x in (a, *others))).reshape(shape)


def _along(a: np.ndarray, axis: int) -> np.ndarray:
    """The sum along one axis, which stays with size 1."""
    if a.size > FEW and a.dtype.char in "fd" and axis != a.ndim - 1 and a.flags.c_contiguous and COLUMN_SUM.available(a.dtype) and \
            a.size // math.prod(a.shape[:axis + 1]) >= NARROW:
        return across_rows(COLUMN_SUM, a, axis)
    strides = [abs(s) for s, n in zip(a.strides, a.shape) if n > 1]
    columns = a.size // a.shape[axis]
    if a.shape[axis] == 1:
        return a
    if abs(a.strides[axis]) == min(strides) or columns < NARROW:
        return np.expand_dims(_along_row(a, axis), axis)
    return np.expand_dims(_down(np.moveaxis(a, axis, 0)), axis)


def _along_row(a: np.ndarray, axis: int) -> Any:
    if a.size >= 2 * PIECE and a.dtype.char in "fd" and axis in (-1, a.ndim - 1):
        return by_pieces(sum_rows, a.reshape(-1, a.shape[-1]), sum_rows).reshape(a.shape[:-1])
    return sum_rows.function(a, axis=axis) if a.dtype.char in "fd" else np.add.reduce(a, axis)


def _down(rows: np.ndarray) -> np.ndarray:
    """The sum over the first axis: blocks of rows, then the block sums the same way."""
    count = len(rows)
    if count <= 2 * BLOCK:
        return np.add.reduce(rows, 0)
    blocks = count // BLOCK
    sums = np.add.reduce(rows[:blocks * BLOCK].reshape(blocks, BLOCK, *rows.shape[1:]), 1)
    rest = rows[blocks * BLOCK:]
    return _down(sums) + np.add.reduce(rest, 0) if len(rest) else _down(sums)


@primitive
def sum_(a: np.ndarray, axes: Axes, keepdims: bool, dtype: np.dtype | None = None) -> np.ndarray:
    """The sum, in `dtype` (in bool: whether any is true)."""
    if dtype is not None and dtype != a.dtype:
        a = a.astype(dtype)
    kind = a.dtype
    if kind.kind in "biu" or (a.size <= FEW and kind.char in "fd"):
        return np.add.reduce(a, axes, kind, keepdims=keepdims)
    return np.asarray(total(widened(a), _axes(a, axes), keepdims)).astype(kind, copy=False)


@primitive
def mean(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """The mean; NaN over nothing."""
    sums = np.asarray(total(widened(a), _axes(a, axes), keepdims))
    return np.asarray(sums / _count(a, axes)).astype(a.dtype, copy=False)


def _count(a: np.ndarray, axes: Axes) -> Any:
    """How many elements a result element is made of, as a scalar that division by may give NaN."""
    count = 1
    for d in _axes(a, axes):
        count *= a.shape[d]
    return np.float32(count) if count == 0 else count


@primitive
def nansum(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """The sum with NaN counted as 0."""
    if _dense_rows(a, _axes(a, axes)):
        return _of_rows(numbers_of_row, a, _axes(a, axes), keepdims, sum_rows)

    def without_nan(part: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> Any:
        return sum_(np.where(np.isnan(part), part.dtype.type(0), part), axes, keepdims)

    return by_row_blocks(without_nan, a, _axes(a, axes), keepdims)


def by_row_blocks(function: Callable, a: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """`function(array, axes, keepdims)`, piece by piece within the cache where the array is large, dense, and reduced along its last dimensions."""
    run = _trailing_run(axes, a.ndim)
    if a.size <= CHUNK or run != len(axes) or run == a.ndim or not a.flags.c_contiguous:
        return np.asarray(function(a, axes, keepdims))
    lead = a.shape[:a.ndim - run]
    rows = a.reshape(math.prod(lead), -1)
    step = max(CHUNK // rows.shape[1], 1)
    if step == len(rows):
        return np.asarray(function(a, axes, keepdims))
    found = np.concatenate([function(rows[i:i + step], (1,), False) for i in range(0, len(rows), step)])
    return found.reshape(*lead, *(1,) * run) if keepdims else found.reshape(lead)


@primitive
def prod(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """The product, in the array's dtype (bool: whether all are true)."""
    kind, wide, axes = a.dtype, widened(a), _axes(a, axes)
    if wide.size > FEW and _dense_rows(wide, axes):
        return _of_rows(product_of_row, wide, axes, keepdims, product_of_row).astype(kind, copy=False)
    if wide.size > FEW and wide.dtype.kind in "fc" and _trailing_run(axes, a.ndim) == len(axes) == 1:
        while wide.shape[-1] > 16:  # whole halves at once: quicker than one after the other
            half = wide.shape[-1] // 2
            rest = wide[..., 2 * half:]
            wide = wide[..., :half] * wide[..., half:2 * half]
            wide[..., :rest.shape[-1]] *= rest
    return np.asarray(np.multiply.reduce(wide, axes, wide.dtype, keepdims=keepdims)).astype(kind, copy=False)


@primitive
def var(a: np.ndarray, axes: Axes, keepdims: bool, correction: float, with_mean: bool = False) -> Any:
    """The variance (of a complex array: of real plus of imaginary part) with count - correction degrees of freedom; with the mean if asked."""
    if a.size <= FEW and a.dtype.kind == "f" and a.size and not with_mean:
        return _small_variance(a, axes, keepdims, correction)
    wide, axes = widened(a), _axes(a, axes)
    count = _count(a, axes)
    center = np.asarray(total(wide, axes, True) / count)
    squares = _squares_about(wide, center, axes)
    freedom = max(float(count) - correction, 0.0)
    real = np.empty(0, a.dtype).real.dtype
    result = np.asarray(np.true_divide(squares, squares.dtype.type(freedom))).astype(real, copy=False)
    shape = result.shape if keepdims else tuple(n for d, n in enumerate(result.shape) if d not in axes)
    if not with_mean:
        return result.reshape(shape)
    return result.reshape(shape), center.astype(a.dtype, copy=False).reshape(shape)


def _small_variance(a: np.ndarray, axes: Axes, keepdims: bool, correction: float) -> np.ndarray:
    """In float64, with as few calls as can be."""
    count = _count(a, axes)
    away = a - np.add.reduce(a, axes, np.float64, keepdims=True) / count
    freedom = max(count - correction, 0)
    squares = np.add.reduce(away * away, axes, keepdims=keepdims)
    return np.asarray(squares / (freedom or np.float64(0))).astype(a.dtype, copy=False)


def _squares_about(a: np.ndarray, center: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The sum of |a - center|^2 over the axes, which stay with size 1, less what is due to the center's own rounding.

    Large dense arrays are taken piece by piece, within the cache.
    """
    trailing = axes == tuple(range(a.ndim - len(axes), a.ndim))
    if a.size > 4 * CHUNK and not trailing and 0 in axes and a.flags.c_contiguous and a.dtype.kind != "c":
        return _squares_by_slices(a, center, axes)
    if a.size <= CHUNK or not trailing or not axes or not a.flags.c_contiguous or a.dtype.kind == "c":
        away = np.asarray(a - center)
        drift = np.asarray(total(away, axes, True))
        away = np.square(away.real) + np.square(away.imag) if a.dtype.kind == "c" else np.square(away, out=away)
        return np.asarray(total(away, axes, True)) - np.square(np.abs(drift)) / max(a.size // max(center.size, 1), 1)
    rows, centers = a.reshape(center.size, -1), center.reshape(-1)
    length = rows.shape[1]
    pieces = length // PIECE
    if pieces < 2:
        drift, result = sums_about.function(rows, centers)
    else:
        parts = sums_about.function(rows[:, :pieces * PIECE].reshape(center.size, pieces, PIECE), centers[:, None])
        rest = sums_about.function(rows[:, pieces * PIECE:], centers)
        drift, result = (sum_rows.function(np.concatenate([part, one[:, None]], 1)) for part, one in zip(parts, rest, strict=True))
    return (result - np.square(drift) / length).reshape(center.shape)


def _squares_by_slices(a: np.ndarray, center: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """As `_squares_about`, for axes that include the first: slices of that axis one after the other."""
    step = max(CHUNK // a[0].size, 1)
    drifts, squares = [], []
    for i in range(0, len(a), step):
        away = a[i:i + step] - center
        drifts.append(total(away, axes, True))
        squares.append(total(np.multiply(away, away, away), axes, True))
    drift, square = (total(np.concatenate(parts), (0,), True) for parts in (drifts, squares))
    return square - np.square(drift) / (a.size // center.size)


@primitive
def logsumexp(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """log(sum(exp(a))) without overflow; -inf over nothing."""
    axes = _axes(a, axes)
    if _dense_rows(a, axes):
        return _of_rows(logsumexp_of_row, a, axes, keepdims)
    return by_row_blocks(_logsumexp, a, axes, keepdims)


def _dense_rows(a: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether a floating array is reduced along its last dimensions, which lie side by side."""
    return a.dtype.char in "fd" and len(axes) > 0 and _trailing_run(tuple(sorted(axes)), a.ndim) == len(axes) and a.flags.c_contiguous and a.size > 0


def _of_rows(kernel: RowKernel, a: np.ndarray, axes: tuple[int, ...], keepdims: bool, combine: RowKernel | None = None) -> np.ndarray:
    """A reduction of such an array; in pieces where `combine` says how their results are put together."""
    lead = a.shape[:a.ndim - len(axes)]
    rows = a.reshape(math.prod(lead), -1)
    result = np.asarray(kernel.function(rows) if combine is None else by_pieces(kernel, rows, combine))
    return result.reshape(*lead, *(1,) * len(axes)) if keepdims else result.reshape(lead)


def _logsumexp(a: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    wide = widened(a)
    top = np.maximum.reduce(wide.real, axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, top.dtype.type(0))
    result = np.log(total(np.exp(wide - top), axes, True)) + top
    if not keepdims:
        result = result.reshape(tuple(n for d, n in enumerate(result.shape) if d not in axes))
    return np.asarray(result).astype(a.dtype, copy=False)


@primitive
def vector_norm(a: np.ndarray, order: float, axes: Axes, keepdims: bool) -> np.ndarray:
    """sum(|a|^order)^(1/order); order 0 counts non-zeros, infinities give the largest and smallest |a|. Real, also for complex arrays."""
    if order == 2 and axes is None and a.size <= FEW and a.dtype.char in "fd" and not keepdims:
        flat = a.ravel("K")
        return np.asarray(np.sqrt(flat.dot(flat)))
    axes = _axes(a, axes)
    if order in (1, 2) and _dense_rows(a, axes):
        sums = _of_rows(squares_of_row if order == 2 else sizes_of_row, a, axes, keepdims, sum_rows)
        return np.asarray(np.sqrt(sums)) if order == 2 else sums
    return by_row_blocks(partial(_vector_norm, order=order), a, axes, keepdims)


@primitive
def two_norms(arrays: list[np.ndarray]) -> np.ndarray:
    """The 2-norm of every array of a list, all dense and of one float dtype."""
    return np.sqrt(sums_of_squares(arrays))


@primitive
def scale_all(arrays: list[np.ndarray], factor: float) -> None:
    """Every array of such a list times a number, in place."""
    scale.plan([(a,) for a in arrays]).run([(factor,)] * len(arrays))


def _vector_norm(a: np.ndarray, axes: tuple[int, ...], keepdims: bool, order: float) -> np.ndarray:
    wide = widened(a)
    real = np.empty(0, a.dtype).real.dtype
    if order == 2:
        if wide.dtype.kind == "c":
            squares = np.square(wide.real) + np.square(wide.imag)
        elif wide.dtype == float32 and wide.size and len(axes) == a.ndim and wide.flags.c_contiguous:
            return _dense_two_norm(wide, real, (1,) * a.ndim if keepdims else ())
        else:
            squares = np.square(wide)
        return np.asarray(np.sqrt(total(squares, axes, keepdims))).astype(real, copy=False)
    size = np.abs(wide)
    if order in (np.inf, -np.inf):
        result = (np.maximum if order > 0 else np.minimum).reduce(size, axes, keepdims=keepdims, **({} if size.size else {"initial": 0.0}))
    elif order == 0:
        result = np.add.reduce(wide != 0, axes, np.int64, keepdims=keepdims)
    elif order == 1:
        result = total(size, axes, keepdims)
    else:
        exponent = size.dtype.type(order)
        result = np.power(total(np.power(size, exponent), axes, keepdims), size.dtype.type(1.0 / order))
    return np.asarray(result).astype(real, copy=False)


def _dense_two_norm(a: np.ndarray, real: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The 2-norm of all elements, piece by piece within the cache."""
    flat = a.reshape(-1)
    sums = [sum_rows.function(np.square(flat[k:k + CHUNK])) for k in range(0, flat.size, CHUNK)]
    return np.asarray(np.sqrt(sum_rows.function(np.array(sums)))).astype(real, copy=False).reshape(shape)


# -- extremes ----------------------------------------------------------------------------------------------------------------


@primitive
def amax(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """The largest elements; NaN where there is one."""
    return _extreme(a, axes, keepdims, np.maximum, largest_of_row, COLUMN_MAXIMUM)


@primitive
def amin(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """The smallest elements; NaN where there is one."""
    return _extreme(a, axes, keepdims, np.minimum, smallest_of_row, COLUMN_MINIMUM)


def _extreme(a: np.ndarray, axes: Axes, keepdims: bool, ufunc: np.ufunc, of_row: RowKernel, of_columns: ColumnKernel) -> np.ndarray:
    if a.size >= LARGE and a.dtype.char in "fd":
        kept = _axes(a, axes)
        if _dense_rows(a, kept):
            return _of_rows(of_row, a, kept, keepdims, of_row)
        if len(kept) == 1 and a.flags.c_contiguous and of_columns.available(a.dtype):
            result = across_rows(of_columns, a, kept[0])
            return result if keepdims else result.squeeze(kept[0])
    return ufunc.reduce(a, axes, keepdims=keepdims)


# -- truth and counts ----------------------------------------------------------------------------------------------------------


@primitive
def any_(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    return np.logical_or.reduce(a, axes, keepdims=keepdims)


@primitive
def all_(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    return np.logical_and.reduce(a, axes, keepdims=keepdims)


@primitive
def count_nonzero(a: np.ndarray, axes: Axes, keepdims: bool) -> np.ndarray:
    """How many elements are not zero."""
    return np.asarray(np.count_nonzero(a) if axes is None and not keepdims else np.add.reduce(a != 0, axes, int64, keepdims=keepdims), int64)
