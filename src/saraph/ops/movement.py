"""Views and rearrangements: reshape, transpose, expand, select, cat ... Views share memory with their input.

`regenerate` and `Geometry` (lent to the tensor room) describe a view of a base by shape, strides and offset, which is how a view
finds its history again after its base was written to.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from saraph.backends import cpu, of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.inplace import check_distinct, put_out
from saraph.ops.promotion import check_tensor, unbroadcast
from saraph.ops.registry import OPS, op, publish, register, standard_public
from saraph.shapes import infer_shape, wrap_dim, wrap_dims
from saraph.tensor.node import Node, derivative
from saraph.tensor.state import state, upper
from saraph.tensor.tensor import Tensor, make_node, ndarray, plain_view, record, view_of


def sizes(first: Any, rest: tuple[Any, ...]) -> tuple[int, ...]:
    """The ints of `f(2, 3)` or `f((2, 3))`."""
    if first.__class__ is int and not rest:
        return (first,)
    values = (first, *rest) if rest or not isinstance(first, (tuple, list)) else first
    return tuple([v if v.__class__ is int else _index(v) for v in values])


def _index(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected sizes and dims to be ints, got {type(value).__name__}")
    return value.__index__()


# -- shape -----------------------------------------------------------------------------------------------------------------


@derivative("ViewBackward0")
def ViewBackward(node: Any, g: Tensor) -> Tensor:
    return g.reshape(node.shape)


@derivative("ReshapeAliasBackward0")
def ReshapeAliasBackward(node: Any, g: Tensor) -> Tensor:
    return g.reshape(node.shape)


@derivative("UnsafeViewBackward0")
def UnsafeViewBackward(node: Any, g: Tensor) -> Tensor:
    return g.reshape(node.shape)


@op(namespaces=(), method=True)
def view(self: Tensor, *shape: Any, **keywords: Any) -> Tensor:
    """The tensor with another shape (one size may be -1) over the same memory, or, given a dtype, its bytes read as that dtype.

    RuntimeError where the strides do not allow it: use `reshape`, which copies then.
    """
    a = self._a
    if not keywords and a.__class__ is ndarray:
        try:
            r = a.reshape(*shape, copy=False)
        except (TypeError, ValueError):
            pass  # a dtype, or a shape that does not fit: below it is said why
        else:
            t = plain_view(self, r)
            return t if t is not None else view_of(self, r, ViewBackward, shape=a.shape)
    if "dtype" in keywords or (len(shape) == 1 and shape[0].__class__.__name__ == "dtype"):
        return view_dtype(self, keywords.get("dtype", shape[0] if shape else None))
    if "size" in keywords:
        shape = (keywords["size"],)
    if not shape:
        raise TypeError("view() takes a shape or a dtype")
    wanted = infer_shape(sizes(shape[0], shape[1:]), a.size)
    try:
        r = of(a).reshape_view(a, wanted)
    except ValueError:
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
            f"subspaces): cannot view {list(a.shape)} (strides {list(self.stride())}) as {list(wanted)}. Use .reshape(...) instead.") from None
    return view_of(self, r, ViewBackward, shape=a.shape)


def view_dtype(x: Tensor, kind: Any) -> Tensor:
    """x's bytes read as another dtype; the last dimension shrinks or grows with the item size."""
    a = x._a
    size, new = a.dtype.itemsize, kind.numpy.itemsize
    if size != new:
        if a.ndim == 0:
            raise RuntimeError("self.dim() cannot be 0 to view a tensor of another item size as " + repr(kind))
        if a.strides[-1] != size and a.shape[-1] > 1:
            raise RuntimeError(f"self.stride(-1) must be 1 to view {x.dtype!r} as {kind!r} (different element sizes), "
                               f"but got {a.strides[-1] // size}")
        if new > size and a.shape[-1] * size % new:
            raise RuntimeError(f"self.size(-1) must be divisible by {new // size} to view {x.dtype!r} as {kind!r} (different element sizes), "
                               f"but got {a.shape[-1]}")
    return view_of(x, of(a).reinterpret(a, kind.numpy), None, replay=lambda base: view_dtype(base, kind))


