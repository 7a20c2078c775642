"""Reductions that add, multiply or count: sum, mean, prod, logsumexp, any, all, ... over all dimensions or some.

`sum()` and `mean()` of a whole small tensor are hot, so their public functions have that case written out.
"""
from __future__ import annotations

import builtins
from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import of
from saraph.backends.cpu.reduce import FEW, SMALL
from saraph.dtypes import BY_NUMPY
from saraph.kernels import sum_rows
from saraph.ops import promotion
from saraph.ops.movement import cat, sizes
from saraph.ops.promotion import check_tensor, unbroadcast
from saraph.ops.registry import Op, op, publish, register, standard_public
from saraph.shapes import wrap_dim, wrap_dims
from saraph.tensor.node import derivative, next_number
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import PLAIN, Tensor, edge_of, record, unpack, wrap

ndarray = np.ndarray
_new = object.__new__
_INT64 = dtypes.int64.numpy


def title(x: Tensor) -> str:
    """PyTorch's name of a tensor's dtype in messages, such as Long."""
    return dtypes.title(x.dtype)


def normal_axes(dim: Any, rank: int) -> tuple[int, ...] | None:
    """The axes that `dim=` names: None for all (PyTorch also reads an empty list as all)."""
    if dim is None or (dim.__class__ in (tuple, list) and not dim):
        return None
    if dim.__class__ is int and 0 <= dim < rank:
        return (dim,)
    axes = wrap_dims(dim, rank)
    return axes if rank else ()


def check_dims(dim: Any, name: str) -> None:
    """TypeError unless `dim` is None, an int, or a list or tuple of ints."""
    if dim is None or dim.__class__ is int:
        return
    for d in dim if isinstance(dim, (list, tuple)) else (dim,):
        if d.__class__ is int:
            continue
        if isinstance(d, bool) or not hasattr(d, "__index__"):
            raise TypeError(f"{name}(): argument 'dim' must be int or tuple of ints, not {type(d).__name__}")


