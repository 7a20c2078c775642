"""Convolution and transposed convolution in one to three spatial dimensions.

Three bilinear ops are each other's derivatives, so gradients of every order follow:

    convolve(x, w) -> y          input_grad(y, w) -> x          weight_grad(x, y) -> w

`input_grad` is the transposed convolution. All take strides, symmetric paddings and dilations as one int a spatial dimension.
"""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import describe
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import OF_PUBLIC, op
from saraph.ops.spatial import by_sizes, read_ints, refuse, title
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, record, unpack

Ints = tuple[int, ...]
PAIR = ("nn.functional", "torch")


# -- the three products ------------------------------------------------------------------------------------------------------------


def _bias_grad(node: Any, g: Tensor) -> Tensor | None:
    return g.sum((0, *range(2, g._a.ndim))) if node.needs(2) else None


@derivative("ConvolutionBackward0")
def ConvolutionBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, w = unpack(node)
    gx = input_grad(g, w.conj(), None, node.size, *node.how) if node.needs(0) else None
    gw = weight_grad(x.conj(), g, node.kernel, *node.how) if node.needs(1) else None
    return gx, gw, _bias_grad(node, g)


@derivative("ConvolutionBackward0")
def TransposedBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, w = unpack(node)
    gx = _first(convolve(g, w.conj(), None, *node.how), node.counts) if node.needs(0) else None
    gw = weight_grad(g, x.conj(), node.kernel, *node.how) if node.needs(1) else None
    return gx, gw, _bias_grad(node, g)


def _first(x: Tensor, counts: Ints) -> Tensor:
    """x without the windows beyond `counts`: an output padding of a whole stride makes room for more."""
    for d, n in enumerate(counts, 2):
        if x._a.shape[d] != n:
            x = x.narrow(d, 0, n)
    return x


@derivative("ConvolutionBackwardBackward0")
def WeightGradBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, y = unpack(node)
    gx = input_grad(y, g.conj(), None, node.size, *node.how).conj() if node.needs(0) else None
    gy = _first(convolve(x.conj(), g, None, *node.how), node.counts) if node.needs(1) else None
    return gx, gy


