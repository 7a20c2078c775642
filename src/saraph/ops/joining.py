"""Putting tensors together: stack and its relatives, grids and products of vectors, block matrices."""
from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from saraph.backends import cpu, of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import broadcast_shapes as joint_shape
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, ndarray, record, wrap

_PLAIN, _NONE = {ndarray}, ()
_recorded = attrgetter("_rg")


@derivative("StackBackward0")
def StackBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    parts = g.unbind(node.dim)
    return tuple([part if edge is not None else None for part, edge in zip(parts, node.edges)])


@op(autocast="widest")
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape, joined along a new dimension `dim`. Mixed dtypes are promoted.

    Example: `stack([zeros(3), ones(3)])` has shape (2, 3); with `dim=1` it has shape (3, 2).
    """
    try:
        arrays = [t._a for t in tensors]
        first = arrays[0]
        rank = first.ndim + 1
        dim = dim if 0 <= dim < rank else wrap_dim(dim, rank)
        sizes = _NONE if dim == rank - 1 else map(len, arrays) if dim == 0 else {a.shape[dim] for a in arrays}
        if set(map(type, arrays)) == _PLAIN and len(set(sizes)) < 2:
            r = cpu.stack(arrays, dim)  # ValueError where sizes of other dimensions differ
            if r.dtype is first.dtype:
                return record(r, StackBackward, tuple(tensors), dim=dim) if any(map(_recorded, tensors)) else wrap(r)
    except ValueError:
        return _stack_general(_several(tensors, "stack"), dim)
    except (AttributeError, TypeError, IndexError):
        wrap_dim(dim, _several(tensors, "stack")[0]._a.ndim + 1)  # says what is wrong
        raise
    return _stack_general(_several(tensors, "stack"), dim)


def _stack_general(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Mixed dtypes, other devices, and the error for shapes that differ."""
    first = tensors[0]._a
    for i, t in enumerate(tensors):
        if t._a.shape != first.shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and {list(t._a.shape)} at "
                               f"entry {i}")
    common = promotion.result_dtype(*tensors)
    tensors = [promotion.cast(t, common) for t in tensors]
    arrays = [t._a for t in tensors]
    dim = wrap_dim(dim, first.ndim + 1)
    return record(of(*arrays).stack(arrays, dim), StackBackward, tuple(tensors), dim=dim)


def _several(tensors: Any, name: str) -> Sequence[Tensor]:
    """The value, if it is a non-empty list or tuple of Tensors."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__} ({name})")
    return tensors


@op()
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined horizontally: vectors along their only dimension, others along the second one."""
    parts = [atleast_1d(t) for t in _several(tensors, "hstack")]
    return cat(parts, 0 if parts[0]._a.ndim == 1 else 1)


