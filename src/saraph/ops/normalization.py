"""Normalisation: every kind is `standardize` (mean 0 and variance 1 over some axes, times a weight, plus a bias) on a view of its input.

16-bit inputs are normalised in float32 and rounded once. The gradient is one pass of a primitive; when it is itself recorded (higher
derivatives) it is written out in ops.
"""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, float32
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import cast, check_tensor, unbroadcast
from saraph.ops.registry import op
from saraph.ops.spatial import is_int, product, refuse
from saraph.tensor.node import Node, derivative
from saraph.tensor.state import thread, without_grad
from saraph.tensor.tensor import PLAIN, Tensor, record, record_many, unpack, wrap

FUNCTIONAL = "nn.functional"
PAIR = ("nn.functional", "torch")
Shape = tuple[int, ...]


# -- the one op under all ------------------------------------------------------------------------------------------------------------


def _shaped(t: Tensor, shape: Shape) -> Any:
    """A parameter's array in another shape: a view, or a copy where its memory allows none."""
    return of(t._a).reshape_view(t._a, shape) if t._a.ndim == 1 else t.detach().reshape(shape)._a


def _formula(node: Any, g: Tensor | None, g_mean: Tensor | None = None, g_rstd: Tensor | None = None) -> tuple[Tensor | None, ...]:
    """Of y = (x - mean) rstd w + b: dx = rstd (g w - mean(g w) - unit mean(g w unit)), dw = sum(g unit), db = sum(g), unit = (x - mean) rstd."""
    x, weight, mean, rstd = unpack(node)
    if thread.grad or g_mean is not None or g_rstd is not None or g is None:
        return _formula_in_ops(node, x, weight, mean, rstd, g, g_mean, g_rstd)
    backend, shape = of(x._a), node.parameters
    w = None if weight is None else _shaped(weight, shape)
    wanted = (node.needs(0), node.needs(1), node.needs(2))
    arrays = backend.standardize_grad(g._a, x._a, node.form, mean._a, rstd._a, node.axes, w, node.centred, wanted, shape)
    dx, dw, db = (None if a is None else wrap(a) for a in arrays)
    return dx, None if dw is None else dw.reshape(node.flat), None if db is None else db.reshape(node.flat)


def _formula_in_ops(node: Any, x: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor, g: Tensor | None, g_mean: Tensor | None,
                    g_rstd: Tensor | None) -> tuple[Tensor | None, ...]:
    shape, form, axes = x._a.shape, node.form, node.axes
    x = x.reshape(form)
    unit = (x - mean) * rstd if node.centred else x * rstd
    dx = dw = db = None
    if g is not None:
        g = g.reshape(form)
        if node.needs(0):
            gw = g if weight is None else g * weight.reshape(node.parameters)
            dx = rstd * ((gw - gw.mean(axes, keepdim=True) if node.centred else gw) - unit * (gw * unit).mean(axes, keepdim=True))
        dw = unbroadcast(g * unit, node.parameters).reshape(node.flat) if node.needs(1) else None
        db = unbroadcast(g, node.parameters).reshape(node.flat) if node.needs(2) else None
    if node.needs(0):
        count = max(node.count, 1)
        for part in (None if g_mean is None or not node.centred else (g_mean / count).expand(form),
                     None if g_rstd is None else unit * (g_rstd * rstd * rstd * (-1.0 / count))):
            if part is not None:
                dx = part if dx is None else dx + part
    return None if dx is None else dx.reshape(shape), dw, db


def _node(name: str) -> type[Node]:
    return derivative(name, outputs=3)(_formula)


BatchNormBackward, LayerNormBackward = _node("NativeBatchNormBackward0"), _node("NativeLayerNormBackward0")
GroupNormBackward, RmsNormBackward = _node("NativeGroupNormBackward0"), _node("FusedRmsNormBackward0")


