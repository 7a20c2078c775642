"""What the ops over (batch, channels, *spatial) tensors share: reading sizes, and the errors for shapes and dtypes they refuse."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.errors import describe
from saraph.tensor.tensor import Tensor

NUMBERS = {1: "one int", 2: "two ints", 3: "three ints"}


def title(x: Tensor) -> str:
    """The name of a tensor's dtype in PyTorch's messages."""
    return dtypes.title(x.dtype)


def refuse(kernel: str, x: Tensor, kinds: str) -> None:
    """NotImplementedError where x's kind of number is not among `kinds` ("f" floating, "i" integer, "c" complex, "b" bool)."""
    dtype = x.dtype
    kind = "f" if dtype.is_floating_point else "c" if dtype.is_complex else "b" if x._a.dtype.kind == "b" else "i"
    if kind not in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{title(x)}': got {describe(x)}. Convert it first, e.g. with .float()")


def is_int(value: Any) -> bool:
    """An int (not a bool), or something that counts as one."""
    return value.__class__ is int or (hasattr(value, "__index__") and not isinstance(value, bool))


def read_ints(value: Any, op: str, name: str) -> tuple[int, ...]:
    """An int or a sequence of ints as a tuple; TypeError for anything else."""
    if value.__class__ is int:
        return (value,)
    if isinstance(value, (tuple, list)):
        if all(is_int(v) for v in value):
            return tuple([v.__index__() for v in value])
    elif is_int(value):
        return (value.__index__(),)
    raise TypeError(f"{op}(): argument '{name}' must be tuple of ints, not {type(value).__name__}"
                    + (f" {list(value)}" if isinstance(value, (tuple, list)) else ""))


def spread(values: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """One value for every spatial dimension, where there is only one."""
    return values * rank if len(values) == 1 and rank != 1 else values


def product(sizes: Any) -> int:
    """The product of sizes."""
    count = 1
    for n in sizes:
        count *= n
    return count


def by_sizes(sizes: Any) -> str:
    """'3 x 4' for messages."""
    return " x ".join(str(n) for n in sizes)
