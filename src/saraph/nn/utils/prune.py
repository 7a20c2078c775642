"""Pruning: parameters multiplied by masks of zeros and ones."""
from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from saraph.nn.modules.module import Module
from saraph.nn.utils.convert_parameters import parameters_to_vector
from saraph.ops.creation import ones_like, zeros_like
from saraph.ops.random import rand, rand_like
from saraph.tensor.tensor import Tensor

__all__ = ["BasePruningMethod", "PruningContainer", "Identity", "RandomUnstructured", "L1Unstructured", "RandomStructured", "LnStructured",
           "CustomFromMask", "identity", "random_unstructured", "l1_unstructured", "random_structured", "ln_structured", "global_unstructured",
           "custom_from_mask", "remove", "is_pruned"]


class BasePruningMethod(ABC):
    """A way to choose what to prune. `apply` puts it on a parameter: a forward pre-hook computes `<name>` as `<name>_orig` times `<name>_mask`.

    Subclasses define `compute_mask` and `PRUNING_TYPE`: "unstructured" (single elements), "structured" (channels) or "global".
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for a tensor, given what is masked already."""

    def apply_mask(self, module: Module) -> Tensor:
        """The masked parameter."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> BasePruningMethod:
        """Prune a parameter; on one that is pruned already the masks are combined."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        found = [(key, hook) for key, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        if len(found) > 1:
            raise AssertionError(f"Avoid having multiple pruning hooks on the same tensor {name} in module {module}. Use a PruningContainer.")
        if found:
            key, hook = found[0]
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            if hook is not container:
                container._tensor_name = name
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        before = getattr(module, name + "_mask").detach().clone() if found else ones_like(original)
        mask = method.compute_mask(scores.detach(), default_mask=before)
        if found:
            del module._forward_pre_hooks[key]
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """The tensor with what this method chooses set to 0."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruning permanent: the masked values become the parameter (the hook is left to the caller)."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several pruning methods on one tensor, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if not isinstance(args, Iterable) or len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
            return
        methods = args[0] if len(args) == 1 else args
        for method in methods:
            self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add one more method, of the same tensor."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named '" + f"{self._tensor_name}' to PruningContainer {self}. Found "
                             f"'{method._tensor_name}'")
        self._pruning_methods += (method,)  # type: ignore[operator]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The last method's choice among what is still there."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            where: Any = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            rank, dim = t.dim(), method.dim  # type: ignore[attr-defined]
            dim = dim + rank if dim < 0 else dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {rank}")
            kept = default_mask.sum(dim=[d for d in range(rank) if d != dim]) != 0
            where = tuple(kept if d == dim else slice(None) for d in range(rank))
        elif method.PRUNING_TYPE == "global":
            where = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[where] = method.compute_mask(t[where], default_mask=default_mask[where]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: puts the machinery in place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What is there already."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: a number of them, or a share."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: int | float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros at random places."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[rand_like(t).view(-1).topk(count)[1]] = 0
        return mask


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of least absolute value."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: int | float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros at the smallest elements."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[t.abs().reshape(-1).topk(count, largest=False)[1]] = 0
        return mask


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"
    amount: int | float
    dim: int

    def _channels(self, t: Tensor) -> tuple[int, int]:
        """(how many there are, how many to prune)."""
        if t.dim() <= 1:
            raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return t.shape[self.dim], _count(self.amount, t.shape[self.dim])

    def _mask(self, t: Tensor, kept: Tensor) -> Tensor:
        mask = zeros_like(t)
        where: list[Any] = [slice(None)] * t.dim()
        where[self.dim] = kept
        mask[tuple(where)] = 1
        return mask


class RandomStructured(_Structured):
    """Prunes channels (slices of `dim`) at random."""

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in channels drawn at random."""
        channels, count = self._channels(t)
        if not count:
            return default_mask
        draws = rand(channels)
        return self._mask(t, draws > draws.kthvalue(count)[0]).to(default_mask.dtype) * default_mask


class LnStructured(_Structured):
    """Prunes the channels (slices of `dim`) of least n-norm."""

    def __init__(self, amount: int | float, n: float | str, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in the channels of least norm."""
        channels, count = self._channels(t)
        if not count:
            return default_mask
        own = self.dim if self.dim >= 0 else self.dim + t.dim()
        norms = t.norm(p=self.n, dim=[d for d in range(t.dim()) if d != own])
        return self._mask(t, norms.topk(channels - count)[1]).to(default_mask.dtype) * default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of the caller's."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask, and what was masked before."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Put pruning in place on a parameter without pruning anything."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: int | float) -> Module:
    """Prune a number (int) or share (float) of a parameter's elements at random."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: int | float, importance_scores: Tensor | None = None) -> Module:
    """Prune a number (int) or share (float) of a parameter's elements: those of least absolute value (or score)."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: int | float, dim: int) -> Module:
    """Prune a number (int) or share (float) of the channels along `dim` at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Module, name: str, amount: int | float, n: float | str, dim: int, importance_scores: Tensor | None = None) -> Module:
    """Prune a number (int) or share (float) of the channels along `dim`: those of least n-norm."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
                        importance_scores: dict[tuple[Module, str], Tensor] | None = None, **kwargs: Any) -> None:
    """Prune several parameters, given as (module, name), as if they were one tensor. `kwargs` go to the pruning method."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = parameters_to_vector([importance_scores.get((module, name), getattr(module, name)) for module, name in parameters])
    masks = parameters_to_vector([getattr(module, name + "_mask", ones_like(getattr(module, name))) for module, name in parameters])
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
                        f"{method.PRUNING_TYPE}")
    container = PruningContainer(method)
    final = container.compute_mask(scores.detach(), masks)
    start = 0
    for module, name in parameters:
        original = getattr(module, name)
        custom_from_mask(module, name, mask=final[start:start + original.numel()].view_as(original))
        start += original.numel()


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter by a mask (0: prune)."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make a parameter's pruning permanent: mask and hook go, the zeros stay."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether the module or one below it has a pruning hook."""
    return any(isinstance(hook, BasePruningMethod) for child in module.modules() for hook in child._forward_pre_hooks.values())


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if isinstance(amount, numbers.Integral) and amount < 0 or not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount: Any, size: int) -> int:
    """How many of `size` things to prune."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(amount)
