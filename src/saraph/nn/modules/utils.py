"""Small helpers of modules: arguments that are one int or one per dimension."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def ntuple(value: Any, n: int) -> tuple:
    """`value` once per dimension, or as it is when it has one per dimension already."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def reverse_repeat_tuple(values: Iterable[int], times: int) -> list[int]:
    """The values in reverse order, each repeated: (1, 2) -> [2, 2, 1, 1]."""
    return [v for v in reversed(tuple(values)) for _ in range(times)]
