"""Losses against golden values and their formulas; reductions, gradients, refusals."""
import warnings

import numpy as np
import pytest

import saraph as torch
from saraph.nn import functional as F

G = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], dtype=torch.float64)
GOLDEN = {
    "smooth_l1_loss": ((G, G * 0 + 1), 0.5, 3.0),
    "huber_loss": ((G, G * 0 + 1), 0.5, 3.0),
    "kl_div": ((G.log_softmax(1), G.softmax(1)), 0.0, 0.0),
    "poisson_nll_loss": ((G, G + 2), 0.985193, 5.911157),
    "gaussian_nll_loss": ((G, G * 0, G + 1), 0.704545, 4.227267),
    "binary_cross_entropy": ((G.sigmoid(), G / 3), 0.698056, 4.188333),
    "binary_cross_entropy_with_logits": ((G, G / 3), 0.698056, 4.188333),
    "soft_margin_loss": ((G, G.sign()), 0.364722, 2.188333),
    "hinge_embedding_loss": ((G, (G - 0.5).sign()), 1.5, 9.0),
    "multi_margin_loss": ((G, torch.tensor([0, 2])), 0.5, 1.0),
    "multilabel_margin_loss": ((G, torch.tensor([[0, -1, 1], [2, 1, -1]])), 0.0, 0.0),
    "multilabel_soft_margin_loss": ((G, (G > 0).double()), 0.364722, 0.729444),
    "cosine_embedding_loss": ((G, G.flip(1), torch.tensor([1, -1])), 0.85, 1.7),
    "margin_ranking_loss": ((G, G.flip(1), G.sign()), 0.0, 0.0),
    "triplet_margin_loss": ((G, G + 0.5, G.flip(1)), 0.225905, 0.45181),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values_in_every_reduction(name):
    args, mean, total = GOLDEN[name]
    loss = getattr(F, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kl_div warns of its mean
        assert loss(*args).item() == pytest.approx(mean, abs=1e-6)
        assert loss(*args, reduction="sum").item() == pytest.approx(total, abs=1e-6)
        each = loss(*args, reduction="none")
        assert each.dim() and each.sum().item() == pytest.approx(total, abs=1e-6)
        with pytest.raises(ValueError, match="is not (a )?valid"):
            loss(*args, reduction="other")


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy_with_logits",
                                  "poisson_nll_loss"])
def test_gradients(name, check_gradients):
    rng = np.random.default_rng(3)
    check_gradients(getattr(F, name), rng.standard_normal((3, 2)), rng.standard_normal((3, 2)) * 2)


def test_gradients_of_the_others(check_gradients):
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((3, 4)), torch.tensor([1, 3, 0])
    check_gradients(lambda a: F.multi_margin_loss(a, y, p=2, margin=0.7), x)
    check_gradients(lambda a: F.multilabel_margin_loss(a, torch.tensor([[1, 0, -1, 2], [3, -1, 0, 0], [-1, 0, 0, 0]])), x)
    check_gradients(lambda a: F.cross_entropy(a, y, label_smoothing=0.2), x)
    check_gradients(lambda a, p: F.cross_entropy(a, p.softmax(1)), x, x[::-1].copy())
    check_gradients(lambda a, v: F.gaussian_nll_loss(a, a * 0, v, full=True), x, rng.uniform(0.5, 2, (3, 4)))
    check_gradients(lambda a, b, c: F.triplet_margin_loss(a, b, c, swap=True), x, rng.standard_normal((3, 4)), rng.standard_normal((3, 4)))
    check_gradients(lambda a, b: F.cosine_embedding_loss(a, b, torch.tensor([1, -1, -1]), margin=-0.9), x, rng.standard_normal((3, 4)))
    check_gradients(lambda a: F.binary_cross_entropy(a, torch.full((3, 4), 0.3, dtype=torch.float64)), rng.uniform(0.1, 0.9, (3, 4)))


