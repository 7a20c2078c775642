"""The Poisson distribution."""
from __future__ import annotations

from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.exp_family import ExponentialFamily
from saraph.distributions.utils import Value, broadcast_all
from saraph.ops.random import poisson
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """How many independent events happen: P(k) = rate ** k exp(-rate) / k!. Support: 0, 1, 2, ...

    `rate`: the mean number, >= 0.

    >>> Poisson(torch.tensor(4.0)).variance
    tensor(4.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Poisson, batch_shape, _instance, rate=())

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.exp()
