"""All parameters of a group updated by one kernel: an optimizer's formula, traced once, runs over every parameter, gradient and state in one call."""
from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from saraph.kernels.updates import ListPlan, ListUpdate
from saraph.tensor.state import state as modes
from saraph.tensor.subclass import watched
from saraph.tensor.tensor import Tensor, bump

if TYPE_CHECKING:
    from saraph.optim.optimizer import Optimizer

ndarray = np.ndarray


@lru_cache(256)
def kernel(kind: Any, variant: Hashable, states: int, numbers: int) -> ListUpdate:
    """The update of an optimizer class. Operands: parameter, gradient, its states, its numbers; the parameter and the states are written."""

    def definition(*values: Any) -> Any:
        p, grad, rest = values[0], values[1], values[2:]
        return kind.formula(variant, p, grad, rest[:states], rest[states:])

    return ListUpdate(kind.__name__, definition, 2 + states, numbers, (0, *range(2, 2 + states)))


def update_together(optimizer: Optimizer, group: dict[str, Any]) -> list[Tensor]:
    """Update what one kernel can; the parameters with a gradient that are left, in their order."""
    if modes.active and watched(group["params"]):
        return [p for p in group["params"] if p._grad is not None]
    fields = optimizer.fields(group) or ()
    found: dict[Any, list[Tensor]] = {}
    rest = []
    for p in group["params"]:
        grad = p._grad
        if grad is None:
            continue
        a, g = p._a, grad._a
        state = optimizer.state.get(p)
        if a.__class__ is ndarray and g.__class__ is ndarray and a.dtype.char in "fd" and g.dtype is a.dtype and g.flags.c_contiguous and g.shape == a.shape:
            if not state:
                state = optimizer.init_state(p, group)
                if state:
                    optimizer.state[p] = state
            if all(_fits(state.get(f), a) for f in fields) and a.flags.c_contiguous and a.flags.writeable and a.size:
                found.setdefault(a.dtype, []).append(p)
                continue
        rest.append(p)
    for dtype, params in found.items():
        _run(optimizer, group, fields, dtype, params)
    return rest


def _fits(value: Any, like: ndarray) -> bool:
    if not isinstance(value, Tensor):
        return False
    a = value._a
    return a.__class__ is ndarray and a.dtype is like.dtype and a.shape == like.shape and a.flags.c_contiguous


def _run(optimizer: Optimizer, group: dict[str, Any], fields: tuple[str, ...], dtype: Any, params: list[Tensor]) -> None:
    states = [optimizer.state.get(p, {}) for p in params]
    numbers = [optimizer.numbers(state, group) for state in states]
    kind: Any = type(optimizer)
    update = kernel(kind, optimizer.variant(group), len(fields), len(numbers[0]))
    tensors = [(p, *[state[f] for f in fields]) for p, state in zip(params, states, strict=True)]
    plans = optimizer.__dict__.setdefault("_plans", {})
    key = id(group), dtype
    plan = plans.get(key)
    if plan is None or plan.update is not update or not _same(plan, tensors):
        plan = plans[key] = update.plan([(t[0]._a, p._grad._a, *[s._a for s in t[1:]]) for p, t in zip(params, tensors, strict=True)])
    else:
        plan.replace(1, [p._grad._a for p in params])
    plan.run(numbers)
    plan.release(1)  # gradients may be given back before the next step
    for row in tensors:
        for t in row:
            if t._st is not None:
                t._st.version += 1
            else:
                bump(t)


def _same(plan: ListPlan, tensors: list[tuple[Tensor, ...]]) -> bool:
    """Whether the plan is of these tensors' arrays (all but the gradients)."""
    if len(plan.rows) != len(tensors):
        return False
    for row, own in zip(plan.rows, tensors, strict=True):
        if row[0] is not own[0]._a:
            return False
        for a, t in zip(row[2:], own[1:], strict=True):
            if a is not t._a:
                return False
    return True


__all__ = ["kernel", "update_together"]
