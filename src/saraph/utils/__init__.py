"""Utilities of training: data loading, checkpointing; measuring and counting load when first used."""
from importlib import import_module as _import_module
from typing import Any as _Any

from saraph.tensor.interop import swap_tensors
from saraph.utils import _pytree, checkpoint, data, deterministic, dlpack, hooks

__all__ = ["checkpoint", "data", "deterministic", "dlpack", "hooks", "swap_tensors"]
_LAZY = ("benchmark", "flop_counter", "model_zoo", "weak")


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
