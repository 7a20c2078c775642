"""Reductions over segments of a dimension."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.reduce import title
from saraph.ops.registry import op
from saraph.ops.sort import searchsorted
from saraph.tensor.tensor import Tensor, wrap

_SCATTER = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0), "max": ("amax", float("-inf")), "min": ("amin", float("inf"))}


def _bounds(data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool) -> Tensor:
    """Where the segments begin, and where the last one ends, along the last dimension."""
    given = lengths if lengths is not None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name = "lengths" if lengths is not None else "offsets"
    if given._a.dtype.kind not in "iu":
        raise NotImplementedError(f'"segment_reduce" not implemented for {name} of type \'{title(given)}\': they must be integers.')
    if axis != given._a.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given._a.shape[:-1] != data._a.shape[:axis]:
        raise RuntimeError(f"segment_reduce(): {name} {describe(given)} must have the leading dimensions of data {describe(data)}")
    if lengths is None:
        return given
    if not unsafe:
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if bool((lengths.sum(-1) != data._a.shape[axis]).any()):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.")
    return cat((lengths.new_zeros((*lengths._a.shape[:-1], 1)), lengths.cumsum(-1)), -1)


@op(aliases=("_segment_reduce",))
def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None,
                   axis: int = 0, unsafe: bool = False, initial: Any = None) -> Tensor:
    """The sum, mean, prod, max or min of consecutive segments along `axis`.

    The segments are given by their `lengths`, or by `offsets` (where each begins, and where the last one ends); these may have data's leading
    dimensions. `initial` takes part in every segment. Without it an empty one gives 0 (sum), 1 (prod), NaN (mean), -inf (max), inf (min).
    """
    x = check_tensor(data, "segment_reduce", "data")
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if reduce not in _SCATTER:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if x.dtype.category != 2:
        raise NotImplementedError(f'"_segment_reduce_cpu" not implemented for \'{title(x)}\': segment_reduce works on floating point tensors.')
    axis = axis + x._a.ndim if axis < 0 else axis
    bounds = _bounds(x, lengths, offsets, axis, unsafe)
    count, length = bounds._a.shape[-1] - 1, x._a.shape[axis]
    lead, rest = x._a.shape[:axis], x._a.shape[axis + 1:]
    positions = wrap(of(x._a).arange(0, 1, length, dtypes.int64.numpy)).expand((*lead, length)).contiguous()
    number = searchsorted(bounds.contiguous(), positions, right=True) - 1
    number = number.masked_fill((number < 0) | (number >= count), count)  # outside every segment: a place of its own, dropped below
    kind, neutral = _SCATTER[reduce]
    start = x.new_full((*lead, count + 1, *rest), neutral if initial is None else initial)
    target = number.reshape((*lead, length, *(1,) * len(rest))).expand(x._a.shape)
    result = start.scatter_reduce(axis, target, x, kind).narrow(axis, 0, count)
    if reduce != "mean":
        return result
    lengths = (bounds.narrow(-1, 1, count) - bounds.narrow(-1, 0, count)).reshape((*lead, count, *(1,) * len(rest)))
    empty = lengths == 0
    means = result / lengths.masked_fill(empty, 1)
    return means.masked_fill(empty, float("nan")) if initial is None else means
