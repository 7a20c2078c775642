"""Programs as graphs: trace a module, look at and change what it does, run it or write it out as Python again.

    traced = fx.symbolic_trace(model)      # a GraphModule: an nn.Module with .graph and .code
    for node in traced.graph.nodes: ...    # placeholder, get_attr, call_function, call_module, call_method, output
    traced.recompile()                     # after changes of the graph

`Interpreter` runs a graph node by node, `Transformer` into a new one, `replace_pattern` finds and replaces parts; `fx.passes` has shape
propagation, splitting and matching.
"""
from saraph.fx import _pytree, graph, graph_module, immutable_collections, interpreter, node, passes, proxy
from saraph.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from saraph.fx.graph import CodeGen, Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.interpreter import Interpreter, Transformer
from saraph.fx.node import Node, has_side_effect, map_arg
from saraph.fx.proxy import Proxy
from saraph.fx.subgraph_rewriter import replace_pattern

__all__ = ["CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta", "Tracer", "Transformer", "has_side_effect",
           "map_arg", "replace_pattern", "symbolic_trace", "wrap"]
