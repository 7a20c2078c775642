"""Divergences of distributions of different families. Where p can lie outside q's support the divergence is infinite."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions.bernoulli import Bernoulli
from saraph.distributions.beta import Beta
from saraph.distributions.binomial import Binomial
from saraph.distributions.continuous_bernoulli import ContinuousBernoulli
from saraph.distributions.exponential import Exponential
from saraph.distributions.gamma import Gamma
from saraph.distributions.gumbel import Gumbel
from saraph.distributions.kl_registry import _infinite_like, register_kl
from saraph.distributions.laplace import Laplace
from saraph.distributions.normal import Normal
from saraph.distributions.pareto import Pareto
from saraph.distributions.poisson import Poisson
from saraph.distributions.uniform import Uniform
from saraph.distributions.utils import euler_constant
from saraph.tensor.tensor import Tensor

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _x_log_x(x: Tensor) -> Tensor:
    return x.xlogy(x)


def _cross_entropy_normal(mean: Tensor, variance: Tensor, q: Normal) -> Tensor:
    """-E log q(x) of an x with these moments."""
    return _HALF_LOG_2PI + q.scale.log() + (variance + (mean - q.loc).pow(2)) / (2 * q.scale.pow(2))


def _cross_entropy_gamma(mean: Tensor, mean_log: Tensor, q: Gamma) -> Tensor:
    """-E log q(x) of an x with that mean and that mean of the logarithm."""
    return q.concentration.lgamma() - q.concentration * q.rate.log() - (q.concentration - 1) * mean_log + q.rate * mean


def _cross_entropy_continuous_bernoulli(mean: Tensor, q: ContinuousBernoulli) -> Tensor:
    return -mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _kl_beta_continuous_bernoulli(p: Beta, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() + _cross_entropy_continuous_bernoulli(p.mean, q)


@register_kl(Beta, Pareto)
def _kl_beta_infinity(p: Beta, q: Any) -> Tensor:
    return _infinite_like(p.concentration1)


@register_kl(Beta, Exponential)
def _kl_beta_exponential(p: Beta, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _kl_beta_gamma(p: Beta, q: Gamma) -> Tensor:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() + _cross_entropy_gamma(p.mean, mean_log, q)


@register_kl(Beta, Normal)
def _kl_beta_normal(p: Beta, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Beta, Uniform)
def _kl_beta_uniform(p: Beta, q: Uniform) -> Tensor:
    return (-p.entropy() + (q.high - q.low).log()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(ContinuousBernoulli, Pareto)
def _kl_continuous_bernoulli_infinity(p: ContinuousBernoulli, q: Any) -> Tensor:
    return _infinite_like(p.probs)


@register_kl(ContinuousBernoulli, Exponential)
def _kl_continuous_bernoulli_exponential(p: ContinuousBernoulli, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _kl_continuous_bernoulli_normal(p: ContinuousBernoulli, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(ContinuousBernoulli, Uniform)
def _kl_continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    return (-p.entropy() + (q.high - q.low).log()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(Exponential, Beta)
@register_kl(Exponential, ContinuousBernoulli)
@register_kl(Exponential, Pareto)
@register_kl(Exponential, Uniform)
def _kl_exponential_infinity(p: Exponential, q: Any) -> Tensor:
    return _infinite_like(p.rate)


@register_kl(Exponential, Gamma)
def _kl_exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    ratio, c = q.rate / p.rate, q.concentration
    return -c * ratio.log() + ratio + c.lgamma() + c * euler_constant - (1 + euler_constant)


@register_kl(Exponential, Gumbel)
def _kl_exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    product, place = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - place + place.exp() * product / (product + 1) + product.reciprocal()


@register_kl(Exponential, Normal)
def _kl_exponential_normal(p: Exponential, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Gamma, Beta)
@register_kl(Gamma, ContinuousBernoulli)
@register_kl(Gamma, Pareto)
@register_kl(Gamma, Uniform)
def _kl_gamma_infinity(p: Gamma, q: Any) -> Tensor:
    return _infinite_like(p.concentration)


@register_kl(Gamma, Exponential)
def _kl_gamma_exponential(p: Gamma, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _kl_gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    product, place, c = p.rate * q.scale, q.loc / q.scale, p.concentration
    own = (c - 1) * c.digamma() - c.lgamma() - c
    return own + product.log() + c / product + place.exp() * (1 + product.reciprocal()).pow(-c) - place


@register_kl(Gamma, Normal)
def _kl_gamma_normal(p: Gamma, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Gumbel, Beta)
@register_kl(Gumbel, ContinuousBernoulli)
@register_kl(Gumbel, Exponential)
@register_kl(Gumbel, Gamma)
@register_kl(Gumbel, Pareto)
@register_kl(Gumbel, Uniform)
def _kl_gumbel_infinity(p: Gumbel, q: Any) -> Tensor:
    return _infinite_like(p.loc)


@register_kl(Gumbel, Normal)
def _kl_gumbel_normal(p: Gumbel, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Laplace, Beta)
@register_kl(Laplace, ContinuousBernoulli)
@register_kl(Laplace, Exponential)
@register_kl(Laplace, Gamma)
@register_kl(Laplace, Pareto)
@register_kl(Laplace, Uniform)
def _kl_laplace_infinity(p: Laplace, q: Any) -> Tensor:
    return _infinite_like(p.loc)


@register_kl(Laplace, Normal)
def _kl_laplace_normal(p: Laplace, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Normal, Beta)
@register_kl(Normal, ContinuousBernoulli)
@register_kl(Normal, Exponential)
@register_kl(Normal, Gamma)
@register_kl(Normal, Pareto)
@register_kl(Normal, Uniform)
def _kl_normal_infinity(p: Normal, q: Any) -> Tensor:
    return _infinite_like(p.loc)


@register_kl(Normal, Gumbel)
def _kl_normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    """E exp(-(x - loc) / scale) is a moment of the log-normal distribution."""
    off, spread = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    return -p.entropy() + q.scale.log() + off + (0.5 * spread - off).exp()


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p: Normal, q: Laplace) -> Tensor:
    """E |x - loc| is the mean of the folded normal distribution."""
    off = p.loc - q.loc
    standard = off / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * standard.pow(2)).exp() + off * (math.sqrt(0.5) * standard).erf()
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale


@register_kl(Pareto, Beta)
@register_kl(Pareto, ContinuousBernoulli)
@register_kl(Pareto, Uniform)
def _kl_pareto_infinity(p: Pareto, q: Any) -> Tensor:
    return _infinite_like(p.scale)


@register_kl(Pareto, Exponential)
def _kl_pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    return result.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Gamma)
def _kl_pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    mean_log = p.scale.log() + p.alpha.reciprocal()
    result = p.alpha.log() - mean_log - 1 + _cross_entropy_gamma(p.alpha * p.scale / (p.alpha - 1), mean_log, q)
    return result.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Normal)
def _kl_pareto_normal(p: Pareto, q: Normal) -> Tensor:
    part = p.scale / (p.alpha - 1)
    result = -p.entropy() + _cross_entropy_normal(p.alpha * part, p.alpha * part.pow(2) / (p.alpha - 2), q)
    return result.masked_fill(p.alpha <= 2, math.inf)


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _kl_poisson_infinity(p: Poisson, q: Any) -> Tensor:
    return _infinite_like(p.rate)


def _mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log(x) for x uniform in [low, high)."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Beta)
def _kl_uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    logs = (a - 1) * _mean_log(p.low, p.high) + (b - 1) * _mean_log(1 - p.high, 1 - p.low)
    result = -(p.high - p.low).log() + a.lgamma() + b.lgamma() - (a + b).lgamma() - logs
    return result.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, ContinuousBernoulli)
def _kl_uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    result = -p.entropy() + _cross_entropy_continuous_bernoulli(p.mean, q)
    return result.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Exponential)
def _kl_uniform_exponetial(p: Uniform, q: Exponential) -> Tensor:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return result.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gamma)
def _kl_uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    result = -(p.high - p.low).log() + _cross_entropy_gamma((p.high + p.low) / 2, _mean_log(p.low, p.high), q)
    return result.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gumbel)
def _kl_uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * ((-high).exp() - (-low).exp())


@register_kl(Uniform, Normal)
def _kl_uniform_normal(p: Uniform, q: Normal) -> Tensor:
    return -p.entropy() + _cross_entropy_normal(p.mean, p.variance, q)


@register_kl(Uniform, Pareto)
def _kl_uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    result = (q.alpha + 1) * _mean_log(p.low, p.high) - q.alpha.log() - q.alpha * q.scale.log() - (p.high - p.low).log()
    return result.masked_fill(p.low < q.scale, math.inf)
