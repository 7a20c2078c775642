"""`SubgraphMatcher`: where a pattern occurs in a graph."""
from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from saraph.fx.graph import Graph
from saraph.fx.graph_module import _get_attr
from saraph.fx.node import Node
from saraph.nn.modules.module import Module

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One occurrence: `nodes_map` gives the graph's node for every node of the pattern.

    `anchors` are the pattern's result nodes, `placeholder_nodes` what stands for its inputs, `returning_nodes` what stands for its results,
    `name_node_map` the graph's nodes by the names of the pattern's.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy(), self.name_node_map.copy())


class SubgraphMatcher:
    """Finds the occurrences of a pattern graph.

    The pattern's placeholders match anything; a part of the graph only counts where nothing outside it uses its inner values.
    `match_output` and `match_placeholder` want the whole graph's output and inputs to match too; `ignore_literals` lets constants differ.
    """

    def __init__(self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False, remove_overlapping_matches: bool = True,
                 ignore_literals: bool = False):
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        self.pattern_anchors: list[Node] = [output] if match_output else [n for n in output.all_input_nodes if len(n.users) == 1]

    # -- comparing nodes ---------------------------------------------------------------------------------------------------
    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        """Attributes match when both are there and of one type (a Tensor, a parameter, ...)."""
        owners = pn.graph.owning_module, gn.graph.owning_module
        if owners[0] is None or owners[1] is None:
            return pn.target == gn.target
        wanted, found = _get_attr(owners[0], str(pn.target)), _get_attr(owners[1], str(gn.target))
        return type(wanted) is type(found)

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if node_name_match and node_name_match in gn.name:
            return True
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        if pn.op == "get_attr":
            return self._match_attributes(pn, gn)
        if pn.op == "call_module":
            return self._same_module(pn, gn)
        return pn.target == gn.target

    def _same_module(self, pn: Node, gn: Node) -> bool:
        if pn.graph.owning_module is None or gn.graph.owning_module is None:
            return pn.target == gn.target
        wanted, found = _get_attr(pn.graph.owning_module, str(pn.target)), _get_attr(gn.graph.owning_module, str(gn.target))
        return isinstance(wanted, Module) and type(wanted) is type(found)

    def _is_contained(self, nodes_map: dict[Node, Node]) -> bool:
        """Whether only results of the match are used outside it."""
        inside = {p: g for p, g in nodes_map.items() if p.op != "placeholder"}
        members = set(inside.values())
        for pn, gn in inside.items():
            if pn in self.pattern_returning_nodes:
                continue
            if any(user not in members for user in gn.users):
                return False
        return True

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            own = {gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")}
            if not own & taken:
                kept.append(match)
                taken |= own
        return kept

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        if isinstance(pn, Node) and isinstance(gn, Node):
            raise AssertionError("pn and gn cannot both be Node")
        if isinstance(pn, Node):
            if pn.op != "placeholder":
                return False
            if pn in match.nodes_map:
                return match.nodes_map[pn] == gn
            match.nodes_map[pn] = gn
            return True
        if isinstance(gn, Node):
            return False
        return type(gn) is type(pn) and gn == pn

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Whether the part of the pattern that ends at `pn` matches what ends at `gn`; notes the pairs in `match`."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values():
            return False
        if not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        saved = copy.copy(match)
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if self._match_arguments(pn, gn, match):
            return True
        match.nodes_map = saved.nodes_map
        return False

    def _match_arguments(self, pn: Node, gn: Node, match: InternalMatch) -> bool:
        pn_args, gn_args = list(pn.args), list(gn.args)
        pn_kwargs, gn_kwargs = dict(pn.kwargs), dict(gn.kwargs)
        if pn_kwargs.keys() != gn_kwargs.keys() or len(pn_args) != len(gn_args):
            owner = gn.graph.owning_module or Module()
            wanted = pn.normalized_arguments(pn.graph.owning_module or Module(), normalize_to_only_use_kwargs=True)
            found = gn.normalized_arguments(owner, normalize_to_only_use_kwargs=True)
            if wanted is None or found is None:
                return False
            pn_args, gn_args, pn_kwargs, gn_kwargs = [], [], dict(wanted.kwargs), dict(found.kwargs)
            if pn_kwargs.keys() != gn_kwargs.keys():
                return False
        values = [*zip(pn_args, gn_args), *((pn_kwargs[k], gn_kwargs[k]) for k in pn_kwargs)]
        return all(self._match_values(p, g, match) for p, g in values)

    def _match_values(self, p: Any, g: Any, match: InternalMatch) -> bool:
        if isinstance(p, Node) and isinstance(g, Node):
            return self._match_nodes(p, g, match)
        if isinstance(p, (list, tuple)) and isinstance(g, (list, tuple)):
            return len(p) == len(g) and all(self._match_values(a, b, match) for a, b in zip(p, g))
        if isinstance(p, dict) and isinstance(g, dict):
            return p.keys() == g.keys() and all(self._match_values(p[k], g[k], match) for k in p)
        if isinstance(p, slice) and isinstance(g, slice):
            return all(self._match_values(a, b, match) for a, b in ((p.start, g.start), (p.stop, g.stop), (p.step, g.step)))
        if self.ignore_literals and not isinstance(p, Node):
            return True
        return self._match_literals(p, g, match)

    # -- searching ---------------------------------------------------------------------------------------------------------
    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All occurrences, later ones in the graph first; of overlapping ones only the first found is kept."""
        candidates = [(anchor, [n for n in graph.nodes if self._nodes_are_equal(anchor, n, node_name_match)]) for anchor in self.pattern_anchors]
        found: list[InternalMatch] = []
        self._search(0, candidates, InternalMatch(anchors=self.pattern_anchors), found, node_name_match)
        complete = [m for m in found if self._is_contained(m.nodes_map)]
        if self.remove_overlapping_matches:
            complete = self._remove_overlapping_matches(complete)
        return complete

    def _search(self, index: int, candidates: Sequence[tuple[Node, list[Node]]], match: InternalMatch, found: list[InternalMatch],
                name: str) -> None:
        if index == len(candidates):
            for pn in self.pattern_placeholder_nodes:
                if pn not in match.nodes_map:
                    return
            match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
            match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
            match.name_node_map = {pn.name: gn for pn, gn in match.nodes_map.items()}
            found.append(match)
            return
        anchor, nodes = candidates[index]
        for node in nodes:
            trial = copy.copy(match)
            if self._match_nodes(anchor, node, trial, name):
                self._search(index + 1, candidates, trial, found, name)