def stretched(g: Tensor, rank: int, axes: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """g (or a result) of a reduction with the reduced dimensions back, of size 1."""
    if keepdim or axes is None or not rank:
        return g
    shape = list(g._a.shape)
    for d in sorted(axes):
        shape.insert(d, 1)
    return g.reshape(shape)


def expand_reduced(g: Tensor, shape: tuple[int, ...], axes: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A reduction's gradient, stretched back over what was reduced."""
    return stretched(g, len(shape), axes, keepdim).expand(shape)


def reduced_count(shape: tuple[int, ...], axes: tuple[int, ...] | None) -> int:
    """How many elements one element of the result is made of."""
    count = 1
    for d in range(len(shape)) if axes is None else axes:
        count *= shape[d]
    return count


def accumulating(x: Tensor, dtype: Any) -> Tensor:
    """x in the dtype that a sum or product is computed in: `dtype`, or int64 for integers and bools."""
    if dtype is not None:
        return promotion.cast(x, dtype)
    return promotion.cast(x, dtypes.int64) if x._a.dtype.kind in "biu" else x


# -- sum and mean -----------------------------------------------------------------------------------------------------------


@derivative("SumBackward0")
def SumBackward0(node: Any, g: Tensor) -> Tensor:
    """One number goes to every element: memory of one element, with stride 0."""
    if thread.grad or state.active:
        return g.expand(node.shapes)
    return wrap(of(g._a).broadcast_to(g._a, node.shapes))


@derivative("SumBackward1")
def SumBackward1(node: Any, g: Tensor) -> Tensor:
    return expand_reduced(g, node.shape, node.axes, node.keepdim)


@derivative("MeanBackward0")
def MeanBackward0(node: Any, g: Tensor) -> Tensor:
    return SumBackward0.formula(node, g / reduced_count(node.shapes, None))


@derivative("MeanBackward1")
def MeanBackward1(node: Any, g: Tensor) -> Tensor:
    return expand_reduced(g, node.shape, node.axes, node.keepdim) / reduced_count(node.shape, node.axes)


def _sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all).

    Integers and bools add up in int64 unless `dtype` is given. float16 and bfloat16 are added in float32.

    Example: `tensor([[1., 2.], [3., 4.]]).sum(0)` is `tensor([4., 6.])`.
    """
    x = check_tensor(input, "sum")
    check_dims(dim, "sum")
    if dtype is not None:
        x = promotion.cast(x, dtype)
    a = x._a
    axes = normal_axes(dim, a.ndim)
    kind = _INT64 if dtype is None and a.dtype.kind in "biu" else None
    r = of(a).sum(a, axes, keepdim, kind)
    if axes is None and not keepdim:
        return _with_node(r, x, SumBackward0)
    return record(r, SumBackward1, (x,), shape=a.shape, axes=axes, keepdim=keepdim)


def _mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The mean of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all). NaN over nothing.

    The tensor must be floating or complex: pass `dtype=` (or convert it) to average integers.
    """
    x = check_tensor(input, "mean")
    check_dims(dim, "mean")
    if dtype is not None:
        if dtype.category < 2:
            raise RuntimeError("mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
                               f"Got: {dtype!r}")
        x = promotion.cast(x, dtype)
    if x._a.dtype.kind in "biu":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: " + title(x))
    a = x._a
    axes = normal_axes(dim, a.ndim)
    r = of(a).mean(a, axes, keepdim)
    if axes is None and not keepdim:
        return _with_node(r, x, MeanBackward0)
    return record(r, MeanBackward1, (x,), shape=a.shape, axes=axes, keepdim=keepdim)


def _with_node(r: Any, x: Tensor, cls: type) -> Tensor:
    """A full reduction's result; its node needs the input's shape only."""
    t = record(r, cls, (x,))
    if t._edge is not None:
        t._edge.shapes = x._a.shape
    return t


def _publish_full(rec: Op, cls: type, mean: bool) -> Callable:
    """The public function of sum or mean: plain small float tensors at once, everything else by the general way."""
    general = standard_public(rec)
    row_sum: Callable | None = None  # compiled when it is first needed
    add, asarray, empty = np.add.reduce, np.asarray, np.empty

    def public(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None, **others: Any) -> Tensor:
        if input.__class__ in PLAIN and not state.active and dtype is None and out is None and not others:
            a = input._a
            if a.__class__ is ndarray and a.dtype.char in "fd" and a.size <= SMALL:
                if dim is None and keepdim is False:
                    nonlocal row_sum
                    if row_sum is None:
                        row_sum = sum_rows.function
                    if mean:
                        r = asarray(row_sum(a.ravel("K")) / (a.size or nan), a.dtype)
                    else:
                        r = empty((), a.dtype)
                        row_sum(a.ravel("K"), r)
                    t = _new(Tensor)
                    t._a = r
                    t._edge = t._st = t._grad = t._view = t._meta = None
                    t._rg = False
                    if input._rg and thread.grad:
                        edge = edge_of(input)
                        if edge is not None:
                            n = _new(cls)
                            n.edges, n.sequence, n.shapes, n.saved, n.versions, n.extra = (edge,), next_number(), a.shape, (), None, None
                            t._edge, t._rg = n, True
                    return t
                if dim.__class__ is int and not input._rg and -a.ndim <= dim < a.ndim and a.size <= FEW:
                    r = add(a, dim, keepdims=keepdim)
                    if mean:
                        r = r / (a.shape[dim] or nan)
                    return wrap(r if r.__class__ is ndarray else asarray(r))
        given = others
        for name, value, default in (("dim", dim, None), ("keepdim", keepdim, False), ("dtype", dtype, None), ("out", out, None)):
            if value is not default:
                given[name] = value
        return general(input, **given)

    public.__name__ = public.__qualname__ = rec.name
    public.__doc__ = rec.body.__doc__
    return publish(rec, public)


sum = _publish_full(register(_sum, "sum", method=True, autocast="float32"), SumBackward0, False)
mean = _publish_full(register(_mean, "mean", method=True), MeanBackward0, True)


@op(namespaces=(), method=True)
def sum_to_size(self: Tensor, size: Any = (), *more: int) -> Tensor:
    """The tensor summed to a shape that broadcasts to its own."""
    wanted = sizes(size, more)
    shape = self._a.shape
    lead = len(shape) - len(wanted)
    if lead < 0 or builtins.any(m not in (1, n) for n, m in zip(shape[lead:], wanted)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    return unbroadcast(self, tuple(wanted)) if wanted else self.sum()


@derivative("NansumBackward0")
def NansumBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return expand_reduced(g, node.shape, node.axes, node.keepdim).masked_fill(x.isnan(), 0)


@op(method=True)
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum with NaN counted as zero (see `sum`)."""
    x = check_tensor(input, "nansum")
    if x._a.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if x._a.dtype.kind in "biu":
        return sum(x, dim, keepdim, dtype=dtype)
    if dtype is not None:
        x = promotion.cast(x, dtype)
    a = x._a
    axes = normal_axes(dim, a.ndim)
    return record(of(a).nansum(a, axes, keepdim), NansumBackward, (x,), (x,), shape=a.shape, axes=axes, keepdim=keepdim)


@op(method=True)
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    x = check_tensor(input, "nanmean")
    if x._a.dtype.kind in "biu":
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {title(x)}")
    count = x.isnan().logical_not().sum(dim, keepdim)
    return nansum(x, dim, keepdim, dtype=dtype) / count


# -- products ---------------------------------------------------------------------------------------------------------------


def _product_gradient(g: Tensor, x: Tensor, result: Tensor, dim: int | None) -> Tensor:
    """Each element's gradient is g times the product of the others; without zeros that is result / x."""
    if x._a.size == 0:
        return x.new_zeros(x._a.shape)
    if of(x._a).name == "batched" or bool((x == 0).any()):
        flat = x.reshape(-1) if dim is None else x
        return g * _product_of_others(flat, dim or 0).reshape(x._a.shape).conj()
    return g * (result / x).conj()


def _product_of_others(x: Tensor, dim: int) -> Tensor:
    """For every element along `dim`, the product of all the others."""
    ones = x.new_ones(()).expand([1 if d == dim else n for d, n in enumerate(x._a.shape)])
    length = x._a.shape[dim]
    before = cat((ones, x.narrow(dim, 0, length - 1)), dim).cumprod(dim)
    after = cat((ones, x.narrow(dim, 1, length - 1).flip(dim)), dim).cumprod(dim).flip(dim)
    return before * after


@derivative("ProdBackward0", saves_result=True)
def ProdBackward0(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return _product_gradient(g, x, result, None)


@derivative("ProdBackward1", saves_result=True)
def ProdBackward1(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    if not x._a.ndim:
        return g
    axes = (node.dim,)
    return _product_gradient(stretched(g, x._a.ndim, axes, node.keepdim), x, stretched(result, x._a.ndim, axes, node.keepdim), node.dim)


@op(method=True, autocast="float32")
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The product of all elements, or along the dimension `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
    x = check_tensor(input, "prod")
    if dim is not None and (isinstance(dim, (tuple, list, bool)) or not hasattr(dim, "__index__")):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__} (reduce one dimension after the other)")
    x = accumulating(x, dtype)
    a = x._a
    if dim is None:
        r = of(a).prod(a, None, keepdim)
        return record(r, ProdBackward0, (x,), (x,))
    axis = wrap_dim(dim, a.ndim)
    return record(of(a).prod(a, (axis,) if a.ndim else (), keepdim), ProdBackward1, (x,), (x,), dim=axis, keepdim=keepdim)


# -- logsumexp ----------------------------------------------------------------------------------------------------------------


@derivative("LogsumexpBackward0", saves_result=True)
def LogsumexpBackward(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    g, result = (stretched(t, x._a.ndim, node.axes, node.keepdim) for t in (g, result))
    return g * (x - result).exp().conj()


@op(namespaces=("torch", "special"), method=True, autocast="float32")
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) over the dimensions `dim`, without overflow. Integers are computed in the default dtype."""
    x = check_tensor(input, "logsumexp")
    check_dims(dim, "logsumexp")
    if x._a.dtype.kind in "biu":
        x = promotion.cast(x, promotion.float_dtype(x.dtype))
    a = x._a
    axes = normal_axes(dim, a.ndim)
    return record(of(a).logsumexp(a, axes, keepdim), LogsumexpBackward, (x,), (x,), axes=axes, keepdim=keepdim)


# -- truth and counts -----------------------------------------------------------------------------------------------------------


def _truth(input: Tensor, dim: Any, keepdim: bool, name: str) -> Tensor:
    x = check_tensor(input, name)
    check_dims(dim, name)
    a = x._a
    axes = None if dim is None else wrap_dims(dim, a.ndim) if not isinstance(dim, (tuple, list)) or dim else ()
    r = getattr(of(a), name)(a, axes if a.ndim else None, keepdim)
    t = wrap(np.asarray(r) if isinstance(r, np.generic) else r)
    return promotion.cast(t, dtypes.uint8) if BY_NUMPY[a.dtype] is dtypes.uint8 else t


@op(method=True)
def all(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements are non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
    return _truth(input, dim, keepdim, "all")


@op(method=True)
def any(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element is non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
    return _truth(input, dim, keepdim, "any")


@op(method=True)
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not zero, overall or over the dimensions `dim` (int64)."""
    a = check_tensor(input, "count_nonzero")._a
    check_dims(dim, "count_nonzero")
    return wrap(of(a).count_nonzero(a, normal_axes(dim, a.ndim), False))


# -- trace --------------------------------------------------------------------------------------------------------------------


@derivative("TraceBackward0")
def TraceBackward(node: Any, g: Tensor) -> Tensor:
    rows, columns = node.shape
    on_diagonal = wrap(of(g._a).eye(rows, columns, dtypes.bool_.numpy))
    return g * on_diagonal


@op(method=True)
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal; of integers in int64."""
    x = check_tensor(input, "trace")
    a = x._a
    if a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.ndim}")
    if a.dtype.kind == "b":
        raise NotImplementedError('"trace" not implemented for \'Bool\': convert the tensor to an integer dtype first.')
    r = of(a).sum(of(a).diagonal(a, 0, 0, 1), None, False, _INT64 if a.dtype.kind in "iu" else None)
    return record(r, TraceBackward, (x,), shape=a.shape)