def convolve(x: Tensor, w: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Tensor:
    """x (N, C, *S), w (O, C / groups, *K), bias (O) -> (N, O, *L)."""
    a, k = x._a, w._a
    r = of(a, k).convolution(a, k, None if bias is None else bias._a, stride, padding, dilation, groups)
    return record(r, ConvolutionBackward, (x, w, bias), (x if w._rg else None, w if x._rg else None), size=a.shape[2:], kernel=k.shape[2:],
                  how=(stride, padding, dilation, groups))


def input_grad(x: Tensor, w: Tensor, bias: Tensor | None, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Tensor:
    """The adjoint of `convolve` in its input: x (N, O, *L), w (O, C / groups, *K) -> (N, C, *size), plus bias (C)."""
    a, k = x._a, w._a
    r = of(a, k).convolution_input_grad(a, k, size, stride, padding, dilation, groups, None if bias is None else bias._a)
    return record(r, TransposedBackward, (x, w, bias), (x if w._rg else None, w if x._rg else None), kernel=k.shape[2:],
                  counts=a.shape[2:], how=(stride, padding, dilation, groups))


def weight_grad(x: Tensor, y: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Tensor:
    """The adjoint of `convolve` in its weight: x (N, C, *S), y (N, O, *L) -> (O, C / groups, *kernel)."""
    a, b = x._a, y._a
    r = of(a, b).convolution_weight_grad(a, b, kernel, stride, padding, dilation, groups)
    return record(r, WeightGradBackward, (x, y), (x if y._rg else None, y if x._rg else None), size=a.shape[2:], counts=b.shape[2:],
                  how=(stride, padding, dilation, groups))


# -- checks ------------------------------------------------------------------------------------------------------------------------


def _expand(name: str, value: Ints, rank: int) -> Ints:
    if len(value) == rank:
        return value
    if len(value) == 1:
        return value * rank
    raise RuntimeError(f"expected {name} to be a single integer value or a list of {rank} values to match the convolution dimensions, but got "
                       f"{name}={list(value)}")


def _check_numbers(stride: Ints, padding: Ints, dilation: Ints, groups: int, output_padding: Ints = ()) -> None:
    if min(padding, default=0) < 0:
        raise RuntimeError(f"negative padding is not supported (got {list(padding)})")
    if min(output_padding, default=0) < 0:
        raise RuntimeError(f"negative output_padding is not supported (got {list(output_padding)})")
    if min(stride) <= 0:
        raise RuntimeError(f"non-positive stride is not supported (got {list(stride)})")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported (got {groups})")


def _check_types(name: str, x: Tensor, w: Tensor, bias: Tensor | None) -> None:
    if x._a.dtype != w._a.dtype and w is not thread.wide_weight:
        raise RuntimeError(f"expected scalar type {title(x)} but found {title(w)}: {name}'s input is {describe(x)}, its weight {describe(w)}. "
                           f"Convert the input with .to({w.dtype!r}), or the layer with .to({x.dtype!r}).")
    if bias is not None and bias._a.dtype != x._a.dtype:
        raise RuntimeError(f"Input type ({title(x).lower()}) and bias type ({title(bias).lower()}) should be the same ({name}'s input is "
                           f"{describe(x)}, its bias {describe(bias)})")


def _check_weight(w: Tensor, groups: int) -> None:
    shape = list(w._a.shape)
    if shape[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {shape} instead")
    if shape[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size [{shape}] "
                           "instead")
    if 0 in shape[2:]:
        raise RuntimeError(f"kernel size should be greater than zero, but got weight of size {shape}")


def _check_shapes(x: Tensor, w: Tensor, bias: Tensor | None, padding: Ints, dilation: Ints, groups: int) -> None:
    """Shapes of a forward convolution (x is batched)."""
    _check_weight(w, groups)
    shape, kernel = list(x._a.shape), w._a.shape
    if shape[1] != kernel[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(kernel)}, expected input{shape} to have {kernel[1] * groups} channels, but "
                           f"got {shape[1]} channels instead")
    if bias is not None and bias._a.shape != (kernel[0],):
        raise RuntimeError(f"Given weight of size {list(kernel)}, expected bias to be 1-dimensional with {kernel[0]} elements, but got bias of size "
                           f"{list(bias._a.shape)} instead")
    wide = [n + 2 * p for n, p in zip(shape[2:], padding)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel[2:], dilation)]
    if any(n < k for n, k in zip(wide, reach)):
        raise RuntimeError(f"Calculated padded input size per channel: ({by_sizes(wide)}). Kernel size: ({by_sizes(reach)}). Kernel size can't be "
                           "greater than actual input size")


def _check_rank(name: str, x: Tensor, rank: int) -> bool:
    """Whether the input has a batch dimension."""
    have = x._a.ndim
    if have not in (rank + 1, rank + 2):
        raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: "
                           f"{list(x._a.shape)}")
    return have == rank + 2


def _operands(name: str, rank: int, x: Any, w: Any, bias: Any) -> bool:
    """Check that these are Tensors that fit together; says whether the input is batched."""
    check_tensor(x, name)
    check_tensor(w, name, "weight")
    if bias is not None:
        check_tensor(bias, name, "bias")
    batched = _check_rank(name, x, rank)
    if w._a.ndim < 3:
        raise RuntimeError(f"weight should have at least three dimensions ({name} got a weight of size {list(w._a.shape)})")
    return batched


# -- convolution -------------------------------------------------------------------------------------------------------------------


def _same_padding(name: str, padding: str, stride: Ints, dilation: Ints, kernel: Ints) -> tuple[Ints, Ints]:
    """Paddings before and after, for padding given by name."""
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}' ({name} takes ints, 'same' or 'valid')")
    if any(s != 1 for s in stride):
        raise RuntimeError(f"padding='same' is not supported for strided convolutions ({name} got stride={list(stride)})")
    total = [d * (k - 1) for d, k in zip(dilation, kernel)]
    return tuple([t // 2 for t in total]), tuple([t - t // 2 for t in total])


def _convolution(name: str, rank: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Tensor:
    batched = _operands(name, rank, x, w, bias)
    dims = w._a.ndim - 2
    stride = _expand("stride", read_ints(stride, name, "stride"), dims)
    dilation = _expand("dilation", read_ints(dilation, name, "dilation"), dims)
    if isinstance(padding, str):
        padding, after = _same_padding(name, padding, stride, dilation, w._a.shape[2:])
        if after != padding:  # one more zero at the end of some dimensions
            x = constant_pad_nd(x, [n for p, q in zip(reversed(padding), reversed(after)) for n in (0, q - p)])
    else:
        padding = _expand("padding", read_ints(padding, name, "padding"), dims)
    _check_numbers(stride, padding, dilation, groups)
    if dims != rank:
        raise RuntimeError(f"Expected {dims}-dimensional input for {dims}-dimensional weight {list(w._a.shape)}, but got {rank}-dimensional input of "
                           f"size {list(x._a.shape)} instead")
    refuse("slow_conv2d_cpu" if rank < 3 else "compute_columns3d", x, "fic")
    batch = x if batched else x.unsqueeze(0)
    _check_shapes(batch, w, bias, padding, dilation, groups)
    _check_types(name, x, w, bias)
    if 0 in batch._a.shape[2:] and batch._a.shape[0] and batch._a.shape[1] and any(n == 0 and p == 0 for n, p in zip(batch._a.shape[2:], padding)):
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {list(batch._a.shape)}")
    y = convolve(batch, w, bias, stride, padding, dilation, groups)
    return y if batched else y.squeeze(0)


@op(namespaces=PAIR, autocast="lower")
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """Convolution (cross-correlation) of input ([N,] C, L) with weight (O, C / groups, K), plus bias (O) -> ([N,] O, L').

    L' = (L + 2 padding - dilation (K - 1) - 1) // stride + 1; padding may be "same" (stride 1 only) or "valid".
    RuntimeError where channels, groups or dtypes do not fit, or the kernel is larger than the padded input.
    """
    return _convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@op(namespaces=PAIR, autocast="lower")
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """Convolution of input ([N,] C, H, W) with weight (O, C / groups, KH, KW), plus bias (O) -> ([N,] O, H', W'). See `conv1d`.

    An input or weight in channels_last order gives a result in that order.
    """
    return _convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@op(namespaces=PAIR, autocast="lower")
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """Convolution of input ([N,] C, D, H, W) with weight (O, C / groups, KD, KH, KW), plus bias (O) -> ([N,] O, D', H', W'). See `conv1d`."""
    return _convolution("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


for _public in (conv1d, conv2d, conv3d):
    OF_PUBLIC[_public].rounds_weight = True


# -- transposed convolution --------------------------------------------------------------------------------------------------------


def _check_transposed(x: Tensor, w: Tensor, bias: Tensor | None, stride: Ints, dilation: Ints, output_padding: Ints, groups: int) -> None:
    _check_weight(w, groups)
    shape, kernel = list(x._a.shape), list(w._a.shape)
    if shape[1] != kernel[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {kernel}, expected input{shape} to have {kernel[0]} channels, but got {shape[1]} "
                           "channels instead")
    if bias is not None and bias._a.shape != (kernel[1] * groups,):
        raise RuntimeError(f"Given transposed=1, weight of size {kernel}, expected bias to be 1-dimensional with {kernel[1] * groups} elements, but "
                           f"got bias of size {list(bias._a.shape)} instead")
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got output_padding={list(output_padding)}, "
                           f"stride={list(stride)}, dilation={list(dilation)}")


def _transposed(name: str, rank: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
                dilation: Any) -> Tensor:
    batched = _operands(name, rank, x, w, bias)
    dims = w._a.ndim - 2
    stride, padding, output_padding, dilation = (
        _expand(key, read_ints(value, name, key), dims)
        for key, value in (("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation)))
    _check_numbers(stride, padding, dilation, groups, output_padding)
    if dims != rank:
        raise RuntimeError(f"Expected {dims}-dimensional input for {dims}-dimensional weight {list(w._a.shape)}, but got {rank}-dimensional input of "
                           f"size {list(x._a.shape)} instead")
    kernel_name = f"slow_conv_transpose{max(rank, 2)}d_out_cpu"
    refuse(kernel_name, x, "fc" if x.dtype.name != "int64" else "i")
    batch = x if batched else x.unsqueeze(0)
    _check_transposed(batch, w, bias, stride, dilation, output_padding, groups)
    _check_types(name, x, w, bias)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + o + 1
                  for n, s, p, d, k, o in zip(batch._a.shape[2:], stride, padding, dilation, w._a.shape[2:], output_padding)])
    if min(size) <= 0:
        raise RuntimeError(f"Given input size per channel: ({by_sizes(batch._a.shape[2:])}). Calculated output size per channel: ({by_sizes(size)}). "
                           "Output size is too small")
    y = input_grad(batch, w, bias, size, stride, padding, dilation, groups)
    return y if batched else y.squeeze(0)


@op(namespaces=PAIR, autocast="lower")
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution (the gradient of conv1d in its input) of ([N,] C, L) with weight (C, O / groups, K) -> ([N,] O, L').

    L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1; output_padding must be smaller than stride or dilation.
    """
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(namespaces=PAIR, autocast="lower")
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of ([N,] C, H, W) with weight (C, O / groups, KH, KW) -> ([N,] O, H', W'). See `conv_transpose1d`."""
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(namespaces=PAIR, autocast="lower")
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of ([N,] C, D, H, W) with weight (C, O / groups, KD, KH, KW). See `conv_transpose1d`."""
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# -- other spellings ---------------------------------------------------------------------------------------------------------------


@op(autocast="lower")
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Tensor:
    """Any of the above by the rank of the weight: `transposed` chooses, `output_padding` counts only then."""
    rank = check_tensor(weight, "convolution", "weight")._a.ndim - 2
    if transposed:
        return _transposed("convolution", rank, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolution("convolution", rank, input, weight, bias, stride, padding, dilation, groups)


@op(namespaces=PAIR, autocast="lower")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution over time first: input (time, batch, channels), weight (kernel, in, out), bias (out) -> (time', batch, out)."""
    x, w = check_tensor(input, "conv_tbc"), check_tensor(weight, "conv_tbc", "weight")
    if x._a.ndim != 3 or w._a.ndim != 3 or check_tensor(bias, "conv_tbc", "bias")._a.ndim != 1:
        raise RuntimeError(f"Input must have 3 dims: time, batch, in_channel, weight 3 (kernel, in, out) and bias 1, got {describe(x, w, bias)}")
    if x._a.shape[2] != w._a.shape[1]:
        raise RuntimeError(f"Input dim 2 (input channels) is not == dim 1 in the weight tensor: {describe(x, w)}")
    if w._a.shape[2] != bias._a.shape[0]:
        raise RuntimeError(f"Bias size must equal dim 2 in the weight tensor (output channels): {describe(w, bias)}")
    y = _convolution("conv_tbc", 1, x.permute(1, 2, 0), w.permute(2, 1, 0), bias, 1, pad, 1, 1)
    return y.permute(2, 0, 1).contiguous()
