"""Every op. Importing this package fills the registry and binds Tensor's methods."""
import importlib
import pkgutil
from typing import Any

from saraph.ops.registry import NAMESPACES, OPS

for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"saraph.ops.{_module}")

__all__ = ["NAMESPACES", "OPS"]


def __getattr__(name: str) -> Any:
    """Namespaces of custom ops: `torch.ops.<namespace>` (saraph.library keeps them)."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("saraph.library").ops, name)