@op(method=True)
def reshape(input: Tensor, shape: Any, *more: int) -> Tensor:
    """`input` with another shape (one size may be -1): a view where the strides allow it, a copy otherwise."""
    a = check_tensor(input, "reshape")._a
    wanted = infer_shape(sizes(shape, more), a.size)
    backend = of(a)
    try:
        r = backend.reshape_view(a, wanted)
    except ValueError:
        return record(backend.reshape_view(backend.copy(a, "C"), wanted), UnsafeViewBackward, (input,), shape=a.shape)
    return view_of(input, r, ViewBackward, shape=a.shape)


@derivative("TransposeBackward0")
def TransposeBackward(node: Any, g: Tensor) -> Tensor:
    return g.transpose(node.dim0, node.dim1)


@op(method=True, inplace=False, aliases=("swapdims",))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions swapped."""
    a = check_tensor(input, "transpose")._a
    rank = a.ndim
    if a.__class__ is ndarray and dim0.__class__ is int and dim1.__class__ is int and -rank <= dim0 < rank and -rank <= dim1 < rank:
        t = plain_view(input, a.swapaxes(dim0, dim1))
        if t is not None:
            return t
    dim0, dim1 = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    axes = list(range(rank))
    if rank:
        axes[dim0], axes[dim1] = dim1, dim0
    return view_of(input, of(a).transpose(a, tuple(axes)), TransposeBackward, dim0=dim0, dim1=dim1)


@op(method=True)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose(input, axis0, axis1)`."""
    return transpose(input, axis0, axis1)


@derivative("PermuteBackward0")
def PermuteBackward(node: Any, g: Tensor) -> Tensor:
    axes = node.axes
    inverse = [0] * len(axes)
    for i, d in enumerate(axes):
        inverse[d] = i
    return g.permute(inverse)


@op(method=True)
def permute(input: Tensor, dims: Any, *more: int) -> Tensor:
    """A view with the dimensions in another order."""
    a = check_tensor(input, "permute")._a
    order = (dims, *more) if more else sizes(dims, more)
    if a.__class__ is ndarray:
        try:
            r = a.transpose(order)
        except (TypeError, ValueError):
            order = sizes(dims, more)  # not a permutation: below it is said why
        else:
            t = plain_view(input, r)
            if t is not None:
                return t
    if len(order) != a.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
                           f"dimensions i.e. input.dim() = {a.ndim} is not equal to len(dims) = {len(order)}".replace("(sparse_coo)", ""))
    rank = a.ndim
    axes = tuple([d if 0 <= d < rank else wrap_dim(d, rank) for d in order])
    if len(set(axes)) != rank:
        raise RuntimeError(f"permute(): duplicate dims are not allowed: {order}")
    t = plain_view(input, of(a).transpose(a, axes))
    return t if t is not None else view_of(input, of(a).transpose(a, axes), PermuteBackward, axes=axes)


_ALL = slice(None)
_NEW_AXIS = (None, (_ALL, None), (_ALL, _ALL, None), (_ALL, _ALL, _ALL, None))  # indices that put an axis in at 0, 1, 2, 3


@derivative("UnsqueezeBackward0")
def UnsqueezeBackward(node: Any, g: Tensor) -> Tensor:
    return g.squeeze(node.dim)


