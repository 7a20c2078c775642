"""The continuous Bernoulli distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.exp_family import ExponentialFamily
from saraph.distributions.utils import Value, broadcast_all, clamp_probs, lazy_property, logits_to_probs, only_one, probs_to_logits
from saraph.ops.creation import ones_like, zeros_like
from saraph.ops.loss import binary_cross_entropy_with_logits
from saraph.ops.random import rand
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ExponentialFamily):
    """Numbers in [0, 1] with density proportional to p ** x (1 - p) ** (1 - x) (Loaiza-Ganem and Cunningham 2019).

    `probs`: p in (0, 1), which is not the mean; or `logits`: log(p / (1 - p)). Exactly one of the two. Between the `lims` around 1/2, where
    the formulas are 0 / 0, Taylor expansions serve.

    >>> ContinuousBernoulli(torch.tensor(0.5)).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, probs: Value | None = None, logits: Value | None = None, lims: tuple[float, float] = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        only_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, probs=(), logits=(), _param=())
        new._lims = self._lims
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The probabilities, with the lower limit in place of those between the limits."""
        return self._outside_unstable_region().where(self.probs, self._lims[0] * ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        cut = self._cut_probs()
        below = (cut <= 0.5).where(cut, zeros_like(cut))
        above = (cut >= 0.5).where(cut, ones_like(cut))
        direct = ((-cut).log1p() - cut.log()).abs().log() - (cut <= 0.5).where((-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        x = (self.probs - 0.5).pow(2)
        return self._outside_unstable_region().where(direct, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        direct = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        return self._outside_unstable_region().where(direct, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        direct = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return self._outside_unstable_region().where(direct, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """p, away from 0 and 1 by the dtype's eps."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        direct = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = self._outside_unstable_region().where(direct, value)
        return (value <= 0.0).where(zeros_like(value), (value >= 1.0).where(ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        direct = ((-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()) / (cut.log() - (-cut).log1p())
        return self._outside_unstable_region().where(direct, value)

    def entropy(self) -> Tensor:
        log_probs0 = (-self.probs).log1p()
        return self.mean * (log_probs0 - self.probs.log()) - self._cont_bern_log_norm() - log_probs0

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """log((exp(x) - 1) / x), by its Taylor expansion near 0."""
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = outside.where(x, (self._lims[0] - 0.5) * ones_like(x))
        return outside.where(cut.expm1().abs().log() - cut.abs().log(), 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
