"""The backward pass.

Nodes are numbered in the order they were made and inputs are older than what uses them, so the engine collects the nodes that can be
reached and runs them by descending number: no recursion, no counting. Gradients wait in a dict until their node's turn; a node's
entry is dropped as soon as it ran, so memory is freed as the pass goes.
"""
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from saraph.backends import SparseArray, of
from saraph.ops import promotion
from saraph.ops.arithmetic import plus
from saraph.tensor.node import AccumulateGrad, Node
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import Tensor, edge_of, wrap

_sequence = attrgetter("sequence")
_getrefcount = sys.getrefcount
# references to a gradient, and to its array, in `accumulate` when nobody but the pass holds them
_TENSOR_ALONE, _ARRAY_ALONE = 5, 3


def run(roots: Sequence[Any], grads: Sequence[Tensor], keep_graph: bool, create_graph: bool, inputs: Sequence[Any] | None = None,
        accumulate: bool = True) -> list[Tensor | None] | None:
    """Push `grads` from `roots` back through the graph.

    With `accumulate` leaves (all, or those among `inputs`) collect into `.grad`; otherwise the gradients of `inputs` are returned.
    """
    before, outer = thread.grad, thread.backward_pass
    thread.grad = create_graph
    thread.backward_pass = this = _Pass(keep_graph, create_graph, inputs, accumulate)
    try:
        return this.run(roots, grads)
    finally:
        thread.grad, thread.backward_pass = before, outer


def start_of(x: Any) -> Any:
    """The edge of a Tensor or of a GradientEdge."""
    if isinstance(x, Tensor):
        return edge_of(x)
    node, number = x
    return node.variable if node.__class__ is AccumulateGrad else (node, number) if number else node


_numbers = itertools.count(1)


