"""Backward hooks of modules: identities around a module's inputs and outputs, whose nodes see the gradients."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from saraph.autograd.function import Function
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
