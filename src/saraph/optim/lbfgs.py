"""L-BFGS with an optional strong Wolfe line search (Nocedal and Wright, Numerical Optimization, chapters 3 and 7)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.autograd import enable_grad, no_grad
from saraph.ops.complex import view_as_real
from saraph.ops.movement import cat
from saraph.optim.optimizer import Optimizer, check, number
from saraph.tensor.tensor import Tensor

__all__ = ["LBFGS"]


def cubic_minimum(x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with those values and slopes is least, within the bounds (formula 3.59)."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        position = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        position = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(position, low), high)


def strong_wolfe(evaluate: Callable, x: Any, t: float, d: Tensor, f: float, g: Tensor, gtd: float, c1: float = 1e-4, c2: float = 0.9,
                 tolerance_change: float = 1e-9, max_ls: int = 25) -> tuple[float, Tensor, float, int]:
    """A step t along d with enough decrease and a flat enough slope: (loss, gradient, t, evaluations). Bracket, then zoom."""
    d_norm = d.abs().max().item()
    g = g.clone()
    f_new, g_new = evaluate(x, t, d)
    evaluations = 1
    gtd_new = g_new.dot(d).item()
    t_prev, f_prev, g_prev, gtd_prev = 0.0, f, g, gtd
    done, iteration = False, 0
    while iteration < max_ls:
        if f_new > f + c1 * t * gtd or (iteration > 1 and f_new >= f_prev):
            bracket = [(t_prev, f_prev, g_prev, gtd_prev), (t, f_new, g_new.clone(), gtd_new)]
            break
        if abs(gtd_new) <= -c2 * gtd:
            bracket, done = [(t, f_new, g_new, gtd_new)], True
            break
        if gtd_new >= 0:
            bracket = [(t_prev, f_prev, g_prev, gtd_prev), (t, f_new, g_new.clone(), gtd_new)]
            break
        low, high = t + 0.01 * (t - t_prev), t * 10
        following = cubic_minimum(t_prev, f_prev, gtd_prev, t, f_new, gtd_new, (low, high))
        t_prev, f_prev, g_prev, gtd_prev = t, f_new, g_new.clone(), gtd_new
        t = following
        f_new, g_new = evaluate(x, t, d)
        evaluations += 1
        gtd_new = g_new.dot(d).item()
        iteration += 1
    else:
        bracket = [(0.0, f, g, gtd), (t, f_new, g_new, gtd_new)]
    best, bracket, evaluations = _zoom(evaluate, x, d, d_norm, f, gtd, bracket, done, evaluations, iteration, c1, c2, tolerance_change, max_ls)
    t, f_new, g_new, _ = bracket[best]
    return f_new, g_new, t, evaluations


def _zoom(evaluate: Callable, x: Any, d: Tensor, d_norm: float, f: float, gtd: float, bracket: list, done: bool, evaluations: int, iteration: int,
          c1: float, c2: float, tolerance_change: float, max_ls: int) -> tuple[int, list, int]:
    """Shrink the bracket until its best end will do."""
    slow = False
    if len(bracket) == 1:
        return 0, bracket, evaluations
    low, high = (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    while not done and iteration < max_ls:
        ends = [b[0] for b in bracket]
        if abs(ends[1] - ends[0]) * d_norm < tolerance_change:
            break
        t = cubic_minimum(bracket[0][0], bracket[0][1], bracket[0][3], bracket[1][0], bracket[1][1], bracket[1][3])
        margin = 0.1 * (max(ends) - min(ends))
        if min(max(ends) - t, t - min(ends)) < margin:
            if slow or t >= max(ends) or t <= min(ends):
                t = max(ends) - margin if abs(t - max(ends)) < abs(t - min(ends)) else min(ends) + margin
                slow = False
            else:
                slow = True
        else:
            slow = False
        f_new, g_new = evaluate(x, t, d)
        evaluations += 1
        gtd_new = g_new.dot(d).item()
        iteration += 1
        point = (t, f_new, g_new.clone(), gtd_new)
        if f_new > f + c1 * t * gtd or f_new >= bracket[low][1]:
            bracket[high] = point
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            if abs(gtd_new) <= -c2 * gtd:
                done = True
            elif gtd_new * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    return low, bracket, evaluations


class LBFGS(Optimizer):
    """Limited-memory BFGS: a quasi-Newton method that calls the closure several times a step. One parameter group only."""

    def __init__(self, params: Any, lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(number(lr) >= 0.0, "learning rate", lr)
        super().__init__(params, {"lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                                  "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
                                  "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_gradient(self) -> Tensor:
        parts = []
        for p in self._params:
            g = p.new_zeros(p.numel()) if p.grad is None else (p.grad.to_dense() if p.grad.is_sparse else p.grad).reshape(-1)
            parts.append(view_as_real(g).reshape(-1) if g.is_complex() else g)
        return cat(parts, 0)

    def _move(self, t: float, direction: Tensor) -> None:
        offset = 0
        for p in self._params:
            p = view_as_real(p) if p.is_complex() else p
            p.add_(direction[offset:offset + p.numel()].view_as(p), alpha=t)
            offset += p.numel()

    def _evaluate(self, closure: Callable, x: list[Tensor], t: float, d: Tensor) -> tuple[float, Tensor]:
        self._move(t, d)
        loss = float(closure())
        gradient = self._flat_gradient()
        for p, saved in zip(self._params, x):
            p.copy_(saved)
        return loss, gradient

    def step(self, closure: Callable) -> Any:
        """Up to `max_iter` iterations; returns the first loss."""
        with no_grad():
            return self._step(enable_grad()(closure))

    def _step(self, closure: Callable) -> Any:
        group = self.param_groups[0]
        lr, tolerance_grad, tolerance_change = group["lr"], group["tolerance_grad"], group["tolerance_change"]
        search, limit = group["line_search_fn"], group["max_eval"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._flat_gradient()
        if gradient.abs().max().item() <= tolerance_grad:
            return first_loss
        memory = {k: state.get(k) for k in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss", "al")}
        iteration = 0
        while iteration < group["max_iter"]:
            iteration += 1
            state["n_iter"] += 1
            self._direction(memory, gradient, state["n_iter"], group["history_size"])
            if memory["prev_flat_grad"] is None:
                memory["prev_flat_grad"] = gradient.clone()
            else:
                memory["prev_flat_grad"].copy_(gradient)  # in place, as PyTorch does: a state dict taken earlier shares it
            memory["prev_loss"] = loss
            t = min(1.0, 1.0 / gradient.abs().sum()) * lr if state["n_iter"] == 1 else lr
            d = memory["d"]
            slope = gradient.dot(d).item()
            if slope > -tolerance_change:
                memory["t"] = t
                break
            calls = 0
            if search is not None:
                if search != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]
                loss, gradient, t, calls = strong_wolfe(lambda x, t, d: self._evaluate(closure, x, t, d), start, t, d, loss, gradient, slope)
                self._move(t, d)
                flat = gradient.abs().max().item() <= tolerance_grad
            else:
                self._move(t, d)
                flat = False
                if iteration != group["max_iter"]:
                    loss = float(closure())
                    gradient = self._flat_gradient()
                    flat = gradient.abs().max().item() <= tolerance_grad
                    calls = 1
            memory["t"] = t
            evaluations += calls
            state["func_evals"] += calls
            if (iteration == group["max_iter"] or evaluations >= limit or flat or (d * t).abs().max().item() <= tolerance_change
                    or abs(loss - memory["prev_loss"]) < tolerance_change):
                break
        state.update({k: v for k, v in memory.items() if k != "al" or v is not None})
        return first_loss

    @staticmethod
    def _direction(memory: dict[str, Any], gradient: Tensor, count: int, history: int) -> None:
        """The next search direction, by the two-loop recursion over the last `history` steps."""
        if count == 1:
            memory.update(d=-gradient, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        change = gradient - memory["prev_flat_grad"]
        step = memory["d"] * memory["t"]
        curvature = change.dot(step)
        if curvature.item() > 1e-10:
            if len(memory["old_dirs"]) == history:
                for name in ("old_dirs", "old_stps", "ro"):
                    memory[name].pop(0)
            memory["old_dirs"].append(change)
            memory["old_stps"].append(step)
            memory["ro"].append(1.0 / curvature)
            memory["H_diag"] = curvature / change.dot(change)
        kept = len(memory["old_dirs"])
        factors: list[Any] = [None] * history
        q = -gradient
        for i in range(kept - 1, -1, -1):
            factors[i] = memory["old_stps"][i].dot(q) * memory["ro"][i]
            q.add_(memory["old_dirs"][i], alpha=-factors[i].item())
        d = q * memory["H_diag"]
        for i in range(kept):
            d.add_(memory["old_stps"][i], alpha=(factors[i] - memory["old_dirs"][i].dot(d) * memory["ro"][i]).item())
        memory["d"], memory["al"] = d, factors
