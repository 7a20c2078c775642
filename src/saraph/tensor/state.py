"""The switches that every op looks at: one global word for all modes, and the thread's grad mode.

`state.active` is 0 in ordinary use. Each mode that wants to see calls (a `__torch_function__` class or mode, autocast, saved-tensor
hooks, anomaly detection, a profiler) raises it while it is on; an op whose word is 0 asks no further questions.
"""
from __future__ import annotations

import threading
from typing import Any


class _State:
    """Process-wide: how many modes are on anywhere. A thread that has none of its own finds that out on the slow path."""

    __slots__ = ("active",)

    def __init__(self) -> None:
        self.active = 0


class _ThreadState(threading.local):
    """What a thread has switched on. Every thread starts with gradients on and nothing else."""

    grad = True  # record ops for backward
    inference = False  # inside inference_mode
    function_modes: tuple = ()  # TorchFunctionMode objects, outermost first
    function_disabled = 0  # depth of DisableTorchFunctionSubclass
    saved_hooks: tuple = ()  # (pack, unpack) pairs, outermost first
    anomaly = False  # remember where each node was made
    anomaly_nan = True
    autocast: dict | None = None  # device type -> dtype, when autocast is on
    autocast_cache: dict | None = None
    wide_weight: Any = None  # the float32 weight that the running convolution rounds itself, under autocast
    multithreading = True
    backward_pass: Any = None  # the pass of autograd.engine that is running
    batches: tuple = ()  # the vmaps that are running, outermost first
    dual: Any = None  # the open level of forward-mode derivatives


class _Upper:
    """What the rooms above lend to this one, set once when they are imported.

    regenerate(base, view, replay)   the node of a view whose base was written to (ops.movement)
    geometry(outer, inner)           a function that takes `inner`'s elements out of a Tensor shaped like `outer` (ops.movement)
    dispatch(call, args, kwargs)     the slow path of an op: modes, `__torch_function__`, autocast (ops.dispatch)
    foreign(call, args, kwargs)      what an argument of a foreign class with `__torch_function__` makes of a failed call (ops.overriding)
    anomaly_trace()                  where the current op was called (autograd.anomaly)
    gradients(y, inputs, g, graph)   the gradients of y, weighted by g, recorded if `graph` is true (autograd.api)
    batched(op, args, kwargs)        an op inside of a vmap (func.levels)
    batched_function(cls, args, kwargs)   (results, node) of a custom Function inside of a vmap (func.levels)
    dual(op, args, kwargs)           an op while a forward level is open (autograd.forward_ad)
    dual_function(cls, node, args, result, level)   the tangents of a custom Function (autograd.forward_ad)
    """

    __slots__ = ("regenerate", "geometry", "dispatch", "foreign", "anomaly_trace", "gradients", "batched", "batched_function", "dual", "dual_function")
    regenerate: Any
    geometry: Any
    dispatch: Any
    foreign: Any
    anomaly_trace: Any
    gradients: Any
    batched: Any
    batched_function: Any
    dual: Any
    dual_function: Any


state = _State()
upper = _Upper()
thread = _ThreadState()


_counting = threading.Lock()


def raise_active() -> None:
    """A mode was switched on somewhere: ops take the slow path."""
    with _counting:
        state.active += 1


def lower_active() -> None:
    """That mode was switched off."""
    with _counting:
        state.active -= 1


def grad_enabled() -> bool:
    """Whether the current thread records ops for backward."""
    return thread.grad


class without_grad:  # noqa: N801
    """Context in which ops are not recorded (what `no_grad` is, for the rooms below autograd)."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = thread.grad
        thread.grad = False

    def __exit__(self, *exc: object) -> None:
        thread.grad = self.before
