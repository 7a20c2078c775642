"""Normalisation: all kinds are `standardize` (mean 0, variance 1 over some axes) followed by a scale and a shift."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, float32
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import cast, check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import without_grad
from saraph.tensor.tensor import Tensor, record_many, unpack

FUNCTIONAL = "nn.functional"


@derivative("StandardizeBackward0", outputs=3)
def StandardizeBackward(node: Any, g: Tensor | None, g_mean: Tensor | None, g_rstd: Tensor | None) -> Tensor | None:
    """Of y = (x - mean) rstd: dx = rstd (g - mean(g) - y mean(g y)); and what arrives at mean and rstd themselves."""
    y, rstd = unpack(node)
    axes = node.axes
    total = None
    if g is not None:
        centred = g - g.mean(axes, keepdim=True)
        total = (centred - y * (g * y).mean(axes, keepdim=True)) * rstd
    if g_mean is not None:
        part = (g_mean / max(node.count, 1)).expand(y.shape)
        total = part if total is None else total + part
    if g_rstd is not None:
        part = y * (g_rstd * rstd * rstd * (-1.0 / max(node.count, 1)))
        total = part if total is None else total + part
    return total


def standardize(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """((x - mean) rstd, mean, rstd) over the axes, which stay as size 1; rstd = 1 / sqrt(variance + eps)."""
    a = x._a
    count = 1
    for d in axes:
        count *= a.shape[d]
    arrays = of(a).standardize(a, axes, float(eps))
    return record_many(arrays, StandardizeBackward, (x,), save_results=(0, 2), axes=axes, count=count)


def _scaled(y: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int] | None = None) -> Tensor:
    if weight is not None:
        y = y * (weight if shape is None else weight.reshape(shape))
    if bias is not None:
        y = y + (bias if shape is None else bias.reshape(shape))
    return y


def _wide(x: Tensor) -> Tensor:
    return cast(x, float32) if x._a.dtype in REDUCED else x


def _floating(x: Tensor, name: str) -> None:
    if check_tensor(x, name)._a.dtype.kind in "biuc":
        raise RuntimeError(f'"{name}" not implemented for {str(x.dtype).removeprefix("torch.")!r}: convert the input with .float()')


# -- over the last dimensions ---------------------------------------------------------------------------------------------------


def _check_normalized(name: str, input: Tensor, shape: tuple[int, ...], weight: Tensor | None, bias: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(f"Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = "
                           f"{list(shape)}")
    for label, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != shape:
            raise RuntimeError(f"Expected {label} to be of same shape as normalized_shape, but got {label} of shape {list(t.shape)} and normalized_shape = "
                               f"{list(shape)}")
    if input.dim() < len(shape) or tuple(input.shape[input.dim() - len(shape):]) != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got input of size"
                           f"{list(input.shape)}")
    _floating(input, name)


@op(namespaces=(FUNCTIONAL, "torch"), autocast="float32")
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then weight and bias (Ba et al. 2016)."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op()
def native_layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None,
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(layer_norm, mean, 1 / standard deviation)."""
    shape = (int(normalized_shape),) if isinstance(normalized_shape, int) else tuple(int(n) for n in normalized_shape)
    _check_normalized("LayerNormKernelImpl", input, shape, weight, bias)
    axes = tuple(range(input.dim() - len(shape), input.dim()))
    y, mean, rstd = standardize(_wide(input), axes, eps)
    w, b = (None if t is None else _wide(t) for t in (weight, bias))
    return cast(_scaled(y, w, b), input.dtype), cast(mean, input.dtype), cast(rstd, input.dtype)


@op(namespaces=(FUNCTIONAL, "torch"), autocast="float32")
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then weight (Zhang and Sennrich 2019). eps None: the dtype's epsilon."""
    shape = (int(normalized_shape),) if isinstance(normalized_shape, int) else tuple(int(n) for n in normalized_shape)
    if input._a.dtype.kind == "c":
        if not shape:
            _check_normalized("rms_norm", input, shape, weight, None)
    else:
        _check_normalized("rms_norm", input, shape, weight, None)
    x = _wide(input)
    axes = tuple(range(x.dim() - len(shape), x.dim()))
    size = (x * x).mean(axes, keepdim=True)
    y = x * (size + (of(x._a).epsilon(input._a.dtype if input._a.dtype.kind == "c" else x._a.dtype) if eps is None else eps)).rsqrt()
    return cast(_scaled(y, None if weight is None else _wide(weight), None), input.dtype)


# -- over channels and batches ------------------------------------------------------------------------------------------------------


def _per_channel(x: Tensor) -> list[int]:
    return [1, -1, *[1] * (x.dim() - 2)]


def _check_channels(input: Tensor, **tensors: Tensor | None) -> None:
    channels = input.shape[1]
    for name, t in tensors.items():
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")


