"""The meta backend: arrays with a shape, strides and a dtype, and no values.

A MetaArray rides on a `ghost`: a NumPy array of the right shape, strides and dtype over one element of memory. Its elements are
never touched, so view functions (which NumPy does by arithmetic on strides) work on it unchanged; everything else asks the
primitive's rule (primitives.py) for shape and dtype.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class MetaArray:
    """An array without values."""

    __slots__ = ("ghost",)

    def __init__(self, shape: Sequence[int], dtype: np.dtype, strides: Sequence[int] | None = None):
        dtype = np.dtype(dtype)
        if strides is None:
            strides, step = [], dtype.itemsize
            for n in reversed(shape):
                strides.append(step)
                step *= n if n > 1 else 1
            strides.reverse()
        self.ghost = np.lib.stride_tricks.as_strided(np.empty(1, dtype), tuple(shape), tuple(strides))

    shape = property(lambda self: self.ghost.shape)
    dtype = property(lambda self: self.ghost.dtype)
    strides = property(lambda self: self.ghost.strides)
    ndim = property(lambda self: self.ghost.ndim)
    size = property(lambda self: self.ghost.size)
    itemsize = property(lambda self: self.ghost.itemsize)
    base = None
    library: Any = None

    @classmethod
    def over(cls, ghost: np.ndarray) -> MetaArray:
        """A MetaArray with that ghost."""
        self = object.__new__(cls)
        self.ghost = ghost
        return self

    def __repr__(self) -> str:
        return f"MetaArray({self.shape}, {self.dtype})"


def _ghost(value: Any) -> Any:
    if value.__class__ is MetaArray:
        return value.ghost
    if isinstance(value, (list, tuple)):
        return type(value)(_ghost(v) for v in value)
    return value


def _made(result: Any) -> Any:
    if isinstance(result, list):
        return [_made(r) for r in result]
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], np.dtype):
        return MetaArray(*result)
    if isinstance(result, tuple):
        return tuple(_made(r) for r in result)
    if isinstance(result, np.ndarray):
        return MetaArray.over(result)
    return result


def make_primitive(rule: Callable, is_view: bool) -> Callable:
    """The meta version of a primitive: its view function on ghosts, or its shape and dtype rule."""

    def primitive(*args: Any, **kwargs: Any) -> Any:
        result = rule(*[_ghost(a) for a in args], **{k: _ghost(v) for k, v in kwargs.items()})
        return _made(result)

    primitive.__name__ = rule.__name__
    return primitive
