"""A subgraph as a module of its own; whether two graphs are the same."""
from __future__ import annotations

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule, _assign_attr, _get_attr
from saraph.fx.passes.utils.matcher_utils import SubgraphMatcher
from saraph.nn.modules.module import Module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module that only holds others."""

    def __init__(self, d: dict[str, Module | None]):
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule") -> tuple[GraphModule, dict[str, str]]:
    """(a GraphModule that runs `subgraph` with the attributes of `gm`, {path in it: path in gm})."""
    root = HolderModule({})
    paths: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        target = str(node.target)
        own = target.removeprefix(comp_name + ".") if comp_name else target
        paths.setdefault(own, target)
        _assign_attr(_get_attr(gm, target), root, own)
        node.target = own
    return GraphModule(root, subgraph, class_name), paths


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs do the same, operation by operation."""
    matches = SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)
    return len(matches) > 0 and len(left.nodes) == len(right.nodes)
