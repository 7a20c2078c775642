"""Reading Python values: nested sequences of numbers, NumPy arrays and buffers become arrays, by PyTorch's inference of dtypes.

A sequence's shape is found along its first elements; every other element must agree (ValueError names the dimension). Its dtype is the
promotion of the types of its leaves: Python numbers give bool, int64, the default dtype or its complex; NumPy scalars and one-element
Tensors count with their own dtype.
"""
from __future__ import annotations

import warnings
from typing import Any

from saraph import dtypes
from saraph.backends import cpu, is_array
from saraph.config import settings
from saraph.dtypes import BY_NUMPY, dtype, from_numpy_dtype, of_scalar, promote_types
from saraph.ops.options import check_number, int_range
from saraph.tensor.tensor import Tensor

_NUMBERS = frozenset({bool, int, float, complex})
_REAL = frozenset({bool, int, float})


def is_numpy_scalar(value: Any) -> bool:
    """A scalar of NumPy's (or of ml_dtypes), which has a dtype and no dimensions of its own."""
    return not isinstance(value, Tensor) and not is_array(value) and hasattr(value, "dtype") and getattr(value, "shape", None) == ()


def is_sequence(value: Any) -> bool:
    """What `tensor()` walks into: lists, tuples, ranges, arrays with dimensions, and whatever else has a length and items."""
    if isinstance(value, (list, tuple, range)):
        return True
    if is_array(value):
        return value.ndim > 0
    if isinstance(value, (Tensor, str, bytes, dict, set, frozenset)):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__getitem__")


def array_of(data: Any, kind: dtype | None) -> Any:
    """A fresh CPU array of a Python value that is no Tensor; `kind` None: inferred."""
    if is_array(data):
        array = checked(data)
        return cpu.copy(array) if kind is None or kind.numpy == array.dtype else cpu.cast(array, kind.numpy)
    if not is_sequence(data):
        found = kind or leaf_dtype(data)
        return numbers_array([_value(data)], (), found)
    shape: list[int] = []
    first = data
    while is_sequence(first):
        shape.append(len(first))
        if not shape[-1]:
            break
        first = first[0]
    if isinstance(first, str) and not isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    flat: list[Any] = []
    kinds: set[Any] = set()
    _collect(data, shape, 0, flat, kinds)
    if kind is None:
        kind = inferred(flat, kinds)
    if not kinds <= _NUMBERS:
        flat = [_value(v) for v in flat]
    return numbers_array(flat, tuple(shape), kind)


def _collect(data: Any, shape: list[int], level: int, flat: list[Any], kinds: set[Any]) -> None:
    """Gather the leaves of nested sequences of that shape, and the types (of arrays: the dtypes) among them."""
    if not is_sequence(data):
        raise TypeError(f"not a sequence: dimension {level} of the data holds sequences of length {shape[level]} and a {type(data).__name__}")
    if len(data) != shape[level]:
        raise ValueError(f"expected sequence of length {shape[level]} at dim {level} (got {len(data)})")
    if level + 1 < len(shape):
        for part in data:
            _collect(part, shape, level + 1, flat, kinds)
    elif is_array(data):
        if data.ndim != 1:
            raise ValueError(f"expected a sequence of numbers at dim {level}, got an array of shape {data.shape}")
        kinds.add(from_numpy_dtype(data.dtype))
        if not flat and level:
            warnings.warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
                          "numpy.ndarray with numpy.array() before converting to a tensor.", UserWarning, stacklevel=2)
        flat.extend(data.tolist())
    else:
        kinds.update(map(type, data))
        flat.extend(data)


def inferred(flat: list[Any], kinds: set[Any]) -> dtype:
    """The dtype that holds all leaves."""
    found: dtype | None = None
    for t in kinds:
        if t in _NUMBERS:
            own = of_scalar(t())
        elif t.__class__ is dtype:
            own = t
        else:
            own = None
            for v in flat:
                if v.__class__ is t:
                    other = leaf_dtype(v)
                    own = other if own is None else promote_types(own, other)
        found = own if found is None else promote_types(found, own)
    return settings.default_dtype if found is None else found