@op(aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined vertically, along the first dimension; vectors count as rows."""
    return cat([atleast_2d(t) for t in _several(tensors, "vstack")], 0)


@op()
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined in depth, along the third dimension; see `atleast_3d` for tensors that have fewer."""
    return cat([atleast_3d(t) for t in _several(tensors, "dstack")], 2)


@op()
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined along the second dimension; vectors and numbers count as columns."""
    return cat([t.reshape(-1, 1) if t._a.ndim <= 1 else t for t in _several(tensors, "column_stack")], 1)


# -- at least so many dimensions -----------------------------------------------------------------------------------------------


def _each(tensors: tuple[Any, ...], function: Any) -> Any:
    """One Tensor gives one; several (or a list of them) give a tuple."""
    if len(tensors) == 1:
        if isinstance(tensors[0], Tensor):
            return function(tensors[0])
        tensors = tuple(tensors[0])
    return tuple(function(check_tensor(t, "atleast_nd")) for t in tensors)


@op()
def atleast_1d(*tensors: Any) -> Any:
    """Each zero-dim tensor as a view with one dimension; the others as they are."""
    return _each(tensors, lambda t: t if t._a.ndim else t.reshape(1))


@op()
def atleast_2d(*tensors: Any) -> Any:
    """Numbers and vectors as a view with one row; the others as they are."""
    return _each(tensors, lambda t: t if t._a.ndim > 1 else t.reshape(1, -1) if t._a.ndim == 0 else t.unsqueeze(0))


@op()
def atleast_3d(*tensors: Any) -> Any:
    """Vectors (n) as (1, n, 1), matrices (n, m) as (n, m, 1); the others as they are."""
    return _each(tensors, lambda t: t if t._a.ndim > 2 else t.unsqueeze(-1) if t._a.ndim == 2 else t.reshape(1, -1, 1) if t._a.ndim == 0
                 else t.unsqueeze(0).unsqueeze(-1))


# -- broadcasting ----------------------------------------------------------------------------------------------------------------


@op()
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors in the shape that all of them broadcast to."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shape = joint_shape(*[check_tensor(t, "broadcast_tensors")._a.shape for t in given], op="broadcast_tensors")
    return tuple(t.expand(shape) for t in given)


@op()
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Grids of coordinates from vectors: result k repeats vector k along all dimensions but one.

    With indexing "ij" (the default) vector k varies along dimension k; with "xy" the first two dimensions are swapped.
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in given:
        if check_tensor(t, "meshgrid")._a.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {describe(t)}")
        if t._a.dtype != given[0]._a.dtype:
            raise RuntimeError(f"meshgrid expects all tensors to have the same dtype, got {describe(*given)}")
    swap = indexing == "xy" and len(given) > 1
    order = [given[1], given[0], *given[2:]] if swap else list(given)
    shape = tuple(t._a.size for t in order)
    grids = [t.reshape([t._a.size if d == k else 1 for d in range(len(order))]).expand(shape) for k, t in enumerate(order)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@op()
def cartesian_prod(*tensors: Any) -> Tensor:
    """Every combination of one element from each vector, as rows; a single vector is returned as it is."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    for t in given:
        if check_tensor(t, "cartesian_prod")._a.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._a.shape)}")
    if len(given) == 1:
        return given[0]
    return stack([g.flatten() for g in meshgrid(*given, indexing="ij")], 1)


@op()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of r elements of a vector, as rows (choices, r), in the order of `itertools.combinations`."""
    x = check_tensor(input, "combinations")
    if x._a.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._a.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    backend = of(x._a)
    if r == 0:
        return wrap(backend.empty((0,), x._a.dtype))
    index = backend.combination_index(x._a.shape[0], r, with_replacement)
    return stack([x.index_select(0, wrap(backend.getitem(index, k))) for k in range(r)], 1)


@op()
def block_diag(*tensors: Any) -> Tensor:
    """A block matrix with the tensors along its diagonal and zeros elsewhere; numbers are 1x1 blocks, vectors one row."""
    blocks = [atleast_2d(check_tensor(t, "block_diag")) for t in tensors]
    if not blocks:
        return wrap(of().full((1, 0), 0, promotion.config.settings.default_dtype.numpy))
    for i, t in enumerate(blocks):
        if t._a.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t._a.ndim} dimensions")
    kind = promotion.result_dtype(*tensors)
    total = sum(t._a.shape[1] for t in blocks)
    rows, start = [], 0
    for t in blocks:
        rows.append(constant_pad_nd(promotion.cast(t, kind), (start, total - start - t._a.shape[1])))
        start += t._a.shape[1]
    return cat(rows, 0)


# -- padding ------------------------------------------------------------------------------------------------------------------------


@derivative("ConstantPadNdBackward0")
def ConstantPadNdBackward(node: Any, g: Tensor) -> Tensor:
    return constant_pad_nd(g, [-n for n in node.pad])


@op()
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """`value` put around (or, where negative, elements cut off): `pad` is (before, after) of the last dimension, then of the one before it, ..."""
    x = check_tensor(input, "constant_pad_nd")
    a = x._a
    pad = [int(n) for n in pad]
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > a.ndim:
        raise RuntimeError(f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is {len(pad)} while the "
                           f"input has {a.ndim} dimensions.")
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    pads = ((0, 0),) * (a.ndim - len(pairs)) + tuple(reversed(pairs))
    for d, (n, (before, after)) in enumerate(zip(a.shape, pads)):
        if n + before + after < 0:
            raise RuntimeError(f"The input size {n}, plus negative padding {before} and {after}, resulted in a negative "
                               "output size, which is invalid. "
                               f"Check dimension {d} of your input.")
    return record(of(a).pad_constant(a, pads, value), ConstantPadNdBackward, (x,), pad=pad)
