"""Rearrangements on the CPU that need a copy: flip, roll, triangles, diagonals, padding."""
from __future__ import annotations

import functools
import itertools

import numpy as np

from saraph.backends.cpu.conversion import STRIDED, write
from saraph.backends.cpu.movement import copy, full
from saraph.backends.cpu.table import primitive
from saraph.kernels import RowKernel, blocks
from saraph.kernels.kernel import LARGE
from saraph.kernels.rows import lower_of_row, upper_of_row


@primitive
def flip(a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """A copy, with the order along these axes reversed."""
    index = tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(a.ndim))
    return copy(a[index]) if a.ndim else a.copy()


@primitive
def may_overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the stretches of memory that two arrays lie in have a byte in common."""
    return np.may_share_memory(a, b)


@primitive
def roll(a: np.ndarray, shifts: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    if a.nbytes < STRIDED or 0 in a.shape:
        return np.roll(a, shifts, axes)
    found = blocks.empty(a.shape, a.dtype)
    moves = [0] * a.ndim
    for shift, axis in zip(shifts, axes):
        moves[axis] += shift
    # along every axis two parts change places
    parts = [((0, n - s, s), (n - s, n, -(n - s))) for n, s in ((n, shift % n) for n, shift in zip(a.shape, moves))]
    for choice in itertools.product(*parts):
        write(found[tuple(slice(start + by, stop + by) for start, stop, by in choice)], a[tuple(slice(start, stop) for start, stop, _ in choice)])
    return found


@primitive
def tril(a: np.ndarray, diagonal: int) -> np.ndarray:
    """Zero above the diagonal of the last two dimensions."""
    return _triangle(a, diagonal, lower_of_row) if _by_rows(a) else np.where(_below(a, diagonal), a, a.dtype.type(0))


@primitive
def triu(a: np.ndarray, diagonal: int) -> np.ndarray:
    """Zero below the diagonal of the last two dimensions."""
    return _triangle(a, diagonal - 1, upper_of_row) if _by_rows(a) else np.where(_below(a, diagonal - 1), a.dtype.type(0), a)


def _by_rows(a: np.ndarray) -> bool:
    return a.size >= LARGE and a.dtype.char in "fd"


def _triangle(a: np.ndarray, diagonal: int, of_row: RowKernel) -> np.ndarray:
    """The part of every row before or after its last element below the diagonal."""
    return of_row.function(a, np.clip(np.arange(a.shape[-2]) + diagonal, -1, a.shape[-1]), out=blocks.empty(a.shape, a.dtype))


def _below(a: np.ndarray, diagonal: int) -> np.ndarray:
    rows, columns = a.shape[-2:]
    return _kept_mask(rows, columns, diagonal) if rows * columns <= _KEPT else _mask(rows, columns, diagonal)


_KEPT = 1 << 14  # masks up to this many elements are kept


def _mask(rows: int, columns: int, diagonal: int) -> np.ndarray:
    return np.arange(rows)[:, None] + diagonal >= np.arange(columns)


_kept_mask = functools.lru_cache(maxsize=64)(_mask)


@primitive
def diag_embed(a: np.ndarray, offset: int, axis1: int, axis2: int) -> np.ndarray:
    """Zeros with a's last axis along the diagonal of two new axes."""
    size = a.shape[-1] + abs(offset)
    matrix = np.zeros((*a.shape[:-1], size, size), a.dtype)
    positions = np.arange(a.shape[-1])
    matrix[..., positions + max(-offset, 0), positions + max(offset, 0)] = a
    return np.moveaxis(matrix, (-2, -1), (axis1, axis2))


@primitive
def pad_constant(a: np.ndarray, pads: tuple[tuple[int, int], ...], value: float) -> np.ndarray:
    """`pads` (before, after) per axis: filled with `value`; negative ones cut off."""
    shape = tuple(n + before + after for n, (before, after) in zip(a.shape, pads))
    result = full(shape, value, a.dtype)
    source = tuple(slice(max(-before, 0), max(n - max(-after, 0), 0)) for n, (before, after) in zip(a.shape, pads))
    target = tuple(slice(max(before, 0), max(n - max(after, 0), 0)) for n, (before, after) in zip(shape, pads))
    write(result[target], a[source])
    return result


@primitive
def repeat_index(counts: np.ndarray, size: int | None) -> np.ndarray:
    """0 counts[0] times, 1 counts[1] times, ...; `size` is how many those are, where the caller knows."""
    index = np.repeat(np.arange(counts.shape[0]), counts)
    if size is not None and size != index.shape[0]:
        raise RuntimeError(f"repeat_interleave: allocated size does not match required size: output_size={size}, the repeats "
                           f"add up to {index.shape[0]}")
    return index


@primitive
def combination_index(n: int, r: int, with_replacement: bool) -> np.ndarray:
    """The positions of every choice of r among n, as columns (r, choices), in lexicographic order."""
    if r == 2:
        return np.stack(np.triu_indices(n, 0 if with_replacement else 1))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(range(n), r)), np.int64).reshape(-1, r).T.copy()
