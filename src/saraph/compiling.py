"""`torch.compile` before the compiler: every argument is taken, and the model runs as it is (which computes the same)."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["compile", "is_compiling"]


def compile(model: Callable | None = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: Any = "inductor",
            mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False) -> Any:
    """The model or function itself; as a decorator with or without arguments."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable)
    if not callable(model):
        raise RuntimeError(f"torch.compile: expected a callable or an nn.Module, got {type(model).__name__}")
    return model


def is_compiling() -> bool:
    """Whether this code is being compiled: no."""
    return False
