"""The generalized Pareto distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import Value, broadcast_all
from saraph.ops.creation import ones_like, zeros_like
from saraph.ops.random import rand
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over a threshold: P(X > x) = (1 + concentration z) ** (-1 / concentration), z = (x - loc) / scale; exp(-z) for concentration 0.

    `loc`: the threshold; `scale` > 0; `concentration` (often xi): any real number. Support: x >= loc, and x <= loc - scale / concentration
    where concentration < 0. The mean exists for concentration < 1, the variance for < 1/2.

    >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(GeneralizedPareto, batch_shape, _instance, loc=(), scale=(), concentration=())

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _split(self) -> tuple[Tensor, Tensor]:
        """Where the concentration counts as 0, and the concentration with 1 in those places."""
        zero = self.concentration.isclose(zeros_like(self.concentration))
        return zero, zero.where(ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, c = self._split()
        power = 1 / c + ones_like(z)
        exponent = (power == 0).where(power, power * (c * z).log1p())
        return zero.where(-z, -exponent) - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log P(X > value)."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, c = self._split()
        return zero.where(-z, -(c * z).log1p() / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log P(X <= value)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, c = self._split()
        log_rest = (-value).log1p()
        return zero.where(self.loc - self.scale * log_rest, self.loc + self.scale * (-c * log_rest).expm1() / c)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return (self.loc + self.scale / (1 - c)).masked_fill(c >= 1, math.nan)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return (self.scale ** 2 / ((1 - c) ** 2 * (1 - 2 * c))).masked_fill(c >= 0.5, math.nan)

    def entropy(self) -> Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        c = self.concentration
        upper = self.loc - self.scale / (c < 0).where(c, ones_like(c))
        return constraints.interval(self.loc, upper.masked_fill(c >= 0, math.inf))
