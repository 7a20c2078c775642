"""Pixels and channels rearranged, and images as columns of sliding blocks: pixel_shuffle, channel_shuffle, unfold, fold."""
from __future__ import annotations

from typing import Any

from saraph import shapes
from saraph.backends import of
from saraph.ops.pool import FUNCTIONAL, PAIR, read_sizes
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.ops.spatial import refuse
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

Ints = tuple[int, ...]

# -- pixels and channels -------------------------------------------------------------------------------------------------------------


def _rearranged(x: Tensor, parts: Ints, order: Ints, shape: Ints) -> Tensor:
    """x seen as `parts`, its dimensions in another order, as a fresh tensor of `shape`, in channels-last order where x lies so."""
    y = x.reshape(parts).permute(order)
    if x._a.ndim == 4 and not x.is_contiguous() and x.is_contiguous(memory_format=shapes.channels_last):
        return y.reshape(shape).contiguous(memory_format=shapes.channels_last)
    return y.clone(memory_format=shapes.contiguous_format).reshape(shape)


def _check_factor(name: str, what: str, x: Tensor, factor: int) -> None:
    if check_tensor(x, name)._a.ndim < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {x._a.ndim} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


@op(namespaces=PAIR)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C r^2, H, W) -> (*, C, H r, W r): every r^2 channels become the pixels of an r x r block. RuntimeError where they do not divide."""
    r = upscale_factor
    _check_factor("pixel_shuffle", "upscale_factor", input, r)
    *lead, c, h, w = input._a.shape
    if c % (r * r):
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
                           f"input.size(-3)={c} is not divisible by {r * r}")
    k = len(lead)
    return _rearranged(input, (*lead, c // (r * r), r, r, h, w), (*range(k), k, k + 3, k + 1, k + 4, k + 2), (*lead, c // (r * r), h * r, w * r))


@op(namespaces=PAIR)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H r, W r) -> (*, C r^2, H, W): the inverse of `pixel_shuffle`."""
    r = downscale_factor
    _check_factor("pixel_unshuffle", "downscale_factor", input, r)
    *lead, c, h, w = input._a.shape
    for name, size, d in (("height", h, -2), ("width", w, -1)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={size} is not divisible by {r}")
    k = len(lead)
    return _rearranged(input, (*lead, c, h // r, r, w // r, r), (*range(k), k, k + 2, k + 4, k + 1, k + 3), (*lead, c * r * r, h // r, w // r))


@op(namespaces=PAIR, aliases=("native_channel_shuffle",))
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of (N, C, ...) in `groups` groups, dealt out in turn: channel i of group g comes to place i * groups + g."""
    x = check_tensor(input, "channel_shuffle")
    shape = x._a.shape
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups.")
    return _rearranged(x, (shape[0], groups, shape[1] // groups, *shape[2:]), (0, 2, 1, *range(3, len(shape) + 1)), shape)


# -- sliding blocks ------------------------------------------------------------------------------------------------------------------


@derivative("Im2ColBackward0")
def Im2ColBackward(node: Any, g: Tensor) -> Tensor:
    return _fold(g, node.sizes, node.geometry)


@derivative("Col2ImBackward0")
def Col2ImBackward(node: Any, g: Tensor) -> Tensor:
    return _unfold(g, node.geometry)


def _unfold(x: Tensor, geometry: tuple) -> Tensor:
    return record(of(x._a).im2col(x._a, *geometry), Im2ColBackward, (x,), sizes=tuple(x.shape[2:]), geometry=geometry)


def _fold(x: Tensor, sizes: tuple[int, ...], geometry: tuple) -> Tensor:
    return record(of(x._a).col2im(x._a, sizes, *geometry), Col2ImBackward, (x,), geometry=geometry)


def _block_geometry(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple:
    found = tuple(read_sizes(name, label, v, 2) for v, label in
                  ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride")))
    for values, label in zip(found, ("kernel", "dilation", "padding", "stride")):
        if any(v < 0 or (v == 0 and label != "padding") for v in values):
            raise RuntimeError(f"{label} {'size ' if label == 'kernel' else ''}should be greater than zero, but got {values}")
    return found


def _block_counts(sizes: Any, geometry: tuple) -> tuple[int, ...]:
    kernel, dilation, padding, stride = geometry
    return tuple((s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, d, p, t in zip(sizes, kernel, dilation, padding, stride))


@op(name="unfold", namespaces=FUNCTIONAL)
def unfold_blocks(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of (batch, channels, h, w) as columns: (batch, channels * kernel, blocks)."""
    x = check_tensor(input, "unfold")
    refuse("im2col_out_cpu", x, "fcb")
    geometry = _block_geometry("unfold", kernel_size, dilation, padding, stride)
    if x.dim() not in (3, 4) or 0 in x.shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")
    if any(c < 1 for c in _block_counts(x.shape[-2:], geometry)):
        raise RuntimeError(f"Given input with spatial size {tuple(x.shape[-2:])}, kernel_size={geometry[0]}, dilation={geometry[1]}, padding={geometry[2]}, "
                           f"calculated shape of the array of sliding blocks as {_block_counts(x.shape[-2:], geometry)}, but its components must be at "
                           "least one.")
    return _unfold(x, geometry) if x.dim() == 4 else _unfold(x.unsqueeze(0), geometry).squeeze(0)


@op(namespaces=FUNCTIONAL)
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns (batch, channels * kernel, blocks) added back into (batch, channels, *output_size)."""
    x = check_tensor(input, "fold")
    refuse("col2im_out_cpu", x, "fcb")
    geometry = _block_geometry("fold", kernel_size, dilation, padding, stride)
    sizes = read_sizes("fold", "output_size", output_size, 2)
    if x.dim() not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")
    kernel = geometry[0][0] * geometry[0][1]
    if x.shape[-2] % kernel:
        raise RuntimeError(f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={x.shape[-2]} and "
                           f"kernel_size={geometry[0]}.")
    counts = _block_counts(sizes, geometry)
    if counts[0] * counts[1] != x.shape[-1] or min(counts) < 1:
        raise RuntimeError(f"Given output_size={sizes}, kernel_size={geometry[0]}, dilation={geometry[1]}, padding={geometry[2]}, stride={geometry[3]}, "
                           f"expected size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * {counts[1]} = "
                           f"{counts[0] * counts[1]}, but got input.size(2)={x.shape[-1]}.")
    return _fold(x, sizes, geometry) if x.dim() == 3 else _fold(x.unsqueeze(0), sizes, geometry).squeeze(0)
