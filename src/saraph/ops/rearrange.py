"""Other orders and shapes: transposes by name, flatten, flip, roll, repeat, diagonals and triangles."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import meta, of
from saraph.errors import describe
from saraph.ops.movement import sizes
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import Size, contiguous_format, infer_shape, wrap_dim, wrap_dims
from saraph.shapes import broadcast_shapes as joint_shape
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, ndarray, plain_view, record, view_of, wrap

# -- transposes -------------------------------------------------------------------------------------------------------------------


@derivative("TBackward0")
def TBackward(node: Any, g: Tensor) -> Tensor:
    return g.t()


@op(method=True)
def t(input: Tensor) -> Tensor:
    """A view of a matrix with its dimensions swapped; vectors and numbers as they are."""
    a = check_tensor(input, "t")._a
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D ({describe(input)}). Use .mT or .transpose(d0, d1).")
    r = a.T if a.__class__ is ndarray else of(a).transpose(a, tuple(range(a.ndim))[::-1])
    view = plain_view(input, r)
    return view_of(input, r, TBackward) if view is None else view


def _transposed(self: Tensor) -> Tensor:
    """The tensor with its dimensions in reverse order, as a view."""
    return self.t() if self._a.ndim <= 2 else self.permute(tuple(range(self._a.ndim))[::-1])


def _matrices_transposed(self: Tensor) -> Tensor:
    """The tensor with its last two dimensions swapped, as a view."""
    if self._a.ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self._a.ndim}-D tensor.")
    return self.transpose(-2, -1)


@op(method=True)
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions swapped, and complex numbers conjugated."""
    if check_tensor(input, "adjoint")._a.ndim < 2:
        raise RuntimeError(f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {input._a.ndim}-D tensor.")
    return input.transpose(-2, -1).conj()


def _matrices_adjoint(self: Tensor) -> Tensor:
    """The last two dimensions swapped, and complex numbers conjugated."""
    if self._a.ndim < 2:
        raise RuntimeError(f"tensor.mH is only supported on matrices or batches of matrices. Got {self._a.ndim}-D tensor.")
    return self.transpose(-2, -1).conj()


def _hermitian(self: Tensor) -> Tensor:
    """The matrix transposed and conjugated."""
    if self._a.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self._a.ndim}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if self._a.ndim > 2 else ""))
    return self.t().conj()


Tensor.T = property(_transposed, doc=_transposed.__doc__)
Tensor.mT = property(_matrices_transposed, doc=_matrices_transposed.__doc__)
Tensor.mH = property(_matrices_adjoint, doc=_matrices_adjoint.__doc__)
Tensor.H = property(_hermitian, doc=_hermitian.__doc__)


