"""Embedding and EmbeddingBag: tables of rows."""
import numpy as np
import pytest

import saraph as torch
from saraph import nn
from saraph.nn import functional as F

TABLE = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 40.0]], dtype=torch.float64)


def table(**options):
    return nn.Embedding.from_pretrained(TABLE.clone(), freeze=False, **options)


def test_rows_and_their_gradients():
    m, index = table(padding_idx=0), torch.tensor([[2, 0], [2, 1]])
    y = m(index)
    assert y.tolist() == [[[3, 40], [1, 10]], [[3, 40], [2, 20]]]
    y.sum().backward()
    assert m.weight.grad.tolist() == [[0, 0], [1, 1], [2, 2]]
    scaled = table(scale_grad_by_freq=True)
    scaled(index).sum().backward()
    assert scaled.weight.grad.tolist() == [[1, 1], [1, 1], [1, 1]]
    assert m(torch.tensor(1)).tolist() == [2, 20] and m(torch.zeros(0, dtype=torch.int64)).shape == (0, 2)
    assert m(torch.tensor([1], dtype=torch.int32)).tolist() == [[2, 20]]


def test_sparse_gradients():
    m = table(sparse=True)
    m(torch.tensor([2, 0, 2])).sum().backward()
    grad = m.weight.grad
    assert grad.is_sparse and grad.to_dense().tolist() == [[1, 1], [0, 0], [2, 2]]


def test_rows_are_scaled_down_in_place_before_use():
    m = table(max_norm=5.0, norm_type=1.0)
    y = m(torch.tensor([0]))
    assert y[0].tolist() == pytest.approx([5 / 11, 50 / 11], rel=1e-6) and m.weight[0].tolist() == y[0].tolist()
    assert m.weight[1].tolist() == [2, 20]


def test_construction():
    m = nn.Embedding(5, 3, padding_idx=-1)
    assert m.padding_idx == 4 and m.weight[4].tolist() == [0, 0, 0] and repr(m) == "Embedding(5, 3, padding_idx=4)"
    assert not nn.Embedding.from_pretrained(TABLE).weight.requires_grad
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        nn.Embedding(5, 3, padding_idx=5)
    with pytest.raises(AssertionError, match="2-dimensional"):
        nn.Embedding.from_pretrained(torch.ones(3))
    with pytest.raises(IndexError, match="index out of range in self"):
        table()(torch.tensor([3]))
    with pytest.raises(RuntimeError, match="Long, Int"):
        table()(torch.tensor([1.0]))
    assert torch.equal(torch.embedding(TABLE, torch.tensor([1])), TABLE[1:2])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode):
    m = nn.EmbeddingBag.from_pretrained(TABLE.clone(), freeze=False, mode=mode)
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    a, flat = TABLE.numpy(), torch.tensor([0, 1, 1, 2])
    y = m(flat, torch.tensor([0, 1, 1]))
    np.testing.assert_allclose(y.detach().numpy(), [a[0], np.zeros(2), reduce(a[[1, 1, 2]], 0)])
    np.testing.assert_allclose(m(flat.reshape(2, 2)).detach().numpy(), [reduce(a[[0, 1]], 0), reduce(a[[1, 2]], 0)])
    y.sum().backward()
    expected = {"sum": [[1, 1], [2, 2], [1, 1]], "mean": [[1, 1], [2 / 3, 2 / 3], [1 / 3, 1 / 3]], "max": [[1, 1], [0, 0], [1, 1]]}[mode]
    np.testing.assert_allclose(m.weight.grad.numpy(), expected)


def test_bags_with_weights_padding_and_a_last_offset():
    flat, offsets = torch.tensor([0, 1, 2, 0]), torch.tensor([0, 2, 4])
    y = F.embedding_bag(flat, TABLE, offsets, mode="sum", per_sample_weights=torch.tensor([2.0, 1.0, 1.0, 0.5], dtype=torch.float64),
                        include_last_offset=True)
    assert y.tolist() == [[4, 40], [3.5, 45]]
    assert F.embedding_bag(flat, TABLE, offsets[:2], mode="mean", padding_idx=0).tolist() == [[2, 20], [3, 40]]
    samples = torch.ones(4, dtype=torch.float64, requires_grad=True)
    F.embedding_bag(flat, TABLE, offsets[:2], mode="sum", per_sample_weights=samples).sum().backward()
    assert samples.grad.tolist() == [11, 22, 43, 11]


def test_refusals_of_bags():
    flat = torch.tensor([0, 1])
    with pytest.raises(ValueError, match="offsets has to be a 1D Tensor but got None"):
        F.embedding_bag(flat, TABLE)
    with pytest.raises(RuntimeError, match=r"offsets\[0\] has to be 0"):
        F.embedding_bag(flat, TABLE, torch.tensor([1]))
    with pytest.raises(ValueError, match="1D or 2D"):
        F.embedding_bag(flat.reshape(1, 1, 2), TABLE)
    with pytest.raises(ValueError, match="mode has to be one of sum, mean or max"):
        F.embedding_bag(flat, TABLE, torch.tensor([0]), mode="min")
