"""Transforms: round trips, log-determinants by autograd, shapes, caches, composition; and the registry of constraints."""
import pytest

import saraph as torch
from saraph import distributions as D
from saraph.distributions import constraints, transforms

F64 = torch.float64
SCALARS = [transforms.ExpTransform(), transforms.SigmoidTransform(), transforms.SoftplusTransform(), transforms.TanhTransform(),
           transforms.AffineTransform(1.0, -2.0), transforms.PowerTransform(torch.tensor(2.5, dtype=F64)),
           transforms.CumulativeDistributionTransform(D.Normal(torch.tensor(0.5, dtype=F64), 2.0)),
           transforms.ComposeTransform([transforms.AffineTransform(0.5, 2.0), transforms.TanhTransform()]), transforms.ExpTransform().inv]
VECTORS = [(transforms.StickBreakingTransform(), 3), (transforms.CorrCholeskyTransform(), 6),
           (transforms.IndependentTransform(transforms.ExpTransform(), 1), 3),
           (transforms.ComposeTransform([transforms.AffineTransform(0.5, 2.0), transforms.StickBreakingTransform()]), 3)]


def start(t, *shape):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=F64) * 0.7
    return x.abs() + 0.1 if t.domain is constraints.positive else x


@pytest.mark.parametrize("t", SCALARS, ids=repr)
def test_numbers(t):
    x = start(t, 4, 3).requires_grad_()
    y = t(x)
    assert t.codomain.check(y).all() and t.bijective and t.event_dim == 0
    assert torch.allclose(t.inv(y), x) and t.inv.inv is t
    (slope,) = torch.autograd.grad(y.sum(), x)
    assert torch.allclose(t.log_abs_det_jacobian(x, y), slope.abs().log())
    assert torch.allclose(t.inv.log_abs_det_jacobian(y, x), -slope.abs().log())
    assert (slope.sign() == t.sign).all()
    assert t.forward_shape((4, 3)) == (4, 3) and t.inverse_shape((4, 3)) == (4, 3)


@pytest.mark.parametrize("t, n", VECTORS, ids=repr)
def test_vectors(t, n):
    x = start(t, 2, n)
    y = t(x)
    assert t.codomain.check(y).all() and torch.allclose(t.inv(y), x)
    assert y.shape == t.forward_shape(x.shape) and t.inverse_shape(y.shape) == x.shape

    def free(x):
        """As many coordinates as x has."""
        y = t(x)
        if y.dim() > x.dim():
            return y[torch.tril_indices(y.shape[-1], y.shape[-1], -1).unbind(0)]
        return y[:n]

    for row in range(2):
        jacobian = torch.autograd.functional.jacobian(free, x[row])
        assert torch.allclose(t.log_abs_det_jacobian(x, y)[row], torch.linalg.slogdet(jacobian)[1], atol=1e-7)


@pytest.mark.parametrize("t", [transforms.SoftmaxTransform(), transforms.LowerCholeskyTransform(), transforms.PositiveDefiniteTransform(),
                               transforms.AbsTransform(), transforms.ReshapeTransform((3, 3), (9,))], ids=repr)
def test_one_sided(t):
    x = start(t, 2, 3, 3)
    y = t(x)
    assert t.codomain.check(y).all()
    assert torch.allclose(t(t.inv(y)), y)


def test_cat_and_stack():
    x = torch.randn(2, 5, dtype=F64)
    cat = transforms.CatTransform([transforms.ExpTransform(), transforms.AffineTransform(1.0, 3.0)], dim=-1, lengths=[2, 3])
    y = cat(x)
    assert torch.allclose(y, torch.cat([x[:, :2].exp(), 1 + 3 * x[:, 2:]], -1)) and torch.allclose(cat.inv(y), x) and cat.length == 5
    assert torch.allclose(cat.log_abs_det_jacobian(x, y)[:, 2:].exp(), torch.tensor(3.0, dtype=F64))
    assert cat.codomain.check(y).all() and cat.bijective
    stack = transforms.StackTransform([transforms.ExpTransform(), transforms.AffineTransform(1.0, 3.0)], dim=0)
    y = stack(x)
    assert torch.allclose(y, torch.stack([x[0].exp(), 1 + 3 * x[1]])) and torch.allclose(stack.inv(y), x)
    assert stack.log_abs_det_jacobian(x, y).shape == x.shape and stack.domain.check(x).all()
    with pytest.raises(AssertionError, match="must equal"):
        stack(torch.zeros(3))


def test_cache():
    t = transforms.TanhTransform(cache_size=1)
    x = torch.tensor([30.0])
    assert t.inv(t(x)) is x and t.with_cache(1) is t and t.with_cache(0)._cache_size == 0
    assert transforms.TanhTransform().inv(transforms.TanhTransform()(x)) == torch.inf
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        transforms.ExpTransform(cache_size=2)
    y = torch.tensor([0.5])
    both = transforms.ComposeTransform([transforms.ExpTransform(), transforms.SigmoidTransform()], cache_size=1)
    assert both(both.inv(y)) is y


