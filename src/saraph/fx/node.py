"""`Node`: one operation of a graph."""
from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from saraph.fx.immutable_collections import immutable_dict, immutable_list
from saraph.fx.names import pretty_target, qualified_name, type_name
from saraph.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module
from saraph.nn.modules.module import Module
from saraph.ops import NAMESPACES

if TYPE_CHECKING:
    from saraph.fx.graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]
Target = Callable[..., Any] | str
Argument = Any
BaseArgumentTypes = Any
F = TypeVar("F", bound=Callable[..., Any])
_legal_ops = dict.fromkeys(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
_side_effectful_functions: set[Callable[..., Any]] = {operator.setitem, NAMESPACES["torch"]["_assert"]}
_RANDOM = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson", "binomial", "rand_like", "randn_like",
           "randint_like")
_random_functions = {NAMESPACES["torch"][name] for name in _RANDOM if name in NAMESPACES["torch"]}
_get_qualified_name, _type_repr = qualified_name, type_name


def has_side_effect(fn: F) -> F:
    """Let calls of this function stand even where nobody uses the result (`eliminate_dead_code`). Usable as a decorator."""
    _side_effectful_functions.add(fn)
    return fn


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The argument with `fn(node)` in place of every Node in it, however deep in tuples, lists, dicts and slices."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The argument with `fn(x)` in place of everything that is no container. Lists and dicts of the result refuse changes."""
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items) if type(a) is tuple else _rebuilt(a, items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(v, fn) for k, v in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def _rebuilt(a: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    """A subclass of tuple (a Size, a result of several tensors) with other items: its own class where nothing changed, else a plain tuple."""
    return a if len(a) == len(items) and all(x is y for x, y in zip(a, items)) else tuple(items)


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(a) for a in arg[: len(arg) if max_list_len > len(arg) else int(max_list_len)]]
        more = f", ...[total_len={len(arg)}]" if len(arg) > max_list_len else ""
        inner = ", ".join(shown) + more
        return f"[{inner}]" if isinstance(arg, list) else f"({inner},)" if len(arg) == 1 else f"({inner})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


class Node:
    """One operation of a graph: what `op` says is done to `args` and `kwargs`.

    op              target                                              meaning
    placeholder     the name                                            an input; args holds its default, if any
    get_attr        the dotted path                                     a parameter, buffer or other attribute of the module
    call_function   the function                                        target(*args, **kwargs)
    call_module     the dotted path                                     that submodule, called
    call_method     the method's name                                   args[0].target(*args[1:], **kwargs)
    output          "output"                                            the result: args[0]

    `users` are the nodes that use this one, `all_input_nodes` those it uses; `meta` is a dict for whatever passes want to note; `type` the
    annotation. Nodes stand in a ring (`next`, `prev`) in order of execution.
    """

    graph: Graph
    name: str
    op: str
    target: Target
    type: Any
    users: dict[Node, None]
    meta: dict[str, Any]

    def __init__(self, graph: Graph, name: str, op: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any],
                 return_type: Any | None = None):
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type_name(type(target))} but a Callable "
                                 "is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type_name(type(target))} but a str is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self._prev = self._next = self
        self._erased = False
        self._sort_key = 0
        self._input_nodes: dict[Node, None] = {}
        self.users = {}
        self.meta = {}
        self._repr_fn: Callable[[Node], str] | None = None
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = immutable_dict()
        self._set_arguments(args, kwargs)

    # -- place in the graph ------------------------------------------------------------------------------------------------
    @property
    def next(self) -> Node:
        """The node that runs after this one (after the last one comes the graph's root)."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node that runs before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            warnings.warn("Trying to prepend a node to itself. This behavior has no effect on the graph.", stacklevel=2)
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        self.graph._order_stale = True

    def append(self, x: Node) -> None:
        """Move `x` behind this node."""
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def _position(self) -> int:
        if self.graph._order_stale:
            self.graph._number()
        return self._sort_key

    def __lt__(self, other: Node) -> bool:
        return self._position() < other._position()

    def __gt__(self, other: Node) -> bool:
        return self._position() > other._position()

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # -- arguments ---------------------------------------------------------------------------------------------------------
    @property
    def args(self) -> tuple[Any, ...]:
        """Positional arguments; assign a new tuple to change them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """Keyword arguments; assign a new dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes this one uses, each once, in order of appearance."""
        return list(self._input_nodes)

    def _set_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}
        self._args = map_arg(tuple(args), self._use)
        self._kwargs = map_arg(dict(kwargs), self._use)

    def _use(self, node: Node) -> Node:
        self._input_nodes.setdefault(node)
        node.users.setdefault(self)
        return node

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument before the one at `idx` (which may be one past the last)."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use `new_input` wherever this node used `old_input`."""
        def swap(n: Node) -> Node:
            return new_input if n is old_input else n

        self._notify_replaced(old_input, new_input)
        self._set_arguments(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def replace_all_uses_with(self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *,
                              propagate_meta: bool = False) -> list[Node]:
        """Let every user of this node use `replace_with` instead (those `delete_user_cb(user)` picks). Returns the users that changed.

        `propagate_meta` also moves this node's `meta` to the new node, whose own must be empty.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user._replace_use(self, replace_with)
        return changed

    def _replace_use(self, old: Node, new: Node) -> None:
        self._notify_replaced(old, new)
        self._set_arguments(map_arg(self.args, lambda n: new if n is old else n), map_arg(self.kwargs, lambda n: new if n is old else n))

    def _notify_replaced(self, old: Node, new: Node) -> None:
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=old, new=new.name, user=self)

    def normalized_arguments(self, root: Module, arg_types: tuple[Any, ...] | None = None, kwarg_types: dict[str, Any] | None = None,
                             normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
        """The arguments as the function's (or module's) signature orders them; None where there is no signature to go by."""
        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, str(self.target), self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    # -- what it is --------------------------------------------------------------------------------------------------------
    @property
    def stack_trace(self) -> str | None:
        """Where in the program the operation was recorded, if the tracer kept that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node matters even if nobody uses its result: inputs, outputs, writes, assertions, random numbers (`impure_random`)."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions or (impure_random and self.target in _random_functions)
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            target = owner.get_submodule(str(self.target))
            return bool(getattr(target, "_is_impure", False))
        return False

    def _pretty_print_target(self, target: Any) -> str:
        return pretty_target(target, self.kwargs)

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None, *,
                    include_tensor_metadata: bool = False) -> str | None:
        """One line that describes the node. `placeholder_names` and `maybe_return_typename` collect what a graph's heading wants to know."""
        kind = f" : {type_name(self.type)}" if self.type is not None else ""
        if include_tensor_metadata and self.meta.get("tensor_meta") is not None:
            meta = self.meta["tensor_meta"]
            kind += f" : Tensor(shape={tuple(meta.shape)}, dtype={meta.dtype})" if hasattr(meta, "shape") else ""
        head = f"%{self.name}{kind} [num_users={len(self.users)}] = " if kind else f"%{self.name} : [num_users={len(self.users)}] = "
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{kind}")
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}{self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}{self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        return (f"{head}{self.op}[target={self._pretty_print_target(self.target)}]"
                f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})")

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace.rename_object(self, self.name)

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn is not None else self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """A node goes with its graph."""
        return _node_of, (self.graph, self.name)


def _node_of(graph: Graph, name: str) -> Node:
    return next(n for n in graph.nodes if n.name == name)
