"""as_strided: any sizes, strides and offset over a tensor's storage, checked against its bounds."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.inplace import check_writable
from saraph.ops.movement import AsStridedBackward
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import method, op
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.storage import root_extent, shared_of
from saraph.tensor.tensor import Tensor, alias, bump, record, view_of


def _ints(values: Any, name: str, argument: str) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, not {type(values).__name__}")
    return tuple(v if v.__class__ is int else v.__index__() for v in values)


def storage_place(x: Tensor) -> tuple[int, int]:
    """Bytes from the start of the storage to the tensor's first element, and the storage's size in bytes."""
    a = x._a
    root = shared_of(x).root
    start, size = root_extent(root)
    return of(a).address(a) - start, size


def _window(x: Tensor, size: Any, stride: Any, storage_offset: Any, name: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, byte strides, and byte offset from x's first element of an as_strided view; errors as PyTorch's."""
    shape, strides = _ints(size, name, "size"), _ints(stride, name, "stride")
    item = x._a.dtype.itemsize
    if len(shape) != len(strides):
        raise RuntimeError(f"mismatch in length of strides and shape: {name} got size {list(shape)} and stride {list(strides)}")
    if any(s < 0 for s in strides):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    own, available = storage_place(x)
    offset = own if storage_offset is None else int(storage_offset) * item
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    needed = 0 if 0 in shape else offset + item * (1 + sum((n - 1) * s for n, s in zip(shape, strides)))
    if needed > available and of(x._a).name != "meta":
        raise RuntimeError(f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset // item}, and itemsize {item} "
                           f"requiring a storage size of {needed} are out of bounds for storage of size {available}")
    return shape, tuple(s * item for s in strides), offset - own


@op(method=True)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of any sizes and strides (in elements) over input's storage, from element `storage_offset` of it (default: input's own).

    Elements may overlap; their gradients add up. RuntimeError where the view would leave the storage.
    """
    a = check_tensor(input, "as_strided")._a
    shape, strides, offset = _window(input, size, stride, storage_offset, "as_strided")
    array = of(a).restride(a, shape, strides, offset) if 0 not in shape else of(a).empty(shape, a.dtype)
    return view_of(input, array, AsStridedBackward, base_shape=a.shape, base_strides=a.strides, shape=shape, strides=strides, offset=offset)


@op(method=True)
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None, *,
                       out: Tensor | None = None) -> Tensor:
    """A copy of `input` in which the elements that `as_strided(size, stride, storage_offset)` names are those of `src`."""
    check_tensor(src, "as_strided_scatter", "src")
    shape = _ints(size, "as_strided_scatter", "size")
    if src._a.shape != shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src._a.shape)}, slice size = {list(shape)}")
    result = whole_copy(check_tensor(input, "as_strided_scatter"))
    as_strided(result, size, stride, storage_offset).copy_(src)
    return result


@derivative("CloneBackward0")
def WholeCopyBackward(node: Any, g: Tensor) -> Tensor:
    return g


def whole_copy(x: Tensor) -> Tensor:
    """A copy of x with the same offset and strides in a copy of its whole storage, so that storage offsets mean the same."""
    a = x._a
    root = shared_of(x).root
    offset, size = storage_place(x)
    library = of(a)
    memory = library.empty((-(-size // a.dtype.itemsize),), a.dtype)
    library.copy_memory(memory, root)
    array = library.restride(memory, a.shape, a.strides, offset) if a.size else library.empty(a.shape, a.dtype)
    return record(array, WholeCopyBackward, (x,))


# -- a tensor becomes a view of itself -----------------------------------------------------------------------------------------


def become(x: Tensor, name: str, function: Any, *args: Any) -> Tensor:
    """x takes over the sizes, strides and history of `function(x, *args)`, a view of it."""
    check_writable(x, name)
    before = alias(x)
    if x._view is not None:
        before._view, before._seen = x._view, x._seen
    view = function(before, *args)
    if view is before:
        return x
    x._a = view._a
    bump(x)
    if view._edge is not None and thread.grad:
        x._edge, x._rg = view._edge, True
    if x._view is not None:
        x._seen = x._st.version
    return x


@method("as_strided_")
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In-place version of `as_strided`: the tensor itself gets these sizes and strides."""
    return become(self, "as_strided_", as_strided.__wrapped__, size, stride, storage_offset)


@method("transpose_", "swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place version of `transpose`: the tensor itself gets the other strides."""
    return become(self, "transpose_", Tensor.transpose, dim0, dim1)


@method("swapaxes_")
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """In-place version of `swapaxes`."""
    return transpose_(self, axis0, axis1)


@method("t_")
def t_(self: Tensor) -> Tensor:
    """In-place version of `t`."""
    return become(self, "t_", Tensor.t)


@method("squeeze_")
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """In-place version of `squeeze`."""
    return become(self, "squeeze_", Tensor.squeeze, dim)


@method("unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place version of `unsqueeze`."""
    return become(self, "unsqueeze_", Tensor.unsqueeze, dim)
