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

    same_numbers = True

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": None} if group["momentum"] != 0 else {}

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), number(group["weight_decay"]) != 0, group["momentum"] != 0, group["dampening"] != 0, bool(group["nesterov"])

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        return float(number(group["weight_decay"])), float(group["momentum"]), 1.0 - group["dampening"], float(number(group["lr"]))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        maximize, decays, moves, dampened, nesterov = variant
        weight_decay, momentum, share, lr = numbers
        if maximize:
            grad = -grad
        if decays:
            grad = grad + p * weight_decay
        if not moves:
            return (p - grad * lr,)
        buffer = states[0] * momentum + (grad * share if dampened else grad)
        return p - (grad + buffer * momentum if nesterov else buffer) * lr, buffer

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        weight_decay, momentum = number(group["weight_decay"]), group["momentum"]
        if not grad.is_sparse and (momentum == 0 or state.get("momentum_buffer") is not None):
            super().update(p, grad, state, group)
            return
        if weight_decay != 0:
            grad = grad + p * float(weight_decay)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:  # the first step: the gradient itself
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(float(momentum)).add_(grad * (1.0 - group["dampening"]) if group["dampening"] else grad)
            grad = grad + buffer * float(momentum) if group["nesterov"] else buffer
        if grad.is_sparse:
            p.add_(grad, alpha=-number(group["lr"]))
        else:
            p.sub_(grad * float(number(group["lr"])))
