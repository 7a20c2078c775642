"""The negative binomial distribution."""
from __future__ import annotations

from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.gamma import Gamma
from saraph.distributions.utils import Value, broadcast_all, lazy_property, logits_to_probs, only_one, probs_to_logits
from saraph.ops.activation import logsigmoid
from saraph.ops.random import poisson
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Distribution):
    """How many trials succeed before `total_count` have failed. Support: 0, 1, 2, ...

    `total_count` >= 0, whole or not; `probs`: the probability of success, in [0, 1); or `logits`: log(p / (1 - p)). Exactly one of the last two.

    >>> NegativeBinomial(4.0, torch.tensor(0.5)).mean
    tensor(4.0000)
    """

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Value, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None) -> None:
        only_one(probs, logits)
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
        self._param = self.probs if probs is not None else self.logits
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(NegativeBinomial, batch_shape, _instance, total_count=(), probs=(), logits=(), _param=())

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameters."""
        return self._param.size()

    @lazy_property
    def _gamma(self) -> Gamma:
        """The Poisson rates: a negative binomial is a Poisson distribution whose rate is a gamma number."""
        return Gamma(concentration=self.total_count, rate=(-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        powers = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return powers - normalizer.masked_fill(n + value == 0.0, 0.0)  # no failures asked for: 0 successes for certain
