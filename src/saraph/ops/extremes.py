"""Largest and smallest elements, and where they are. NaN counts as both.

Gradients: `max(dim)` and its kin give everything to the element they point at; `amax`, `amin`, `aminmax` and the full `max()` share it evenly
among equal elements.
"""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import return_types
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import check_dims, normal_axes, stretched, title
from saraph.ops.registry import op
from saraph.shapes import wrap_dim, wrap_dims
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many, unpack, wrap

INT64 = dtypes.int64.numpy


def check_not_empty(a: Any, dim: Any, name: str) -> None:
    """Errors for reductions without an identity over nothing."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if a.size == 0:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
                               f"argument. (The input has shape {list(a.shape)}.)")
        return
    for d in wrap_dims(dim, a.ndim):
        if a.ndim and a.shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size. (The input has shape {list(a.shape)}.)")


def refuse_complex(x: Tensor, name: str) -> None:
    """NotImplementedError (a RuntimeError): complex numbers have no order."""
    if x._a.dtype.kind == "c":
        raise NotImplementedError(f'"{name}" not implemented for \'{title(x)}\': {name}() does not support complex input. Take abs() or .real first.')


# -- gradients --------------------------------------------------------------------------------------------------------------------


def shared_evenly(g: Tensor, x: Tensor, result: Tensor, axes: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """g divided among the elements of x that equal the result (or are NaN where it is)."""
    rank = x._a.ndim
    g, result = stretched(g, rank, axes, keepdim), stretched(result.detach(), rank, axes, keepdim)
    chosen = (x.detach() == result) | (x.detach().isnan() & result.isnan())
    count = chosen.sum() if axes is None else chosen.sum(axes, keepdim=True)
    return (g / count) * chosen


def at_indices(g: Tensor, dim: int, indices: Tensor, shape: tuple[int, ...], keepdim: bool) -> Tensor:
    """Zeros of that shape with g at the indices along `dim`."""
    if not shape:
        return g
    if not keepdim:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(shape).scatter(dim, indices, g)


def selecting(name: str) -> type:
    """The node of an op that picks elements along a dimension and returns (values, indices); recorded with dim, shape and keepdim."""

    @derivative(name)
    def formula(node: Any, g: Tensor | None, *_: Any) -> Tensor | None:
        (indices,) = unpack(node)
        return None if g is None else at_indices(g, node.dim, indices, node.shape, node.keepdim)

    return formula


def record_selected(found: Any, cls: type, x: Tensor, dim: int, keepdim: bool, result: type) -> Any:
    """The named tuple (values, indices) of an op that selects along `dim`."""
    return result(record_many(found, cls, (x,), differentiable=(0,), save_results=(1,), dim=dim, keepdim=keepdim, shape=x._a.shape))


# -- amax, amin, aminmax -------------------------------------------------------------------------------------------------------------


@derivative("AmaxBackward0", saves_result=True)
def AmaxBackward(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return shared_evenly(g, x, result, node.axes, node.keepdim)


@derivative("AminBackward0", saves_result=True)
def AminBackward(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return shared_evenly(g, x, result, node.axes, node.keepdim)


def _extreme(input: Any, dim: Any, keepdim: bool, name: str, cls: type) -> Tensor:
    x = check_tensor(input, name)
    check_dims(dim, name)
    a = x._a
    axes = normal_axes(dim, a.ndim)
    check_not_empty(a, dim, name)
    refuse_complex(x, name)
    return record(getattr(of(a), name)(a, axes, keepdim), cls, (x,), (x,), axes=axes, keepdim=keepdim)


@op(method=True)
def amax(input: Tensor, dim: Any = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
    return _extreme(input, dim, keepdim, "amax", AmaxBackward)


@op(method=True)
def amin(input: Tensor, dim: Any = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
    return _extreme(input, dim, keepdim, "amin", AminBackward)


@derivative("AminmaxBackward0")
def AminmaxBackward(node: Any, g_min: Tensor | None, g_max: Tensor | None) -> Tensor | None:
    x, low, high = unpack(node)
    parts = [shared_evenly(g, x, result, node.axes, node.keepdim) for g, result in ((g_min, low), (g_max, high)) if g is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1] if parts else None


@op(method=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
    """The smallest and the largest element, of all or along `dim`, as a named tuple (min, max)."""
    x = check_tensor(input, "aminmax")
    a = x._a
    if dim is None and a.size == 0:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity. "
                           f"(The input has shape {list(a.shape)}.)")
    axes = None if dim is None else normal_axes(wrap_dim(dim, a.ndim), a.ndim)
    check_not_empty(a, dim, "aminmax")
    refuse_complex(x, "aminmax")
    found = of(a).amin(a, axes, keepdim), of(a).amax(a, axes, keepdim)
    return return_types.aminmax(record_many(found, AminmaxBackward, (x,), (x,), save_results=(0, 1), axes=axes, keepdim=keepdim))


# -- max, min ------------------------------------------------------------------------------------------------------------------------


MaxBackward0, MinBackward0 = selecting("MaxBackward0"), selecting("MinBackward0")


@derivative("MaxBackward1", saves_result=True)
def MaxBackward1(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return shared_evenly(g, x, result, None, False)


@derivative("MinBackward1", saves_result=True)
def MinBackward1(node: Any, g: Tensor) -> Tensor:
    x, result = unpack(node)
    return shared_evenly(g, x, result, None, False)


def _one_of_three(name: str, input: Any, dim: Any, keepdim: bool, other: Any) -> Any:
    """max and min: of two tensors, of all elements, or along a dimension."""
    x = check_tensor(input, name)
    if other is None and isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        if dim is not None:
            raise TypeError(f"{name}() takes `other` or `dim`, not both")
        return getattr(x, name + "imum")(check_tensor(other, name, "other"))
    a, backend = x._a, of(x._a)
    if dim is None:
        check_not_empty(a, None, name)
        refuse_complex(x, name)
        return record(getattr(backend, "a" + name)(a, None, False), MaxBackward1 if name == "max" else MinBackward1, (x,), (x,))
    if is_number(dim) and not hasattr(dim, "__index__") or isinstance(dim, (bool, tuple, list)):
        raise TypeError(f"{name}() received an invalid combination of arguments: dim must be an int, got {type(dim).__name__} "
                        f"(a{name}() reduces several dimensions)")
    axis = wrap_dim(dim, a.ndim)
    check_not_empty(a, axis, name)
    refuse_complex(x, name)
    cls, result = (MaxBackward0, return_types.max) if name == "max" else (MinBackward0, return_types.min)
    if not a.ndim:
        found = backend.copy(a), backend.full((), 0, INT64)
    else:
        found = getattr(backend, name + "_with_index")(a, axis, keepdim)
    return record_selected(found, cls, x, axis, keepdim, result)


@op(method=True)
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The largest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `maximum(input, other)`.

    NaN is larger than everything. Example: `tensor([1., 3., 2.]).max(0).indices` is `tensor(1)`.
    """
    return _one_of_three("max", input, dim, keepdim, other)


@op(method=True)
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The smallest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `minimum(input, other)`.

    NaN is smaller than everything. Example: `tensor([2., 1., 3.]).min(0).indices` is `tensor(1)`.
    """
    return _one_of_three("min", input, dim, keepdim, other)


# -- argmax, argmin --------------------------------------------------------------------------------------------------------------------


def _position(input: Any, dim: int | None, keepdim: bool, name: str) -> Tensor:
    x = check_tensor(input, name)
    a = x._a
    if dim is None and a.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    axis = None if dim is None else wrap_dim(dim, a.ndim)
    check_not_empty(a, axis, name)
    if a.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
    if a.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    return wrap(getattr(of(a), name)(a, axis if a.ndim else None, keepdim))


@op(method=True)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the (first) largest element is: along `dim`, or in the flattened tensor."""
    return _position(input, dim, keepdim, "argmax")


@op(method=True)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the (first) smallest element is: along `dim`, or in the flattened tensor."""
    return _position(input, dim, keepdim, "argmin")


__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "check_not_empty", "max", "min"]
