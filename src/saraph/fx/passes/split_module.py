"""`split_module`: a module cut into submodules by a function from nodes to partitions."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import getitem
from typing import Any

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule, _assign_attr, _get_attr
from saraph.fx.node import Node, map_arg
from saraph.nn.modules.module import Module

__all__ = ["Partition", "split_module"]


class Partition:
    """One part of a split: its nodes, what it takes and gives, the parts it needs."""

    def __init__(self, name: str):
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {list(self.inputs)},\n outputs: {list(self.outputs)},\n "
                f"partitions depended on: {list(self.dependencies)},\n partition dependents: {list(self.dependents)}")


class _Split:
    """The work on one graph."""

    def __init__(self, m: GraphModule, root_m: Module, split_callback: Callable[[Node], Any], keep_original_order: bool,
                 keep_original_node_name: bool, keep_original_input_name: bool, affix: str | None):
        self.m, self.root = m, root_m
        self.nodes = list(m.graph.nodes)
        self.keep_order, self.keep_node_name, self.keep_input_name = keep_original_order, keep_original_node_name, keep_original_input_name
        self.affix = affix
        self.partitions: dict[str, Partition] = {}
        self.part_of: dict[Node, Partition] = {}
        self.by_name = {n.name: n for n in self.nodes}
        for node in self.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(split_callback(node))
            part = self.partitions.setdefault(name, Partition(name))
            part.submod_name = f"submod_{affix}_{name}" if affix is not None else part.submod_name
            part.node_names.append(node.name)
            self.part_of[node] = part
            node._fx_partition = name  # type: ignore[attr-defined]

    def connect(self) -> None:
        """Find what each part takes and gives."""
        for node in self.nodes:
            user = self.part_of.get(node)
            for used in node.all_input_nodes:
                giver = self.part_of.get(used)
                if giver is user or (giver is None and user is None):
                    continue
                if giver is not None:
                    giver.outputs.setdefault(used.name)
                if user is not None and not (giver is None and used.op == "get_attr"):
                    user.inputs.setdefault(used.name)
                if giver is not None and user is not None:
                    user.dependencies.setdefault(giver.name)
                    giver.dependents.setdefault(user.name)

    def order(self) -> list[Partition]:
        """The parts, each behind those it needs; RuntimeError for a circle."""
        waiting = list(self.partitions.values())
        done: dict[str, Partition] = {}
        while waiting:
            ready = next((p for p in waiting if all(d in done for d in p.dependencies)), None)
            if ready is None:
                raise RuntimeError("cycle exists between partitions!")
            waiting.remove(ready)
            done[ready.name] = ready
        return list(done.values())

    def fill(self) -> None:
        """Write each part's graph."""
        for part in self.partitions.values():
            for name in part.inputs:
                original = self.by_name[name]
                default = original.args[0] if original.op == "placeholder" and original.args and self.keep_input_name else inspect.Signature.empty
                placeholder = part.graph.placeholder(name, type_expr=original.type, default_value=default)
                placeholder.meta = original.meta.copy()
                part.environment[original] = placeholder
        for node in self.nodes:
            if node not in self.part_of:
                continue
            part = self.part_of[node]
            args, kwargs = (map_arg(a, lambda n, p=part: self._inside(p, n)) for a in (node.args, node.kwargs))  # type: ignore[misc]
            target = node.target
            if node.op == "call_module":
                target = self._take(part, str(node.target))
            made = part.graph.create_node(node.op, target, args, kwargs, node.name if self.keep_node_name else None, node.type)
            made.meta = node.meta.copy()
            part.environment[node] = made

    def _inside(self, part: Partition, node: Node) -> Node:
        if node not in part.environment:
            if node.op != "get_attr":
                raise RuntimeError(f"split_module: {node} is not known in {part.submod_name}")
            made = part.graph.get_attr(self._take(part, str(node.target)), node.type)
            made.meta = node.meta.copy()
            part.environment[node] = made
        return part.environment[node]

    def _take(self, part: Partition, path: str) -> str:
        own = path.replace(".", "_")
        part.targets[own] = _get_attr(self.m, path)
        return own

    def assemble(self, ordered: list[Partition], tuple_return: bool) -> GraphModule:
        """The graph that calls the parts."""
        base = Graph()
        holder = Module()
        values: dict[Node, Any] = {}
        for node in self.nodes:
            if node.op == "placeholder":
                default = node.args[0] if node.args else inspect.Signature.empty
                values[node] = base.placeholder(str(node.target), type_expr=node.type, default_value=default)
                values[node].meta = node.meta.copy()
            elif node.op == "get_attr" and any(user.op == "output" for user in node.users):
                values[node] = base.get_attr(str(node.target), node.type)
                _assign_attr(_get_attr(self.m, str(node.target)), holder, str(node.target))
        for part in ordered:
            results = tuple(part.environment[self.by_name[name]] for name in part.outputs)
            single = len(results) == 1 and not tuple_return
            part.graph.output(results[0] if single else results)
            inner = Module()
            for own, value in part.targets.items():
                _assign_attr(value, inner, own)
            holder.add_module(part.submod_name, GraphModule(inner, part.graph))
            call = base.call_module(part.submod_name, tuple(values[self.by_name[name]] for name in part.inputs))
            for i, name in enumerate(part.outputs):
                values[self.by_name[name]] = call if single else base.call_function(getitem, (call, i))
        output = next((n for n in self.nodes if n.op == "output"), None)
        if output is not None:
            base.output(map_arg(output.args[0], lambda n: values[n]), output.type).meta = output.meta.copy()
        made = GraphModule(holder, base)
        made.graph._codegen = self.m.graph._codegen
        made.recompile()
        return made


def split_module(m: GraphModule, root_m: Module, split_callback: Callable[[Node], int], qualname_map: dict[str, str] | None = None,
                 keep_original_order: bool | None = False, keep_original_node_name: bool | None = False,
                 keep_original_input_name: bool = True, *, partition_affix: str | None = None, tuple_return: bool = False) -> GraphModule:
    """A GraphModule that calls `submod_0`, `submod_1`, ...: one per value of `split_callback(node)`, each with the nodes that have it.

    `qualname_map` is filled with {path in the result: path in m}; `keep_original_order` keeps parts in the order of their first node
    (which the dependencies must allow); `partition_affix` goes into the names; `tuple_return` makes parts with one result return a tuple.
    RuntimeError where parts need each other.
    """
    split = _Split(m, root_m, split_callback, bool(keep_original_order), bool(keep_original_node_name), keep_original_input_name, partition_affix)
    split.connect()
    ordered = split.order()
    if keep_original_order:
        ordered = _in_order_of_nodes(split, ordered)
    split.fill()
    made = split.assemble(ordered, tuple_return)
    if qualname_map is not None:
        for part in ordered:
            for node in split.nodes:
                if (node.op == "call_module" and split.part_of[node] is part) or (node.op == "get_attr" and node in part.environment):
                    qualname_map[f"{part.submod_name}.{str(node.target).replace('.', '_')}"] = str(node.target)
    return made


def _in_order_of_nodes(split: _Split, ordered: list[Partition]) -> list[Partition]:
    wanted = list(split.partitions.values())
    place = {p.name: i for i, p in enumerate(wanted)}
    for part in ordered:
        if any(place[d] > place[part.name] for d in part.dependencies):
            raise AssertionError(f"{part.name} comes before one of the partitions it needs; the original order cannot be kept")
    return wanted
