"""A checksum of tensors."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.shapes import wrap_dims
from saraph.tensor.tensor import Tensor, wrap


@op(method=True)
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: Tensor | None = None) -> Tensor:
    """A checksum (uint64) of all elements or over the dimensions `dim`: the exclusive or of their 64-bit patterns.

    Floats are hashed as float64 and integers as int64, so equal values of different precision have equal hashes. `mode` 0 is the only one.
    """
    x = check_tensor(input, "hash_tensor").detach()
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode} (0, the exclusive or, is the only one)")
    if x.is_complex():
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{dtypes.title(x.dtype)}': hash view_as_real(input)")
    everything = dim is None or (isinstance(dim, (tuple, list)) and not dim)
    axes = tuple(range(x._a.ndim)) if everything else wrap_dims(dim, x._a.ndim)
    if everything and not x._a.size:
        raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
                           "argument.")
    for axis in axes:
        if x._a.ndim and not x._a.shape[axis]:
            raise IndexError(f"hash_tensor: Expected reduction dim {axis} to have non-zero size.")
    wide = promotion.cast(x, dtypes.float64 if x.is_floating_point() else dtypes.int64)._a
    return wrap(of(wide).xor_patterns(wide, axes if x._a.ndim else (), keepdim))
