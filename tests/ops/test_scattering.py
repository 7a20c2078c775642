"""Slices and elements put into copies, flat positions, reductions into places: against NumPy, and by finite differences."""
import numpy as np
import pytest

import saraph as torch
from saraph.autograd import gradcheck

RNG = np.random.default_rng(5)


def doubles(*shape):
    return torch.from_numpy(RNG.standard_normal(shape))


def test_slices_are_put_into_a_copy():
    x, before = doubles(4, 5), None
    before = x.clone()
    assert x.select_scatter(torch.zeros(5, dtype=torch.float64), 0, -1)[3].tolist() == [0.0] * 5
    y = torch.slice_scatter(x, torch.ones(4, 2, dtype=torch.float64), 1, 0, 4, 2)
    assert y[:, ::2][:, :2].eq(1).all() and torch.equal(y[:, [1, 3, 4]], x[:, [1, 3, 4]])
    assert torch.diagonal_scatter(x, torch.zeros(4, dtype=torch.float64), 1).diagonal(1).abs().sum() == 0
    assert torch.equal(x, before)
    with pytest.raises(RuntimeError, match="slice of self"):
        x.select_scatter(torch.zeros(3, dtype=torch.float64), 0, 0)


@pytest.mark.parametrize(("function", "shape"), [(lambda x, s: x.select_scatter(s, 0, 1), (3,)), (lambda x, s: x.slice_scatter(s, 0, 1, 3), (2, 3)),
                                                 (lambda x, s: x.diagonal_scatter(s, 0, 1, 0), (3,))])
def test_gradients_of_slices(function, shape):
    assert gradcheck(function, (doubles(4, 3).requires_grad_(), doubles(*shape).requires_grad_()))


def test_take_and_put_count_through_the_whole_tensor():
    x = torch.arange(12).reshape(3, 4).t()
    a = x.numpy()
    index = torch.tensor([[0, -1], [5, 5]])
    assert np.array_equal(x.take(index).numpy(), np.take(np.ascontiguousarray(a), index.numpy()))
    assert x.put(torch.tensor([1, 1]), torch.tensor([5, 7]), accumulate=True).reshape(-1)[1] == a.ravel()[1] + 12
    y = x.clone()
    assert y.put_(torch.tensor([-1]), torch.tensor([100])) is y and y[3, 2] == 100
    with pytest.raises(IndexError, match="out of range"):
        x.take(torch.tensor([12]))
    with pytest.raises(RuntimeError, match="long tensor"):
        x.take(torch.tensor([0.0]))


def test_take_along_dim_broadcasts_and_sorts():
    x = doubles(3, 4)
    assert torch.equal(x.take_along_dim(x.argsort(1), 1), x.sort(1).values)
    assert x.take_along_dim(torch.tensor([[-1]]), 1)[:, 0].tolist() == x[:, -1].tolist()
    assert torch.take_along_dim(x, torch.tensor([5, 0])).tolist() == [x[1, 1].item(), x[0, 0].item()]


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce(reduce, include_self):
    x, src = doubles(3, 4), doubles(5, 4)
    index = torch.from_numpy(RNG.integers(0, 3, (5, 4)))
    expected = x.numpy().copy()
    for j in range(4):
        for i in range(3):
            found = src.numpy()[index.numpy()[:, j] == i, j]
            if len(found):
                values = np.concatenate([[x.numpy()[i, j]], found]) if include_self else found
                expected[i, j] = getattr(values, {"amax": "max", "amin": "min"}.get(reduce, reduce))()
    result = torch.scatter_reduce(x, 0, index, src, reduce, include_self=include_self)
    np.testing.assert_allclose(result.numpy(), expected)
    inputs = (x.clone().requires_grad_(), src.clone().requires_grad_())
    assert gradcheck(lambda a, b: a.scatter_reduce(0, index, b, reduce, include_self=include_self), inputs)


@pytest.mark.parametrize("zeros", [1, 2])
def test_product_with_zeros_has_the_gradient_of_the_other_factors(zeros):
    src = torch.tensor([2.0, 0.0, 3.0] if zeros == 1 else [0.0, 0.0, 3.0], requires_grad=True)
    torch.ones(1).scatter_reduce(0, torch.zeros(3, dtype=torch.int64), src, "prod").sum().backward()
    assert src.grad.tolist() == ([0.0, 6.0, 0.0] if zeros == 1 else [0.0, 0.0, 0.0])


def test_index_reduce_works_on_slices():
    x, src = doubles(3, 2), doubles(4, 2)
    result = x.index_reduce(0, torch.tensor([0, 2, 0, 0]), src, "amax")
    np.testing.assert_array_equal(result.numpy()[0], np.max(np.vstack([x[0], src[0], src[2], src[3]]), 0))
    assert torch.equal(result[1], x[1])


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_gradients_of_index_reduce(reduce, include_self):
    at = torch.tensor([0, 2, 0, 0])
    inputs = (doubles(3, 2).requires_grad_(), doubles(4, 2).requires_grad_())
    assert gradcheck(lambda a, b: a.index_reduce(0, at, b, reduce, include_self=include_self), inputs)


def test_equal_extremes_share_the_gradient():
    x, src = torch.tensor([2.0], requires_grad=True), torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    x.scatter_reduce(0, torch.zeros(3, dtype=torch.int64), src, "amax").backward()
    assert torch.allclose(x.grad, torch.tensor([1 / 3])) and torch.allclose(src.grad, torch.tensor([1 / 3, 0, 1 / 3]))


def test_integers_nan_and_in_place():
    at = torch.tensor([0, 1, 1])
    assert torch.tensor([7, -7, 3]).scatter_reduce(0, at, torch.tensor([2, 2, 2]), reduce="mean").tolist() == [4, -1, 3]
    assert torch.tensor([1.0, float("nan")]).scatter_reduce(0, at[:2], torch.tensor([float("nan"), 1.0]), "amax").isnan().all()
    x = torch.zeros(2)
    assert x.scatter_reduce_(0, at, torch.tensor([1.0, 2.0, 3.0]), "sum") is x and x.tolist() == [1.0, 5.0]


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: x.scatter_reduce(0, torch.tensor([[0]]), x, "median"), RuntimeError, "reduce argument must be"),
    (lambda x: x.scatter_reduce(0, torch.tensor([[0]]), x.float(), "sum"), RuntimeError, "self.dtype to be equal to src.dtype"),
    (lambda x: x.index_reduce(0, torch.tensor([0]), x, "prod"), RuntimeError, "Number of indices"),
    (lambda x: x.index_reduce(0, torch.tensor([0, 5]), x, "prod"), IndexError, "index out of range in self"),
    (lambda x: x.index_reduce(0, torch.tensor([0, 1]), x, "sum"), RuntimeError, "reduce argument must be"),
    (lambda x: x.put(torch.tensor([0, 1]), torch.ones(1, dtype=torch.float64)), IndexError, "same number of elements"),
    (lambda x: x.put(torch.tensor([0]), torch.ones(1)), RuntimeError, "same dtype"),
    (lambda x: x.take_along_dim(torch.tensor([[0]], dtype=torch.int32), 1), RuntimeError, "should be Long"),
    (lambda x: torch.take(x, torch.arange(6), out=x), RuntimeError, "single memory location")])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(doubles(2, 3))
