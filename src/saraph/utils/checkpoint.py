"""Checkpointing: forget what a part of the model computed, and compute it again during backward (Chen et al., arXiv:1604.06174)."""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from saraph import random
from saraph.autograd import backward, enable_grad
from saraph.autograd.function import Function
from saraph.autograd.graph import saved_tensors_hooks
from saraph.tensor.state import lower_active, raise_active, thread
from saraph.tensor.tensor import Tensor, needs_grad

__all__ = ["checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "check_backward_validity", "detach_variable",
           "noop_context_fn", "set_checkpoint_early_stop", "get_device_states", "set_device_states", "DefaultDeviceType"]


class CheckpointError(RuntimeError):
    """What was computed again is not what was computed first."""


class DefaultDeviceType:
    """The device type that checkpointing assumes when no tensor tells (there is one here: the CPU)."""

    _type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type."""
        DefaultDeviceType._type = device

    @staticmethod
    def get_device_type() -> str:
        """The type."""
        return DefaultDeviceType._type


class _EarlyStop(Exception):
    """Everything that backward asked for has been computed again."""


class set_checkpoint_early_stop:  # noqa: N801
    """Context: whether recomputation of the checkpoints made inside stops once the last needed tensor is there."""

    enabled: bool | None = None  # None: as the call of checkpoint says

    def __init__(self, enable: bool):
        self.wanted = enable

    def __enter__(self) -> None:
        self.before = set_checkpoint_early_stop.enabled
        set_checkpoint_early_stop.enabled = self.wanted

    def __exit__(self, *exc: object) -> None:
        set_checkpoint_early_stop.enabled = self.before


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing: the default of `context_fn`."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs as leaves that require gradients where the originals did."""
    return tuple(_leaf(x) if isinstance(x, Tensor) else x for x in inputs)


def _leaf(x: Tensor) -> Tensor:
    fresh = x.detach()
    fresh.requires_grad = needs_grad(x)
    return fresh


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn when no input requires a gradient (reentrant checkpoints then give none)."""
    if not any(isinstance(x, Tensor) and needs_grad(x) for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


class CheckpointFunction(Function):
    """The reentrant kind: forward without recording, and a backward pass of its own inside backward."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        ctx.run_function = run_function
        ctx.rng = random.default_generator.get_state() if preserve_rng_state else None
        ctx.autocast = thread.autocast
        ctx.positions = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if thread.backward_pass is not None and thread.backward_pass.inputs is not None:
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
                               ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
                               "the `inputs` argument.")
        args = list(ctx.others)
        for i, t in zip(ctx.positions, ctx.saved_tensors):
            args[i] = t
        leaves = detach_variable(tuple(args))
        with _restored(ctx.rng), _autocast_of(ctx.autocast), enable_grad():
            outputs = ctx.run_function(*leaves)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and needs_grad(o)]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in leaves])


@contextlib.contextmanager
def _restored(state: Any) -> Any:
    """The generator as it was during forward, put back afterwards."""
    if state is None:
        yield
        return
    now = random.default_generator.get_state()
    random.default_generator.set_state(state)
    try:
        yield
    finally:
        random.default_generator.set_state(now)


@contextlib.contextmanager
def _autocast_of(table: dict | None) -> Any:
    """Autocast as it was during forward."""
    before = thread.autocast, thread.autocast_cache
    thread.autocast, thread.autocast_cache = table, {}
    raise_active()
    try:
        yield
    finally:
        lower_active()
        thread.autocast, thread.autocast_cache = before


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the tensors among `args` that have random streams of their own, and these streams' states: none on the CPU."""
    return [], []


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: str | None = None) -> None:
    """Restore what `get_device_states` gave."""
    if devices or states:
        raise RuntimeError(f"set_device_states: there are no devices here whose random streams could be set (devices {devices})")


def checkpoint(function: Callable, *args: Any, use_reentrant: bool | None = None, context_fn: Callable = noop_context_fn,
               determinism_check: str = "default", debug: bool = False, early_stop: bool = True, preserve_rng_state: bool = True,
               **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, whose intermediate tensors are not kept but computed again during backward.

    `use_reentrant=False` (recommended, and what None means here) works with any graph and with keyword arguments; True runs a backward pass of
    its own inside backward. Random numbers are drawn again as they were (`preserve_rng_state`). CheckpointError when the second
    computation saves tensors of other shapes or dtypes than the first (`determinism_check="none"` skips that).
    """
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn:
            raise ValueError("Passing `context_fn` is only supported when use_reentrant=False.")
        check_backward_validity(args)
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if not thread.grad:
        return function(*args, **kwargs)
    frame = _Frame(function, args, kwargs, preserve_rng_state, context_fn, determinism_check, early_stop)
    with saved_tensors_hooks(frame.pack, frame.unpack), frame.forward_context:
        return function(*args, **kwargs)


class _Frame:
    """One checkpointed call: counts what forward saved, and computes all of it again when backward first asks."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict, preserve: bool, context_fn: Callable, determinism: str, early_stop: bool):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.rng = random.default_generator.get_state() if preserve else None
        self.forward_context, self.recompute_context = context_fn()
        self.autocast = thread.autocast
        self.determinism = determinism
        self.early_stop = early_stop if set_checkpoint_early_stop.enabled is None else set_checkpoint_early_stop.enabled
        self.described: list[Any] = []
        self.again: dict[int, Tensor] = {}

    def pack(self, x: Tensor) -> int:
        self.described.append((x.shape, x.dtype))
        return len(self.described) - 1

    def unpack(self, number: int) -> Tensor:
        if number not in self.again:
            self.recompute()
        return self.again.pop(number)

    def recompute(self) -> None:
        self.again.clear()
        count = 0

        def pack(x: Tensor) -> Tensor:
            nonlocal count
            if count >= len(self.described):
                raise CheckpointError("torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
                                      f"pass ({len(self.described)}).")
            if self.determinism == "default" and self.described[count] != (x.shape, x.dtype):
                shape, kind = self.described[count]
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
                    f"pass: saved tensor {count} was {kind!r} {list(shape)}, now {x.dtype!r} {list(x.shape)}.")
            self.again[count] = x.detach()
            count += 1
            if self.early_stop and count == len(self.described):
                raise _EarlyStop
            return x

        leaves = detach_variable(self.args)
        try:
            with _restored(self.rng), _autocast_of(self.autocast), enable_grad(), self.recompute_context, saved_tensors_hooks(pack, lambda x: x):
                self.function(*leaves, **self.kwargs)
        except _EarlyStop:
            return
        if count != len(self.described):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation. "
                                  f"Number of tensors saved during forward: {len(self.described)}, during recomputation: {count}.")


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """A sequence of modules in `segments` parts, all but the last of them checkpointed."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(start: int, end: int) -> Callable:
        def forward(x: Any) -> Any:
            for j in range(start, end + 1):
                x = steps[j](x)
            return x
        return forward

    size = len(steps) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end + 1, len(steps) - 1)(input)
