"""The Kumaraswamy distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import AffineTransform, PowerTransform
from saraph.distributions.uniform import Uniform
from saraph.distributions.utils import Value, broadcast_all, euler_constant
from saraph.ops.creation import full_like
from saraph.tensor.tensor import Tensor

__all__ = ["Kumaraswamy"]


def _moment(a: Tensor, b: Tensor, n: int) -> Tensor:
    """The mean of x ** n."""
    at = 1 + n / a
    return b * (at.lgamma() + b.lgamma() - (at + b).lgamma()).exp()


class Kumaraswamy(TransformedDistribution):
    """Numbers in [0, 1] with cdf 1 - (1 - x ** concentration1) ** concentration0; much like the beta distribution.

    `concentration1` > 0; `concentration0` > 0.

    >>> Kumaraswamy(torch.tensor(1.0), torch.tensor(1.0)).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(full_like(self.concentration0, 0), full_like(self.concentration0, 1), validate_args=validate_args)
        transforms = [PowerTransform(self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
                      PowerTransform(self.concentration1.reciprocal())]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1, new.concentration0 = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (a b - 1)) ** (1 / a) where a, b >= 1 and not both are 1; nan elsewhere (PyTorch: nan also for every a > 1)."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return mode.masked_fill((a < 1) | (b < 1) | ((a == 1) & (b == 1)), math.nan)

    @property
    def variance(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - a.reciprocal()) * ((b + 1).digamma() + euler_constant) + (1 - b.reciprocal()) - a.log() - b.log()
