"""Losses. All take `reduction`: "none" (one value per element or sample), "mean" or "sum"; `size_average` and `reduce` are its old form."""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops.activation import logsigmoid
from saraph.ops.creation import zeros_like
from saraph.ops.matmul import linear
from saraph.ops.registry import op
from saraph.ops.spatial import title
from saraph.tensor.fusing import Composite, fits
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, record, unpack, wrap

INT64 = np.dtype(np.int64)


def reduction_of(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction that the arguments, old and new, ask for."""
    if size_average is not None or reduce is not None:
        average = True if size_average is None else size_average
        found = "none" if reduce is False else ("mean" if average else "sum")
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.", stacklevel=3)
        return found
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _of_elements(composite: Composite, reduction: str, *tensors: Tensor, numbers: tuple[Any, ...] = ()) -> Tensor:
    """A loss made of one value per element, reduced as asked."""
    if reduction == "none":
        return composite(*tensors, numbers=numbers)
    return composite.sum(*tensors, numbers=numbers, mean=reduction == "mean")


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The losses reduced as asked."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _check_sizes(name: str, input: Tensor, target: Tensor) -> None:
    """Broadcasting in a loss is nearly always a mistake (a missing squeeze): say so."""
    if target.shape != input.shape:
        warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) in {name}. This will likely lead "
                      "to incorrect results due to broadcasting. Please ensure they have the same size.", stacklevel=4)


def _weighted(loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != loss.shape:
        raise ValueError(f"Weights and input must have the same size, got {tuple(weight.shape)} and {tuple(loss.shape)}.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def _real_loss(name: str, input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f'"{name}" not implemented for {str(input.dtype).removeprefix("torch.")!r}: convert the input with .float()')


def _smooth_difference(input: Tensor, target: Tensor, beta: float) -> Tensor:
    difference = (input - target).abs()
    return (difference < beta).where(difference * difference * (0.5 / beta), difference - 0.5 * beta)


def _huber_difference(input: Tensor, target: Tensor, delta: float) -> Tensor:
    difference = (input - target).abs()
    return (difference <= delta).where(difference * difference * 0.5, (difference - 0.5 * delta) * delta)


def _soft_margins(input: Tensor, target: Tensor) -> Tensor:
    margin = -target * input
    return (-margin.abs()).exp().log1p() + margin.clamp(min=0)


_square = Composite("MseLossBackward0", lambda input, target: (input - target) * (input - target))
_absolute = Composite("L1LossBackward0", lambda input, target: (input - target).abs())
_smooth = Composite("SmoothL1LossBackward0", _smooth_difference)
_huber = Composite("HuberLossBackward0", _huber_difference)
_logits_entropy = Composite("BinaryCrossEntropyWithLogitsBackward0", lambda input, target: (1 - target) * input - logsigmoid(input))
_soft_margin = Composite("SoftMarginLossBackward0", _soft_margins)


@op(namespaces="nn.functional", autocast="float32")
def mse_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:
    """(input - target)^2."""
    reduction = reduction_of(reduction, size_average, reduce)
    _check_sizes("mse_loss", input, target)
    if weight is None and fits(input, target):
        return _of_elements(_square, reduction, input, target)
    difference = input - target
    _real_loss("mse_loss", difference)
    return _weighted(difference * difference, weight, reduction)


@op(namespaces="nn.functional", autocast="float32")
def l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
            weight: Tensor | None = None) -> Tensor:
    """|input - target|."""
    reduction = reduction_of(reduction, size_average, reduce)
    _check_sizes("l1_loss", input, target)
    if weight is None and fits(input, target):
        return _of_elements(_absolute, reduction, input, target)
    return _weighted((input - target).abs(), weight, reduction)


@op(namespaces="nn.functional", autocast="float32")
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:
    """d^2 / (2 beta) where d = |input - target| is below beta, else d - beta / 2."""
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    _check_sizes("smooth_l1_loss", input, target)
    if beta == 0:
        return _of_elements(_absolute, reduction, input, target) if fits(input, target) else reduced((input - target).abs(), reduction)
    if fits(input, target):
        return _of_elements(_smooth, reduction, input, target, numbers=(float(beta),))
    loss = _smooth.function(input, target, beta)
    _real_loss("smooth_l1_loss", loss)
    return reduced(loss, reduction)


@op(namespaces="nn.functional", autocast="float32")
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """d^2 / 2 where d = |input - target| is at most delta, else delta (d - delta / 2)."""
    reduction = reduction_of(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _check_sizes("huber_loss", input, target)
    if weight is None and fits(input, target):
        return _of_elements(_huber, reduction, input, target, numbers=(float(delta),))
    loss = _huber.function(input, target, delta)
    _real_loss("huber_loss", loss)
    return _weighted(loss, weight, reduction)


@op(namespaces=("nn.functional", "torch"), autocast="float32")
def kl_div(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:
    """target (log target - input): input holds log-probabilities, target probabilities (or their logs). "batchmean" divides by the batch size."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides only by the batch "
                      "size, and aligns with the KL div math definition. 'mean' will be changed to behave the same as 'batchmean' in the next "
                      "major release.", stacklevel=3)
    loss = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.dim() else loss.sum()
    return reduced(loss, reduction_of(reduction, size_average, reduce))


