"""Data pipes: datasets that are chained by methods, as older programs write them.

    @functional_datapipe("doubled")
    class Doubler(IterDataPipe):
        def __init__(self, source): self.source = source
        def __iter__(self): return (2 * x for x in self.source)

    list(Numbers(3).doubled())          # Numbers is an IterDataPipe too
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from saraph.utils.data.dataset import Dataset, IterableDataset

__all__ = ["IterDataPipe", "MapDataPipe", "functional_datapipe"]
T_co = TypeVar("T_co", covariant=True)


class _Pipe:
    """What both kinds share: the methods that classes register."""

    functions: ClassVar[dict[str, Callable]]

    def __getattr__(self, name: str) -> Any:
        made = self.functions.get(name)
        if made is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        method = functools.partial(made, self)
        functools.update_wrapper(method, made)
        return method

    @classmethod
    def register_function(cls, function_name: str, function: Callable) -> None:
        """Make function(pipe, ...) a method of all pipes of this kind."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: type, enable_df_api_tracing: bool = False) -> None:
        """Make a class of pipes a method: `pipe.name(...)` is `cls_to_register(pipe, ...)`."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __repr__(self) -> str:
        return type(self).__name__


class IterDataPipe(_Pipe, IterableDataset[T_co]):
    """Base of pipes that are streams: define `__iter__`, and `reset` if a new iterator needs it.

    A new iterator makes the one before it invalid, since most share their source.
    """

    functions: ClassVar[dict[str, Callable]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        make = cls.__dict__.get("__iter__")
        if make is not None:
            cls.__iter__ = _only_newest(make)  # type: ignore[method-assign]

    def __iter__(self) -> Iterator[T_co]:
        return self


class MapDataPipe(_Pipe, Dataset[T_co]):
    """Base of pipes with `__getitem__` and `__len__`."""

    functions: ClassVar[dict[str, Callable]] = {}


def _only_newest(make: Callable) -> Callable:
    """An `__iter__` whose iterators stop when a newer one has been made of the same pipe."""

    @functools.wraps(make)
    def iterate(self: Any) -> Iterator:
        number = self.__dict__["_newest_iterator"] = self.__dict__.get("_newest_iterator", 0) + 1
        if hasattr(type(self), "reset"):
            self.reset()
        return _checked(self, number, make(self))

    return iterate


def _checked(pipe: Any, number: int, items: Iterator) -> Iterator:
    for item in items:
        if pipe.__dict__["_newest_iterator"] != number:
            raise RuntimeError(f"This iterator has been invalidated because another iterator has been created from the same IterDataPipe: {pipe!r}. "
                               "Iterate over a copy to have several at once.")
        yield item


class functional_datapipe:  # noqa: N801
    """Decorator: make a class of pipes a method of that name on all pipes of its kind."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: type) -> type:
        for kind in (IterDataPipe, MapDataPipe):
            if isinstance(cls, type) and issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                return cls
        raise TypeError(f"functional_datapipe({self.name!r}) is for subclasses of IterDataPipe or MapDataPipe, not for {cls!r}")
