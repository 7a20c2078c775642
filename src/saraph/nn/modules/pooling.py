"""Pooling: maxima and averages over windows, adaptive forms, unpooling."""
from __future__ import annotations

from typing import Any

from saraph.nn import functional as F
from saraph.nn.modules.module import Module
from saraph.nn.modules.utils import ntuple
from saraph.tensor.tensor import Tensor

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
           "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AdaptiveMaxPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d"]


class _MaxPoolNd(Module):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def _pool(self, function: Any, input: Tensor) -> Any:
        return function(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
                        return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
                f"ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPoolNd):
    """The maximum of windows of (batch, channels, length)."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, length'), with the positions of the maxima if `return_indices`."""
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """The maximum of windows of (batch, channels, height, width)."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, height', width'), with the positions of the maxima if `return_indices`."""
        return self._pool(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """The maximum of windows of (batch, channels, depth, height, width)."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, ...), with the positions of the maxima if `return_indices`."""
        return self._pool(F.max_pool3d, input)


class _MaxUnpoolNd(Module):
    dimensions = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        n = self.dimensions
        self.kernel_size = ntuple(kernel_size, n)
        self.stride = ntuple(kernel_size if stride is None else stride, n)
        self.padding = ntuple(padding, n)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Values put back where the maxima were, zeros elsewhere."""
        function = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[self.dimensions - 1]
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The partial inverse of MaxPool1d."""

    dimensions = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The partial inverse of MaxPool2d."""

    dimensions = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The partial inverse of MaxPool3d."""

    dimensions = 3


class AvgPool1d(Module):
    """The average of windows of (batch, channels, length)."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, 1)
        self.stride = ntuple(kernel_size if stride is None else stride, 1)
        self.padding, self.ceil_mode, self.count_include_pad = ntuple(padding, 1), ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, length')."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """The average of windows of (batch, channels, height, width)."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, height', width')."""
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool3d(AvgPool2d):
    """The average of windows of (batch, channels, depth, height, width)."""

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, ...)."""
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)


class _FractionalMaxPool(Module):
    dimensions = 0

    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
                 _random_samples: Any = None) -> None:
        super().__init__()
        n = self.dimensions
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"FractionalMaxPool{n}d requires specifying either an output size, or a pooling ratio" if output_size is None else
                             "only one of output_size and output_ratio may be specified")
        self.kernel_size, self.return_indices = ntuple(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = ntuple(output_size, n) if output_size is not None else None
        self.output_ratio = ntuple(output_ratio, n) if output_ratio is not None else None
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """Maxima over windows whose places are drawn at random (Graham 2014)."""
        function = F.fractional_max_pool2d if self.dimensions == 2 else F.fractional_max_pool3d
        return function(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of (batch, channels, height, width)."""

    dimensions = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of (batch, channels, depth, height, width)."""

    dimensions = 3


class _LPPoolNd(Module):
    dimensions = 0

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The p-norm of windows."""
        function = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[self.dimensions - 1]
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """Power-average pooling of (batch, channels, length)."""

    dimensions = 1


class LPPool2d(_LPPoolNd):
    """Power-average pooling of (batch, channels, height, width)."""

    dimensions = 2


class LPPool3d(_LPPoolNd):
    """Power-average pooling of (batch, channels, depth, height, width)."""

    dimensions = 3


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages whose windows make the given length."""

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, output_size)."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages whose windows make the given height and width (None keeps a size)."""

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, *output_size)."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages whose windows make the given depth, height and width (None keeps a size)."""

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, *output_size)."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(_AdaptiveAvgPoolNd):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima whose windows make the given length."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, output_size), with positions if `return_indices`."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima whose windows make the given height and width (None keeps a size)."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, *output_size), with positions if `return_indices`."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima whose windows make the given depth, height and width (None keeps a size)."""

    def forward(self, input: Tensor) -> Any:
        """(batch, channels, *output_size), with positions if `return_indices`."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
