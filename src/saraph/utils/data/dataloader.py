"""`DataLoader`: batches from a dataset, in this process or fed by workers."""
from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from multiprocessing import connection
from typing import Any, Generic, TypeVar

from saraph.cuda import is_available
from saraph.utils.data import worker as workers
from saraph.utils.data.collate import default_collate, default_convert
from saraph.utils.data.dataset import Dataset, IterableDataset, TensorDataset
from saraph.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "get_worker_info"]
T_co = TypeVar("T_co", covariant=True)
get_worker_info = workers.get_worker_info
PATIENCE_SECONDS = 1.0


class _Forever:
    """The sampler of an iterable dataset: no indices, without end."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class _MapFetcher:
    """Fetches the samples of a batch's indices and collates them."""

    streams = False

    def __init__(self, collate_fn: Callable, batched: bool):
        self.collate_fn, self.batched = collate_fn, batched

    def __call__(self, dataset: Any) -> Callable[[Any], Any]:
        collate = self.collate_fn
        if not self.batched:
            return lambda index: collate(dataset[index])
        whole = getattr(dataset, "__getitems__", None)

        def fetch(indices: Any) -> Any:
            return collate(whole(indices) if callable(whole) else [dataset[i] for i in indices])

        if type(dataset) is not TensorDataset or collate is not default_collate:
            return fetch
        tensors = dataset.tensors

        def fetch_rows(indices: Any) -> Any:
            if type(indices) is list and set(map(type, indices)) == _INTEGERS:
                return [t[indices] for t in tensors]  # the same batch, without taking it apart and together
            return fetch(indices)

        return fetch_rows


_INTEGERS = {int}


class _IterableFetcher:
    """Takes the next samples off an iterable dataset and collates them."""

    streams = True

    def __init__(self, collate_fn: Callable, batched: bool, drop_last: bool):
        self.collate_fn, self.batched, self.drop_last = collate_fn, batched, drop_last

    def __call__(self, dataset: Any) -> Callable[[Any], Any]:
        source, collate, batched, drop_last = iter(dataset), self.collate_fn, self.batched, self.drop_last
        ended = False

        def fetch(indices: Any) -> Any:
            nonlocal ended
            if ended:
                raise StopIteration
            if not batched:
                return collate(next(source))
            samples = list(itertools.islice(source, len(indices)))
            if len(samples) < len(indices):
                ended = True
            if not samples or (drop_last and ended):
                raise StopIteration
            return collate(samples)

        return fetch


