"""The Adam family: running means of the gradient and of its square (Kingma and Ba 2015, and what followed)."""
from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from saraph.ops.creation import tensor, zeros_like
from saraph.optim.optimizer import Optimizer, advance, check, check_betas, check_flags, check_lr, new_step, number, prepared
from saraph.tensor.tensor import Tensor

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam", "SparseAdam"]


def _average(mean: Tensor, value: Tensor, weight: float) -> None:
    """mean <- (1 - weight) mean + weight value, in place."""
    mean.mul_(1.0 - weight).add_(value * weight)


def decay_of(group: dict[str, Any]) -> str:
    """How a group's weights decay: not at all (""), "decoupled" from the gradient, or "added" to it."""
    return "" if group["weight_decay"] == 0 else "decoupled" if group["decoupled_weight_decay"] else "added"


def decayed(variant: Any, p: Any, grad: Any, decay: Any) -> tuple[Any, Any]:
    """Parameter and gradient: the latter turned round if variant[0] (maximize), weights decayed as variant[1] says."""
    if variant[0]:
        grad = -grad
    if variant[1] == "decoupled":
        return p * decay, grad
    return p, grad + p * decay if variant[1] else grad


def weights_of(betas: tuple[float, float]) -> tuple[float, float, float, float]:
    """For both running means: the weight of what is new, and of what is kept."""
    weight1, weight2 = 1.0 - betas[0], 1.0 - betas[1]
    return weight1, 1.0 - weight1, weight2, 1.0 - weight2


class Adam(Optimizer):
    """p <- p - lr m' / (sqrt(v') + eps), with bias-corrected running means m of g and v of g^2 (Kingma and Ba 2015).

    `amsgrad` uses the maximum of v so far (Reddi et al. 2018); `decoupled_weight_decay` shrinks p instead of adding to g (AdamW).
    """

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable and isinstance(betas[1 - i], Tensor):
                raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        check_flags(foreach, fused, differentiable)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
                                  "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
                                  "decoupled_weight_decay": decoupled_weight_decay})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": new_step(), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), decay_of(group), bool(group["amsgrad"])

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        beta1, beta2 = group["betas"]
        return _numbers(advance(state), number(beta1), number(beta2), float(number(group["lr"])), float(group["weight_decay"]),
                        group["decoupled_weight_decay"], float(group["eps"]))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        amsgrad = variant[2]
        decay, weight1, keep1, weight2, keep2, correction, eps, rate = numbers
        p, grad = decayed(variant, p, grad, decay)
        mean = states[0] * keep1 + grad * weight1
        square = states[1] * keep2 + grad * grad * weight2
        largest = states[2].maximum(square) if amsgrad else square
        p = p - mean / (largest.sqrt() / correction + eps) * rate
        return (p, mean, square, largest) if amsgrad else (p, mean, square)


@lru_cache(64)  # most parameters of a group are at the same step
def _numbers(step: float, beta1: float, beta2: float, lr: float, decay: float, decoupled: bool, eps: float) -> tuple[float, ...]:
    """What Adam's formula takes."""
    return (1.0 - lr * decay if decoupled else decay, *weights_of((beta1, beta2)), math.sqrt(1.0 - beta2**step), eps, lr / (1.0 - beta1**step))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself (Loshchilov and Hutter 2019)."""

    def __init__(self, params: Any, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
                         differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class Adamax(Optimizer):
    """Adam with the largest decayed |g| in place of the root of v (Kingma and Ba 2015, section 7)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
                 capturable: bool = False) -> None:
        check_lr(lr)
        check(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "capturable": capturable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": new_step(), "exp_avg": zeros_like(p), "exp_inf": zeros_like(p)}

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), group["weight_decay"] != 0

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        step = advance(state)
        beta1, beta2 = group["betas"]
        weight = 1.0 - beta1
        return (float(group["weight_decay"]), weight, 1.0 - weight, float(beta2), float(group["eps"]), float(number(group["lr"])) / (1.0 - beta1**step))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        weight_decay, weight, keep, beta2, eps, rate = numbers
        grad = prepared(variant, p, grad, weight_decay)
        mean = states[0] * keep + grad * weight
        largest = (states[1] * beta2).maximum(grad.abs() + eps)
        return p - mean / largest * rate, mean, largest


