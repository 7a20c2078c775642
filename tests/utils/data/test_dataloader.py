"""DataLoader in one process, and its options. The expected orders are PyTorch's for these seeds."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.utils import data


class Numbers(data.Dataset):
    def __init__(self, n=10):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Stream(data.IterableDataset):
    def __init__(self, n=7, length=None):
        self.n, self.length = n, length

    def __iter__(self):
        return iter(range(self.n))


class SizedStream(Stream):
    def __len__(self):
        return self.length


def epoch(loader):
    return [batch.tolist() for batch in loader]


def test_batches_in_order():
    loader = data.DataLoader(Numbers(), 4)
    assert epoch(loader) == epoch(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(loader) == 3 and len(iter(loader)) == 3 and loader.batch_size == 4 and isinstance(loader.sampler, data.SequentialSampler)
    assert epoch(data.DataLoader(Numbers(), 4, drop_last=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert epoch(data.DataLoader(Numbers(0), 4)) == []


def test_shuffled_orders_are_pytorchs():
    torch.manual_seed(0)
    loader = data.DataLoader(Numbers(), 3, shuffle=True)
    assert epoch(loader) == [[6, 7, 1], [4, 2, 0], [9, 8, 3], [5]]
    assert epoch(loader) == [[2, 4, 7], [0, 8, 9], [5, 3, 6], [1]]
    assert torch.rand(()).item() == 0.455627977848053
    generator = torch.Generator().manual_seed(5)
    loader = data.DataLoader(Numbers(), 4, shuffle=True, generator=generator, drop_last=True)
    assert epoch(loader) == [[7, 4, 8, 1], [2, 3, 6, 5]]
    assert epoch(loader) == [[2, 1, 6, 3], [5, 9, 4, 7]]
    assert torch.rand((), generator=generator).item() == 0.5818747282028198


def test_without_batches():
    assert list(data.DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2]
    assert len(data.DataLoader(Numbers(3), batch_size=None)) == 3
    assert list(data.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    rows = list(data.DataLoader(data.TensorDataset(torch.arange(4.0).reshape(2, 2)), batch_size=None))
    assert [r[0].tolist() for r in rows] == [[0, 1], [2, 3]]


def test_own_samplers():
    assert epoch(data.DataLoader(Numbers(), 2, sampler=[5, 3, 1])) == [[5, 3], [1]]
    assert epoch(data.DataLoader(Numbers(), batch_sampler=[[1, 2], [7]])) == [[1, 2], [7]]
    whole = data.BatchSampler(data.SequentialSampler(Numbers()), 4, False)
    rows = list(data.DataLoader(data.TensorDataset(torch.arange(10)), batch_size=None, sampler=whole))
    assert [r[0].tolist() for r in rows] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("indices", [[2, 0], (2, 0), [torch.tensor(2), torch.tensor(0)], torch.tensor([2, 0]), [-1, 0]])
def test_any_kind_of_indices(indices):
    x = torch.arange(6.0).reshape(3, 2)
    [batch] = data.DataLoader(data.TensorDataset(x, x[:, 0]), batch_sampler=[indices])
    assert batch[0].tolist() == [[4, 5], [0, 1]] and batch[1].tolist() == [4, 0]


def test_rows_of_tensors_keep_their_history():
    w = torch.ones(3, 2, requires_grad=True)
    for (batch,) in data.DataLoader(data.TensorDataset(w * 2), 2):
        batch.sum().backward(retain_graph=True)
    assert w.grad.tolist() == [[2, 2]] * 3
    x = torch.zeros(2, 2)
    [[batch]] = data.DataLoader(data.TensorDataset(x), 2)
    batch.fill_(1)
    assert not x.any()


def test_collate_function():
    assert list(data.DataLoader(Numbers(5), 2, collate_fn=lambda samples: samples)) == [[0, 1], [2, 3], [4]]
    x = torch.arange(3)
    assert list(data.DataLoader(data.TensorDataset(x), 2, collate_fn=len)) == [2, 1]


def test_whole_batches():
    class Whole(Numbers):
        def __getitems__(self, indices):
            return [10 * i for i in indices]

    assert epoch(data.DataLoader(Whole(4), 3)) == [[0, 10, 20], [30]]


def test_streams():
    assert epoch(data.DataLoader(Stream(), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert epoch(data.DataLoader(Stream(), 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TypeError, match="no len"):
        len(data.DataLoader(Stream(), 3))
    assert len(data.DataLoader(SizedStream(7, 7), 3)) == 3 and len(data.DataLoader(SizedStream(7, 7), 3, drop_last=True)) == 2


def test_a_stream_longer_than_it_says():
    loader = data.DataLoader(SizedStream(7, 2), 1)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset .* was reported to be 2"):
        assert len(list(loader)) == 7


def test_errors_of_the_dataset_pass_through():
    class Broken(Numbers):
        def __getitem__(self, i):
            raise KeyError(i)

    with pytest.raises(KeyError):
        next(iter(data.DataLoader(Broken())))


def test_pinned_memory_is_accepted():
    loader = data.DataLoader(Numbers(2), 2, pin_memory=True, pin_memory_device="cpu")
    with pytest.warns(UserWarning, match="pin_memory"):
        assert epoch(loader) == [[0, 1]]
    assert data.default_collate([1]).pin_memory is not None


@pytest.mark.parametrize("options, error", [
    ({"num_workers": -1}, ValueError), ({"timeout": -1}, ValueError), ({"prefetch_factor": 2}, ValueError),
    ({"num_workers": 1, "prefetch_factor": -1}, ValueError), ({"persistent_workers": True}, ValueError),
    ({"shuffle": True, "sampler": [0]}, ValueError), ({"batch_sampler": [[0]], "batch_size": 2}, ValueError),
    ({"batch_sampler": [[0]], "shuffle": True}, ValueError), ({"batch_sampler": [[0]], "drop_last": True}, ValueError),
    ({"batch_size": None, "drop_last": True}, ValueError), ({"batch_size": 0}, ValueError),
    ({"multiprocessing_context": "fork"}, ValueError), ({"num_workers": 1, "multiprocessing_context": "no"}, ValueError),
    ({"num_workers": 1, "multiprocessing_context": 3}, TypeError)])
def test_options_that_do_not_fit(options, error):
    with pytest.raises(error):
        data.DataLoader(Numbers(), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}])
def test_streams_have_no_order(options):
    with pytest.raises(ValueError, match="IterableDataset"):
        data.DataLoader(Stream(), **options)


@pytest.mark.parametrize("name", ["batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"])
def test_what_cannot_be_changed(name):
    with pytest.raises(ValueError, match=name):
        setattr(data.DataLoader(Numbers()), name, None)


def test_context_may_be_changed():
    loader = data.DataLoader(Numbers(), num_workers=1)
    loader.multiprocessing_context = "spawn"
    assert loader.multiprocessing_context.get_start_method() == "spawn"
    with pytest.raises(ValueError):
        loader.multiprocessing_context = "no"


def test_shuffling_nothing():
    with pytest.raises(ValueError, match="num_samples=0"):
        data.DataLoader(Numbers(0), shuffle=True)
