"""Optimizers with a step size per element: Adagrad, Adadelta, RMSprop, Rprop, ASGD, Adafactor."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes
from saraph.dtypes import finfo
from saraph.ops.creation import full_like, tensor, zeros_like
from saraph.optim.optimizer import Optimizer, advance, check, check_flags, check_lr, new_step, number, prepared
from saraph.tensor.tensor import Tensor

__all__ = ["Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "Adafactor"]


class Adagrad(Optimizer):
    """p <- p - lr' g / (sqrt(sum of g^2) + eps), with lr' = lr / (1 + (step - 1) lr_decay) (Duchi et al. 2011)."""

    takes_sparse = True
    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        check_lr(lr)
        check(lr_decay >= 0.0, "lr_decay value", lr_decay)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check(initial_accumulator_value >= 0.0, "initial_accumulator_value value", initial_accumulator_value)
        check(eps >= 0.0, "epsilon value", eps)
        check_flags(foreach, fused, differentiable)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                                  "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:
            for p in group["params"]:
                start = group["initial_accumulator_value"]
                self.state[p].update(step=new_step(), sum=full_like(p, complex(start, start) if p.is_complex() else start))

    def share_memory(self) -> None:
        """Move the state into shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), group["weight_decay"] != 0

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        step = advance(state)
        return float(group["weight_decay"]), float(number(group["lr"])) / (1 + (step - 1) * group["lr_decay"]), float(group["eps"])

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        weight_decay, lr, eps = numbers
        grad = prepared(variant, p, grad, weight_decay)
        total = states[0] + grad * grad
        return p - grad / (total.sqrt() + eps) * lr, total

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not grad.is_sparse:
            super().update(p, grad, state, group)
            return
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        _, lr, eps = self.numbers(state, group)
        self._update_rows(p, grad.coalesce(), state["sum"], lr, eps)

    @staticmethod
    def _update_rows(p: Tensor, grad: Tensor, total: Tensor, lr: float, eps: float) -> None:
        rows, values = tuple(grad.indices()), grad.values()
        total[rows] = total[rows] + values * values
        p[rows] = p[rows] - values / (total[rows].sqrt() + eps) * lr


