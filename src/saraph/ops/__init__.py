"""Every op. Importing this package fills the registry and binds Tensor's methods."""
import importlib
import pkgutil

from saraph.ops.registry import NAMESPACES, OPS

for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"saraph.ops.{_module}")

__all__ = ["NAMESPACES", "OPS"]
