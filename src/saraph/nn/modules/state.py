"""How a module's own tensors are saved, loaded and replaced (the parts of Module that deal with values)."""
from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from saraph.autograd import no_grad
from saraph.devices import device as device_type
from saraph.devices import resolve
from saraph.dtypes import dtype as dtype_type
from saraph.ops.creation import empty_like as make_empty_like
from saraph.tensor.parameter import Parameter, UninitializedParameter
from saraph.tensor.tensor import Tensor

EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` found missing and unexpected."""

    def __repr__(self) -> str:
        return "<All keys matched successfully>" if not self.missing_keys and not self.unexpected_keys else super().__repr__()

    __str__ = __repr__


def save_own(module: Any, destination: dict[str, Any], prefix: str, keep_vars: bool, no_extra: Callable) -> None:
    """Enter a module's own parameters, persistent buffers and extra state."""
    for name, value in [*module._parameters.items(), *module._buffers.items()]:
        if value is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = value if keep_vars else value.detach()
    if type(module).get_extra_state is not no_extra:
        destination[prefix + EXTRA] = module.get_extra_state()


def load_own(module: Any, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict, strict: bool, missing: list[str],
             unexpected: list[str], errors: list[str], no_extra: Callable) -> None:
    """Take a module's own tensors out of a state dict."""
    assign = local_metadata.get("assign_to_params_buffers", False)
    buffers = {k: v for k, v in module._buffers.items() if k not in module._non_persistent_buffers_set}
    own = {k: v for k, v in itertools.chain(module._parameters.items(), buffers.items()) if v is not None}
    for name, target in own.items():
        key = prefix + name
        if key in state_dict:
            load_tensor(module, name, target, state_dict[key], key, assign, errors)
        elif strict:
            missing.append(key)
    extra = prefix + EXTRA
    if type(module).set_extra_state is not no_extra:
        if extra in state_dict:
            module.set_extra_state(state_dict[extra])
        elif strict:
            missing.append(extra)
    elif strict and extra in state_dict:
        unexpected.append(extra)
    if strict:
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                first, *rest = key[len(prefix):].split(".", 1)
                if (first not in module._modules if rest else first not in own):
                    unexpected.append(key)


def load_tensor(module: Any, name: str, target: Tensor, value: Any, key: str, assign: bool, errors: list[str]) -> None:
    """Copy (or assign) one entry; problems are added to `errors`."""
    if not isinstance(value, Tensor):
        errors.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received '
                      f"{type(value)}")
        return
    lazy = isinstance(target, UninitializedParameter)
    if not lazy and target.dim() == 0 and value.dim() == 1 and value.numel() == 1:
        value = value[0]
    if not lazy and value.shape != target.shape:
        errors.append(f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current model is "
                      f"{target.shape}.")
        return
    if target.is_meta and not value.is_meta and not assign:
        return
    try:
        with no_grad():
            if assign:
                if isinstance(target, Parameter) and not isinstance(value, Parameter):
                    value = Parameter(value, requires_grad=target.requires_grad)
                elif isinstance(target, Parameter):
                    value.requires_grad_(target.requires_grad)
                setattr(module, name, value)
            else:
                target.copy_(value)
    except Exception as error:
        errors.append(f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and whose dimensions in the '
                      f"checkpoint are {value.size()}, an exception occurred : {error.args}.")


def replace_parameter(module: Any, name: str, param: Parameter, fn: Callable[[Tensor], Tensor]) -> None:
    """Put fn(values) into a parameter (and into its gradient), keeping the Parameter object itself."""
    with no_grad():
        new = fn(param)
        if new.is_meta == param.is_meta or type(param) is not Parameter:
            param.data = new
        else:
            module._parameters[name] = Parameter(new, param.requires_grad)
            return
        if param.grad is not None:
            gradient = fn(param.grad)
            gradient.requires_grad_(param.grad.requires_grad)
            param._grad = gradient


def empty_like(t: Tensor, device: Any) -> Tensor:
    """Uninitialised memory for t on another device."""
    return make_empty_like(t, device=device)


def zero_gradient(p: Tensor) -> None:
    """Fill a gradient with zeros, off the graph."""
    if p.grad.grad_fn is not None:
        p.grad.detach_()
    else:
        p.grad.requires_grad_(False)
    p.grad.zero_()


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, dtype_type | None, bool, Any]:
    """(device, dtype, non_blocking, memory_format) from the forms of `to`."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    non_blocking, memory_format = kwargs.get("non_blocking", False), kwargs.get("memory_format")
    flags = []
    for value in (*args, *([kwargs["tensor"]] if "tensor" in kwargs else [])):
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, dtype_type):
            dtype = value
        elif isinstance(value, (str, device_type)) or (isinstance(value, int) and not isinstance(value, bool)):
            device = value
        elif isinstance(value, bool):
            flags.append(value)
        elif value is not None:
            raise TypeError(f"to() received an invalid argument of type {type(value).__name__}")
    if flags:
        non_blocking = flags[0]
    return (None if device is None else resolve(device)), dtype, non_blocking, memory_format


def load_all(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """`Module.load_state_dict`: into the module and all below it."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", None)
    state = OrderedDict(state_dict)
    if metadata is not None:
        state._metadata = metadata

    def load(module: Any, local: Mapping[str, Any], prefix: str = "") -> None:
        own = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            own["assign_to_params_buffers"] = assign
        module._load_from_state_dict(local, prefix, own, True, missing, unexpected, errors)
        for name, child in module._modules.items():
            if child is not None:
                start = prefix + name + "."
                load(child, {k: v for k, v in local.items() if k.startswith(start)}, start)
        incompatible = IncompatibleKeys(missing, unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, incompatible) is not None:
                raise RuntimeError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                                   "incompatible_keys need to be modified, it should be done inplace.")

    load(module, state)
    if strict:
        if unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
        if missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
    if errors:
        raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(module).__name__, "\n\t".join(errors)))
    return IncompatibleKeys(missing, unexpected)
