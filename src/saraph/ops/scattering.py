"""Putting slices and single elements into copies of a tensor, and taking single elements out by their flat positions."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.gathering import check_source, gather, positions, slice_positions
from saraph.ops.indexing import index_put
from saraph.ops.masking import where
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, wrap

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


# -- slices ------------------------------------------------------------------------------------------------------------------


def _with(input: Tensor, view: Any, src: Tensor, name: str) -> Tensor:
    """A copy of input whose part `view(copy)` is src."""
    result = input.clone()
    part = view(result)
    if part._a.shape != src._a.shape:
        raise RuntimeError(f"{name}: expected src to have a size equal to the slice of self. src size = {list(src._a.shape)}, "
                           f"slice size = {list(part._a.shape)}")
    part.copy_(src)
    return result


@op(method=True)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """A copy with `src` at `index` along `dim`."""
    return _with(input, lambda x: x.select(dim, index), src, "select_scatter")


@op(method=True)
def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *,
                  out: Tensor | None = None) -> Tensor:
    """A copy with `src` at start:end:step along `dim`."""
    d = wrap_dim(dim, input._a.ndim)
    return _with(input, lambda x: x[(slice(None),) * d + (slice(start, end, step),)], src, "slice_scatter")


@op(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy with `src` on a diagonal of the plane of two dimensions."""
    return _with(input, lambda x: x.diagonal(offset, dim1, dim2), src, "diagonal_scatter")


# -- flat positions ------------------------------------------------------------------------------------------------------------


def _flat_index(x: Tensor, index: Tensor, name: str) -> Tensor:
    if index._a.dtype.kind not in "iu" or index._a.dtype.itemsize != 8:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {str(index.dtype).removeprefix('torch.')}")
    size = x._a.size
    if index._a.size and not size:
        raise IndexError(f"{name}(): tried to take from an empty tensor")
    if index._a.size and index.device.type != "meta":
        low, high = int(index.min().item()), int(index.max().item())
        if low < -size or high >= size:
            raise IndexError(f"out of range: tried to access index {low if low < -size else high} on a tensor of {size} elements.")
    return index


@op(method=True, out="apart")
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at flat positions `index` (int64), in index's shape."""
    x = check_tensor(input, "take")
    return x.reshape(-1)[_flat_index(x, index, "take")]


