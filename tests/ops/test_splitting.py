"""split, chunk, unbind and their relatives: views with one node for all parts."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(5)
X = rng.standard_normal((6, 4, 2))


def lengths(parts, dim=0):
    return [p.shape[dim] for p in parts]


def test_lengths():
    x = torch.arange(11)
    assert lengths(x.split(4)) == [4, 4, 3] and lengths(x.split([1, 0, 10])) == [1, 0, 10]
    assert lengths(x.chunk(4)) == [3, 3, 3, 2] and lengths(x.chunk(6)) == [2, 2, 2, 2, 2, 1] and lengths(torch.zeros(0, 2).chunk(3)) == [0, 0, 0]
    assert lengths(x.tensor_split(4)) == [3, 3, 3, 2] and lengths(x.tensor_split((2, 5, -1))) == [2, 3, 5, 1]
    assert lengths(torch.zeros(0).split(0)) == [0] and torch.zeros(0).unbind() == ()


@pytest.mark.parametrize("function", [
    lambda x: x.split(4), lambda x: torch.split(x, [1, 3], 1), lambda x: x.chunk(3, 1), lambda x: x.unbind(1), lambda x: x.unbind(),
    lambda x: x.tensor_split((1, 4)), lambda x: x.tensor_split((4, 1)), lambda x: torch.hsplit(x, 2), lambda x: torch.vsplit(x, [2]),
    lambda x: torch.dsplit(x, 2), lambda x: x.split_with_sizes([2, 4]), lambda x: x.unsafe_chunk(2), lambda x: x.unsafe_split(5)])
def test_gradients(function, check_gradients):
    check_gradients(function, X)
    check_gradients(lambda x: function(x)[-1], X)


def test_values_against_numpy():
    x = torch.from_numpy(X)
    for ours, theirs in ((x.tensor_split(4), np.array_split(X, 4)), (x.tensor_split((1, 4)), np.split(X, (1, 4))), (x.hsplit(2), np.hsplit(X, 2)),
                         (x.vsplit(3), np.vsplit(X, 3)), (x.dsplit((1,)), np.dsplit(X, (1,))), (x.split(2), np.split(X, 3))):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            np.testing.assert_array_equal(a.numpy(), b)
    assert [p.tolist() for p in x.unbind(2)] == [X[..., 0].tolist(), X[..., 1].tolist()]
    assert lengths(x.tensor_split(torch.tensor([1, 2]))) == [1, 1, 4] and lengths(x.tensor_split(torch.tensor(2))) == [3, 3]


def test_parts_are_views_with_one_node():
    x = torch.zeros(4, 2)
    x.split(2)[1].fill_(3)
    assert x.tolist() == [[0, 0], [0, 0], [3, 3], [3, 3]]
    y = torch.zeros(4, requires_grad=True) * 1
    first, second = y.split(2)
    assert first.grad_fn is second.grad_fn and second.output_nr == 1 and first.grad_fn.name() == "SplitBackward0"
    with pytest.raises(RuntimeError, match="returns multiple views"):
        first.add_(1)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: x.split([1, 2]), RuntimeError, "to sum exactly to 5"),
    (lambda x: x.split([6, -1]), RuntimeError, "only non-negative entries"),
    (lambda x: x.split(0), RuntimeError, "split_size can only be 0"),
    (lambda x: x.split(-1), RuntimeError, "be non-negative"),
    (lambda x: x.split(2.5), TypeError, "not float"),
    (lambda x: x.chunk(0), RuntimeError, "to be greater than 0, got: 0"),
    (lambda x: torch.zeros(()).split(1), RuntimeError, "at least a 1-dimensional tensor"),
    (lambda x: torch.zeros(()).unbind(), IndexError, "tensor has no dimensions"),
    (lambda x: x.tensor_split(0), RuntimeError, "larger than 0, got 0"),
    (lambda x: x.vsplit(2), RuntimeError, "at least 2 dimension"),
    (lambda x: x.hsplit(2), RuntimeError, "not divisible by the split_size 2"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch.zeros(5))
