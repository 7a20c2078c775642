"""Picking and placing along a dimension: slices by a vector of positions, and single elements by a tensor of positions."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.indexing import ALL, INT64, _placed, place
from saraph.ops.masking import masked_fill, where
from saraph.ops.options import check_number
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, wrap

# -- slices --------------------------------------------------------------------------------------------------------------------


def slice_positions(index: Tensor, size: int, name: str, error: type[Exception] = IndexError) -> Any:
    """A 1-d index as int64, in bounds."""
    a = index._a
    if a.dtype.kind not in "iu" or a.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index (got {index.dtype!r})")
    if a.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector (got {a.ndim} dimensions)")
    backend = of(a)
    if not a.ndim:
        a = backend.getitem(a, (None,))
    low, high = backend.bounds(a)
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise error(f"index {wrong} is out of bounds for dimension 0 with size {size}: index out of range in self ({name})")
    return a if a.dtype == INT64 else backend.cast(a, INT64)


@derivative("IndexSelectBackward0")
def IndexSelectBackward(node: Any, g: Tensor) -> Tensor:
    unpack(node)  # the index: refuses where it was written to since
    return _add_rows(g, node.shape, node.dim, node.index)


@derivative("AddRowsBackward0")
def AddRowsBackward(node: Any, g: Tensor) -> Tensor:
    return _select(g, node.dim, node.index)


def _add_rows(g: Tensor, shape: tuple[int, ...], dim: int, index: Any) -> Tensor:
    return record(of(g._a).add_rows(shape, dim, index, g._a), AddRowsBackward, (g,), dim=dim, index=index)


def _select(x: Tensor, dim: int, index: Any, tensors: tuple[Tensor, ...] = ()) -> Tensor:
    return record(of(x._a).index_select(x._a, dim, index), IndexSelectBackward, (x,), tensors, shape=x._a.shape, dim=dim, index=index)


@op(method=True, out="apart")
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of `input` along `dim` that the 1-d `index` names."""
    x = check_tensor(input, "index_select")
    d = wrap_dim(dim, x._a.ndim)
    if x._a.ndim == 0:
        rows = slice_positions(index, 1, "index_select")
        if rows.shape[0] != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {rows.shape[0]} value(s)")
        return x.clone()
    rows = slice_positions(index, x._a.shape[d], "index_select")
    return _select(x, d, rows, (index,) if rows is index._a else ())


def check_source(name: str, x: Tensor, dim: int, count: int, source: Tensor) -> None:
    """A source has a slice per position, of x's shape but for that dimension."""
    found = source._a.shape or (1,)
    if len(found) <= dim or found[dim] != count:
        error = IndexError if name == "index_copy" else RuntimeError
        raise error(f"{name}_(): Number of indices ({count}) should be equal to source.size(dim) ({found[dim] if dim < len(found) else 1}), for dim: {dim}")
    wanted = x._a.shape
    if len(found) != len(wanted) or found[:dim] + found[dim + 1:] != wanted[:dim] + wanted[dim + 1:]:
        raise RuntimeError(f"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {list(wanted)} "
                           f"source.shape = {list(source._a.shape)} ({name}_(): Source/destination tensor must have same slice shapes)")


@op(method=True, inplace=True, out="exact")
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """input plus alpha times the slices of `source`, added at `index` along `dim`."""
    x = check_tensor(input, "index_add")
    d = wrap_dim(dim, x._a.ndim)
    if source.dtype is not x.dtype:
        raise RuntimeError(f"index_add_(): self ({x.dtype!r}) and source ({source.dtype!r}) must have the same scalar type")
    rows = slice_positions(index, x._a.shape[d] if x._a.ndim else 1, "index_add", RuntimeError)
    if x._a.ndim:
        check_source("index_add", x, d, rows.shape[0], source)
    scaled = source if alpha == 1 else source * promotion.scalar_tensor(alpha, x.dtype, x._a)
    if not x._a.ndim:
        return x + scaled.sum(dtype=x.dtype)
    return x + _add_rows(scaled if scaled._a.ndim else scaled.reshape(1), x._a.shape, d, rows)


