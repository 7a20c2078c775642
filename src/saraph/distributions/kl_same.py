"""Divergences of two distributions of one family."""
from __future__ import annotations

import math
from typing import Any

from saraph.autograd.api import grad
from saraph.autograd.grad_mode import enable_grad
from saraph.distributions.bernoulli import Bernoulli
from saraph.distributions.beta import Beta
from saraph.distributions.binomial import Binomial
from saraph.distributions.categorical import Categorical
from saraph.distributions.cauchy import Cauchy
from saraph.distributions.continuous_bernoulli import ContinuousBernoulli
from saraph.distributions.dirichlet import Dirichlet
from saraph.distributions.exp_family import ExponentialFamily
from saraph.distributions.exponential import Exponential
from saraph.distributions.gamma import Gamma
from saraph.distributions.geometric import Geometric
from saraph.distributions.gumbel import Gumbel
from saraph.distributions.half_normal import HalfNormal
from saraph.distributions.independent import Independent
from saraph.distributions.kl_registry import kl_divergence, register_kl
from saraph.distributions.laplace import Laplace
from saraph.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal, _batch_lowrank_logdet, _batch_lowrank_mahalanobis
from saraph.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from saraph.distributions.normal import Normal
from saraph.distributions.one_hot_categorical import OneHotCategorical
from saraph.distributions.pareto import Pareto
from saraph.distributions.poisson import Poisson
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.uniform import Uniform
from saraph.distributions.utils import _sum_rightmost, euler_constant
from saraph.ops.activation import softplus
from saraph.ops.linalg_solve import solve_triangular
from saraph.ops.rearrange import broadcast_shapes
from saraph.tensor.tensor import Tensor


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    ones = ones.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    return ones + zeros.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Beta, q: Beta) -> Tensor:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    normalizers = q1.lgamma() + q0.lgamma() + (p1 + p0).lgamma() - (p1.lgamma() + p0.lgamma() + (q1 + q0).lgamma())
    return normalizers + (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma() + (q1 + q0 - p1 - p0) * (p1 + p0).digamma()


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Any, q: Any) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    return t.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    own = p._cont_bern_log_norm() + (-p.probs).log1p()
    return p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - (-q.probs).log1p()


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    ours, theirs = p.concentration, q.concentration
    total = ours.sum(-1)
    normalizers = total.lgamma() - theirs.sum(-1).lgamma() - (ours.lgamma() - theirs.lgamma()).sum(-1)
    return normalizers + ((ours - theirs) * (ours.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizers."""
    if not type(p) == type(q):  # noqa: E721
        raise NotImplementedError(f"The cross KL-divergence between different exponential families ({type(p).__name__} and {type(q).__name__}) "
                                  "cannot be computed using Bregman divergences")
    with enable_grad():
        ours = [x.detach().requires_grad_() for x in p._natural_params]
        own = p._log_normalizer(*ours)
        means = grad(own.sum(), ours, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - own
    for a, b, mean in zip(ours, q._natural_params, means):
        result = result - _sum_rightmost((b - a) * mean, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Gamma, q: Gamma) -> Tensor:
    c, d = p.concentration, q.concentration
    return (d * (p.rate / q.rate).log() + d.lgamma() - c.lgamma() + (c - d) * c.digamma() + (q.rate - p.rate) * (c / p.rate))


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, theirs, ours = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    tail = (theirs + (1 + ratio).lgamma() - ours).exp()
    return -ratio.log() - theirs + ours + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


def _trace_of_solved(tril: Tensor, factor: Tensor, n: int, batch_shape: Any) -> Tensor:
    """The trace of (L L^T)^-1 F F^T for lower triangular L (*, n, n) and F (*, n, m)."""
    tril = tril.expand((*batch_shape, n, n))
    factor = factor.expand((*batch_shape, n, factor.size(-1)))
    return solve_triangular(tril, factor, upper=False).pow(2).sum((-2, -1))


def _same_event_size(p: Any, q: Any, kinds: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {kinds} with different event shapes cannot be computed: {p.event_shape} vs {q.event_shape}")


def _trace_XXT(x: Tensor) -> Tensor:
    return x.pow(2).sum((-2, -1))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrankmultivariatenormal_lowrankmultivariatenormal(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    """The trace of (Wq Wq^T + Dq)^-1 (Wp Wp^T + Dp) by the Woodbury identity, term by term."""
    _same_event_size(p, q, "Low Rank Multivariate Normals")
    wp, dp = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    wq, dq = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    log_dets = _batch_lowrank_logdet(wq, dq, q._capacitance_tril) - _batch_lowrank_logdet(wp, dp, p._capacitance_tril)
    distance = _batch_lowrank_mahalanobis(wq, dq, q.loc - p.loc, q._capacitance_tril)
    scaled = wq.mT / dq.unsqueeze(-2)
    part = solve_triangular(q._capacitance_tril, scaled, upper=False)
    trace = ((dp / dq).sum(-1) + _trace_XXT(wp * dq.rsqrt().unsqueeze(-1)) - _trace_XXT(part * dp.sqrt().unsqueeze(-2)) - _trace_XXT(part.matmul(wp)))
    return 0.5 * (log_dets + trace + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_multivariatenormal_lowrankmultivariatenormal(p: MultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _same_event_size(p, q, "(Low Rank) Multivariate Normals")
    wq, dq = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    log_dets = _batch_lowrank_logdet(wq, dq, q._capacitance_tril) - 2 * p._half_log_det()
    distance = _batch_lowrank_mahalanobis(wq, dq, q.loc - p.loc, q._capacitance_tril)
    part = solve_triangular(q._capacitance_tril, wq.mT / dq.unsqueeze(-2), upper=False)
    factor = p._unbroadcasted_scale_tril
    trace = _trace_XXT(factor * dq.rsqrt().unsqueeze(-1)) - _trace_XXT(part.matmul(factor))
    return 0.5 * (log_dets + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_lowrankmultivariatenormal_multivariatenormal(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Tensor:
    _same_event_size(p, q, "(Low Rank) Multivariate Normals")
    wp, dp, tril = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag, q._unbroadcasted_scale_tril
    log_dets = 2 * q._half_log_det() - _batch_lowrank_logdet(wp, dp, p._capacitance_tril)
    distance = _batch_mahalanobis(tril, q.loc - p.loc)
    n, batch_shape = p.event_shape[0], broadcast_shapes(tril.shape[:-2], wp.shape[:-2], dp.shape[:-1])
    trace = _trace_of_solved(tril, wp, n, batch_shape) + _trace_of_solved(tril, dp.sqrt().diag_embed(), n, batch_shape)
    return 0.5 * (log_dets + trace + distance - n)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariatenormal_multivariatenormal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    _same_event_size(p, q, "Multivariate Normals")
    n, ours, theirs = p.event_shape[0], p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    trace = _trace_of_solved(theirs, ours, n, broadcast_shapes(theirs.shape[:-2], ours.shape[:-2]))
    distance = _batch_mahalanobis(theirs, q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - n)


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """That of the bases: the same transforms change nothing."""
    if p.transforms != q.transforms:
        raise NotImplementedError(f"KL(p || q) of transformed distributions needs equal transforms, got {p.transforms} and {q.transforms}")
    if p.event_shape != q.event_shape:
        raise NotImplementedError(f"KL(p || q) needs equal event shapes, got {p.event_shape} and {q.event_shape}")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of Independent distributions needs equal reinterpreted_batch_ndims, "
                                  f"got {p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()
