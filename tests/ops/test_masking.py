"""Choosing by a mask: against NumPy, gradients by central differences, and errors."""
import numpy as np
import pytest

import saraph as torch
from saraph import tensor

RNG = np.random.default_rng(6)
X = RNG.standard_normal((3, 4))
MASK = X > 0.2


def t(a):
    return torch.from_numpy(np.array(a))


def test_filling(check_gradients):
    x = t(X)
    np.testing.assert_array_equal(x.masked_fill(t(MASK), 5).numpy(), np.where(MASK, 5, X))
    np.testing.assert_array_equal(x.masked_fill(t(MASK[0]), tensor(2)).numpy(), np.where(MASK[0], 2, X))
    assert x.masked_fill(torch.ones(2, 3, 4, dtype=torch.bool), 2).shape == (2, 3, 4)
    assert x.clone().masked_fill_(t(MASK), float("-inf")).isinf().sum() == MASK.sum()
    check_gradients(lambda a, v: a.masked_fill(t(MASK), v), X, np.array(1.5))
    check_gradients(lambda a: a.masked_fill(t(MASK), 3.0), X[0])


def test_values_are_converted_as_the_dtype_takes_them():
    mask = tensor([True, False])
    assert tensor([1, 2]).masked_fill(mask, 7.5).tolist() == [7, 2]
    assert tensor([False, False]).masked_fill(mask, 2).tolist() == [True, False]
    assert tensor([1.0, 2.0]).masked_fill(mask, 3 + 0j).tolist() == [3.0, 2.0]
    for x, value in ((tensor([1, 2], dtype=torch.uint8), 300), (tensor([1, 2]), float("inf")), (tensor([1.0, 2.0]), 2j),
                     (torch.ones(2, dtype=torch.float16), 1e6)):
        with pytest.raises(RuntimeError, match="without overflow"):
            x.masked_fill(mask, value)


def test_picking_and_placing(check_gradients):
    x, source = t(X), RNG.standard_normal(14)
    np.testing.assert_array_equal(x.masked_select(t(MASK)).numpy(), X[MASK])
    np.testing.assert_array_equal(x[0].masked_select(t(MASK)).numpy(), np.broadcast_to(X[0], MASK.shape)[MASK])
    placed = X.copy()
    placed[MASK] = source[: MASK.sum()]
    np.testing.assert_array_equal(x.masked_scatter(t(MASK), t(source)).numpy(), placed)
    assert x.masked_scatter_(t(MASK), t(source)) is x
    check_gradients(lambda a: a.masked_select(t(MASK)), X)
    check_gradients(lambda a: a.masked_select(t(MASK)), X[0])
    check_gradients(lambda a, s: a.masked_scatter(t(MASK), s), X, source)


def test_where(check_gradients):
    y = RNG.standard_normal((3, 1))
    np.testing.assert_array_equal(torch.where(t(MASK), t(X), t(y)).numpy(), np.where(MASK, X, y))
    np.testing.assert_array_equal(t(X).where(t(MASK), t(y)).numpy(), np.where(MASK, X, y))
    assert torch.where(t(MASK), 1, 0).dtype is torch.int64 and torch.where(t(MASK), 1.0, 0).dtype is torch.float32
    assert torch.where(t(MASK), torch.ones(4), tensor(0, dtype=torch.float64)).dtype is torch.float32
    assert [p.tolist() for p in torch.where(t(MASK))] == [p.tolist() for p in np.where(MASK)]
    check_gradients(lambda a, b: torch.where(t(MASK), a, b), X, y)


def test_positions_of_what_is_not_zero():
    a = np.array([[0, 1], [2, 0]])
    assert torch.nonzero(t(a)).tolist() == np.argwhere(a).tolist() == torch.argwhere(t(a)).tolist()
    assert [p.tolist() for p in t(a).nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    assert torch.nonzero(tensor(3.0)).shape == (1, 0) and torch.nonzero(tensor(0.0)).shape == (0, 0)
    assert torch.nonzero(tensor(3.0), as_tuple=True)[0].tolist() == [0]
    assert t(a).nonzero_static(size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert torch.nonzero_static(t(a), size=1, fill_value=9).tolist() == [[0, 1]] and t(a).nonzero_static(size=0).shape == (0, 2)
    assert torch.nonzero_static(torch.empty(2, 3, device="meta"), size=5).shape == (5, 2)
    with pytest.raises(RuntimeError, match="non-negative integer"):
        t(a).nonzero_static(size=-1)


def test_unravel_index():
    flat = np.array([[0, 5], [11, 7]])
    for found, expected in zip(torch.unravel_index(t(flat), (3, 4)), np.unravel_index(flat, (3, 4))):
        np.testing.assert_array_equal(found.numpy(), expected)
    assert torch.unravel_index(tensor(5), 12)[0] == 5 and torch.unravel_index(tensor([1]), ()) == ()
    assert [p.tolist() for p in torch.unravel_index(tensor([-1]), (3, 4))] == [[2], [3]]
    for indices, shape, error, text in ((tensor([1.0]), (3,), TypeError, "integer dtype"), (tensor([1]), (3, -4), ValueError, "negative values"),
                                        (tensor([1]), "ab", TypeError, "only contain ints"), (tensor([1]), 2.5, TypeError, "int or sequence"),
                                        (tensor([1]), (0, 2), RuntimeError, "ZeroDivision")):
        with pytest.raises(error, match=text):
            torch.unravel_index(indices, shape)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: x.masked_fill(tensor([1, 0, 1, 0]), 1), RuntimeError, "only supports boolean masks"),
    (lambda x: x.masked_fill(tensor([True, False]), 1), RuntimeError, "must match the size of tensor"),
    (lambda x: x.masked_fill(x > 0, torch.ones(1)), RuntimeError, "0-dimensional value tensor"),
    (lambda x: x.masked_fill_(torch.ones(2, 3, 4, dtype=torch.bool), 1), RuntimeError, "doesn't match the broadcast shape"),
    (lambda x: x.masked_select(tensor([1, 0, 1, 0], dtype=torch.uint8)), RuntimeError, "expected BoolTensor for mask"),
    (lambda x: x.masked_select(tensor([True, False])), RuntimeError, "must match the size of tensor"),
    (lambda x: torch.masked_select(x, x > 0, out=torch.empty(0)), RuntimeError, "Expected out tensor to have dtype double, but got float"),
    (lambda x: x.masked_scatter(x < 9, torch.ones(11, dtype=torch.float64)), RuntimeError, "at least 12 elements"),
    (lambda x: x.masked_scatter(x < 9, torch.ones(12)), RuntimeError, "same dtypes"),
    (lambda x: torch.where(x, 1, 0), RuntimeError, "condition to be a boolean tensor"),
    (lambda x: torch.where(x > 0, torch.ones(2), 1), RuntimeError, "must match the size of tensor")])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(t(X))
