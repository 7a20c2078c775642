"""`split_by_tags`: a graph cut into components by a tag on every node."""
from __future__ import annotations

import copy
from dataclasses import dataclass, field
from operator import getitem
from typing import Any

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.node import Node, map_arg
from saraph.fx.passes.utils.common import HolderModule, lift_subgraph_as_module
from saraph.nn.modules.module import Module

__all__ = ["Component", "getattr_recursive", "move_non_tensor_nodes_on_boundary", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: Any, name: str) -> Any:
    """What lies at a dotted path; None where a step leads nowhere."""
    for part in name.split("."):
        if not hasattr(obj, part):
            return None
        obj = getattr(obj, part)
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Put a value at a dotted path."""
    path, _, field_name = attr.rpartition(".")
    setattr(getattr_recursive(obj, path) if path else obj, field_name, value)


@dataclass
class Component:
    """One part: its graph, and which values of the original it takes and gives."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def move_non_tensor_nodes_on_boundary(subgraphs: Any) -> None:
    """Move nodes that give no tensor (sizes, numbers) and whose users are all in one later part into that part.

    `subgraphs` are objects with a list `nodes`; nodes' `meta["type"]` (of shape propagation) says what is a tensor.
    """
    place = {node: part for part in subgraphs for node in part.nodes}
    for part in subgraphs:
        for node in reversed(list(part.nodes)):
            kind = node.meta.get("type")
            if node.op not in ("call_function", "call_method") or kind is None or hasattr(kind, "requires_grad"):
                continue
            targets = {id(place.get(user)): place.get(user) for user in node.users}
            if len(targets) == 1:
                target = next(iter(targets.values()))
                if target is not None and target is not part:
                    part.nodes.remove(node)
                    target.nodes.insert(0, node)
                    place[node] = target


def split_by_tags(gm: GraphModule, tags: list[str], return_fqn_mapping: bool = False, return_tuple: bool = False,
                  GraphModuleCls: type[GraphModule] = GraphModule) -> Any:  # noqa: N803
    """A GraphModule that calls one submodule per tag, in the order of `tags`; every call node carries its tag in `node.tag`.

    A node may only use values of components that run earlier. `return_fqn_mapping` also returns {path in a component: path in gm};
    `return_tuple` makes components with one result return a tuple too.
    """
    components = {tag: Component(Graph(), i, tag) for i, tag in enumerate(tags)}
    nodes = list(gm.graph.nodes)
    of_node: dict[Node, Component] = {}
    copies: dict[Node, Node] = {}
    for node in nodes:
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        if not hasattr(node, "tag"):
            raise AssertionError(f"Node {node} ({node.op}, target {node.target}) doesn't have a tag")
        component = components[node.tag]
        late = [u for u in node.all_input_nodes if u in of_node and of_node[u].order > component.order]
        if late:
            raise AssertionError(f"Component {component.name} order must be >= max of its dependencies: it uses {late}, which run later")
        of_node[node] = component
        copies[node] = component.graph.node_copy(node, lambda n, c=component: _inside(c, n, of_node, copies))  # type: ignore[misc]
    outputs = next(n for n in nodes if n.op == "output")
    _find_outputs(nodes, outputs, of_node)
    return _assemble(gm, nodes, outputs, list(components.values()), of_node, copies, return_tuple, return_fqn_mapping, GraphModuleCls)


def _inside(component: Component, node: Node, of_node: dict[Node, Component], copies: dict[Node, Node]) -> Node:
    """What stands for a value of the original graph inside a component."""
    if of_node.get(node) is component:
        return copies[node]
    if node.op == "get_attr":
        if node not in component.getattr_maps:
            component.getattr_maps[node] = component.graph.get_attr(str(node.target), type_expr=node.type)
        return component.getattr_maps[node]
    if node not in component.orig_inputs:
        with component.graph.inserting_after(component.input_placeholders[-1]) if component.input_placeholders else \
                component.graph.inserting_before():
            placeholder = component.graph.placeholder(node.name, type_expr=node.type)
        placeholder.meta = copy.copy(node.meta)
        component.orig_inputs.append(node)
        component.input_placeholders.append(placeholder)
    return component.input_placeholders[component.orig_inputs.index(node)]


def _find_outputs(nodes: list[Node], output: Node, of_node: dict[Node, Component]) -> None:
    for node in nodes:
        component = of_node.get(node)
        if component is not None and any(user is output or of_node.get(user) is not component for user in node.users):
            component.orig_outputs.append(node)


def _assemble(gm: GraphModule, nodes: list[Node], output: Node, components: list[Component], of_node: dict[Node, Component],
              copies: dict[Node, Node], return_tuple: bool, return_paths: bool, cls: type[GraphModule]) -> Any:
    main, values = Graph(), {}
    for node in nodes:
        if node.op in ("placeholder", "get_attr") and (node.op == "placeholder" or any(u is output for u in node.users)):
            values[node] = main.node_copy(node)
    root: dict[str, Module | None] = {}
    paths: dict[str, str] = {}
    for component in components:
        results = tuple(copies[n] for n in component.orig_outputs)
        single = len(results) == 1 and not return_tuple
        component.graph.output(results[0] if single else results)
        component.gm, found = lift_subgraph_as_module(gm, component.graph, comp_name=component.name)
        paths.update({f"{component.name}.{own}": path for own, path in found.items()})
        root[component.name] = component.gm
        call = main.call_module(component.name, tuple(values[n] for n in component.orig_inputs))
        if single:
            values[component.orig_outputs[0]] = call
        else:
            for i, node in enumerate(component.orig_outputs):
                values[node] = main.call_function(getitem, (call, i))
    main.output(map_arg(output.args[0], lambda n: values[n]))
    holder = HolderModule(root)
    for node in main.nodes:
        if node.op == "get_attr":
            setattr_recursive(holder, str(node.target), getattr_recursive(gm, str(node.target)))
    made = cls(holder, main)
    return (made, paths) if return_paths else made