@op(namespaces=("nn.functional", "torch"), autocast="float32")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
                     reduce: Any = None, reduction: str = "mean") -> Tensor:
    """exp(input) - target input (or input - target log(input + eps)), with Stirling's term for targets above 1 when `full`."""
    reduction = reduction_of(reduction, size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


@op(namespaces="nn.functional", autocast="float32")
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """(log var + (input - target)^2 / var) / 2, with var clamped to eps; plus log(2 pi) / 2 when `full`."""
    if not isinstance(var, Tensor):
        var = input.new_full((), var).expand(input.shape)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not (input.dim() == var.dim() and all(a == b or b == 1 for a, b in zip(input.shape, var.shape))):
            raise ValueError(f"var is of incorrect size: got {tuple(var.shape)} for an input of {tuple(input.shape)}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    var.detach().clamp_(min=eps)
    loss = (var.log() + (input - target) ** 2 / var) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


# -- binary classification ---------------------------------------------------------------------------------------------------


@op(namespaces="nn.functional")
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """-(t log x + (1 - t) log(1 - x)) for probabilities x; the logarithms are held above -100. RuntimeError outside [0, 1]."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please ensure "
                         "they have the same size.")
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype!r} but expected {input.dtype!r}: binary_cross_entropy needs input and target of one dtype")
    if input.numel() and not bool(((input >= 0) & (input <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1 (binary_cross_entropy takes probabilities; for logits use "
                           "binary_cross_entropy_with_logits)")
    loss = (target - 1) * (-input).log1p().clamp(min=-100) - target * input.log().clamp(min=-100)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


@op(namespaces=("nn.functional", "torch"), autocast="float32")
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
                                     reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:
    """Binary cross entropy of sigmoid(input), computed without overflow; `pos_weight` multiplies the positive term."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if weight is None and pos_weight is None and fits(input, target):
        return _of_elements(_logits_entropy, reduction, input, target)
    log_probability = logsigmoid(input)
    if pos_weight is not None:
        log_probability = ((pos_weight - 1) * target + 1) * log_probability
    loss = (1 - target) * input - log_probability
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


@op(namespaces="nn.functional")
def soft_margin_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target input)) for targets of +-1."""
    reduction = reduction_of(reduction, size_average, reduce)
    if fits(input, target):
        return _of_elements(_soft_margin, reduction, input, target)
    return reduced(_soft_margin.function(input, target), reduction)


@op(namespaces=("nn.functional", "torch"))
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    zeros = input.new_zeros(())
    near = (target == -1).where(zeros, input)
    far = (target == 1).where(zeros, (margin - input).clamp(min=0))
    return reduced(near + far, reduction)


@op(namespaces=("nn.functional", "torch"))
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
                        reduction: str = "mean") -> Tensor:
    """max(0, -target (input1 - input2) + margin)."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {tuple(input1.shape)}, "
                           f"input2: {tuple(input2.shape)}, target: {tuple(target.shape)} ")
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


