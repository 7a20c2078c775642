"""Modules under transforms: calling them with other parameters, and stacking the parameters of several."""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from saraph.nn.modules.module import Module
from saraph.nn.utils.stateless import call_with
from saraph.ops.joining import stack
from saraph.tensor.tensor import Tensor

__all__ = ["functional_call", "stack_module_state", "functionalize", "debug_unwrap"]


def functional_call(module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with the tensors of a dict (or of several) in the place of the module's own, by name; the module is left as it was."""
    return call_with(module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of several models of one class, stacked along a new first dimension, for `vmap` over an ensemble."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    kind = type(models[0])
    if not all(type(m) is kind for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters: dict[str, Tensor] = {}
    for name, first in models[0].named_parameters():
        values = [dict(m.named_parameters())[name] for m in models]
        needs = [v.requires_grad for v in values]
        if len(set(needs)) > 1:
            raise RuntimeError(f"Expected {name} to have the same .requires_grad state across the models, got {needs}")
        parameters[name] = stack([v.detach() for v in values]).requires_grad_(first.requires_grad)
    buffers = {name: stack([dict(m.named_buffers())[name] for m in models]) for name, _ in models[0].named_buffers()}
    return parameters, buffers


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """The function without visible writes to views: eager code computes the same either way, so it is the function itself.

    remove: "mutations" or "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'|'mutations_and_views'): received invalid argument for remove={remove!r}")
    return copy.copy(func)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor inside of a transform's wrapper: transforms wrap nothing here."""
    return tensor
