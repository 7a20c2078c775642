"""Shapes, validation, expansion and the quantities that follow from the base class."""
import copy
import pickle

import pytest

import saraph as torch
from saraph import distributions as D
from saraph.distributions import constraints

MANY = {
    "Bernoulli": lambda: D.Bernoulli(torch.tensor([0.2, 0.7])), "Beta": lambda: D.Beta(torch.tensor([0.5, 2.0]), 1.5),
    "Binomial": lambda: D.Binomial(5, torch.tensor([0.2, 0.7])), "Categorical": lambda: D.Categorical(torch.ones(2, 3)),
    "Cauchy": lambda: D.Cauchy(torch.zeros(2), 1.0), "Chi2": lambda: D.Chi2(torch.tensor([1.0, 2.0])),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(torch.tensor([0.2, 0.7])), "Dirichlet": lambda: D.Dirichlet(torch.ones(2, 3)),
    "Exponential": lambda: D.Exponential(torch.ones(2)), "FisherSnedecor": lambda: D.FisherSnedecor(torch.ones(2), 2.0),
    "Gamma": lambda: D.Gamma(torch.ones(2), 2.0), "GeneralizedPareto": lambda: D.GeneralizedPareto(0.0, 1.0, torch.tensor([0.3, -0.3])),
    "Geometric": lambda: D.Geometric(torch.tensor([0.2, 0.7])), "Gumbel": lambda: D.Gumbel(torch.zeros(2), 1.0),
    "HalfCauchy": lambda: D.HalfCauchy(torch.ones(2)), "HalfNormal": lambda: D.HalfNormal(torch.ones(2)),
    "Independent": lambda: D.Independent(D.Normal(torch.zeros(2, 3), 1.0), 1), "InverseGamma": lambda: D.InverseGamma(torch.ones(2), 2.0),
    "Kumaraswamy": lambda: D.Kumaraswamy(torch.ones(2), 2.0), "LKJCholesky": lambda: D.LKJCholesky(3, torch.ones(2)),
    "Laplace": lambda: D.Laplace(torch.zeros(2), 1.0), "LogNormal": lambda: D.LogNormal(torch.zeros(2), 1.0),
    "LogisticNormal": lambda: D.LogisticNormal(torch.zeros(2, 3), 1.0),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(torch.zeros(2, 3), torch.ones(3, 1), torch.ones(3)),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(D.Categorical(torch.ones(2, 3)), D.Normal(torch.zeros(2, 3), 1.0)),
    "Multinomial": lambda: D.Multinomial(4, torch.ones(2, 3)), "MultivariateNormal": lambda: D.MultivariateNormal(torch.zeros(2, 3), torch.eye(3)),
    "NegativeBinomial": lambda: D.NegativeBinomial(3.0, torch.tensor([0.2, 0.7])), "Normal": lambda: D.Normal(torch.zeros(2), 1.0),
    "OneHotCategorical": lambda: D.OneHotCategorical(torch.ones(2, 3)),
    "OneHotCategoricalStraightThrough": lambda: D.OneHotCategoricalStraightThrough(torch.ones(2, 3)),
    "Pareto": lambda: D.Pareto(torch.ones(2), 2.0), "Poisson": lambda: D.Poisson(torch.ones(2)),
    "RelaxedBernoulli": lambda: D.RelaxedBernoulli(torch.tensor(0.7), torch.tensor([0.2, 0.7])),
    "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(torch.tensor(0.7), torch.ones(2, 3)),
    "StudentT": lambda: D.StudentT(torch.tensor([1.0, 3.0])),
    "TransformedDistribution": lambda: D.TransformedDistribution(D.Normal(torch.zeros(2), 1.0), [D.ExpTransform(), D.AffineTransform(1.0, -2.0)]),
    "Uniform": lambda: D.Uniform(torch.zeros(2), 1.0), "VonMises": lambda: D.VonMises(torch.zeros(2), 1.0),
    "Weibull": lambda: D.Weibull(torch.ones(2), 2.0), "Wishart": lambda: D.Wishart(torch.tensor([4.0, 5.0]), torch.eye(2)),
}


