"""Laying out the weights of convolutions."""
from __future__ import annotations

from typing import Any, TypeVar

from saraph.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from saraph.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]
T = TypeVar("T", bound=Module)


def _convert(module: Module, memory_format: Any, kinds: tuple[type, ...]) -> None:
    for child in module.modules():
        if isinstance(child, kinds):
            child.weight.data = child.weight.detach().clone(memory_format=memory_format)


def convert_conv2d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Give the weights of all 2d convolutions that memory format."""
    _convert(module, memory_format, (Conv2d, ConvTranspose2d))
    return module


def convert_conv3d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Give the weights of all 3d convolutions that memory format."""
    _convert(module, memory_format, (Conv3d, ConvTranspose3d))
    return module
