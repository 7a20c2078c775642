"""Sizes, strides, dimensions and memory formats: plain arithmetic on Python ints, no arrays."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saraph.errors import broadcast_error, dim_error

__all__ = ["Size", "memory_format", "layout", "broadcast_shapes", "wrap_dim", "wrap_dims", "contiguous_strides", "numel"]


class Size(tuple):
    """The shape of a tensor: a tuple of ints with `numel()`."""

    __slots__ = ()

    def __new__(cls, values: Iterable[Any] = ()) -> Size:
        values = tuple(values)
        for v in values:
            if v.__class__ is not int and not hasattr(v, "__index__"):
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item is '{type(v).__name__}')")
        return tuple.__new__(cls, [v if v.__class__ is int else v.__index__() for v in values])

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return numel(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return tuple.__new__(Size, found) if index.__class__ is slice else found

    def __add__(self, other: tuple) -> Size:
        return tuple.__new__(Size, tuple.__add__(self, tuple(other)))

    def __radd__(self, other: tuple) -> Size:
        return tuple.__new__(Size, tuple.__add__(tuple(other), self))

    def __mul__(self, times: Any) -> Size:
        return tuple.__new__(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


Size.__module__ = "saraph"


class _Named:
    """A named constant of PyTorch's, such as `torch.strided`: compared by identity, pickled by name."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: object) -> _Named:
        return self


class memory_format(_Named):  # noqa: N801
    """How the dimensions of a dense tensor lie in memory."""

    __slots__ = ()


class layout(_Named):  # noqa: N801
    """How a tensor is stored: strided, or one of the sparse layouts."""

    __slots__ = ()


memory_format.__module__ = layout.__module__ = "saraph"
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc, jagged, mkldnn = layout("sparse_bsr"), layout("sparse_bsc"), layout("jagged"), layout("_mkldnn")


def numel(shape: Iterable[int]) -> int:
    """The product of sizes."""
    count = 1
    for n in shape:
        count *= n
    return count


def wrap_dim(dim: int, rank: int) -> int:
    """A dimension counted from the front; a 0-dim tensor counts as one-dimensional. IndexError when out of range."""
    if rank == 0:
        rank = 1
    if -rank <= dim < rank:
        return dim + rank if dim < 0 else int(dim)
    raise dim_error(dim, rank)


def wrap_dims(dims: Any, rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front; RuntimeError when one is named twice. None or () means all."""
    if dims is None:
        return tuple(range(rank))
    if not isinstance(dims, (tuple, list)):
        return (wrap_dim(dims, rank),)
    found = tuple(wrap_dim(int(d), rank) for d in dims)
    for i, d in enumerate(found):
        if d in found[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims {tuple(dims)}")
    return found


def broadcast_shapes(*shapes: Sequence[int], op: str = "broadcast") -> tuple[int, ...]:
    """The shape that all broadcast to; RuntimeError where they do not."""
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n != 1:
                if result[i] not in (1, n):
                    raise broadcast_error(op, shapes)
                result[i] = n
    return tuple(result)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements; sizes of 0 count as 1, as in PyTorch."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n if n > 1 else 1
    return tuple(reversed(strides))


def channels_last_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense tensor (batch, channels, *spatial) whose channels lie innermost."""
    order = (0, *range(2, len(shape)), 1)
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Row-major without gaps; dimensions of size 1 may have any stride; an empty tensor always is."""
    expected = 1
    for n, s in zip(reversed(shape), reversed(strides)):
        if n == 0:
            return True
        if n != 1:
            if s != expected:
                return 0 in shape
            expected *= n
    return True


def is_channels_last(shape: Sequence[int], strides: Sequence[int], rank: int = 4) -> bool:
    """Dense with channels innermost, for tensors of that rank (4 or 5)."""
    if len(shape) != rank:
        return False
    expected = 1
    for d in (1, *range(rank - 1, 1, -1), 0):
        n = shape[d]
        if n != 1:
            if strides[d] != expected:
                return False
            expected *= n
    return True


def infer_shape(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """A target shape with one -1 filled in; RuntimeError when `count` elements do not fit it."""
    unknown, known = None, 1
    for i, n in enumerate(shape):
        if n == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n}")
        else:
            known *= n
    if unknown is None:
        if known != count:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple(shape)
    if known == 0 and count == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 "
                           "can be any value and is ambiguous")
    if known == 0 or count % known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return tuple(count // known if i == unknown else n for i, n in enumerate(shape))


def view_strides(old: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """Strides (any unit) of `new` over the same memory as `old`, or None where only a copy can have that shape."""
    if numel(old) == 0:
        return tuple(strides) if tuple(old) == tuple(new) else contiguous_strides(new)
    result = [0] * len(new)
    view_d = len(new) - 1
    chunk_stride = strides[-1] if old else 1
    tensor_numel = view_numel = 1
    for d in range(len(old) - 1, -1, -1):
        tensor_numel *= old[d]
        if d == 0 or (old[d - 1] != 1 and strides[d - 1] != tensor_numel * chunk_stride):
            while view_d >= 0 and (view_numel < tensor_numel or new[view_d] == 1):
                result[view_d] = view_numel * chunk_stride
                view_numel *= new[view_d]
                view_d -= 1
            if view_numel != tensor_numel:
                return None
            if d > 0:
                chunk_stride = strides[d - 1]
                tensor_numel = view_numel = 1
    if not old:
        return contiguous_strides(new)
    return tuple(result) if view_d == -1 else None


class qscheme:  # noqa: N801 (PyTorch's name)
    """How a quantized tensor's numbers are scaled, such as `per_tensor_affine`."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name


qscheme.__module__ = "saraph"
QSCHEMES = {name: qscheme(name) for name in ("per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric",
                                             "per_channel_affine_float_qparams")}