def test_all_are_here():
    classes = {n for n in D.__all__ if isinstance(getattr(D, n), type) and issubclass(getattr(D, n), D.Distribution)}
    assert classes - {"Distribution", "ExponentialFamily"} == set(MANY)


@pytest.mark.parametrize("name", MANY)
def test_shapes_support_and_seed(name):
    d = MANY[name]()
    torch.manual_seed(3)
    x = d.sample((5, 4))
    assert d.batch_shape == (2,) and x.shape == (5, 4, 2, *d.event_shape) and not x.requires_grad
    assert d.support.check(x).all() and d.support.event_dim == len(d.event_shape)
    log_prob = d.log_prob(x)
    assert log_prob.shape == (5, 4, 2) and torch.isfinite(log_prob).all()
    torch.manual_seed(3)
    assert torch.equal(d.sample((5, 4)), x)
    assert d.sample().shape == d.batch_shape + d.event_shape


@pytest.mark.parametrize("name", MANY)
def test_expand(name):
    d = MANY[name]()
    wide = d.expand((3, 2))
    assert type(wide) is type(d) and wide.batch_shape == (3, 2) and wide.event_shape == d.event_shape
    x = wide.sample((4,))
    assert x.shape == (4, 3, 2, *d.event_shape)
    assert torch.allclose(wide.log_prob(x), d.log_prob(x), rtol=1e-4, atol=1e-5)
    for quantity in ("mean", "variance"):
        try:
            ours = getattr(d, quantity)
        except NotImplementedError:
            continue
        assert torch.allclose(getattr(wide, quantity), ours.expand((3, *ours.shape)), equal_nan=True)


@pytest.mark.parametrize("name", MANY)
def test_copies_and_pickles(name):
    d = MANY[name]()
    x = d.sample()
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert type(other) is type(d) and torch.equal(other.log_prob(x), d.log_prob(x))


@pytest.mark.parametrize("name", [n for n in MANY if MANY[n]().has_rsample])
def test_rsample_is_differentiable(name):
    d = MANY[name]()
    assert d.rsample((3,)).shape == d.sample((3,)).shape


@pytest.mark.parametrize("name", [n for n in MANY if MANY[n]().has_enumerate_support])
def test_enumerated_probabilities_add_up(name):
    d = MANY[name]()
    values = d.enumerate_support()
    assert values.shape[1:] == d.batch_shape + d.event_shape
    assert torch.allclose(d.log_prob(values).exp().sum(0), torch.ones(2))
    assert d.enumerate_support(expand=False).shape[1:] == (1,) * len(d.batch_shape) + tuple(d.event_shape)


def test_parameters_are_validated():
    with pytest.raises(ValueError, match=r"Expected parameter scale \(Tensor of shape \(2,\)\) of distribution Normal\(loc: saraph.Size\(\[2\]\)|"
                                         r"Expected parameter scale \(Tensor of shape \(2,\)\) of distribution Normal\(loc: torch.Size\(\[2\]\)"):
        D.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    with pytest.raises(ValueError, match="LessThan"):
        D.Uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="to be positive but found invalid values"):
        D.Geometric(torch.tensor([0.5, 0.0]))
    with pytest.raises(ValueError, match="Either `probs` or `logits` must be specified, but not both."):
        D.Bernoulli()
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        D.Categorical(torch.ones(2), torch.ones(2))
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Categorical(torch.tensor(0.5))
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix"):
        D.MultivariateNormal(torch.zeros(2))
    with pytest.raises(ValueError, match="PositiveDefinite"):
        D.MultivariateNormal(torch.zeros(2), -torch.eye(2))
    with pytest.raises(ValueError, match="expected to be greater than ndim - 1"):
        D.Wishart(torch.tensor(1.0), torch.eye(3))


