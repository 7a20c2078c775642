"""Draws: PyTorch's numbers for the same seed, and gradients that follow the distribution function."""
import numpy as np
import pytest
from scipy import special, stats

import saraph as torch
from saraph import distributions as D

SEED_7 = {
    "D.Normal(1.0, 2.0)": [0.70641, 2.57228, 2.89364],
    "D.Gamma(t(0.7), 2.0)": [0.32868, 0.06732, 0.06939],
    "D.Beta(t(0.7), 2.0)": [0.1031, 0.01867, 0.49902],
    "D.Categorical(t([0.2, 0.3, 0.5]))": [1, 1, 2],
    "D.Laplace(0.0, 1.0)": [0.0724, -0.92229, 0.38335],
    "D.Gumbel(0.0, 1.0)": [0.46899, -0.47961, 0.87536],
    "D.Poisson(t(4.0))": [6.0, 4.0, 1.0],
    "D.Binomial(10, t(0.3))": [3.0, 6.0, 1.0],
    "D.StudentT(t(3.0))": [-0.3132, 0.7347, 1.55289],
    "D.VonMises(t(0.5), t(2.0))": [1.94733, 0.43033, 0.56359],
    "D.Weibull(1.0, t(2.0))": [0.5724, 0.56549, 1.40754],
    "D.NegativeBinomial(3.0, t(0.4))": [3.0, 0.0, 1.0],
}
WISHART = [1.51559, -0.77786, -0.77786, 0.71600]
LKJ = [1.0, 0.0, 0.0, 0.08282, 0.99656, 0.0, 0.72423, -0.37365, 0.57953]


@pytest.mark.parametrize("made", SEED_7)
def test_same_numbers_as_pytorch(made):
    torch.manual_seed(7)
    drawn = eval(made, {"D": D, "t": torch.tensor}).sample((3,))
    assert drawn.tolist() == pytest.approx(SEED_7[made], rel=1e-4, abs=2e-5)


def test_same_matrices_as_pytorch():
    torch.manual_seed(7)
    assert D.Wishart(torch.tensor(4.0), torch.eye(2)).sample().flatten().tolist() == pytest.approx(WISHART, rel=1e-4, abs=2e-5)
    torch.manual_seed(7)
    assert D.LKJCholesky(3).sample().flatten().tolist() == pytest.approx(LKJ, rel=1e-4, abs=2e-5)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0, 29.0, 31.0, 400.0])
def test_gamma_draws_move_along_their_quantile(alpha):
    torch.manual_seed(0)
    a = torch.full((8,), alpha, dtype=torch.float64, requires_grad=True)
    x = D.Gamma(a, torch.ones(8, dtype=torch.float64)).rsample()
    (slope,) = torch.autograd.grad(x.sum(), a)
    p, h = special.gammainc(alpha, x.detach().numpy()), 1e-5 * alpha
    keep = (p > 1e-3) & (p < 1 - 1e-3)
    expected = (special.gammaincinv(alpha + h, p) - special.gammaincinv(alpha - h, p)) / (2 * h)
    np.testing.assert_allclose(slope.numpy()[keep], expected[keep], rtol=1e-5)


@pytest.mark.parametrize("a, b", [(0.3, 0.4), (0.5, 3.0), (2.0, 2.5), (40.0, 3.0), (3.0, 50.0), (100.0, 120.0), (31.0, 0.7)])
def test_beta_draws_move_along_their_quantile(a, b):
    torch.manual_seed(0)
    a1, b1 = (torch.full((8,), v, dtype=torch.float64, requires_grad=True) for v in (a, b))
    x = D.Beta(a1, b1).rsample()
    slopes = torch.autograd.grad(x.sum(), (a1, b1))
    p, h = special.betainc(a, b, x.detach().numpy()), 1e-5
    keep = (p > 1e-3) & (p < 1 - 1e-3)
    for slope, da, db in ((slopes[0], h * a, 0), (slopes[1], 0, h * b)):
        expected = (special.betaincinv(a + da, b + db, p) - special.betaincinv(a - da, b - db, p)) / (2 * (da + db))
        np.testing.assert_allclose(slope.numpy()[keep], expected[keep], rtol=1e-4)


def test_dirichlet_gradient_is_that_of_the_mean():
    """The mean gradient of the draws is the gradient of their mean."""
    torch.manual_seed(0)
    c = torch.tensor([0.8, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    (drawn,) = torch.autograd.grad((D.Dirichlet(c).rsample((4000,)) @ weights).mean(), c)
    (exact,) = torch.autograd.grad(D.Dirichlet(c).mean @ weights, c)
    assert torch.allclose(drawn, exact, atol=0.02)


def test_no_second_derivative_of_draws():
    a = torch.tensor(2.0, requires_grad=True)
    (slope,) = torch.autograd.grad(D.Gamma(a, 1.0).rsample(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="_standard_gamma_grad is not implemented"):
        slope.backward()


@pytest.mark.parametrize("made, known", [("D.Gamma(2.5, 2.0)", stats.gamma(2.5, scale=0.5)), ("D.VonMises(0.5, 2.0)", stats.vonmises(2.0, 0.5)),
                                         ("D.Kumaraswamy(1.0, 1.0)", stats.uniform()), ("D.Pareto(1.0, 3.0)", stats.pareto(3.0)),
                                         ("D.GeneralizedPareto(0.0, 1.0, 0.3)", stats.genpareto(0.3))])
def test_draws_follow_the_distribution(made, known):
    torch.manual_seed(1)
    drawn = eval(made, {"D": D}).sample((2000,)).numpy()
    assert stats.kstest(drawn, known.cdf).pvalue > 0.001


def test_straight_through_and_relaxed_gradients():
    torch.manual_seed(0)
    probs = torch.tensor([0.2, 0.8], requires_grad=True)
    x = D.OneHotCategoricalStraightThrough(probs).rsample()
    (x * torch.tensor([1.0, 3.0])).sum().backward()
    assert sorted(x.tolist()) == [0, 1] and probs.grad is not None and probs.grad.abs().sum() > 0
    logits = torch.tensor([0.2, 0.8], requires_grad=True)
    D.RelaxedOneHotCategorical(0.5, logits=logits).rsample()[0].backward()
    assert logits.grad is not None and torch.isfinite(logits.grad).all()
