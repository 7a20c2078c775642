"""Choosing by a mask: filling, picking and placing where it is True, `where`, and the positions of what is not 0."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.indexing import place
from saraph.ops.options import check_number
from saraph.ops.promotion import check_tensor, promoted, unbroadcast
from saraph.ops.registry import op
from saraph.shapes import broadcast_shapes, numel
from saraph.tensor.node import derivative
from saraph.tensor.tensor import PLAIN, Tensor, ndarray, record, unpack, wrap


@derivative("MaskedFillBackward0")
def MaskedFillBackward(node: Any, g: Tensor) -> Any:
    (mask,) = unpack(node)
    gx = unbroadcast(masked_fill(g, mask, 0), node.shape) if node.needs(0) else None
    return gx, ((g * mask.to(g.dtype)).sum() if node.needs(1) else None)


@op(method=True, inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` where the bool `mask` (broadcast) is True."""
    x = check_tensor(input, "masked_fill")
    if check_tensor(mask, "masked_fill", "mask")._a.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {str(mask.dtype).removeprefix('torch.')}")
    filler = value if isinstance(value, Tensor) else None
    if filler is not None and filler._a.ndim:
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {filler._a.ndim} dimension(s).")
    if filler is None or (filler._a.dtype is not x._a.dtype and filler._a.__class__ is ndarray):
        array = of(x._a).scalar(check_number(value if filler is None else filler.item(), x.dtype, "masked_fill", halves=True), x._a.dtype)
    else:
        array = filler._a
    if x._a.shape != mask._a.shape:
        broadcast_shapes(x._a.shape, mask._a.shape, op="masked_fill")
    return record(of(x._a, mask._a).masked_fill(x._a, mask._a, array), MaskedFillBackward, (x, filler), (mask,), shape=x._a.shape)


@derivative("MaskedSelectBackward0")
def MaskedSelectBackward(node: Any, g: Tensor) -> Tensor:
    (mask,) = unpack(node)
    return unbroadcast(masked_scatter(g.new_zeros(node.full), mask, g), node.shape)


@op(method=True, out="apart")
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of `input` where `mask` is True, as a 1-d tensor."""
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype!r}")
    full = broadcast_shapes(input._a.shape, mask._a.shape, op="masked_select")
    return record(of(input._a, mask._a).masked_select(input._a, mask._a), MaskedSelectBackward, (input,), (mask,), shape=input._a.shape, full=full)


@derivative("MaskedScatterBackward0")
def MaskedScatterBackward(node: Any, g: Tensor) -> Any:
    (mask,) = unpack(node)
    gx = unbroadcast(masked_fill(g, mask, 0), node.shape) if node.needs(0) else None
    gs = None
    if node.needs(1):
        picked = masked_select(g, mask)
        gs = place(picked, (numel(node.source_shape),), (slice(0, picked._a.shape[0]),)).reshape(node.source_shape)
    return gx, gs


@op(method=True, inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, in order, where `mask` is True."""
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, got {mask.dtype!r}")
    if source.dtype is not input.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype!r} and {source.dtype!r}")
    full = broadcast_shapes(input._a.shape, mask._a.shape, op="masked_scatter")
    if mask.device.type != "meta":
        needed = int(mask.expand(full).sum())
        if source._a.size < needed:
            raise RuntimeError(f"masked_scatter: expected the source to have at least {needed} elements (the number of ones in the mask), got "
                               f"{source._a.size}")
    return record(of(input._a, mask._a).masked_scatter(input._a, mask._a, source._a), MaskedScatterBackward, (input, source), (mask,),
                  shape=input._a.shape, source_shape=source._a.shape)


@derivative("WhereBackward0")
def WhereBackward(node: Any, g: Tensor) -> Any:
    (condition,) = unpack(node)
    gx = unbroadcast(masked_fill(g, ~condition, 0), node.x_shape) if node.needs(0) else None
    gy = unbroadcast(masked_fill(g, condition, 0), node.y_shape) if node.needs(1) else None
    return gx, gy


@op(out="exact")
def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Tensor | None = None) -> Any:
    """input where condition is True, else other; with the condition alone the positions where it is not 0."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if condition._a.dtype.kind != "b":
        if condition.dtype.name != "uint8":
            raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {str(condition.dtype).removeprefix('torch.')}")
        condition = condition.bool()
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        kind = promotion.result_dtype(input, other)
        x, y = (promotion.scalar_tensor(v, kind, condition._a) for v in (input, other))
    elif input.__class__ in PLAIN and other.__class__ in PLAIN and input._a.dtype is other._a.dtype:
        x, y = input, other
    else:
        x, y = promoted("where", input, other)
    try:
        r = of(condition._a, x._a, y._a).where(condition._a, x._a, y._a)
    except ValueError:
        raise RuntimeError(f"where: the shapes of {describe(condition, x, y)} do not broadcast: The size of tensor a must match the size of tensor b") \
            from None
    if not (x._rg or y._rg):
        return wrap(r)
    return record(r, WhereBackward, (x, y), (condition,), x_shape=x._a.shape, y_shape=y._a.shape)


Tensor.where = lambda self, condition, y=None, *, other=None: where(condition, self, y if y is not None else other) \
    if isinstance(condition, Tensor) and condition._a.dtype.kind == "b" and self._a.dtype.kind != "b" else where(self, condition, y)


@op(method=True, out="exact")
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The positions of elements that are not 0: (count, dims) int64, or a tuple of one vector per dimension."""
    found = of(input._a).nonzero(input._a)
    if not as_tuple:
        return wrap(found)
    if input._a.ndim == 0:
        return nonzero(input.reshape(1), as_tuple=True)
    return tuple(wrap(of(found).copy(of(found).getitem(found, (slice(None), d)))) for d in range(found.shape[1]))


@op(method=True)
def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not 0: (count, dims) int64."""
    return nonzero(input)


@op(method=True, out="exact")
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """`nonzero` with exactly `size` rows: the first ones, or all of them followed by rows of `fill_value`."""
    x = check_tensor(input, "nonzero_static")
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    result = x.new_full((size, x._a.ndim), fill_value, dtype=dtypes.int64)
    if x.device.type != "meta":
        found = nonzero(x)[:size]
        result[: found._a.shape[0]] = found
    return result


@op()
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The positions, one tensor per dimension, of flat positions in a tensor of that shape.

    >>> unravel_index(tensor([5, 11]), (3, 4))
    (tensor([1, 2]), tensor([1, 3]))
    """
    at = check_tensor(indices, "unravel_index", "indices")
    if at._a.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {at.dtype!r}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    found, step = [], 1
    for n in reversed(shape):
        if not n and at._a.size:
            raise RuntimeError(f"ZeroDivisionError: a tensor of shape {list(shape)} has no elements")
        found.append(at.div(step, rounding_mode="floor") % n if n else at.clone())
        step *= n if n else 1
    return tuple(reversed(found))
