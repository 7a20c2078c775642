"""SciPy, imported when something of it is first called: most programs never need it, and it takes longer to import than saraph."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class LazyModule:
    """Stands for a module; the first attribute that is asked for imports it."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


special = LazyModule("scipy.special")


def special_function(name: str) -> Callable[..., Any]:
    """A function of scipy.special that imports it when called."""

    def call(*arrays: Any) -> Any:
        return getattr(special, name)(*arrays)

    call.__name__ = name
    return call
