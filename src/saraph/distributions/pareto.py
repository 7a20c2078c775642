"""The Pareto distribution."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.exponential import Exponential
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import AffineTransform, ExpTransform
from saraph.distributions.utils import Value, broadcast_all
from saraph.tensor.tensor import Tensor

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Numbers with P(X > x) = (scale / x) ** alpha. Support: x >= scale.

    `scale`: the least value, > 0; `alpha` > 0. The mean is finite for alpha > 1, the variance for alpha > 2.

    >>> Pareto(torch.tensor(1.0), torch.tensor(3.0)).mean
    tensor(1.5000)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Value, alpha: Value, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Pareto, _instance)
        new.scale, new.alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # at 1 the quotient is inf
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)  # at 2 the quotient is inf
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