@op(method=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a dimension of size 1 put in at `dim`."""
    a = check_tensor(input, "unsqueeze")._a
    rank = a.ndim
    if not (dim.__class__ is int and 0 <= dim <= rank):
        dim = wrap_dim(dim, rank + 1)
    index = _NEW_AXIS[dim] if dim < 4 else (slice(None),) * dim + (None,)
    t = plain_view(input, a[index] if a.__class__ is ndarray else of(a).getitem(a, index))
    if t is not None:
        return t
    return view_of(input, of(a).getitem(a, (slice(None),) * dim + (None,)), UnsqueezeBackward, dim=dim)


@derivative("SqueezeBackward1")
def SqueezeBackward(node: Any, g: Tensor) -> Tensor:
    return g.reshape(node.shape)


@op(method=True)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """A view without dimensions of size 1: all of them, or those among `dim` (an int or a tuple)."""
    a = check_tensor(input, "squeeze")._a
    rank, shape = a.ndim, a.shape
    if dim.__class__ is int and a.__class__ is ndarray and 0 <= dim < rank and shape[dim] == 1:
        t = plain_view(input, a.squeeze(dim))
        if t is not None:
            return t
    if dim.__class__ is int and rank:
        dims: Any = (dim if 0 <= dim < rank else wrap_dim(dim, rank),)
    else:
        dims = range(rank) if dim is None else wrap_dims(dim, rank)
    index = tuple([0 if n == 1 and d in dims else slice(None) for d, n in enumerate(shape)])
    return view_of(input, of(a).getitem(a, index), SqueezeBackward, shape=shape)


@derivative("ExpandBackward0")
def ExpandBackward(node: Any, g: Tensor) -> Tensor:
    return unbroadcast(g, node.shape)


@op(namespaces=(), method=True)
def expand(self: Tensor, size: Any = (), *more: int, implicit: bool = False) -> Tensor:
    """A view in which dimensions of size 1 are repeated (-1 keeps a size; new dimensions go in front)."""
    a = self._a
    wanted = sizes(size, more)
    lead = len(wanted) - a.ndim
    if lead < 0:
        raise RuntimeError(f"expand({describe(self)}, size={list(wanted)}): the number of sizes provided ({len(wanted)}) must be greater or equal "
                           f"to the number of dimensions in the tensor ({a.ndim})")
    shape = list(wanted)
    for d, n in enumerate(wanted):
        own = a.shape[d - lead] if d >= lead else None
        if n == -1:
            if own is None:
                raise RuntimeError(f"expand({describe(self)}, size={list(wanted)}): the expanded size of the tensor (-1) isn't allowed in a "
                                   "leading, non-existing dimension " + str(d))
            shape[d] = own
        elif n < 0:
            raise RuntimeError(f"expand: sizes must be non-negative (or -1), got {list(wanted)}")
        elif own is not None and own not in (1, n):
            raise RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({own}) at non-singleton dimension {d}. "
                               f"Target sizes: {list(wanted)}.  Tensor sizes: {list(a.shape)}")
    return view_of(self, of(a).broadcast_to(a, tuple(shape)), ExpandBackward, shape=a.shape)


@op(namespaces=(), method=True)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.expand(other.shape)`."""
    return expand(self, other._a.shape)


# -- any strides -----------------------------------------------------------------------------------------------------------


@derivative("AsStridedBackward0")
def AsStridedBackward(node: Any, g: Tensor) -> Tensor:
    """Every element of the view adds its gradient to the element of the base it is (several may be the same one)."""
    return scatter_strided(g, node.base_shape, node.base_strides, node.shape, node.strides, node.offset)


@derivative("ScatterStridedBackward0")
def ScatterStridedBackward(node: Any, g: Tensor) -> Tensor:
    return _gather_strided(g, node.base_strides, node.shape, node.strides, node.offset)


def scatter_strided(g: Tensor, base_shape: Any, base_strides: Any, shape: Any, strides: Any, offset: int) -> Tensor:
    """Zeros laid out as the base, with g added at the elements that (shape, strides, offset in bytes, from the base) names."""
    r = of(g._a).scatter_strided(g._a, base_shape, base_strides, shape, strides, offset)
    return record(r, ScatterStridedBackward, (g,), base_strides=base_strides, shape=shape, strides=strides, offset=offset)


def _gather_strided(x: Tensor, base_strides: Any, shape: Any, strides: Any, offset: int) -> Tensor:
    """The elements (shape, strides, offset) of x, once x is laid out with the base's strides."""
    r = of(x._a).gather_strided(x._a, base_strides, shape, strides, offset)
    return record(r, AsStridedBackward, (x,), base_shape=x._a.shape, base_strides=base_strides, shape=shape, strides=strides, offset=offset)


def _offset(outer: Any, inner: Any) -> int:
    """Bytes from outer's first element to inner's."""
    return of(outer).address(inner) - of(outer).address(outer)


@derivative("EraseStridedBackward0")
def EraseStridedBackward(node: Any, g: Tensor) -> Tensor:
    return node.geometry.erased(g)


class Geometry:
    """Where a view lies in its base: called with a Tensor of the base's shape, it takes the view out of it."""

    __slots__ = ("base_shape", "base_strides", "shape", "strides", "offset", "inside")

    def __init__(self, outer: Any, inner: Any):
        self.base_shape, self.base_strides = outer.shape, outer.strides
        self.shape, self.strides, self.offset = inner.shape, inner.strides, _offset(outer, inner)
        low, high = _reach(outer.shape, outer.strides)
        first, last = _reach(inner.shape, inner.strides)
        # a view may leave its base (as_strided reaches the whole storage); the memory of a gradient ends where the base does
        self.inside = 0 not in inner.shape and low <= first + self.offset and last + self.offset <= high

    def __call__(self, base: Tensor) -> Tensor:
        a = base._a
        if self.inside and a.strides == self.base_strides and a.shape == self.base_shape:
            view = of(a).restride(a, self.shape, self.strides, self.offset)
            return view_of(base, view, AsStridedBackward, base_shape=self.base_shape, base_strides=self.base_strides, shape=self.shape,
                           strides=self.strides, offset=self.offset)
        return _gather_strided(base, self.base_strides, self.shape, self.strides, self.offset)

    def erased(self, g: Tensor) -> Tensor:
        """A copy of g, which has the base's shape, with zeros where the view lies."""
        a = g._a
        if self.inside and a.strides == self.base_strides:
            r = of(a).copy(a)
            if r.strides == a.strides:
                of(a).fill(of(a).restride(r, self.shape, self.strides, self.offset), 0)
                return record(r, EraseStridedBackward, (g,), geometry=self)
        r = of(a).erase_strided(a, self.base_strides, self.shape, self.strides, self.offset)
        return record(r, EraseStridedBackward, (g,), geometry=self)


def _reach(shape: Any, strides: Any) -> tuple[int, int]:
    """The lowest and highest byte offset of an element."""
    spans = [(n - 1) * s for n, s in zip(shape, strides) if n]
    return sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)


