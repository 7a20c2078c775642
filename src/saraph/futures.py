"""`torch.futures`: results that are not there yet.

    f = Future()
    g = f.then(lambda done: done.value() + 1)
    f.set_result(1)         # on whichever thread
    g.wait()                # 2
"""
from __future__ import annotations

import concurrent.futures
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from saraph.devices import device as device_type

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that some thread sets once, and others wait for.

    devices: CUDA devices that the value's tensors may be on; there are none here.
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        for place in map(device_type, devices or ()):
            if place.index is None:
                raise ValueError(f"Expected devices to have indices, got {place}")
            raise RuntimeError(f"Future: there are no {place.type} devices here. Leave `devices` out.")
        self._future: concurrent.futures.Future = concurrent.futures.Future()

    def done(self) -> bool:
        """Whether there is a value, or an error."""
        return self._future.done()

    def wait(self) -> T:
        """The value, as soon as there is one; the error that was set is raised."""
        return self._future.result()

    def value(self) -> T:
        """The value, which must be there (or the error, raised)."""
        if not self.done():
            raise RuntimeError("Future.value() was called before the Future was completed. Use wait(), or value() in a callback.")
        return self._future.result()

    def set_result(self, result: T) -> None:
        """Set the value and run the callbacks, here and now."""
        self._complete(self._future.set_result, result)

    def set_exception(self, result: BaseException) -> None:
        """Set an error, which `wait` and `value` raise, and run the callbacks."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(self._future.set_exception, result)

    @staticmethod
    def _complete(set_it: Callable[[Any], None], value: Any) -> None:
        try:
            set_it(value)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once.") from None

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A Future of callback(self), which runs when self is done; its error becomes the new Future's."""
        later: Future[S] = Future()

        def run(_: Any) -> None:
            try:
                value = callback(self)
            except Exception as error:
                failure = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
                failure.__cause__ = error
                later.set_exception(failure)
            else:
                later.set_result(value)

        self._future.add_done_callback(run)
        return later

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call callback(self) when self is done, or at once if it is. Its errors are printed and go no further."""

        def run(_: Any) -> None:
            try:
                callback(self)
            except Exception:
                print("Got the following error when running the callback:", file=sys.stderr)
                traceback.print_exc()

        self._future.add_done_callback(run)


def collect_all(futures: Sequence[Future]) -> Future[list[Future]]:
    """A Future of the list of these Futures, done when all of them are; the first error among them is its own."""
    together: Future[list[Future]] = Future()
    kept = list(futures)
    left, counting = [len(kept)], threading.Lock()

    def finish() -> None:
        error = next((e for e in (f._future.exception() for f in kept) if e is not None), None)
        if error is None:
            together.set_result(kept)
        else:
            together.set_exception(error)

    def one_more(_: Any) -> None:
        with counting:
            left[0] -= 1
            last = left[0] == 0
        if last:
            finish()

    if not kept:
        together.set_result(kept)
    for f in kept:
        f._future.add_done_callback(one_more)
    return together


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """The values of all, waiting for each; the first error is raised."""
    return [f.wait() for f in collect_all(futures).wait()]
