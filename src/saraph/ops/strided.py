"""as_strided: any sizes, strides and offset over a tensor's storage, checked against its bounds."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.movement import AsStridedBackward
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.storage import root_extent, shared_of
from saraph.tensor.tensor import Tensor, view_of


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