class NAdam(Optimizer):
    """Adam with Nesterov momentum (Dozat 2016)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        check(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check(momentum_decay >= 0.0, "momentum_decay value", momentum_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
                                  "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
                                  "capturable": capturable, "differentiable": differentiable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": new_step(), "mu_product": tensor(1.0), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), decay_of(group)

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        step = advance(state)
        beta1, beta2 = group["betas"]
        lr, decay = float(number(group["lr"])), float(group["weight_decay"])
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        product = state["mu_product"]
        product.mul_(mu)
        so_far = product.item()
        decay = 1.0 - lr * decay if group["decoupled_weight_decay"] else decay
        return (decay, *weights_of((beta1, beta2)), 1.0 - beta2**step, float(group["eps"]), lr * (1.0 - mu) / (1.0 - so_far),
                lr * mu_next / (1.0 - so_far * mu_next))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        decay, weight1, keep1, weight2, keep2, correction, eps, of_gradient, of_mean = numbers
        p, grad = decayed(variant, p, grad, decay)
        mean = states[0] * keep1 + grad * weight1
        square = states[1] * keep2 + grad * grad * weight2
        denominator = (square / correction).sqrt() + eps
        return p - grad / denominator * of_gradient - mean / denominator * of_mean, mean, square


class RAdam(Optimizer):
    """Adam that holds back while the variance of its step is not yet known (Liu et al. 2020)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        check(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
                                  "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": new_step(), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = advance(state)
        beta1, beta2 = group["betas"]
        lr = float(number(group["lr"]))
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1.0 - lr * group["weight_decay"])
            else:
                grad = grad + p * float(group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        _average(mean, grad, 1.0 - beta1)
        _average(square, grad * grad, 1.0 - beta2)
        correction2 = 1.0 - beta2**step
        unbiased = mean / (1.0 - beta1**step)
        limit = 2.0 / (1.0 - beta2) - 1.0
        length = limit - 2.0 * step * beta2**step / correction2  # of the approximated simple moving average
        if length > 5.0:
            rectified = math.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
            adaptive = square.sqrt().add_(float(group["eps"]))
            p.sub_((unbiased / adaptive).mul_(lr * rectified * math.sqrt(correction2)))
        else:
            p.sub_(unbiased.mul_(lr))


class SparseAdam(Optimizer):
    """Adam for sparse gradients: only the rows that have a gradient are touched."""

    def __init__(self, params: Any, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 maximize: bool = False) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(number(lr) > 0.0, "learning rate", lr)
        check(eps > 0.0, "epsilon value", eps)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [([k, i], p) for k, group in enumerate(self.param_groups) for i, p in enumerate(group["params"])]
        sparse, complexes = [at for at, p in places if p.is_sparse], [at for at, p in places if p.is_complex()]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if complexes:
            raise ValueError(f"Complex params at indices {complexes}: SparseAdam does not support complex parameters")

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": 0, "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def check_gradient(self, grad: Tensor) -> None:
        """Only sparse gradients are taken."""
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1
        step = state["step"]
        beta1, beta2 = group["betas"]
        grad = grad.coalesce()
        rows, values = tuple(grad.indices()), grad.values()
        if values.numel() == 0:
            return
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        new_mean = mean[rows] + (values - mean[rows]) * (1.0 - beta1)
        new_square = square[rows] + (values * values - square[rows]) * (1.0 - beta2)
        mean[rows], square[rows] = new_mean, new_square
        size = float(number(group["lr"])) * math.sqrt(1.0 - beta2**step) / (1.0 - beta1**step)
        p[rows] = p[rows] - new_mean / new_square.sqrt().add_(float(group["eps"])) * size
