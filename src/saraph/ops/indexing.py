"""Indexing: `x[...]` and `x[...] = v` in every form, and the views that an index makes.

An index is taken apart from left to right. Integers, slices, None, Ellipsis and zero-dim integer tensors make a view of x; index tensors,
masks, lists and bools then pick from that view. `split_index` does the taking apart; both halves are what the backend understands.
"""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from saraph import dtypes
from saraph.backends import cpu, of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.conversion import TYPE_NAMES
from saraph.ops.filling import copy
from saraph.ops.inplace import check_distinct, check_writable, update
from saraph.ops.options import check_number
from saraph.ops.promotion import is_number, unbroadcast
from saraph.ops.registry import method, op
from saraph.shapes import wrap_dim
from saraph.tensor.node import Node, derivative
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import Tensor, View, bump, ndarray, needs_grad, plain_view, record, unpack, view_of, wrap

ALL = slice(None)
_LARGE = 1 << 15  # bytes from which the backend may have something quicker than NumPy
INT64, BOOL = dtypes.int64.numpy, dtypes.bool_.numpy

# -- the derivatives of reading ----------------------------------------------------------------------------------------------


def place(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    """Zeros of that shape with g at a basic index."""
    backend = of(g._a)
    r = backend.full(shape, 0, g._a.dtype)
    backend.copy_into(backend.getitem(r, index), g._a)
    return record(r, PlaceBackward, (g,), index=index)


def _placed_back(node: Any, g: Tensor) -> Tensor:
    return place(g, node.shape, node.index)


SliceBackward = derivative("SliceBackward0")(_placed_back)
SelectBackward = derivative("SelectBackward0")(_placed_back)
UnsqueezeBackward = derivative("UnsqueezeBackward0")(_placed_back)
AliasBackward = derivative("AliasBackward0")(_placed_back)


@derivative("PlaceBackward0")
def PlaceBackward(node: Any, g: Tensor) -> Tensor:
    return basic(g, node.index)


@derivative("IndexBackward0")
def IndexBackward(node: Any, g: Tensor) -> Tensor:
    unpack(node)  # the index tensors: refuses where they were written to since
    return _accumulated(g, node.shape, node.index)


@derivative("AccumulateIndexBackward0")
def AccumulateIndexBackward(node: Any, g: Tensor) -> Tensor:
    return advanced(g, node.index)


def _accumulated(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    backend = of(g._a)
    r = backend.put_index(backend.full(shape, 0, g._a.dtype), index, g._a, True)
    return record(r, AccumulateIndexBackward, (g,), index=index)


# -- the two ways of reading ---------------------------------------------------------------------------------------------------


def basic(x: Tensor, index: Any) -> Tensor:
    """A view by ints, slices, None and Ellipsis."""
    a = x._a
    try:
        r = a[index] if a.__class__ is ndarray else of(a).getitem(a, index)
    except IndexError as error:
        raise _index_error(error, a) from None
    if r.__class__ is not ndarray and a.__class__ is ndarray:
        r = a[(*index, ...) if index.__class__ is tuple else (index, ...)]
    t = plain_view(x, r)
    return t if t is not None else view_of(x, r, _node_class(a.shape, index), shape=a.shape, index=index)


def _node_class(shape: tuple[int, ...], index: Any) -> type[Node]:
    """The class of a view's node: named, as PyTorch's, after the last step that changed anything (a slice written as the whole does not)."""
    found, dim = AliasBackward, 0
    items = index if index.__class__ is tuple else (index,)
    for k, item in enumerate(items):
        if item is None:
            found = UnsqueezeBackward
        elif item is Ellipsis:
            dim = len(shape) - sum(i is not None for i in items[k + 1:])
        elif item.__class__ is slice:
            if index.__class__ is slice or item.start or (item.stop is not None and item.stop < shape[dim]) or item.step not in (None, 1):
                found = SliceBackward
            dim += 1
        else:
            found = SelectBackward
            dim += 1
    return found


def _index_error(error: IndexError, a: Any) -> Exception:
    text = str(error)
    if "only integers" in text:
        return ValueError("Overflow when unpacking long long: an index needs more than 64 bits")
    if "too many indices" in text:
        return _too_many(a)
    if "out of bounds" in text:
        words = text.split()
        return IndexError(f"index {words[1]} is out of bounds for dimension {words[8] if 'axis' in text else 0} with size {words[-1]}")
    return IndexError(text)


def _too_many(a: Any) -> IndexError:
    if a.ndim == 0:
        return IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
                          "tensor to a number")
    return IndexError(f"too many indices for tensor of dimension {a.ndim}")


def advanced(x: Tensor, index: tuple, tensors: tuple[Tensor, ...] = ()) -> Tensor:
    """A copy by arrays of positions and masks (from `split_index`); `tensors` are those that the index came from."""
    if any(i.__class__ not in (slice, ndarray) and i.dtype == BOOL for i in index):
        raise NotImplementedError("the result of indexing by a mask depends on its values, which a meta tensor does not have")
    try:
        r = of(x._a, *index).take_index(x._a, index)
    except IndexError as error:
        raise _advanced_error(error, x, index) from None
    return record(r, IndexBackward, (x,), tensors, shape=x._a.shape, index=index)


def _advanced_error(error: IndexError, x: Tensor, index: tuple) -> Exception:
    if "shape mismatch" in str(error):
        shapes = ", ".join(str(list(i.shape)) for i in index if i.__class__ is not slice)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    return _index_error(error, x._a)


# -- taking an index apart -----------------------------------------------------------------------------------------------------


def split_index(x: Tensor, index: Any) -> tuple[tuple | None, tuple | None, tuple[Tensor, ...]]:
    """(the index that makes a view or None, the index that picks from the view or None, the tensors in it)."""
    items, tensors, used = [], [], 0
    for item in index if index.__class__ is tuple or _is_many(index) else (index,):
        item = _normal_item(item)
        if isinstance(item, Tensor):
            array = _index_array(item)
            if array is item._a:
                tensors.append(item)
            item = array
        if item is not None and item is not Ellipsis and item.__class__ is not bool:
            used += item.ndim if item.__class__ is not int and item.__class__ is not slice and item.dtype == BOOL else 1
        items.append(item)
    shape = x._a.shape
    rest = len(shape) - used
    if rest < 0:
        raise _too_many(x._a)
    views: list[Any] = []
    places: list[Any] = []
    dim, changed, picked = 0, False, False
    for item in items:
        if item.__class__ is int:
            views.append(item)
            dim, changed = dim + 1, True
        elif item.__class__ is slice:
            views.append(item)
            places.append(ALL)
            dim, changed = dim + 1, changed or item != ALL
        elif item is None:
            views.append(None)
            places.append(ALL)
            changed = True
        elif item is Ellipsis:
            count = min(rest, len(shape) - dim)  # a second Ellipsis may stand at the end
            views += [ALL] * count
            places += [ALL] * count
            dim += count
        elif item.__class__ is bool or (item.ndim == 0 and item.dtype == BOOL):
            views.append(None)
            places.append(of().index_of([item]) if item.__class__ is bool else of(item).getitem(item, (None,)))
            changed = picked = True
        else:
            rank = item.ndim if item.dtype == BOOL else 1
            if item.dtype == BOOL:
                _check_mask(item, shape, dim)
            views += [ALL] * rank
            places.append(item)
            dim, picked = dim + rank, True
    return (tuple(views) if changed or not picked else None), (tuple(places) if picked else None), tuple(tensors)


def _is_many(index: Any) -> bool:
    """Whether a list stands for a tuple of indices, as it does for PyTorch: short, and with more than numbers in it."""
    return index.__class__ is list and len(index) < 32 and any(
        item is None or item is Ellipsis or isinstance(item, (Tensor, list, tuple, slice, ndarray)) for item in index)


def _normal_item(item: Any) -> Any:
    """An int, slice, None, Ellipsis, bool, array, or a Tensor of positions or a mask."""
    kind = item.__class__
    if kind is int or item is None or item is Ellipsis or kind is bool:
        return item
    if kind is slice:
        return _slice(item)
    if isinstance(item, Tensor):
        if not item._a.ndim and item._a.dtype.kind in "iu" and item._a.dtype != dtypes.uint8.numpy:
            return int(item)
        return item
    if isinstance(item, (list, tuple, range, ndarray)):
        if not isinstance(item, ndarray):
            item = [v.tolist() if isinstance(v, Tensor) else v for v in item]
        return of().index_of(item)
    if hasattr(item, "__index__"):
        try:
            return operator.index(item)
        except TypeError:  # NumPy's bool has the method, and refuses
            raise _not_an_index(item) from None
    raise _not_an_index(item)


def _not_an_index(item: Any) -> IndexError:
    return IndexError(f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(item).__name__})")


