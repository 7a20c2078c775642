"""Samplers. The expected orders are PyTorch's for these seeds."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.utils import data


def test_sequential():
    sampler = data.SequentialSampler("abc")
    assert list(sampler) == [0, 1, 2] and len(sampler) == 3


def test_random_orders_are_pytorchs():
    torch.manual_seed(3)
    assert list(data.RandomSampler(range(5), replacement=True, num_samples=40)) == [
        2, 3, 0, 1, 3, 1, 2, 2, 3, 4, 3, 1, 2, 0, 0, 4, 2, 0, 3, 4, 1, 3, 0, 1, 3, 1, 2, 4, 2, 1, 1, 0, 3, 3, 2, 4, 3, 1, 0, 4]
    assert list(data.RandomSampler(range(5), num_samples=12)) == [1, 4, 3, 0, 2, 2, 3, 4, 1, 0, 2, 4]
    assert list(data.RandomSampler(range(5), generator=torch.Generator().manual_seed(1))) == [0, 4, 2, 3, 1]
    assert list(data.SubsetRandomSampler([10, 20, 30, 40])) == [10, 20, 30, 40]
    assert list(data.WeightedRandomSampler([1, 2, 3, 0], 6)) == [2, 0, 1, 1, 2, 2]
    assert list(data.WeightedRandomSampler([1, 2, 3, 1], 4, replacement=False)) == [2, 1, 3, 0]


def test_random_sampler_visits_everything_once():
    generator = torch.Generator().manual_seed(0)
    sampler = data.RandomSampler(range(100), generator=generator)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(100)) and first != second and len(sampler) == 100
    subset = data.SubsetRandomSampler([3, 5, 8], generator=generator)
    assert sorted(subset) == [3, 5, 8] and len(subset) == 3


def test_batches_of_a_sampler():
    assert list(data.BatchSampler(range(7), 3, False)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(data.BatchSampler(range(7), 3, True)) == [[0, 1, 2], [3, 4, 5]]
    assert list(data.BatchSampler([], 3, False)) == []
    assert [len(data.BatchSampler(range(n), 3, drop)) for n in (6, 7) for drop in (False, True)] == [2, 2, 3, 2]


@pytest.mark.parametrize("options, expected", [
    ({}, [[10, 5, 9], [0, 8, 7], [4, 2, 6], [3, 1, 10]]),
    ({"drop_last": True}, [[10, 5], [0, 8], [4, 2], [3, 1]]),
    ({"shuffle": False}, [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 0]]),
    ({"seed": 3}, [[9, 4, 1], [0, 5, 10], [3, 2, 7], [6, 8, 9]])])
def test_shares_of_processes(options, expected):
    assert [list(data.DistributedSampler(range(11), 4, rank, **options)) for rank in range(4)] == expected
    assert all(len(data.distributed.DistributedSampler(range(11), 4, rank, **options)) == len(expected[0]) for rank in range(4))


def test_shares_depend_on_the_epoch():
    sampler = data.DistributedSampler(range(11), 2, 1)
    sampler.set_epoch(2)
    assert list(sampler) == [8, 0, 4, 2, 6, 3]


def test_more_processes_than_samples():
    assert [list(data.DistributedSampler(range(2), 5, rank, shuffle=False)) for rank in range(5)] == [[0], [1], [0], [1], [0]]


@pytest.mark.parametrize("make, error", [
    (lambda: data.RandomSampler([]), ValueError),
    (lambda: data.RandomSampler(range(3), num_samples=0), ValueError),
    (lambda: data.RandomSampler(range(3), replacement=1), TypeError),
    (lambda: data.WeightedRandomSampler([1, 2], 0), ValueError),
    (lambda: data.WeightedRandomSampler([1, 2], True), ValueError),
    (lambda: data.WeightedRandomSampler([1, 2], 1, replacement=0), ValueError),
    (lambda: data.WeightedRandomSampler([[1, 2]], 1), ValueError),
    (lambda: data.BatchSampler(range(3), 0, False), ValueError),
    (lambda: data.BatchSampler(range(3), True, False), ValueError),
    (lambda: data.BatchSampler(range(3), 2, 1), ValueError),
    (lambda: data.DistributedSampler(range(3), 2, 2), ValueError),
    (lambda: data.DistributedSampler(range(3)), RuntimeError),
    (lambda: iter(data.Sampler()), NotImplementedError)])
def test_errors(make, error):
    with pytest.raises(error):
        make()
