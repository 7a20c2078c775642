"""Rules of gathering and scattering."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import rule
from saraph.shapes import broadcast_shapes

Shape = tuple[int, ...]


@rule("take_index")
def take_index(a: Any, index: Any) -> tuple[Shape, np.dtype]:
    return np.asarray(a[index]).shape, a.dtype


@rule("put_index")
def put_index(a: Any, index: Any, values: Any, accumulate: bool) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("write_index")
def write_index(a: Any, index: Any, values: Any) -> None:
    return None


@rule("index_select")
def index_select(a: Any, axis: int, index: Any) -> tuple[Shape, np.dtype]:
    return (*a.shape[:axis], index.shape[0], *a.shape[axis + 1:]), a.dtype


@rule("add_rows")
def add_rows(shape: Shape, axis: int, index: Any, values: Any) -> tuple[Shape, np.dtype]:
    return tuple(shape), values.dtype


@rule("gather")
def gather(a: Any, axis: int, index: Any) -> tuple[Shape, np.dtype]:
    return index.shape, a.dtype


@rule("scatter")
def scatter(a: Any, axis: int, index: Any, values: Any, mode: str) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("nonzero")
def nonzero(a: Any) -> tuple[Shape, np.dtype]:
    raise RuntimeError("the result of nonzero depends on values, which a meta tensor does not have")


@rule("masked_select")
def masked_select(a: Any, mask: Any) -> tuple[Shape, np.dtype]:
    raise RuntimeError("the result of masked_select depends on values, which a meta tensor does not have")


@rule("masked_fill")
def masked_fill(a: Any, mask: Any, value: Any) -> tuple[Shape, np.dtype]:
    return broadcast_shapes(a.shape, mask.shape), a.dtype


@rule("masked_scatter")
def masked_scatter(a: Any, mask: Any, source: Any) -> tuple[Shape, np.dtype]:
    return broadcast_shapes(a.shape, mask.shape), a.dtype