def _slice(item: slice) -> slice:
    step = item.step
    if step is None and (item.start is None or item.start.__class__ is int) and (item.stop is None or item.stop.__class__ is int):
        return item
    values = []
    for v in (item.start, item.stop, step):
        if v is None or v.__class__ is int:
            values.append(v)
        elif isinstance(v, Tensor) or hasattr(v, "__index__"):
            values.append(operator.index(v))
        else:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    if values[2] is not None and values[2] <= 0:
        raise ValueError("step must be greater than zero (a tensor cannot be sliced backwards: use .flip())")
    return slice(*values)


def _index_array(item: Tensor) -> Any:
    """A tensor's array as int64 or bool."""
    a = item._a
    if a.dtype == INT64 or a.dtype == BOOL:
        return a
    if a.dtype == dtypes.uint8.numpy:
        return of(a).cast(a, BOOL)
    if a.dtype != dtypes.int32.numpy:
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors (got {item.dtype!r})")
    return of(a).cast(a, INT64)


def _check_mask(mask: Any, shape: tuple[int, ...], dim: int) -> None:
    """A mask must have the size of the dimensions it stands for."""
    for k, n in enumerate(mask.shape):
        if shape[dim + k] != n:
            raise IndexError(f"The shape of the mask {list(mask.shape)} at index {k} does not match the shape of the indexed tensor "
                             f"{list(shape)} at index {dim + k}")


