"""Spectral normalisation by a hook (the old form; `parametrizations.spectral_norm` is the new one)."""
from __future__ import annotations

from typing import Any

from saraph import linalg
from saraph.autograd import no_grad
from saraph.nn import functional as F
from saraph.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from saraph.nn.modules.module import Module
from saraph.tensor.parameter import Parameter, UninitializedParameter
from saraph.tensor.tensor import Tensor

__all__ = ["SpectralNorm", "spectral_norm", "remove_spectral_norm", "default_dim"]


def default_dim(module: Module) -> int:
    """The dimension of a weight that counts the outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


class SpectralNorm:
    """The forward pre-hook that divides `<name>_orig` by its largest singular value, which power iterations follow as it changes."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """(outputs, everything else)."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its spectral norm, after some steps of power iteration if asked (in place, on the module's vectors)."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next call writes to the buffers, and backward reads these
        return weight / u.dot(matrix.mv(v))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the parameter and register hooks and vectors."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        norm = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward before applying "
                             "spectral normalization")
        with no_grad():
            rows, columns = norm.reshape_weight_to_matrix(weight).shape
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(norm)
        module._register_state_dict_hook(norm.note_version)
        module._register_load_state_dict_pre_hook(norm.upgrade)
        return norm

    def remove(self, module: Module) -> None:
        """Put the normalised weight back as a parameter."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def note_version(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        """State dict hook: say that the vector v is part of the state."""
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self._version

    def upgrade(self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
                unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Load hook: state dicts from before version 1 held the normalised weight and no v; v follows from them."""
        version = local_metadata.get("spectral_norm", {}).get(self.name + ".version", None)
        key = prefix + self.name
        if version is not None and version >= 1 or all(key + s in state_dict for s in ("_orig", "_u", "_v")) and key not in state_dict:
            return
        absent = [key + s for s in ("_orig", "", "_u") if key + s not in state_dict]
        if absent:
            missing_keys.extend(absent if strict else [])
            return
        with no_grad():
            original, weight, u = state_dict[key + "_orig"], state_dict.pop(key), state_dict[key + "_u"]
            sigma = (original / weight).mean()
            matrix = self.reshape_weight_to_matrix(original)
            v = linalg.multi_dot([matrix.t().mm(matrix).pinverse(), matrix.t(), u.unsqueeze(1)]).squeeze(1)
            state_dict[key + "_v"] = v * (sigma / u.dot(matrix.mv(v)))


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divide a parameter by its largest singular value at every call (Miyato et al. 2018); one power iteration a call in training."""
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`: the normalised weight becomes the parameter."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for table in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for key, function in list(table.items()):
            owner = getattr(function, "__self__", None)
            if isinstance(owner, SpectralNorm) and owner.name == name:
                del table[key]
    return module
