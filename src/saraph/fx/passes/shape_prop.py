"""`ShapeProp`: runs a graph once on example inputs and notes at every node what came out."""
from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from saraph.dtypes import dtype
from saraph.fx.graph_module import GraphModule
from saraph.fx.interpreter import Interpreter
from saraph.fx.node import Node, map_aggregate
from saraph.shapes import Size, channels_last, channels_last_3d, contiguous_format, memory_format
from saraph.tensor.tensor import Tensor

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a tensor was like: everything but its values."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    found: memory_format | None = None
    if include_contiguity:
        for kind, dims in ((contiguous_format, None), (channels_last, 4), (channels_last_3d, 5)):
            if (dims is None or result.dim() == dims) and result.is_contiguous(memory_format=kind):
                found = kind
                break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found, False, {})


class ShapeProp(Interpreter):
    """Runs a graph on example inputs: `node.meta["tensor_meta"]` gets shape, dtype, strides of every tensor, `node.meta["type"]` its class.

    Example::

        ShapeProp(module).propagate(torch.randn(1, 3, 8, 8))
        for node in module.graph.nodes:
            print(node.name, node.meta["tensor_meta"].shape)
    """

    def __init__(self, gm: GraphModule, fake_mode: Any | None = None):
        super().__init__(gm)
        if fake_mode is not None:
            raise TypeError("ShapeProp: fake_mode is not there; for shapes alone put module and inputs on the meta device")
        self.real_module = self.module

    def run_node(self, n: Node) -> Any:
        """Run the node and note what came out."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def note(x: Any) -> Any:
            nonlocal found
            if isinstance(x, Tensor):
                found = True
                return _extract_tensor_metadata(x)
            return x

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run on these inputs; returns the graph's result."""
        return super().run(*args)