def test_the_mean_of_class_losses_is_weighted_and_passes_over_ignored_targets():
    logs, target = G.log_softmax(1), torch.tensor([0, 1])
    weight = torch.tensor([1.0, 3.0, 1.0], dtype=torch.float64)
    expected = -(logs[0, 0] + 3 * logs[1, 1]) / 4
    assert torch.allclose(F.nll_loss(logs, target, weight), expected)
    assert torch.allclose(F.nll_loss(logs, torch.tensor([0, -100])), -logs[0, 0])
    assert F.nll_loss(logs, torch.tensor([-100, -100])).isnan() and F.nll_loss(logs, torch.tensor([-100, -100]), reduction="sum") == 0
    assert torch.allclose(F.nll_loss(logs[0], torch.tensor(0)), -logs[0, 0])
    images = G.reshape(1, 3, 2, 1).log_softmax(1)
    assert F.nll_loss(images, torch.zeros(1, 2, 1, dtype=torch.int64), reduction="none").shape == (1, 2, 1)
    assert torch.allclose(F.cross_entropy(G, target.to(torch.uint8)), F.cross_entropy(G, target))


def test_extreme_logits_and_probabilities_stay_finite():
    far = torch.tensor([1000.0, -1000.0])
    assert F.binary_cross_entropy_with_logits(far, torch.tensor([0.0, 1.0])).item() == 1000
    assert F.binary_cross_entropy(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0])).item() == 100
    assert F.cross_entropy(far.reshape(1, 2), torch.tensor([1])).item() == 2000


def test_positive_weights_and_old_reductions():
    x, y = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 0.0])
    weighted = F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor([3.0, 3.0]), reduction="none")
    plain = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    assert weighted.tolist() == pytest.approx([3 * plain[0].item(), plain[1].item()])
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert F.mse_loss(x, y, size_average=False) == F.mse_loss(x, y, reduction="sum")
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(torch.ones(3, 1), torch.ones(3))


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: F.cross_entropy(G, torch.tensor([0, 3])), IndexError, "Target 3 is out of bounds"),
    (lambda: F.cross_entropy(G, torch.tensor([0, 1, 2])), ValueError, r"Expected input batch_size \(2\) to match target batch_size \(3\)"),
    (lambda: F.cross_entropy(G, torch.tensor([0, 1], dtype=torch.int32)), RuntimeError, "expected target dtype to be Long or Byte, but got Int"),
    (lambda: F.cross_entropy(G, torch.tensor([0.0, 1.0])), RuntimeError, "expected scalar type Long but found Float"),
    (lambda: F.cross_entropy(G, torch.tensor([0, 1]), torch.ones(3)), RuntimeError, "expected scalar type Double but found Float"),
    (lambda: F.cross_entropy(G, torch.tensor([0, 1]), torch.ones(2)), RuntimeError, "for all 3 classes"),
    (lambda: F.cross_entropy(G, torch.tensor([0, 1]), label_smoothing=2), RuntimeError, "label_smoothing must be between"),
    (lambda: F.binary_cross_entropy(G, G), RuntimeError, "between 0 and 1"),
    (lambda: F.multi_margin_loss(G, torch.tensor([0, 1]), weight=torch.ones(2, 2)), ValueError, "weight must be one-dimensional"),
    (lambda: F.multi_margin_loss(G, torch.tensor([0, 9])), RuntimeError, "target out of range"),
    (lambda: F.huber_loss(G, G, delta=0.0), RuntimeError, "non-positive values for delta"),
    (lambda: F.smooth_l1_loss(G, G, beta=-1.0), RuntimeError, "negative values for beta"),
    (lambda: F.gaussian_nll_loss(G, G, G - 1), ValueError, "negative entry"),
    (lambda: F.triplet_margin_loss(G, G, G, margin=0), ValueError, "margin must be greater than 0"),
    (lambda: F.linear_cross_entropy(G, torch.ones(2, 4, dtype=torch.float64), torch.tensor([0, 1])), RuntimeError, "last dimensions"),
])
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (2, 3, 4)])
def test_multilabel_margin_wants_classes(shape):
    with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix"):
        F.multilabel_margin_loss(torch.ones(shape), torch.ones(shape, dtype=torch.int64))
    assert F.multilabel_margin_loss(torch.ones(0, 3), torch.ones(0, 3, dtype=torch.int64), reduction="none").shape == (0,)
