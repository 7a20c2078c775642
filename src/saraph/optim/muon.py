"""Muon: momentum whose matrix is made orthogonal before the step (Jordan 2024)."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes
from saraph.ops.creation import zeros_like
from saraph.optim.optimizer import Optimizer, check_lr
from saraph.tensor.tensor import Tensor

__all__ = ["Muon"]


def orthogonalize(grad: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrix, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if grad.dim() != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = grad.to(dtypes.bfloat16)
    if grad.size(0) > grad.size(1):
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = x.addmm(gram.addmm(gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if grad.size(0) > grad.size(1) else x


def adjusted_lr(lr: float, how: str | None, shape: tuple[int, ...]) -> float:
    """The learning rate for a matrix of that shape: "original" (Jordan) or "match_rms_adamw" (Moonshot)."""
    rows, columns = shape[:2]
    if how is None or how == "original":
        return lr * math.sqrt(max(1, rows / columns))
    return lr * 0.2 * math.sqrt(max(rows, columns))


class Muon(Optimizer):
    """For the 2-d weights of hidden layers; give biases, embeddings and heads to another optimizer."""

    def __init__(self, params: Any, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
                 adjust_lr_fn: str | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if momentum < 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        check_lr(lr)
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                                  "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        return {"momentum_buffer": zeros_like(p)}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        buffer, momentum = state["momentum_buffer"], float(group["momentum"])
        buffer.mul_(momentum).add_(grad * (1.0 - momentum))
        change = grad + (buffer - grad) * momentum if group["nesterov"] else buffer
        change = orthogonalize(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1.0 - group["lr"] * group["weight_decay"])
        p.sub_(change.to(p.dtype).mul_(adjusted_lr(float(group["lr"]), group["adjust_lr_fn"], p.shape)))
