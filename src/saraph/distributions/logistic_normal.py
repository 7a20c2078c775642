"""The logistic-normal distribution on the simplex."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.independent import Independent
from saraph.distributions.normal import Normal
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import StickBreakingTransform
from saraph.distributions.utils import Value
from saraph.tensor.tensor import Tensor

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Points of the simplex of K shares, made from K - 1 independent normal numbers by stick breaking.

    `loc`, `scale`: means and standard deviations of the normal numbers, shape (*batch, K - 1).

    >>> LogisticNormal(torch.zeros(3), torch.ones(3)).event_shape
    torch.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
