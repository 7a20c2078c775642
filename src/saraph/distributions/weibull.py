"""The Weibull distribution."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.exponential import Exponential
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import AffineTransform, PowerTransform
from saraph.distributions.utils import Value, broadcast_all, euler_constant
from saraph.ops.creation import ones_like
from saraph.tensor.tensor import Tensor

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Numbers with P(X > x) = exp(-(x / scale) ** concentration). Support: x > 0.

    `scale` > 0; `concentration`: the shape, > 0.

    >>> Weibull(torch.tensor(1.0), torch.tensor(1.0)).mean
    tensor(1.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Weibull, _instance)
        new.scale, new.concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        """scale ((k - 1) / k) ** (1 / k), and as in PyTorch the same formula where the concentration k is below 1, although the density
        then is largest at 0."""
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        first, second = 1 + self.concentration_reciprocal, 1 + 2 * self.concentration_reciprocal
        return self.scale.pow(2) * (second.lgamma().exp() - (2 * first.lgamma()).exp())

    def entropy(self) -> Tensor:
        return euler_constant * (1 - self.concentration_reciprocal) + (self.scale * self.concentration_reciprocal).log() + 1