def regenerate(base: Tensor, view: Tensor, replay: Callable | None) -> Node:
    """The node of a view after a write to its base's memory: an as_strided (or what `replay` records) of the base as it is now."""
    if replay is not None:
        made = replay(base)
        return made._edge
    outer, inner = base._a, view._a
    return make_node(AsStridedBackward, (base,), (), {
        "base_shape": outer.shape, "base_strides": outer.strides, "shape": inner.shape, "strides": inner.strides,
        "offset": _offset(outer, inner)})


upper.geometry = Geometry
upper.regenerate = regenerate


# -- copies ----------------------------------------------------------------------------------------------------------------


@derivative("CloneBackward0")
def CloneBackward(node: Any, g: Tensor) -> Tensor:
    return g


@op(method=True)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy; the gradient flows through it. The memory order is kept unless `memory_format` names another."""
    a = check_tensor(input, "clone")._a
    if memory_format is None or memory_format.name == "preserve_format":
        r = of(a).copy(a)
    else:
        r = of(a).copy_as(a, memory_format.name)
    return record(r, CloneBackward, (input,))


@op(namespaces=(), method=True)
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself when it lies in row-major order (or in `memory_format`), else a copy that does."""
    name = "contiguous_format" if memory_format is None else memory_format.name
    if name == "contiguous_format" and of(self._a).is_row_major(self._a) or self.is_contiguous(memory_format=memory_format):
        return self
    return record(of(self._a).copy_as(self._a, name), CloneBackward, (self,))


@derivative("CatBackward0")
def CatBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    grads, start = [], 0
    for k, length in enumerate(node.lengths):
        grads.append(g.narrow(node.dim, start, length) if node.needs(k) and length is not None else
                     (g.new_zeros(0) if node.needs(k) else None))
        start += length or 0
    return tuple(grads)


def _cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along an existing dimension. All other sizes must agree; 1-d empty tensors are skipped, as in PyTorch."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(f"cat(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if out is not None:
        return _cat_into(tensors, dim, out)
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__} (cat)")
    return _cat_general(tensors, dim)


_record_of_cat = register(_cat, "cat", aliases=("concat", "concatenate"), autocast="widest")
_record_of_cat.out = False
_general_cat = standard_public(_record_of_cat)
_concatenate, _concatenate_small = cpu.cat, cpu.cat_small
_SMALL = 1 << 15  # bytes of an input up to which the quickest call is the best
_new = object.__new__


