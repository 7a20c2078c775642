"""Groups of nodes made into submodules that one call replaces them by."""
from __future__ import annotations

from operator import getitem

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.node import Node
from saraph.fx.passes.tools_common import legalize_graph
from saraph.fx.passes.utils.common import lift_subgraph_as_module

__all__ = ["erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm", "topo_sort", "validate_partition"]


def topo_sort(nodes: list[Node]) -> list[Node]:
    """The nodes, each behind those of them it uses."""
    members = set(nodes)
    done: dict[Node, None] = {}
    waiting = list(nodes)
    while waiting:
        ready = next((n for n in waiting if all(u in done for u in n.all_input_nodes if u in members)), None)
        if ready is None:
            raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
        waiting.remove(ready)
        done[ready] = None
    return list(done)


def validate_partition(partition: list[Node]) -> bool:
    """Whether nothing outside the nodes lies between them (then they can become one call)."""
    members = set(partition)
    queue = [user for node in partition for user in node.users if user not in members]
    seen: set[Node] = set()
    while queue:
        node = queue.pop()
        if node in members:
            return False
        if node not in seen:
            seen.add(node)
            queue += list(node.users)
    return True


def fuse_as_graphmodule(gm: GraphModule, nodes: list[Node], module_name: str, partition_lookup_table: dict[Node, int | None] | None = None, *,
                        always_return_tuple: bool = False) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """(a module of these nodes, the values it takes, the values it gives); `nodes` must be in order and closed (AssertionError)."""
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    subgraph = Graph()
    members = set(nodes)
    inputs: dict[Node, Node] = {}
    values: dict[Node, Node] = {}

    def inside(node: Node) -> Node:
        if node in members:
            return values[node]
        if node not in inputs:
            with subgraph.inserting_after(next(reversed(inputs.values()))) if inputs else subgraph.inserting_before():
                inputs[node] = subgraph.placeholder(node.name, type_expr=node.type)
            inputs[node].meta = node.meta.copy()
        return inputs[node]

    for node in nodes:
        values[node] = subgraph.node_copy(node, inside)
    results = tuple(node for node in nodes if any(user not in members for user in node.users))
    made = tuple(values[node] for node in results)
    subgraph.output(made[0] if len(made) == 1 and not always_return_tuple else made)
    fused, _ = lift_subgraph_as_module(gm, subgraph, comp_name="", class_name=module_name)
    return fused, tuple(inputs), results


def insert_subgm(gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...], orig_outputs: tuple[Node, ...],
                 insertion_point: Node | None = None) -> GraphModule:
    """Put a call of `sub_gm` into the graph, and let its results stand for `orig_outputs`."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    with gm.graph.inserting_after(insertion_point) if insertion_point is not None else gm.graph.inserting_before(gm.graph.output_node()):
        call = gm.graph.call_module(name, orig_inputs)
    returned = sub_gm.graph.output_node().args[0]
    if isinstance(returned, Node):
        orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        return gm
    with gm.graph.inserting_after(call):
        parts = [gm.graph.call_function(getitem, (call, i)) for i in reversed(range(len(orig_outputs)))][::-1]
    for old, new in zip(orig_outputs, parts):
        old.replace_all_uses_with(new, propagate_meta=True)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Erase nodes, the last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(gm: GraphModule, partitions: list[dict[Node, int | None]], prefix: str = "fused_",
                       always_return_tuple: bool = False) -> GraphModule:
    """Make every group of nodes one submodule call (in place)."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        fused, inputs, outputs = fuse_as_graphmodule(gm, nodes, f"{prefix}{number}", always_return_tuple=always_return_tuple)
        insert_subgm(gm, fused, inputs, outputs, max(nodes))
        erase_nodes(gm, nodes)
    return legalize_graph(gm)
