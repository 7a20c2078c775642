"""`torch.utils.hooks`: the handle that hook registrations return, and helpers around hooks."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from saraph.tensor.node import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable) -> Callable:
    """Decorator for a hook: saving a tensor that carries it gives a warning, as the hook is not saved."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about each hook of a tensor that `unserializable_hook` marked."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized. If this is expected, you can decorate the function with "
                          "@torch.utils.hooks.unserializable_hook to suppress this warning", stacklevel=2)