def _standardize(cls: type[Node], x: Tensor, form: Shape, axes: Shape, eps: float, weight: Tensor | None, bias: Tensor | None, parameters: Shape,
                 centred: bool = True) -> tuple[Tensor, Tensor, Tensor, Any]:
    """(y, mean, rstd, the variance's array); x is seen in the shape `form`, weight and bias in the shape `parameters`."""
    a = x._a
    backend = of(a)
    w, b = (None if t is None else _shaped(t, parameters) for t in (weight, bias))
    y, mean, rstd, variance = backend.standardize(a, form, axes, float(eps), w, b, centred)
    if not (x._rg or (weight is not None and weight._rg) or (bias is not None and bias._rg)):
        return wrap(y), wrap(mean), wrap(rstd), variance
    flat = next((t._a.shape for t in (weight, bias) if t is not None), ())
    results = record_many((y, mean, rstd), cls, (x, weight, bias), (x, weight), save_results=(1, 2), form=form, axes=axes, parameters=parameters,
                          flat=flat, centred=centred, count=product(form[d] for d in axes))
    return (*results, variance)


def _wide(x: Tensor | None, like: Tensor) -> Tensor | None:
    """A parameter or statistic in the dtype that `like` (x in float32 or float64) is computed in."""
    return None if x is None else cast(x, like.dtype)


def _computed(x: Tensor) -> Tensor:
    return cast(x, float32) if x._a.dtype in REDUCED else x


def _check_types(name: str, x: Tensor, **others: Tensor | None) -> None:
    """Parameters have the input's dtype, or float32 beside a 16-bit input."""
    for label, t in others.items():
        if t is None:
            continue
        if check_tensor(t, name, label)._a.dtype != x._a.dtype and not (x._a.dtype in REDUCED and t.dtype is float32):
            raise RuntimeError(f"expected scalar type {x.dtype!r} but found {t.dtype!r}: {name}'s {label} must have its input's dtype (mixed dtype (CPU): "
                               f"expect parameter to have scalar type of Float). Convert the input with .to({t.dtype!r}), or the layer with "
                               f".to({x.dtype!r}).")


# -- over the last dimensions --------------------------------------------------------------------------------------------------------


def _normalized_shape(name: str, value: Any) -> Shape:
    if is_int(value):
        return (value.__index__(),)
    if not isinstance(value, (tuple, list)) or not all(is_int(n) for n in value):
        raise TypeError(f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {type(value).__name__}")
    return tuple([n.__index__() for n in value])


def _check_normalized(x: Tensor, shape: Shape, weight: Tensor | None, bias: Tensor | None) -> None:
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []")
    for label, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._a.shape != shape:
            raise RuntimeError(f"Expected {label} to be of same shape as normalized_shape, but got {label} of shape {list(t._a.shape)} and "
                               f"normalized_shape = {list(shape)}")
    have = x._a.shape
    if have[len(have) - len(shape):] != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got input of "
                           f"size{list(have)}")


def _rows(x: Tensor, shape: Shape) -> tuple[Shape, Shape, Shape]:
    """The form of x as rows of `shape`'s elements, the shape of parameters in that form, and the shape of statistics."""
    lead = x._a.shape[: x._a.ndim - len(shape)]
    length = product(shape)
    return (product(lead), length), (1, length), (*lead, *[1] * len(shape))


