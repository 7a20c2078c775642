"""Modules under the transforms of `torch.func`: called with other tensors in the place of their own, and several stacked into one."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from saraph.nn.modules.module import Module
from saraph.ops.joining import stack
from saraph.tensor.tensor import Tensor

__all__ = ["functional_call", "stack_module_state"]


def _tied(module: Module, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`given`, with a name's value for every other name of the same tensor too."""
    names: dict[int, set[str]] = {}
    for members in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in members:
            names.setdefault(id(tensor), set()).add(name)
    found = dict(given)
    for group in names.values():
        values = {id(given[name]): given[name] for name in group if name in given}
        if len(group) < 2 or not values:
            continue
        if len(values) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(group & set(given))}, which are tied. Consider using "
                             "tie_weights=False")
        (value,) = values.values()
        found.update((name, value) for name in group)
    return found


_ABSENT = object()


def _slot(module: Module, path: str) -> tuple[dict[str, Any], str]:
    """The table that holds a tensor of this name, and its key there; names that the module lacks become plain attributes for the call."""
    parent, _, name = path.rpartition(".")
    owner = module.get_submodule(parent)
    for table in (owner._parameters, owner._buffers):
        if name in table:
            return table, name
    return owner.__dict__, name


@contextmanager
def _reparametrized(module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    values = _tied(module, given) if tie_weights else dict(given)
    if strict:
        own = {name for name, _ in module.named_parameters(remove_duplicate=False)} | {n for n, _ in module.named_buffers(remove_duplicate=False)}
        unexpected, missing = sorted(set(given) - own), sorted(own - set(values))
        problems = [f"{what} key(s): " + ", ".join(f"'{k}'" for k in keys) + "." for what, keys in (("Unexpected", unexpected), ("Missing", missing)) if keys]
        if problems:
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(problems))
    slots = [(name, *_slot(module, name)) for name in values]
    before = [(table, key, table.get(key, _ABSENT)) for _, table, key in slots]
    try:
        for name, table, key in slots:
            table[key] = values[name]
        yield
    finally:
        for name, table, key in slots:
            if name in given and key in table:
                given[name] = table[key]  # a buffer that the call assigned anew
        for table, key, value in before:
            if value is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = value


def functional_call(module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with the tensors of a dict by dotted name (or of a sequence of such dicts) in place of its own.

    The module is left as it was. Tensors that the module holds under several names are replaced under all (`tie_weights`); `strict` wants all names.
    """
    tensors = parameter_and_buffer_dicts
    if isinstance(tensors, Mapping):
        given = tensors if isinstance(tensors, dict) else dict(tensors)
    else:
        if not all(isinstance(part, Mapping) for part in tensors):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for part in tensors for name in part]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {name: value for part in tensors for name, value in part.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrized(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


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
