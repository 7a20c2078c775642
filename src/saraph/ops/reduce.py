"""Reductions: sum, mean, ... over all dimensions or some."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import wrap_dims
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record


def expand_reduced(g: Tensor, shape: tuple[int, ...], axes: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A reduction's gradient, stretched back over what was reduced."""
    if not keepdim and axes is not None and g._a.ndim + len(axes) == len(shape):
        g = g.reshape([1 if d in axes else n for d, n in enumerate(shape)])
    return g.expand(shape)


def normal_axes(dim: Any, rank: int) -> tuple[int, ...] | None:
    """The axes that `dim=` names: None for all (PyTorch also reads an empty list as all)."""
    if dim is None or (dim.__class__ in (tuple, list) and not dim):
        return None
    axes = wrap_dims(dim, rank)
    return axes if rank else ()


@derivative("SumBackward0")
def SumBackward(node: Any, g: Tensor) -> Tensor:
    return expand_reduced(g, node.shape, node.axes, node.keepdim)


@op(method=True)
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum of all elements, or over the dimensions `dim`. Integers and bools add up in int64 unless `dtype` is given."""
    x = check_tensor(input, "sum")
    if dtype is not None:
        x = promotion.cast(x, dtype)
    a = x._a
    axes = normal_axes(dim, a.ndim)
    kind = None if a.dtype.kind not in "biu" or dtype is not None else _INT64
    return record(of(a).sum(a, axes, keepdim, kind), SumBackward, (x,), shape=a.shape, axes=axes, keepdim=keepdim)


_INT64 = promotion.dtypes.int64.numpy
