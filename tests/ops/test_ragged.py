"""Sequences of different lengths in one tensor."""
from __future__ import annotations

import numpy as np
import pytest

import saraph as torch
from saraph.nn.utils.rnn import pad_sequence

PARTS = [torch.tensor([1.0, 2]), torch.tensor([3.0, 4, 5]), torch.zeros(0)]


def test_both_orders_and_sides():
    right, left = [[1, 2, 0], [3, 4, 5], [0, 0, 0]], [[0, 1, 2], [3, 4, 5], [0, 0, 0]]
    assert pad_sequence(PARTS, batch_first=True).tolist() == right
    assert pad_sequence(tuple(PARTS)).tolist() == np.array(right).T.tolist()
    assert pad_sequence(iter(PARTS), True, padding_side="left").tolist() == left
    assert pad_sequence(PARTS, True, -1.5).tolist() == [[1, 2, -1.5], [3, 4, 5], [-1.5, -1.5, -1.5]]


def test_more_dimensions_and_dtypes():
    batch = pad_sequence([torch.ones(2, 3, dtype=torch.int32), torch.ones(4, 3, dtype=torch.int64)])
    assert batch.shape == (4, 2, 3) and batch.dtype is torch.int32 and batch.sum() == 18
    assert pad_sequence([torch.ones(2, dtype=torch.bfloat16)], padding_value=2).dtype is torch.bfloat16
    assert pad_sequence(torch.arange(6).reshape(2, 3), True).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pad_sequence([torch.ones(2, device="meta"), torch.ones(3, device="meta")]).shape == (3, 2)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_gradients(check_gradients, first, side):
    rng = np.random.default_rng(0)
    check_gradients(lambda *parts: pad_sequence(parts, first, 3.0, side), rng.random((2, 2)), rng.random((3, 2)), rng.random((0, 2)))


def test_gradients_keep_the_dtypes():
    a, b = torch.ones(2, requires_grad=True), torch.ones(3, dtype=torch.float64, requires_grad=True)
    pad_sequence([a, torch.ones(1), b]).sum().backward()
    assert a.grad.tolist() == [1, 1] and b.grad.tolist() == [1, 1, 1] and b.grad.dtype is torch.float64


def test_errors():
    with pytest.raises(RuntimeError, match="Expected iterable for input sequences"):
        pad_sequence(3)
    with pytest.raises(RuntimeError, match="padding_side"):
        pad_sequence(PARTS, padding_side="top")
    with pytest.raises(RuntimeError, match="empty list"):
        pad_sequence([])
    with pytest.raises(RuntimeError, match="match"):
        pad_sequence([torch.ones(2, 2), torch.ones(2, 3)])
    with pytest.raises(RuntimeError):
        pad_sequence([torch.tensor(1.0)])
    with pytest.raises(TypeError):
        pad_sequence([1, 2])
