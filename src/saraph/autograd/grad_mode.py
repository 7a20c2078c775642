"""Grad modes: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`; contexts and decorators, per thread."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from saraph.tensor.state import thread

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
           "set_multithreading_enabled"]
F = TypeVar("F", bound=Callable[..., Any])


class _Mode:
    """A context that is also a decorator, for functions and for generators (where the mode holds only while the generator runs)."""

    __slots__ = ("_before",)

    def clone(self) -> _Mode:
        """A fresh context of the same kind."""
        return type(self)()

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(self.clone, function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated

    def __enter__(self) -> Any:
        raise RuntimeError("a mode must say what it switches")

    def __exit__(self, *exc: object) -> None:
        thread.grad = self._before


def _wrap_generator(fresh: Callable[[], Any], function: Callable) -> Any:
    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with fresh():
                value = generator.send(None)
            while True:
                try:
                    request = yield value
                except GeneratorExit:
                    with fresh():
                        generator.close()
                    raise
                except BaseException as error:
                    with fresh():
                        value = generator.throw(error)
                else:
                    with fresh():
                        value = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return decorated


class no_grad(_Mode):  # noqa: N801
    """Nothing is recorded for backward inside: `with no_grad(): ...` or `@no_grad()` (the parentheses may be left out)."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self._before = thread.grad
        thread.grad = False


class enable_grad(_Mode):  # noqa: N801
    """Ops are recorded inside, also within `no_grad`."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self._before = thread.grad
        thread.grad = not thread.inference


class set_grad_enabled(_Mode):  # noqa: N801
    """Switch recording on or off: at once as a function, and until the end of the block as a context."""

    __slots__ = ("mode",)

    def __init__(self, mode: bool):
        self._before = thread.grad
        self.mode = bool(mode)
        thread.grad = self.mode

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __call__(self, function: F) -> F:
        thread.grad = self._before  # as a decorator it does nothing until the function is called
        return super().__call__(function)

    def __enter__(self) -> None:
        thread.grad = self.mode

    def __str__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_Mode):  # noqa: N801
    """As `no_grad`, and `enable_grad` inside does not switch recording on again."""

    __slots__ = ("mode", "_inference")

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if callable(mode) and not isinstance(mode, bool):
            self.mode = True
            return self(mode)
        self.mode = bool(mode)
        return self

    def clone(self) -> inference_mode:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._before, self._inference = thread.grad, thread.inference
        thread.grad, thread.inference = (False, True) if self.mode else (True, False)

    def __exit__(self, *exc: object) -> None:
        thread.grad, thread.inference = self._before, self._inference


class set_multithreading_enabled(_Mode):  # noqa: N801
    """Accepted for compatibility: saraph's backward pass runs in the calling thread."""

    __slots__ = ("mode",)

    def __init__(self, mode: bool):
        self._before = thread.multithreading
        self.mode = thread.multithreading = bool(mode)

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        thread.multithreading = self.mode

    def __exit__(self, *exc: object) -> None:
        thread.multithreading = self._before


def is_grad_enabled() -> bool:
    """Whether ops of this thread are recorded for backward."""
    return thread.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return thread.inference
