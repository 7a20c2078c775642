"""Densities, distribution functions, quantiles, moments and entropies against scipy.stats, for every distribution that it has."""
import numpy as np
import pytest
from scipy import stats

import saraph as torch
from saraph import distributions as D


def t(*values):
    return torch.tensor(values, dtype=torch.float64)


CONTINUOUS = {
    "beta": (lambda: D.Beta(t(0.5, 3.0), t(2.0, 1.5)), lambda: stats.beta([0.5, 3.0], [2.0, 1.5]), [0.2, 0.7]),
    "cauchy": (lambda: D.Cauchy(t(0.5, -3.0), t(2.0, 1.5)), lambda: stats.cauchy([0.5, -3.0], [2.0, 1.5]), [0.2, 7.0]),
    "chi2": (lambda: D.Chi2(t(0.7, 5.0)), lambda: stats.chi2([0.7, 5.0]), [0.2, 7.0]),
    "exponential": (lambda: D.Exponential(t(0.5, 3.0)), lambda: stats.expon(scale=[2.0, 1 / 3]), [0.2, 1.7]),
    "f": (lambda: D.FisherSnedecor(t(3.0, 5.0), t(6.0, 9.0)), lambda: stats.f([3.0, 5.0], [6.0, 9.0]), [0.2, 1.7]),
    "gamma": (lambda: D.Gamma(t(0.5, 3.0), t(2.0, 1.5)), lambda: stats.gamma([0.5, 3.0], scale=[0.5, 1 / 1.5]), [0.2, 1.7]),
    "generalized pareto": (lambda: D.GeneralizedPareto(t(0.5, 1.0, 0.0), t(2.0, 1.5, 1.0), t(0.3, -0.4, 0.0)),
                           lambda: stats.genpareto([0.3, -0.4, 0.0], [0.5, 1.0, 0.0], [2.0, 1.5, 1.0]), [0.7, 1.7, 2.0]),
    "gumbel": (lambda: D.Gumbel(t(0.5, -3.0), t(2.0, 1.5)), lambda: stats.gumbel_r([0.5, -3.0], [2.0, 1.5]), [0.2, 1.7]),
    "half cauchy": (lambda: D.HalfCauchy(t(0.5, 3.0)), lambda: stats.halfcauchy(scale=[0.5, 3.0]), [0.2, 1.7]),
    "half normal": (lambda: D.HalfNormal(t(0.5, 3.0)), lambda: stats.halfnorm(scale=[0.5, 3.0]), [0.2, 1.7]),
    "inverse gamma": (lambda: D.InverseGamma(t(2.5, 3.0), t(2.0, 1.5)), lambda: stats.invgamma([2.5, 3.0], scale=[2.0, 1.5]), [0.2, 1.7]),
    "laplace": (lambda: D.Laplace(t(0.5, -3.0), t(2.0, 1.5)), lambda: stats.laplace([0.5, -3.0], [2.0, 1.5]), [0.2, 1.7]),
    "log normal": (lambda: D.LogNormal(t(0.5, -0.3), t(0.6, 0.5)), lambda: stats.lognorm([0.6, 0.5], scale=np.exp([0.5, -0.3])), [0.2, 1.7]),
    "normal": (lambda: D.Normal(t(0.5, -3.0), t(2.0, 1.5)), lambda: stats.norm([0.5, -3.0], [2.0, 1.5]), [0.2, -4.7]),
    "pareto": (lambda: D.Pareto(t(0.5, 3.0), t(2.5, 3.5)), lambda: stats.pareto([2.5, 3.5], scale=[0.5, 3.0]), [0.8, 4.7]),
    "student": (lambda: D.StudentT(t(2.5, 3.0), t(0.5, -1.0), t(2.0, 1.5)), lambda: stats.t([2.5, 3.0], [0.5, -1.0], [2.0, 1.5]), [0.8, -4.7]),
    "uniform": (lambda: D.Uniform(t(0.5, -1.0), t(2.0, 1.5)), lambda: stats.uniform([0.5, -1.0], [1.5, 2.5]), [0.8, 0.7]),
    "von mises": (lambda: D.VonMises(t(0.5, -1.0), t(2.0, 0.5)), lambda: stats.vonmises([2.0, 0.5], [0.5, -1.0]), [0.8, 0.7]),
    "weibull": (lambda: D.Weibull(t(0.5, 1.0), t(2.0, 0.7)), lambda: stats.weibull_min([2.0, 0.7], scale=[0.5, 1.0]), [0.8, 0.7]),
}
DISCRETE = {
    "bernoulli": (lambda: D.Bernoulli(t(0.2, 0.7)), lambda: stats.bernoulli([0.2, 0.7]), [1, 0]),
    "binomial": (lambda: D.Binomial(6, t(0.2, 0.7)), lambda: stats.binom(6, [0.2, 0.7]), [1, 6]),
    "geometric": (lambda: D.Geometric(t(0.2, 0.7)), lambda: stats.geom([0.2, 0.7], loc=-1), [0, 3]),
    "negative binomial": (lambda: D.NegativeBinomial(t(2.0, 3.5), t(0.2, 0.7)), lambda: stats.nbinom([2.0, 3.5], [0.8, 0.3]), [0, 3]),
    "poisson": (lambda: D.Poisson(t(0.2, 7.0)), lambda: stats.poisson([0.2, 7.0]), [0, 3]),
}
WITHOUT_CDF = {"beta", "f", "student", "von mises"}


