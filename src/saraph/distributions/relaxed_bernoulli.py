"""Relaxed Bernoulli distributions: differentiable draws near 0 and 1."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import SigmoidTransform
from saraph.distributions.utils import Value, broadcast_all, clamp_probs, lazy_property, logits_to_probs, only_one, probs_to_logits
from saraph.ops.random import rand
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Distribution):
    """The logit of a `RelaxedBernoulli` number: a logistic number around logits, divided by the temperature. Support: all real numbers.

    `temperature` > 0; `probs` or `logits` as for `Bernoulli`.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: Value, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        only_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, probs=(), logits=(), _param=())
        new.temperature = self.temperature
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of 1 of the Bernoulli distribution that is relaxed."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value, temperature = broadcast_all(self.logits, value, self.temperature)
        off = logits - value.mul(temperature)
        return temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in [0, 1] near 0 or 1: the smaller the temperature, the nearer to `Bernoulli`, with differentiable draws (Maddison et al. 2017,
    Jang et al. 2017).

    `temperature` > 0; `probs` or `logits` as for `Bernoulli`.

    >>> RelaxedBernoulli(torch.tensor(2.0), torch.tensor([0.1, 0.9])).batch_shape
    torch.Size([2])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(self, temperature: Value, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Value:
        """How soft the draws are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1 of the Bernoulli distribution that is relaxed."""
        return self.base_dist.probs
