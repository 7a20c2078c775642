"""Indexing: `x[...]` and `x[...] = v` in every form, and the named ops that pick and place elements."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.inplace import check_writable, update
from saraph.ops.options import check_number
from saraph.ops.promotion import check_tensor, is_number, promoted, unbroadcast
from saraph.ops.registry import method, op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import Tensor, bump, ndarray, plain_view, record, view_of, wrap

BASIC = frozenset({int, slice, type(None), type(Ellipsis)})

# -- x[...] ------------------------------------------------------------------------------------------------------------------


@derivative("SliceBackward0")
def SliceBackward(node: Any, g: Tensor) -> Tensor:
    return place(g, node.shape, node.index)


@derivative("PlaceBackward0")
def PlaceBackward(node: Any, g: Tensor) -> Tensor:
    return basic(g, node.index)


def place(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    """Zeros of that shape with g at a basic index."""
    backend = of(g._a)
    r = backend.full(shape, 0, g._a.dtype)
    backend.copy_into(backend.getitem(r, index), g._a)
    return record(r, PlaceBackward, (g,), index=index)


@derivative("IndexBackward0")
def IndexBackward(node: Any, g: Tensor) -> Tensor:
    return _accumulated(g, node.shape, node.index)


@derivative("AccumulateIndexBackward0")
def AccumulateIndexBackward(node: Any, g: Tensor) -> Tensor:
    return advanced(g, node.index)


def _accumulated(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    backend = of(g._a)
    r = backend.put_index(backend.full(shape, 0, g._a.dtype), index, g._a, True)
    return record(r, AccumulateIndexBackward, (g,), index=index)


def basic(x: Tensor, index: Any) -> Tensor:
    """A view by ints, slices, None and Ellipsis."""
    a = x._a
    try:
        r = a[index] if a.__class__ is ndarray else of(a).getitem(a, index)
    except IndexError as error:
        raise _index_error(error, a, index) from None
    if r.__class__ is not ndarray and a.__class__ is ndarray:
        r = a[(*index, ...) if index.__class__ is tuple else (index, ...)]
    t = plain_view(x, r)
    return t if t is not None else view_of(x, r, SliceBackward, shape=a.shape, index=index)


def _index_error(error: IndexError, a: Any, index: Any) -> IndexError:
    text = str(error)
    if "too many indices" in text:
        if a.ndim == 0:
            return IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
                              "tensor to a number")
        return IndexError(f"too many indices for tensor of dimension {a.ndim}")
    if "out of bounds" in text:
        words = text.split()
        return IndexError(f"index {words[1]} is out of bounds for dimension {words[8] if 'axis' in text else 0} with size {words[-1]}")
    if "ellipsis" in text:
        return IndexError("an index can only have a single ellipsis ('...')")
    return IndexError(text)


def advanced(x: Tensor, index: tuple) -> Tensor:
    """A copy by arrays of positions (already normal: see `normal_index`)."""
    try:
        r = of(x._a).take_index(x._a, index)
    except IndexError as error:
        raise _advanced_error(error, x, index) from None
    return record(r, IndexBackward, (x,), shape=x._a.shape, index=index)


def _advanced_error(error: IndexError, x: Tensor, index: tuple) -> IndexError:
    text = str(error)
    if "shape mismatch" in text:
        shapes = ", ".join(str(list(i.shape)) for i in index if isinstance(i, ndarray))
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    return _index_error(error, x._a, index)


def normal_index(x: Tensor, index: Any) -> tuple[bool, Any]:
    """(is it basic?, the index as NumPy takes it): tensors and sequences become int64 or bool arrays, slices are checked."""
    items = list(index) if index.__class__ is tuple else [index]
    found: list[Any] = []
    plain = True
    for item in items:
        kind = item.__class__
        if kind is int or item is None or item is Ellipsis:
            found.append(item)
        elif kind is slice:
            found.append(_slice(item))
        elif kind is bool or kind is np.bool_:
            found.append(np.asarray(bool(item)))
            plain = False
        elif isinstance(item, Tensor):
            array = _index_array(item)
            found.append(array)
            plain = plain and array.__class__ is int
        elif isinstance(item, (list, tuple, range, np.ndarray)):
            found.append(_sequence_array(item))
            plain = False
        elif hasattr(item, "__index__"):
            found.append(operator.index(item))
        else:
            raise TypeError(f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {kind.__name__})")
    if not plain:
        _check_masks(x, found)
    return plain, tuple(found)


def _slice(item: slice) -> slice:
    values = []
    for v in (item.start, item.stop, item.step):
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
    a = item._a
    if a.dtype.kind not in "biu":
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors (got {item.dtype!r})")
    if a.__class__ is not ndarray:
        return a
    if a.dtype == np.uint8:
        return a.astype(bool)
    return a if a.dtype.kind == "b" else a.astype(np.int64, copy=False)


def _sequence_array(item: Any) -> np.ndarray:
    if isinstance(item, (list, tuple)) and any(isinstance(v, Tensor) for v in item):
        item = [v.tolist() if isinstance(v, Tensor) else v for v in item]
    array = np.asarray(item)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu":
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors (got {array.dtype})")
    return array if array.dtype.kind == "b" else array.astype(np.int64, copy=False)


def _check_masks(x: Tensor, items: list[Any]) -> None:
    """A mask must have the size of the dimensions it stands for."""
    shape, used = x._a.shape, sum(i.ndim if isinstance(i, ndarray) and i.dtype.kind == "b" else (i is not None and i is not Ellipsis) for i in items)
    dim = 0
    for item in items:
        if item is Ellipsis:
            dim += len(shape) - used
        elif isinstance(item, ndarray) and item.dtype.kind == "b":
            for k, n in enumerate(item.shape):
                if dim + k >= len(shape):
                    raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
                if shape[dim + k] != n:
                    raise IndexError(f"The shape of the mask {list(item.shape)} at index {k} does not match the shape of the indexed tensor "
                                     f"{list(shape)} at index {dim + k}")
            dim += item.ndim
        elif item is not None:
            dim += 1


@method("__getitem__")
def _getitem_general(self: Tensor, index: Any) -> Tensor:
    plain, index = normal_index(self, index)
    return basic(self, index) if plain else advanced(self, index)


def _getitem(self: Tensor, index: Any) -> Tensor:
    """x[index]: a view for ints, slices, None and Ellipsis; a copy for tensors, masks and lists."""
    kind = index.__class__
    if kind is int or (kind is slice and (index.step is None or index.step.__class__ is int and index.step > 0)):
        if not state.active:
            return basic(self, index)
    return _getitem_general(self, index)


Tensor.__getitem__ = _getitem


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, converted and broadcast; autograd follows."""
    if not state.active and not (self._rg and thread.grad) and self._a.__class__ is ndarray and index.__class__ in BASIC \
            and value.__class__ in (int, float) and self._a.dtype.kind in "fiu" and not (value.__class__ is float and self._a.dtype.kind != "f") \
            and not (index.__class__ is slice and index.step is not None):
        try:
            self._a[index] = value
        except (IndexError, OverflowError, ValueError):
            _setitem_general(self, index, value)
            return
        bump(self)
        return
    _setitem_general(self, index, value)