class Adadelta(Optimizer):
    """Steps scaled by the running size of past steps over that of gradients (Zeiler 2012)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
                 foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        check(0.0 <= rho <= 1.0, "rho value", rho)
        check(eps >= 0.0, "epsilon value", eps)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
                                  "foreach": foreach, "differentiable": differentiable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": new_step(), "square_avg": zeros_like(p), "acc_delta": zeros_like(p)}

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "square_avg", "acc_delta"

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), group["weight_decay"] != 0

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        advance(state)
        rho = float(group["rho"])
        return float(group["weight_decay"]), rho, 1.0 - rho, float(group["eps"]), float(number(group["lr"]))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        weight_decay, rho, rest, eps, lr = numbers
        grad = prepared(variant, p, grad, weight_decay)
        square = states[0] * rho + grad * grad * rest
        delta = (states[1] + eps).sqrt() / (square + eps).sqrt() * grad
        return p - delta * lr, square, states[1] * rho + delta * delta * rest


class RMSprop(Optimizer):
    """Gradients over the root of their running mean square, with momentum and, if `centered`, the variance instead (Graves 2013)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
                 momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False) -> None:
        check_lr(lr)
        check(eps >= 0.0, "epsilon value", eps)
        check(momentum >= 0.0, "momentum value", momentum)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check(alpha >= 0.0, "alpha value", alpha)
        super().__init__(params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
                                  "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": new_step(), "square_avg": zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)
        return state

    def fields(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("square_avg", *(("momentum_buffer",) if group["momentum"] > 0 else ()), *(("grad_avg",) if group["centered"] else ()))

    def variant(self, group: dict[str, Any]) -> Any:
        return bool(group["maximize"]), group["weight_decay"] != 0, group["momentum"] > 0, bool(group["centered"])

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        advance(state)
        alpha = float(group["alpha"])
        return float(group["weight_decay"]), alpha, 1.0 - alpha, float(group["eps"]), float(group["momentum"]), float(number(group["lr"]))

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        _, _, moves, centered = variant
        weight_decay, alpha, rest, eps, momentum, lr = numbers
        grad = prepared(variant, p, grad, weight_decay)
        square = states[0] * alpha + grad * grad * rest
        written = [square]
        mean = states[-1] * alpha + grad * rest if centered else None
        root = square.sqrt() if mean is None else (square - mean * mean).sqrt()
        step = grad / (root + eps)
        if moves:
            step = states[1] * momentum + step
            written.append(step)
        if mean is not None:
            written.append(mean)
        return p - step * lr, *written


class Rprop(Optimizer):
    """Steps that grow while a gradient keeps its sign and shrink when it turns (Riedmiller and Braun 1993)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2), step_sizes: tuple[float, float] = (1e-6, 50),
                 *, capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "capturable": capturable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        lr = number(group["lr"])
        return {"step": new_step(), "prev": zeros_like(p), "step_size": full_like(p, complex(lr, lr) if p.is_complex() else lr)}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        advance(state)
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        before, size = state["prev"], state["step_size"]
        turned = (grad * before).sign()
        factor = (turned > 0).to(size.dtype) * (grow - 1.0) + (turned < 0).to(size.dtype) * (shrink - 1.0) + 1.0
        size.mul_(factor).clamp_(smallest, largest)
        grad = grad.masked_fill(turned < 0, 0)
        p.sub_(grad.sign().mul_(size))
        before.copy_(grad)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992)."""

    elementwise = True

    def __init__(self, params: Any, lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False) -> None:
        check_lr(lr)
        check(weight_decay >= 0.0, "weight_decay value", weight_decay)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": new_step(), "eta": tensor(float(number(group["lr"])), dtype=dtypes.float32), "mu": tensor(1.0, dtype=dtypes.float32),
                "ax": zeros_like(p)}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = advance(state)
        if group["weight_decay"] != 0:
            grad = grad + p * float(group["weight_decay"])
        average = state["ax"]
        eta, mu = state["eta"].item(), state["mu"].item()
        p.mul_(1.0 - group["lambd"] * eta)
        p.sub_(grad * eta)
        if mu == 1:
            average.copy_(p)
        else:
            average.add_((p - average).mul_(mu))
        lr = float(number(group["lr"]))
        state["eta"].fill_(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))


class Adafactor(Optimizer):
    """Adam's second moment kept as a product of row and column means, steps relative to the parameter (Shazeer and Stern 2018)."""

    def __init__(self, params: Any, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3),
                 d: float = 1.0, weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if number(lr) < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and eps[0] < 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if eps[1] < 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if d < 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
                                  "maximize": maximize})

    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if p.dim() > 1:
            rows, columns = list(p.shape), list(p.shape)
            rows[-1], columns[-2] = 1, 1
            return {"step": new_step(), "row_var": p.new_zeros(rows), "col_var": p.new_zeros(columns)}
        return {"step": new_step(), "variance": zeros_like(p)}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = advance(state)
        eps1 = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        weight = step ** group["beta2_decay"]
        lr = float(number(group["lr"]))
        rho = min(lr, 1 / math.sqrt(step))
        alpha = max(group["eps"][1], p.norm(2).item() / math.sqrt(p.numel())) * rho
        if group["weight_decay"] != 0:
            p.mul_(1.0 - lr * group["weight_decay"])
        square = grad * grad
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.add_((square.mean(-1, keepdim=True) - rows).mul_(weight))
            columns.add_((square.mean(-2, keepdim=True) - columns).mul_(weight))
            estimate = rows @ columns / rows.mean(-2, keepdim=True).clamp_(min=eps1)
        else:
            variance = state["variance"]
            variance.add_((square - variance).mul_(weight))
            estimate = variance
        change = estimate.clamp(min=eps1 * eps1).rsqrt_().mul_(grad)
        scale = max(1.0, change.norm(2).item() / (math.sqrt(change.numel()) * group["d"]))
        p.sub_(change.mul_(alpha / scale))