@op(namespaces=("nn.functional", "torch"))
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
                          reduction: str = "mean") -> Tensor:
    """1 - cos(x1, x2) where target is 1, max(0, cos - margin) where it is -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    rank = target.dim() + 1
    if input1.dim() != rank or input2.dim() != rank:
        raise RuntimeError(f"{target.dim()}D target tensor expects {rank}D input tensors, but found inputs with sizes {list(input1.shape)} and "
                           f"{list(input2.shape)}.")
    eps = 1e-12
    product = (input1 * input2).sum(-1)
    squares1, squares2 = (input1 * input1).sum(-1) + eps, (input2 * input2).sum(-1) + eps
    cosine = product / (squares1 * squares2).sqrt()
    zeros = cosine.new_zeros(())
    loss = (target == 1).where(1 - cosine, zeros) + (target == -1).where((cosine - margin).clamp(min=0), zeros)
    return reduced(loss, reduction)


# -- classification -----------------------------------------------------------------------------------------------------------


@op(namespaces="nn.functional", autocast="float32")
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
             reduce: Any = None, reduction: str = "mean") -> Tensor:
    """-weight[target] input[target] for log-probabilities (batch, classes, *) or (classes) and class numbers (batch, *) or ().

    Samples whose target is `ignore_index` count nothing; the mean is weighted.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    _check_classes("nll_loss", input, target, weight, ignore_index)
    axis = 0 if input.dim() == 1 else 1
    ignored = target == ignore_index
    chosen = target.masked_fill(ignored, 0).long()
    picked = -input.gather(axis, chosen.unsqueeze(axis)).squeeze(axis)
    if weight is None:
        loss = picked.masked_fill(ignored, 0)
        if reduction != "mean":
            return reduced(loss, reduction)
        kept = target.numel() - int(ignored.sum())
        return loss.sum() / kept
    scale = weight[chosen].masked_fill(ignored, 0)
    loss = (picked * scale).masked_fill(ignored, 0)
    return loss.sum() / scale.sum() if reduction == "mean" else reduced(loss, reduction)


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> None:
    if input.dim() == 0:
        raise RuntimeError("input tensor should be 1D or 2D")
    if input.dim() > 1 and target.dim() and target.shape[0] != input.shape[0]:
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]}).")
    if target.is_floating_point() or target.is_complex():
        raise RuntimeError(f"expected scalar type Long but found {title(target)}: {name} takes class numbers (int64) as its target, got "
                           f"{describe(input, target)}")
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {title(target)}: convert the target with .long()")
    expected = input.shape[:1] + input.shape[2:] if input.dim() > 1 else ()
    if tuple(target.shape) != tuple(expected) and not (input.dim() == 1 and tuple(target.shape) == (1,)):
        if input.dim() <= 2:
            raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported: {name} got {describe(input, target)}")
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)} in {name} (input {list(input.shape)})")
    classes = input.shape[0 if input.dim() == 1 else 1]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
                           f"{list(weight.shape)}")
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {title(input)} but found {title(weight)}: {name} needs weight and input of one dtype")
    if target.numel():
        wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
        if bool(wrong.any()):
            raise IndexError(f"Target {int(target[wrong].reshape(-1)[0])} is out of bounds: {name} got an input with {classes} classes "
                             f"(targets must be 0 to {classes - 1}, or ignore_index={ignore_index})")


@derivative("NllLossBackward0")
def ClassLossBackward(node: Any, g: Tensor) -> Tensor:
    x, target = unpack(node)
    rows = (g if node.scale is None else g * node.scale).expand(target.shape)
    if thread.grad:
        kept = target != (-1 if node.ignore_index is None else node.ignore_index)
        own = zeros_like(x).scatter(1, target.masked_fill(~kept, 0).unsqueeze(1), 1.0)
        return (x.softmax(1) - own) * rows.masked_fill(~kept, 0).unsqueeze(1)
    return wrap(of(x._a).class_losses_backward(rows._a, x._a, target._a, node.ignore_index, *node.terms))


def _are_rows(input: Tensor, target: Tensor) -> bool:
    """Whether these are rows of float32 or float64 and their classes: the common case, which one kernel computes."""
    a, b = input._a, target._a
    return a.ndim == 2 and a.dtype.char in "fd" and b.dtype is INT64 and b.shape == a.shape[:1]