@method("__setitem__")
def _setitem_general(self: Tensor, index: Any, value: Any) -> None:
    plain, index = normal_index(self, index)
    if not isinstance(value, Tensor):
        value = _value(self, value)
    elif value._a.dtype != self._a.dtype:
        value = promotion.cast(value, self.dtype)
    if plain:
        view = basic(self, index)
        _assign(view, value, self)
        return
    update(self, "__setitem__", lambda x: _placed(x, index, value), (), {})


Tensor.__setitem__ = _setitem


def _value(x: Tensor, value: Any) -> Tensor:
    if is_number(value):
        return promotion.scalar_tensor(value, x.dtype, x._a)
    if isinstance(value, (np.ndarray, list, tuple)):
        return wrap(np.asarray([v.item() if isinstance(v, Tensor) else v for v in value] if not isinstance(value, np.ndarray) else value
                               ).astype(x._a.dtype))
    raise TypeError(f"can't assign a {type(value).__name__} to a {x.dtype!r} tensor")


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
    if thread.grad and (owner._rg or value._rg):
        update(view, "__setitem__", lambda x: value.clone(), (), {})
        return
    check_writable(view, "__setitem__")
    of(view._a).copy_into(view._a, value._a)
    bump(view)


@derivative("IndexPutBackward0")
def IndexPutBackward(node: Any, g: Tensor) -> Any:
    gx = gv = None
    if node.needs(0):
        gx = g if node.accumulate else _placed(g, node.index, g.new_zeros(()))
    if node.needs(1):
        gv = unbroadcast(advanced(g, node.index), node.value_shape)
    return gx, gv


def _placed(x: Tensor, index: tuple, value: Tensor, accumulate: bool = False) -> Tensor:
    try:
        r = of(x._a).put_index(x._a, index, value._a, accumulate)
    except IndexError as error:
        raise _advanced_error(error, x, index) from None
    except ValueError as error:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast to indexing result ({error})") from None
    return record(r, IndexPutBackward, (x, value), index=index, accumulate=accumulate, value_shape=value._a.shape)