# -- x[...] ------------------------------------------------------------------------------------------------------------------------


@method("__getitem__")
def _getitem_general(self: Tensor, index: Any) -> Tensor:
    if index.__class__ is slice:
        return basic(self, _slice(index))
    views, places, tensors = split_index(self, index)
    x = self if views is None else basic(self, views)
    return x if places is None else advanced(x, places, tensors)


def _getitem(self: Tensor, index: Any) -> Tensor:
    """x[index]: a view for ints, slices, None and Ellipsis; a copy for tensors, masks and lists."""
    if not state.active:
        kind = index.__class__
        if kind is int or (kind is slice and (index.step is None or index.step.__class__ is int and index.step > 0)) or (
                kind is tuple and _is_plain(index)):
            return basic(self, index)
        where = None if self._rg or self._a.__class__ is not ndarray else _direct(self._a, index)
        if where is not None:
            try:
                return wrap(self._a[where] if self._a.nbytes < _LARGE else cpu.take_index(self._a, where))
            except IndexError as error:
                raise _advanced_error(error, self, where if where.__class__ is tuple else (where,)) from None
    return _getitem_general(self, index)


def _is_plain(items: tuple) -> bool:
    """Whether NumPy makes the same view of an index as PyTorch, as it stands."""
    ellipses = 0
    for item in items:
        kind = item.__class__
        if kind is slice:
            if item.step is not None or not (item.start is None or item.start.__class__ is int) or not (
                    item.stop is None or item.stop.__class__ is int):
                return False
        elif item is Ellipsis:
            ellipses += 1
        elif kind is not int and item is not None:
            return False
    return ellipses < 2


def _direct(a: Any, index: Any) -> Any:
    """An index that picks from `a` in NumPy as in PyTorch, as it stands: a mask of a's shape, or int64 positions among whole slices; else None."""
    kind = index.__class__
    if kind is Tensor:
        i = index._a
        return i if i.__class__ is ndarray and (i.dtype == BOOL and i.shape == a.shape or i.dtype == INT64 and i.ndim > 0 < a.ndim) else None
    if kind is not tuple:
        return None
    found = []
    for item in index:
        if item.__class__ is Tensor:
            item = item._a
            if item.__class__ is not ndarray or item.dtype != INT64 or not item.ndim:
                return None
        elif item.__class__ is not slice or item != ALL:
            return None
        found.append(item)
    return tuple(found) if len(found) <= a.ndim else None


