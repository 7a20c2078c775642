"""Gradients through sparse tensors: what is stored has one, in the layout of the tensor."""
import numpy as np
import pytest

import saraph as torch

A = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, -1.0], [0.0, 0.0, 0.5]])
G = np.arange(1.0, 10.0).reshape(3, 3)
LAYOUTS = {"coo": lambda t: t.to_sparse(), "csr": lambda t: t.to_sparse_csr(), "csc": lambda t: t.to_sparse_csc()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sparse_leaf_gets_a_gradient_of_its_layout(layout):
    x = LAYOUTS[layout](torch.from_numpy(A)).requires_grad_()
    (x.to_dense() * torch.from_numpy(G)).sum().backward()
    assert x.grad.layout is x.layout
    np.testing.assert_array_equal(x.grad.to_dense().numpy(), np.where(A != 0, G, 0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_have_a_gradient(layout):
    x = LAYOUTS[layout](torch.from_numpy(A)).requires_grad_()
    (x.values() ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.to_dense().numpy(), 2 * A)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_to_sparse_and_back(layout):
    for masked, expected in ((None, np.where(A != 0, G, 0)), (True, np.where(A != 0, G, 0)), (False, G)):
        dense = torch.from_numpy(A.copy()).requires_grad_()
        (LAYOUTS[layout](dense).to_dense(masked_grad=masked) * torch.from_numpy(G)).sum().backward()
        assert dense.grad.layout is torch.strided
        np.testing.assert_array_equal(dense.grad.numpy(), expected)


def test_repeated_positions_share_a_gradient():
    where = torch.tensor([[0, 0, 1]])
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.sparse_coo_tensor(where, values, (2,))
    assert x.coalesce().values().tolist() == [3.0, 3.0]
    (x.coalesce().values() * torch.tensor([5.0, 7.0])).sum().backward()
    assert values.grad.tolist() == [5.0, 5.0, 7.0]
    values.grad = None
    (x.to_dense() * torch.tensor([5.0, 7.0])).sum().backward()
    assert values.grad.tolist() == [5.0, 5.0, 7.0]


def test_blocks_and_batches():
    blocks = torch.arange(8.0, dtype=torch.float64).reshape(2, 2, 2).requires_grad_()
    x = torch.sparse_bsr_tensor([0, 1, 2], [1, 0], blocks, (4, 4))
    expected = np.kron([[0, 1], [0, 0]], [[0, 1], [2, 3]]) + np.kron([[0, 0], [1, 0]], [[4, 5], [6, 7]])
    np.testing.assert_array_equal(x.detach().to_dense().numpy(), expected)
    weights = np.arange(16.0).reshape(4, 4)
    (x.to_dense() * torch.from_numpy(weights)).sum().backward()
    np.testing.assert_array_equal(blocks.grad.numpy(), [weights[:2, 2:], weights[2:, :2]])

    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = torch.sparse_csr_tensor([[0, 1, 2], [0, 2, 2]], [[0, 1], [0, 1]], values, (2, 2, 2))
    np.testing.assert_array_equal(y.detach().to_dense().numpy(), [[[1, 0], [0, 2]], [[3, 4], [0, 0]]])
    (y.to_dense() * torch.arange(8.0, dtype=torch.float64).reshape(2, 2, 2)).sum().backward()
    assert values.grad.tolist() == [[0.0, 3.0], [4.0, 5.0]]


def test_hybrid_tensors():
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.sparse_coo_tensor([[2, 0]], values, (3, 2))
    (x.to_dense() * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    assert values.grad.tolist() == [[5.0, 6.0], [1.0, 2.0]]


def test_second_derivatives():
    values = torch.tensor([2.0, 1.5, -1.0, 0.5], dtype=torch.float64, requires_grad=True)

    def cubes(v):
        return torch.sparse_csr_tensor([0, 1, 3, 4], [1, 0, 2, 2], v, (3, 3)).to_dense() ** 3

    assert torch.autograd.gradgradcheck(cubes, (values,))
    (first,) = torch.autograd.grad(cubes(values).sum(), values, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), values)
    np.testing.assert_allclose(second.numpy(), 6 * values.detach().numpy())


def test_products_of_csr_matrices():
    dense = torch.from_numpy(A.copy()).requires_grad_()
    other = torch.from_numpy(G.copy()).requires_grad_()
    torch.mm(dense.to_sparse_csr(), other).sum().backward()
    np.testing.assert_array_equal(dense.grad.to_dense().numpy(), np.tile(G.sum(1), (3, 1)))
    np.testing.assert_array_equal(other.grad.numpy(), np.tile(A.sum(0)[:, None], 3))


def test_old_constructors():
    x = torch.sparse.FloatTensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), torch.Size([2, 2]))
    assert x.to_dense().tolist() == [[0, 1], [2, 0]] and isinstance(x, torch.sparse.FloatTensor) and not isinstance(x, torch.sparse.DoubleTensor)
    assert torch.sparse.DoubleTensor(2, 3).shape == (2, 3) and torch.sparse.LongTensor().dtype is torch.int64
    assert not isinstance(torch.ones(2), torch.sparse.FloatTensor)
