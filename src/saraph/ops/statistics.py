"""Statistics: variance and deviation, medians, quantiles, modes, covariance."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion, return_types
from saraph.ops.extremes import check_not_empty, record_selected, refuse_complex, selecting, shared_evenly
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import check_dims, normal_axes, reduced_count, stretched, title
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many, unpack, wrap

# -- variance -------------------------------------------------------------------------------------------------------------------


def _spread_arguments(name: str, dim: Any, unbiased: Any, correction: Any) -> tuple[Any, Any]:
    """(dim, correction) from the overloads (unbiased), (dim, unbiased, keepdim) and (dim, *, correction, keepdim)."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments: `unbiased` twice, {dim} and {unbiased}")
        dim, unbiased = None, dim
    check_dims(dim, name)
    if unbiased is None:
        return dim, 1 if correction is None else correction
    if not isinstance(unbiased, bool):
        raise TypeError(f"{name}() received an invalid combination of arguments: unbiased must be bool, not {type(unbiased).__name__}")
    if correction is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: it takes `unbiased` or `correction`, not both")
    return dim, int(unbiased)


def _variance(name: str, input: Any, dim: Any, keepdim: bool, correction: Any, with_mean: bool) -> tuple[Any, Tensor, tuple[int, ...] | None]:
    x = check_tensor(input, name)
    if x._a.dtype.kind in "biu":
        raise RuntimeError(f"{name.split('_')[0]} and var only support floating point and complex dtypes".replace("var and var", "std and var")
                           + f" (got {title(x)}: convert the tensor first)")
    if not is_number(correction):
        raise TypeError(f"{name}(): argument 'correction' must be Number, not {type(correction).__name__}")
    a = x._a
    axes = normal_axes(dim, a.ndim)
    return of(a).var(a, axes, keepdim, correction, with_mean), x, axes


def _variance_gradient(g: Tensor, x: Tensor, node: Any) -> Tensor:
    """2 (x - mean) / freedom."""
    freedom = reduced_count(x._a.shape, node.axes) - node.correction
    scale = 2.0 / freedom if freedom else float("inf")
    axes = node.axes
    center = x.mean(tuple(range(x._a.ndim)) if axes is None else axes, keepdim=True) if axes != () else x
    return stretched(g, x._a.ndim, axes, node.keepdim) * scale * (x - center)


def _root_gradient(g: Tensor, result: Tensor) -> Tensor:
    """The gradient of a variance from that of its root; nothing flows where the root is 0."""
    return (g / (result * 2)).masked_fill(result == 0, 0)


@derivative("VarBackward0")
def VarBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return _variance_gradient(g, x, node)


