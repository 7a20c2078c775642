"""Questions that programs ask about sizes which might be symbols. Here every size is a plain number, so each has its plain answer."""
from __future__ import annotations

from typing import Any

__all__ = ["GuardOnDataDependentSymNode", "free_symbols", "free_unbacked_symbols", "guard_or_false", "guard_or_true", "guard_size_oblivious",
           "has_free_symbols", "hint_int", "is_concrete_bool", "is_concrete_int", "statically_known_true"]


class GuardOnDataDependentSymNode(RuntimeError):
    """A condition on a size that is not known; never raised here."""


def guard_or_false(a: Any) -> bool:
    """Whether a condition holds."""
    return bool(a)


def guard_or_true(a: Any) -> bool:
    """Whether a condition holds."""
    return bool(a)


def guard_size_oblivious(expr: Any) -> bool:
    """Whether a condition holds."""
    return bool(expr)


def statically_known_true(x: Any) -> bool:
    """Whether a condition holds for sure."""
    return bool(x)


def free_symbols(val: Any) -> set[Any]:
    """The symbols in sizes: none."""
    return set()


def free_unbacked_symbols(x: Any) -> set[Any]:
    """The symbols without a known value in sizes: none."""
    return set()


def has_free_symbols(val: Any) -> bool:
    """Whether sizes contain symbols."""
    return bool(free_symbols(val))


def hint_int(a: Any, fallback: int | None = None) -> int:
    """A size as a number."""
    return int(a)


def is_concrete_int(a: Any) -> bool:
    """Whether a size is a number: always."""
    return isinstance(a, int)


def is_concrete_bool(a: Any) -> bool:
    """Whether a condition is decided: always."""
    return isinstance(a, bool)
