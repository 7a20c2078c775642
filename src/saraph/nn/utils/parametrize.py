"""Parametrizations: a parameter (or buffer) computed by modules from other tensors, for as long as they are registered."""
from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saraph.autograd import no_grad
from saraph.nn.modules.container import ModuleDict, ModuleList
from saraph.nn.modules.module import Module
from saraph.tensor.parameter import Parameter
from saraph.tensor.tensor import Tensor

__all__ = ["cached", "ParametrizationList", "register_parametrization", "is_parametrized", "remove_parametrizations",
           "type_before_parametrizations", "transfer_parametrizations_and_params"]
_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Context in which each parametrized tensor is computed once."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, with the tensor(s) they start from: `original`, or `original0`, `original1`, ..."""

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False) -> None:
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, kind = original.shape, original.dtype
        with no_grad():
            value: Any = original
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    continue
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:  # the parametrization cannot be undone (in this setting): start from what there is
                    break
                if not isinstance(value, Tensor) and not isinstance(value, (tuple, list)):
                    raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(value).__name__}")
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if self.is_tensor:
            if original.dtype is not value.dtype:
                raise ValueError(f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: {original.dtype}\n"
                                 f"right_inverse(original).dtype: {value.dtype}")
            with no_grad():
                original.data = value.data
            _register(self, "original", original)
        else:
            for i, part in enumerate(value):
                if not isinstance(part, Tensor):
                    raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element {i} of the sequence "
                                     f"with type {type(part).__name__}.")
                part = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
                _register(self, f"original{i}", part)
        if not unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            if result.dtype is not kind:
                raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
                                 f"unparametrized dtype: {kind}\nparametrized dtype: {result.dtype}")
            if result.shape != shape:
                raise ValueError("Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
                                 f"unparametrized shape: {shape}\nparametrized shape: {result.shape}")

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensor(s) so that the parametrized one becomes `value` (as far as the modules can)."""
        with no_grad():
            result: Any = value
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                result = module.right_inverse(result)
            if self.is_tensor:
                if not isinstance(result, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(result).__name__}")
                self.original.data = result.data
                return
            if len(result) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(result)}.")
            for i, part in enumerate(result):
                getattr(self, f"original{i}").data = part.data

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        originals = (self.original,) if self.is_tensor else tuple(getattr(self, f"original{i}") for i in range(self.ntensors))
        value = self[0](*originals)
        for module in list(self)[1:]:
            value = module(value)
        return value


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _make_injectable(module: Module) -> None:
    """Give the module a class of its own, which the properties of parametrized tensors can be put on."""
    cls = type(module)

    def deepcopy(self: Module, memo: dict) -> Module:
        found = memo.get(id(self))
        if found is None:
            found = self.__new__(type(self))
            memo[id(self)] = found
            found.__dict__ = copy.deepcopy(self.__dict__, memo)
            found.__class__ = type(self)
        return found

    def refuse(self: Module) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    body: dict[str, Any] = {"__getstate__": refuse}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        if not _cache_depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """From now on `module.<tensor_name>` is `parametrization(original)`; several stack in the order of registration.

    Assigning to it calls `right_inverse`, if the parametrization has one. `unsafe` allows another shape or dtype.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        entry = module.parametrizations[tensor_name]
        if not unsafe:
            _check_stacking(module, tensor_name, parametrization)
        if entry.unsafe != unsafe and unsafe:
            entry.unsafe = True
        value = getattr(module, tensor_name)
        entry.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                entry.right_inverse(value)
        return module
    if tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        entry = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _make_injectable(module)
            module.parametrizations = ModuleDict()
        _inject(module, tensor_name)
        module.parametrizations[tensor_name] = entry
        return module
    raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")


def _check_stacking(module: Module, name: str, parametrization: Module) -> None:
    value = getattr(module, name)
    result = parametrization(value)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    if result.dtype is not value.dtype:
        raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
                         f"module.{name}.dtype: {value.dtype}\nparametrization(module.{name}).dtype: {result.dtype}")
    if result.shape != value.shape:
        raise ValueError("Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
                         f"module.{name}.shape: {value.shape}\nparametrization(module.{name}).shape: {result.shape}")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module (or one of its tensors) has parametrizations."""
    table = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(table, ModuleDict):
        return False
    return len(table) > 0 if tensor_name is None else tensor_name in table


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Take the parametrizations of a tensor away; it keeps its parametrized value, or gets the original back."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    entry = module.parametrizations[tensor_name]
    if entry.is_tensor:
        original = entry.original
        if leave_parametrized:
            with no_grad():
                value = getattr(module, tensor_name)
                if isinstance(original, Parameter):
                    original.data = value.data
                else:
                    original = value
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        original = Parameter(value) if isinstance(entry.original0, Parameter) else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class as it was before parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Move parametrizations (of all tensors or one), and the parameters they start from, to another module."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError("parametrizations must be a ModuleDict")
    for name in (from_module.parametrizations if tensor_name is None else [tensor_name]):
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for module in from_module.parametrizations[name]:
            register_parametrization(to_module, name, module)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
