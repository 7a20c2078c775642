"""Limiting the size of gradients."""
from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

from saraph.autograd import no_grad
from saraph.ops.creation import tensor
from saraph.ops.foreach import foreach_mul_in_place, norms_together
from saraph.tensor.tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "get_total_norm", "clip_grads_with_norm_"]


def _listed(parameters: Any) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The p-norm of all tensors taken together."""
    values = _listed(tensors)
    p = float(norm_type)
    with no_grad():
        if not values:
            return tensor(0.0)
        norms = norms_together(values, p)
        total = norms.norm(p) if len(values) > 1 else norms[0].clone()
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(f"The total norm of order {p} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this "
                               "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
        return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale gradients by max_norm / (total_norm + 1e-6) where that is below 1."""
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        kind = factor._a.dtype
        foreach_mul_in_place(grads, [factor.to(g.dtype) for g in grads] if any(g._a.dtype is not kind for g in grads) else factor)


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                    foreach: bool | None = None) -> Tensor:
    """Scale the gradients of all parameters so that their common norm is at most max_norm; returns the norm they had."""
    values = _listed(parameters)
    if not values:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm([p.grad for p in values if p.grad is not None], norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(values, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """Old name of `clip_grad_norm_`."""
    warnings.warn("torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float, foreach: bool | None = None) -> None:
    """Hold every element of the gradients within +-clip_value."""
    limit = float(clip_value)
    with no_grad():
        for p in _listed(parameters):
            if p.grad is not None:
                p.grad.clamp_(min=-limit, max=limit)
