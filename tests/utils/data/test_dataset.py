"""Datasets and their combinations."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.utils import data


class Squares(data.Dataset):
    """i -> i * i, counting how it was asked."""

    def __init__(self, n, start=0):
        self.n, self.start, self.whole = n, start, 0

    def __getitem__(self, i):
        return self.start + i * i

    def __len__(self):
        return self.n


class WholeSquares(Squares):
    def __getitems__(self, indices):
        self.whole += 1
        return [self[i] for i in indices]


class Stream(data.IterableDataset):
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)


def test_tensors():
    x, y = torch.arange(6).reshape(3, 2), torch.tensor([5, 6, 7])
    dataset = data.TensorDataset(x, y)
    assert len(dataset) == 3 and [t.tolist() for t in dataset[1]] == [[2, 3], 6] and [t.tolist() for t in dataset[1:]] == [[[2, 3], [4, 5]], [6, 7]]
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(x, y[:2])


def test_stacked():
    pair = data.StackDataset(Squares(3), Squares(3, 10))
    named = data.StackDataset(a=Squares(3), b=WholeSquares(3, 10))
    assert pair[2] == (4, 14) and len(pair) == 3 and pair.__getitems__([0, 1]) == [(0, 10), (1, 11)]
    assert named[2] == {"a": 4, "b": 14} and named.__getitems__([0, 2]) == [{"a": 0, "b": 10}, {"a": 4, "b": 14}]
    assert named.datasets["b"].whole == 1
    for wrong in (lambda: data.StackDataset(), lambda: data.StackDataset(Squares(1), b=Squares(1)), lambda: data.StackDataset(Squares(1), Squares(2))):
        with pytest.raises(ValueError):
            wrong()


def test_one_after_the_other():
    both = Squares(3) + Squares(2, 100)
    assert isinstance(both, data.ConcatDataset) and both.cumulative_sizes == [3, 5] and len(both) == 5
    assert [both[i] for i in range(-5, 5)] == [0, 1, 4, 100, 101] * 2
    for i in (5, 9):
        with pytest.raises(IndexError):
            both[i]
    with pytest.raises(ValueError):
        both[-6]
    with pytest.raises(AssertionError):
        data.ConcatDataset([])
    with pytest.raises(AssertionError):
        data.ConcatDataset([Stream(1)])
    with pytest.warns(FutureWarning):
        assert both.cummulative_sizes == [3, 5]


def test_streams_one_after_the_other():
    both = Stream(1, 2) + Stream(3)
    assert isinstance(both, data.ChainDataset) and list(both) == [1, 2, 3] and len(both) == 3
    with pytest.raises(AssertionError):
        list(data.ChainDataset([Squares(2)]))


def test_subset():
    part = data.Subset(Squares(10), [7, 2, 5])
    assert len(part) == 3 and [part[i] for i in range(3)] == [49, 4, 25] and part.__getitems__([2, 0]) == [25, 49]
    tensors = data.Subset(data.TensorDataset(torch.arange(5)), [4, 0, 3])
    assert tensors[[0, 2]][0].tolist() == [4, 3]
    inner = WholeSquares(10)
    assert data.Subset(inner, [7, 2]).__getitems__([1]) == [4] and inner.whole == 1


def test_random_parts_are_pytorchs():
    torch.manual_seed(4)
    a, b = data.random_split(range(10), [3, 7])
    assert list(a) == [0, 4, 9] and list(b) == [6, 7, 3, 2, 8, 1, 5]
    parts = data.random_split(range(11), [.3, .3, .4], generator=torch.Generator().manual_seed(1))
    assert [list(p) for p in parts] == [[0, 10, 2, 3], [7, 6, 4], [8, 1, 9, 5]]


def test_random_parts_that_cannot_be():
    with pytest.raises(ValueError, match="does not equal"):
        data.random_split(range(10), [3, 6])
    with pytest.raises(ValueError, match="between 0 and 1"):
        data.random_split(range(10), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        assert [len(p) for p in data.random_split(range(1), [.5, .5])] == [1, 0]


def test_what_a_subclass_must_define():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset()[0]
    assert data.Dataset[int] is not data.Dataset