class _Pass:
    """One backward pass."""

    order: Sequence[Node] = ()
    needed: set[Node] | None = None

    def __init__(self, keep_graph: bool, create_graph: bool, inputs: Sequence[Any] | None, accumulate: bool):
        self.keep_graph, self.create_graph, self.accumulate = keep_graph, create_graph, accumulate
        self.number = next(_numbers)
        self.pending: dict[Node, Any] = {}  # node -> gradient (one output), or list of gradients
        self.targets: dict[Any, int] = {}  # edge key of an input -> its position
        self.captured: list[Tensor | None] = []
        self.inputs = inputs
        self.leaf_grads: dict[int, list] = {}
        if inputs is not None:
            self.captured = [None] * len(inputs)
            self.keys = [_key(start_of(x)) for x in inputs]
            for key in self.keys:
                if key is not None:
                    self.targets[key] = 0

    def run(self, roots: Sequence[Any], grads: Sequence[Tensor]) -> list[Tensor | None] | None:
        edges = [start_of(r) for r in roots]
        self.order = order = _collect(edges)
        self.needed = needed = _leading_to(order, self.targets) if self.inputs is not None else None
        self.results: dict[Any, Tensor] = {}
        for edge, g in zip(edges, grads):
            self.send(edge, g)
        pending, targets = self.pending, self.targets
        for node in order:
            g = pending.pop(node, None)
            if g is None:
                continue
            if node.extra is not None or targets:
                g = self.before_node(node, g)
                if needed is not None and node not in needed:
                    continue
            self.step(node, g)
        for leaf, g in self.leaf_grads.values():
            self.finish_leaf(leaf, g)
        if self.inputs is None:
            return None
        return [self.results.get(key) for key in self.keys]

    def reaches(self, edge: Any) -> bool:
        """Whether this pass comes by an edge."""
        node = edge[0] if edge.__class__ is tuple else edge
        if isinstance(node, Node):
            return node in (self.order if self.needed is None else self.needed) or _key(edge) in self.targets
        return _key(edge) in self.targets if self.inputs is not None else any(node is e for n in self.order for e in n.edges)

    def step(self, node: Node, g: Any) -> None:
        """Run one node and pass on what it returns."""
        formula = node.formula
        if state.active and thread.anomaly:
            formula = _watched(node, formula)
        results = formula(node, *g) if g.__class__ is list else formula(node, g)
        if results.__class__ is not tuple:
            results = (results,)
        if node.extra is not None:
            results = _post_hooks(node, results, g)
        edges = node.edges
        if not self.keep_graph:
            node.saved = None
        if len(results) != len(edges):
            raise RuntimeError(f"Function {node.name()} returned an incorrect number of gradients (expected {len(edges)}, got {len(results)})")
        pending = self.pending
        for edge, r in zip(edges, results):
            if edge is None or r is None:
                continue
            if isinstance(edge, Node) and edge.outputs == 1 and edge.__class__ is not AccumulateGrad:
                have = pending.get(edge)
                pending[edge] = r if have is None else plus(have, r)
            else:
                self.send(edge, r)

    def send(self, edge: Any, g: Tensor) -> None:
        """A gradient arrives at an edge."""
        if edge is None:
            return
        if edge.__class__ is tuple or isinstance(edge, Node):
            node, k = edge if edge.__class__ is tuple else (edge, 0)
            if node.__class__ is AccumulateGrad:
                self.send(node.variable, g)
                return
            pending = self.pending
            if node.outputs == 1:
                have = pending.get(node)
                pending[node] = g if have is None else plus(have, g)
                return
            slots = pending.get(node)
            if slots is None:
                slots = pending[node] = [None] * node.outputs
            slots[k] = g if slots[k] is None else plus(slots[k], g)
            return
        found = self.leaf_grads.get(id(edge))
        if found is None:
            self.leaf_grads[id(edge)] = [edge, g]
        else:
            found[1] = plus(found[1], g)

    def before_node(self, node: Node, g: Any) -> Any:
        """Tensor hooks and retained gradients of the node's outputs, pre-hooks, and capture for `inputs`."""
        extra = node.extra
        if extra:
            tensor_hooks = extra.get("tensor_hooks")
            if tensor_hooks:
                many = g.__class__ is list
                slots = g if many else [g]
                for k, hooks in tensor_hooks.items():
                    for hook in list(hooks.values()):
                        if slots[k] is not None:
                            slots[k] = _replaced(hook(slots[k]), slots[k])
                g = slots if many else slots[0]
            if "pre_hooks" in extra:
                many = g.__class__ is list
                slots = tuple(g) if many else (g,)
                for hook in list(extra["pre_hooks"].values()):
                    new = hook(slots)
                    if new is not None:
                        slots = tuple(new) if isinstance(new, (tuple, list)) else (new,)
                g = list(slots) if many else slots[0]
            for k, ref in extra.get("retain", {}).items():
                tensor = ref()
                slot = g[k] if g.__class__ is list else g
                if tensor is not None and slot is not None:
                    tensor._grad = slot if tensor._grad is None else plus(tensor._grad, slot)
        if self.targets:
            for k, slot in enumerate(g if g.__class__ is list else (g,)):
                if (id(node), k) in self.targets and slot is not None:
                    self.results[id(node), k] = slot
                    if self.accumulate:
                        self.capture_grad((id(node), k), slot)
        return g

    def capture_grad(self, key: Any, g: Tensor) -> None:
        """`backward(inputs=[non-leaf])` accumulates into that tensor's `.grad`."""
        for x, own in zip(self.inputs, self.keys):
            if own == key and isinstance(x, Tensor) and x._edge is not None:
                x._grad = g if x._grad is None else plus(x._grad, g)
                return

    def finish_leaf(self, leaf: Tensor, g: Tensor) -> None:
        """All gradients of a leaf have arrived: hooks, then `.grad` (or the result)."""
        meta = leaf._meta
        key = (id(leaf), 0)
        if self.inputs is not None and key not in self.targets:
            return
        a = leaf._a
        if g._a.dtype is not a.dtype and g._a.dtype != a.dtype:
            g = promotion.cast(g, leaf.dtype)
        if meta is not None and "hooks" in meta:
            for hook in list(meta["hooks"].values()):
                g = _replaced(hook(g), g)
        if not self.accumulate:
            self.results[key] = g
            return
        node = meta.get("accumulator") if meta is not None else None
        if node is not None and node.extra and "pre_hooks" in node.extra:
            for hook in list(node.extra["pre_hooks"].values()):
                new = hook((g,))
                g = g if new is None else (new[0] if isinstance(new, (tuple, list)) else new)
        accumulate(leaf, g, self.create_graph)
        if meta is not None:
            for hook in list(meta.get("post_accumulate", {}).values()):
                hook(leaf)
            if node is not None and node.extra and "post_hooks" in node.extra:
                for hook in list(node.extra["post_hooks"].values()):
                    hook((), (g,))


