"""What runs in a loader's worker process, and how batches come back from it.

A worker gets tasks from one pipe and sends answers through another. The bytes of tensors do not go through the pipe: the pickler takes them
out, they are written side by side into nameless shared memory, and a descriptor of that follows the message. Nothing has a name in the file
system, so nothing is left behind, whoever is killed and when.
"""
from __future__ import annotations

import io
import os
import pickle
import queue
import random as python_random
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import connection, parent_process, reduction
from typing import Any

import numpy as np

from saraph import dtypes, random
from saraph.tensor import shared_memory
from saraph.tensor.tensor import Tensor, edge_of, needs_grad, wrap
from saraph.threads import set_num_threads

INLINE_BELOW = 1024  # bytes; smaller tensors travel in the message
PARENT_CHECK_SECONDS = 2.0


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows about itself: its number, how many there are, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The current worker's WorkerInfo; None in the main process."""
    return _info


class ExceptionWrapper:
    """An exception as text, to be raised again in the caller with the worker's traceback."""

    def __init__(self, error: BaseException, where: str):
        self.type, self.where = type(error), where
        self.text = "".join(traceback.format_exception(error))

    def reraise(self) -> None:
        """Raise the exception here."""
        message = f"Caught {self.type.__name__} {self.where}.\nOriginal {self.text}"
        if self.type is KeyError:
            raise KeyError(_Verbatim(message))
        try:
            error = self.type(message)
        except Exception:  # a class that is not made from one text
            raise RuntimeError(message) from None
        raise error


class _Verbatim(str):
    """A message that KeyError prints as it is."""

    def __repr__(self) -> str:
        return str(self)


# -- messages ------------------------------------------------------------------------------------------------------------


