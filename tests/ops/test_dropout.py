"""Dropout: PyTorch's masks, whole channels, the moments of alpha dropout, refusals."""
import pytest

import saraph as torch
from saraph.nn import functional as F


def test_masks_of_seed_0():
    torch.manual_seed(0)
    assert F.dropout(torch.ones(8), 0.5).tolist() == [0, 0, 2, 0, 0, 0, 2, 2]
    assert F.dropout2d(torch.ones(1, 4, 1, 2), 0.5).flatten().tolist() == [0, 0, 2, 2, 2, 2, 2, 2]


def test_kept_elements_are_scaled_and_gradients_follow_the_mask():
    torch.manual_seed(1)
    x = torch.ones(1000, requires_grad=True)
    y = F.dropout(x, 0.2)
    assert set(y.tolist()) == {0.0, 1.25} and (y == 0).float().mean().item() == pytest.approx(0.2, abs=0.05)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


@pytest.mark.parametrize("name", ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"])
def test_out_of_training_and_at_the_ends(name):
    drop = getattr(F, name)
    x = torch.rand(2, 3, 4, 5, 6) if name == "dropout3d" else torch.rand(2, 3, 4, 5) if name == "dropout2d" else torch.rand(2, 3, 4)
    assert torch.equal(drop(x, 0.5, training=False), x) and torch.equal(drop(x, 0.0, training=True), x)
    assert drop(x, 1.0, training=True).abs().sum() == 0
    for p in (-0.1, 1.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            drop(x, p)
    y = x.clone()
    assert drop(y, 0.5, training=True, inplace=True) is y and not torch.equal(y, x)


def test_channels_go_as_a_whole():
    torch.manual_seed(0)
    for rank in (1, 2, 3):
        y = getattr(F, f"dropout{rank}d")(torch.ones(8, 8, *[3] * rank), 0.5).flatten(2)
        assert bool(((y == 0).all(2) | (y == 2).all(2)).all()) and bool((y == 0).any()) and bool((y == 2).any())


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    x = torch.randn(200, 500)
    y = F.alpha_dropout(x, 0.3, training=True)
    assert y.mean().item() == pytest.approx(0, abs=0.02) and y.std().item() == pytest.approx(1, abs=0.02)


def test_memory_order_of_the_draws_follows_the_input():
    torch.manual_seed(0)
    a = F.dropout(torch.ones(3, 4), 0.5)
    torch.manual_seed(0)
    b = F.dropout(torch.ones(4, 3).t(), 0.5)
    assert torch.equal(a.flatten(), b.t().flatten()) is True


@pytest.mark.parametrize(("name", "functional"), [("dropout", F.dropout), ("feature_dropout", F.dropout2d), ("alpha_dropout", F.alpha_dropout),
                                                  ("feature_alpha_dropout", F.feature_alpha_dropout)])
def test_names_of_torch(name, functional):
    x = torch.rand(2, 3, 4, 5)
    torch.manual_seed(5)
    expected = functional(x, 0.4, True)
    torch.manual_seed(5)
    assert torch.equal(getattr(torch, name)(x, 0.4, True), expected)
    torch.manual_seed(5)
    y = x.clone()
    assert getattr(torch, name + "_")(y, 0.4, True) is y and torch.equal(y, expected)


def test_native_dropout():
    x = torch.rand(50, requires_grad=True)
    torch.manual_seed(2)
    y, mask = torch.native_dropout(x, 0.3, True)
    assert mask.dtype is torch.bool and torch.equal(y != 0, mask)
    y.sum().backward()
    assert torch.allclose(x.grad, mask / 0.7)
    assert torch.native_dropout(x, 0.3, False)[1].all()
