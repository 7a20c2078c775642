"""The Gumbel distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import AffineTransform, ExpTransform
from saraph.distributions.uniform import Uniform
from saraph.distributions.utils import Value, broadcast_all, euler_constant
from saraph.dtypes import finfo
from saraph.ops.creation import full_like, ones_like
from saraph.tensor.tensor import Tensor

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Numbers with cdf exp(-exp(-(x - loc) / scale)), the law of maxima; support: all real numbers.

    `loc`: the mode; `scale` > 0.

    >>> Gumbel(torch.tensor(0.0), torch.tensor(1.0)).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        base = Uniform(full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps), validate_args=validate_args)
        minus_log = [ExpTransform().inv, AffineTransform(loc=0, scale=-ones_like(self.scale))]
        super().__init__(base, [*minus_log, ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale)], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
