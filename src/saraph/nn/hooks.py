"""Hooks of modules: those for all modules, how a hook is entered, and backward hooks (identities around a module's inputs and outputs,
whose nodes see the gradients)."""
from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from saraph.autograd.function import Function
from saraph.tensor.node import RemovableHandle
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, needs_grad


class Identity(Function):
    """Passes tensors on; its node is where the hooks sit."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return grads


class BackwardHooks:
    """One call of a module with backward (pre-)hooks: `on_inputs(args)`, then `on_outputs(result)`."""

    def __init__(self, module: Any, hooks: Sequence[Callable], pre_hooks: Sequence[Callable]):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.output_grads: tuple[Any, ...] | None = None
        self.inputs_count = 0
        self.input_positions: list[int] = []

    def on_inputs(self, args: tuple) -> tuple:
        """The arguments, with their tensors passed through an identity."""
        passed, positions, node = _through_identity(args)
        self.input_positions, self.inputs_count = positions, len(args)
        if node is not None:
            node.register_hook(self._inputs_done)
        self.has_inputs = node is not None
        return passed

    def on_outputs(self, result: Any) -> Any:
        """The result, with its tensors passed through an identity."""
        many = isinstance(result, (tuple, list))
        values = tuple(result) if many else (result,)
        passed, positions, node = _through_identity(values)
        if node is not None:
            count = len(values)

            def arrived(grads: tuple) -> Any:
                full = _spread(grads, positions, count)
                for hook in self.pre_hooks:
                    new = hook(self.module, full)
                    if new is not None:
                        full = tuple(new) if isinstance(new, (tuple, list)) else (new,)
                self.output_grads = full
                return tuple(full[p] for p in positions)

            node.register_prehook(arrived)
            if not self.has_inputs:
                node.register_hook(lambda inputs, outputs: self._run_hooks((None,) * self.inputs_count) and None)
        if not many:
            return passed[0]
        return type(result)(passed) if type(result) in (tuple, list) else (
            type(result)(*passed) if hasattr(result, "_fields") else type(result)(passed))

    def _inputs_done(self, grads: tuple, _: Any) -> Any:
        if self.output_grads is None:
            return None
        full = self._run_hooks(_spread(grads, self.input_positions, self.inputs_count))
        return tuple(full[p] for p in self.input_positions)

    def _run_hooks(self, grads: tuple) -> tuple:
        for hook in self.hooks:
            new = hook(self.module, grads, self.output_grads)
            if new is not None:
                new = tuple(new) if isinstance(new, (tuple, list)) else (new,)
                if len(new) != len(grads):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(new)}, but expected {len(grads)}")
                grads = new
        self.output_grads = None
        return grads


def _through_identity(values: tuple) -> tuple[tuple, list[int], Any]:
    """The values, the positions of tensors among them, and the identity's node (None when no tensor needs a gradient)."""
    positions = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not any(needs_grad(values[i]) for i in positions):
        return values, positions, None
    found = Identity.apply(*[values[i] for i in positions])
    node = next((t.grad_fn for t in found if t.grad_fn is not None), None)
    passed = list(values)
    for i, t in zip(positions, found):
        passed[i] = t
    return tuple(passed), positions, node


def _spread(grads: tuple, positions: list[int], count: int) -> tuple:
    full: list[Any] = [None] * count
    for p, g in zip(positions, grads):
        full[p] = g
    return tuple(full)


class GlobalHooks:
    """Hooks for all modules, by kind and by number."""

    __slots__ = ("forward_pre", "forward", "backward_pre", "backward", "always_called", "parameter", "buffer", "module")

    def __init__(self) -> None:
        self.forward_pre: dict[int, Callable] = {}
        self.forward: dict[int, Callable] = {}
        self.backward_pre: dict[int, Callable] = {}
        self.backward: dict[int, Callable] = {}
        self.always_called: dict[int, bool] = {}
        self.parameter: dict[int, Callable] = {}
        self.buffer: dict[int, Callable] = {}
        self.module: dict[int, Callable] = {}


global_hooks = GlobalHooks()


def register(table: dict, hook: Callable, prepend: bool, flags: tuple[dict, ...] = ()) -> RemovableHandle:
    handle = RemovableHandle(table, extra_dict=flags)
    table[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        others = [(k, v) for k, v in table.items() if k != handle.id]
        table.clear()
        table[handle.id] = hook
        table.update(others)
    return handle


def call_with_hooks(module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """module.forward(*args, **kwargs) between its hooks and those for all modules."""
    called: set[int] = set()
    try:
        return _hooked(module, args, kwargs, called)
    except Exception:
        always = {**global_hooks.always_called, **module._forward_hooks_always_called}
        for key in always:
            if key in called:
                continue
            hook = module._forward_hooks.get(key) or global_hooks.forward[key]
            try:
                if key in module._forward_hooks_with_kwargs:
                    hook(module, args, kwargs, None)
                else:
                    hook(module, args, None)
            except Exception as error:
                warnings.warn(f"module forward hook with ``always_call=True`` raised an exception that was silenced: {error}", stacklevel=2)
        raise


def _hooked(module: Any, args: tuple, kwargs: dict[str, Any], called: set[int]) -> Any:
    for key, hook in [*global_hooks.forward_pre.items(), *module._forward_pre_hooks.items()]:
        if key in module._forward_pre_hooks_with_kwargs:
            new = hook(module, args, kwargs)
            if new is not None:
                if not isinstance(new, tuple) or len(new) != 2:
                    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {new}.")
                args, kwargs = new
        else:
            new = hook(module, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
    backward = None
    full = module._is_full_backward_hook is not False
    if thread.grad and (module._backward_pre_hooks or global_hooks.backward_pre or (full and (module._backward_hooks or global_hooks.backward))):
        backward = BackwardHooks(module, [*global_hooks.backward.values(), *(module._backward_hooks.values() if full else ())],
                                 [*global_hooks.backward_pre.values(), *module._backward_pre_hooks.values()])
        args = backward.on_inputs(args)
    result = module.forward(*args, **kwargs)
    for key, hook in [*global_hooks.forward.items(), *module._forward_hooks.items()]:
        called.add(key)
        new = hook(module, args, kwargs, result) if key in module._forward_hooks_with_kwargs else hook(module, args, result)
        if new is not None:
            result = new
    if backward is not None:
        result = backward.on_outputs(result)
    if module._is_full_backward_hook is False and module._backward_hooks:
        _bind_plain_backward_hooks(module, result)
    return result


def _bind_plain_backward_hooks(module: Any, result: Any) -> None:
    """The old kind of backward hook: on the node of the (first) output."""
    value = result
    while not isinstance(value, Tensor):
        value = next((v for v in value.values() if isinstance(v, Tensor)), None) if isinstance(value, dict) else value[0]
    node = value.grad_fn
    if node is not None:
        for hook in module._backward_hooks.values():
            node.register_hook(functools.partial(hook, module))


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module."""
    return register(global_hooks.forward_pre, hook, False)


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module."""
    return register(global_hooks.forward, hook, False, (global_hooks.always_called,) if always_call else ())


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` in the backward of every module."""
    return register(global_hooks.backward, hook, False)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module."""
    return register(global_hooks.backward_pre, hook, False)


register_module_backward_hook = register_module_full_backward_hook


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever a parameter is registered; what it returns is registered instead."""
    return register(global_hooks.parameter, hook, False)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered; what it returns is registered instead."""
    return register(global_hooks.buffer, hook, False)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever a submodule is registered; what it returns is registered instead."""
    return register(global_hooks.module, hook, False)
