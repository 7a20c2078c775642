"""Divergences against numerical integrals and sums, closed forms, and the rules of dispatch."""
import math

import numpy as np
import pytest
from scipy import integrate

import saraph as torch
from saraph import distributions as D


def t(*values):
    return torch.tensor(values[0] if len(values) == 1 else values, dtype=torch.float64)


P = {
    "Beta": D.Beta(t(1.5), t(2.5)), "ContinuousBernoulli": D.ContinuousBernoulli(t(0.3)), "Exponential": D.Exponential(t(1.2)),
    "Gamma": D.Gamma(t(2.5), t(1.2)), "Gumbel": D.Gumbel(t(0.5), t(0.8)), "Laplace": D.Laplace(t(-0.3), t(0.7)), "Normal": D.Normal(t(0.2), t(1.1)),
    "Pareto": D.Pareto(t(1.5), t(3.5)), "Uniform": D.Uniform(t(0.2), t(0.9)), "HalfNormal": D.HalfNormal(t(0.8)), "Cauchy": D.Cauchy(t(0.8), t(0.5)),
}
Q = {
    "Beta": D.Beta(t(1.2), t(1.7)), "ContinuousBernoulli": D.ContinuousBernoulli(t(0.6)), "Exponential": D.Exponential(t(0.7)),
    "Gamma": D.Gamma(t(1.5), t(0.6)), "Gumbel": D.Gumbel(t(-0.2), t(1.3)), "Laplace": D.Laplace(t(0.4), t(1.1)), "Normal": D.Normal(t(-0.5), t(1.6)),
    "Pareto": D.Pareto(t(0.1), t(0.8)), "Uniform": D.Uniform(t(-3.0), t(2.0)), "HalfNormal": D.HalfNormal(t(1.4)), "Cauchy": D.Cauchy(t(-0.3), t(1.5)),
}
RANGES = {"Beta": (0, 1), "ContinuousBernoulli": (0, 1), "Exponential": (0, np.inf), "Gamma": (0, np.inf), "Pareto": (1.5, np.inf), "Uniform": (0.2, 0.9),
          "HalfNormal": (0, np.inf)}
FINITE = [*[(n, n) for n in P if n != "ContinuousBernoulli"], ("ContinuousBernoulli", "ContinuousBernoulli"), ("Beta", "ContinuousBernoulli"),
          ("Beta", "Exponential"), ("Beta", "Gamma"), ("Beta", "Normal"), ("Beta", "Uniform"), ("ContinuousBernoulli", "Exponential"),
          ("ContinuousBernoulli", "Normal"), ("ContinuousBernoulli", "Uniform"), ("Exponential", "Gamma"), ("Exponential", "Gumbel"),
          ("Exponential", "Normal"), ("Gamma", "Exponential"), ("Gamma", "Gumbel"), ("Gamma", "Normal"), ("Gumbel", "Normal"), ("Laplace", "Normal"),
          ("Normal", "Gumbel"), ("Normal", "Laplace"), ("Pareto", "Exponential"), ("Pareto", "Gamma"), ("Pareto", "Normal"), ("Uniform", "Beta"),
          ("Uniform", "ContinuousBernoulli"), ("Uniform", "Exponential"), ("Uniform", "Gamma"), ("Uniform", "Gumbel"), ("Uniform", "Normal"),
          ("Uniform", "Pareto")]


@pytest.mark.parametrize("a, b", FINITE)
def test_integral(a, b):
    p, q = P[a], Q[b]

    low, high = RANGES.get(a, (-np.inf, np.inf))
    # Gauss-Legendre with 12 places in each of 400 panels of u in (-1, 1), mapped onto the range
    places, weights = np.polynomial.legendre.leggauss(12)
    u = ((np.arange(400)[:, None] + (places + 1) / 2) / 200 - 1).ravel()
    w = np.tile(weights / 400, 400)
    if np.isinf(low):
        x, dx = u / (1 - u * u), (1 + u * u) / (1 - u * u) ** 2
    elif np.isinf(high):
        v = (u + 1) / 2
        x, dx = low + v / (1 - v), 0.5 / (1 - v) ** 2
    else:
        x, dx = low + (high - low) * (u + 1) / 2, np.full_like(u, (high - low) / 2)
    at = torch.from_numpy(x)
    log_p, log_q = p.log_prob(at).numpy(), q.log_prob(at).numpy()
    inside = log_p > -700
    expected = np.sum((w * dx * np.exp(log_p) * (log_p - log_q))[inside])
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=2e-3, abs=1e-6)


INFINITE = [("Beta", "Pareto"), ("Exponential", "Uniform"), ("Gamma", "Beta"), ("Gumbel", "Exponential"), ("Laplace", "Gamma"), ("Normal", "Uniform"),
            ("Normal", "Beta"), ("Pareto", "Beta"), ("Exponential", "Pareto")]


@pytest.mark.parametrize("a, b", INFINITE)
def test_outside_the_support(a, b):
    assert D.kl_divergence(P[a], Q[b]) == math.inf


@pytest.mark.parametrize("p, q", [
    (D.Bernoulli(t(0.2, 0.7)), D.Bernoulli(t(0.6, 0.1))), (D.Binomial(5, t(0.2, 0.7)), D.Binomial(5, t(0.5, 0.1))),
    (D.Categorical(t([[0.2, 0.7, 0.1]] * 2)), D.Categorical(t(0.3, 0.3, 0.4))),
    (D.OneHotCategorical(t([[0.2, 0.7, 0.1]] * 2)), D.OneHotCategorical(t(0.3, 0.3, 0.4))),
], ids=lambda d: type(d).__name__)
def test_sum(p, q):
    values = p.enumerate_support()
    log_p = p.log_prob(values)
    assert torch.allclose(D.kl_divergence(p, q), (log_p.exp() * (log_p - q.log_prob(values))).sum(0))


