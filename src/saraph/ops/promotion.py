"""Operands: Python numbers and arrays become Tensors, and mixed dtypes become one, by PyTorch's rules.

Tensors with dimensions outweigh zero-dim tensors, which outweigh Python numbers: a lighter operand changes the result's dtype only
when its kind (bool < integer < floating < complex) is higher.
"""
from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from saraph import config, dtypes
from saraph.backends import is_array, of
from saraph.dtypes import BY_NUMPY, dtype, promote_types
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, wrap


def is_number(value: object) -> bool:
    """A Python or NumPy number (a bool counts)."""
    return isinstance(value, (Number, np.generic))


def result_dtype(*operands: Any) -> dtype:
    """The dtype that an op on these Tensors and numbers computes in."""
    groups: list[dtype | None] = [None, None, None]  # with dimensions, zero-dim, numbers
    for x in operands:
        if isinstance(x, Tensor):
            kind, level = BY_NUMPY[x._a.dtype], (0 if x._a.ndim else 1)
        else:
            kind, level = dtypes.of_scalar(x), 2
        groups[level] = kind if groups[level] is None else promote_types(groups[level], kind)
    found: dtype | None = None
    for kind in groups:
        if kind is None:
            continue
        if found is None:
            found = kind
        elif kind.category > found.category:  # a complex number makes floats complex of their own precision
            found = found.to_complex() if found.category == 2 else promote_types(found, kind)
    return found


def float_dtype(kind: dtype) -> dtype:
    """The dtype of a function that gives fractions: integers and bools become the default dtype."""
    return config.settings.default_dtype if kind.category < 2 else kind


def as_tensor_operand(value: Any, op: str, position: str = "other") -> Any:
    """A Tensor or a number from what a user may pass as an operand; TypeError for the rest."""
    if isinstance(value, Tensor) or is_number(value):
        return value
    if isinstance(value, np.ndarray):
        return wrap(value)
    raise TypeError(f"{op}(): argument '{position}' must be Tensor, not {type(value).__name__}")


def scalar_tensor(value: Any, kind: dtype, like: Any = None) -> Tensor:
    """A zero-dim Tensor (on `like`'s backend) of a number; integers wrap around."""
    return wrap(of(like).scalar(value, kind.numpy))


@derivative("ToCopyBackward0")
def ToCopyBackward(node: Any, g: Tensor) -> Tensor:
    """The gradient goes back in the source's dtype (the real part where the source was real)."""
    return cast(g, node.source)


def cast(x: Tensor, kind: dtype) -> Tensor:
    """x in another dtype (x itself when it has it already); differentiable."""
    a = x._a
    if a.dtype == kind.numpy:
        return x
    return record(of(a).cast(a, kind.numpy), ToCopyBackward, (x,), source=BY_NUMPY[a.dtype])


def promoted(op: str, *operands: Any, fraction: bool = False) -> tuple[Tensor, ...]:
    """The operands as Tensors of one dtype; with `fraction`, a floating (or complex) one."""
    operands = tuple(x if isinstance(x, Tensor) or is_number(x) else as_tensor_operand(x, op) for x in operands)
    kind = result_dtype(*operands)
    if fraction:
        kind = float_dtype(kind)
    like = next((x._a for x in operands if isinstance(x, Tensor)), None)
    return tuple(cast(x, kind) if isinstance(x, Tensor) else scalar_tensor(x, kind, like) for x in operands)


def check_tensor(value: Any, op: str, position: str = "input") -> Tensor:
    """The value, if it is a Tensor; TypeError otherwise."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{op}(): argument '{position}' must be Tensor, not {type(value).__name__}")
    return value


KINDS = "bifc"  # bool, integer, floating, complex: dtype.category as a letter


def check_operands(op: str, input: Any, other: Any, numbers: str) -> None:
    """TypeError unless both are Tensors, or numbers where the op takes them: "y" second, "xy" one of the two, "both" also both at once."""
    first, second = isinstance(input, Tensor), isinstance(other, Tensor)
    if first and second:
        return
    if (first or (len(numbers) > 1 and is_number(input))) and (second or (numbers and is_number(other))) and (first or second or numbers == "both"):
        return
    if numbers:
        raise TypeError(f"{op}() received an invalid combination of arguments - got ({type(input).__name__}, {type(other).__name__}), but expected "
                        f"{'two Tensors, or a Tensor and a number' if len(numbers) > 1 else '(Tensor input, Tensor other) or (Tensor input, Number other)'}")
    place, position, value = ("other", 2, other) if first else ("input", 1, input)
    raise TypeError(f"{op}(): argument '{place}' (position {position}) must be Tensor, not {type(value).__name__}")


def check_kind(op: str, x: Tensor, kinds: str) -> None:
    """NotImplementedError (a RuntimeError) where an op does not take x's kind of number: `kinds` lists letters of "bifc"."""
    kind = BY_NUMPY[x._a.dtype]
    if KINDS[kind.category] not in kinds:
        wanted = [name for letter, name in zip(KINDS, ("bool", "integer", "floating point", "complex")) if letter in kinds]
        raise NotImplementedError(f"\"{op}_cpu\" not implemented for '{dtypes.title(kind)}': {op}() takes {' and '.join(wanted)} tensors, "
                                  f"this one is {kind.name}{list(x._a.shape)}")


def unbroadcast(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A gradient summed back to the shape of an operand that was broadcast."""
    have = g._a.shape
    if have == shape:
        return g
    lead = len(have) - len(shape)
    axes = tuple(range(lead)) + tuple(d + lead for d, n in enumerate(shape) if n == 1 != have[d + lead])
    g = g.sum(axes, keepdim=True) if axes else g
    return g.reshape(shape) if lead else g


__all__ = ["as_tensor_operand", "cast", "check_kind", "check_operands", "check_tensor", "float_dtype", "is_array", "is_number",
           "promoted", "result_dtype", "scalar_tensor", "unbroadcast"]