def cat(tensors: Sequence[Tensor] = (), dim: int = 0, *, out: Tensor | None = None, axis: int | None = None) -> Tensor:
    if not state.active and out is None and axis is None and (tensors.__class__ is list or tensors.__class__ is tuple):
        try:
            arrays, recorded = [], False
            for t in tensors:
                arrays.append(t._a)
                if t._rg:
                    recorded = True
            first = arrays[0]
            join = _concatenate_small if first.nbytes < _SMALL else _concatenate
            r = join(arrays, dim) if dim else join(arrays)
            if r.dtype is first.dtype and first.__class__ is ndarray:
                if not recorded:
                    t = _new(Tensor)  # `wrap`, written out
                    t._a = r
                    t._rg = False
                    t._edge = t._st = t._grad = t._view = t._meta = None
                    return t
                if all(a.dtype is r.dtype for a in arrays):
                    return record(r, CatBackward, tuple(tensors), dim=dim % r.ndim, lengths=[a.shape[dim] for a in arrays])
        except (AttributeError, IndexError, TypeError, ValueError):
            pass  # sizes that differ, what is no Tensor, ...: the general form knows what to do or to say
    options: dict[str, Any] = {}
    if axis is not None or dim.__class__ is not int or dim != 0:
        options["dim"] = dim if axis is None else axis
    if out is not None:
        options["out"] = out
    return _general_cat(tensors, **options)


cat.__doc__ = _cat.__doc__
publish(_record_of_cat, cat)


def _cat_into(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """`out=`: its memory must not be that of an input, nor may its elements share a place."""
    if isinstance(out, Tensor):
        check_distinct(out._a, "cat")
        if any(isinstance(t, Tensor) and of(out._a, t._a).may_overlap(out._a, t._a) for t in tensors):
            raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
                               "location. Please clone() the tensor before performing the operation.")
    return put_out(OPS["cat"], out, (tensors, dim), {})


def _cat_general(tensors: Sequence[Tensor], dim: int) -> Tensor:
    kind = promotion.result_dtype(*tensors)
    tensors = [promotion.cast(t, kind) for t in tensors]
    for i, t in enumerate(tensors):
        if t._a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    kept = [t for t in tensors if t._a.shape != (0,)] or [tensors[0]]
    rank = kept[0]._a.ndim
    dim = wrap_dim(dim, rank)
    if any(t._a.ndim != rank for t in kept):
        bad = next(t for t in kept if t._a.ndim != rank)
        raise RuntimeError(f"Tensors must have same number of dimensions: got {rank} and {bad._a.ndim} (cat of {describe(*tensors)})")
    try:
        r = of(kept[0]._a).cat([t._a for t in kept], dim)
    except ValueError:
        raise _cat_error(kept, dim) from None
    return record(r, CatBackward, tuple(kept), dim=dim, lengths=[t._a.shape[dim] for t in kept])


def _cat_error(tensors: Sequence[Tensor], dim: int) -> RuntimeError:
    first = tensors[0]._a.shape
    for i, t in enumerate(tensors):
        for d, (n, m) in enumerate(zip(first, t._a.shape)):
            if d != dim and n != m:
                return RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor "
                                    f"number {i} in the list: dimension {d} of {describe(*tensors)}.")
    return RuntimeError(f"cat: cannot join {describe(*tensors)} along dimension {dim}")


@op(namespaces=(), method=True)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The view of all windows of `size` along a dimension, `step` apart; the window becomes the last dimension."""
    a = self._a
    d = wrap_dim(dimension, a.ndim)
    length, stride = (a.shape[d], a.strides[d]) if a.ndim else (1, a.dtype.itemsize)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    count = (length - size) // step + 1
    shape = (*a.shape[:d], count, *a.shape[d + 1:], size) if a.ndim else (size,)
    strides = (*a.strides[:d], stride * step, *a.strides[d + 1:], stride) if a.ndim else (stride,)
    return view_of(self, of(a).restride(a, shape, strides, 0), AsStridedBackward, base_shape=a.shape, base_strides=a.strides, shape=shape,
                   strides=strides, offset=0)