Tensor.__getitem__ = _getitem  # type: ignore[method-assign,assignment]


# -- x[...] = v --------------------------------------------------------------------------------------------------------------------


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, converted and broadcast; autograd follows."""
    a = self._a
    if not state.active and not (self._rg and thread.grad) and a.__class__ is ndarray and self._view.__class__ is not View and 0 not in a.strides:
        kind = index.__class__
        if kind is int or (kind is slice and index.step is None) or (kind is tuple and _is_plain(index)):
            where = index
        else:
            where = _direct(a, index)
        what = _as_written(a, value) if where is not None else None
        if what is not None:
            try:
                a[where] = what
            except (IndexError, OverflowError, ValueError):  # the long way says what is wrong, or converts
                _setitem_general(self, index, value)
                return
            bump(self)
            return
    _setitem_general(self, index, value)


def _as_written(a: Any, value: Any) -> Any:
    """What NumPy can write into `a` as PyTorch would: a number of the same kind or an array of the same dtype; else None."""
    kind = value.__class__
    if kind is float:
        return value if a.dtype.kind == "f" and (a.dtype.itemsize == 8 or -3e38 < value < 3e38) else None
    if kind is int:
        return value if a.dtype.kind in "fiu" else None
    if kind is Tensor and value._a.__class__ is ndarray and value._a.dtype == a.dtype and not (value._rg and thread.grad):
        return value._a
    return None


@method("__setitem__")
def _setitem_general(self: Tensor, index: Any, value: Any) -> None:
    views, places, tensors = split_index(self, index)
    if not isinstance(value, Tensor):
        value = _value(self, value)
    elif value._a.dtype != self._a.dtype:
        if places is not None and not (value._a.size == 1 and any(i.__class__ is not slice and i.dtype == BOOL for i in places)):
            _check_same(self, value)
        value = promotion.cast(value, self.dtype)
    target = self if views is None else basic(self, views)
    if places is None:
        _assign(target, value, self)
    else:
        _write_at(target, places, value, tensors)


Tensor.__setitem__ = _setitem  # type: ignore[method-assign,assignment]


def _value(x: Tensor, value: Any) -> Tensor:
    if not is_number(value):
        raise TypeError(f"can't assign a {_class_name(value)} to a torch.{TYPE_NAMES.get(x.dtype.name, x.dtype.name)} (make it a tensor first)")
    if hasattr(value, "item"):
        value = value.item()
    if value.__class__ is int and not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"Overflow when unpacking long long: {value} needs more than 64 bits")
    return promotion.scalar_tensor(check_number(value, x.dtype, "x[...] = value"), x.dtype, x._a)


def _class_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _assign(view: Tensor, value: Tensor, owner: Tensor) -> None:
    """view[...] = value."""
    shape = view._a.shape
    while value._a.ndim > len(shape) and value._a.shape[0] == 1:
        value = value.squeeze(0)
    if value._a.shape != shape:
        try:
            value = value.expand(shape)
        except RuntimeError:
            raise RuntimeError(f"The expanded size of the tensor must match the existing size: cannot assign {describe(value)} to a part of shape "
                               f"{list(shape)} of {describe(owner)}") from None
    if thread.grad and (needs_grad(owner) or needs_grad(value)):
        update(view, "__setitem__", copy.__wrapped__, (value,), {})  # type: ignore[attr-defined]  # the body, without modes
        return
    check_writable(view, "__setitem__")
    check_distinct(view._a, "x[...] = value")
    of(view._a).copy_into(view._a, value._a)
    bump(view)


def _write_at(x: Tensor, index: tuple, value: Tensor, tensors: tuple[Tensor, ...]) -> None:
    """x[index] = value for an index of arrays."""
    if thread.grad and (needs_grad(x) or needs_grad(value)):
        update(x, "index_put_", lambda before: _placed(before, index, value, False, tensors), (), {})
        return
    check_writable(x, "index_put_")
    try:
        of(x._a, *index).write_index(x._a, index, value._a)
    except (IndexError, ValueError) as error:
        raise _placing_error(error, x, index, value) from None
    bump(x)


@derivative("IndexPutBackward0")
def IndexPutBackward(node: Any, g: Tensor) -> Any:
    unpack(node)  # the index tensors: refuses where they were written to since
    gx = gv = None
    if node.needs(0):
        gx = g if node.accumulate else _placed(g, node.index, g.new_zeros(()))
    if node.needs(1):
        gv = unbroadcast(advanced(g, node.index), node.value_shape)
    return gx, gv


def _placed(x: Tensor, index: tuple, value: Tensor, accumulate: bool = False, tensors: tuple[Tensor, ...] = ()) -> Tensor:
    try:
        r = of(x._a, *index).put_index(x._a, index, value._a, accumulate)
    except (IndexError, ValueError) as error:
        raise _placing_error(error, x, index, value) from None
    return record(r, IndexPutBackward, (x, value), tensors, index=index, accumulate=accumulate, value_shape=value._a.shape)


def _placing_error(error: Exception, x: Tensor, index: tuple, value: Tensor) -> Exception:
    if isinstance(error, IndexError):
        return _advanced_error(error, x, index)
    return RuntimeError(f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast to indexing result of shape "
                        f"{list(of(x._a).take_index(x._a, index).shape)}")


def _check_same(x: Tensor, value: Tensor) -> None:
    if value._a.dtype != x._a.dtype:
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {dtypes.title(x.dtype)} for the destination and "
                           f"{dtypes.title(value.dtype)} for the source. Convert the values with .to({x.dtype!r}).")


@op(method=True, inplace=True)
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` at (or, with accumulate, added to) input[indices]; `indices` holds a tensor per dimension."""
    for k, item in enumerate(indices):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(item).__name__}")
    _check_same(input, values)
    arrays, dim = tuple(_index_array(i) for i in indices), 0
    for a in arrays:
        rank = a.ndim if a.dtype == BOOL else 1
        if dim + rank > input._a.ndim:
            raise _too_many(input._a)
        if a.dtype == BOOL:
            _check_mask(a, input._a.shape, dim)
        dim += rank
    return _placed(input, arrays, values, accumulate, tuple(indices))