@op(method=True, inplace=True)
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` at (or, with accumulate, added to) input[indices]."""
    if values.dtype is not input.dtype:
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {input.dtype!r} for the destination and {values.dtype!r} "
                           "for the source.")
    _, index = normal_index(input, tuple(slice(None) if i is None else i for i in indices))
    return _placed(input, index, values, accumulate)


# -- along a dimension ---------------------------------------------------------------------------------------------------------


def _rows(index: Tensor, size: int, name: str) -> Any:
    """A 1-d index as int64, in bounds."""
    a = index._a
    if a.dtype.kind not in "iu" or a.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index (got {index.dtype!r})")
    if a.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector (got {a.ndim} dimensions)")
    a = a.reshape(-1).astype(np.int64, copy=False) if a.__class__ is ndarray else a
    if a.__class__ is ndarray and a.size and (a.min() < 0 or a.max() >= size):
        raise IndexError(f"index out of range in self: {name} got an index of {int(a.max() if a.max() >= size else a.min())} for a dimension of size {size}")
    return a


@derivative("IndexSelectBackward0")
def IndexSelectBackward(node: Any, g: Tensor) -> Tensor:
    return _add_rows(g, node.shape, node.dim, node.index)


@derivative("AddRowsBackward0")
def AddRowsBackward(node: Any, g: Tensor) -> Tensor:
    return _select(g, node.dim, node.index)


def _add_rows(g: Tensor, shape: tuple[int, ...], dim: int, index: Any) -> Tensor:
    return record(of(g._a).add_rows(shape, dim, index, g._a), AddRowsBackward, (g,), dim=dim, index=index)


def _select(x: Tensor, dim: int, index: Any) -> Tensor:
    return record(of(x._a).index_select(x._a, dim, index), IndexSelectBackward, (x,), shape=x._a.shape, dim=dim, index=index)


@op(method=True)
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of `input` along `dim` that the 1-d `index` names."""
    x = check_tensor(input, "index_select")
    d = wrap_dim(dim, x._a.ndim)
    if x._a.ndim == 0:
        _rows(index, 1, "index_select")
        return x.clone()
    return _select(x, d, _rows(index, x._a.shape[d], "index_select"))


@op(method=True, inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """input plus alpha times the slices of `source`, added at `index` along `dim`."""
    d = wrap_dim(dim, input._a.ndim)
    if source.dtype is not input.dtype:
        raise RuntimeError(f"index_add_(): self ({input.dtype!r}) and source ({source.dtype!r}) must have the same scalar type")
    scaled = source if alpha == 1 and alpha.__class__ is int else source * alpha
    if input._a.ndim == 0:
        return input + scaled.reshape(())
    rows = _rows(index, input._a.shape[d], "index_add")
    if source._a.ndim == 0:
        scaled = scaled.reshape(1)
    if scaled._a.shape[d] != rows.shape[0]:
        raise RuntimeError(f"index_add_(): Number of indices ({rows.shape[0]}) should be equal to source.size(dim): ({scaled._a.shape[d]}), for dim: {dim}")
    return input + _add_rows(scaled, input._a.shape, d, rows)


@op(method=True, inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with the slices at `index` along `dim` replaced by those of `source`."""
    d = wrap_dim(dim, input._a.ndim)
    if input._a.ndim == 0:
        return source.reshape(()).clone()
    place_ = (slice(None),) * d + (_rows(index, input._a.shape[d], "index_copy"),)
    return _placed(input, place_, source.reshape(1) if source._a.ndim == 0 else source)


@op(method=True, inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """input with the slices at `index` along `dim` filled with a value."""
    d = wrap_dim(dim, input._a.ndim)
    if isinstance(value, Tensor) and value._a.ndim:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s).")
    size = input._a.shape[d] if input._a.ndim else 1
    a = index._a
    rows = np.where(a < 0, a + size, a) if a.__class__ is ndarray else a
    rows = wrap(_rows(wrap(np.atleast_1d(rows)), size, "index_fill"))
    marks = input.new_zeros(size, dtype=dtypes.bool_).index_put((rows,), input.new_ones((), dtype=dtypes.bool_))
    return masked_fill(input, marks.reshape([size if k == d else 1 for k in range(input._a.ndim)]), value)


@derivative("GatherBackward0")
def GatherBackward(node: Any, g: Tensor) -> Tensor:
    return g.new_zeros(node.shape).scatter_add(node.dim, wrap(node.index), g)


def positions(x: Tensor, dim: int, index: Tensor, name: str) -> Any:
    a = index._a
    if a.dtype.kind not in "iu" or a.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int64 for index (got {index.dtype!r})")
    if a.ndim != x._a.ndim and not (a.ndim <= 1 and x._a.ndim <= 1) and a.size:
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor: {name} got "
                           f"{describe(x, index)}")
    if a.__class__ is ndarray and a.size:
        size = x._a.shape[dim] if x._a.ndim else 1
        low, high = int(a.min()), int(a.max())
        if low < 0 or high >= size:
            raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}")
    return a.astype(np.int64, copy=False) if a.__class__ is ndarray else a


@op(method=True)
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0, and so on; the result has index's shape."""
    x = check_tensor(input, "gather")
    d = wrap_dim(dim, x._a.ndim)
    where_ = positions(x, d, index, "gather")
    if x._a.ndim == 0 or where_.ndim == 0:
        flat = x.reshape(-1)
        return gather(flat, 0, index.reshape(-1)).reshape(index.shape)
    for k, (n, m) in enumerate(zip(where_.shape, x._a.shape)):
        if k != d and n > m:
            raise RuntimeError(f"Size does not match at dimension {k} expected index {list(where_.shape)} to be no larger than self {list(x._a.shape)} "
                               f"apart from dimension {d}")
    return record(of(x._a).gather(x._a, d, where_), GatherBackward, (x,), shape=x._a.shape, dim=d, index=where_)


@derivative("ScatterBackward0")
def ScatterBackward(node: Any, g: Tensor) -> Any:
    index = wrap(node.index)
    gx = g.scatter(node.dim, index, 0) if node.needs(0) else None
    return gx, (_fit(g.gather(node.dim, index), node.value_shape) if node.needs(1) else None)


@derivative("ScatterAddBackward0")
def ScatterAddBackward(node: Any, g: Tensor) -> Any:
    return g, (_fit(g.gather(node.dim, wrap(node.index)), node.value_shape) if node.needs(1) else None)


def _fit(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A gradient of the part of a source that was used, zeros elsewhere."""
    if g._a.shape == shape:
        return g
    return place(g, shape, tuple(slice(0, n) for n in g._a.shape))


@op(method=True, inplace=True)
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None,
            out: Tensor | None = None) -> Tensor:
    """A copy with src[i][j] at [index[i][j]][j] (dim 0, and so on); `reduce` ("add", "multiply") combines instead."""
    src = value if src is None else src
    if reduce is not None and reduce not in ("add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply. (got {reduce})")
    x = input
    if x._a.ndim == 0 or index._a.ndim == 0:
        flat = scatter(x.reshape(-1), 0, index.reshape(-1), src.reshape(-1) if isinstance(src, Tensor) else src, reduce=reduce)
        return flat.reshape(x._a.shape)
    d = wrap_dim(dim, x._a.ndim)
    where_ = positions(x, d, index, "scatter")
    mode = {None: "set", "add": "add", "multiply": "multiply"}[reduce]
    if not isinstance(src, Tensor):
        filler = of(x._a).scalar(src, x._a.dtype)
        return record(of(x._a).scatter(x._a, d, where_, filler, mode), ScatterBackward if mode == "set" else ScatterAddBackward, (x, None), dim=d,
                      index=where_)
    if src.dtype is not x.dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype (got {x.dtype!r} and {src.dtype!r})")
    return record(of(x._a).scatter(x._a, d, where_, src._a, mode), ScatterBackward if mode == "set" else ScatterAddBackward, (x, src), dim=d,
                  index=where_, value_shape=src._a.shape)


@op(method=True, inplace=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy with src[i][j] added at [index[i][j]][j] (dim 0, and so on)."""
    return scatter(input, dim, index, src, reduce="add")


# -- by mask ---------------------------------------------------------------------------------------------------------------------


@derivative("MaskedFillBackward0")
def MaskedFillBackward(node: Any, g: Tensor) -> Any:
    mask = wrap(node.mask)
    gx = unbroadcast(masked_fill(g, mask, 0), node.shape) if node.needs(0) else None
    return gx, ((g * mask.to(g.dtype)).sum() if node.needs(1) else None)


@op(method=True, inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` where the bool `mask` (broadcast) is True."""
    x = check_tensor(input, "masked_fill")
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {str(mask.dtype).removeprefix('torch.')}")
    filler = value if isinstance(value, Tensor) else None
    if filler is not None and filler._a.ndim:
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {filler._a.ndim} dimension(s).")
    if filler is None or (filler._a.dtype is not x._a.dtype and filler._a.__class__ is ndarray):
        array = of(x._a).scalar(check_number(value if filler is None else filler.item(), x.dtype, "masked_fill", halves=True), x._a.dtype)
    else:
        array = filler._a
    return record(of(x._a, mask._a).masked_fill(x._a, mask._a, array), MaskedFillBackward, (x, filler), mask=mask._a, shape=x._a.shape)


@derivative("MaskedSelectBackward0")
def MaskedSelectBackward(node: Any, g: Tensor) -> Tensor:
    mask = wrap(node.mask)
    return unbroadcast(masked_scatter(g.new_zeros(node.full), mask, g), node.shape)


@op(method=True)
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of `input` where `mask` is True, as a 1-d tensor."""
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype!r}")
    full = np.broadcast_shapes(input._a.shape, mask._a.shape)
    return record(of(input._a).masked_select(input._a, mask._a), MaskedSelectBackward, (input,), mask=mask._a, shape=input._a.shape, full=full)


