"""Texts of errors that many rooms raise, and the exception classes that PyTorch has of its own."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class OutOfMemoryError(RuntimeError):
    """No memory for the size that was asked for."""


class LinAlgError(RuntimeError):
    """A matrix for which an operation of linear algebra is not possible (singular, not positive-definite, ...)."""


class AcceleratorError(RuntimeError):
    """An accelerator failed."""


def broadcast_error(op: str, shapes: Sequence[Sequence[int]]) -> RuntimeError:
    """The error for operands whose shapes do not broadcast; names the first pair of sizes that differ."""
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    for dim in reversed(range(rank)):
        sizes = [p[dim] for p in padded]
        big = [n for n in sizes if n != 1]
        if any(n != big[0] for n in big):
            other = next(n for n in big if n != big[0])
            return RuntimeError(
                f"The size of tensor a ({big[0]}) must match the size of tensor b ({other}) at non-singleton dimension {dim}: "
                f"{op} got shapes {' and '.join(str(tuple(s)) for s in shapes)}. Sizes must be equal or 1, counted from the right.")
    return RuntimeError(f"{op}: shapes {' and '.join(str(tuple(s)) for s in shapes)} do not broadcast")


def dim_error(dim: int, rank: int) -> IndexError:
    """The error for a dimension that a tensor of this rank does not have."""
    rank = max(rank, 1)
    return IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")


def describe(*tensors: Any) -> str:
    """'float32[2, 3] and int64[4]' for messages."""
    return " and ".join(f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for t in tensors)
