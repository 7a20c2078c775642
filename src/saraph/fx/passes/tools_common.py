"""Helpers of passes: names of targets, kinds of results, sorting a graph."""
from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.names import qualified_name
from saraph.fx.node import Node
from saraph.nn.modules.module import Module
from saraph.tensor.tensor import Tensor

__all__ = ["get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort"]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: Any) -> str:
    """A target as text, shorter for functions of accelerators' own libraries."""
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{k.__module__.replace('torch._ops', 'torch.ops')}.{k.__name__}"


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """What a call node calls, as text: a module's class, a function's or method's name."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_module":
        module = submodules[str(node.target)]
        cls = getattr(module, "_base_class_origin", type(module))
        return qualified_name(cls)
    if node.op == "call_function":
        target: Any = node.target
        return f"_operator.{target.__name__}" if target.__module__ == "_operator" else qualified_name(target)
    return str(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether a node gives one tensor, as shape propagation noted it."""
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Sort a graph whose nodes stand in an impossible order (in place): every node behind those it uses. RuntimeError for a circle."""
    return _sorted(gm, placeholders_first=True)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """`legalize_graph` that moves no more nodes than it must."""
    return _sorted(gm, placeholders_first=False)


def _sorted(gm: GraphModule, placeholders_first: bool) -> GraphModule:
    nodes = list(gm.graph.nodes)
    place = {n: (0 if placeholders_first and n.op == "placeholder" else 1, i) for i, n in enumerate(nodes)}
    missing = {n: len(n.all_input_nodes) for n in nodes}
    queue = [(place[n], i) for i, n in enumerate(nodes) if missing[n] == 0]
    heapq.heapify(queue)
    index = {n: i for i, n in enumerate(nodes)}
    ordered = []
    while queue:
        node = nodes[heapq.heappop(queue)[1]]
        ordered.append(node)
        for user in node.users:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(queue, (place[user], index[user]))
    if len(ordered) < len(nodes):
        raise RuntimeError(f"Input graph has cycles, unable to add {[n for n in nodes if missing[n] != 0]}")
    made = Graph(tracer_cls=gm.graph._tracer_cls)
    values: dict[Node, Node] = {}
    for node in sorted(ordered, key=lambda n: n.op == "output"):
        values[node] = made.node_copy(node, lambda n: values[n])
    made._codegen = gm.graph._codegen
    gm.graph = made
    return gm