def _of_classes(x: Tensor, target: Tensor, ignore_index: int | None, reduction: str) -> Tensor:
    """The cross entropy of rows and their classes, without the logarithms of all probabilities."""
    a = x._a
    backend = of(a)
    losses, *terms = backend.class_losses(a, target._a, ignore_index)
    scale = None
    if reduction != "none":
        losses = backend.sum(losses, None, False)
        scale = 1.0
        if reduction == "mean":
            kept = target.numel() - (0 if ignore_index is None else int((target == ignore_index).sum()))
            scale = 1.0 / kept if kept else math.nan
            losses = backend.div(losses, backend.scalar(kept, a.dtype))
    return record(losses, ClassLossBackward, (x,), (x, target), scale=scale, ignore_index=ignore_index, terms=terms)


@op(namespaces="nn.functional", autocast="float32")
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
                  reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Tensor:
    """Negative log likelihood of softmax(input): input (batch, classes, *) or (classes); target class numbers, or probabilities of input's shape.

    Example: `cross_entropy(tensor([[2., 0.]]), tensor([0]))` is `tensor(0.1269)`.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = 0 if input.dim() == 1 else 1
    if input.shape == target.shape and (target.is_floating_point() or input.dim() == 0):
        return _cross_entropy_of_probabilities(input, target, weight, reduction, label_smoothing, axis, ignore_index)
    if input.dim() == 0:
        raise RuntimeError("cross_entropy: input must have a class dimension, got a zero-dim tensor")
    if weight is None and label_smoothing == 0.0 and _are_rows(input, target):
        inside = of(target._a).all_within(target._a, input.shape[1])
        if not inside:
            _check_classes("cross_entropy", input, target, weight, ignore_index)
        return _of_classes(input, target, None if inside and not 0 <= ignore_index < input.shape[1] else ignore_index, reduction)
    _check_classes("cross_entropy", input, target, weight, ignore_index)
    logs = input.log_softmax(axis)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0.0:
        return loss
    shape = [1] * logs.dim()
    shape[axis] = logs.shape[axis]
    smooth = -(logs if weight is None else logs * weight.reshape(shape)).sum(axis)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0)
    if reduction == "mean":
        if weight is None:
            smooth = smooth.sum() / (target.numel() - int(ignored.sum()))
        else:
            smooth = smooth.sum() / weight[target.masked_fill(ignored, 0).long()].masked_fill(ignored, 0).sum()
    else:
        smooth = reduced(smooth, reduction)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / input.shape[axis])


def _cross_entropy_of_probabilities(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float, axis: int,
                                    ignore_index: int) -> Tensor:
    if not target.is_floating_point():
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype!r}")
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    classes = input.shape[axis]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
                           f"shape: {list(weight.shape)}")
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    logs = input.log_softmax(axis)
    if weight is not None:
        shape = [1] * logs.dim()
        shape[axis] = classes
        logs = logs * weight.reshape(shape)
    loss = -(logs * target)
    if reduction == "mean":
        return loss.sum() / (input.numel() // classes) if classes and input.numel() else loss.sum() / 0
    return loss.sum() if reduction == "sum" else loss.sum(axis)


@op(namespaces="nn.functional")
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: Any = None,
                      reduce: Any = None, reduction: str = "mean") -> Tensor:
    """sum over other classes of max(0, margin - x[target] + x[class])^p, divided by the number of classes."""
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError(f"weight must be one-dimensional, got {list(weight.shape)}")
    if input.dim() > 2 or input.dim() and input.shape[-1] == 0:
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    x = input if input.dim() == 2 else input.reshape(1, -1)
    index = target.reshape(-1, 1)
    if index.shape[0] != x.shape[0] or target.dim() > 1:
        raise RuntimeError(f"multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected target "
                           f"size [{x.shape[0]}], but got {list(target.shape)}. Input has shape {list(input.shape)}.")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {title(target)}: multi_margin_loss takes class numbers (int64)")
    if bool(((target < 0) | (target >= x.shape[1])).any()):
        raise RuntimeError(f"target out of range: multi_margin_loss got an input with {x.shape[1]} classes")
    if weight is not None and tuple(weight.shape) != (x.shape[1],):
        raise RuntimeError(f"inconsistent weight size, expected {x.shape[1]} but got {list(weight.shape)}")
    distance = (margin - x.gather(1, index) + x).clamp(min=0)
    if p == 2:
        distance = distance * distance
    if weight is not None:
        distance = distance * weight[target.reshape(-1)].unsqueeze(1)
    own = x.new_zeros(x.shape).bool().scatter(1, index, True)
    loss = distance.masked_fill(own, 0).sum(1) / x.shape[1]
    return reduced(loss if target.dim() else loss.squeeze(0), reduction)


@op(namespaces="nn.functional")
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """sum over target classes (up to the first -1) and other classes of max(0, 1 - x[target] + x[other]), over the number of classes."""
    reduction = reduction_of(reduction, size_average, reduce)
    if input.dim() > 2 or (input.dim() and input.shape[-1] == 0):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    if input.shape != target.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    batched = input.dim() == 2
    x, y = (input, target) if batched else (input.reshape(1, -1), target.reshape(1, -1))
    used = (y >= 0).long().cumprod(1).bool()
    chosen = y.masked_fill(~used, 0)
    marks = x.new_zeros(x.shape).scatter_add(1, chosen, used.to(x.dtype)).bool()
    picked = x.gather(1, chosen)
    distance = (1 - picked.unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)
    distance = distance.masked_fill(marks.unsqueeze(1) | ~used.unsqueeze(2), 0)
    loss = distance.sum((1, 2)) / x.shape[1]
    return reduced(loss if batched else loss.squeeze(0), reduction)


@op(namespaces="nn.functional")
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
                                reduction: str = "mean") -> Tensor:
    """Binary cross entropy with logits, averaged over the classes (last dimension)."""
    reduction = reduction_of(reduction, size_average, reduce)
    softplus = (-input.abs()).exp().log1p()
    loss = target * (softplus + (-input).clamp(min=0)) + (1 - target) * (softplus + input.clamp(min=0))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input.shape[-1], reduction)


# -- triplets -----------------------------------------------------------------------------------------------------------------


def _distance(a: Tensor, b: Tensor, p: float, eps: float) -> Tensor:
    return (a - b + eps).norm(p, -1)


@op(namespaces=("nn.functional", "torch"))
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                        swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with p-norm distances; `swap` also considers d(positive, negative)."""
    reduction = reduction_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
                           f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    near, far = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(_distance(positive, negative, p, eps))
    return reduced((margin + near - far).clamp(min=0), reduction)