@op(method=True, inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with the elements of `source` at flat positions `index` (added there with `accumulate`)."""
    x = check_tensor(input, "put")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got self.dtype = {x.dtype!r} and source.dtype = {source.dtype!r}")
    if index._a.size != source._a.size:
        raise IndexError(f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {source._a.size}, "
                           f"index.numel() = {index._a.size}")
    if not index._a.size:
        return x.clone()
    flat = index_put(x.reshape(-1), (_flat_index(x, index, "put_").reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(x._a.shape)


@op(method=True, out="apart")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """`gather` with input and indices broadcast against each other in the other dimensions; without `dim`, of the flat input."""
    if indices._a.dtype.kind not in "iu" or indices._a.dtype.itemsize != 8:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype!r}")
    if dim is None:
        flat = indices.reshape(-1)
        return gather(input.reshape(-1), 0, where(flat < 0, flat + input._a.size, flat))
    if input._a.ndim != indices._a.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, "
                           f"but got {input._a.ndim} dimensions for input, and {indices._a.ndim} dimensions for indices")
    d = wrap_dim(dim, input._a.ndim)
    x, at = list(input._a.shape), list(indices._a.shape)
    for k in range(len(x)):
        if k != d and x[k] != at[k]:
            if x[k] != 1 and at[k] != 1:
                raise RuntimeError(f"torch.take_along_dim(): the sizes {list(input._a.shape)} and {list(indices._a.shape)} do not broadcast outside dim {d}")
            x[k] = at[k] = at[k] if x[k] == 1 else x[k]
    return gather(input.expand(x), d, where(indices < 0, indices + x[d], indices).expand(at))


# -- reductions into places ------------------------------------------------------------------------------------------------------


def _check_reduce(reduce: str, name: str, allowed: tuple[str, ...]) -> None:
    if reduce not in allowed:
        raise RuntimeError(f"{name}: reduce argument must be one of {', '.join(allowed)}, got {reduce}")


_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1}


def _neutral(x: Tensor, reduce: str) -> Any:
    """What a reduction starts from: 0, 1, or the lowest (highest) value."""
    if reduce in _NEUTRAL:
        return _NEUTRAL[reduce]
    if x._a.dtype.kind == "b":
        return reduce == "amin"
    if x.is_floating_point():
        return float("-inf") if reduce == "amax" else float("inf")
    limits = x.dtype.numpy
    low, high = (0, 2 ** (8 * limits.itemsize) - 1) if limits.kind == "u" else (-2 ** (8 * limits.itemsize - 1), 2 ** (8 * limits.itemsize - 1) - 1)
    return low if reduce == "amax" else high


_MODES = {"prod": "multiply", "amax": "amax", "amin": "amin"}


@derivative("ScatterReduceBackward0", saves_result=True)
def ExtremeBackward(node: Any, g: Tensor) -> Any:
    """Elements that equal the result share its gradient."""
    x, src, index, result = unpack(node)
    x_hits = (x == result).to(g.dtype)
    src_hits = (src == result.gather(node.dim, index)).to(g.dtype)
    shared = g / x_hits.scatter_add(node.dim, index, src_hits).masked_fill(x_hits.scatter_add(node.dim, index, src_hits) == 0, 1)
    return x_hits * shared, src_hits * shared.gather(node.dim, index), None


@derivative("ScatterReduceBackward0", saves_result=True)
def ProductBackward(node: Any, g: Tensor) -> Any:
    """The product of the other factors: the result over the factor or, for the only 0 among them, the product without it."""
    x, src, index, result = unpack(node)
    ones = x.masked_fill(x == 0, 1)
    gx = g * _extreme_or_product(ones, node.dim, index, src, "prod") / ones
    zero = src == 0
    zeros = x.new_zeros(x._a.shape).scatter_add(node.dim, index, zero.to(x.dtype)).gather(node.dim, index)
    single = zero & (zeros == 1)
    without = _extreme_or_product(x, node.dim, index, src.masked_fill(single, 1), "prod")
    gsrc = where(single, (g * without).gather(node.dim, index), (g * result).gather(node.dim, index) / src.masked_fill(zero, 1))
    return gx, gsrc, None


def _extreme_or_product(x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str) -> Tensor:
    d = wrap_dim(dim, x._a.ndim)
    r = of(x._a).scatter(x._a, d, positions(x, d, index, "scatter_reduce"), src._a, _MODES[reduce])
    return record(r, ProductBackward if reduce == "prod" else ExtremeBackward, (x, src, None), (x, src, index), dim=d)


@op(method=True, inplace=True, out="exact")
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """input[index[i][j]][j] (dim 0, and so on) reduced with all src[i][j] that go there: "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` the places that something goes to start from nothing instead of from input's element.
    """
    _check_reduce(reduce, "scatter_reduce()", REDUCTIONS)
    if src.dtype is not input.dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype (got {input.dtype!r} and {src.dtype!r})")
    if not input._a.ndim or not index._a.ndim:
        flat = scatter_reduce(input.reshape(-1), 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self)
        return flat.reshape(input._a.shape)
    if not index._a.size:
        return input.clone()
    used = src[tuple(slice(0, n) for n in index._a.shape)]
    start = input if include_self else input.scatter(dim, index, _neutral(input, reduce))
    if reduce == "sum":
        return start.scatter_add(dim, index, used)
    if reduce == "mean":
        ones = input.new_ones(used._a.shape)
        counts = (input.new_ones(input._a.shape) if include_self else input.new_zeros(input._a.shape)).scatter_add(dim, index, ones)
        total = start.scatter_add(dim, index, used)
        counts = counts.masked_fill(counts == 0, 1)
        return total / counts if input.is_floating_point() or input.is_complex() else total.div(counts, rounding_mode="floor")
    return _extreme_or_product(start, dim, index, used, reduce)


@op(method=True, inplace=True, out="exact")
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """The slices at `index` along `dim` reduced with those of `source`: "prod", "mean", "amax" or "amin"."""
    _check_reduce(reduce, "index_reduce()", REDUCTIONS[1:])
    if not input._a.ndim:
        return scatter_reduce(input, 0, index, source, reduce, include_self=include_self)
    d = wrap_dim(dim, input._a.ndim)
    rows = slice_positions(index, input._a.shape[d], "index_reduce")
    check_source("index_reduce", input, d, rows.shape[0], source)
    shape = [1] * input._a.ndim
    shape[d] = rows.shape[0]
    at = wrap(rows).reshape(shape).expand(source._a.shape)
    return scatter_reduce(input, d, at, source, reduce, include_self=include_self)