class _Packer(pickle.Pickler):
    """Pickles everything but plain tensors; their bytes it puts into the message when they are few, and collects them otherwise."""

    def __init__(self, stream: io.BytesIO):
        super().__init__(stream, protocol=5)
        self.parts: list[np.ndarray] = []
        self.offset = 0
        self.keys: dict[int, tuple] = {}
        self.seen: list[Tensor] = []  # keeps the ids in `keys` taken

    def persistent_id(self, value: Any) -> Any:
        if type(value) is not Tensor or value._a.__class__ is not np.ndarray:
            return None
        key = self.keys.get(id(value))
        if key is None:
            key = self.keys[id(value)] = self._take(value)
            self.seen.append(value)
        return key

    def _take(self, value: Tensor) -> tuple:
        recorded = needs_grad(value)
        if recorded and edge_of(value) is not value:
            raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
                               "boundaries. If you just want to transfer the data, call detach() on the tensor before returning it from the dataset.")
        a = value._a
        order = None
        if not a.flags.c_contiguous:
            order = sorted(range(a.ndim), key=lambda d: -abs(a.strides[d]))  # the memory order, for channels_last and transposes
        dense = np.ascontiguousarray(a if order is None else a.transpose(order)).reshape(-1).view(np.uint8)
        if dense.nbytes < INLINE_BELOW:
            return id(value), a.shape, a.dtype.name, order, recorded, dense.tobytes()
        start = self.offset
        self.offset += -(-dense.nbytes // shared_memory.ALIGNMENT) * shared_memory.ALIGNMENT
        self.parts.append(dense)
        return id(value), a.shape, a.dtype.name, order, recorded, start


class _Unpacker(pickle.Unpickler):
    def __init__(self, message: Any, descriptor: int):
        super().__init__(io.BytesIO(message))
        self.descriptor = descriptor
        self.made: dict[int, Tensor] = {}

    def persistent_load(self, key: Any) -> Tensor:
        number, shape, name, order, recorded, place = key
        if number in self.made:
            return self.made[number]
        a = np.empty(shape if order is None else [shape[d] for d in order], _DTYPES[name])
        content = a.reshape(-1).view(np.uint8)
        if isinstance(place, bytes):
            content[:] = np.frombuffer(place, np.uint8)
        else:
            shared_memory.fetch(self.descriptor, place, content)
        t = self.made[number] = wrap(a if order is None else a.transpose(sorted(range(len(order)), key=order.__getitem__)))
        t._rg = recorded
        return t


_DTYPES = {t.numpy.name: t.numpy for t in dtypes.ALL}


def send(pipe: Any, value: Any) -> None:
    """Send a value; the bytes of its tensors go through shared memory."""
    stream = io.BytesIO()
    packer = _Packer(stream)
    packer.dump(value)
    if not packer.parts:
        pipe.send_bytes(b"\0" + stream.getvalue())
        return
    descriptor = shared_memory.filled(packer.parts)
    try:
        pipe.send_bytes(b"\1" + stream.getvalue())
        reduction.send_handle(pipe, descriptor, None)
    finally:
        os.close(descriptor)


def receive(pipe: Any) -> Any:
    """The next value. EOFError or OSError when the sender is gone."""
    message = pipe.recv_bytes()
    if not message[0]:
        return _Unpacker(memoryview(message)[1:], -1).load()
    descriptor = reduction.recv_handle(pipe)
    try:
        return _Unpacker(memoryview(message)[1:], descriptor).load()
    finally:
        os.close(descriptor)


# -- the worker ----------------------------------------------------------------------------------------------------------


def numpy_seed(base: int, worker: int) -> list[int]:
    """The words that PyTorch's workers seed NumPy with: mixed, so that they share nothing with the other libraries' seeds."""
    words = [worker, base & 0xFFFFFFFF, (base >> 32) & 0xFFFFFFFF, 0]
    return [int(x) for x in np.random.SeedSequence(words).generate_state(4)]


def seed_all(base: int, worker: int) -> int:
    """Seed saraph, Python and NumPy of this worker, each worker and epoch differently."""
    seed = base + worker
    python_random.seed(seed)
    random.manual_seed(seed)
    np.random.seed(numpy_seed(base, worker))
    return seed


class _Ended:
    """What a worker answers when its iterable dataset has no more."""


ENDED = _Ended


def run(worker: int, count: int, dataset: Any, fetch_of: Any, tasks: Any, answers: Any, base_seed: int, init: Any) -> None:
    """The main loop of a worker process.

    A task is (number, indices) and is answered by (number, batch, ENDED or an ExceptionWrapper); "resume" starts another pass over the dataset;
    None ends the process.
    """
    global _info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business, which ends the workers
    set_num_threads(1)
    where = f"in DataLoader worker process {worker}"
    inbox: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, inbox), daemon=True).start()
    _info = WorkerInfo(worker, count, seed_all(base_seed, worker), dataset)
    failure = _attempt(lambda: init(worker), where) if init is not None else None
    fetch: Any = None
    started = False
    while (task := inbox.get()) is not None:
        if task == "resume":
            started, fetch = False, None
            continue
        if not started:
            started = True
            made: list = []
            failure = failure or _attempt(lambda made=made: made.append(fetch_of(dataset)), where)
            fetch = made[0] if made else None
        number, indices = task
        if failure is not None:
            answer, failure = failure, None
            started = fetch is not None
        else:
            answer = _fetched(fetch, indices, fetch_of.streams, where)
        _answer(answers, number, answer, where)


def _attempt(action: Callable[[], Any], where: str) -> ExceptionWrapper | None:
    try:
        action()
    except Exception as error:
        return ExceptionWrapper(error, where)
    return None


def _fetched(fetch: Callable, indices: Any, streams: bool, where: str) -> Any:
    try:
        return fetch(indices)
    except Exception as error:
        return ENDED if streams and isinstance(error, StopIteration) else ExceptionWrapper(error, where)


def _answer(answers: Any, number: int, value: Any, where: str) -> None:
    try:
        send(answers, (number, value))
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the parent is gone
    except Exception as failure:  # the batch, or the class of its error, cannot be pickled
        error: Exception = failure
        if isinstance(value, ExceptionWrapper):
            error = RuntimeError(f"{value.text}(raised again as RuntimeError, because {value.type.__name__} cannot be pickled)")
        send(answers, (number, ExceptionWrapper(error, where)))


def _listen(tasks: Any, inbox: Any) -> None:
    """Take tasks off the pipe at once, so that the caller never waits to hand one over; end the process when the caller is gone."""
    parent, first_parent = parent_process(), os.getppid()
    try:
        while os.getppid() == first_parent:
            ready = connection.wait([tasks, parent.sentinel], PARENT_CHECK_SECONDS)
            if tasks in ready:
                task = tasks.recv()
                inbox.put(task)
                if task is None:
                    return
            elif ready:
                break
    except (EOFError, OSError):
        os._exit(0)
    os._exit(0)