@op(namespaces="nn.functional")
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = None, margin: float = 1.0,
                                      swap: bool = False, reduction: str = "mean") -> Tensor:
    """The triplet loss with a distance of the caller's (default: the Euclidean one)."""
    reduction = reduction_of(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
                           f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    distance = distance_function if distance_function is not None else lambda a, b: _distance(a, b, 2.0, 1e-6)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


@op(namespaces="nn.functional", autocast="float32")
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None,
                         reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target): weight (classes, *out, features).

    `options` ask PyTorch to work through the batch in chunks; the result is the same, and here there is one way to compute it.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}: linear_cross_entropy takes (batch, features) or (features)")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}: (classes, *, features)")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(f"expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and "
                           f"{linear_weight.shape[-1]}, respectively")
    classes = tuple(linear_weight.shape[:-1])
    if input.dim() == 1 and len(classes) > 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, (N, "
                           f"{input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}")
    if linear_bias is not None and tuple(linear_bias.shape) != classes:
        raise RuntimeError(f"expected linear_bias shape {classes}, got {tuple(linear_bias.shape)}")
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    logits = linear(input, linear_weight.reshape(-1, linear_weight.shape[-1]), None if linear_bias is None else linear_bias.reshape(-1))
    logits = logits.reshape((*input.shape[:-1], *classes))
    return cross_entropy(logits, target, weight=weight, reduction=reduction, ignore_index=-100 if ignore_index is None else ignore_index,
                         label_smoothing=label_smoothing)
