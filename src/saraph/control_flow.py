"""`torch.cond` and `torch.while_loop`: control flow as functions. They run as Python's own `if` and `while` do."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.tensor import Tensor

__all__ = ["cond", "while_loop"]


def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: tuple | list = ()) -> Any:
    """true_fn(*operands) if pred else false_fn(*operands); pred is a bool or a tensor of one element."""
    if not isinstance(pred, (bool, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: tuple | list) -> Any:
    """Replace the carried values by body_fn(*values) as long as cond_fn(*values) holds; they keep their shapes and dtypes."""
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple of tensors or ints, but got {carried_inputs}.")
    values = tuple(carried_inputs)
    while True:
        keep = cond_fn(*values)
        if isinstance(keep, Tensor) and keep.numel() != 1:
            raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {keep}")
        if not keep:
            return values
        found = body_fn(*values)
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(values):
            raise RuntimeError(f"body_fn should return the same number of elements as carried_inputs: got {len(found)} and {len(values)}")
        values = found
