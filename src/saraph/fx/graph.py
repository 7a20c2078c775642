"""`Graph`: the operations of a function or module, in order, and everything that builds and changes them."""
from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from saraph.fx.codegen import CodeGen, PythonCode, inplace_methods, magic_methods
from saraph.fx.codegen import _BoxedCodeGen as _BoxedCodeGen
from saraph.fx.codegen import _PyTreeCodeGen as _PyTreeCodeGen
from saraph.fx.codegen import _PyTreeInfo as _PyTreeInfo
from saraph.fx.names import CUSTOM_BUILTINS, is_from_torch, qualified_name, register_custom_builtin, snake_case, target_name
from saraph.fx.names import Namespace as _Namespace
from saraph.fx.node import Node, Target, _legal_ops, map_arg
from saraph.nn.modules.module import Module

if TYPE_CHECKING:
    from saraph.fx.graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode", "inplace_methods", "magic_methods", "reflectable_magic_methods"]
_is_from_torch, _snake_case, _register_custom_builtin = is_from_torch, snake_case, register_custom_builtin
reflectable_magic_methods = {name: magic_methods[name] for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and",
                                                                    "or", "xor", "getitem", "matmul")}


class _InsertPoint:
    """Where new nodes go; as a context, only inside it."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]):
        self.graph, self.before = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        self.graph._insert = self.before


class _node_list:  # noqa: N801
    """The nodes of a graph in order; nodes may be erased and added while one goes through it."""

    def __init__(self, graph: Graph, direction: Literal["_prev", "_next"] = "_next"):
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


class Graph:
    """A list of Nodes: placeholders (inputs), calls, and one output.

    Example::

        graph = fx.Graph()
        x = graph.placeholder("x")
        y = graph.call_function(torch.relu, (x,))
        graph.output(y)
        module = fx.GraphModule(nn.Module(), graph)

    New nodes go to the end, or where `inserting_before(node)` / `inserting_after(node)` say.
    """

    def __init__(self, owning_module: GraphModule | None = None, tracer_cls: type | None = None, tracer_extras: dict[str, Any] | None = None):
        self._order_stale = True
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._len = 0
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend

    @property
    def owning_module(self) -> GraphModule | None:
        """The GraphModule that runs this graph, if exactly one does."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: GraphModule | None) -> None:
        if mod:
            self._owning_module = mod if not self._owners else None
            self._owners += 1

    @property
    def nodes(self) -> _node_list:
        """All nodes in order; `reversed(graph.nodes)` goes backwards."""
        return _node_list(self)

    def _number(self) -> None:
        for i, node in enumerate(self.nodes):
            node._sort_key = i
        self._root._sort_key = self._len
        self._order_stale = False

    def output_node(self) -> Node:
        """The output."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got op={node.op}")
        return node

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """All nodes with this op (and, for calls and attributes, this target)."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # -- making nodes ------------------------------------------------------------------------------------------------------
    def create_node(self, op: str, target: Target, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    name: str | None = None, type_expr: Any | None = None) -> Node:
        """A new node at the insertion point."""
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(node.name, node)
        self._insert(node)
        self._len += 1
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        return node

    def placeholder(self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty) -> Node:
        """An input (`"*args"` and `"**kwargs"` are possible names)."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """A parameter, buffer or other attribute of the module, by its dotted path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any | None = None) -> Node:
        """A call of a submodule, by its dotted path. AttributeError where the owning module has none there."""
        if not isinstance(module_name, str):
            raise AssertionError(f"Expected target to be str, got {type(module_name)}")
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any | None = None) -> Node:
        """A call of a method of `args[0]`."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                      type_expr: Any | None = None, name: str | None = None) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """`tensor.size(dim)`."""
        return self.call_method("size", (tensor_node, dim))

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """`tensor.stride(dim)`."""
        return self.call_method("stride", (tensor_node, dim))

    def create_storage_offset_node(self, tensor_node: Node) -> Node:
        """`tensor.storage_offset()`."""
        return self.call_method("storage_offset", (tensor_node,))

    def materialize_symint(self, value: int) -> int:
        """A size as an argument of nodes: sizes are plain numbers here."""
        return value

    def materialize_symints(self, values: Any) -> list[int]:
        """Sizes as arguments of nodes."""
        return [self.materialize_symint(v) for v in values]

    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """The result: a node, or any nesting of nodes and constants."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of a node (of another graph) here; `arg_transform` says which node or value stands for each of its inputs."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy all nodes of `g` here, except those `val_map` has already; it is filled. Returns what `g` returns, in nodes of this graph.

        With `return_output_node`: (that, g's output node). None where `g` has no output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        memo = {} if memo is None else memo
        g = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        memo[id(self)] = g
        copied: dict[Node, Node] = {}
        found = g.graph_copy(self, copied, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        for old, new in copied.items():
            new.meta = copy.copy(old.meta)
            memo[id(old)] = new
        if found is not None:
            result, old_output = found
            output = g.output(result, type_expr=old_output.type)
            output.meta = copy.copy(old_output.meta)
            memo[id(old_output)] = output
        return g

    def _target_to_str(self, target: Target | None) -> str:
        return target_name(target)

    # -- where nodes go ----------------------------------------------------------------------------------------------------
    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """`with graph.inserting_before(node): ...` makes new nodes before it (without a node: at the very start)."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """`with graph.inserting_after(node): ...` makes new nodes right behind it, the newest first (without a node: at the very end)."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    # -- taking nodes away -------------------------------------------------------------------------------------------------
    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses; RuntimeError while it has users."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        self._graph_namespace.forget(to_erase)
        to_erase._set_arguments((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes that neither have users nor effects (`is_impure_node`, by default `Node.is_impure`). Whether any went."""
        self.lint()
        keep = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and node.op not in ("placeholder", "output") and not keep(node):
                self.erase_node(node)
                changed = True
        for node in self.nodes:
            inner = getattr(self.owning_module, str(node.target), None) if node.op in ("get_attr", "call_module") else None
            graph = getattr(inner, "graph", None)
            if isinstance(graph, Graph):
                changed |= graph.eliminate_dead_code(is_impure_node)
        return changed

    # -- source ------------------------------------------------------------------------------------------------------------
    def python_code(self, root_module: str, *, verbose: bool = False, include_stride: bool = False, include_device: bool = False,
                    colored: bool = False, expanded_def: bool = False, record_func: bool = False,
                    additional_meta: list[str] | None = None) -> PythonCode:
        """The graph as Python source, with the globals it needs; `root_module` is the name of the module in it ("self")."""
        options = {"verbose": verbose, "include_stride": include_stride, "include_device": include_device, "colored": colored,
                   "expanded_def": expanded_def, "additional_meta": additional_meta}
        return self._codegen._gen_python_code(self.nodes, root_module, None, **options)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let another CodeGen write the source."""
        self._codegen = codegen

    @contextmanager
    def on_generate_code(self, make_transformer: Callable[[Callable[[list[str]], list[str]] | None], Callable[[list[str]], list[str]]]
                         ) -> Iterator[None]:
        """Inside this context the lines of the body pass through `make_transformer(the current transformer or None)`."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        try:
            yield
        finally:
            self._codegen._body_transformer = before

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of a call as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The result as the caller gets it."""
        return self._codegen.process_outputs(out)

    def __str__(self) -> str:
        lines = [node.format_node() for node in self.nodes]
        return "graph():" + "".join(f"\n    {line}" for line in lines if line)

    def print_tabular(self) -> None:
        """Print the nodes as a table: opcode, name, target, args, kwargs."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(dict(n.kwargs))) for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        rows.insert(1, tuple("-" * width for width in widths))  # type: ignore[arg-type]
        print("\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows))

    # -- checking ----------------------------------------------------------------------------------------------------------
    def lint(self) -> None:
        """Check the graph: arguments come first and are of this graph, names are unique, targets exist. RuntimeError says what is wrong."""
        known: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.op not in _legal_ops:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            for used in node.all_input_nodes:
                self._check_argument(node, used, known)
            known.add(node)
            names.add(node.name)
            if node.op == "call_function" and not callable(node.target):
                raise ValueError(f"Node {node} target {node.target} has type {type(node.target)} but a Callable is expected")
            if node.op in ("get_attr", "call_module") and self.owning_module is not None:
                self._check_path(node, self.owning_module)

    def _check_argument(self, node: Node, used: Node, known: set[Node]) -> None:
        if used.graph is not self:
            raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you are copying "
                               "nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n" + str(self))
        if used not in known:
            raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in the graph are "
                               "topologically ordered\n" + str(self))

    def _check_path(self, node: Node, owner: Module) -> None:
        value: Any = owner
        so_far: list[str] = []
        parts = str(node.target).split(".")
        for i, part in enumerate(parts):
            if not hasattr(value, part):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(so_far)}")
            value = getattr(value, part)
            so_far.append(part)
            if node.op == "call_module" and i == len(parts) - 1 and not isinstance(value, Module):
                raise RuntimeError(f"Node {node} target {node.target} {'.'.join(so_far)} of {type(value)} does not reference an nn.Module")

    def __reduce__(self) -> tuple[Any, ...]:
        nodes = [(n.op, _frozen_target(n.target), _frozen(n.args), _frozen(n.kwargs), n.name, n.type) for n in self.nodes]
        return _rebuilt, (nodes, self._codegen, self._tracer_cls, self._tracer_extras)


class _Name(str):
    """A node, in the pickle of its graph."""


class _Public(str):
    """A function of saraph's, by its public name, in the pickle of a graph."""


def _frozen_target(target: Target) -> Target:
    return _Public(qualified_name(target)) if not isinstance(target, str) and is_from_torch(target) else target


def _thawed_target(target: Target) -> Any:
    return functools.reduce(getattr, target.split(".")[1:], CUSTOM_BUILTINS["torch"][0]) if isinstance(target, _Public) else target


def _frozen(arguments: Any) -> Any:
    return map_arg(arguments, lambda n: _Name(n.name))


def _rebuilt(nodes: list[tuple[Any, ...]], codegen: CodeGen, tracer_cls: type | None, tracer_extras: dict[str, Any] | None) -> Graph:
    """The graph that a pickle describes."""
    graph = Graph(tracer_cls=tracer_cls, tracer_extras=tracer_extras)
    graph._codegen = codegen
    made: dict[str, Node] = {}
    for op, target, args, kwargs, name, kind in nodes:
        args, kwargs = _thawed(args, made), _thawed(kwargs, made)
        made[name] = graph.create_node(op, _thawed_target(target), args, kwargs, name, kind)
    return graph


def _thawed(value: Any, made: dict[str, Node]) -> Any:
    if isinstance(value, _Name):
        return made[value]
    if isinstance(value, tuple):
        items = [_thawed(v, made) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items) if type(value) is tuple else value
    if isinstance(value, list):
        return [_thawed(v, made) for v in value]
    if isinstance(value, dict):
        return {k: _thawed(v, made) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(_thawed(value.start, made), _thawed(value.stop, made), _thawed(value.step, made))
    return value