def leaf_dtype(value: Any) -> dtype:
    """The dtype of one number; RuntimeError (or TypeError for text) where it is none."""
    if isinstance(value, Tensor):
        return BY_NUMPY[value._a.dtype]
    if value.__class__ in _NUMBERS:
        return of_scalar(value)
    if is_array(value) or is_numpy_scalar(value):
        return from_numpy_dtype(value.dtype)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if isinstance(value, (bool, int, float, complex)):
        return of_scalar(value)
    if is_sequence(value):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer: the data mixes numbers and sequences")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _value(value: Any) -> Any:
    """A leaf as a Python number."""
    if value.__class__ in _NUMBERS:
        return value
    if isinstance(value, Tensor):
        if value._a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars: the data holds a tensor of shape "
                             f"{list(value._a.shape)}. Join tensors with torch.stack or torch.cat.")
        return value.item()
    if is_array(value) or is_numpy_scalar(value):
        return value.item()
    if isinstance(value, (int, float, complex)):
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if is_sequence(value):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as a number: the data mixes numbers and sequences")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def numbers_array(flat: list[Any], shape: tuple[int, ...], kind: dtype) -> Any:
    """An array of Python numbers in a dtype; errors where the dtype cannot hold one."""
    types = set(map(type, flat))
    if kind.category == 1:
        flat = _integers(flat, types, kind)
    elif kind.category == 0:
        flat = [bool(v) for v in flat]
    elif kind.category == 2 and not types <= _REAL:
        bad = next((v for v in flat if isinstance(v, complex)), None)
        if bad is not None:
            raise TypeError(f"must be real number, not complex: {bad!r} cannot be stored as {kind!r}")
    if not shape:
        return cpu.from_values(flat[0], kind.numpy)
    array = cpu.from_values(flat, kind.numpy)
    return array if len(shape) == 1 else array.reshape(shape)


def _integers(flat: list[Any], types: set[type], kind: dtype) -> list[int]:
    low, high = int_range(kind)
    if types <= {int, bool} and (not flat or (low <= min(flat) and max(flat) <= high)):
        return flat
    if any(isinstance(v, complex) for v in flat):
        raise TypeError(f"'complex' object cannot be interpreted as an integer: complex numbers cannot be stored as {kind!r}")
    if kind.itemsize == 8:
        for v in flat:
            if isinstance(v, int) and not -(1 << 63) <= v < (1 << (64 if kind is dtypes.uint64 else 63)):
                raise ValueError(f"Overflow when unpacking long long: {v} does not fit {kind!r}")
    return [check_number(v, kind, "tensor") for v in flat]


def checked(array: Any) -> Any:
    """A NumPy array that a Tensor can share: native byte order, strides that are multiples of the item size and not negative."""
    kind = array.dtype
    if kind not in BY_NUMPY:
        if not kind.isnative and kind.kind in "iufc":
            raise ValueError("given numpy array has byte order different from the native byte order. Conversion between byte orders is "
                             "currently not supported. Use array.astype(array.dtype.newbyteorder('=')).")
        raise TypeError(f"can't convert np.ndarray of type {getattr(kind.type, '__module__', 'numpy')}.{kind.type.__name__}. The only supported "
                        "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
                        "uint8, and bool.")
    size = kind.itemsize
    for stride in array.strides:
        if stride < 0:
            raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
                             "supported. (You can probably work around this by making a copy of your array  with array.copy().) ")
        if stride % size:
            raise ValueError("given numpy array strides not a multiple of the element byte size. Copy array and use copy.")
    own = BY_NUMPY[kind].numpy
    return array if own is kind and array.__class__ is _ndarray else cpu.reinterpret(cpu.host(array), own)


_ndarray = type(cpu.zeros(0))
