"""`Optimizer`: parameter groups, state and hooks. An algorithm adds two methods: the state of one parameter, and its update."""
from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from typing import Any

from saraph import dtypes
from saraph.autograd import enable_grad, set_grad_enabled
from saraph.ops.complex import view_as_complex, view_as_real
from saraph.ops.creation import tensor
from saraph.optim.together import update_together
from saraph.tensor.node import RemovableHandle
from saraph.tensor.tensor import Tensor

__all__ = ["Optimizer", "required", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]
_global_pre_hooks: dict[int, Callable] = {}
_global_post_hooks: dict[int, Callable] = {}


class _Required:
    """Stands for an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every optimizer's step."""
    return _put(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every optimizer's step."""
    return _put(_global_post_hooks, hook)


def _put(table: dict[int, Callable], hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(table)
    if prepend:
        others = dict(table)
        table.clear()
        table[handle.id] = hook
        table.update(others)
    else:
        table[handle.id] = hook
    return handle


def check(valid: bool, what: str, value: Any) -> None:
    """ValueError where an option is out of range."""
    if not valid:
        raise ValueError(f"Invalid {what}: {value}")


def number(value: Any) -> Any:
    """A Python number from an option that may be a tensor."""
    return value.item() if isinstance(value, Tensor) else value


def check_lr(lr: Any, foreach: bool | None = None) -> None:
    """A learning rate is a number >= 0, or a tensor with one element."""
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if foreach:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    check(number(lr) >= 0.0, "learning rate", lr)


def check_betas(betas: Any) -> None:
    """Two decay rates in [0, 1)."""
    for i in (0, 1):
        check(0.0 <= number(betas[i]) < 1.0, f"beta parameter at index {i}", betas[i])


PIECE = 1 << 15  # elements of a large parameter that are updated at a time


def in_rows(p: Tensor, *others: Any) -> bool:
    """Whether a parameter and the tensors of its shape lie in row-major order in memory, and nothing is missing."""
    shape = p._a.shape
    for t in (p, *others):
        if t is None or isinstance(t, Tensor) and (t._a.__class__ is not p._a.__class__ or t._a.shape == shape and not t.is_contiguous()):
            return False
    return p._a.ndim > 0


class Optimizer:
    """Base of all optimizers.

    params: an iterable of Tensors, of (name, Tensor) pairs, or of dicts, one per group, with "params" and the options that differ.
    defaults: the options of groups that do not set them.

    An algorithm overrides `init_state(p, group) -> dict` and `update(p, grad, state, group)`; the rest is here. One that treats every element by
    itself says instead what it computes, in `fields`, `variant`, `numbers` and `formula`: then one kernel updates all parameters of a group.
    """

    takes_sparse = False
    """Whether `update` takes sparse gradients."""
    elementwise = False
    """Whether `update` treats every element by itself, so that a parameter can be updated piece by piece."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._optimizer_step_pre_hooks: dict[int, Callable] = OrderedDict()
        self._optimizer_step_post_hooks: dict[int, Callable] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: dict[int, Callable] = OrderedDict()
        self._optimizer_state_dict_post_hooks: dict[int, Callable] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: dict[int, Callable] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: dict[int, Callable] = OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("step")
        if own is not None and not getattr(own, "hooked", False):
            cls.step = cls.profile_hook_step(own)

    @staticmethod
    def profile_hook_step(step: Callable) -> Callable:
        """A step method that runs the step hooks around itself."""

        @functools.wraps(step)
        def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
            if not (self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or _global_pre_hooks or _global_post_hooks):
                return step(self, *args, **kwargs)
            for hook in [*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
                new = hook(self, args, kwargs)
                if new is not None:
                    if not isinstance(new, tuple) or len(new) != 2:
                        raise RuntimeError(f"{hook} must return None or a tuple of (new_args, new_kwargs), but got {new}.")
                    args, kwargs = new
            result = step(self, *args, **kwargs)
            for hook in [*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()]:
                hook(self, args, kwargs)
            return result

        run.hooked = True
        return run

    # -- what an algorithm says ----------------------------------------------------------------------------------------------
    def init_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state a parameter starts with."""
        return {}

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change p (and its state) by one step."""
        fields = self.fields(group)
        if fields is None:
            raise _no_update(self)
        states = [state[f] for f in fields]
        numbers = self.numbers(state, group)
        values = self.formula(self.variant({**group, "maximize": False}), p, grad, states, numbers)  # step() has turned the gradient round
        for target, value in zip((p, *states), values, strict=True):
            target.copy_(value)

    def fields(self, group: dict[str, Any]) -> tuple[str, ...] | None:
        """The states of a parameter's own shape that `formula` reads and writes; None for an algorithm that has no formula."""
        return None

    same_numbers = False  #: whether `numbers` depends on the group alone

    def variant(self, group: dict[str, Any]) -> Hashable:
        """What decides which operations `formula` consists of."""
        return None

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[float, ...]:
        """Count the step in the state; the numbers that `formula` takes in it."""
        return ()

    @staticmethod
    def formula(variant: Any, p: Any, grad: Any, states: Any, numbers: Any) -> tuple[Any, ...]:
        """The new values of the parameter and of its states, by operations on elements that Tensors and a kernel's expressions both know."""
        raise _no_formula()

    def step(self, closure: Callable | None = None) -> Any:
        """One step for every parameter that has a gradient. `closure` computes the loss anew; its value is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            with set_grad_enabled(bool(group.get("differentiable", False))):
                maximize = group.get("maximize", False)
                params = group["params"]
                if not group.get("differentiable") and self.fields(group) is not None:
                    params = update_together(self, group)
                for p in params:
                    grad = p._grad
                    if grad is None:
                        continue
                    self.check_gradient(grad)
                    state = self.state.get(p)
                    if not state:
                        state = self.init_state(p, group)
                        if state:
                            self.state[p] = state
                    if maximize:
                        grad = -grad
                    if p._a.dtype.kind == "c":
                        self._update_pairs(p, grad, state, group)
                    elif p._a.size > PIECE and self.elementwise and in_rows(p, grad, *state.values()) and not group.get("differentiable"):
                        self._update_pieces(p, grad, state, group)
                    else:
                        self.update(p, grad, state, group)
        return loss

    step = profile_hook_step.__func__(step)

    def _update_pieces(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update a large parameter piece by piece: what a piece needs stays in the processor's cache for all of the formula."""
        rows = {k: v.view(-1) for k, v in state.items() if isinstance(v, Tensor) and v._a.shape == p._a.shape}
        counts = {k: v for k, v in state.items() if k not in rows}
        size, p, grad = p._a.size, p.detach().view(-1), grad.detach().view(-1)
        for start in range(0, size, PIECE):
            end = start + PIECE
            own = counts if end >= size else {k: v.clone() if isinstance(v, Tensor) else v for k, v in counts.items()}  # steps are counted once
            self.update(p[start:end], grad[start:end], {**own, **{k: v[start:end] for k, v in rows.items()}}, group)
            if end >= size:
                state.update((k, v) for k, v in own.items() if not isinstance(v, Tensor))

    def _update_pairs(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update a complex parameter, and its complex state, as the pairs of reals they consist of."""
        parts = {k: view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v for k, v in state.items()}
        known = dict(parts)
        self.update(view_as_real(p), view_as_real(grad), parts, group)
        for key, value in parts.items():
            if value is not known.get(key, None):
                state[key] = view_as_complex(value) if isinstance(value, Tensor) and tuple(value.shape) == (*p.shape, 2) else value

    def check_gradient(self, grad: Tensor) -> None:
        """RuntimeError for gradients the algorithm does not take."""
        if grad.is_sparse and not self.takes_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients, please consider SparseAdam instead")

    # -- groups --------------------------------------------------------------------------------------------------------------
    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group: a dict with "params" and any options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
                            "between runs. Please use a list instead.")
        params = list(params)
        names = None
        if params and isinstance(params[0], tuple):
            names, params = [n for n, _ in params], [p for _, p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = params
        if names is not None:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                          "github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in taken for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in self.param_groups[0]) != (names is not None):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group " +
                             ("with" if names is not None else "without") + " names to the optimizer")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters (or fill them with zeros)."""
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                else:
                    if p._grad.grad_fn is not None:
                        p._grad.detach_()
                    p._grad.zero_()

    # -- state dict ----------------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """{"state": per parameter number, "param_groups": options and parameter numbers}, which PyTorch can load too."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        found = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            new = hook(self, found)
            found = found if new is None else new
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state; ValueError where the groups do not fit."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            new = hook(self, state_dict)
            state_dict = state_dict if new is None else new
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        owner = dict(zip(chain.from_iterable(s["params"] for s in saved), chain.from_iterable(g["params"] for g in groups)))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in owner:
                state[owner[key]] = self._fit_state(owner[key], value)
            else:
                state[key] = copy.copy(value)
        fresh = []
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
            fresh.append(new)
        self.__setstate__({"state": state, "param_groups": fresh})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _fit_state(self, p: Tensor, value: Any, key: str | None = None) -> Any:
        """State in the parameter's dtype and device (the tensor itself where it has them already, as in PyTorch); step counts stay float32."""
        if isinstance(value, Tensor):
            if key == "step":
                return value.to(dtype=dtypes.float32)
            if p.is_floating_point():
                return value.to(dtype=p.dtype, device=p.device)
            return value.to(device=p.device)
        if isinstance(value, dict):
            return {k: self._fit_state(p, v, k) for k, v in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            return type(value)(self._fit_state(p, v) for v in value)
        return value

    # -- hooks ---------------------------------------------------------------------------------------------------------------
    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return _put(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _put(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before the state dict is made."""
        return _put(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` on the state dict; what it returns is used instead."""
        return _put(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; what it returns is loaded instead."""
        return _put(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return _put(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # -- copying and printing --------------------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
        return "\n".join(lines) + "\n)"


def _no_formula() -> Exception:
    return NotImplementedError("an optimizer that names fields must define formula()")


def _no_update(optimizer: Optimizer) -> Exception:
    return NotImplementedError(f"{type(optimizer).__name__} must define update() or step()")


def new_step() -> Tensor:
    """A step count, as PyTorch keeps it: a zero-dim float32 tensor."""
    return tensor(0.0, dtype=dtypes.float32)


def advance(state: dict[Hashable, Any]) -> float:
    """Count a step; the new count."""
    step = state["step"]
    if isinstance(step, Tensor):
        step.add_(1.0)
        return step.item()
    state["step"] = step + 1
    return step + 1


def prepared(variant: Any, p: Any, grad: Any, weight_decay: Any) -> Any:
    """The gradient turned round if variant[0] (maximize), with weight decay added if variant[1]."""
    if variant[0]:
        grad = -grad
    return grad + p * weight_decay if variant[1] else grad


def check_flags(foreach: bool | None, fused: bool | None, differentiable: bool = False) -> None:
    """RuntimeError for combinations of implementations that exclude each other."""
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
