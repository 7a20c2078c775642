"""Rules of the matrix products."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, rule
from saraph.shapes import broadcast_shapes


@rule("matmul")
def matmul(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    """Vectors count as a row (left) or a column (right); ValueError where the inner sizes differ."""
    inner = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if a.shape[-1] != inner:
        raise ValueError(f"matmul: inner sizes {a.shape[-1]} and {inner} differ")
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if b.ndim > 1 else ()
    return (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), *rows, *columns), a.dtype


@rule("matmul_nt")
def matmul_nt(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    return matmul(a, b.swapaxes(-1, -2))


@rule("matmul_tn")
def matmul_tn(a: Any, b: Any) -> tuple[Shape, np.dtype]:
    return matmul(a.swapaxes(-1, -2), b)


@rule("linear")
def linear(x: Any, weight: Any, bias: Any) -> tuple[Shape, np.dtype]:
    return (*x.shape[:-1], weight.shape[0]), x.dtype


@rule("affine")
def affine(addend: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> tuple[Shape, np.dtype]:
    return matmul(a, b)


@rule("cross")
def cross(a: Any, b: Any, axis: int) -> tuple[Shape, np.dtype]:
    return broadcast_shapes(a.shape, b.shape), a.dtype
