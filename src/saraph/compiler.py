"""`torch.compiler`: what programs ask of the compiler. Nothing is compiled yet (see `torch.compile`), so every mark is taken and changes nothing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.compiling import compile, is_compiling

__all__ = ["compile", "is_compiling", "is_dynamo_compiling", "is_exporting", "disable", "reset", "allow_in_graph", "assume_constant_result",
           "cudagraph_mark_step_begin", "list_backends", "set_stance", "substitute_in_graph", "set_enable_guard_collectives"]


def is_dynamo_compiling() -> bool:
    """Whether this code is being traced for compilation: no."""
    return False


def is_exporting() -> bool:
    """Whether this code is being exported: no."""
    return False


def disable(fn: Callable | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Decorator (with or without arguments): the function is never compiled. It is returned as it is."""
    return fn if fn is not None else lambda function: function


def reset() -> None:
    """Forget what was compiled: nothing was."""
    return None


def allow_in_graph(fn: Any) -> Any:
    """Decorator: the function is taken into graphs as one step. It (or the list of them) is returned as it is."""
    return fn


def assume_constant_result(fn: Callable) -> Callable:
    """Decorator: the function's result never changes. It is returned as it is."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """A new iteration begins: of no interest without CUDA graphs."""
    return None


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that `torch.compile(backend=...)` understands beside functions."""
    return ["inductor"]


def substitute_in_graph(original_fn: Callable, *, can_constant_fold_through: bool = False, skip_signature_check: bool = False,
                        is_embedded_type: bool = False) -> Callable:
    """Decorator: this function stands in for `original_fn` in graphs. It is returned as it is."""
    return lambda function: function


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Kept for compatibility; returns what was set before: False."""
    return False


class set_stance:  # noqa: N801
    """How compiled code behaves ("default", "force_eager", ...): a call, a context or a decorator. Code always runs as it is written."""

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> None:
        known = ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile")
        if stance not in known:
            raise RuntimeError(f"invalid torch.compile stance '{stance}': expected one of {', '.join(known)}")
        self.stance = stance

    def __call__(self, function: Callable) -> Callable:
        return function

    def __enter__(self) -> set_stance:
        return self

    def __exit__(self, *exc: object) -> None:
        return None
