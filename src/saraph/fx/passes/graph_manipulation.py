"""Small changes and measures: other targets for calls, sizes of nodes in bytes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.node import Node, map_arg
from saraph.fx.passes.shape_prop import ShapeProp, TensorMetadata
from saraph.tensor.tensor import Tensor

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


class size_bytes(NamedTuple):  # noqa: N801
    """Bytes of a node's result, and with its parameters."""

    output_size: int
    total_size: int


def replace_target_nodes_with(fx_module: GraphModule, old_op: str, old_target: Callable[..., Any] | str, new_op: str,
                              new_target: Callable[..., Any] | str) -> None:
    """Let every node with one op and target have others (in place)."""
    made = Graph()
    values: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg(node.args, lambda n: values[n]), map_arg(node.kwargs, lambda n: values[n])
            values[node] = made.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            values[node] = made.node_copy(node, lambda n: values[n])
    fx_module.graph = made


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Tensor] | None = None) -> None:
    """Note `size_bytes` on every node (after a run on `args`, if they are given)."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)  # type: ignore[attr-defined]


def get_tensor_meta(node: Node) -> TensorMetadata:
    """What shape propagation noted; RuntimeError where it did not run."""
    meta = node.meta.get("tensor_meta")
    if not meta:
        raise RuntimeError(f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run.")
    return meta


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """Bytes of one node's result, and with the parameters and buffers of the module it calls."""
    total = 0
    if node.op == "call_module":
        module = dict(fx_module.named_modules())[str(node.target)]
        total += sum(p.numel() * p.element_size() for p in module.parameters())
    meta = get_tensor_meta(node)
    size = meta.dtype.itemsize * meta.shape.numel()
    return size_bytes(size, total + size)