def test_equality_and_text():
    assert transforms.ExpTransform() == transforms.ExpTransform() != transforms.TanhTransform()
    assert transforms.AffineTransform(1, 2) == transforms.AffineTransform(torch.tensor(1), 2) != transforms.AffineTransform(1, 3)
    assert repr(transforms.ExpTransform().inv) == "_InverseTransform(ExpTransform())"
    assert repr(transforms.ComposeTransform([transforms.ExpTransform()])) == "ComposeTransform(\n    ExpTransform()\n)"
    assert D.identity_transform == transforms.ComposeTransform([]) and D.identity_transform(3) == 3


def test_log_det_of_mixed_event_dims():
    t = transforms.ComposeTransform([transforms.ExpTransform(), transforms.StickBreakingTransform().inv.inv])
    x = torch.randn(2, 3, dtype=F64)
    assert t.domain.event_dim == t.codomain.event_dim == 1 and t.log_abs_det_jacobian(x, t(x)).shape == (2,)


def test_errors():
    with pytest.raises(ValueError, match="different numbers of elements"):
        transforms.ReshapeTransform((2, 3), (5,))
    with pytest.raises(ValueError, match="Shape mismatch"):
        transforms.ReshapeTransform((2, 3), (6,)).forward_shape((2, 4))
    with pytest.raises(ValueError, match="not a flattened lower-diagonal number"):
        transforms.CorrCholeskyTransform().forward_shape((5,))
    with pytest.raises(ValueError, match="Too few dimensions"):
        transforms.IndependentTransform(transforms.ExpTransform(), 1)(torch.tensor(1.0))
    with pytest.raises(NotImplementedError):
        transforms.AbsTransform().log_abs_det_jacobian(torch.ones(1), torch.ones(1))
    with pytest.raises(ValueError, match="transforms must be a Transform or list"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), 3)


def test_transformed_distribution_against_log_normal():
    base = D.Normal(torch.tensor([0.5, -0.2], dtype=F64), torch.tensor(0.6, dtype=F64))
    ours, known = D.TransformedDistribution(base, transforms.ExpTransform()), D.LogNormal(base.loc, base.scale)
    x = torch.tensor([0.7, 2.0], dtype=F64)
    assert torch.allclose(ours.log_prob(x), known.log_prob(x)) and torch.allclose(ours.icdf(ours.cdf(x)), x)
    falling = D.TransformedDistribution(base, [transforms.AffineTransform(0.0, -1.0)])
    assert torch.allclose(falling.cdf(x), 1 - base.cdf(-x)) and torch.allclose(falling.icdf(falling.cdf(x)), x)
    wide = D.TransformedDistribution(D.Normal(0.0, 1.0), transforms.AffineTransform(torch.zeros(3), 1.0))
    assert wide.batch_shape == (3,) and wide.sample().shape == (3,)


CONSTRAINED = [constraints.real, constraints.positive, constraints.nonnegative, constraints.greater_than(2.0), constraints.less_than(-1.0),
               constraints.unit_interval, constraints.interval(-1.0, 3.0), constraints.half_open_interval(2.0, 4.0), constraints.simplex,
               constraints.real_vector, constraints.independent(constraints.positive, 1)]


@pytest.mark.parametrize("constraint", CONSTRAINED, ids=repr)
@pytest.mark.parametrize("registry", [D.biject_to, D.transform_to], ids=["biject_to", "transform_to"])
def test_registry(constraint, registry):
    t = registry(constraint)
    x = torch.randn(4, 3, dtype=F64)
    y = t(x)
    assert constraint.check(y).all() and torch.allclose(t(t.inv(y)), y)
    if registry is D.biject_to:
        assert t.bijective and torch.allclose(t.inv(y), x)
        assert t.log_abs_det_jacobian(x, y).shape == x.shape[:2 - t.domain.event_dim]


def test_registry_of_matrices():
    x = torch.randn(3, 3, dtype=F64)
    for constraint in (constraints.lower_cholesky, constraints.positive_definite, constraints.positive_semidefinite):
        assert constraint.check(D.transform_to(constraint)(x)).all()
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            D.biject_to(constraint)
    assert constraints.corr_cholesky.check(D.biject_to(constraints.corr_cholesky)(torch.randn(3, dtype=F64)))
    joined = constraints.cat([constraints.real, constraints.positive], 0, [1, 2])
    assert joined.check(D.biject_to(joined)(torch.randn(3))).all() and joined.check(D.transform_to(joined)(torch.randn(3))).all()
    piled = constraints.stack([constraints.real, constraints.positive], 0)
    assert piled.check(D.biject_to(piled)(torch.randn(2, 3))).all() and piled.check(D.transform_to(piled)(torch.randn(2, 3))).all()


def test_registering():
    class Even(constraints.Constraint):
        pass

    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(Even)
    def make(constraint):
        return transforms.identity_transform

    assert registry(Even()) is transforms.identity_transform
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        registry.register(int, make)
    with pytest.raises(NotImplementedError):
        registry(constraints.real)
