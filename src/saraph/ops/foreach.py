"""Ops over lists of tensors in one call: what clipping and optimizers do to all parameters."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.ops.families import ndarray
from saraph.ops.joining import stack
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.state import state, thread
from saraph.tensor.subclass import watched
from saraph.tensor.tensor import Tensor, bump, wrap

__all__ = ["foreach_mul_in_place", "foreach_norm", "norms_together"]


def _alike(tensors: Sequence[Tensor]) -> bool:
    """Whether one kernel can take them: dense CPU tensors of one float dtype that nothing records."""
    if not tensors or (state.active and watched(tensors)):
        return False
    kind, recording = tensors[0]._a.dtype, thread.grad
    if kind.char not in "fd":
        return False
    for t in tensors:
        a = t._a
        if a.__class__ is not ndarray or a.dtype is not kind or not a.flags.c_contiguous or (recording and t._rg):
            return False
    return True


@op(name="_foreach_norm")
def foreach_norm(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """The norm of order `ord` of every tensor of a list, as zero-dim tensors."""
    tensors = [check_tensor(t, "_foreach_norm") for t in self]
    if dtype is None and ord in (2, 2.0) and _alike(tensors):
        return tuple(norms_together(tensors, ord).unbind())
    return tuple(t.norm(ord, dtype=dtype) for t in tensors)


def norms_together(tensors: Sequence[Tensor], ord: float) -> Tensor:
    """The norms of a list of tensors as one 1-d tensor."""
    if ord == 2 and _alike(tensors):
        return wrap(of(tensors[0]._a).two_norms([t._a for t in tensors]))
    return stack([t.norm(ord) for t in tensors])


@op(name="_foreach_mul_")
def foreach_mul_in_place(self: Sequence[Tensor], other: Any) -> None:
    """Multiply every tensor of a list by a number, a zero-dim tensor, or its own entry of a list of either; in place."""
    tensors = [check_tensor(t, "_foreach_mul_") for t in self]
    if isinstance(other, (list, tuple)):
        if len(other) != len(tensors):
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}")
    elif _alike(tensors) and not (isinstance(other, Tensor) and (other._a.ndim or other._rg and thread.grad)):
        of(tensors[0]._a).scale_all([t._a for t in tensors], other.item() if isinstance(other, Tensor) else other)
        for t in tensors:
            bump(t)
        return
    for t, factor in zip(tensors, other if isinstance(other, (list, tuple)) else [other] * len(tensors), strict=True):
        t.mul_(factor)