# -- named views -------------------------------------------------------------------------------------------------------------------


@op(method=True)
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The view at one position of a dimension, which is dropped."""
    rank = input._a.ndim
    if rank == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = wrap_dim(dim, rank), operator.index(index)
    size = input._a.shape[d]
    if not -size <= i < size:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(input._a.shape)} at dimension {d}")
    return basic(input, (ALL,) * d + (i,))


@op(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The view of `length` positions of a dimension, from `start`."""
    rank = input._a.ndim
    if rank == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start._a.ndim or start._a.dtype.kind not in "iu"):
        raise RuntimeError(f"start must be an 0-dim integral Tensor. (narrow() got {describe(start)})")
    d, first = wrap_dim(dim, rank), operator.index(start)
    size = input._a.shape[d]
    if not -size <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    first += size if first < 0 else 0
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return basic(input, (ALL,) * d + (slice(first, first + length),))


@derivative("DiagonalBackward0")
def DiagonalBackward(node: Any, g: Tensor) -> Tensor:
    backend = of(g._a)
    r = backend.full(node.shape, 0, g._a.dtype)
    backend.copy_into(backend.diagonal(r, node.offset, node.dim1, node.dim2), g._a)
    return record(r, DiagonalPlaceBackward, (g,), offset=node.offset, dim1=node.dim1, dim2=node.dim2)


@derivative("DiagonalPlaceBackward0")
def DiagonalPlaceBackward(node: Any, g: Tensor) -> Tensor:
    return diagonal(g, node.offset, node.dim1, node.dim2)


@op(method=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The view of a diagonal of two dimensions, which becomes the last dimension."""
    a = input._a
    d1, d2 = wrap_dim(dim1, a.ndim), wrap_dim(dim2, a.ndim)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view_of(input, of(a).diagonal(a, offset, d1, d2), DiagonalBackward, shape=a.shape, offset=offset, dim1=d1, dim2=d2)
