"""Student's t distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.chi2 import Chi2
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import Value, _standard_normal, broadcast_all
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["StudentT"]


class StudentT(Distribution):
    """A standard normal divided by sqrt(chi-squared of df / df), scaled and moved; support: all real numbers.

    `df`: degrees of freedom, > 0; `loc`: the centre; `scale` > 0. The mean exists for df > 1, the variance for df > 2.

    >>> StudentT(torch.tensor(4.0)).variance
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Value, loc: Value = 0.0, scale: Value = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(StudentT, batch_shape, _instance, df=(), loc=(), scale=())
        new._chi2 = self._chi2.expand(Size(batch_shape))
        return new

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (0.5 * self.df).lgamma()
                      - (0.5 * (self.df + 1.0)).lgamma())
        return -0.5 * (self.df + 1.0) * (y ** 2.0 / self.df).log1p() - normalizer

    def entropy(self) -> Tensor:
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - above.lgamma()
        return self.scale.log() + above * (above.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
