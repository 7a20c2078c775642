"""Probability distributions, as in `torch.distributions`: draws, densities, moments, entropies and divergences of (batches of) distributions.

A distribution has `sample`, and where `has_rsample` also `rsample`, whose draws are differentiable in the parameters; `log_prob`; and what of
`cdf`, `icdf`, `entropy`, `mean`, `mode`, `variance` and `stddev` is known. `kl_divergence(p, q)` compares two; `constraints` describe where
parameters and draws lie, `transforms` map draws, `biject_to` and `transform_to` find a transform into a constraint.
"""
from saraph.distributions import constraint_registry, constraints, kl, transforms, utils
from saraph.distributions.bernoulli import Bernoulli
from saraph.distributions.beta import Beta
from saraph.distributions.binomial import Binomial
from saraph.distributions.categorical import Categorical
from saraph.distributions.cauchy import Cauchy
from saraph.distributions.chi2 import Chi2
from saraph.distributions.constraint_registry import biject_to, transform_to
from saraph.distributions.continuous_bernoulli import ContinuousBernoulli
from saraph.distributions.dirichlet import Dirichlet
from saraph.distributions.distribution import Distribution
from saraph.distributions.exp_family import ExponentialFamily
from saraph.distributions.exponential import Exponential
from saraph.distributions.fishersnedecor import FisherSnedecor
from saraph.distributions.gamma import Gamma
from saraph.distributions.generalized_pareto import GeneralizedPareto
from saraph.distributions.geometric import Geometric
from saraph.distributions.gumbel import Gumbel
from saraph.distributions.half_cauchy import HalfCauchy
from saraph.distributions.half_normal import HalfNormal
from saraph.distributions.independent import Independent
from saraph.distributions.inverse_gamma import InverseGamma
from saraph.distributions.kl import kl_divergence, register_kl
from saraph.distributions.kumaraswamy import Kumaraswamy
from saraph.distributions.laplace import Laplace
from saraph.distributions.lkj_cholesky import LKJCholesky
from saraph.distributions.log_normal import LogNormal
from saraph.distributions.logistic_normal import LogisticNormal
from saraph.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from saraph.distributions.mixture_same_family import MixtureSameFamily
from saraph.distributions.multinomial import Multinomial
from saraph.distributions.multivariate_normal import MultivariateNormal
from saraph.distributions.negative_binomial import NegativeBinomial
from saraph.distributions.normal import Normal
from saraph.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from saraph.distributions.pareto import Pareto
from saraph.distributions.poisson import Poisson
from saraph.distributions.relaxed_bernoulli import RelaxedBernoulli
from saraph.distributions.relaxed_categorical import RelaxedOneHotCategorical
from saraph.distributions.studentT import StudentT
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import *
from saraph.distributions.uniform import Uniform
from saraph.distributions.von_mises import VonMises
from saraph.distributions.weibull import Weibull
from saraph.distributions.wishart import Wishart

__all__ = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution", "Exponential",
           "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
           "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
           "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
           "OneHotCategoricalStraightThrough", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform",
           "VonMises", "Weibull", "Wishart", "TransformedDistribution", "biject_to", "kl_divergence", "register_kl", "transform_to"]
__all__ += transforms.__all__
