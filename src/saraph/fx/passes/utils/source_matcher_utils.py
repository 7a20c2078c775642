"""Groups of nodes that came from the same module or function of the program (`node.meta["source_fn_stack"]`)."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from saraph.fx.graph import Graph
from saraph.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes of one call: inputs come from outside, outputs are used outside, params are read by it."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def _source_of(node: Node) -> tuple[Any, Any] | None:
    stack = node.meta.get("source_fn_stack")
    if stack:
        return stack[-1]
    named = node.meta.get("torch_fn")
    return (named[0], named[1].split(".")[-1]) if named is not None else None


def get_source_partitions(graph: Graph, wanted_sources: list[Any],
                          filter_fn: Callable[[Node], bool] | None = None) -> dict[Any, list[SourcePartition]]:
    """{source: its partitions} for the modules and functions wanted; `filter_fn(node)` drops partitions with a node it refuses."""
    groups: dict[Any, dict[Any, list[Node]]] = {}
    for node in graph.nodes:
        source = _source_of(node)
        if source is not None and source[1] in wanted_sources:
            groups.setdefault(source[1], {}).setdefault(source[0], []).append(node)
    found = {source: [_partition(nodes, source) for nodes in calls.values()] for source, calls in groups.items()}
    if filter_fn is None:
        return found
    kept = {source: [p for p in partitions if all(map(filter_fn, p.nodes))] for source, partitions in found.items()}
    return {source: partitions for source, partitions in kept.items() if partitions}


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    members = set(nodes)
    inputs: dict[Node, None] = {}
    outputs: dict[Node, None] = {}
    params: dict[Node, None] = {}
    for node in nodes:
        for used in node.all_input_nodes:
            if used not in members and used.op != "get_attr":
                inputs.setdefault(used)
        if node.op == "get_attr":
            params.setdefault(node)
        for used in node.all_input_nodes:
            if used.op == "get_attr" and used not in members:
                params.setdefault(used)
        if any(user not in members for user in node.users):
            outputs.setdefault(node)
    return SourcePartition(nodes, source, list(inputs), list(outputs), list(params))


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second takes a result of the first."""
    outputs = set(subgraph1.nodes)
    return any(node in outputs for node in subgraph2.input_nodes)