@op(namespaces=PAIR)
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
               cudnn_enable: bool = True) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`, then times weight, plus bias (Ba et al. 2016).

    Weight and bias have the shape `normalized_shape`. RuntimeError where the input does not end in it.
    """
    if input.__class__ in PLAIN and normalized_shape.__class__ is tuple and len(normalized_shape) == 1:
        a = input._a  # what needs no checks and no conversions
        kind, shape = a.dtype, a.shape[-1:]
        if kind.char in "fd" and shape == normalized_shape and of(a).is_row_major(a) and \
                (weight is None or (weight.__class__ in PLAIN and weight._a.dtype is kind and weight._a.shape == shape)) and \
                (bias is None or (bias.__class__ in PLAIN and bias._a.dtype is kind and bias._a.shape == shape)):
            length = shape[0]
            return _standardize(LayerNormBackward, input, (product(a.shape[:-1]), length), (1,), eps, weight, bias, (1, length))[0]
    return _layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op()
def native_layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None,
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(layer_norm, mean, 1 / standard deviation), the last two with size 1 in place of the normalized dimensions."""
    return _layer_norm(input, normalized_shape, weight, bias, eps)


def _layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    x, shape = check_tensor(input, "layer_norm"), _normalized_shape("layer_norm", normalized_shape)
    _check_normalized(x, shape, weight, bias)
    refuse("LayerNormKernelImpl", x, "f")
    _check_types("layer_norm", x, weight=weight, bias=bias)
    wide = _computed(x).contiguous()
    form, parameters, kept = _rows(x, shape)
    y, mean, rstd, _ = _standardize(LayerNormBackward, wide, form, (1,), eps, _wide(weight, wide), _wide(bias, wide), parameters)
    stats = x.dtype if weight is None and bias is None else (weight if weight is not None else bias).dtype
    return cast(y, x.dtype), cast(mean.reshape(kept), stats), cast(rstd.reshape(kept), stats)


@op(namespaces=PAIR)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then times weight (Zhang and Sennrich 2019). eps None: the dtype's epsilon."""
    x, shape = check_tensor(input, "rms_norm"), _normalized_shape("rms_norm", normalized_shape)
    _check_normalized(x, shape, weight, None)
    refuse("rms_norm", x, "fc")
    wide = _computed(x)
    if eps is None:
        eps = of(x._a).epsilon(wide._a.dtype)
    if x._a.dtype.kind == "c":
        size = (x * x).mean(tuple(range(x._a.ndim - len(shape), x._a.ndim)), keepdim=True)
        y = x * (size + eps).rsqrt()
        return y if weight is None else y * weight
    if weight is not None and weight._a.dtype != x._a.dtype:  # mixed dtypes promote, as in any product
        return rms_norm(x, shape, None, eps) * weight
    form, parameters, _ = _rows(x, shape)
    y = _standardize(RmsNormBackward, wide.contiguous(), form, (1,), eps, _wide(weight, wide), None, parameters, False)[0]
    return cast(y, x.dtype)


# -- over channels and batches ------------------------------------------------------------------------------------------------------


def _channels_form(x: Tensor) -> tuple[Shape, Shape]:
    """(N, C, L), and the shape of parameters in it."""
    shape = x._a.shape
    return (shape[0], shape[1], product(shape[2:])), (1, shape[1], 1)


def _check_channels(name: str, x: Tensor, **tensors: Tensor | None) -> None:
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: expected an input of at least 2 dimensions (batch, channels, ...), got {list(x._a.shape)}")
    channels = x._a.shape[1]
    for label, t in tensors.items():
        if t is not None and check_tensor(t, name, label)._a.size != channels:
            raise RuntimeError(f"{label} should contain {channels} elements not {t._a.size}: {name}'s input has {channels} channels (shape "
                               f"{list(x._a.shape)})")


@derivative("NativeBatchNormBackward0")
def ScaleShiftBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, scale = unpack(node)
    axes = (0, *range(2, g._a.ndim))
    return (_scale_shift(g, scale, None) if node.needs(0) else None, (g * x).sum(axes) if node.needs(1) else None,
            g.sum(axes) if node.needs(2) else None)


def _scale_shift(x: Tensor, scale: Tensor, shift: Tensor | None) -> Tensor:
    """x scale + shift, one number each a channel."""
    form, parameters = _channels_form(x)
    backend = of(x._a)
    arrays = [None if t is None else backend.reshape_view(t._a, parameters) for t in (scale, shift)]
    return record(backend.scale_shift(x._a, form, *arrays), ScaleShiftBackward, (x, scale, shift), (x, scale))


@op(namespaces=FUNCTIONAL)
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 per channel of (N, C, ...), then times weight, plus bias, which have C elements (Ioffe and Szegedy 2015).

    In training by the batch's own statistics; the running ones, if given, move towards them in place by `momentum` (the variance as an
    unbiased estimate). Otherwise by the running ones. ValueError for one value a channel in training.
    """
    if training:
        _check_several(input)
    if eps < 0 or training and eps == 0:
        raise ValueError(f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, but got {eps}")
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _check_several(x: Tensor) -> None:
    shape = check_tensor(x, "batch_norm")._a.shape
    if len(shape) >= 2 and shape[0] * product(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.size()}")


@op(name="batch_norm")
def _torch_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                      training: bool, momentum: float, eps: float, cudnn_enabled: bool = True) -> Tensor:
    """`nn.functional.batch_norm` with torch.batch_norm's order of arguments."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@op()
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                      training: bool, momentum: float, eps: float, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """(batch_norm, mean, 1 / standard deviation) of the batch; the last two are empty outside training."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@op(name="_native_batch_norm_legit")
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any,
                             out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`; the running statistics may be left out: (..., [running_mean, running_var,] training, momentum, eps)."""
    statistics, how = (rest[:2], rest[2:]) if len(rest) == 5 else ((None, None), rest)
    return _batch_norm(input, weight, bias, *statistics, *how)


def _batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                training: bool, momentum: float, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    x = check_tensor(input, "batch_norm")
    if x._a.ndim < 2 and x._a.size == 0:
        return x.clone(), x.new_zeros(0), x.new_zeros(0)
    refuse("batch_norm", x, "f")
    _check_channels("batch_norm", x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    _check_types("batch_norm", x, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("running_mean and running_var must be defined in evaluation mode")
        given = running_mean, running_var, weight, bias
        if not (thread.grad and any(t is not None and t._rg for t in (x, *given))):
            arrays = [None if t is None else t._a for t in given]
            return wrap(of(x._a).normalized_by(x._a, *arrays, eps)), x.new_zeros(0), x.new_zeros(0)
    wide = _computed(x)
    w, b = _wide(weight, wide), _wide(bias, wide)
    if not training:
        scale = (_wide(running_var, wide) + eps).rsqrt()
        scale = scale if w is None else scale * w
        mean = _wide(running_mean, wide) * scale
        y = _scale_shift(wide, scale.reshape(-1), (-mean if b is None else b - mean).reshape(-1))
        return cast(y, x.dtype), x.new_zeros(0), x.new_zeros(0)
    form, parameters = _channels_form(x)
    y, mean, rstd, variance = _standardize(BatchNormBackward, wide, form, (0, 2), eps, w, b, parameters)
    _update_running(running_mean, running_var, mean, variance, momentum, form[0] * form[2])
    stats = x.dtype if weight is None or weight.dtype is x.dtype else float32
    return cast(y, x.dtype), cast(mean.reshape(-1), stats), cast(rstd.reshape(-1), stats)


def _update_running(running_mean: Tensor | None, running_var: Tensor | None, mean: Tensor, variance: Any, momentum: float, count: int) -> None:
    """Running statistics move towards a batch's (several samples' are averaged), in place and without history."""
    if not count or (running_mean is None and running_var is None):
        return
    with without_grad():
        found = wrap(variance)
        unbiased = found * (count / (count - 1)) if count > 1 else found
        for running, new in ((running_mean, mean.detach()), (running_var, unbiased)):
            if running is not None:
                new = new.reshape(-1, running._a.size)
                running.copy_(running * (1 - momentum) + (new[0] if new._a.shape[0] == 1 else new.mean(0)).reshape(running._a.shape) * momentum)


@op(namespaces=FUNCTIONAL)
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 per sample and channel of (N, C, ...) (Ulyanov et al. 2016), or by running statistics. See `batch_norm`."""
    if use_input_stats and check_tensor(input, "instance_norm")._a.ndim >= 3 and product(input._a.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@op(name="instance_norm")
def _torch_instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                         use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True) -> Tensor:
    """`nn.functional.instance_norm` with torch.instance_norm's order of arguments."""
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def _instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
                   use_input_stats: bool, momentum: float, eps: float) -> Tensor:
    x = check_tensor(input, "instance_norm")
    refuse("batch_norm", x, "f")
    _check_channels("instance_norm", x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats=False")
        return _batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    _check_types("instance_norm", x, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    wide = _computed(x).contiguous()
    form, parameters = _channels_form(x)
    y, mean, _, variance = _standardize(BatchNormBackward, wide, form, (2,), eps, _wide(weight, wide), _wide(bias, wide), parameters)
    _update_running(running_mean, running_var, mean, variance, momentum, form[2])
    return cast(y, x.dtype)


def _check_groups(name: str, x: Tensor, channels: int, groups: int, weight: Tensor | None, bias: Tensor | None) -> None:
    shape = list(x._a.shape)
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {shape} and "
                           f"num_groups={groups}")
    for label, t in (("weight", weight), ("bias", bias)):
        if t is not None and check_tensor(t, name, label)._a.shape != (channels,):
            raise RuntimeError(f"Expected {label} to be a vector of size equal to the number of channels in input, but got {label} of shape "
                               f"{list(t._a.shape)} and input of shape {shape}")
    refuse("GroupNormKernelImpl", x, "f")
    _check_types(name, x, weight=weight, bias=bias)


@op(namespaces=FUNCTIONAL)
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 per sample and group of channels of (N, C, ...), then times weight, plus bias (C) (Wu and He 2018).

    RuntimeError where C is not a multiple of `num_groups`; ValueError where every group has one value.
    """
    x = check_tensor(input, "group_norm")
    if x._a.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {x._a.ndim}")
    batch, channels = x._a.shape[:2]
    if num_groups > 0 and channels % num_groups == 0 and batch * (channels // num_groups) * product(x._a.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size "
                         f"{[batch * channels // num_groups, num_groups, *x._a.shape[2:]]}")
    return _group_norm(x, weight, bias, batch, channels, product(x._a.shape[2:]), num_groups, eps)[0]


@op(name="group_norm")
def _torch_group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
                      cudnn_enabled: bool = True) -> Tensor:
    """`nn.functional.group_norm`, with torch.group_norm's arguments."""
    return group_norm(input, num_groups, weight, bias, eps)


@op()
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int,  # noqa: N803
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(group_norm, mean, 1 / standard deviation), the last two of shape (N, group)."""
    return _group_norm(check_tensor(input, "native_group_norm"), weight, bias, N, C, HxW, group, eps)


def _group_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int, channels: int, length: int, groups: int,
                eps: float) -> tuple[Tensor, Tensor, Tensor]:
    _check_groups("group_norm", x, channels, groups, weight, bias)
    wide = _computed(x)
    form, parameters = (batch, groups, channels // groups, length), (1, groups, channels // groups, 1)
    y, mean, rstd, _ = _standardize(GroupNormBackward, wide, form, (2, 3), eps, _wide(weight, wide), _wide(bias, wide), parameters)
    stats = x.dtype if weight is None and bias is None else (weight if weight is not None else bias).dtype
    return cast(y, x.dtype), cast(mean.reshape(batch, groups), stats), cast(rstd.reshape(batch, groups), stats)


# -- others --------------------------------------------------------------------------------------------------------------------------


@op(namespaces=FUNCTIONAL)
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha mean(x^2 of `size` neighbouring channels))^beta (Krizhevsky et al. 2012), for (N, C, ...) of 3 or more dimensions."""
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
    size = input.norm(p, dim, keepdim=True).clamp_min(eps)
    return input / size.expand_as(input)