def test_sum_without_end():
    k = torch.arange(400, dtype=torch.float64)
    for p, q in ((D.Poisson(t(2.5)), D.Poisson(t(4.0))), (D.Geometric(t(0.3)), D.Geometric(t(0.6)))):
        log_p = p.log_prob(k)
        assert D.kl_divergence(p, q).item() == pytest.approx((log_p.exp() * (log_p - q.log_prob(k))).sum().item(), rel=1e-9)
    assert D.kl_divergence(D.Bernoulli(t(0.3)), D.Poisson(t(0.7))).item() == pytest.approx(
        0.7 * (math.log(0.7) + 0.7) + 0.3 * (math.log(0.3) + 0.7 - math.log(0.7)))
    assert D.kl_divergence(D.Poisson(t(0.7)), D.Bernoulli(t(0.3))) == math.inf
    assert D.kl_divergence(D.Bernoulli(t(0.5)), D.Bernoulli(t(0.0))) == math.inf
    assert D.kl_divergence(D.Categorical(t(0.5, 0.5, 0.0)), D.Categorical(t(0.2, 0.8, 0.0))) < math.inf


def test_normals_of_vectors():
    """The closed form, whichever way the two covariances are given."""
    factor, diagonal = t([[0.5], [1.0], [-0.3]]), t(0.3, 0.4, 1.0)
    ours = D.LowRankMultivariateNormal(t(1.0, 0.0, -1.0), factor, diagonal)
    theirs = D.LowRankMultivariateNormal(t(0.0, 0.5, -1.0), t([[0.1], [0.2], [0.7]]), t(1.0, 0.5, 0.6))
    full = [D.MultivariateNormal(d.loc, d.covariance_matrix) for d in (ours, theirs)]
    cp, cq = (d.covariance_matrix.numpy() for d in full)
    off = (theirs.loc - ours.loc).numpy()
    inverse = np.linalg.inv(cq)
    expected = 0.5 * (np.trace(inverse @ cp) + off @ inverse @ off - 3 + np.log(np.linalg.det(cq) / np.linalg.det(cp)))
    for p in (ours, full[0]):
        for q in (theirs, full[1]):
            assert D.kl_divergence(p, q).item() == pytest.approx(expected)
    with pytest.raises(ValueError, match="different event shapes"):
        D.kl_divergence(full[0], D.MultivariateNormal(torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)))


def test_dirichlet_of_two_is_beta():
    assert torch.allclose(D.kl_divergence(D.Dirichlet(t(1.5, 2.5)), D.Dirichlet(t(1.2, 1.7))), D.kl_divergence(P["Beta"], Q["Beta"]))


def test_wrapped():
    p, q = D.Normal(t(0.2, 0.7), t(1.0, 2.0)), D.Normal(t(1.0, 1.0), t(0.5, 0.5))
    each = D.kl_divergence(p, q)
    assert torch.allclose(D.kl_divergence(D.Independent(p, 1), D.Independent(q, 1)), each.sum())
    assert torch.allclose(D.kl_divergence(D.LogNormal(p.loc, p.scale), D.LogNormal(q.loc, q.scale)), each)
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Independent(p, 1), D.Independent(q, 0))
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.TransformedDistribution(p, D.ExpTransform()), D.TransformedDistribution(q, D.TanhTransform()))


def test_exponential_families_by_bregman():
    """The general formula agrees with the special one, and serves a family without one of its own."""
    from saraph.distributions.kl import _kl_expfamily_expfamily
    for name in ("Normal", "Gamma", "Exponential", "Beta"):
        assert _kl_expfamily_expfamily(P[name], Q[name]).item() == pytest.approx(D.kl_divergence(P[name], Q[name]).item())
    with pytest.raises(NotImplementedError, match="The cross KL-divergence between different exponential families"):
        D.kl_divergence(P["Normal"], D.Bernoulli(t(0.5)))


def test_dispatch():
    class Base(D.Distribution):
        arg_constraints = {}

    class Left(Base):
        pass

    @D.register_kl(Base, Base)
    def general(p, q):
        return "general"

    assert D.kl_divergence(Left(), Left()) == "general"

    @D.register_kl(Left, Base)
    def left(p, q):
        return "left"

    @D.register_kl(Base, Left)
    def right(p, q):
        return "right"

    assert D.kl_divergence(Left(), Base()) == "left" and D.kl_divergence(Base(), Left()) == "right"
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        assert D.kl_divergence(Left(), Left()) == "left"
    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type Base and q type Normal"):
        D.kl_divergence(Base(), P["Normal"])
    with pytest.raises(TypeError):
        D.register_kl(3, Base)


def test_gradients():
    a, b = t(1.5).requires_grad_(), t(2.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: D.kl_divergence(D.Gamma(a, b), D.Gamma(b, a)), (a, b))
    assert torch.autograd.gradcheck(lambda a, b: D.kl_divergence(D.Normal(a, b), D.Laplace(b, a)), (a, b))


def test_scipy_agrees_once():
    """One integral by an independent integrator."""
    def integrand(x):
        return (P["Gamma"].log_prob(t(x)).exp() * (P["Gamma"].log_prob(t(x)) - Q["Gamma"].log_prob(t(x)))).item()

    assert D.kl_divergence(P["Gamma"], Q["Gamma"]).item() == pytest.approx(integrate.quad(integrand, 0, 40, limit=60)[0], rel=1e-6)
