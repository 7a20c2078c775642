"""Shapes and dtypes of creation primitives, and what reading values from a place without values says."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, rule
from saraph.shapes import broadcast_shapes


@rule("zeros", "ones")
def filled(shape: Shape, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return tuple(shape), dtype


def _without_values() -> NotImplementedError:
    return NotImplementedError("Cannot copy out of meta tensor; no data! A tensor on device 'meta' has a shape and a dtype only.")


@rule("host", "tolist")
def values(a: Any) -> Any:
    """There are none to read."""
    raise _without_values()


@rule("item")
def item(a: Any) -> Any:
    raise RuntimeError("Tensor.item() cannot be called on meta tensors: they have a shape and a dtype, no values.")


@rule("linspace")
def linspace(start: Any, end: Any, steps: int, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return (steps,), dtype


@rule("logspace")
def logspace(start: Any, end: Any, steps: int, base: Any, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return (steps,), dtype


@rule("eye")
def eye(rows: int, columns: int, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    return (rows, columns), dtype


@rule("triangle_indices")
def triangle_indices(rows: int, columns: int, offset: int, lower: bool, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    """A lower triangle's row r has columns 0 .. r + offset; the upper one has the rest."""
    below = sum(min(max(r + (offset if lower else offset - 1) + 1, 0), columns) for r in range(rows))
    return (2, below if lower else rows * columns - below), dtype


@rule("complex")
def complex_(real: Any, imag: Any) -> tuple[Shape, np.dtype]:
    return broadcast_shapes(real.shape, imag.shape), np.dtype(np.complex128 if real.dtype.itemsize == 8 else np.complex64)


@rule("copy_memory")
def copy_memory(destination: Any, source: Any) -> None:
    return None
