"""An import hook under which `torch` is saraph and `torchvision` is saraph.vision: the same module objects under both names."""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

ROOTS = {"torch": "saraph", "torchvision": "saraph.vision"}


class MissingHere(ImportError):
    """A program asked for a part of PyTorch that saraph does not have."""


def own_name(name: str) -> str | None:
    """The saraph module that stands for a module of PyTorch's; None for any other name."""
    root, _, rest = name.partition(".")
    own = ROOTS.get(root)
    return None if own is None else own + ("." + rest if rest else "")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch.* and torchvision.* by importing saraph's module of the same place."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """A spec whose module is saraph's."""
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if own_name(name) is not None else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Saraph's module itself (or the function or class that stands under that name)."""
        own = own_name(spec.name)
        try:
            module = importlib.import_module(own)
        except ModuleNotFoundError as error:
            if error.name is None or not (own == error.name or own.startswith(error.name + ".")):
                raise
            raise MissingHere(f"saraph has no {spec.name} (yet): the program imports it", name=spec.name) from None
        self._kept = getattr(self, "_kept", {})
        self._kept[id(module)] = (module.__spec__, module.__name__, getattr(module, "__path__", None))
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: the module exists. What the import system wrote onto it is put back."""
        spec, name, path = self._kept.pop(id(module))
        module.__spec__, module.__name__, module.__loader__ = spec, name, spec.loader if spec is not None else None
        if path is not None:
            module.__path__ = path


_finder = _Finder()


def install() -> None:
    """From now on `import torch` means saraph (also where PyTorch is installed). Raises where PyTorch was imported before."""
    loaded = sys.modules.get("torch")
    if loaded is not None and not getattr(loaded, "__name__", "").startswith("saraph"):
        raise RuntimeError("PyTorch itself has been imported already; install saraph's names before that")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    for root, own in ROOTS.items():
        if root not in sys.modules:
            importlib.import_module(root)
            sys.modules[root] = sys.modules[own]


def uninstall() -> None:
    """Take the names away again."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [n for n in sys.modules if n.partition(".")[0] in ROOTS]:
        del sys.modules[name]
