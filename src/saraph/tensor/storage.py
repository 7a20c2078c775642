"""Memory that tensors share: the array that owns it, and its version counter.

A tensor gets its `Shared` when somebody first needs one (a view is made, it is written in place, its storage is asked for);
tensors over the same memory then hold the same object.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Window


class Shared:
    """What all tensors over one block of memory have in common."""

    __slots__ = ("root", "version", "public")

    def __init__(self, root: object):
        self.root = root  # the array that owns the memory
        self.version = 0  # raised by every write
        self.public = None  # the UntypedStorage, once asked for


def root_of(array: object) -> object:
    """The array that owns an array's memory."""
    while True:
        base = getattr(array, "base", None)
        if base.__class__ is Window:
            base = base.base
        if base.__class__ is not np.ndarray:
            return array
        array = base


def root_extent(root: Any) -> tuple[int, int]:
    """Address and size in bytes of the memory that an owning array spans."""
    if root.__class__ is not np.ndarray:  # an array without values: its ghost stands for as much memory as its strides reach
        root = root.ghost
    if root.size == 0:
        return root.__array_interface__["data"][0], 0
    reach = root.dtype.itemsize + sum((n - 1) * s for n, s in zip(root.shape, root.strides))
    return root.__array_interface__["data"][0], reach


def shared_of(tensor: object) -> Shared:
    """The tensor's Shared, made when it has none yet."""
    found = tensor._st
    if found is None:
        found = tensor._st = Shared(root_of(tensor._a))
    return found
