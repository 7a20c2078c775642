"""Sorting, selection of the largest, different elements, and searching in sorted tensors.

Sorts are stable, and NaN counts as larger than every number.
"""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion, return_types
from saraph.ops.extremes import at_indices, record_selected, selecting
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import title
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record_many, unpack, wrap

# -- sorting --------------------------------------------------------------------------------------------------------------------


@derivative("SortBackward0")
def SortBackward(node: Any, g: Tensor | None, _: Any) -> Tensor | None:
    """Each gradient goes back to where its value was."""
    (indices,) = unpack(node)
    return None if g is None else at_indices(g, node.dim, indices, node.shape, True)


def _sortable(input: Any, name: str) -> Tensor:
    x = check_tensor(input, name)
    if x._a.dtype.kind == "c":
        raise RuntimeError(f"Sort does not support complex dtypes on CPU ({name} of {describe(x)}): take abs() or .real first.")
    return x


def _flag(value: Any, name: str, argument: str) -> bool:
    if not isinstance(value, bool) and value is not None:
        raise TypeError(f"{name}(): argument '{argument}' must be bool, not {type(value).__name__}")
    return bool(value)


def _dim(value: Any, rank: int, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(value).__name__}")
    return wrap_dim(value, rank)


@op(method=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None, out: Any = None) -> Any:
    """The elements along `dim` in order, and where they were: a named tuple (values, indices). Equal elements always keep their order.

    Example: `tensor([3., 1., 2.]).sort().indices` is `tensor([1, 2, 0])`.
    """
    x = _sortable(input, "sort")
    axis = _dim(dim, x._a.ndim, "sort")
    _flag(stable, "sort", "stable")
    found = of(x._a).sort(x._a, axis, _flag(descending, "sort", "descending"))
    return return_types.sort(record_many(found, SortBackward, (x,), differentiable=(0,), save_results=(1,), dim=axis, shape=x._a.shape))


@op(method=True)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False, out: Tensor | None = None) -> Tensor:
    """The positions that sort the elements along `dim` (see `sort`)."""
    x = _sortable(input, "argsort")
    _flag(stable, "argsort", "stable")
    return wrap(of(x._a).argsort(x._a, _dim(dim, x._a.ndim, "argsort"), _flag(descending, "argsort", "descending")))


@op(method=True)
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in ascending order along the first dimension."""
    return sort(input, 0)[0]


TopkBackward = selecting("TopkBackward0")


@op(method=True)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """The k largest (or smallest) elements along `dim`, best first, and where they are: a named tuple (values, indices)."""
    x = check_tensor(input, "topk")
    axis = _dim(dim, x._a.ndim, "topk")
    if isinstance(k, Tensor):
        k = int(k)
    length = x._a.shape[axis] if x._a.ndim else 1
    if not 0 <= k <= length:
        raise RuntimeError(f"selected index k out of range: topk(k={k}, dim={dim}) of {describe(x)}")
    if x._a.dtype.kind in "bc":
        raise RuntimeError(f"topk does not support {'bool' if x._a.dtype.kind == 'b' else 'complex'} dtypes on CPU")
    found = of(x._a).topk(x._a, k, axis, _flag(largest, "topk", "largest"))
    return record_selected(found, TopkBackward, x, axis, True, return_types.topk)


# -- different elements -----------------------------------------------------------------------------------------------------------


def _no_derivative(node: Any, *grads: Any) -> Tensor:
    """Raises PyTorch's error: the number of different elements has no derivative."""
    name = {"Unique2Backward0": "_unique2"}.get(node.name(), "unique_consecutive")
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


UniqueBackward = derivative("Unique2Backward0", outputs=3)(_no_derivative)
UniqueConsecutiveBackward = derivative("UniqueConsecutiveBackward0", outputs=3)(_no_derivative)