@op(method=True, aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with dimensions moved to other places; the rest keep their order.

    Example: `movedim(zeros(2, 3, 4), 0, 2)` has shape (3, 4, 2).
    """
    rank = check_tensor(input, "movedim")._a.ndim
    given, places = (tuple(v) if isinstance(v, (tuple, list)) else (v,) for v in (source, destination))
    if len(given) != len(places):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(given)} dims) should contain the same number of dims as "
                           f"destination ({list(places)} dims)")
    moved, places = [wrap_dim(d, rank) for d in given], [wrap_dim(d, rank) for d in places]
    if len(set(moved)) != len(moved) or len(set(places)) != len(places):
        raise RuntimeError(f"movedim: repeated dim in `source` ({list(given)}) or `destination` ({list(destination)})"
                           if isinstance(destination, (tuple, list)) else "movedim: repeated dim")
    if rank == 0:
        return input.view(())
    order: list[Any] = [None] * rank
    for d, place in zip(moved, places):
        order[place] = d
    rest = iter([d for d in range(rank) if d not in moved])
    return input.permute([next(rest) if d is None else d for d in order])


# -- shapes ----------------------------------------------------------------------------------------------------------------------


@op(method=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` (included) as one: a view where strides allow it. A number becomes a vector of one."""
    a = check_tensor(input, "flatten")._a
    rank, shape = a.ndim, a.shape
    if rank == 0:
        wrap_dim(start_dim, 0), wrap_dim(end_dim, 0)
        return input.reshape((1,))
    first = start_dim if 0 <= start_dim < rank else wrap_dim(start_dim, rank)
    last = end_dim if 0 <= end_dim < rank else wrap_dim(end_dim, rank)
    if first == last:
        return input
    if first > last:
        raise RuntimeError(f"flatten() has invalid args: start_dim cannot come after end_dim (start_dim={start_dim}, end_dim={end_dim})")
    count = 1
    for n in shape[first:last + 1]:
        count *= n
    wanted = shape[:first] + (count,) + shape[last + 1:]
    if a.__class__ is ndarray and a.flags.c_contiguous:
        view = plain_view(input, a.reshape(wanted))
        if view is not None:
            return view
    return input.reshape(wanted)


@op(method=True)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several, of sizes whose product it is (one of them may be -1), as a view."""
    a = check_tensor(input, "unflatten")._a
    if not isinstance(dim, int):
        raise TypeError(f"unflatten(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"unflatten(): argument 'sizes' (position 2) must be tuple of ints, not {type(sizes).__name__}")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    d = wrap_dim(dim, a.ndim)
    total = a.shape[d] if a.ndim else 1
    try:
        inner = infer_shape(tuple(sizes), total)
    except RuntimeError as error:
        if "only one" in str(error):
            raise
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({total}) in "
                           "the input tensor") from None
    return input.view(a.shape[:d] + inner + a.shape[d + 1:])


@op(method=True)
def ravel(input: Tensor) -> Tensor:
    """All elements as a vector: a view where strides allow it."""
    return check_tensor(input, "ravel").contiguous().view(-1)


@op(method="view_as", namespaces=())
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.view(other.shape)`."""
    return self.view(other._a.shape)


@op(method="reshape_as", namespaces=())
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.reshape(other.shape)`."""
    return self.reshape(other._a.shape)


@op(method=True)
def broadcast_to(input: Tensor, size: Any, *more: int) -> Tensor:
    """A view in which dimensions of size 1 are repeated: `input.expand(size)`."""
    return check_tensor(input, "broadcast_to").expand(*sizes(size, more))


@op()
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes (tuples or ints) broadcast to; RuntimeError where they do not."""
    tuples = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    for shape in tuples:
        for n in shape:
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
    return Size(joint_shape(*tuples, op="broadcast_shapes"))


# -- repeating ---------------------------------------------------------------------------------------------------------------------


@derivative("RepeatBackward0")
def RepeatBackward(node: Any, g: Tensor) -> Tensor:
    """The copies' gradients, summed."""
    if g._a.size == 0:
        return wrap(of(g._a).full(node.shape, 0, g._a.dtype))
    pairs = [n for pair in zip(node.repeats, node.padded) for n in pair]
    return g.reshape(pairs).sum(tuple(range(0, len(pairs), 2))).reshape(node.shape)


@op(namespaces=(), method=True)
def repeat(self: Tensor, repeats: Any, *more: int) -> Tensor:
    """The tensor laid side by side `repeats[d]` times along each dimension; further dimensions go in front. A copy.

    Example: `tensor([1, 2]).repeat(2, 2)` is `[[1, 2, 1, 2], [1, 2, 1, 2]]`.
    """
    times = sizes(repeats, more)
    a = self._a
    lead = len(times) - a.ndim
    if lead < 0:
        raise RuntimeError(f"Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor ({len(times)} < {a.ndim}: "
                           f"repeat{tuple(times)} of {describe(self)})")
    padded = (1,) * lead + a.shape
    shape = tuple(n * r for n, r in zip(padded, times))
    if any(r < 0 for r in times):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)} (repeat{tuple(times)})")
    backend = of(a)
    wide = backend.getitem(a, tuple(x for _ in padded[:lead] for x in (None, None)) + tuple(x for _ in a.shape for x in (None, slice(None))))
    wide = backend.broadcast_to(wide, tuple(n for pair in zip(times, padded) for n in pair))
    r = backend.reshape_view(backend.copy(wide, "C"), shape)
    return record(r, RepeatBackward, (self,), repeats=times, padded=padded, shape=a.shape)


@op(method=True)
def tile(input: Tensor, dims: Any, *more: int) -> Tensor:
    """As `repeat`, but missing counts are 1 (in front), as in `numpy.tile`."""
    times = sizes(dims, more)
    return input.repeat((1,) * (check_tensor(input, "tile")._a.ndim - len(times)) + times)


@op(method=True)
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each element (or slice along `dim`) repeated in place: so many times, or as often as its entry in the tensor `repeats` says.

    Without `dim` the input is flattened first. With one argument it is taken as the repeats, and the positions are returned.
    """
    x = check_tensor(input, "repeat_interleave")
    if repeats is None:
        return _positions(x, output_size)
    if dim is None:
        x, dim = x.flatten(), 0
    dim = wrap_dim(dim, x._a.ndim)
    total = x._a.shape[dim] if x._a.ndim else 1
    if not isinstance(repeats, Tensor):
        if repeats < 0:
            raise RuntimeError(f"Repeats must be non-negative, got {repeats}")
        x = x if x._a.ndim else x.reshape(1)
        shape = x._a.shape
        wide = x.unsqueeze(dim + 1).expand(shape[:dim + 1] + (int(repeats),) + shape[dim + 1:])
        return wide.clone(memory_format=contiguous_format).view(shape[:dim] + (total * int(repeats),) + shape[dim + 1:])
    counts = repeats if repeats._a.ndim else repeats.reshape(1)
    if counts._a.ndim != 1:
        raise RuntimeError(f"repeats must be 0-dim or 1-dim tensor, got {describe(repeats)}")
    if counts._a.shape[0] == 1:
        counts = counts.expand(total)
    if counts._a.shape[0] != total:
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{counts._a.shape[0]} and input.size({dim}) = "
                           f"{total}")
    return x.index_select(dim, _positions(counts, output_size))


def _positions(counts: Tensor, size: int | None) -> Tensor:
    if counts._a.ndim != 1:
        raise RuntimeError(f"repeat_interleave only accept 1D vector as repeat, got {describe(counts)}")
    if counts._a.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"repeats has to be Long or Int tensor, got {describe(counts)}")
    backend = of(counts._a)
    if counts._a.size and backend is not meta and backend.item(backend.amin(counts._a, None, False)) < 0:
        raise RuntimeError("repeats can not be negative")
    r = backend.repeat_index(counts._a, size)
    return wrap(backend.cast(r, counts._a.dtype) if r.dtype != counts._a.dtype else r)


# -- flipping and rolling --------------------------------------------------------------------------------------------------------------


@derivative("FlipBackward0")
def FlipBackward(node: Any, g: Tensor) -> Tensor:
    return g.flip(node.dims)


@op(method=True)
def flip(input: Tensor, dims: Any, *more: int) -> Tensor:
    """A copy with the order along these dimensions reversed."""
    a = check_tensor(input, "flip")._a
    given = sizes(dims, more)
    axes = wrap_dims(given, a.ndim) if given else ()
    return record(of(a).flip(a, axes), FlipBackward, (input,), dims=axes)


@op(method=True)
def fliplr(input: Tensor) -> Tensor:
    """A copy with the second dimension reversed."""
    if check_tensor(input, "fliplr")._a.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d: fliplr got {describe(input)}")
    return input.flip(1)


@op(method=True)
def flipud(input: Tensor) -> Tensor:
    """A copy with the first dimension reversed."""
    if check_tensor(input, "flipud")._a.ndim < 1:
        raise RuntimeError(f"Input must be >= 1-d: flipud got {describe(input)}")
    return input.flip(0)


@derivative("RollBackward0")
def RollBackward(node: Any, g: Tensor) -> Tensor:
    return g.roll([-s for s in node.shifts], node.dims)


@op(method=True)
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy with elements moved by `shifts` along `dims`; what leaves at the end comes back at the start.

    Without `dims` the tensor is rolled as one long vector.
    """
    a = check_tensor(input, "roll")._a
    by = sizes(shifts, ())
    along = () if dims is None else sizes(dims, ())
    if not by:
        raise RuntimeError("`shifts` required")
    if not along and len(by) == 1:
        flat = input.contiguous().view(-1)
        return roll(flat, by, 0).view(a.shape)
    if len(by) != len(along):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}")
    if a.ndim == 0:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    axes = tuple(wrap_dim(d, a.ndim) for d in along)
    return record(of(a).roll(a, by, axes), RollBackward, (input,), shifts=by, dims=axes)


@op(method=True)
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """A copy turned by k quarter turns in the plane of two dimensions, from the first towards the second."""
    rank = check_tensor(input, "rot90")._a.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if rank < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {rank}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == rank:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    first, second = (wrap_dim(d, rank) for d in dims)
    turns = k % 4
    if turns == 1:
        return input.flip(second).transpose(first, second)
    if turns == 2:
        return input.flip((first, second))
    if turns == 3:
        return input.flip(first).transpose(first, second)
    return input.clone(memory_format=contiguous_format)


# -- diagonals and triangles ---------------------------------------------------------------------------------------------------------------


@derivative("DiagEmbedBackward0")
def DiagEmbedBackward(node: Any, g: Tensor) -> Tensor:
    return g.diagonal(node.offset, node.dim1, node.dim2)


@op(method=True)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension laid along a diagonal of two new dimensions, zeros elsewhere.

    Example: `diag_embed(ones(2, 3))` has shape (2, 3, 3), an identity matrix for each of the two rows.
    """
    a = check_tensor(input, "diag_embed")._a
    first, second = wrap_dim(dim1, a.ndim + 1), wrap_dim(dim2, a.ndim + 1)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if a.ndim == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    return record(of(a).diag_embed(a, offset, first, second), DiagEmbedBackward, (input,), offset=offset, dim1=first, dim2=second)


@op(method=True)
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector on the diagonal of a square matrix, or the diagonal of a matrix as a (new) vector."""
    rank = check_tensor(input, "diag")._a.ndim
    if rank == 1:
        return input.diag_embed(diagonal)
    if rank == 2:
        return input.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {rank}D")


@op()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements, flattened, on the diagonal of a square matrix."""
    return check_tensor(input, "diagflat").contiguous().view(-1).diag(offset)


def _diagflat_method(self: Tensor, offset: int = 0) -> Tensor:
    """As `torch.diagflat`."""
    return diagflat(self, offset)


Tensor.diagflat = _diagflat_method


@derivative("TrilBackward0")
def TrilBackward(node: Any, g: Tensor) -> Tensor:
    return g.tril(node.diagonal)


@derivative("TriuBackward0")
def TriuBackward(node: Any, g: Tensor) -> Tensor:
    return g.triu(node.diagonal)


def _with_matrices(name: str, value: Any) -> Tensor:
    x = check_tensor(value, name)
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, got {describe(x)}")
    return x


@op(method=True, inplace=True)
def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of each matrix (up to and with the diagonal that `diagonal` names), zeros above."""
    x = _with_matrices("tril", input)
    return record(of(x._a).tril(x._a, diagonal), TrilBackward, (x,), diagonal=diagonal)


@op(method=True, inplace=True)
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of each matrix (from the diagonal that `diagonal` names), zeros below."""
    x = _with_matrices("triu", input)
    return record(of(x._a).triu(x._a, diagonal), TriuBackward, (x,), diagonal=diagonal)
