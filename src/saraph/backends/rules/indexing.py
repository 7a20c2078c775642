"""Rules of gathering and scattering."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import reduced, rule
from saraph.shapes import broadcast_shapes

Shape = tuple[int, ...]


@rule("index_of")
def index_of(values: Any) -> tuple[Shape, np.dtype]:
    return np.shape(values), np.dtype(np.int64)


@rule("bounds")
def bounds(index: Any) -> tuple[int, int]:
    """Positions without values are taken to be right."""
    return 0, -1


@rule("take_index")
def take_index(a: Any, index: Any) -> tuple[Shape, np.dtype]:
    """The shape of a[index] for whole slices, positions and masks (whose values count)."""
    shapes, where, dim, kept = [], [], 0, []
    for item in index:
        if isinstance(item, slice):
            kept.append((dim, a.shape[dim]))
            dim += 1
            continue
        where.append(dim)
        if item.dtype == bool:
            shapes.append((int(np.count_nonzero(item)),))
            dim += item.ndim
        else:
            shapes.append(item.shape)
            dim += 1
    return _joined(a, shapes, where, kept, dim, index), a.dtype


def _joined(a: Any, shapes: list[Shape], where: list[int], kept: list[tuple[int, int]], dim: int, index: Any) -> Shape:
    """Where arrays stand side by side their shape takes their place, else it comes first."""
    picked = broadcast_shapes(*shapes)
    kinds = [isinstance(item, slice) for item in index]
    first, last = kinds.index(False), len(kinds) - 1 - kinds[::-1].index(False)
    rest = tuple(a.shape[dim:])
    before = tuple(n for d, n in kept if d < where[0])
    after = tuple(n for d, n in kept if d >= where[0])
    return (*before, *picked, *after, *rest) if not any(kinds[first:last + 1]) else (*picked, *before, *after, *rest)


@rule("put_index")
def put_index(a: Any, index: Any, values: Any, accumulate: bool) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("write_index")
def write_index(a: Any, index: Any, values: Any) -> None:
    return None


@rule("index_select")
def index_select(a: Any, axis: int, index: Any) -> tuple[Shape, np.dtype]:
    return (*a.shape[:axis], index.shape[0], *a.shape[axis + 1:]), a.dtype


@rule("add_rows", "add_elements")
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


@rule("xor_patterns")
def xor_patterns(a: Any, axes: tuple[int, ...], keepdims: bool) -> tuple[Shape, np.dtype]:
    return reduced(a.shape, axes, keepdims), np.dtype(np.uint64)
