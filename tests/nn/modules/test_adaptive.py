"""AdaptiveLogSoftmaxWithLoss against golden numbers."""
import pytest

import saraph as torch
from saraph import nn


def test_golden_values():
    m, start = nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6], div_value=2.0, head_bias=True).double(), 0
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(torch.sin(torch.arange(start, start + p.numel(), dtype=p.dtype)).reshape(p.shape) * 0.5)
            start += p.numel()
    x = torch.cos(torch.arange(8, dtype=torch.float64)).reshape(2, 4)
    found = m(x, torch.tensor([1, 8]))
    assert found.output.tolist() == pytest.approx([-2.324963, -4.401806], abs=1e-6) and found.loss.item() == pytest.approx(3.36338472)
    logs = m.log_prob(x)
    assert logs[0].tolist() == pytest.approx([-1.414026, -2.324963, -0.628993, -4.420371, -3.683441, -4.169916, -4.702068, -4.205179, -3.71781, -3.688046],
                                             abs=1e-6)
    assert torch.allclose(logs.exp().sum(1), torch.ones(2, dtype=torch.float64)) and m.predict(x).tolist() == [2, 0]
    assert m(x[0], torch.tensor(1)).output.item() == pytest.approx(-2.324963, abs=1e-6)


def test_refusals():
    with pytest.raises(ValueError, match="cutoffs should be a sequence of unique, positive integers"):
        nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 3])
    m = nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3])
    with pytest.raises(RuntimeError, match="same size in the batch dimension"):
        m(torch.rand(2, 4), torch.tensor([1]))
    with pytest.raises(RuntimeError, match=r"Target values should be in \[0, 9\]"):
        m(torch.rand(1, 4), torch.tensor([10]))
