"""The keywords that all factories share: dtype, device, layout, pin_memory, requires_grad, and sizes."""
from __future__ import annotations

import math
from typing import Any

from saraph import dtypes, shapes
from saraph.backends import on
from saraph.config import settings
from saraph.devices import device as Device
from saraph.devices import resolve
from saraph.dtypes import BY_NUMPY, dtype
from saraph.tensor.tensor import Tensor, wrap

_PYTHON_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}
_C_NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "float32": "float",
            "float64": "double", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float16": "c10::Half",
            "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>"}
_LARGEST = {"float32": (2 - 2.0**-23) * 2.0**127, "complex64": (2 - 2.0**-23) * 2.0**127}
_LARGEST_HALVES = {"float16": 65504.0, "bfloat16": (2 - 2.0**-7) * 2.0**127}


def as_dtype(value: Any, op: str) -> dtype:
    """The dtype that an argument `dtype=` names (Python's number types are understood); TypeError for anything else."""
    if value.__class__ is dtype:
        return value
    try:
        return _PYTHON_TYPES[value]
    except (KeyError, TypeError):
        raise TypeError(f"{op}(): argument 'dtype' must be torch.dtype, not {type(value).__name__}") from None


def chosen_dtype(value: Any, op: str) -> dtype:
    """As `as_dtype`, with the default dtype for None."""
    return settings.default_dtype if value is None else value if value.__class__ is dtype else as_dtype(value, op)


def as_sizes(values: tuple[Any, ...], op: str, argument: str = "size") -> tuple[int, ...]:
    """The ints of `f(2, 3)`, `f((2, 3))`; TypeError for what is no int, RuntimeError for a negative size."""
    if len(values) == 1 and not _is_int(values[0]):
        first = values[0]
        if not isinstance(first, (tuple, list)):
            raise TypeError(f"{op}(): argument '{argument}' (position 1) must be tuple of ints, not {type(first).__name__}")
        values = tuple(first)
    elif values and not _is_int(values[0]):
        raise TypeError(f"{op}() takes 1 positional argument but {len(values)} were given")
    found = []
    for i, v in enumerate(values):
        if not _is_int(v):
            raise TypeError(f"{op}(): argument '{argument}' (position 1) must be tuple of ints, but found element of type "
                            f"{type(v).__name__} at pos {i}")
        n = v.__index__()
        if n < 0:
            raise RuntimeError(f"{op}: Dimension size must be non-negative, but dimension {i} of {list(values)} is {n}. "
                               f"Trying to create tensor with negative dimension {n}: {list(values)}")
        found.append(n)
    return tuple(found)


def _is_int(value: Any) -> bool:
    if value.__class__ is int:
        return True
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return False
    return not isinstance(value, Tensor) or (value._a.ndim == 0 and value._a.dtype.kind in "iu")


def check_layout(layout: Any, op: str) -> None:
    """Factories of dense tensors make strided ones."""
    if layout is not None and layout is not shapes.strided:
        if not isinstance(layout, shapes.layout):
            raise TypeError(f"{op}(): argument 'layout' must be torch.layout, not {type(layout).__name__}")
        raise RuntimeError(f"{op}(): layout {layout!r} is not supported here: Cannot access data pointer of Tensor that doesn't have storage. "
                           "Make a strided tensor and convert it with .to_sparse().")


def check_pin(pin_memory: Any) -> None:
    """Pinned memory belongs to accelerators."""
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this "
                           "system.")


def library(device: Any, op: str) -> Any:
    """The backend that makes arrays on `device=` (None: the default device)."""
    if device is not None and not isinstance(device, (Device, str, int)):
        raise TypeError(f"{op}(): argument 'device' must be torch.device, not {type(device).__name__}")
    return on(resolve(device))


def made(array: Any, requires_grad: bool = False) -> Tensor:
    """A factory's result as a leaf."""
    t = wrap(array)
    if requires_grad:
        if array.dtype.kind in "biu":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients, this one is "
                               f"{BY_NUMPY[array.dtype]!r}")
        t._rg = True
    return t


def check_number(value: Any, kind: dtype, op: str, halves: bool = False) -> Any:
    """A Python number that a dtype can hold; RuntimeError where PyTorch finds it to overflow. 16-bit floats are asked with `halves` only."""
    if kind.category == 0:
        return bool(value)
    if isinstance(value, complex):
        if kind.category == 3:
            return value
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow ({op} got {value!r})")
        value = value.real
    if kind.category != 1:
        largest = _LARGEST.get(kind.name) or (_LARGEST_HALVES.get(kind.name) if halves else None)
        if largest and largest < abs(value) != math.inf:
            raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow ({op} got {value!r})")
        return value
    low, high = int_range(kind)
    if not kind.is_signed:
        low = -high  # PyTorch lets negative numbers wrap around in unsigned types
    if not low <= value <= high:  # NaN is not either
        raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow ({op} got {value!r}, and {kind!r} holds "
                           f"{int_range(kind)[0]} to {high})")
    return int(value) & (1 << kind.itemsize * 8) - 1 if value < 0 and not kind.is_signed else int(value)


def int_range(kind: dtype) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype."""
    bits = kind.itemsize * 8
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.is_signed else (0, (1 << bits) - 1)


def _c_name(kind: dtype) -> str:
    return _C_NAMES.get(kind.name, kind.name)