def check_close(ours, theirs, rtol=1e-9):
    np.testing.assert_allclose(ours.numpy(), np.asarray(theirs, dtype=np.float64), rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density(name):
    ours, theirs, at = CONTINUOUS[name]
    check_close(ours().log_prob(t(*at)), theirs().logpdf(at), 1e-8)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities(name):
    ours, theirs, at = DISCRETE[name]
    check_close(ours().log_prob(t(*at)), theirs().logpmf(at))


@pytest.mark.parametrize("name", sorted(set(CONTINUOUS) - WITHOUT_CDF))
def test_cdf(name):
    ours, theirs, at = CONTINUOUS[name]
    check_close(ours().cdf(t(*at)), theirs().cdf(at), 1e-8)


@pytest.mark.parametrize("name", sorted(set(CONTINUOUS) - WITHOUT_CDF - {"gamma", "chi2", "inverse gamma"}))
def test_quantiles(name):
    ours, theirs, at = CONTINUOUS[name]
    check_close(ours().icdf(torch.full((len(at),), 0.3, dtype=torch.float64)), theirs().ppf(0.3), 1e-8)


@pytest.mark.parametrize("name", sorted((set(CONTINUOUS) | set(DISCRETE)) - {"cauchy", "half cauchy", "von mises"}))
def test_moments(name):
    ours, theirs, _ = {**CONTINUOUS, **DISCRETE}[name]
    check_close(ours().mean, theirs().mean(), 1e-8)
    check_close(ours().variance, theirs().var(), 1e-8)
    check_close(ours().stddev, theirs().std(), 1e-8)


@pytest.mark.parametrize("name", sorted((set(CONTINUOUS) | {"bernoulli", "binomial", "geometric"}) - {"f", "von mises"}))
def test_entropy(name):
    ours, theirs, _ = {**CONTINUOUS, **DISCRETE}[name]
    check_close(ours().entropy(), theirs().entropy(), 1e-7)
    check_close(ours().perplexity(), np.exp(theirs().entropy()), 1e-7)


def test_vectors():
    weights = [0.2, 0.5, 0.3]
    check_close(D.Dirichlet(t(0.5, 2.0, 3.0)).log_prob(t(*weights)), stats.dirichlet([0.5, 2.0, 3.0]).logpdf(weights))
    check_close(D.Dirichlet(t(0.5, 2.0, 3.0)).entropy(), stats.dirichlet([0.5, 2.0, 3.0]).entropy())
    check_close(D.Multinomial(5, t(*weights)).log_prob(t(1, 3, 1)), stats.multinomial(5, weights).logpmf([1, 3, 1]))
    check_close(D.Multinomial(5, t(*weights)).entropy(), stats.multinomial(5, weights).entropy())
    check_close(D.Categorical(t(*weights)).entropy(), stats.entropy(weights))
    check_close(D.Categorical(logits=t(0.0, 1.0)).log_prob(torch.tensor([0, 1])), -np.log1p(np.exp([1.0, -1.0])))


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal(given):
    covariance = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.7]])
    matrix = {"covariance_matrix": covariance, "precision_matrix": np.linalg.inv(covariance), "scale_tril": np.linalg.cholesky(covariance)}[given]
    ours = D.MultivariateNormal(t(1.0, 0.0, -1.0), **{given: torch.from_numpy(matrix)})
    theirs = stats.multivariate_normal([1.0, 0.0, -1.0], covariance)
    at = np.array([[0.3, 0.2, 0.1], [1.0, -1.0, 2.0]])
    check_close(ours.log_prob(torch.from_numpy(at)), theirs.logpdf(at))
    check_close(ours.entropy(), theirs.entropy())
    check_close(ours.covariance_matrix, covariance)
    check_close(ours.precision_matrix, np.linalg.inv(covariance), 1e-8)
    check_close(ours.scale_tril, np.linalg.cholesky(covariance))
    check_close(ours.variance, np.diag(covariance))


