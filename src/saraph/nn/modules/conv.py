"""Convolutions and transposed convolutions in one, two and three dimensions, with their lazy forms."""
from __future__ import annotations

import math
from typing import Any

from saraph.nn import functional as F
from saraph.nn import init
from saraph.nn.modules.lazy import LazyModuleMixin
from saraph.nn.modules.module import Module
from saraph.nn.modules.utils import ntuple, reverse_repeat_tuple
from saraph.ops.creation import empty
from saraph.tensor.parameter import Parameter, UninitializedParameter
from saraph.tensor.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
           "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d"]
_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share: sizes, parameters, padding modes."""

    dimensions = 0
    transposed = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any,
                 groups: int, bias: bool, padding_mode: str, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        n = self.dimensions
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.transposed = type(self).transposed  # part of the state that PyTorch expects in a saved module
        self.kernel_size, self.stride, self.dilation = ntuple(kernel_size, n), ntuple(stride, n), ntuple(dilation, n)
        self.padding = padding if isinstance(padding, str) else ntuple(padding, n)
        self.output_padding = ntuple(output_padding, n)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'")
        self._reversed_padding_repeated_twice = self._padding_for_pad()
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _padding_for_pad(self) -> list[int]:
        """Padding as F.pad wants it: pairs, last dimension first."""
        if not isinstance(self.padding, str):
            return reverse_repeat_tuple(self.padding, 2)
        found = [0, 0] * self.dimensions
        if self.padding == "same":
            for d, k, i in zip(self.dilation, self.kernel_size, range(self.dimensions - 1, -1, -1)):
                total = d * (k - 1)
                found[2 * i], found[2 * i + 1] = total // 2, total - total // 2
        return found

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform in +-1/sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if isinstance(self.padding, str) or any(self.padding):
            text += f", padding={self.padding!r}"
        if any(d != 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        if any(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    """Convolution forward of any dimension."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.dimensions - 1]
        if self.padding_mode != "zeros":
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return convolve(padded, weight, bias, self.stride, 0, self.dilation, self.groups)
        return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """(batch, in_channels, *spatial) -> (batch, out_channels, *spatial')."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """1-d convolution: (batch, in_channels, length) -> (batch, out_channels, length')."""

    dimensions = 1


class Conv2d(_Conv):
    """2-d convolution: (batch, in_channels, height, width) -> (batch, out_channels, height', width').

    height' = (height + 2 padding - dilation (kernel - 1) - 1) // stride + 1, and likewise for width.
    """

    dimensions = 2


class Conv3d(_Conv):
    """3-d convolution: (batch, in_channels, depth, height, width) -> (batch, out_channels, ...)."""

    dimensions = 3


class _ConvTransposeNd(_ConvNd):
    """Transposed convolution of any dimension (the gradient of a convolution with respect to its input)."""

    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                 groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output padding that makes the result's spatial size `output_size`."""
        if output_size is None:
            return self.output_padding
        n = self.dimensions
        wanted = list(output_size)
        if len(wanted) == input.dim():
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(f"{type(self).__name__}: for {input.dim()}D input, output_size must have {n} or {input.dim()} elements "
                             f"(got {len(wanted)})")
        low = [(input.size(d - n) - 1) * self.stride[d] - 2 * self.padding[d] + self.dilation[d] * (self.kernel_size[d] - 1) + 1
               for d in range(n)]
        high = [m + s - 1 for m, s in zip(low, self.stride)]
        if any(not m <= size <= h for m, size, h in zip(low, wanted, high)):
            raise ValueError(f"requested an output size of {wanted}, but valid sizes range from {low} to {high} (for an input of "
                             f"{list(input.shape[-n:])})")
        return tuple(size - m for size, m in zip(wanted, low))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """(batch, in_channels, *spatial) -> (batch, out_channels, *spatial'); `output_size` settles which of the possible sizes."""
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.dimensions - 1]
        return convolve(input, self.weight, self.bias, self.stride, self.padding, self._output_padding(input, output_size), self.groups,
                        self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """1-d transposed convolution."""

    dimensions = 1


class ConvTranspose2d(_ConvTransposeNd):
    """2-d transposed convolution: height' = (height - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1."""

    dimensions = 2


class ConvTranspose3d(_ConvTransposeNd):
    """3-d transposed convolution."""

    dimensions = 3


class _LazyConv(LazyModuleMixin):
    """Learns `in_channels` from the first input."""

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, device: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        bias = kwargs.pop("bias", True)
        names = list(self._positional)
        kwargs.update(zip(names, args))
        bias = kwargs.pop("bias", bias)
        super().__init__(0, 0, kernel_size, bias=False, device=device, dtype=dtype, **kwargs)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    _positional = ("stride", "padding", "dilation", "groups", "bias", "padding_mode")

    def reset_parameters(self) -> None:
        """Nothing to draw while the shape is unknown."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take `in_channels` from the input, batched or not."""
        if not self.has_uninitialized_params():
            return
        n = self.dimensions
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of size: "
                               f"{input.shape}")
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns `in_channels` from its first input."""

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConv):
    _positional = ("stride", "padding", "output_padding", "groups", "bias", "dilation", "padding_mode")


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
