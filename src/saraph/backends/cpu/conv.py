"""Convolution on the CPU, in any number of spatial dimensions: the three products that convolution and its derivatives are made of.

    convolution              y from x and w         x (N, C, *S), w (O, C / groups, *K) -> (N, O, *L)
    convolution_input_grad   x from y and w         also the transposed convolution
    convolution_weight_grad  w from x and y

Kernels of up to three dimensions do float32 and float64; other dtypes, and hosts without kernels, have the definition in NumPy. 16-bit floats go
through float32.
"""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu import conv_definition as definition
from saraph.backends.cpu.conversion import cast
from saraph.backends.cpu.table import primitive
from saraph.backends.cpu.windows import Ints, channels_first, channels_last, is_channels_last, window_counts
from saraph.dtypes import REDUCED
from saraph.dtypes import bfloat16 as bfloat16_dtype
from saraph.kernels import blocks, copying
from saraph.kernels.conv import product, weight, winograd, winograd_weight

float32 = np.dtype(np.float32)
bfloat16 = bfloat16_dtype.numpy


def _by_kernel(x: np.ndarray, other: np.ndarray, rank: int) -> bool:
    return x.dtype == other.dtype and 1 <= rank <= 3 and product.available(x.dtype)


def _multiplied(inputs: int, outputs: int, groups: int) -> bool:
    """Whether every channel is on its own and makes several: the definition is as good there."""
    return 1 < groups == inputs != outputs


def _three(numbers: Ints, fill: int) -> tuple[int, ...]:
    """Numbers of up to three spatial dimensions, as three."""
    return (*[fill] * (3 - len(numbers)), *numbers)


def _deep(a: np.ndarray) -> np.ndarray:
    """The array with three spatial dimensions."""
    return a[(slice(None), slice(None), *[None] * (5 - a.ndim))] if a.ndim < 5 else a


def _dense(a: np.ndarray) -> np.ndarray:
    """The array, or a copy, row-major."""
    if a.flags.c_contiguous and a.flags.aligned:
        return a
    result = blocks.empty(a.shape, a.dtype)
    if a.size and not any(a.strides):  # the gradient of a sum, say
        copying.fill(result, a.flat[0].tobytes())
    elif not (a.flags.aligned and copying.copy_into(result, a)):
        np.copyto(result, a)
    return result


def _readable(a: np.ndarray) -> np.ndarray:
    """The array, or a copy, with channels or pixels side by side."""
    if a.itemsize in (a.strides[1], a.strides[-1]) and a.flags.aligned:
        return a
    return _dense(a)


def _empty(shape: tuple[int, ...], kind: np.dtype, last: bool) -> np.ndarray:
    """Memory for a result, with its channels innermost or row-major."""
    if last:
        return channels_first(blocks.empty((shape[0], *shape[2:], shape[1]), kind))
    return blocks.empty(shape, kind)


def _in_tiles(kernel: Ints, kind: np.dtype, stride: Ints, dilation: Ints, groups: int) -> bool:
    """Whether Winograd's kernels can do it."""
    return kind == float32 and groups == 1 and tuple(kernel) == (3, 3) and tuple(stride) == tuple(dilation) == (1, 1)


def _multiply(backward: bool, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray, last: bool, stride: Ints, padding: Ints,
              dilation: Ints, groups: int, w_last: bool = False) -> None:
    w_last = w_last or is_channels_last(w)
    if not w_last:
        w = _dense(w)
    x = _readable(x)
    if _in_tiles(w.shape[2:], x.dtype, stride, dilation, groups) and winograd.convolve(x, w, bias, out, (padding[0], padding[1]), last, w_last, backward):
        return
    x = _deep(x)
    operands = product.Operands(x.dtype.char, backward, x.shape, x.strides, _deep(w).shape, w_last, _three(out.shape[2:], 1), last, _three(stride, 1),
                                _three(padding, 0), _three(dilation, 1), groups)
    product.run(operands, x, w, None if bias is None else _dense(bias), out)


def _pairs(x: np.ndarray, w: np.ndarray, groups: int) -> bool:
    """Whether bfloat16 operands can be multiplied two neighbouring channels at a time."""
    return 3 <= x.ndim <= 5 and x.size > 0 and w.size > 0 and w.shape[1] > 1 and (groups == 1 or w.shape[1] % 2 == 0) and product.pairs_available()


def _paired(a: np.ndarray) -> np.ndarray:
    """(N, channels, *spatial) with channels innermost and two of them (zero for one that is not there) as one number of 4 bytes."""
    channels = a.shape[1]
    if channels % 2 or not channels_last(a).flags.c_contiguous:
        whole = blocks.empty((a.shape[0], *a.shape[2:], channels + channels % 2), a.dtype)
        if channels % 2:
            whole[..., channels] = 0
        target = whole[..., :channels]
        if not copying.copy_into(target, channels_last(a)):
            np.copyto(target, channels_last(a))
        return channels_first(whole.view(np.int32))
    return channels_first(channels_last(a).view(np.int32))


