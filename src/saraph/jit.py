"""`torch.jit` for programs that ask whether they are being compiled: nothing is scripted or traced here."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["is_scripting", "is_tracing", "ignore", "unused", "export", "Final"]
T = TypeVar("T", bound=Callable[..., Any])
Final = Any


def is_scripting() -> bool:
    """Whether this code runs as TorchScript: no."""
    return False


def is_tracing() -> bool:
    """Whether this code is being traced: no."""
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Decorator that marks a function for the scripting compiler; it changes nothing here."""
    return drop if callable(drop) else lambda function: function


def unused(function: T) -> T:
    """Decorator that marks a function for the scripting compiler; it changes nothing here."""
    return function


def export(function: T) -> T:
    """Decorator that marks a function for the scripting compiler; it changes nothing here."""
    return function