@derivative("MaskedScatterBackward0")
def MaskedScatterBackward(node: Any, g: Tensor) -> Any:
    mask = wrap(node.mask)
    gx = unbroadcast(masked_fill(g, mask, 0), node.shape) if node.needs(0) else None
    gs = None
    if node.needs(1):
        picked = masked_select(g, mask)
        count = 1
        for n in node.source_shape:
            count *= n
        gs = place(picked, (count,), (slice(0, picked._a.shape[0]),)).reshape(node.source_shape)
    return gx, gs


@op(method=True, inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, in order, where `mask` is True."""
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, got {mask.dtype!r}")
    if source.dtype is not input.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype!r} and {source.dtype!r}")
    needed = int(np.broadcast_to(mask._a, np.broadcast_shapes(mask._a.shape, input._a.shape)).sum())
    if source._a.size < needed:
        raise RuntimeError(f"masked_scatter: expected the source to have at least {needed} elements, got {source._a.size}")
    return record(of(input._a).masked_scatter(input._a, mask._a, source._a), MaskedScatterBackward, (input, source), mask=mask._a,
                  shape=input._a.shape, source_shape=source._a.shape)


@derivative("WhereBackward0")
def WhereBackward(node: Any, g: Tensor) -> Any:
    condition = wrap(node.condition)
    gx = unbroadcast(masked_fill(g, ~condition, 0), node.x_shape) if node.needs(0) else None
    gy = unbroadcast(masked_fill(g, condition, 0), node.y_shape) if node.needs(1) else None
    return gx, gy


@op()
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
    else:
        x, y = promoted("where", input, other)
    try:
        r = of(condition._a, x._a, y._a).where(condition._a, x._a, y._a)
    except ValueError:
        raise RuntimeError(f"where: the shapes of {describe(condition, x, y)} do not broadcast: The size of tensor a must match the size of tensor b") \
            from None
    return record(r, WhereBackward, (x, y), condition=condition._a, x_shape=x._a.shape, y_shape=y._a.shape)


Tensor.where = lambda self, condition, y=None, *, other=None: where(condition, self, y if y is not None else other) \
    if isinstance(condition, Tensor) and condition._a.dtype.kind == "b" and self._a.dtype.kind != "b" else where(self, condition, y)


@op(method=True)
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The positions of elements that are not 0: (count, dims) int64, or a tuple of one vector per dimension."""
    found = of(input._a).nonzero(input._a)
    if not as_tuple:
        return wrap(found)
    if input._a.ndim == 0:
        return nonzero(input.reshape(1), as_tuple=True)
    return tuple(wrap(np.ascontiguousarray(found[:, d])) for d in range(found.shape[1]))


@op(method=True)
def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not 0: (count, dims) int64."""
    return nonzero(input)


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
    return basic(input, (slice(None),) * d + (i,))


@op(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The view of `length` positions of a dimension, from `start`."""
    rank = input._a.ndim
    if rank == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    d, first = wrap_dim(dim, rank), operator.index(start)
    size = input._a.shape[d]
    if not -size <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    first += size if first < 0 else 0
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return basic(input, (slice(None),) * d + (slice(first, first + length),))


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


@op(namespaces=("nn.functional",))
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """(*) class numbers -> (*, classes) int64 with a single 1 each."""
    if tensor.dtype.name != "int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return tensor.new_zeros((*tensor.shape, num_classes))
    if int(tensor.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif num_classes <= int(tensor.max()):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return tensor.new_zeros((*tensor.shape, num_classes)).scatter(-1, tensor.unsqueeze(-1), 1)
