"""Signatures: arguments of a call brought into the order and under the names that the called function or module declares."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from saraph.nn.modules.module import Module

__all__ = ["ArgsKwargsPair", "create_type_hint", "get_signature_for_torch_op", "normalize_function", "normalize_module"]


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def signature_of(target: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function; None where Python knows none (some builtins)."""
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of an op, in a list (here: one op, one signature); None for what has none."""
    found = signature_of(op)
    signatures = None if found is None else [found]
    return (signatures, None) if return_schemas else signatures


def create_type_hint(x: Any) -> Any:
    """The type of a list or tuple with its elements' type, for elements of one type; other values as they are."""
    if not isinstance(x, (list, tuple)):
        return x
    kind = list if isinstance(x, list) else tuple
    if not x:
        return kind[Any, ...] if kind is tuple else kind[Any]  # type: ignore[index, misc]
    common = x[0] if all(e == x[0] for e in x) else Any
    return tuple[common, ...] if kind is tuple else list[common]  # type: ignore[valid-type]


def normalize_function(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, arg_types: tuple[Any, ...] | None = None,
                       kwarg_types: dict[str, Any] | None = None, normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """A call's arguments by the function's signature, defaults filled in; None where they do not fit or there is no signature.

    Builtins and functions that take `*args` are left alone (None).
    """
    if not callable(target) or getattr(target, "__module__", None) in ("_operator", "builtins", "operator"):
        return None
    signature = signature_of(target)
    return None if signature is None else _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(root: Module, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
                     normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """A submodule call's arguments by the signature of its `forward`; None where they do not fit."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"Tried to normalize arguments for module {target} but root did not have submodule {target}!") from error
    signature = inspect.signature(module.forward)
    return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _bound(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool) -> ArgsKwargsPair | None:
    kinds = {p.kind for p in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if only_kwargs:
        return ArgsKwargsPair((), dict(bound.arguments))
    given: list[Any] = []
    named: dict[str, Any] = {}
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        if i < len(args) and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            given.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(given), named)
