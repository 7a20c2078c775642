"""Nodes of the backward graph.

A node belongs to one forward call. It keeps what its formula needs (`saved`), and for each forward input an edge:

    None           the input needs no gradient
    a Tensor       a leaf: its `.grad` is the end of the line
    a Node         the node that made the input, as its only (or first) output
    (Node, k)      the node that made the input as output k

Nodes are numbered in the order they are made, and an input's node is always older than the node that uses it, so descending
numbers are a topological order: the engine needs neither recursion nor counts.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

_numbers = itertools.count()
next_number = _numbers.__next__


class Node:
    """A step of the backward graph (`tensor.grad_fn`)."""

    __slots__ = ("edges", "saved", "versions", "sequence", "shapes", "extra", "__dict__", "__weakref__")

    if TYPE_CHECKING:
        edges: tuple[Any, ...]
        saved: Any
        versions: Any
        sequence: int
        shapes: Any
        extra: Any

        def __getattr__(self, name: str) -> Any: ...  # what an op keeps for its formula

    outputs = 1  # of the forward call
    saves_result = False  # the formula wants the op's own result: it is saved last

    @staticmethod
    def formula(node: Node, *grads: Any) -> Any:
        """Gradients of the inputs (a Tensor or None each; a bare value when there is one input)."""
        raise RuntimeError("a node needs a formula")

    def needs(self, index: int) -> bool:
        """Whether input `index` needs a gradient."""
        return self.edges[index] is not None

    # -- what users see --------------------------------------------------------------------------------------------
    def name(self) -> str:
        """The node's name, such as 'MulBackward0'."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict for the user's own notes."""
        return self._extra().setdefault("metadata", {})

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """(node, output number) of every input; leaves appear as their AccumulateGrad node."""
        return tuple(public_edge(edge) for edge in self.edges)

    def _sequence_nr(self) -> int:
        return self.sequence

    def _extra(self) -> dict[str, Any]:
        if self.extra is None:
            self.extra = {}
        return self.extra

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node ran; what it returns replaces grad_inputs."""
        return RemovableHandle.put(self._extra(), "post_hooks", hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; what it returns replaces grad_outputs."""
        return RemovableHandle.put(self._extra(), "pre_hooks", hook)


class AccumulateGrad(Node):
    """Stands for a leaf in `next_functions`: adds what arrives to the leaf's `.grad`."""

    __slots__ = ("variable",)

    def __init__(self, variable: Any):
        self.variable = variable
        self.edges, self.saved, self.versions, self.shapes, self.extra = (), (), None, None, None
        self.sequence = 2**62

    @staticmethod
    def formula(node: Node, *grads: Any) -> Any:
        raise RuntimeError("AccumulateGrad is run by the engine")


class RemovableHandle:
    """What a hook registration returns: `remove()` takes the hook away. Works as a context too."""

    __slots__ = ("_hooks", "id", "_others")
    _numbers = itertools.count()

    def __init__(self, hooks_dict: dict, *, extra_dict: Any = None):
        self._hooks = hooks_dict
        self._others = () if extra_dict is None else (extra_dict,) if isinstance(extra_dict, dict) else tuple(extra_dict)
        self.id = next(self._numbers)

    @classmethod
    def put(cls, owner: dict, key: str, hook: Callable) -> RemovableHandle:
        """Add a hook to the dict of hooks that `owner` keeps under `key`."""
        hooks = owner.get(key)
        if hooks is None:
            hooks = owner[key] = {}
        handle = cls(hooks)
        hooks[handle.id] = hook
        return handle

    def remove(self) -> None:
        """Take the hook away; harmless when it is gone already."""
        self._hooks.pop(self.id, None)
        for other in self._others:
            other.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def derivative(name: str, *, outputs: int = 1, saves_result: bool = False) -> Callable[[Callable], type[Node]]:
    """Decorator: a backward formula `(node, *grads) -> grads` becomes the Node class that carries its name.

    The formula gets a gradient Tensor (or None, where nothing arrived) per forward output, and returns one per recorded
    input, in order. Inside it `unpack(node)` gives the saved tensors (checked), `node.<constant>` what was recorded beside them.
    """

    def make(formula: Callable) -> type[Node]:
        body = {"__slots__": (), "formula": staticmethod(formula), "outputs": outputs, "saves_result": saves_result,
                "__doc__": formula.__doc__, "__module__": formula.__module__}
        return type(name, (Node,), body)

    return make


def public_edge(edge: Any) -> tuple[Any, int]:
    """An edge as users see it: (node or None, output number)."""
    if edge is None:
        return None, 0
    if edge.__class__ is tuple:
        return edge
    if isinstance(edge, Node):
        return edge, 0
    return accumulator(edge), 0


def accumulator(leaf: Any) -> AccumulateGrad:
    """The leaf's AccumulateGrad node, always the same one."""
    extra = leaf._extra()
    node = extra.get("accumulator")
    if node is None:
        node = extra["accumulator"] = AccumulateGrad(leaf)
    return node