def _of_pairs(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    """Convolution of bfloat16, summed in float32. The weight may be float32: it is rounded first."""
    last = is_channels_last(x) or is_channels_last(w)
    counts = window_counts(x.shape[2:], w.shape[2:], stride, padding, dilation)
    out = _empty((x.shape[0], w.shape[0], *counts), x.dtype, last)
    if not out.size:
        return out
    odd = x.shape[1] % 2 == 1
    apart = x.strides[-1] == 2 and x.flags.aligned and not channels_last(x).flags.c_contiguous
    if not apart:
        x = _paired(x)
    w, form, w_last = _weight_of_pairs(w)
    x, strides, shape = _deep(x), list(_deep(x).strides), list(_deep(x).shape)
    w_shape = list(_deep(w).shape)
    if apart:
        shape[1], strides[1] = -(-shape[1] // 2), 2 * strides[1]
    w_shape[1] = shape[1] // groups
    operands = product.Operands("i", False, tuple(shape), tuple(strides), tuple(w_shape), w_last, _three(counts, 1), last, _three(stride, 1),
                                _three(padding, 0), _three(dilation, 1), groups, apart, odd, form)
    product.run(operands, x, w, bias, out)
    return out


def _weight_of_pairs(w: np.ndarray) -> tuple[np.ndarray, int, bool]:
    """The weight as the kernel can take it, how it lies, and whether its channels are innermost."""
    side = is_channels_last(w) or math.prod(w.shape[2:]) == 1
    wide = w.dtype == float32
    if not side:
        return _dense(w), product.APART_WIDE if wide else product.APART, False
    if w.shape[1] % 2 == 0 and channels_last(w).flags.c_contiguous:
        return w, product.SIDE_WIDE if wide else product.AS_PAIRS, True
    return _paired(cast(w, bfloat16) if wide else w), product.AS_PAIRS, True


def _plus(out: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """out + bias, in place."""
    return out if bias is None else np.add(out, bias.reshape(-1, *[1] * (out.ndim - 2)), out=out)


@primitive
def convolution(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    kind = x.dtype
    if kind in REDUCED:
        wide = None if bias is None else bias.astype(float32)
        if kind.name == "bfloat16" and _pairs(x, w, groups):
            return _of_pairs(x, w, wide, stride, padding, dilation, groups)
        return cast(convolution(cast(x, float32), cast(cast(w, kind), float32), wide, stride, padding, dilation, groups), kind)
    counts = window_counts(x.shape[2:], w.shape[2:], stride, padding, dilation)
    shape = (x.shape[0], w.shape[0], *counts)
    if not _by_kernel(x, w, len(counts)) or 0 in shape or not x.size or _multiplied(x.shape[1], w.shape[0], groups):
        return definition.convolution(x, w, bias, stride, padding, dilation, groups)
    last = is_channels_last(x) or is_channels_last(w)
    out = _empty(shape, kind, last)
    _multiply(False, x, w, bias, out, last, stride, padding, dilation, groups)
    return out


@primitive
def convolution_input_grad(g: np.ndarray, w: np.ndarray, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int,
                           bias: np.ndarray | None = None) -> np.ndarray:
    """The adjoint of convolution in its input of that spatial size: g (N, O, *L), w (O, C / groups, *K) -> (N, C, *size), plus bias (C)."""
    kind = g.dtype
    if kind in REDUCED:
        wide = None if bias is None else bias.astype(float32)
        return cast(convolution_input_grad(cast(g, float32), cast(w, float32), size, stride, padding, dilation, groups, wide), kind)
    shape = (g.shape[0], w.shape[1] * groups, *size)
    if not _by_kernel(g, w, len(size)) or 0 in shape or not g.size or _multiplied(shape[1], w.shape[0], groups):
        return _plus(definition.convolution_input_grad(g, w, size, stride, padding, dilation, groups), bias)
    last = is_channels_last(g) or is_channels_last(w)
    out = _empty(shape, kind, last)
    _multiply(True, g, w, bias, out, last, stride, padding, dilation, groups)
    return out


@primitive
def convolution_weight_grad(x: np.ndarray, g: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    """The adjoint of convolution in its weight: x (N, C, *S), g (N, O, *L) -> (O, C / groups, *kernel)."""
    kind = x.dtype
    if kind in REDUCED:
        return cast(convolution_weight_grad(cast(x, float32), cast(g, float32), kernel, stride, padding, dilation, groups), kind)
    shape = (g.shape[1], x.shape[1] // groups, *kernel)
    if not _by_kernel(x, g, len(kernel)) or 0 in shape or not x.size or not g.size or _multiplied(x.shape[1], g.shape[1], groups):
        return definition.convolution_weight_grad(x, g, kernel, stride, padding, dilation, groups)
    last = is_channels_last(x)
    out = _empty(shape, kind, last)
    x, g = _readable(x), g if is_channels_last(g) else _dense(g)
    if _in_tiles(kernel, kind, stride, dilation, groups) and winograd_weight.convolve(x, g, out, (padding[0], padding[1]), last):
        return out
    x, g = _deep(x), _deep(g)
    operands = product.Operands(kind.char, False, x.shape, x.strides, _deep(out).shape, last, _three(g.shape[2:], 1), last, _three(stride, 1),
                                _three(padding, 0), _three(dilation, 1), groups)
    weight.run(operands, x, g, out)
    return out
