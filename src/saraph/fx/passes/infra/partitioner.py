"""`CapabilityBasedPartitioner`: as few and as large groups of supported nodes as can each become one call."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from saraph.fx.graph_module import GraphModule
from saraph.fx.node import Node
from saraph.fx.passes.operator_support import OperatorSupportBase
from saraph.fx.passes.tools_common import CALLABLE_NODE_OPS
from saraph.fx.passes.utils.fuser_utils import fuse_by_partitions, validate_partition

__all__ = ["CapabilityBasedPartitioner", "Partition"]


class Partition:
    """A numbered group of nodes."""

    def __init__(self, id: int | None = None, nodes: Iterable[Node] | None = None, node_orders: Iterable[int] | None = None):
        self.id = id
        members = list(nodes or ())
        self.nodes: dict[Node, int | None] = dict(zip(members, node_orders)) if node_orders is not None else dict.fromkeys(members)

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        del self.nodes[node]

    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Groups the nodes that `operator_support` accepts, and makes the groups submodules.

    `allows_single_node_partition` keeps groups of one node (those of `allowed_single_node_partition_ops` are kept anyway);
    `non_compute_ops` are targets that do not count as work; with `skip_horizontal_fusion` only nodes that use each other are grouped.
    """

    def __init__(self, graph_module: GraphModule, operator_support: OperatorSupportBase, allows_single_node_partition: bool = False,
                 non_compute_ops: Sequence[str] | None = None, allowed_single_node_partition_ops: Sequence[str] | None = None,
                 skip_horizontal_fusion: bool = False):
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = list(non_compute_ops or ())
        self.allowed_single_node_partition_ops = list(allowed_single_node_partition_ops or ())
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """The groups."""
        groups: list[list[Node]] = []
        for node in self.graph_module.graph.nodes:
            if node.op not in (*CALLABLE_NODE_OPS, "get_attr") or not self._is_node_supported(node):
                continue
            merged = [node]
            for group in list(groups):
                related = any(used in group for n in merged for used in n.all_input_nodes)
                if (related or not self.skip_horizontal_fusion) and validate_partition([*group, *merged]):
                    groups.remove(group)
                    merged = [*group, *merged]
            groups.append(merged)
        kept = [group for group in groups if self._is_worth_it(group)]
        return [Partition(i, sorted(group)) for i, group in enumerate(kept)]

    def _is_worth_it(self, group: list[Node]) -> bool:
        if self.allows_single_node_partition:
            return True
        work = [n for n in group if n.op in CALLABLE_NODE_OPS and str(getattr(n.target, "__name__", n.target)) not in self.non_compute_ops]
        names = [str(getattr(n.target, "__name__", n.target)) for n in work]
        return len(work) > 1 or any(name in self.allowed_single_node_partition_ops for name in names)

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Make each group a submodule (in place)."""
        return fuse_by_partitions(self.graph_module, [p.nodes for p in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Take nodes that are no work off the ends of the groups (in place)."""
        for partition in partitions:
            changed = True
            while changed:
                changed = False
                for node in list(partition.nodes):
                    if str(getattr(node.target, "__name__", node.target)) not in self.non_compute_ops:
                        continue
                    if not any(u in partition.nodes for u in node.all_input_nodes) or not any(u in partition.nodes for u in node.users):
                        partition.remove_node(node)
                        changed = True

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """`propose_partitions`, then `fuse_partitions`."""
        return self.fuse_partitions(self.propose_partitions(), prefix)
