"""Stochastic gradient descent."""
from __future__ import annotations

from typing import Any

from saraph.optim.optimizer import Optimizer, check, check_flags, number
from saraph.tensor.tensor import Tensor

__all__ = ["SGD"]


class SGD(Optimizer):
    """p <- p - lr v, with v = momentum v + (1 - dampening) g (Nesterov: g + momentum v); weight decay is added to g.

    `foreach` and `fused` choose among PyTorch's implementations and are accepted.
    """

    takes_sparse = True
    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float | Tensor = 0,
                 nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(number(lr) >= 0.0, "learning rate", lr)
        check(momentum >= 0.0, "momentum value", momentum)
        check(number(weight_decay) >= 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_flags(foreach, fused, differentiable)
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": None} if group["momentum"] != 0 else {}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        weight_decay, momentum = number(group["weight_decay"]), group["momentum"]
        if weight_decay != 0:
            grad = grad + p * float(weight_decay)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(float(momentum)).add_(grad * (1.0 - group["dampening"]) if group["dampening"] else grad)
            grad = grad + buffer * float(momentum) if group["nesterov"] else buffer
        lr = number(group["lr"])
        if grad.is_sparse:
            p.add_(grad, alpha=-lr)
        else:
            p.sub_(grad * float(lr))
