"""`make_tensor`: tensors of random values for tests."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes
from saraph.ops.creation import empty
from saraph.ops.movement import cat
from saraph.tensor.tensor import Tensor

__all__ = ["make_tensor"]


def _range(dtype: Any, low: float | None, high: float | None) -> tuple[Any, Any]:
    """The range of the values: by default [-9, 9] for floats, [-9, 10) for signed and [0, 10) for unsigned integers, {0, 1} for bool."""
    if dtype is dtypes.bool_:
        lowest: Any = 0
        highest: Any = 2
        least, most = 0, 2
    elif dtype.is_floating_point or dtype.is_complex:
        info = dtypes.finfo(dtype)
        least, most, lowest, highest = -9, 9, info.min, info.max
    else:
        limits = dtypes.iinfo(dtype)
        least, most, lowest, highest = (-9, 10, limits.min, limits.max + 1) if dtype.is_signed else (0, 10, limits.min, limits.max + 1)
    low = float(least) if low is None else low
    high = float(most) if high is None else high
    for value in (low, high):
        if isinstance(value, float) and math.isnan(value):
            raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        return low, high
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < lowest or low > highest:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype!r} only supports [{lowest}, {highest})")
    return max(low, lowest), min(high, highest)


def _values(shape: tuple[int, ...], dtype: Any, low: Any, high: Any) -> Tensor:
    if dtype is dtypes.bool_:
        return empty(shape, dtype=dtypes.int64).random_(0, 2).bool()
    if dtype.is_complex:
        part = dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64
        return cat([_values((*shape, 1), part, low, high) for _ in range(2)], -1).view(dtype).squeeze(-1)
    if dtype.is_floating_point:
        wide = dtype if dtype in (dtypes.float32, dtypes.float64) else dtypes.float32
        return empty(shape, dtype=wide).uniform_(float(low), float(high)).clamp(dtypes.finfo(dtype).min, dtypes.finfo(dtype).max).to(dtype)
    return empty(shape, dtype=dtypes.int64).random_(math.floor(low), math.ceil(high)).to(dtype)


def make_tensor(*shape: Any, dtype: Any, device: Any = None, low: float | None = None, high: float | None = None, requires_grad: bool = False,
                noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None) -> Tensor:
    """A tensor of values drawn evenly from [low, high), as given or by dtype.

    noncontiguous: every other element of a larger one; exclude_zero: zeros become the least positive number (1 for integers).
    """
    dims = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(int(n) for n in shape)
    low, high = _range(dtype, low, high)
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
                         f"noncontiguous={noncontiguous!r} and {memory_format=!r}")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}")
    if noncontiguous and math.prod(dims) >= 2:
        found = _values((*dims[:-1], 2 * dims[-1]), dtype, low, high)[..., ::2]
    else:
        found = _values(dims, dtype, low, high)
    if exclude_zero:
        least = dtypes.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        found[found == 0] = least
    if memory_format is not None:
        found = found.clone(memory_format=memory_format)
    found = found.to(device) if device is not None else found
    return found.requires_grad_() if requires_grad else found
