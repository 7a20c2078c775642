"""Picking and placing along a dimension: against NumPy, gradients by central differences, and errors."""
import numpy as np
import pytest

import saraph as torch
from saraph import tensor

RNG = np.random.default_rng(4)
X = RNG.standard_normal((4, 3, 5))
ROWS = np.array([2, 0, 2])


def t(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slices(dim, check_gradients):
    rows = tensor([2, 0, 2])
    shape = list(X.shape)
    shape[dim] = 3
    source = RNG.standard_normal(shape)
    np.testing.assert_array_equal(t(X).index_select(dim, rows).numpy(), np.take(X, ROWS, dim))
    added, copied, filled = X.copy(), X.copy(), X.copy()
    place = (slice(None),) * (dim % 3) + (ROWS,)
    np.add.at(added, place, 2 * source)
    copied[place] = source
    filled[place] = 7
    np.testing.assert_allclose(t(X).index_add(dim, rows, t(source), alpha=2).numpy(), added)
    np.testing.assert_array_equal(t(X).index_copy(dim, rows, t(source)).numpy(), copied)
    np.testing.assert_array_equal(t(X).index_fill(dim, tensor([2, -X.shape[dim], 2]), 7).numpy(), filled)
    check_gradients(lambda x: x.index_select(dim, rows), X)
    check_gradients(lambda x, s: x.index_add(dim, rows, s, alpha=3), X, source)
    once = tensor([2, 0, 1])
    check_gradients(lambda x, s: x.index_copy(dim, once, s), X, source)
    check_gradients(lambda x, v: x.index_fill(dim, rows, v), X, np.array(2.0))


def test_in_place_forms_and_zero_dim_tensors():
    x = torch.zeros(3)
    assert x.index_add_(0, tensor([1, 1]), tensor([2.0, 3.0])) is x and x.tolist() == [0.0, 5.0, 0.0]
    assert x.index_copy_(0, tensor(2), tensor(4.0)).tolist() == [0.0, 5.0, 4.0]
    assert x.index_fill_(0, tensor([0]), tensor(1.0)).tolist() == [1.0, 5.0, 4.0]
    assert tensor(2.0).index_select(0, tensor([0])) == 2 and tensor(1.0).index_fill(0, tensor(0), 3.0) == 3
    assert tensor([1, 2]).index_add(0, tensor([0]), tensor([1]), alpha=1.5).tolist() == [2, 2]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather_and_scatter(dim, check_gradients):
    shape = [2, 2, 2]
    shape[dim] = 4
    index = RNG.integers(0, X.shape[dim], shape)
    region = t(X)[tuple(slice(None) if d == dim else slice(0, 2) for d in range(3))]
    np.testing.assert_array_equal(t(X).gather(dim, t(index)).numpy(), np.take_along_axis(region.numpy(), index, dim))
    source = RNG.standard_normal([n + 1 for n in shape])
    added, multiplied = X.copy(), X.copy()
    for place in np.ndindex(*shape):
        to = list(place)
        to[dim] = index[place]
        added[tuple(to)] += source[place]
        multiplied[tuple(to)] *= source[place]
    np.testing.assert_allclose(t(X).scatter_add(dim, t(index), t(source)).numpy(), added)
    np.testing.assert_allclose(t(X).scatter(dim, t(index), t(source), reduce="add").numpy(), added)
    np.testing.assert_allclose(t(X).scatter(dim, t(index), t(source), reduce="multiply").numpy(), multiplied)
    check_gradients(lambda x: x.gather(dim, t(index)), X)
    check_gradients(lambda x, s: x.scatter_add(dim, t(index), s), X, source)
    once = np.argsort(RNG.random(X.shape), dim)
    source = RNG.standard_normal(X.shape)
    placed = np.zeros(X.shape)
    np.put_along_axis(placed, once, source, dim)
    np.testing.assert_array_equal(torch.zeros(X.shape, dtype=torch.float64).scatter(dim, t(once), t(source)).numpy(), placed)
    check_gradients(lambda x, s: x.scatter(dim, t(once)[:2, :2, :2], s), X, source)
    check_gradients(lambda x: x.scatter(dim, t(index), 2.0), X)


def test_gather_twice_differentiated():
    x = t(X[0]).requires_grad_()
    y = (x.gather(1, tensor([[0, 0], [1, 2], [4, 4]])) ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    expected = 6 * X[0] * np.array([[2, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 2]])
    np.testing.assert_allclose(h.numpy(), expected)


def test_positions_may_be_int32_and_empty():
    x = t(X[0])
    assert torch.equal(x.gather(0, tensor([[0, 1]], dtype=torch.int32)), x.gather(0, tensor([[0, 1]])))
    assert x.gather(0, torch.empty(0, dtype=torch.int64)).shape == (0,)
    assert torch.equal(x.scatter(0, torch.empty(0, 0, dtype=torch.int64), 1), x)
    assert torch.gather(tensor(3.0), 0, tensor(0)) == 3


def test_low_precision_sums_are_rounded_once():
    x = torch.zeros(1, dtype=torch.bfloat16).scatter_add(0, torch.zeros(256, dtype=torch.int64), torch.full((256,), 1.0 + 2**-7, dtype=torch.bfloat16))
    assert x.item() == 258.0


def test_multiply_has_no_derivative():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::scatter is not implemented"):
        x.scatter(0, tensor([0]), 2.0, reduce="multiply").sum().backward()


def test_one_hot():
    assert torch.nn.functional.one_hot(tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert torch.nn.functional.one_hot(tensor([[1]]), 3).shape == (1, 1, 3)
    assert torch.nn.functional.one_hot(torch.empty(0, dtype=torch.int64), 3).shape == (0, 3)
    for wrong, classes, text in ((tensor([0.0]), -1, "LongTensor"), (tensor([-1]), -1, "non-negative"), (tensor([3]), 3, "smaller than num_classes"),
                                 (torch.empty(0, dtype=torch.int64), -1, "empty tensor"), (tensor([0]), 0, "should be positive")):
        with pytest.raises(RuntimeError, match=text):
            torch.nn.functional.one_hot(wrong, classes)


def of(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: x.index_select(0, tensor([3])), IndexError, "index out of range in self"),
    (lambda x: x.index_select(0, tensor([-1])), IndexError, "index out of range in self"),
    (lambda x: x.index_select(0, tensor([[0]])), IndexError, "Index is supposed to be a vector"),
    (lambda x: x.index_select(0, tensor([0.0])), RuntimeError, "int32 or int64"),
    (lambda x: x.index_select(2, tensor([0])), IndexError, "Dimension out of range"),
    (lambda x: tensor(1.0).index_select(0, tensor([0, 0])), RuntimeError, "Index to scalar can have only 1 value"),
    (lambda x: x.index_add(0, tensor([0, 3]), of(2, 4)), RuntimeError, "index 3 is out of bounds"),
    (lambda x: x.index_add(0, tensor([0]), of(2, 4)), RuntimeError, "Number of indices \\(1\\) should be equal to source.size\\(dim\\)"),
    (lambda x: x.index_add(0, tensor([0, 1]), of(2, 3)), RuntimeError, "source tensor shape must match self tensor shape"),
    (lambda x: x.index_add(0, tensor([0]), of(1, 4, dtype=torch.float64)), RuntimeError, "same scalar type"),
    (lambda x: x.index_copy(0, tensor([0]), of(2, 4)), IndexError, "Number of indices"),
    (lambda x: x.index_copy(0, tensor([0], dtype=torch.int32), of(1, 4)), RuntimeError, "Expected a long tensor for index, but got Int"),
    (lambda x: x.index_copy(0, tensor([0]), of(1, 4, dtype=torch.float64)), RuntimeError, "expected to have the same dtype"),
    (lambda x: x.index_copy(0, tensor([3]), of(1, 4)), IndexError, "out of bounds"),
    (lambda x: x.index_fill(0, tensor([0]), of(1)), RuntimeError, "0-dimensional value tensor"),
    (lambda x: x.gather(0, tensor([[3]])), RuntimeError, "index 3 is out of bounds for dimension 0 with size 3"),
    (lambda x: x.gather(0, tensor([[-1]])), RuntimeError, "index -1 is out of bounds"),
    (lambda x: x.gather(0, tensor([0])), RuntimeError, "same number of dimensions"),
    (lambda x: x.gather(0, torch.zeros(1, 5, dtype=torch.int64)), RuntimeError, "Size does not match|no larger than self"),
    (lambda x: x.gather(0, tensor([[0]], dtype=torch.int16)), RuntimeError, "int64"),
    (lambda x: x.scatter(0, torch.zeros(2, 4, dtype=torch.int64), of(1, 4)), RuntimeError, "no larger size than src"),
    (lambda x: x.scatter(0, tensor([[0]]), of(1, 1, dtype=torch.float64)), RuntimeError, "self.dtype to be equal to src.dtype"),
    (lambda x: x.scatter(0, tensor([[0]]), 1, reduce="sum"), RuntimeError, "add or multiply"),
    (lambda x: x.scatter_add(0, tensor([[0]]), 1), TypeError, "must be Tensor"),
    (lambda x: torch.gather(x, 0, tensor([[0]]), out=of(1, 1, dtype=torch.float64)), RuntimeError, "Expected out tensor to have dtype float, but got double"),
    (lambda x: torch.gather(x, 0, torch.zeros(3, 4, dtype=torch.int64), out=x), RuntimeError, "single memory location"),
    (lambda x: torch.index_select(x, 0, tensor([0, 1, 2]), out=of(1).expand(3, 4)), RuntimeError, "single memory location")])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(of(3, 4))