@op(method=True, inplace=True, out="exact")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with the slices at `index` along `dim` replaced by those of `source`."""
    x = check_tensor(input, "index_copy")
    d = wrap_dim(dim, x._a.ndim)
    if index._a.dtype != INT64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {dtypes.title(index.dtype)}")
    if source.dtype is not x.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{dtypes.title(x.dtype)} and (source) {dtypes.title(source.dtype)}")
    rows = slice_positions(index, x._a.shape[d] if x._a.ndim else 1, "index_copy")
    if not x._a.ndim:
        return source.reshape(()).clone()
    check_source("index_copy", x, d, rows.shape[0], source)
    return _placed(x, (ALL,) * d + (rows,), source if source._a.ndim else source.reshape(1))


@op(method=True, inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """input with the slices at `index` along `dim` filled with a value."""
    d = wrap_dim(dim, input._a.ndim)
    if isinstance(value, Tensor) and value._a.ndim:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s).")
    size = input._a.shape[d] if input._a.ndim else 1
    rows = wrap(slice_positions(where(index < 0, index + size, index), size, "index_fill"))
    marks = input.new_zeros(size, dtype=dtypes.bool_).index_put((rows,), input.new_ones((), dtype=dtypes.bool_))
    return masked_fill(input, marks.reshape([size if k == d else 1 for k in range(input._a.ndim)]), value)


# -- single elements -----------------------------------------------------------------------------------------------------------


@derivative("GatherBackward0")
def GatherBackward(node: Any, g: Tensor) -> Tensor:
    (index,) = unpack(node)
    r = of(g._a, index._a).add_elements(node.shape, node.dim, index._a, g._a)
    return record(r, ScatterAddBackward, (None, g), (index,), dim=node.dim, value_shape=g._a.shape)


def positions(x: Tensor, dim: int, index: Tensor, name: str, src: Tensor | None = None) -> Any:
    """A tensor of positions as int64, in bounds, and no larger than x and src where it must not be."""
    a, shape = index._a, x._a.shape
    if a.size and (a.dtype.kind not in "iu" or a.dtype.itemsize < 4):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index (got {index.dtype!r})")
    backend = of(a)
    if a.size:
        if a.ndim != len(shape):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor: {name} got "
                               f"{describe(x, index)}")
        if src is not None and src._a.ndim != a.ndim:
            raise RuntimeError(f"Index tensor must have the same number of dimensions as src tensor: {name} got {describe(src, index)}")
        if any(n > m for k, (n, m) in enumerate(zip(a.shape, shape)) if k != dim) or \
                (src is not None and any(n > m for n, m in zip(a.shape, src._a.shape))):
            also = "" if src is None else f" and to be no larger size than src {list(src._a.shape)}"
            raise RuntimeError(f"Expected index {list(a.shape)} to be no larger than self {list(shape)} apart from dimension {dim}{also} (Size does "
                               f"not match in {name})")
        low, high = backend.bounds(a)
        if low < 0 or high >= shape[dim]:
            raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {shape[dim]}")
    return a if a.dtype == INT64 else backend.cast(a, INT64)


@op(method=True, out="apart")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0, and so on; the result has index's shape."""
    x = check_tensor(input, "gather")
    index = check_tensor(index, "gather", "index")
    d = wrap_dim(dim, x._a.ndim)
    if (x._a.ndim == 0 or index._a.ndim == 0) and x._a.ndim + index._a.ndim < 2:
        return gather(x.reshape(-1), 0, index.reshape(-1)).reshape(index._a.shape)
    where_ = positions(x, d, index, "gather")
    return record(of(x._a, where_).gather(x._a, d, where_), GatherBackward, (x,), (index if where_ is index._a else wrap(where_),), shape=x._a.shape, dim=d)


@derivative("ScatterBackward0")
def ScatterBackward(node: Any, g: Tensor) -> Any:
    (index,) = unpack(node)
    gx = g.scatter(node.dim, index, 0) if node.needs(0) else None
    return gx, (_fit(g.gather(node.dim, index), node.value_shape) if node.needs(1) else None)


@derivative("ScatterAddBackward0")
def ScatterAddBackward(node: Any, g: Tensor) -> Any:
    (index,) = unpack(node)
    return g, (_fit(g.gather(node.dim, index), node.value_shape) if node.needs(1) else None)


def _fit(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A gradient of the part of a source that was used, zeros elsewhere."""
    if g._a.shape == shape:
        return g
    return place(g, shape, tuple(slice(0, n) for n in g._a.shape))


@derivative("NotImplemented")
def MultiplyBackward(node: Any, g: Tensor) -> Any:
    """PyTorch has no derivative here, and its newer op does."""
    raise RuntimeError("derivative for aten::scatter is not implemented with reduce='multiply': use scatter_reduce(dim, index, src, reduce='prod')")


_MODES = {None: ("set", ScatterBackward), "add": ("add", ScatterAddBackward), "multiply": ("multiply", MultiplyBackward)}


@op(method=True, inplace=True, out="exact")
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None,
            out: Tensor | None = None) -> Tensor:
    """A copy with src[i][j] at [index[i][j]][j] (dim 0, and so on); `reduce` ("add", "multiply") combines instead."""
    x = check_tensor(input, "scatter")
    index = check_tensor(index, "scatter", "index")
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter() missing 1 required argument: 'src' (a tensor or a number)")
    if reduce not in _MODES:
        raise RuntimeError(f"reduce argument must be either add or multiply. (got {reduce})")
    if isinstance(src, Tensor) and src.dtype is not x.dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype (got {x.dtype!r} and {src.dtype!r})")
    if x._a.ndim == 0 or (index._a.ndim == 0 and x._a.ndim == 1):
        flat = scatter(x.reshape(-1), 0, index.reshape(-1), src.reshape(-1) if isinstance(src, Tensor) else src, reduce=reduce)
        return flat.reshape(x._a.shape)
    d = wrap_dim(dim, x._a.ndim)
    mode, cls = _MODES[reduce]
    source = src if isinstance(src, Tensor) else None
    where_ = positions(x, d, index, "scatter", source)
    values = source._a if source is not None else of(x._a).scalar(check_number(src, x.dtype, "scatter"), x._a.dtype)
    return record(of(x._a, where_).scatter(x._a, d, where_, values, mode), cls, (x, source), (index if where_ is index._a else wrap(where_),), dim=d,
                  value_shape=values.shape)


@op(method=True, inplace=True, out="exact")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy with src[i][j] added at [index[i][j]][j] (dim 0, and so on)."""
    if not isinstance(src, Tensor):
        raise TypeError(f"scatter_add(): argument 'src' (position 3) must be Tensor, not {type(src).__name__}")
    return scatter(input, dim, index, src, reduce="add")


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
