"""`compatibility`: marks a name as one that will not change (or may)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """Decorator for functions and classes; it changes nothing, it only keeps a record."""

    def mark(fn: T) -> T:
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        return fn

    return mark
