"""`SymInt`, `SymFloat`, `SymBool` and the functions on them. Sizes are plain numbers here, so the functions work on those.

The classes exist for `isinstance` tests: no value of theirs is ever made.
"""
from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

__all__ = ["SymInt", "SymFloat", "SymBool", "sym_int", "sym_float", "sym_max", "sym_min", "sym_not", "sym_ite", "sym_sum", "sym_sqrt", "sym_fresh_size"]


class _Symbol:
    """A number that is not known yet; wraps the `node` that computes it."""

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        return str(self.node)


class SymInt(_Symbol):
    """An integer that is not known yet."""


class SymFloat(_Symbol):
    """A float that is not known yet."""


class SymBool(_Symbol):
    """A truth value that is not known yet."""


def sym_int(a: Any) -> int:
    """The number as an int, rounded towards 0."""
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a: Any) -> float:
    """The number as a float."""
    return builtins.float(a)


def sym_max(a: Any, b: Any) -> Any:
    """The greater of two numbers; a float when one of them is."""
    return builtins.float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The lesser of two numbers; a float when one of them is."""
    return builtins.float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_not(a: Any) -> bool:
    """not a."""
    return not a


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """t if b else f."""
    if not isinstance(b, bool) or type(t) is not type(f):
        raise AssertionError(f"sym_ite expects a bool and two values of one type, got {type(b).__name__}, {type(t).__name__} and {type(f).__name__}")
    return t if b else f


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return builtins.sum(args)


def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_fresh_size(expr: Any) -> Any:
    """A size as it is: sizes are known here."""
    return expr
