"""Folding a batch norm into the layer before it, for inference."""
from __future__ import annotations

import copy
from typing import TypeVar

from saraph.nn.modules.module import Module
from saraph.ops.creation import ones_like, zeros_like
from saraph.tensor.parameter import Parameter
from saraph.tensor.tensor import Tensor

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]
T = TypeVar("T", bound=Module)


def _fused(weight: Tensor, bias: Tensor | None, mean: Tensor, var: Tensor, eps: float, scale: Tensor | None, shift: Tensor | None,
           axis: int) -> tuple[Parameter, Parameter]:
    bias = zeros_like(mean) if bias is None else bias
    factor = (ones_like(mean) if scale is None else scale) * (var + eps).rsqrt()
    shape = [1] * weight.dim()
    shape[axis] = -1
    fused_weight = (weight * factor.reshape(shape)).to(dtype=weight.dtype)
    fused_bias = ((bias - mean) * factor + (zeros_like(mean) if shift is None else shift)).to(dtype=bias.dtype)
    return Parameter(fused_weight.detach(), weight.requires_grad), Parameter(fused_bias.detach(), bias.requires_grad)


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
                         bn_b: Tensor | None, transpose: bool = False) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the convolution that does what convolution and batch norm do."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor,
                           bn_b: Tensor) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the linear layer that does what linear layer and batch norm do."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _check(layer: Module, norm: Module) -> None:
    if layer.training or norm.training:
        raise AssertionError("Fusion only for eval!")
    if norm.running_mean is None or norm.running_var is None:
        raise AssertionError("Fusion needs a batch norm with running statistics (track_running_stats=True)")


def fuse_conv_bn_eval(conv: T, bn: Module, transpose: bool = False) -> T:
    """A copy of the convolution (both in eval mode) that includes the batch norm after it."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def fuse_linear_bn_eval(linear: T, bn: Module) -> T:
    """A copy of the linear layer (both in eval mode) that includes the batch norm after it."""
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused
