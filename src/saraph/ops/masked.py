"""Reductions and normalisations over the elements that a mask keeps (`saraph.masked`).

`mask` is a bool tensor that broadcasts to the input: True keeps an element. Elements that are masked out count as the operation's identity;
where nothing is kept, the result is that identity (NaN for means, medians and softmax).
"""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.dtypes import dtype as DType
from saraph.ops import activation, extremes, norms, pointwise, promotion, reduce, scan, statistics
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import wrap_dims
from saraph.tensor.tensor import Tensor

INF = float("inf")


def _mask_for(x: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask as bool, in x's shape."""
    if mask is None:
        return None
    check_tensor(mask, "masked", "mask")
    if mask._a.ndim > x._a.ndim:
        raise IndexError("_output_mask expected broadcastable mask (got mask dimensionality higher than of the input): "
                         f"mask {list(mask._a.shape)}, input {list(x._a.shape)}")
    return mask.expand(x._a.shape).to(dtypes.bool_)


def _kept(x: Tensor, mask: Tensor | None, fill: Any) -> Tensor:
    """x with `fill` where the mask is False."""
    mask = _mask_for(x, mask)
    return x if mask is None else x.masked_fill(~mask, fill)


def _operand(input: Any, name: str, dtype: Any, wide: bool = False) -> Tensor:
    """The input in the dtype to compute in; with `wide` integers become int64."""
    x = check_tensor(input, f"masked.{name}")
    if dtype is None and wide and x._a.dtype.kind in "biu":
        dtype = dtypes.int64
    return x if dtype is None else promotion.cast(x, dtype)


def _every(dim: Any, x: Tensor) -> Any:
    """dim, with None and () meaning all dimensions."""
    return tuple(range(x._a.ndim)) if dim is None or (isinstance(dim, (tuple, list)) and not dim) else dim


def _lowest(kind: DType) -> Any:
    return -INF if kind.category >= 2 else dtypes.iinfo(kind).min if kind is not dtypes.bool_ else False


def _highest(kind: DType) -> Any:
    return INF if kind.category >= 2 else dtypes.iinfo(kind).max if kind is not dtypes.bool_ else True


# -- sums and products ------------------------------------------------------------------------------------------------------------


@op(namespaces="masked")
def sum(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the kept elements, of all or over the dimensions `dim`."""
    x = _operand(input, "sum", dtype, wide=True)
    return reduce.sum(_kept(x, mask, 0), _every(dim, x), keepdim, dtype=x.dtype)


@op(namespaces="masked")
def prod(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The product of the kept elements, of all or over the dimensions `dim`."""
    x = _operand(input, "prod", dtype, wide=True)
    result = _kept(x, mask, 1)
    for d in sorted(wrap_dims(_every(dim, x), x._a.ndim), reverse=True):
        result = reduce.prod(result, d, keepdim, dtype=x.dtype)
    return result


@op(namespaces="masked")
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running sum of the kept elements along `dim`."""
    x = _operand(input, "cumsum", dtype, wide=True)
    return scan.cumsum(_kept(x, mask, 0), dim, dtype=x.dtype)


@op(namespaces="masked")
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running product of the kept elements along `dim`."""
    x = _operand(input, "cumprod", dtype, wide=True)
    return scan.cumprod(_kept(x, mask, 1), dim, dtype=x.dtype)


def _count(x: Tensor, dim: Any, keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements are kept, in the dtype that x's mean is computed in."""
    kind = x.dtype if x._a.dtype.kind != "c" else x.dtype.to_real()
    ones = x.new_ones(x._a.shape, dtype=dtypes.int64)
    return promotion.cast(reduce.sum(_kept(ones, mask, 0), _every(dim, x), keepdim), kind)


@op(namespaces="masked")
def mean(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The mean of the kept elements, of all or over the dimensions `dim`."""
    x = _operand(input, "mean", dtype)
    if x._a.dtype.kind in "biu":
        raise ValueError(f"mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {x.dtype!r}")
    return reduce.sum(_kept(x, mask, 0), _every(dim, x), keepdim) / _count(x, dim, keepdim, mask)


# -- extremes and order ---------------------------------------------------------------------------------------------------------------


@op(namespaces="masked")
def amax(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The largest kept element, of all or over the dimensions `dim`."""
    x = _operand(input, "amax", dtype)
    return extremes.amax(_kept(x, mask, _lowest(x.dtype)), _every(dim, x), keepdim)


@op(namespaces="masked")
def amin(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The smallest kept element, of all or over the dimensions `dim`."""
    x = _operand(input, "amin", dtype)
    return extremes.amin(_kept(x, mask, _highest(x.dtype)), _every(dim, x), keepdim)


@op(namespaces="masked")
def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Where the largest kept element is, in the input's dtype (as PyTorch gives it)."""
    x = _operand(input, "argmax", dtype)
    return promotion.cast(extremes.argmax(_kept(x, mask, _lowest(x.dtype)), dim, keepdim), x.dtype)


@op(namespaces="masked")
def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Where the smallest kept element is, in the input's dtype (as PyTorch gives it)."""
    x = _operand(input, "argmin", dtype)
    return promotion.cast(extremes.argmin(_kept(x, mask, _highest(x.dtype)), dim, keepdim), x.dtype)


@op(namespaces="masked")
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The median of the kept elements along `dim`; NaN where nothing is kept."""
    x = _operand(input, "median", dtype)
    if x.dtype.category < 2:
        x = promotion.cast(x, dtypes.float32)
    return statistics.nanmedian(_kept(x, mask, float("nan")), dim, keepdim).values


# -- norms and spread -----------------------------------------------------------------------------------------------------------------


@op(namespaces="masked")
def norm(input: Tensor, ord: Any = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The vector norm of the kept elements, of all or over the dimensions `dim`."""
    x = _operand(input, "norm", dtype)
    return norms.vector_norm(_kept(x, mask, INF if ord == -INF else 0), ord, _every(dim, x), keepdim)


def _variance(name: str, input: Tensor, dim: Any, correction: Any, keepdim: bool, dtype: Any, mask: Tensor | None) -> Tensor:
    x = _operand(input, name, dtype)
    if x._a.dtype.kind in "biu":
        x = promotion.cast(x, dtypes.float32)
    dims = _every(dim, x)
    count = _count(x, dims, True, mask)
    center = reduce.sum(_kept(x, mask, 0), dims, True) / count
    away = x - center
    total = reduce.sum(_kept(away * away.conj(), mask, 0), dims, keepdim)  # of complex type for a complex input, as in PyTorch
    if not keepdim:
        count = count.reshape(total._a.shape)
    return total / (count - correction).clamp_min(0)


def _correction(name: str, unbiased: bool | None, correction: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise ValueError(f"masked.{name}: pass `unbiased` or `correction`, not both")
    return (1 if correction is None else correction) if unbiased is None else int(unbiased)


@op(namespaces="masked")
def var(input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: bool = False, dtype: Any = None,
        mask: Tensor | None = None) -> Tensor:
    """The variance of the kept elements, of all or over the dimensions `dim`."""
    return _variance("var", input, dim, _correction("var", unbiased, correction), keepdim, dtype, mask)


@op(namespaces="masked")
def std(input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: bool = False, dtype: Any = None,
        mask: Tensor | None = None) -> Tensor:
    """The standard deviation of the kept elements, of all or over the dimensions `dim`."""
    return _variance("std", input, dim, _correction("std", unbiased, correction), keepdim, dtype, mask).sqrt()


# -- softmax and its kin --------------------------------------------------------------------------------------------------------------


@op(namespaces="masked")
def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """softmax along `dim` over the kept elements; masked elements get 0."""
    return activation.softmax(_kept(_operand(input, "softmax", dtype), mask, -INF), dim)


@op(namespaces="masked")
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of softmax along `dim` over the kept elements."""
    return activation.log_softmax(_kept(_operand(input, "log_softmax", dtype), mask, -INF), dim)


@op(namespaces="masked")
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """softmax of the negated elements along `dim` over the kept elements."""
    return activation.softmin(_kept(_operand(input, "softmin", dtype), mask, INF), dim)


@op(namespaces="masked")
def normalize(input: Tensor, ord: Any, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The kept elements over their norm along `dim` (at least `eps`); masked elements get 0."""
    x = _operand(input, "normalize", dtype)
    length = norms.vector_norm(_kept(x, mask, INF if ord == -INF else 0), ord, dim, True)
    return _kept(x, mask, 0) / length.clamp_min(eps)


@op(namespaces="masked")
def logaddexp(input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)), where masked elements of either count as minus infinity."""
    x, y = _operand(input, "logaddexp", dtype), _operand(other, "logaddexp", dtype)
    return pointwise.logaddexp(_kept(x, input_mask, -INF), _kept(y, other_mask, -INF))


@op(namespaces="masked")
def logsumexp(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) of the kept elements, of all or over the dimensions `dim`, in the input's dtype."""
    x = _operand(input, "logsumexp", dtype)
    return promotion.cast(reduce.logsumexp(_kept(x, mask, _lowest(x.dtype)), _every(dim, x), keepdim), x.dtype)
