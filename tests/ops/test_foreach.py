"""Ops over lists of tensors."""
import numpy as np
import pytest

import saraph as torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norms_of_tensors_of_all_sizes(dtype):
    tensors = [torch.randn(s, dtype=dtype) for s in [(3,), (), (0,), (70_000,), (65_536,), (5, 6, 7)]]
    got = torch._foreach_norm(tensors)
    assert [g.item() for g in got] == pytest.approx([float(np.sqrt((t.numpy().astype(np.float64) ** 2).sum())) for t in tensors], rel=1e-6)
    assert all(g.dtype is dtype and g.shape == () for g in got)
    assert [g.item() for g in torch._foreach_norm(tensors[:1], 1)] == pytest.approx([tensors[0].abs().sum().item()])


def test_products_in_place():
    tensors = [torch.ones(3), torch.ones(2, 2), torch.ones(100_000)]
    torch._foreach_mul_(tensors, 2.0)
    torch._foreach_mul_(tensors, torch.tensor(1.5))
    torch._foreach_mul_(tensors, [1.0, 2.0, 3.0])
    assert [t.max().item() for t in tensors] == [3.0, 6.0, 9.0] and all(t._version for t in tensors)


def test_strided_and_mixed_lists_take_the_ops_themselves():
    tensors = [torch.ones(4, 4).t()[1:], torch.ones(2, dtype=torch.float64)]
    torch._foreach_mul_(tensors, 3)
    assert tensors[0].sum().item() == 36 and torch._foreach_norm(tensors)[1].item() == pytest.approx(18**0.5)


def test_lists_of_two_lengths_are_refused():
    with pytest.raises(RuntimeError, match="same number of tensors"):
        torch._foreach_mul_([torch.ones(1)], [1.0, 2.0])
