"""`backward`, `grad` and Tensor's autograd methods."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from saraph.autograd import engine
from saraph.autograd.graph import GradientEdge
from saraph.backends import of
from saraph.ops.joining import stack
from saraph.ops.promotion import cast
from saraph.ops.registry import method
from saraph.tensor.node import Node, RemovableHandle
from saraph.tensor.state import upper
from saraph.tensor.tensor import Tensor, alias, edge_of, needs_grad, wrap


def _as_list(value: Any) -> list:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) and not isinstance(value, GradientEdge) else [value]


def _grads_for(outputs: Sequence[Tensor], grads: Sequence[Any], batched: bool = False) -> list[Tensor]:
    found = []
    for out, g in zip(outputs, grads):
        if isinstance(out, GradientEdge):
            if not isinstance(g, Tensor):
                raise RuntimeError(f"the gradient of a GradientEdge must be given (outputs[{len(found)}] has no shape of its own)")
            found.append(alias(g))
            continue
        if g is None:
            if out._a.size != 1:
                raise RuntimeError(f"grad can be implicitly created only for scalar outputs (this output has shape {list(out._a.shape)}: pass "
                                   "gradient=, or reduce it with .sum() or .mean())")
            if out._a.dtype.kind == "c":
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype!r}")
            a = out._a
            found.append(wrap(of(a).full(a.shape, 1, a.dtype)))
            continue
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors, Numbers or None, but got {type(g).__name__}")
        if g._a.shape != out._a.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[{len(found)}] has a shape of {tuple(g._a.shape)} and output[{len(found)}] has a "
                               f"shape of {tuple(out._a.shape)}.")
        if (g._a.dtype.kind == "c") != (out._a.dtype.kind == "c"):
            raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                               f"grad_output[{len(found)}] has a dtype of {g.dtype!r} and output[{len(found)}] has a dtype of {out.dtype!r}.")
        found.append(cast(g, out.dtype) if g._a.dtype != out._a.dtype else alias(g))  # a Tensor that the caller does not hold
    return found


def _check_roots(tensors: Sequence[Tensor]) -> None:
    for i, t in enumerate(tensors):
        if isinstance(t, GradientEdge):
            continue
        if not isinstance(t, Tensor):
            raise TypeError(f"backward: element {i} of tensors must be a Tensor, not {type(t).__name__}")
        if not needs_grad(t):
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn (shape {list(t._a.shape)}: it was made "
                               "from tensors without requires_grad, or under no_grad, or detached)")


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: Any = None) -> None:
    """Add the gradients of `tensors` (weighted by `grad_tensors`) to the `.grad` of leaves, or of `inputs` only."""
    roots = _as_list(tensors)
    given = _as_list(grad_tensors if grad_tensors is not None else grad_variables) or [None] * len(roots)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    wanted = None
    if inputs is not None:
        wanted = _as_list(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        for i, x in enumerate(wanted):
            if isinstance(x, Tensor) and not needs_grad(x):
                raise RuntimeError(f"One of the differentiated Tensors does not require grad (inputs[{i}], shape {list(x._a.shape)})")
    _check_roots(roots)
    keep = create_graph if retain_graph is None else retain_graph
    engine.run(roots, _grads_for(roots, given), keep, create_graph, wanted, True)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` (weighted by `grad_outputs`) with respect to `inputs`, as a tuple; `.grad` is left alone."""
    roots, wanted = _as_list(outputs), _as_list(inputs)
    given = _as_list(grad_outputs) or [None] * len(roots)
    if allow_unused is None:
        allow_unused = materialize_grads
    if materialize_grads and not allow_unused:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for i, x in enumerate(wanted):
        if isinstance(x, GradientEdge):
            continue
        if not isinstance(x, Tensor):
            raise TypeError(f"grad: inputs[{i}] must be a Tensor, not {type(x).__name__}")
        if not needs_grad(x):
            raise RuntimeError(f"One of the differentiated Tensors does not require grad (inputs[{i}], shape {list(x._a.shape)})")
    _check_roots(roots)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(roots, wanted, given, keep, create_graph, allow_unused, materialize_grads)
    found = engine.run(roots, _grads_for(roots, given), keep, create_graph, wanted, False)
    for i, (g, x) in enumerate(zip(found, wanted)):
        if g is None:
            if not allow_unused:
                raise RuntimeError(f"One of the differentiated Tensors appears to not have been used in the graph (inputs[{i}]"
                                   f"{f', shape {list(x._a.shape)}' if isinstance(x, Tensor) else ''}). Set allow_unused=True if this is the "
                                   "desired behavior.")
            if materialize_grads and isinstance(x, Tensor):
                found[i] = wrap(of(x._a).full(x._a.shape, 0, x._a.dtype))
    return tuple(found)


def _gradients(y: Tensor, inputs: list[Tensor], g: Tensor, graph: bool) -> tuple[Tensor | None, ...]:
    """The gradients of y with respect to inputs, None for those it does not depend on."""
    return tuple(engine.run([y], [g], graph, graph, inputs, False) or ())


upper.gradients = _gradients


def _batched(roots: list, wanted: list, weights: list[Tensor], keep: bool, create_graph: bool, allow_unused: bool,
             materialize: bool) -> tuple[Tensor | None, ...]:
    """One pass for each row of the weights; the gradients are stacked."""
    count = weights[0]._a.shape[0]
    rows = [grad(roots, wanted, [w[i] for w in weights], keep or i < count - 1, create_graph, True, allow_unused, False, materialize)
            for i in range(count)]
    return tuple(None if parts[0] is None else stack(parts) for parts in zip(*rows))


@method("backward")
def _backward(self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None) -> None:
    """Add the gradient of this tensor to the `.grad` of the leaves it was made from (see `autograd.backward`)."""
    backward(self, None if gradient is None else gradient, retain_graph, create_graph, inputs=inputs)


@method("register_hook")
def _register_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(grad)` when this tensor's gradient is known; what it returns replaces it."""
    if not needs_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    edge = edge_of(self)
    if edge is self:
        return RemovableHandle.put(self._extra(), "hooks", hook)
    node, k = edge if edge.__class__ is tuple else (edge, 0)
    return RemovableHandle.put(node._extra().setdefault("tensor_hooks", {}), k, hook)


@method("register_post_accumulate_grad_hook")
def _register_post_accumulate(self: Tensor, hook: Callable) -> RemovableHandle:
    """Call `hook(tensor)` after this leaf's `.grad` was added to."""
    if not needs_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if edge_of(self) is not self:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return RemovableHandle.put(self._extra(), "post_accumulate", hook)


@method("retain_grad")
def _retain_grad(self: Tensor) -> None:
    """Keep this non-leaf tensor's gradient in `.grad` during backward; does nothing on a leaf."""
    if not needs_grad(self):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    edge = edge_of(self)
    if isinstance(edge, (Node, tuple)):
        node, k = edge if edge.__class__ is tuple else (edge, 0)
        node._extra().setdefault("retain", {})[k] = weakref.ref(self)
        self._extra()["retains_grad"] = True