@derivative("StdBackward0", saves_result=True)
def StdBackward(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return _variance_gradient(_root_gradient(g, result), x, node)


def _with_mean_gradient(node: Any, g_spread: Tensor | None, g_mean: Tensor | None) -> Tensor | None:
    x, *results = unpack(node)
    total = None
    if g_spread is not None:
        total = _variance_gradient(_root_gradient(g_spread, results[0]) if results else g_spread, x, node)
    if g_mean is not None:
        even = stretched(g_mean, x._a.ndim, node.axes, node.keepdim).expand(x._a.shape) / reduced_count(x._a.shape, node.axes)
        total = even if total is None else total + even
    return total


VarMeanBackward = derivative("VarMeanBackward0")(_with_mean_gradient)
StdMeanBackward = derivative("StdMeanBackward0")(_with_mean_gradient)


@op(method=True)
def var(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
        out: Tensor | None = None) -> Tensor:
    """The variance of all elements or over the dimensions `dim`: the sum of |x - mean|^2 divided by count - correction (1).

    `var(x, unbiased)`, `var(x, dim, unbiased, keepdim)` are understood too: correction 1 or 0.
    """
    dim, correction = _spread_arguments("var", dim, unbiased, correction)
    r, x, axes = _variance("var", input, dim, keepdim, correction, False)
    return record(r, VarBackward, (x,), (x,), axes=axes, keepdim=keepdim, correction=correction)


@op(method=True)
def std(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
        out: Tensor | None = None) -> Tensor:
    """The standard deviation: the root of the variance (see `var` for the arguments)."""
    dim, correction = _spread_arguments("std", dim, unbiased, correction)
    r, x, axes = _variance("std", input, dim, keepdim, correction, False)
    return record(of(r).sqrt(r), StdBackward, (x,), (x,), axes=axes, keepdim=keepdim, correction=correction)


@op()
def var_mean(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
             out: Any = None) -> tuple[Tensor, Tensor]:
    """The variance and the mean (see `var` for the arguments)."""
    dim, correction = _spread_arguments("var_mean", dim, unbiased, correction)
    r, x, axes = _variance("var", input, dim, keepdim, correction, True)
    return record_many(r, VarMeanBackward, (x,), (x,), axes=axes, keepdim=keepdim, correction=correction)


@op()
def std_mean(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
             out: Any = None) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean (see `var` for the arguments)."""
    dim, correction = _spread_arguments("std_mean", dim, unbiased, correction)
    (r, center), x, axes = _variance("std", input, dim, keepdim, correction, True)
    return record_many((of(r).sqrt(r), center), StdMeanBackward, (x,), (x,), save_results=(0,), axes=axes, keepdim=keepdim, correction=correction)


# -- medians, order statistics --------------------------------------------------------------------------------------------------------


MedianBackward1, NanmedianBackward1 = selecting("MedianBackward1"), selecting("NanmedianBackward1")
KthvalueBackward, ModeBackward = selecting("KthvalueBackward0"), selecting("ModeBackward0")


def _full_gradient(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return shared_evenly(g, x, result, None, False)


MedianBackward0 = derivative("MedianBackward0", saves_result=True)(_full_gradient)
NanmedianBackward0 = derivative("NanmedianBackward0", saves_result=True)(_full_gradient)


def _ordered(input: Any, name: str) -> Tensor:
    x = check_tensor(input, name)
    refuse_complex(x, name)
    if x._a.dtype.kind == "b":
        raise NotImplementedError(f'"{name}_cpu" not implemented for \'Bool\': convert the tensor to an integer dtype first.')
    return x


def _median(input: Any, dim: int | None, keepdim: bool, ignore_nan: bool) -> Any:
    name = "nanmedian" if ignore_nan else "median"
    x = _ordered(input, name)
    a = x._a
    backend = of(a)
    if dim is None:
        if a.size == 0:
            value = float("nan") if a.dtype.kind not in "iu" else dtypes.iinfo(x.dtype).min
            return wrap(backend.scalar(value, a.dtype))
        value, _ = backend.median(backend.reshape_view(backend.copy(a, "C"), (a.size,)), 0, False, ignore_nan)
        return record(value, NanmedianBackward0 if ignore_nan else MedianBackward0, (x,), (x,))
    axis = wrap_dim(dim, a.ndim)
    check_not_empty(a, axis, name)
    cls, result = (NanmedianBackward1, return_types.nanmedian) if ignore_nan else (MedianBackward1, return_types.median)
    return record_selected(backend.median(a, axis, keepdim, ignore_nan), cls, x, axis, keepdim, result)


@op(method=True)
def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The (lower) median of all elements; or, with `dim`, a named tuple (values, indices) along it. NaN where there is one.

    Example: `tensor([1., 2., 3., 4.]).median()` is `tensor(2.)`.
    """
    return _median(input, dim, keepdim, False)


@op(method=True)
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """As `median`, of the elements that are not NaN; NaN where there are none."""
    return _median(input, dim, keepdim, True)


@op(method=True, out="apart")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element (from 1) along `dim`, and where it is: a named tuple (values, indices). NaN counts as largest."""
    x = _ordered(input, "kthvalue")
    a = x._a
    axis = wrap_dim(dim, a.ndim)
    check_not_empty(a, axis, "kthvalue")
    k = int(k)
    if not 1 <= k <= (a.shape[axis] if a.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis} (k={k}, {describe(x)})")
    return record_selected(of(a).kth(a, k - 1, axis, keepdim), KthvalueBackward, x, axis, keepdim, return_types.kthvalue)


@op(method=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along `dim` (the smallest of several), and its last position: a named tuple (values, indices)."""
    x = check_tensor(input, "mode")
    refuse_complex(x, "mode")
    axis = wrap_dim(dim, x._a.ndim)
    check_not_empty(x._a, axis, "mode")
    return record_selected(of(x._a).mode(x._a, axis, keepdim), ModeBackward, x, axis, keepdim, return_types.mode)


# -- quantiles ------------------------------------------------------------------------------------------------------------------------


def _quantile_operands(input: Any, q: Any, interpolation: str, name: str) -> tuple[Tensor, Tensor]:
    x = check_tensor(input, name)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype (got {title(x)})")
    if not isinstance(q, Tensor):
        if not is_number(q):
            raise TypeError(f"{name}(): argument 'q' must be float or Tensor, not {type(q).__name__}")
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        q = promotion.scalar_tensor(q, x.dtype, x._a)
    if q._a.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor (got {describe(q)})")
    if q.dtype is not x.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor (got {describe(q)} and {describe(x)})")
    if x._a.size == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty (got {describe(x)})")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return x, q


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    name = "nanquantile" if ignore_nan else "quantile"
    x, q = _quantile_operands(input, q, interpolation, name)
    rank = x._a.ndim
    axis = None if dim is None else wrap_dim(dim, rank)
    rows = (x.reshape(-1) if axis is None or not rank else x.movedim(axis, -1)).sort().values
    last = rows._a.shape[-1] - 1
    ranks = q.reshape(-1)
    missing = rows.isnan()
    if ignore_nan:
        ranks = ranks * (missing.logical_not().sum(-1, keepdim=True) - 1).clamp_min(0)
    else:
        ranks = (ranks * last).expand(*rows._a.shape[:-1], ranks._a.shape[0]).masked_fill(missing.any(-1, keepdim=True), last)
    found = _at_ranks(rows, ranks, interpolation)
    if q._a.ndim == 0:
        found = found.squeeze(-1)
    else:
        found = found.movedim(-1, 0)
    if keepdim and rank:
        lead = found._a.ndim - (rank - 1 if axis is not None else 0)
        shape = list(found._a.shape)
        found = found.reshape(shape[:lead] + [1] * rank if axis is None else shape[:lead + axis] + [1] + shape[lead + axis:])
    return found


def _at_ranks(rows: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """Elements of sorted rows at fractional positions."""
    if interpolation == "lower":
        return rows.gather(-1, ranks.floor().to(dtypes.int64))
    if interpolation == "higher":
        return rows.gather(-1, ranks.ceil().to(dtypes.int64))
    if interpolation == "nearest":
        return rows.gather(-1, ranks.round().to(dtypes.int64))
    below = ranks.detach().floor()
    low, high = rows.gather(-1, below.to(dtypes.int64)), rows.gather(-1, ranks.ceil().to(dtypes.int64))
    return low.lerp(high, 0.5) if interpolation == "midpoint" else low.lerp(high, ranks - below)


@op(method=True)
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear",
             out: Tensor | None = None) -> Tensor:
    """The q-quantiles (q in [0, 1], a number or a 1-d tensor, which becomes the result's first dimension) of all elements or along `dim`.

    `interpolation` between neighbours: linear, lower, higher, midpoint or nearest. NaN where there is one.
    """
    return _quantile(input, q, dim, keepdim, interpolation, False)


@op(method=True)
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear",
                out: Tensor | None = None) -> Tensor:
    """As `quantile`, of the elements that are not NaN; NaN where there are none."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


# -- covariance -----------------------------------------------------------------------------------------------------------------------


def _check_weights(weights: Tensor, count: int, name: str, right_type: Callable[[dtypes.dtype], bool], wanted: str) -> None:
    if weights._a.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights._a.ndim} dimensions")
    if not right_type(weights.dtype):
        raise RuntimeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {title(weights)} dtype")
    if weights._a.size != count:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input "
                           f"but got {weights._a.size} != {count}")
    if count and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op(method=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of the rows (variables) over the columns (observations).

    `fweights` (integers) say how often each observation counts, `aweights` (floating) how much.
    """
    x = check_tensor(input, "cov")
    if x._a.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {x._a.ndim} dimensions")
    if x._a.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = x.reshape(1, -1) if x._a.ndim < 2 else x
    count = rows._a.shape[1]
    weights = None
    if fweights is not None:
        _check_weights(fweights, count, "fweights", lambda kind: kind.category == 1, "integral")
        weights = fweights.reshape(-1)
    if aweights is not None:
        _check_weights(aweights, count, "aweights", lambda kind: kind.is_floating_point, "floating point")
        weights = aweights.reshape(-1) if weights is None else weights * aweights.reshape(-1)
    total = count if weights is None else weights.sum()
    if weights is not None and count and bool(total == 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    if weights is None:
        center = rows.sum(1, keepdim=True) / count if count else rows.new_full((rows._a.shape[0], 1), float("nan"))
        freedom = max(count - correction, 0)
    else:
        center = (rows * weights).sum(1, keepdim=True) / total
        lost = correction if aweights is None else correction * (weights * aweights.reshape(-1)).sum() / total
        freedom = (total - lost).clamp_min(0)
    away = rows - center
    weighted = away if weights is None else away * weights
    product = away @ weighted.t().conj()
    covariance = product / promotion.scalar_tensor(freedom, product.dtype, product._a) if is_number(freedom) else product / freedom
    return covariance.squeeze()


@op(method=True)
def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of the rows (variables) over the columns (observations), clipped to [-1, 1]."""
    x = check_tensor(input, "corrcoef")
    if x._a.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {x._a.ndim} dimensions")
    c = cov(x)
    if c._a.ndim == 0:
        return c / c
    deviation = c.diagonal()
    deviation = (deviation.real if c._a.dtype.kind == "c" else deviation).sqrt()
    c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if c._a.dtype.kind == "c":
        return _complex_of(c.real.clip(-1, 1), c.imag.clip(-1, 1))
    return c.clip(-1, 1)


def _complex_of(real: Tensor, imag: Tensor) -> Tensor:
    return real + imag * 1j
