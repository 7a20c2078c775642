"""All parameters of a group updated by one kernel: an optimizer's formula, traced once, runs over every parameter, gradient and state in one call."""
from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

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


class _Prepared(NamedTuple):
    """A group whose parameters were all updated by one plan, and what must still be so for the plan to serve again."""

    variant: Hashable
    dtype: Any
    plan: ListPlan
    rows: list[tuple[Tensor, dict[str, Any], list[Tensor]]]  # parameter, its state, and the state's tensors


def update_together(optimizer: Optimizer, group: dict[str, Any]) -> list[Tensor]:
    """Update what one kernel can; the parameters with a gradient that are left, in their order."""
    if modes.active and watched(group["params"]):
        return [p for p in group["params"] if p._grad is not None]
    fields = optimizer.fields(group) or ()
    kept: dict[Any, _Prepared] = optimizer.__dict__.setdefault("_prepared", {})
    key = id(group)
    if key in kept and _run_again(kept[key], optimizer, group, fields, [p for p in group["params"] if p._grad is not None]):
        return []
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
    kept.pop(key, None)
    for dtype, params in found.items():
        prepared = kept.get((key, dtype))
        if prepared is None or not _run_again(prepared, optimizer, group, fields, params):
            prepared = kept[key, dtype] = _run_first(optimizer, group, fields, dtype, params)
        if not rest and len(found) == 1:
            kept[key] = prepared
    return rest


def _run_again(prepared: _Prepared, optimizer: Optimizer, group: dict[str, Any], fields: tuple[str, ...], params: list[Tensor]) -> bool:
    """Update parameters of a group by the plan that did so before; False, and nothing happens, when anything is not as it was."""
    rows, dtype = prepared.rows, prepared.dtype
    if len(params) != len(rows) or prepared.variant != optimizer.variant(group):
        return False
    grads, states = [], optimizer.state
    for p, (own, state, tensors), arrays in zip(params, rows, prepared.plan.rows):
        a, g = arrays[0], p._grad._a
        if p is not own or p._a is not a or g.__class__ is not ndarray or g.dtype is not dtype or g.shape != a.shape or not g.flags.c_contiguous:
            return False
        if tensors:
            if states.get(p) is not state:
                return False
            for f, t, b in zip(fields, tensors, arrays[2:]):
                if state[f] is not t or t._a is not b:
                    return False
        grads.append(g)
    prepared.plan.replace(1, grads)
    _run(prepared, _numbers(optimizer, group, rows))
    return True


def _fits(value: Any, like: ndarray) -> bool:
    if not isinstance(value, Tensor):
        return False
    a = value._a
    return a.__class__ is ndarray and a.dtype is like.dtype and a.shape == like.shape and a.flags.c_contiguous


def _run_first(optimizer: Optimizer, group: dict[str, Any], fields: tuple[str, ...], dtype: Any, params: list[Tensor]) -> _Prepared:
    rows = [(p, state, [state[f] for f in fields]) for p in params for state in (optimizer.state.get(p, {}),)]
    numbers, variant = _numbers(optimizer, group, rows), optimizer.variant(group)
    kind: Any = type(optimizer)
    update = kernel(kind, variant, len(fields), len(numbers[0]))
    prepared = _Prepared(variant, dtype, update.plan([(p._a, p._grad._a, *[t._a for t in tensors]) for p, _, tensors in rows]), rows)
    _run(prepared, numbers)
    return prepared


def _numbers(optimizer: Optimizer, group: dict[str, Any], rows: list[Any]) -> list[tuple[float, ...]]:
    """The formula's numbers for every parameter."""
    if optimizer.same_numbers:
        return [optimizer.numbers(rows[0][1], group)] * len(rows)
    return [optimizer.numbers(state, group) for _, state, _ in rows]


def _run(prepared: _Prepared, numbers: list[tuple[float, ...]]) -> None:
    plan = prepared.plan
    plan.run(numbers)
    plan.release(1)  # gradients may be given back before the next step
    for p, _, tensors in prepared.rows:
        for t in (p, *tensors):
            if t._st is not None:
                t._st.version += 1
            else:
                bump(t)


__all__ = ["kernel", "update_together"]
