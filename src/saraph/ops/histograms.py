"""Counting: histc, histogram, histogramdd, bincount."""
from __future__ import annotations

from math import isfinite
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion, return_types
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import title
from saraph.ops.registry import op
from saraph.ops.sequences import linspace
from saraph.tensor.tensor import Tensor, wrap


@op(method=True)
def histc(input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements fall into each of `bins` equal intervals between `min` and `max` (equal: those of the data).

    Elements outside, and NaN, are not counted.
    """
    x = check_tensor(input, "histc")
    if x.dtype.category != 2:
        raise NotImplementedError(f'"histogram_cpu" not implemented for \'{title(x)}\': histc counts floating point tensors.')
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and x._a.size:
        low, high = float(x.detach().min()), float(x.detach().max())
    if low == high:
        low, high = low - 1, high + 1
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histc: max must be larger than min (got min={min}, max={max})")
    return wrap(of(x._a).histc(x._a, bins, low, high))


def _floating(input: Any, name: str) -> Tensor:
    x = check_tensor(input, name)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f'"histogramdd" not implemented for \'{title(x)}\': {name} counts float32 and float64 tensors.')
    return x


def _edges(x: Tensor, count: int, limits: tuple[float, float] | None, dim: int) -> Tensor:
    """The ends of equal intervals over a column of data (or between `limits`)."""
    if count <= 0:
        raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {count} for dimension {dim}")
    if limits is not None:
        low, high = limits
        if not (isfinite(low) and isfinite(high)):
            raise RuntimeError(f"torch.histogramdd(): dimension {dim}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(f"torch.histogramdd(): min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}")
    elif not x._a.size:
        low, high = 0.0, 1.0
    else:
        low, high = float(x.min()), float(x.max())
        if not (isfinite(low) and isfinite(high)):
            raise RuntimeError(f"torch.histogramdd(): dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return linspace(low, high, count + 1, dtype=x.dtype)


def _given_edges(edges: Tensor, x: Tensor, dim: int) -> Tensor:
    if edges._a.ndim != 1:
        raise RuntimeError(f"torch.histogramdd(): bins tensor should have one dimension, but got {edges._a.ndim} dimensions in the bins tensor "
                           f"for dimension {dim}")
    if edges._a.size == 0:
        raise RuntimeError(f"torch.histogramdd(): bins tensor should have at least 1 element, but got {edges._a.size} elements in the bins tensor "
                           f"for dimension {dim}")
    if edges.dtype is not x.dtype:
        raise RuntimeError(f"torch.histogramdd(): input tensor and bins tensors should have the same dtype, but got input with dtype {title(x)} and "
                           f"bins for dimension {dim} with dtype {title(edges)}")
    return edges.detach()


def _counted(values: Tensor, edges: list[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """Counts of the rows of `values` (n, d) in the grid of `edges`; with `density` divided by their sum and each cell's volume."""
    a = values._a
    counts = wrap(of(a).histogram_counts(a, [e._a for e in edges], None if weight is None else weight._a))
    if not density:
        return counts
    counts = counts / counts.sum()
    for d, e in enumerate(edges):
        counts = counts / (e[1:] - e[:-1]).reshape([-1 if k == d else 1 for k in range(len(edges))])
    return counts


def _check_weight(weight: Tensor | None, shape: tuple[int, ...], x: Tensor, name: str) -> Tensor | None:
    if weight is None:
        return None
    if weight.dtype is not x.dtype:
        raise RuntimeError(f"torch.{name}(): if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
                           f"input {title(x)} and weight {title(weight)}")
    count = 1
    for n in shape:
        count *= n
    if weight._a.size != count:
        raise RuntimeError(f"torch.{name}(): if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
                           f"dimension, but got input with shape {list(x._a.shape)} and weight with shape {list(weight._a.shape)}")
    return weight.detach().reshape(-1)


@op(method=True)
def histogram(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False, out: Any = None) -> Any:
    """A named tuple (hist, bin_edges): how many elements fall into each interval; the last one includes its right end.

    `bins` is a number of equal intervals (between the ends in `range`, or of the data), or a sorted 1-d tensor of edges. Each element counts
    `weight`. With `density` the result integrates to 1.
    """
    x = _floating(input, "histogram").detach()
    weight = _check_weight(weight, x._a.shape, x, "histogram")
    flat = x.reshape(-1)
    if isinstance(bins, Tensor):
        edges = _given_edges(bins, x, 0)
    else:
        if range is not None and len(range) != 2:
            raise RuntimeError(f"torch.histogramdd(): for a 1-dimensional histogram range should have 2 elements, but got {len(range)}")
        edges = _edges(flat, bins, None if range is None else (float(range[0]), float(range[1])), 0)
    return return_types.histogram((_counted(flat.reshape(-1, 1), [edges], weight, density), edges))


@op()
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Any:
    """A named tuple (hist, bin_edges) of points whose coordinates lie along the last dimension: a count per cell of a grid.

    `bins`: a number for all coordinates, or one each, or a sorted 1-d tensor of edges each. `range`: the ends for every coordinate in turn.
    """
    x = _floating(input, "histogramdd").detach()
    if x._a.ndim < 2:
        raise RuntimeError(f"torch.histogramdd: input tensor should have at least 2 dimensions (got {describe(x)})")
    count = x._a.shape[-1]
    weight = _check_weight(weight, x._a.shape[:-1], x, "histogramdd")
    wanted = [bins] * count if is_number(bins) else list(bins)
    if len(wanted) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input. "
                           f"(got {len(wanted)} bins for {describe(x)})")
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(f"torch.histogramdd(): for a {count}-dimensional histogram range should have {2 * count} elements, but got {len(range)}")
    rows = x.reshape(-1, count)
    edges = []
    for d, b in enumerate(wanted):
        limits = None if range is None else (float(range[2 * d]), float(range[2 * d + 1]))
        edges.append(_given_edges(b, x, d) if isinstance(b, Tensor) else _edges(rows[:, d], b, limits, d))
    return return_types.histogramdd((_counted(rows, edges, weight, density), tuple(edges)))


@op(method=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number from 0 on occurs in a 1-d tensor of non-negative integers, or the sum of the `weights` of its occurrences."""
    x = check_tensor(input, "bincount")
    if x._a.dtype.kind not in "iu":
        raise NotImplementedError(f'"bincount_cpu" not implemented for \'{title(x)}\': bincount counts integers.')
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0 (got {minlength})")
    if x._a.ndim != 1 or (x._a.size and int(x.min()) < 0):
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs. (got {describe(x)})")
    if weights is None:
        return wrap(of(x._a).bincount(x._a, None, minlength))
    if weights._a.shape != x._a.shape:
        raise RuntimeError(f"weights should be 1-d and have the same length as input (got {describe(weights)} for {describe(x)})")
    kept = weights.detach()
    kept = kept if kept.dtype in (dtypes.float32, dtypes.float64) else promotion.cast(kept, dtypes.float64)
    return wrap(of(x._a).bincount(x._a, kept._a, minlength))


__all__ = ["bincount", "histc", "histogram", "histogramdd"]
