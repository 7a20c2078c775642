"""Transforms that eager code hardly needs."""
from __future__ import annotations

import copy
from collections.abc import Callable

from saraph.tensor.tensor import Tensor

__all__ = ["functionalize", "debug_unwrap"]


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """The function without visible writes to views: eager code computes the same either way, so it is the function itself.

    remove: "mutations" or "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'|'mutations_and_views'): received invalid argument for remove={remove!r}")
    return copy.copy(func)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor inside of a transform's wrapper: transforms wrap nothing here."""
    return tensor