def accumulate(leaf: Tensor, g: Tensor, create_graph: bool) -> None:
    """Add g to the leaf's `.grad`; a first gradient that nobody else holds is taken as it is, another one is copied."""
    have = leaf._grad
    if have is None:
        if create_graph:
            leaf._grad = g.clone()
            return
        a, own = g._a, leaf._a
        alone = _getrefcount(a) <= _ARRAY_ALONE and _getrefcount(g) <= _TENSOR_ALONE
        if a.base is None and a.strides == own.strides and alone or a.__class__ is SparseArray:
            leaf._grad = g if g._rg is False else wrap(a)
        else:
            leaf._grad = wrap(_dense_copy(a, own))
    elif create_graph or have._rg or g._a.__class__ is SparseArray or have._a.__class__ is SparseArray:
        leaf._grad = plus(have, g)
    else:
        have.add_(g)


def _dense_copy(a: Any, like: Any) -> Any:
    """A copy in the leaf's own memory order, when the leaf is dense."""
    backend = of(a)
    if a.shape == like.shape and 0 not in like.strides:
        fresh = backend.empty_like(like, a.dtype)
        backend.copy_into(fresh, a)
        return fresh
    return backend.copy(a, "C")


def _collect(edges: Sequence[Any]) -> list[Node]:
    """Every node that can be reached, newest first."""
    seen: set[Node] = set()
    stack = [e[0] if e.__class__ is tuple else e for e in edges if e.__class__ is tuple or isinstance(e, Node)]
    found: list[Node] = []
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        found.append(node)
        for e in node.edges:
            if e is None or e.__class__ is Tensor:
                continue
            if e.__class__ is tuple:
                e = e[0]
            if isinstance(e, Node) and e not in seen:
                stack.append(e)
    found.sort(key=_sequence, reverse=True)
    return found


def _leading_to(order: list[Node], targets: dict[Any, int]) -> set[Node]:
    """The nodes through which a gradient must go to reach a target (a target's own node need not run for its own sake)."""
    needed: set[Node] = set()
    for node in reversed(order):
        for edge in node.edges:
            key = _key(edge)
            if key is not None and (key in targets or (edge.__class__ is tuple and edge[0] in needed)
                                    or (isinstance(edge, Node) and edge in needed)):
                needed.add(node)
                break
    return needed


def _key(edge: Any) -> Any:
    if edge is None:
        return None
    if edge.__class__ is tuple:
        return id(edge[0]), edge[1]
    return id(edge.variable if edge.__class__ is AccumulateGrad else edge), 0


def _replaced(new: Any, old: Tensor) -> Tensor:
    if new is None:
        return old
    if not isinstance(new, Tensor):
        raise TypeError(f"expected hook to return a Tensor or None, got {type(new).__name__}")
    if new._a.shape != old._a.shape:
        raise RuntimeError(f"a hook has changed the size of value: the gradient was {list(old._a.shape)}, the hook returned {list(new._a.shape)}")
    return new


def _post_hooks(node: Node, results: tuple, g: Any) -> tuple:
    extra = node.extra
    if extra and "post_hooks" in extra:
        outputs = tuple(g) if g.__class__ is list else (g,)
        for hook in list(extra["post_hooks"].values()):
            new = hook(results, outputs)
            if new is not None:
                results = tuple(new) if isinstance(new, (tuple, list)) else (new,)
    return results


def _watched(node: Node, formula: Callable) -> Callable:
    """The formula under anomaly mode: NaNs and errors are traced to the forward line."""

    def call(node: Node, *grads: Any) -> Any:
        trace = (node.extra or {}).get("forward", [])
        where = "".join(trace) or "  (the forward call was made outside anomaly mode)\n"
        try:
            results = formula(node, *grads)
        except Exception as error:
            error.add_note(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{where}")
            raise
        if thread.anomaly_nan:
            for i, r in enumerate(results if isinstance(results, tuple) else (results,)):
                if r is not None and r._a.dtype.kind not in "biu" and bool(of(r._a).any(of(r._a).isnan(r._a), None, False)):
                    raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output. "
                                       f"Traceback of forward call that caused the error:\n{where}")
        return results

    return call