def test_low_rank_is_the_full_normal():
    factor, diagonal = np.array([[0.5], [1.0], [-0.3]]), np.array([0.3, 0.4, 1.0])
    ours = D.LowRankMultivariateNormal(t(1.0, 0.0, -1.0), torch.from_numpy(factor), torch.from_numpy(diagonal))
    covariance = factor @ factor.T + np.diag(diagonal)
    at = np.array([[0.3, 0.2, 0.1], [1.0, -1.0, 2.0]])
    check_close(ours.log_prob(torch.from_numpy(at)), stats.multivariate_normal([1.0, 0.0, -1.0], covariance).logpdf(at))
    check_close(ours.entropy(), stats.multivariate_normal([1.0, 0.0, -1.0], covariance).entropy())
    check_close(ours.scale_tril, np.linalg.cholesky(covariance))
    check_close(ours.precision_matrix, np.linalg.inv(covariance), 1e-8)
    check_close(ours.covariance_matrix, covariance)


def test_wishart():
    scale, at = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, 0.2], [0.2, 4.0]])
    ours, theirs = D.Wishart(torch.tensor(5.0, dtype=torch.float64), torch.from_numpy(scale)), stats.wishart(5, scale)
    check_close(ours.log_prob(torch.from_numpy(at)), theirs.logpdf(at))
    check_close(ours.entropy(), theirs.entropy())
    check_close(ours.mean, theirs.mean())
    check_close(ours.variance, theirs.var())
    check_close(ours.mode, theirs.mode())


def test_densities_integrate_to_one():
    x = torch.linspace(1e-6, 1 - 1e-6, 200_001, dtype=torch.float64)
    for ours in (D.Kumaraswamy(t(2.0), t(3.0)), D.ContinuousBernoulli(t(0.3)), D.ContinuousBernoulli(logits=t(1e-4)), D.RelaxedBernoulli(t(0.9), t(0.4))):
        density = ours.log_prob(x).exp()
        assert torch.trapezoid(density, x).item() == pytest.approx(1, abs=1e-4)
    for ours in (D.Kumaraswamy(t(2.0), t(3.0)), D.ContinuousBernoulli(t(0.3))):
        density = ours.log_prob(x).exp()
        assert torch.trapezoid(density * x, x).item() == pytest.approx(ours.mean.item(), abs=1e-5)
        assert torch.trapezoid(-density * density.log(), x).item() == pytest.approx(ours.entropy().item(), abs=1e-4)
        assert ours.cdf(ours.icdf(t(0.2, 0.9))).tolist() == pytest.approx([0.2, 0.9])


def test_relaxed_one_hot_integrates_to_one():
    x = torch.linspace(1e-6, 1 - 1e-6, 100_001, dtype=torch.float64)
    ours = D.RelaxedOneHotCategorical(torch.tensor(0.9, dtype=torch.float64), t(0.4, 0.6))
    assert torch.trapezoid(ours.log_prob(torch.stack([x, 1 - x], -1)).exp(), x).item() == pytest.approx(1, abs=1e-4)


def test_lkj_of_two_rows():
    """The correlation of a 2 x 2 matrix is 2 b - 1 for a beta number b."""
    correlation = np.array([-0.5, 0.3])
    factor = np.stack([np.array([[1, 0], [c, np.sqrt(1 - c * c)]]) for c in correlation])
    # the entry L_10 is the correlation itself, so the densities agree
    expected = stats.beta(1.5, 1.5, -1, 2).logpdf(correlation)
    check_close(D.LKJCholesky(2, t(1.5)[0]).log_prob(torch.from_numpy(factor)), expected)


def test_bregman_entropy():
    """The entropy that exponential families inherit agrees with the closed forms."""
    for ours in (D.Normal(t(0.5), t(2.0)), D.Gamma(t(0.5, 3.0), t(2.0, 1.5)), D.Exponential(t(2.0)), D.Bernoulli(t(0.3)), D.ContinuousBernoulli(t(0.3))):
        check_close(D.ExponentialFamily.entropy(ours).detach(), ours.entropy().numpy(), 1e-8)
