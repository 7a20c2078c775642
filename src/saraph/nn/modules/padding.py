"""Padding modules."""
from __future__ import annotations

from typing import Any

from saraph.nn import functional as F
from saraph.nn.modules.module import Module
from saraph.nn.modules.utils import ntuple
from saraph.tensor.tensor import Tensor

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
           "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _Pad(Module):
    """Pads the last `dimensions` dimensions; `padding` is one int, or (left, right, top, bottom, ...), last dimension first."""

    dimensions = 0
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = ntuple(padding, 2 * self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a value."""

    dimensions = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a value."""

    dimensions = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a value."""

    dimensions = 3


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros."""

    dimensions = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros."""

    dimensions = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros."""

    dimensions = 3


class ReflectionPad1d(_Pad):
    """Pads the last dimension by reflection at its ends."""

    dimensions, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two dimensions by reflection at their ends."""

    dimensions, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three dimensions by reflection at their ends."""

    dimensions, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last dimension with its end values."""

    dimensions, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dimensions with their end values."""

    dimensions, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three dimensions with their end values."""

    dimensions, mode = 3, "replicate"


class _CircularPad(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        if input.dim() not in (self.dimensions + 1, self.dimensions + 2):
            raise ValueError(f"expected {self.dimensions + 1}D or {self.dimensions + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """Pads the last dimension from its other end."""

    dimensions = 1


class CircularPad2d(_CircularPad):
    """Pads the last two dimensions from their other ends."""

    dimensions = 2


class CircularPad3d(_CircularPad):
    """Pads the last three dimensions from their other ends."""

    dimensions = 3
