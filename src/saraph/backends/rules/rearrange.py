"""Rules of the rearrangements that copy."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, dense_like, rule


@rule("flip")
def flip(a: Any, axes: tuple[int, ...]) -> Any:
    return dense_like(a, a.dtype)


@rule("may_overlap")
def may_overlap(a: Any, b: Any) -> bool:
    """Without memory there is nothing to share."""
    return False


@rule("roll", "tril", "triu")
def same(a: Any, *arguments: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("diag_embed")
def diag_embed(a: Any, offset: int, axis1: int, axis2: int) -> Any:
    size = a.shape[-1] + abs(offset)
    matrix = np.empty((*a.shape[:-1], size, size)) if a.size == 0 else np.broadcast_to(np.empty(1), (*a.shape[:-1], size, size))
    shape = np.moveaxis(matrix, (-2, -1), (axis1, axis2)).shape
    return shape, a.dtype


@rule("pad_constant")
def pad_constant(a: Any, pads: tuple[tuple[int, int], ...], value: float) -> tuple[Shape, np.dtype]:
    return tuple(n + before + after for n, (before, after) in zip(a.shape, pads)), a.dtype


@rule("repeat_index")
def repeat_index(counts: Any, size: int | None) -> tuple[Shape, np.dtype]:
    if size is None:
        raise RuntimeError("repeat_interleave: the size of the result depends on the values of `repeats`, and a meta tensor has none. "
                           "Pass output_size=.")
    return (size,), np.dtype(np.int64)


@rule("combination_index")
def combination_index(n: int, r: int, with_replacement: bool) -> tuple[Shape, np.dtype]:
    return (r, math.comb(n + r - 1, r) if with_replacement and n else math.comb(n, r)), np.dtype(np.int64)
