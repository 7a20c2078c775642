"""Arrays with a batch dimension of their own, and how it is put on and taken off.

A BatchedArray looks like one sample: its shape, strides and number of dimensions leave out the first dimension of the physical array under it,
which has the size of the batch, or 1 where all samples are the same. The physical array belongs to any backend, also
to this one: batches nest, the latest level outside.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from saraph.backends import of

INPLACE = ("vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than "
           "`self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place operators "
           "instead of inplace arithmetic, or make `self` with other.new_zeros(...) or torch.zeros_like(other).")
VALUES = ("vmap: It looks like you're {what} on a Tensor. We don't support vmap over {what} on a Tensor, please try to rewrite your code without it (for "
          "data-dependent control flow use torch.where)")


class NeedsValues(RuntimeError):
    """Something wants values in Python, of which a batch has many."""


class Unmixable(RuntimeError, TypeError):
    """A batch where one sample is expected. (A TypeError too, by which an op's quick form learns that it is not for these arrays.)"""


class BatchedArray:
    """The samples of level `level`: `a` holds them along its first dimension (of `size`, or of 1 where they are all one)."""

    __slots__ = ("a", "level", "size_of_batch")
    base = None

    def __init__(self, a: Any, level: int, size_of_batch: int) -> None:
        self.a, self.level, self.size_of_batch = a, level, size_of_batch

    shape = property(lambda self: self.a.shape[1:])
    strides = property(lambda self: self.a.strides[1:])
    ndim = property(lambda self: self.a.ndim - 1)
    dtype = property(lambda self: self.a.dtype)
    itemsize = property(lambda self: self.a.dtype.itemsize)
    size = property(lambda self: math.prod(self.a.shape[1:]))
    nbytes = property(lambda self: self.size * self.a.dtype.itemsize)
    library = property(lambda self: library(self.level, self.size_of_batch))

    @property
    def ghost(self) -> np.ndarray:
        """The NumPy array that holds the samples of all levels."""
        a = self.a
        while a.__class__ is BatchedArray:
            a = a.a
        return getattr(a, "ghost", a)

    @property
    def flags(self) -> Any:
        """NumPy's flags of one sample."""
        return np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides).flags

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """NumPy must not read the samples as if they were one."""
        raise Unmixable(INPLACE)

    def __repr__(self) -> str:
        return f"BatchedArray({self.shape}, {self.dtype}, level={self.level})"


_libraries: dict[tuple[int, int], Any] = {}
makers: list[Callable[[int, int], Any]] = []  # what makes a library (rules.py)


def library(level: int, size: int) -> Any:
    """The primitives of arrays of a level."""
    found = _libraries.get((level, size))
    if found is None:
        if len(_libraries) > 64:
            _libraries.clear()
        found = _libraries[level, size] = makers[0](level, size)
    return found


def move(a: Any, source: int, target: int) -> Any:
    """A view with one dimension moved."""
    order = [d for d in range(a.ndim) if d != source]
    order.insert(target, source)
    return of(a).transpose(a, tuple(order))


def new_axis(a: Any, dim: int = 0) -> Any:
    """A view with a dimension of size 1 put in."""
    return of(a).getitem(a, (*(slice(None),) * dim, None, ...))


def highest(values: Iterable[Any]) -> BatchedArray | None:
    """The array of the highest level among values (lists and tuples are looked into)."""
    found = None
    for v in values:
        if v.__class__ is BatchedArray:
            if found is None or v.level > found.level:
                found = v
        elif v.__class__ is list or v.__class__ is tuple:
            inner = highest(v)
            if inner is not None and (found is None or inner.level > found.level):
                found = inner
    return found


def enter(a: Any, dim: int, level: int, size: int) -> Any:
    """The samples that lie along a dimension of `a`."""
    if a.__class__ is BatchedArray and a.level > level:
        return BatchedArray(enter(a.a, dim + 1, level, size), a.level, a.size_of_batch)
    return BatchedArray(move(a, dim, 0) if dim else a, level, size)


def taken_out(a: Any, level: int, size: int) -> Any:
    """The samples of a level along a first dimension, of the whole batch's size."""
    if a.__class__ is BatchedArray and a.level > level:
        return BatchedArray(move(taken_out(a.a, level, size), 0, 1), a.level, a.size_of_batch)
    p = a.a if a.__class__ is BatchedArray and a.level == level else new_axis(a)
    return p if p.shape[0] == size else of(p).broadcast_to(p, (size, *p.shape[1:]))


def summed(a: Any, level: int, size: int) -> Any:
    """The sum over the samples of a level."""
    if a.__class__ is BatchedArray and a.level > level:
        p = taken_out(a.a, level, size)
        return BatchedArray(of(p).sum(p, (0,), False), a.level, a.size_of_batch)
    p = taken_out(a, level, size)
    return of(p).sum(p, (0,), False)