def test_values_are_validated():
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.Normal(0.0, 1.0).log_prob(1.0)
    with pytest.raises(ValueError, match=r"Value is not broadcastable with batch_shape\+event_shape"):
        D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))
    with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
        D.Dirichlet(torch.ones(3)).log_prob(torch.ones(2) / 2)
    with pytest.raises(ValueError, match="within the support"):
        D.Gamma(1.0, 1.0).log_prob(torch.tensor(-1.0))
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor(2.0)) == -torch.inf


def test_default_of_validation():
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        D.Distribution.set_default_validate_args(3)


def test_what_a_subclass_does_not_say():
    class Silent(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        silent = Silent()
    for call in (silent.sample, silent.entropy, lambda: silent.mean, lambda: silent.log_prob(torch.zeros(1)), lambda: silent.support):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_a_subclass_with_its_own_init_needs_its_own_expand():
    class Mine(D.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match=r"custom __init__ method must also define a custom .expand\(\) method"):
        Mine(torch.zeros(2)).expand((3, 2))


def test_repr():
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Independent(D.Normal(0.0, torch.ones(3)), 1)).startswith("Independent(Normal(loc: ")


def test_lazy_properties_keep_gradients():
    logits = torch.tensor([0.5], requires_grad=True)
    d = D.Bernoulli(logits=logits)
    with torch.no_grad():
        probs = d.probs
    assert probs is d.probs and probs.requires_grad
    assert isinstance(D.Bernoulli.probs, property) and "probability" in D.Bernoulli.probs.__doc__


def test_parameters_stay_the_leaves_they_are():
    loc, scale = torch.zeros(3, requires_grad=True), torch.ones(3)
    d = D.Normal(loc, scale)
    assert d.loc is loc and d.scale is scale


def test_mixture():
    d = D.MixtureSameFamily(D.Categorical(torch.tensor([1.0, 3.0])), D.Normal(torch.tensor([-1.0, 1.0]), torch.tensor([0.5, 2.0])))
    x = torch.linspace(-12, 12, 20_001)
    density = d.log_prob(x).exp()
    assert torch.trapezoid(density, x).item() == pytest.approx(1, abs=1e-4)
    assert torch.trapezoid(density * x, x).item() == pytest.approx(d.mean.item(), abs=1e-3)
    assert torch.trapezoid(density * (x - d.mean) ** 2, x).item() == pytest.approx(d.variance.item(), abs=1e-2)
    assert d.cdf(torch.tensor(12.0)).item() == pytest.approx(1, abs=1e-5)
    assert isinstance(d.support, constraints.MixtureSameFamilyConstraint)
    with pytest.raises(ValueError, match="does not equal `component_distribution.batch_shape"):
        D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(2), 1.0))


def test_extreme_parameters():
    assert D.Categorical(torch.tensor([0.0, 1.0])).entropy() == pytest.approx(0, abs=1e-5)
    assert D.Multinomial(2, torch.tensor([0.0, 1.0])).log_prob(torch.tensor([0.0, 2.0])).item() == pytest.approx(0, abs=1e-5)
    assert D.Geometric(torch.tensor(1.0)).log_prob(torch.tensor(0.0)) == 0
    assert D.Poisson(torch.tensor(0.0)).log_prob(torch.tensor(0.0)) == 0
    assert D.Bernoulli(torch.tensor(1.0)).log_prob(torch.tensor(1.0)).item() == pytest.approx(0, abs=1e-6)
    assert torch.isfinite(D.Binomial(5, logits=torch.tensor([-200.0, 200.0])).log_prob(torch.tensor([0.0, 5.0]))).all()
    assert D.Beta(torch.tensor(2.0), torch.tensor(3.0)).mode.item() == pytest.approx(1 / 3)
    assert D.Kumaraswamy(torch.tensor(2.0), torch.tensor(3.0)).mode.item() == pytest.approx(0.2 ** 0.5)