@op(namespaces=FUNCTIONAL)
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 per channel (dimension 1): of this batch in training (the running statistics are updated in place), else by them."""
    if training and input.dim() >= 2:
        per_channel = input.numel() // max(input.shape[1], 1)
        if per_channel == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@op(name="batch_norm")
def _torch_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                      training: bool, momentum: float, eps: float, cudnn_enabled: bool = True) -> Tensor:
    """`nn.functional.batch_norm` in the order of torch.batch_norm."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@op()
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                      training: bool, momentum: float, eps: float, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(batch_norm, mean, 1 / standard deviation) of the batch; the last two are empty outside training."""
    _floating(input, "batch_norm")
    if input.dim() < 2:
        if input.numel() == 0:
            return input.clone(), input.new_zeros(0), input.new_zeros(0)
        raise RuntimeError(f"batch_norm: expected an input of at least 2 dimensions (batch, channels, ...), got {list(input.shape)}")
    _check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    x = _wide(input)
    shape = _per_channel(x)
    w, b = (None if t is None else _wide(t) for t in (weight, bias))
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("running_mean and running_var must be defined in evaluation mode")
        mean, var = _wide(running_mean), _wide(running_var)
        scale = (var + eps).rsqrt()
        if w is not None:
            scale = scale * w
        shift = -mean * scale if b is None else b - mean * scale
        y = x * scale.reshape(shape) + shift.reshape(shape)
        return cast(y, input.dtype), input.new_zeros(0), input.new_zeros(0)
    axes = (0, *range(2, x.dim()))
    y, mean, rstd = standardize(x, axes, eps)
    if x.numel() and (running_mean is not None or running_var is not None):
        _update_running(mean.detach().reshape(-1), rstd.detach().reshape(-1), running_mean, running_var, momentum, eps, x.numel() // x.shape[1])
    stats = input.dtype if weight is None or weight.dtype is input.dtype else float32
    return cast(_scaled(y, w, b, shape), input.dtype), cast(mean.reshape(-1), stats), cast(rstd.reshape(-1), stats)


def _update_running(mean: Tensor, rstd: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float, eps: float,
                    count: int) -> None:
    with without_grad():
        if running_mean is not None:
            running_mean.copy_(running_mean * (1 - momentum) + mean * momentum)
        if running_var is not None:
            variance = (1.0 / (rstd * rstd) - eps) * (count / (count - 1) if count > 1 else 1.0)
            running_var.copy_(running_var * (1 - momentum) + variance * momentum)


@op(namespaces=(FUNCTIONAL,))
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 per sample and channel (Ulyanov et al. 2016), or by running statistics."""
    if use_input_stats and input.dim() >= 3:
        size = 1
        for n in input.shape[2:]:
            size *= n
        if size == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    _floating(input, "instance_norm")
    if input.dim() < 2:
        raise RuntimeError(f"instance_norm: expected an input of at least 2 dimensions, got {list(input.shape)}")
    _check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not use_input_stats:
        return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    x = _wide(input)
    y, mean, rstd = standardize(x, tuple(range(2, x.dim())), eps)
    if running_mean is not None or running_var is not None:
        flat_mean, flat_rstd = mean.detach().reshape(x.shape[0], -1), rstd.detach().reshape(x.shape[0], -1)
        count = x.numel() // (x.shape[0] * x.shape[1])
        variance = (1.0 / (flat_rstd * flat_rstd) - eps).mean(0)
        _update_running(flat_mean.mean(0), (variance + eps).rsqrt(), running_mean, running_var, momentum, eps, count)
    return cast(_scaled(y, None if weight is None else _wide(weight), None if bias is None else _wide(bias), _per_channel(x)), input.dtype)


@op(name="instance_norm")
def _torch_instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                         use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True) -> Tensor:
    """`nn.functional.instance_norm` in the order of torch.instance_norm."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@op(namespaces=(FUNCTIONAL, "torch"), autocast="float32")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
               cudnn_enabled: bool = True) -> Tensor:
    """Mean 0 and variance 1 per sample and group of channels (Wu and He 2018)."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, c = input.shape[:2]
    size = 1
    for s in input.shape[2:]:
        size *= s
    if input.numel() and n * c * size // max(n * num_groups, 1) == 1 and n * c // max(num_groups, 1) * size == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {[n * c // num_groups, num_groups, *input.shape[2:]]}")
    return native_group_norm(input, weight, bias, n, c, size, num_groups, eps)[0]


@op()
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int,  # noqa: N803
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(group_norm, mean, 1 / standard deviation)."""
    _floating(input, "GroupNormKernelImpl")
    if group <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {group}")
    if C % group:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} and num_groups="
                           f"{group}")
    for label, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != (C,):
            raise RuntimeError(f"Expected {label} to be a vector of size equal to the number of channels in input, but got {label} of shape "
                               f"{list(t.shape)} and input of shape {list(input.shape)}")
    x = _wide(input)
    y, mean, rstd = standardize(x.reshape(N, group, C // group * HxW) if x.numel() else x.reshape(N, group, -1 if N else 0), (2,), eps)
    w, b = (None if t is None else _wide(t) for t in (weight, bias))
    y = _scaled(y.reshape(x.shape), w, b, _per_channel(x))
    return cast(y, input.dtype), cast(mean.reshape(N, group), input.dtype), cast(rstd.reshape(N, group), input.dtype)


@op(namespaces=FUNCTIONAL)
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha mean(x^2 of `size` neighbouring channels))^beta (Krizhevsky et al. 2012)."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = (input * input).transpose(1, -1)
    padded = constant_pad_nd(squares, (size // 2, (size - 1) // 2))
    windows = padded.unfold(-1, size, 1)
    mean = windows.mean(-1) if windows.is_floating_point() or windows.is_complex() else windows.sum(-1).div(size, rounding_mode="trunc")
    return input / (mean.transpose(1, -1) * alpha + k).pow(beta)


@op(namespaces=FUNCTIONAL)
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """x / max(p-norm of x along dim, eps)."""
    size = input.norm(p, dim, keepdim=True).clamp(min=eps)
    return input / size.expand_as(input)