def _different(input: Any, dim: int | None, return_inverse: bool, return_counts: bool, name: str, cls: type) -> Any:
    x = check_tensor(input, name)
    a = x._a
    if a.dtype.kind == "c":
        raise NotImplementedError(f'"unique" not implemented for \'{title(x)}\': take view_as_real() and a dim first.')
    axis = None
    if dim is not None:
        axis = _dim(dim, a.ndim, name)
        if a.ndim == 0:
            axis = None
        elif any(n == 0 for d, n in enumerate(a.shape) if d != axis):
            raise RuntimeError(f"There are 0 sized dimensions, and they aren't selected, so unique cannot be applied (dim={dim} of {describe(x)})")
    results = record_many(getattr(of(a), name)(a, axis), cls, (x,))
    wanted = (results[0], *((results[1],) if return_inverse else ()), *((results[2],) if return_counts else ()))
    return wanted if len(wanted) > 1 else wanted[0]


@op(method=True)
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The different elements in ascending order, or the different slices along `dim`; every NaN counts as another one.

    With `return_inverse` also which of them each element is, with `return_counts` also how often each occurs: then a tuple is returned.
    """
    return _different(input, dim, return_inverse, return_counts, "unique", UniqueBackward)


@op(method=True)
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The first of each run of equal elements, or of equal slices along `dim` (flags as in `unique`)."""
    return _different(input, dim, return_inverse, return_counts, "unique_consecutive", UniqueConsecutiveBackward)


# -- searching ----------------------------------------------------------------------------------------------------------------------


def _check_side(right: bool, side: str | None, name: str) -> bool:
    if side is None:
        return bool(right)
    if side not in ("left", "right"):
        raise RuntimeError(f"torch.{name}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(f"torch.{name}(): side and right can't be set to opposites, got side of left while right was True")
    return side == "right"


def _check_sorter(edges: Tensor, sorter: Tensor) -> None:
    if sorter._a.shape != edges._a.shape:
        raise RuntimeError(f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(edges._a.shape)} "
                           f"and got sorter tensor {list(sorter._a.shape)}")
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {title(sorter)}")
    if sorter._a.size and (int(sorter.min()) < 0 or int(sorter.max()) >= edges._a.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


@op()
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
                 sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """Where each value of `input` (a tensor or a number) would go into the last dimension of `sorted_sequence` so that it stays sorted.

    `sorted_sequence` has one dimension, or the leading ones of `input`. Equal elements stay behind it, or (`right`) in front of it.
    `sorter` holds the positions that sort `sorted_sequence`.
    """
    edges = check_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    right = _check_side(right, side, "searchsorted")
    values = promotion.scalar_tensor(input, dtypes.of_scalar(input), edges._a) if is_number(input) else check_tensor(input, "searchsorted")
    if not edges._a.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if not values._a.ndim and edges._a.ndim != 1:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
                           f"tensor dim({edges._a.ndim}) and input value's dim(0) numel(1)")
    if edges._a.ndim != 1 and edges._a.shape[:-1] != values._a.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
                           f"value tensor must match, but we got boundaries tensor {list(edges._a.shape)} and input value tensor "
                           f"{list(values._a.shape)}")
    if sorter is not None:
        _check_sorter(edges, sorter)
        edges = edges.gather(-1, sorter)
    kind = dtypes.int32 if out_int32 else dtypes.int64
    return wrap(of(edges._a, values._a).searchsorted(edges._a, values._a, right, kind.numpy))


@op()
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Tensor | None = None) -> Tensor:
    """The number of the bucket (between two of the sorted 1-d `boundaries`) that each value is in; `right`: buckets include their left end."""
    edges = check_tensor(boundaries, "bucketize", "boundaries")
    if edges._a.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({edges._a.ndim})")
    return searchsorted(edges, input, out_int32=out_int32, right=right)


@op()
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False, out: Tensor | None = None) -> Tensor:
    """Which of `elements` occur among `test_elements` (with `invert`: do not); one of the two may be a number."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin(): at least one of 'elements' and 'test_elements' must be Tensor")
    x, tests = promotion.promoted("isin", elements, test_elements)
    for operand in (elements, test_elements):
        if isinstance(operand, Tensor) and operand._a.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {title(operand)}")
    found = wrap(of(x._a, tests._a).isin(x._a, tests._a))
    return found.logical_not() if invert else found


__all__ = ["argsort", "bucketize", "isin", "msort", "searchsorted", "sort", "topk", "unique", "unique_consecutive"]
