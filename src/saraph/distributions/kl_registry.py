"""How the divergence of two distributions is found: the nearest pair of types among those registered."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from saraph.ops.creation import full_like
from saraph.tensor.tensor import Tensor

__all__ = ["register_kl", "kl_divergence"]

Formula = Callable[[Any, Any], Tensor]
_KL_REGISTRY: dict[tuple[type, type], Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorator: the function computes KL(p || q) for these types and their subclasses.

        @register_kl(Normal, Normal)
        def kl_normal_normal(p, q): ...

    The most special pair wins; where two are equally special, the one that is more special in p, with a RuntimeWarning.
    """
    for given, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {given} to be a Distribution subclass but got {kind}")

    def enter(formula: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()  # what was found before may now be different
        return formula

    return enter


def _depth(pair: tuple[type, type], p: type, q: type) -> tuple[int, int]:
    """How far up the pair lies in the method resolution orders of p and q."""
    return p.__mro__.index(pair[0]), q.__mro__.index(pair[1])


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The formula for two types, or NotImplemented."""
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return NotImplemented
    left = min(matches, key=lambda pair: _depth(pair, type_p, type_q))
    right = min(matches, key=lambda pair: _depth(pair, type_p, type_q)[::-1])
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
                      f"Please register_kl({left[0].__name__}, {right[1].__name__})", RuntimeWarning, stacklevel=3)
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Tensor:
    """KL(p || q), the mean under p of log p - log q; shape batch_shape. NotImplementedError where no formula is registered for the types."""
    key = type(p), type(q)
    formula = _KL_MEMOIZE.get(key)
    if formula is None:
        formula = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if formula is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return formula(p, q)


def _infinite_like(x: Tensor) -> Tensor:
    return full_like(x, math.inf)
