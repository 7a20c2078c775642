"""The table that the CPU's primitive functions are entered in."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[str, Callable[..., Any]] = {}


def primitive(function: Callable) -> Callable:
    """Enter a function as the CPU's version of the primitive of its name (a trailing underscore avoids Python's builtins)."""
    FUNCTIONS[function.__name__.rstrip("_")] = function
    return function
