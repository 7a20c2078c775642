"""Workers: order, seeds, errors, death, and nothing left behind. The numbers are those of PyTorch's workers for these seeds."""
from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import saraph as torch
from saraph.utils import data

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
              pytest.mark.filterwarnings("ignore:.*worker processes in total.*:UserWarning")]


class Numbers(data.Dataset):
    def __init__(self, n=10, action=None):
        self.n, self.action = n, action

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i if self.action is None else self.action(i)


class Stream(data.IterableDataset):
    """Each worker gives its own numbers: 7, 2 and 4 of them."""

    def __iter__(self):
        info = data.get_worker_info()
        k = 0 if info is None else info.id
        return iter(range(10 * k, 10 * k + [7, 2, 4][k]))


def epoch(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("persistent", [False, True])
def test_seeds_are_pytorchs_and_differ(persistent):
    torch.manual_seed(2)
    dataset = Numbers(4, lambda i: (random.random(), float(np.random.rand()), float(torch.rand(()).item())))
    loader = data.DataLoader(dataset, 2, num_workers=2, persistent_workers=persistent)
    first, second = ([[column.tolist() for column in batch] for batch in loader] for _ in range(2))
    assert first == [[[0.07727429622038218, 0.8523004211637532], [0.9962325375451596, 0.9919627524710295], [0.603442907333374, 0.6587887406349182]],
                     [[0.6976392852294083, 0.8131174529583896], [0.4847643495910071, 0.19484812116214545], [0.1584603190422058, 0.5358704328536987]]]
    assert second[1][1][1] == (0.6007409950387297 if persistent else 0.15418925209923717)
    drawn = [value for e in (first, second) for batch in e for column in batch for value in column]
    assert len(set(drawn)) == 24


@pytest.mark.parametrize("workers, drop_last, expected", [
    (2, False, [[0, 1], [10, 11], [2, 3], [4, 5], [6]]), (2, True, [[0, 1], [10, 11], [2, 3], [4, 5]]),
    (3, False, [[0, 1], [10, 11], [20, 21], [2, 3], [22, 23], [4, 5], [6]])])
def test_streams_are_shared(workers, drop_last, expected):
    loader = data.DataLoader(Stream(), 2, num_workers=workers, drop_last=drop_last)
    assert epoch(loader) == expected
    persistent = data.DataLoader(Stream(), 2, num_workers=workers, drop_last=drop_last, persistent_workers=True)
    assert epoch(persistent) == epoch(persistent) == expected


def test_persistent_workers_stay():
    loader = data.DataLoader(Numbers(4, lambda i: os.getpid()), 1, num_workers=2, persistent_workers=True)
    first, second = epoch(loader), epoch(loader)
    assert first == second and len({p for [p] in first}) == 2 and os.getpid() not in first
    other = data.DataLoader(Numbers(4, lambda i: os.getpid()), 1, num_workers=2)
    assert set(map(tuple, epoch(other))).isdisjoint(map(tuple, epoch(other)))


def test_an_epoch_left_early():
    loader = data.DataLoader(Numbers(40), 1, num_workers=2, persistent_workers=True)
    next(iter(loader))
    assert [b for [b] in epoch(loader)] == list(range(40))
    for batch in data.DataLoader(Numbers(40), 1, num_workers=2):
        assert batch.tolist() == [0]
        break


def test_prefetching_has_a_bound(tmp_path):
    def note(i):
        (tmp_path / str(i)).touch()
        return i

    iterator = iter(data.DataLoader(Numbers(100, note), 1, num_workers=2, prefetch_factor=3))
    next(iterator)
    deadline = time.monotonic() + 10
    while len(os.listdir(tmp_path)) < 7 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(os.listdir(tmp_path)) == 7  # 3 for each of 2 workers, and one more for the batch that was taken


def test_tensors_with_history_do_not_travel():
    w = torch.ones(2, requires_grad=True)
    loader = data.DataLoader(Numbers(2, lambda i: w * 2), 1, num_workers=1)
    with pytest.raises(RuntimeError, match="non-leaf tensor which requires_grad"):
        next(iter(loader))


def test_large_messages_do_not_block():
    blob = bytes(300_000)  # more than a pipe holds, in both directions
    loader = data.DataLoader(Numbers(8, lambda i: blob), sampler=[0] * 8, batch_size=None, num_workers=2)
    assert [len(b) for b in loader] == [300_000] * 8
    many = data.DataLoader(Numbers(200_000, lambda i: 1), 50_000, num_workers=2, collate_fn=len)
    assert list(many) == [50_000] * 4


class Failure(Exception):
    pass


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def failing(error):
    def action(i):
        if i == 1:
            raise error
        return i
    return action


@pytest.mark.parametrize("error, expected", [(ValueError("bad"), ValueError), (Failure("bad"), Failure), (KeyError("bad"), KeyError),
                                             (TwoArguments("bad", 2), RuntimeError), (StopIteration("bad"), StopIteration)])
def test_errors_come_back(error, expected):
    iterator = iter(data.DataLoader(Numbers(4, failing(error)), 1, num_workers=2))
    assert next(iterator).tolist() == [0]
    with pytest.raises(expected) as caught:
        next(iterator)
    text = str(caught.value)
    assert f"Caught {type(error).__name__} in DataLoader worker process 1" in text and "bad" in text and "in action" in text
    assert next(iterator).tolist() == [2]  # the loader goes on


def test_errors_that_cannot_travel():
    class Local(Exception):
        pass

    with pytest.raises(RuntimeError, match="Local"):
        list(data.DataLoader(Numbers(2, failing(Local("bad"))), 1, num_workers=1))
    with pytest.raises((AttributeError, TypeError), match="pickle|local"):
        list(data.DataLoader(Numbers(2, lambda i: lambda: None), None, num_workers=1))


def test_errors_of_the_beginning():
    def init(worker):
        raise Failure(f"worker {worker}")

    with pytest.raises(Failure, match="worker 0"):
        list(data.DataLoader(Numbers(2), 1, num_workers=2, worker_init_fn=init))

    class Broken(data.IterableDataset):
        def __iter__(self):
            raise Failure("no stream")

    loader = data.DataLoader(Broken(), 1, num_workers=1, persistent_workers=True)
    for _ in range(2):
        with pytest.raises(Failure, match="no stream"):
            next(iter(loader))


def test_batches_as_they_come(tmp_path):
    def sample(i):
        if i == 0:
            while not (tmp_path / "go").exists():
                time.sleep(0.01)
        return i

    iterator = iter(data.DataLoader(Numbers(6, sample), None, num_workers=2, in_order=False))
    seen = [next(iterator), next(iterator)]
    (tmp_path / "go").touch()
    seen += list(iterator)
    assert seen[0] == 1 and sorted(seen) == list(range(6))


def test_orders_are_pytorchs():
    torch.manual_seed(1)
    loader = data.DataLoader(Numbers(), 4, shuffle=True, num_workers=2)
    assert epoch(loader) == [[4, 2, 0, 6], [8, 7, 9, 1], [5, 3]]
    assert epoch(loader) == [[4, 8, 1, 5], [0, 2, 3, 6], [9, 7]]
    torch.manual_seed(1)
    loader = data.DataLoader(Numbers(), 4, shuffle=True, num_workers=2, persistent_workers=True)
    assert epoch(loader) == [[4, 2, 0, 6], [8, 7, 9, 1], [5, 3]]
    assert epoch(loader) == [[9, 7, 8, 3], [5, 1, 2, 0], [4, 6]]
    assert torch.rand(()).item() == 0.3971373438835144


def test_what_a_worker_knows():
    def init(worker):
        data.get_worker_info().dataset.n = worker

    def describe(i):
        info = data.get_worker_info()
        return info.id, info.num_workers, info.dataset.n, info.seed - torch.initial_seed()

    loader = data.DataLoader(Numbers(4, describe), None, num_workers=2, worker_init_fn=init)
    assert list(loader) == [[0, 2, 0, 0], [1, 2, 1, 0]] * 2 and data.get_worker_info() is None


@pytest.mark.parametrize("n", [1, 1000])  # small tensors travel in the message, large ones through shared memory
def test_tensors_arrive_as_they_are(n):
    x = torch.arange(6.0 * n).reshape(2, 3, n)
    image = torch.arange(24.0 * n).reshape(2, 3, 4, n).to(memory_format=torch.channels_last)
    leaf = torch.ones(n, requires_grad=True)

    def sample(i):
        return {"row": x[i], "transposed": x.transpose(0, 2), "wide": x[:1].expand(3, 3, n), "image": image, "leaf": leaf, "again": leaf, "i": i,
                "empty": torch.zeros(0, n), "half": torch.full((n,), 2.5, dtype=torch.bfloat16), "c": torch.full((n,), 1j), "step": x.flatten()[::2]}

    loader = data.DataLoader(Numbers(2, sample), None, num_workers=2)
    for i, got in enumerate(loader):
        for key, value in sample(i).items():
            if key != "i":
                assert got[key].dtype is value.dtype and torch.equal(got[key], value), key
        assert got["i"] == i and got["leaf"] is got["again"] and got["leaf"].requires_grad and got["leaf"].is_leaf and not got["row"].requires_grad
        assert got["image"].is_contiguous(memory_format=torch.channels_last) and (n == 1 or got["transposed"].stride() == (1, n, 3 * n))
        assert got["row"].untyped_storage().nbytes() == 12 * n
        got["row"].add_(1)
        assert torch.equal(got["row"], x[i] + 1)


def test_other_things_travel():
    sample = {"a": np.arange(3000.0), "s": "text", "p": torch.nn.Parameter(torch.ones(2)), "sparse": torch.eye(2).to_sparse(),
              "meta": torch.ones(2, device="meta")}
    [got] = data.DataLoader(Numbers(1, lambda i: sample), 1, num_workers=1, collate_fn=lambda samples: samples[0])
    assert np.array_equal(got["a"], sample["a"]) and got["s"] == "text" and isinstance(got["p"], torch.nn.Parameter)
    assert torch.equal(got["sparse"].to_dense(), torch.eye(2)) and got["meta"].is_meta


def test_a_killed_worker_is_noticed():
    def die(i):
        if i == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    loader = data.DataLoader(Numbers(8, die), 1, num_workers=2, persistent_workers=True)
    for _ in range(2):  # the next epoch starts new workers
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly, killed by signal: SIGKILL"):
            list(loader)
        assert time.monotonic() - start < 30
    with pytest.raises(RuntimeError, match="exited unexpectedly, with exit code 3"):
        list(data.DataLoader(Numbers(8, lambda i: os._exit(3)), 1, num_workers=1))


def test_timeout():
    loader = data.DataLoader(Numbers(2, lambda i: time.sleep(100 * i)), None, num_workers=1, timeout=0.3)
    iterator = iter(loader)
    next(iterator)
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.3 seconds"):
        next(iterator)


def test_nothing_is_left():
    big = torch.zeros(10_000)
    gc.collect()
    processes, descriptors, shared = multiprocessing.active_children(), os.listdir("/proc/self/fd"), os.listdir("/dev/shm")
    for persistent in (False, True):
        loader = data.DataLoader(Numbers(20, lambda i: big), 2, num_workers=2, persistent_workers=persistent)
        kept = list(loader)
        next(iter(loader))
        assert len(multiprocessing.active_children()) - len(processes) == (2 if persistent else 0)
        del loader
        assert multiprocessing.active_children() == processes and kept[3].shape == (2, 10_000)
    assert len(os.listdir("/proc/self/fd")) <= len(descriptors)
    assert not [name for name in os.listdir("/dev/shm") if name not in shared and f"saraph_{os.getpid()}" in name]


SCRIPT = """
import os, sys, time
import saraph as torch
from saraph.utils.data import DataLoader, Dataset, get_worker_info

class Slow(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        time.sleep(float(sys.argv[2]) * i)
        return torch.full((1000,), i), get_worker_info().id

if __name__ == "__main__":
    loader = DataLoader(Slow(), 2, num_workers=2, multiprocessing_context=sys.argv[1])
    iterator = iter(loader)
    for batch, worker in iterator:
        print(*batch[:, 0].tolist(), *worker.tolist(), flush=True)
        if float(sys.argv[2]):
            print(*[p.pid for p in iterator._pool.processes], flush=True)
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    def start(*arguments):
        return subprocess.Popen([sys.executable, tmp_path / "script.py", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, start_new_session=True)
    return start


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start_workers(script, method):
    output, errors = script(method, "0").communicate(timeout=120)
    assert output.splitlines() == ["0 1 0 0", "2 3 1 1", "4 5 0 0", "6 7 1 1"], errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(script, number):
    shared = os.listdir("/dev/shm")
    process = script("fork", "0.05")
    process.stdout.readline()
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2 and all(_alive(pid) for pid in pids)
    os.kill(process.pid, number)
    errors = process.communicate(timeout=60)[1]
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in errors and "Process" not in errors
    deadline = time.monotonic() + 30
    while any(_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_alive(pid) for pid in pids)
    assert not [name for name in os.listdir("/dev/shm") if name not in shared and str(process.pid) in name]


def _alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_more_workers_than_processors_warn():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data.DataLoader(Numbers(1), num_workers=10_000).check_worker_number_rationality()
    assert "worker processes in total" in str(caught[0].message)
