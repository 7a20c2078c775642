"""Attributes of leaf modules, moved to the nodes that call them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.fx.graph_module import GraphModule
from saraph.nn.modules.batchnorm import BatchNorm2d
from saraph.nn.modules.conv import Conv2d
from saraph.nn.modules.linear import Linear
from saraph.nn.modules.module import Module
from saraph.nn.modules.pooling import AdaptiveAvgPool2d, MaxPool2d

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


def default_matching(name: str, target_version: int) -> str:
    """The attribute's own name."""
    return name


_CONV = ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"]
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    Linear: (1, ["weight", "bias"], default_matching),
    Conv2d: (1, _CONV, default_matching),
    BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"], default_matching),
    MaxPool2d: (1, ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"], default_matching),
    AdaptiveAvgPool2d: (1, ["output_size"], default_matching),
}


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """A leaf module's name and the attributes that describe it. RuntimeError for classes not in `module_fetch_book` or of a newer version."""
    found: dict[str, Any] = {"name": f"{type(mod).__module__}.{type(mod).__qualname__}"}
    if type(mod) not in module_fetch_book:
        return found
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(f"Fetcher version {version} try to fetch {type(mod)} version {mod._version}, please upgrade the module_fetch_book")
    found.update({name: getattr(mod, matching(name, mod._version)) for name in names})
    return found


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Put the attributes of every leaf module that is called on the calling node, as `node.attrs_for_lowering`."""
    submodules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        module = submodules[str(node.target)]
        if isinstance(module, GraphModule):
            lift_lowering_attrs_to_nodes(module)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(module)  # type: ignore[attr-defined]
