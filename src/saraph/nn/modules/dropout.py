"""Dropout: parts of the input set to zero at random in training."""
from __future__ import annotations

from saraph.nn import functional as F
from saraph.nn.modules.module import Module
from saraph.tensor.tensor import Tensor

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Each element is 0 with probability p, else scaled by 1 / (1 - p) (Hinton et al. 2012)."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape; the input itself in eval mode."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Whole channels of (batch, channels, length) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Whole channels of (batch, channels, height, width) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Whole channels of (batch, channels, depth, height, width) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance under SELU (Klambauer et al. 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape."""
        return F.feature_alpha_dropout(input, self.p, self.training)
