"""Looking at and acting on the backward graph: saved-tensor hooks, multi-gradient hooks, gradient edges."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from saraph.tensor.node import Node, RemovableHandle, public_edge
from saraph.tensor.state import lower_active, raise_active, thread
from saraph.tensor.tensor import Tensor, bump, edge_of, needs_grad

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "Node", "GradientEdge",
           "get_gradient_edge", "increment_version"]


class saved_tensors_hooks:  # noqa: N801
    """Context: what ops save goes through `pack_hook(tensor)`, and through `unpack_hook(packed)` when backward wants it."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _disabled.message is not None:
            raise RuntimeError(_disabled.message)
        thread.saved_hooks = (*thread.saved_hooks, (self.pack_hook, self.unpack_hook))
        raise_active()

    def __exit__(self, *exc: object) -> None:
        thread.saved_hooks = thread.saved_hooks[:-1]
        lower_active()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Context: keep saved tensors in CPU memory, where saraph's are anyway; `pin_memory` copies them."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(lambda t: t.clone() if pin_memory else t, lambda packed: packed)


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Any:
    """Context in which using saved_tensors_hooks raises RuntimeError(error_message)."""
    if thread.saved_hooks:
        raise RuntimeError(error_message)
    before, _disabled.message = _disabled.message, error_message
    try:
        yield
    finally:
        _disabled.message = before


class GradientEdge(NamedTuple):
    """A place in the graph: a node and the number of its output."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that gradients of `tensor` arrive at."""
    if not needs_grad(tensor):
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*public_edge(edge_of(tensor)))


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write to the tensor(s) that saraph could not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        bump(t)


class _Handle:
    """Removes all the hooks of one registration."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = handles

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> _Handle:
    """Call `fn` once the gradients of all `tensors` are known (`mode="all"`: a list, None where absent), or of the first ("any")."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    grads: list[Any] = []
    number = expected = seen = 0  # of the backward pass that the rest is about

    def hook_of(i: int) -> Callable:
        def hook(g: Tensor) -> None:
            nonlocal number, expected, seen
            current = thread.backward_pass
            if current.number != number:
                number, seen, grads[:] = current.number, 0, [None] * len(tensors)
                expected = sum(current.reaches(edge_of(t)) for t in tensors)
            seen += 1
            grads[i] = g
            if mode == "any":
                if seen == 1:
                    fn(g)
            elif seen == expected:
                done, grads[:] = list(grads), []
                fn(done)
        return hook

    return _Handle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])
