"""Lazy modules: parameters whose shape comes from the first input."""
from __future__ import annotations

import itertools
import warnings
from typing import Any

from saraph.tensor.parameter import UninitializedBuffer, UninitializedParameter

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mix in before a Module class: `initialize_parameters(*inputs)` gives the uninitialised parameters their shape.

    It runs before the first call; the module then becomes `cls_to_become`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        warnings.warn("Lazy modules are a new feature under heavy development so changes to the API or functionality can happen at any moment.",
                      stacklevel=2)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if isinstance(value, (UninitializedParameter, UninitializedBuffer)) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict: dict, prefix: str, *rest: Any) -> None:
        """Parameters that the state dict knows the shape of get it from there."""
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            key = prefix + name
            if key in state_dict and isinstance(value, (UninitializedParameter, UninitializedBuffer)):
                given = state_dict[key]
                if not isinstance(given, (UninitializedParameter, UninitializedBuffer)):
                    value.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shape (to be overridden)."""
        raise _no_initializer(self)

    def has_uninitialized_params(self) -> bool:
        """Whether some parameter or buffer has no shape yet."""
        return any(isinstance(v, (UninitializedParameter, UninitializedBuffer))
                   for v in itertools.chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to correctly "
                           "initialize the modules")


def _no_initializer(module: Any) -> Exception:
    return NotImplementedError(f"initialize_parameters is not implemented for {type(module).__name__}")
