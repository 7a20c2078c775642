"""Optimizations for inference: batch norms folded into the layers before them, dropout taken out, subgraphs cut out."""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from saraph.fx._symbolic_trace import Tracer, symbolic_trace
from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.interpreter import Transformer
from saraph.fx.node import Node, Target
from saraph.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from saraph.nn.modules.conv import Conv1d, Conv2d, Conv3d
from saraph.nn.modules.dropout import Dropout
from saraph.nn.modules.linear import Linear
from saraph.nn.modules.module import Module
from saraph.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "optimize_for_inference", "remove_dropout", "replace_node_module"]
_PATTERNS: tuple[tuple[type, type, Any], ...] = ((Conv1d, BatchNorm1d, fuse_conv_bn_eval), (Conv2d, BatchNorm2d, fuse_conv_bn_eval),
                                                 (Conv3d, BatchNorm3d, fuse_conv_bn_eval), (Linear, BatchNorm1d, fuse_linear_bn_eval))


def _parent_name(target: str) -> tuple[str, str]:
    """("a.b", "c") of "a.b.c"."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node is a call of a module of the last class, on the result of one of the class before (and so on, for two)."""
    if len(node.args) == 0:
        return False
    for expected, current in zip(pattern, (node.args[0], node)):
        if not isinstance(current, Node) or current.op != "call_module" or not isinstance(current.target, str):
            return False
        if type(modules.get(current.target)) is not expected:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put another module in the place of the one a node calls."""
    parent, name = _parent_name(str(node.target))
    modules[str(node.target)] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """A copy of a model (in eval mode) with every batch norm that follows a convolution or linear layer folded into that layer.

    `inplace` changes the model's own modules; `no_trace` takes a model that is a GraphModule already.
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for layer, norm, fold in _PATTERNS:
        for node in graph.nodes:
            if not matches_module_pattern((layer, norm), node, modules) or len(node.args[0].users) > 1:
                continue
            bn = modules[str(node.target)]
            if not bn.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fold(modules[str(node.args[0].target)], bn))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _DropoutRemover(Transformer):
    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Dropout gives its input."""
        if isinstance(self.submodules[str(target)], Dropout):
            if len(args) != 1:
                raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: Module) -> Module:
    """A copy of a model without its dropout layers."""
    return _DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A module of some nodes, from inputs to outputs."""
    made = Graph()
    values: dict[Node, Node] = {node: made.placeholder(node.name) for node in inputs}
    for node in nodes:
        values[node] = made.node_copy(node, lambda n: values[n])
    made.output([values[node] for node in outputs])
    made.lint()
    return GraphModule(orig_module, made)


def optimize_for_inference(model: Module, pass_config: dict[str, Any] | None = None, tracer: type[Tracer] = Tracer) -> Module:
    """A copy of a model for inference: batch norms folded, dropout removed. `pass_config` switches either off:
    `{"conv_bn_fuse": False}`, `{"remove_dropout": False}`.
    """
    config = {"conv_bn_fuse": True, "remove_dropout": True, **(pass_config or {})}
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    graph = tracer().trace(copy.deepcopy(model))
    return GraphModule(model, graph)
