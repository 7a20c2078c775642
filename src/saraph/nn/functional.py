"""Functions of layers: convolutions, pooling, activations, losses, attention."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.ops import NAMESPACES
from saraph.ops.overriding import handle_torch_function, has_torch_function, has_torch_function_unary, has_torch_function_variadic

globals().update(NAMESPACES["nn.functional"])
tanh, sigmoid = NAMESPACES["torch"]["tanh"], NAMESPACES["torch"]["sigmoid"]  # the old names of torch.tanh and torch.sigmoid
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
__all__ = ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "handle_torch_function", "has_torch_function", "has_torch_function_unary",
           "has_torch_function_variadic", "sigmoid", "tanh"]
__all__ += sorted(NAMESPACES["nn.functional"])

if _TYPE_CHECKING:
    from saraph.stubs.functional import *  # noqa: F403