class DataLoader(Generic[T_co]):
    """Iterate over a dataset in batches.

    batch_size (None: single samples), shuffle, sampler, batch_sampler: which samples, in which order.
    num_workers processes fetch ahead (prefetch_factor batches each); persistent_workers keeps them between epochs; timeout (seconds) is how long a
    batch may take; worker_init_fn(worker number) runs first in each; multiprocessing_context is "fork", "spawn" or "forkserver".
    generator: the stream for shuffling and worker seeds (default: the global one). in_order=False gives batches as they come.
    Errors in a worker are raised here with its traceback; a worker that dies raises RuntimeError within seconds.
    """

    dataset: Dataset[T_co]
    _iterator: Any = None
    _length_said: int | None = None
    _initialized = False

    def __init__(self, dataset: Dataset[T_co], batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
                 batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable | None = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable | None = None, multiprocessing_context: Any = None,
                 generator: Any = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "",
                 in_order: bool = True) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, "
                             "otherwise set prefetch_factor to None.")
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.pin_memory, self.pin_memory_device = dataset, num_workers, pin_memory, pin_memory_device
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        else:
            shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = _Forever() if self._iterable else (RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler, self.generator = batch_size, drop_last, sampler, batch_sampler, generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn, self.persistent_workers = collate_fn, persistent_workers
        self._initialized = True

    @property
    def multiprocessing_context(self) -> Any:
        """The context that workers are started from; None is Python's default. May be set to a context or the name of a start method."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self._multiprocessing_context = _context(context, self.num_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        object.__setattr__(self, name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _fetcher(self) -> Any:
        if self._iterable:
            return _IterableFetcher(self.collate_fn, self._auto_collation, self.drop_last)
        return _MapFetcher(self.collate_fn, self._auto_collation)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return _SingleProcessIterator(self)
        if self.persistent_workers:
            if self._iterator is None or self._iterator.closed:
                self._iterator = _WorkersIterator(self)
            else:
                self._iterator.restart()
            return self._iterator
        return _WorkersIterator(self)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        n = len(self.dataset)
        if self.batch_size is not None:
            n = n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        self._length_said = n
        return n

    def check_worker_number_rationality(self) -> None:
        """Warn when there are more workers than CPUs."""
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if self.num_workers > cpus:
            warnings.warn(f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker in current "
                          f"system is {cpus}, which is smaller than what this DataLoader is going to create.", stacklevel=2)


def _context(context: Any, num_workers: int) -> Any:
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={num_workers}")
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(f"multiprocessing_context option should specify a valid start method in {known!r}, but got multiprocessing_context="
                             f"{context!r}")
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the start method, but got "
                        f"multiprocessing_context={context}")
    return context


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified batch_sampler option, but got batch_sampler={batch_sampler}")


class _Iterator:
    """What both kinds of iterators do: count the batches of an iterable dataset, which may give more than its length says."""

    def __init__(self, loader: DataLoader):
        if loader.pin_memory and not is_available():
            warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.", stacklevel=4)
        self._sampler, self._dataset, self._length_said = loader._index_sampler, loader.dataset, loader._length_said
        self._base_seed = draw_seed(loader.generator)

    def __iter__(self) -> _Iterator:
        return self

    def __len__(self) -> int:
        return len(self._sampler)

    def __next__(self) -> Any:
        batch = self._next()
        self._given_out += 1
        said = self._length_said
        if said is not None and self._given_out > said:
            warnings.warn(f"Length of IterableDataset {self._dataset} was reported to be {said} (when accessing len(dataloader)), but "
                          f"{self._given_out} samples have been fetched. With several workers, each must give its own share only: see "
                          "get_worker_info().", stacklevel=2)
        return batch

    _given_out = 0

    def _next(self) -> Any:
        raise StopIteration


class _SingleProcessIterator(_Iterator):
    """Batches made in this process."""

    def __init__(self, loader: DataLoader):
        super().__init__(loader)
        self._indices = iter(self._sampler)
        self._fetch = loader._fetcher()(loader.dataset)

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


class _Pool:
    """The worker processes of an iterator, with a pipe each way to every one. Ends them when it is dropped."""

    def __init__(self, loader: DataLoader, base_seed: int):
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self.processes, self.tasks, self.answers = [], [], []
        self.close = weakref.finalize(self, _end, self.processes, self.tasks, self.answers, os.getpid())
        for k in range(loader.num_workers):
            task_out, task_in = context.Pipe(duplex=False)
            answer_out, answer_in = context.Pipe(duplex=True)  # a socket, for the descriptors
            self.tasks.append(task_in)
            self.answers.append(answer_out)
            process = context.Process(target=workers.run, daemon=True, args=(
                k, loader.num_workers, loader.dataset, loader._fetcher(), task_out, answer_in, base_seed, loader.worker_init_fn))
            process.start()
            task_out.close()
            answer_in.close()
            self.processes.append(process)


def _end(processes: list, tasks: list, answers: list, owner: int) -> None:
    """Stop workers: ask, close the pipes, wait a little, then end them."""
    if os.getpid() != owner:
        return  # a forked copy of the owner: the workers are not its children
    for pipe in tasks:
        try:
            pipe.send(None)
        except OSError:
            continue  # the worker is gone already
    for pipe in (*tasks, *answers):  # a worker that is sending finds that nobody reads
        pipe.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        if process.is_alive():
            process.terminate()
            process.join(PATIENCE_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()


class _WorkersIterator(_Iterator):
    """Batches made by workers: tasks are dealt out in turn, answers put back in order."""

    def __init__(self, loader: DataLoader):
        super().__init__(loader)
        loader.check_worker_number_rationality()
        self._count, self._prefetch, self._persistent = loader.num_workers, max(1, loader.prefetch_factor or 1), loader.persistent_workers
        self._in_order, self._timeout = loader.in_order, loader.timeout
        self._pool = _Pool(loader, self._base_seed)
        self._pending: dict[int, int] = {}  # task number -> worker
        self._start_epoch()

    @property
    def closed(self) -> bool:
        """Whether the workers were ended."""
        return not self._pool.close.alive

    def restart(self) -> None:
        """A new epoch with the same (persistent) workers."""
        while self._pending:  # answers of an epoch that was left early
            self._pending.pop(self._receive()[0], None)
        for pipe in self._pool.tasks:
            _send(pipe, "resume")
        self._start_epoch()

    def _start_epoch(self) -> None:
        self._indices = iter(self._sampler)
        self._arrived: dict[int, tuple[Any, int]] = {}  # task number -> answer, worker
        self._sent = self._wanted = self._given_out = 0
        self._live = set(range(self._count))
        self._turns = itertools.cycle(range(self._count))
        for _ in range(self._prefetch * self._count):
            self._hand_out()

    def _hand_out(self) -> None:
        """Give the next task to the next worker that still has data."""
        if not self._live:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        worker = next(w for w in self._turns if w in self._live)
        _send(self._pool.tasks[worker], (self._sent, indices))
        self._pending[self._sent] = worker
        self._sent += 1

    def _next(self) -> Any:
        while True:
            found = self._take()
            if found is None:
                if not self._pending:
                    if not self._persistent:
                        self._pool.close()
                    raise StopIteration
                number, value = self._receive()
                self._arrived[number] = value, self._pending.pop(number)
                continue
            value, worker = found
            if worker in self._live:
                if value is workers.ENDED:
                    self._live.discard(worker)
                self._hand_out()
            if isinstance(value, workers.ExceptionWrapper):
                value.reraise()
            if value is not workers.ENDED:
                return value

    def _take(self) -> tuple[Any, int] | None:
        """The next answer that may be given out."""
        if not self._in_order and self._arrived:
            return self._arrived.pop(next(iter(self._arrived)))
        if self._wanted not in self._arrived:
            return None
        self._wanted += 1
        return self._arrived.pop(self._wanted - 1)

    def _receive(self) -> tuple[int, Any]:
        """The next answer of any worker. RuntimeError when one died, or none came in time."""
        timeout = self._timeout
        deadline = time.monotonic() + timeout if timeout > 0 else None
        waiting = set(self._pending.values())
        answers = {self._pool.answers[w]: w for w in waiting}
        sentinels = {self._pool.processes[w].sentinel: w for w in waiting}
        while True:
            ready = connection.wait([*answers, *sentinels], None if deadline is None else max(0.0, deadline - time.monotonic()))
            for pipe in ready:
                if pipe in answers:
                    try:
                        return workers.receive(pipe)
                    except (EOFError, OSError):
                        self._report_dead(answers[pipe])
            for sentinel in ready:
                if not self._pool.answers[sentinels[sentinel]].poll():
                    self._report_dead(sentinels[sentinel])
            if not ready:
                self._pool.close()
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")

    def _report_dead(self, worker: int) -> None:
        process = self._pool.processes[worker]
        process.join(PATIENCE_SECONDS)
        code = process.exitcode
        reason = f"with exit code {code}" if code is None or code >= 0 else f"killed by signal: {signal.Signals(-code).name}"
        self._pool.close()
        raise RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly, {reason}. Out of memory, a crash in native code, or "
                           "os._exit in the dataset are the usual causes; num_workers=0 runs the same code in this process.")


def _send(pipe: Any, task: Any) -> None:
    try:
        pipe.send(task)
    except BrokenPipeError:
        return  # the worker is dead: who waits for its answer will find out
