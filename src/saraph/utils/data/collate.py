"""From samples to batches."""
from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.ops.creation import as_tensor, tensor
from saraph.ops.joining import stack
from saraph.tensor.tensor import Tensor, wrap

__all__ = ["default_collate", "default_convert", "collate"]
_FLOATS, _INTS = {float}, {int}
_TEXT = re.compile(r"[SaUO]")
_ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """NumPy arrays (also nested in containers) become tensors; the rest stays."""
    if isinstance(data, Tensor) or isinstance(data, (str, bytes)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _TEXT.search(data.dtype.str) else as_tensor(data)
    if isinstance(data, Mapping):
        return _same_mapping(data, {k: default_convert(data[k]) for k in data})
    if isinstance(data, tuple):
        parts = [default_convert(d) for d in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence):
        return _same_sequence(data, [default_convert(d) for d in data])
    return data


def _same_mapping(like: Mapping, values: dict) -> Any:
    if type(like) is dict:
        return values
    try:
        if isinstance(like, MutableMapping):
            made = copy.copy(like)
            made.update(values)
            return made
        return type(like)(values)
    except TypeError:
        return values


def _same_sequence(like: Sequence, values: list) -> Any:
    if type(like) is list:
        return values
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for i, v in enumerate(values):
                made[i] = v
            return made
        return type(like)(values)
    except TypeError:
        return values


def _stack_tensors(batch: Sequence[Any]) -> Tensor:
    return stack(batch, 0)


def _stack_numbers(batch: Sequence[Any]) -> Tensor:
    kinds = set(map(type, batch))
    if kinds == _FLOATS:
        return wrap(np.array(batch, np.float64))
    if isinstance(batch[0], float):
        return tensor(list(batch), dtype=dtypes.float64)
    if kinds == _INTS:
        try:
            return wrap(np.array(batch, np.int64))
        except OverflowError:
            return tensor(list(batch))  # says what is wrong
    return tensor(list(batch))


def _stack_arrays(batch: Sequence[Any]) -> Tensor:
    first = batch[0]
    if _TEXT.search(first.dtype.str):
        raise TypeError(_ERROR.format(first.dtype))
    if isinstance(first, np.ndarray):
        return stack([as_tensor(b) for b in batch], 0)
    return as_tensor(list(batch))


def collate(batch: Sequence[Any], *, collate_fn_map: Mapping[Any, Callable] | None = None) -> Any:
    """Batch samples; `collate_fn_map` maps types (or tuples of types) to functions `(batch, *, collate_fn_map)`."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for types, function in collate_fn_map.items():
            if isinstance(first, types):
                return function(batch, collate_fn_map=collate_fn_map)
    return _containers(batch, lambda b: collate(b, collate_fn_map=collate_fn_map))


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors (and arrays and numbers) are stacked, containers batched field by field; strings stay a list or tuple of strings.

    Example: `default_collate([{"x": 1.0}, {"x": 2.0}])` is `{"x": tensor([1., 2.], dtype=torch.float64)}`.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _stack_tensors(batch)
    if isinstance(first, (np.ndarray, np.generic)) and not isinstance(first, (str, bytes)):
        return _stack_arrays(batch)
    if isinstance(first, (float, int)):
        return _stack_numbers(batch)
    if isinstance(first, (str, bytes)):
        return batch
    return _containers(batch, default_collate)


def _containers(batch: Sequence[Any], again: Callable) -> Any:
    first = batch[0]
    if isinstance(first, Mapping):
        return _same_mapping(first, {k: again([d[k] for d in batch]) for k in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[again(parts) for parts in zip(*batch)])
    if isinstance(first, Sequence) and not isinstance(first, (str, bytes)):
        size = len(first)
        if any(len(b) != size for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [again(parts) for parts in zip(*batch)]
        return columns if isinstance(first, tuple) else _same_sequence(first, columns)
    raise TypeError(_ERROR.format(type(first)))


default_collate_err_msg_format = _ERROR
