"""`replace_pattern`: every occurrence of one function's graph in a module becomes another's."""
from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from saraph.fx._symbolic_trace import symbolic_trace
from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule, _assign_attr, _get_attr, _has_attr
from saraph.fx.node import Node
from saraph.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]
Filter = Callable[[InternalMatch, Graph, Graph], bool]


class Match(NamedTuple):
    """An occurrence: the node it ended at, and the graph's node for every node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """An occurrence with the nodes that replaced it."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Callable[..., Any] | Graph | GraphModule,
                    replacement: Callable[..., Any] | Graph | GraphModule) -> list[Match]:
    """Replace every occurrence of `pattern` in the module (in place) by `replacement`, which takes the same arguments. Returns the matches.

    Both are functions (traced here), graphs or GraphModules. Occurrences do not overlap, and nothing else may use their inner values.

    Example::

        def pattern(x, y): return torch.cat([x, y]).sum()
        def replacement(x, y): return x.sum() + y.sum()
        torch.fx.replace_pattern(traced, pattern, replacement)
    """
    return [Match(m.anchor, m.nodes_map) for m in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(gm: GraphModule, pattern: Callable[..., Any] | Graph | GraphModule,
                                 replacement: Callable[..., Any] | Graph | GraphModule | None = None, match_filters: list[Filter] | None = None,
                                 ignore_literals: bool = False,
                                 replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
                                 node_name_match: str = "") -> list[ReplacedPatterns]:
    """`replace_pattern` for the occurrences that every filter `f(match, graph, pattern graph)` accepts.

    `ignore_literals` lets constants differ; `replacement_callback(match, graph, pattern)` makes the replacement's graph for one occurrence.
    """
    return _replace_pattern(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match)


def _graph_of(what: Any) -> Graph:
    return what.graph if isinstance(what, GraphModule) else what if isinstance(what, Graph) else symbolic_trace(what).graph


def _replace_pattern(gm: GraphModule, pattern: Any, replacement: Any, match_filters: list[Filter] | None = None, ignore_literals: bool = False,
                     replacement_callback: Callable[..., Graph] | None = None, node_name_match: str = "") -> list[ReplacedPatterns]:
    if (replacement is None) == (replacement_callback is None):
        raise AssertionError("Must provide either replacement GraphModule or replacement callback")
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern_graph, match_output=False, match_placeholder=False, remove_overlapping_matches=True,
                              ignore_literals=ignore_literals)
    matches = [m for m in matcher.match(graph, node_name_match) if all(f(m, graph, pattern_graph) for f in match_filters or ())]
    fixed = None if replacement is None else _graph_of(replacement)
    done: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    for match in matches:
        new_graph = fixed if fixed is not None else _graph_of(replacement_callback(match, graph, pattern_graph))  # type: ignore[misc]
        done.append(_replace_one(gm, match, new_graph, changed, _anchor(match)))
    gm.recompile()
    for source in (replacement, fixed.owning_module if fixed is not None else None):
        if isinstance(source, GraphModule):
            _take_attributes(gm, source)
    if fixed is not None and any(n.op in ("call_module", "get_attr") for n in fixed.nodes):
        gm.graph.lint()
    return done


def _anchor(match: InternalMatch) -> Node:
    return match.anchors[0]


def _replace_one(gm: GraphModule, match: InternalMatch, new_graph: Graph, changed: dict[Node, Node], anchor: Node) -> ReplacedPatterns:
    graph = gm.graph
    placeholders = [n for n in new_graph.nodes if n.op == "placeholder"]
    if len(match.placeholder_nodes) != len(placeholders):
        raise AssertionError(f"the pattern has {len(match.placeholder_nodes)} inputs, the replacement {len(placeholders)}")
    values: dict[Node, Any] = {p: changed.get(v, v) if isinstance(v, Node) else v for p, v in zip(placeholders, match.placeholder_nodes)}
    inner = {gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")}
    inner_values = {n for n in values.values() if isinstance(n, Node)}
    with graph.inserting_before(_place(match, inner, inner_values)):
        before = set(graph.nodes)
        result = graph.graph_copy(new_graph, values)
    results: list[Any] = [result] if isinstance(result, Node) or not isinstance(result, (list, tuple)) else list(result)
    if len(match.returning_nodes) != len(results):
        raise AssertionError(f"the pattern has {len(match.returning_nodes)} results, the replacement {len(results)}")
    for old, new in zip(match.returning_nodes, results):
        old.replace_all_uses_with(new)
        changed[old] = new
    for node in reversed(graph.nodes):
        if node in inner and not node.users:
            graph.erase_node(node)
    return ReplacedPatterns(anchor, match.nodes_map, [n for n in graph.nodes if n not in before])


def _place(match: InternalMatch, inner: set[Node], inputs: set[Node]) -> Node:
    """The first node before which a replacement may stand: where the results are used, behind all inputs."""
    users = {user for node in match.returning_nodes for user in node.users if user not in inner}
    if users:
        first_user = min(users)
        latest = max(inputs, default=None)
        if latest is None or latest < first_user:
            return first_user
    return max(match.returning_nodes).next


def _take_attributes(gm: GraphModule, source: GraphModule) -> None:
    """Give `gm` the modules and attributes that the replacement's nodes name and it lacks; drop what no node names any more."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and not _has_attr(gm, str(node.target)):
            if not _has_attr(source, str(node.target)):
                raise RuntimeError(f"Attempted to create a \"{node.op}\" node during subgraph rewriting with target {node.target}, but the "
                                   "referenced attribute does not exist in the replacement GraphModule")
            _assign_attr(copy.deepcopy(_get_attr(source, str(node.target))), gm, str(node.target))
