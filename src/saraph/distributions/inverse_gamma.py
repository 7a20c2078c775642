"""The inverse gamma distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.gamma import Gamma
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import PowerTransform
from saraph.distributions.utils import Value
from saraph.tensor.tensor import Tensor

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x of a gamma number x. Support: x > 0.

    `concentration` (often alpha) > 0; `rate` (often beta) > 0, the scale of 1 / x. The mean exists for concentration > 1, the variance for > 2.

    >>> InverseGamma(torch.tensor(3.0), torch.tensor(4.0)).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """Of the gamma number."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """Of the gamma number."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        return (self.rate / (self.concentration - 1)).masked_fill(self.concentration <= 1, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return (self.rate.square() / ((c - 1).square() * (c - 2))).masked_fill(c <= 2, math.inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()
