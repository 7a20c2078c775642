"""Other dtypes, devices and memory orders of a tensor, and its values as Python numbers and NumPy arrays."""
from __future__ import annotations

import builtins
import warnings
from collections.abc import Iterator
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.devices import device as Device
from saraph.devices import resolve
from saraph.dtypes import BY_NUMPY, dtype
from saraph.ops.movement import CloneBackward
from saraph.ops.options import as_dtype, library
from saraph.ops.promotion import ToCopyBackward, cast, check_tensor, is_number, result_dtype
from saraph.ops.registry import method, op
from saraph.shapes import memory_format as MemoryFormat
from saraph.tensor import printing
from saraph.tensor.state import thread
from saraph.tensor.storage import shared_of
from saraph.tensor.tensor import Tensor, needs_grad, record, wrap

TYPE_NAMES = {"float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor",
              "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor", "int32": "IntTensor", "int64": "LongTensor",
              "bool": "BoolTensor", "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor"}


# -- dtype, device, memory order -----------------------------------------------------------------------------------------------


def converted(x: Tensor, kind: dtype | None, backend: Any, copy: bool = False, memory_format: Any = None) -> Tensor:
    """x in a dtype, on a backend, in a memory format; x itself where nothing changes and no copy is asked for."""
    a = x._a
    own = of(a)
    form = "preserve_format" if memory_format is None else memory_format.name
    if backend is not None and backend is not own:
        return _transferred(x, kind, backend, form)
    if kind is not None and kind.numpy != a.dtype:
        if a.dtype.kind == "c" and 0 < kind.category < 3:
            _warn_of_real()
        array = own.cast(a, kind.numpy)
        if form != "preserve_format" and not wrap(array).is_contiguous(memory_format=memory_format):
            array = own.copy_as(array, form)
        return record(array, ToCopyBackward, (x,), source=BY_NUMPY[a.dtype])
    if form != "preserve_format" and (copy or not x.is_contiguous(memory_format=memory_format)):
        _check_rank(a, form)
        return record(own.copy_as(a, form), CloneBackward, (x,))
    return record(own.copy(a), CloneBackward, (x,)) if copy else x


def _warn_of_real() -> None:
    """Once in the life of the process, as PyTorch."""
    if not _warned:
        _warned.add("complex")
        warnings.warn("Casting complex values to real discards the imaginary part: take .real to say that this is meant.", UserWarning,
                      stacklevel=4)


_warned: set[str] = set()


def _check_rank(a: Any, form: str) -> None:
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(form)
    if rank is not None and a.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {form} format, got shape {list(a.shape)}")


def _transferred(x: Tensor, kind: dtype | None, backend: Any, form: str) -> Tensor:
    a = x._a
    if of(a).name == "meta":
        of(a).host(a)
    new = a.dtype if kind is None else kind.numpy
    if form == "preserve_format" and 0 not in a.strides:
        array = backend.empty_strided(a.shape, tuple(s // a.dtype.itemsize for s in a.strides), new)
    else:
        array = backend.empty(a.shape, new)
    return record(array, ToCopyBackward, (x,), source=BY_NUMPY[a.dtype])


def _to_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """(dtype, device, copy, memory_format) of a call of `to` in any of its forms."""
    names = ["dtype", "non_blocking", "copy"]
    if args:
        first = args[0]
        if isinstance(first, Tensor):
            names = ["other", "non_blocking", "copy"]
        elif first is None or isinstance(first, (Device, str)) or (isinstance(first, int) and not isinstance(first, bool)):
            names = ["device", "dtype", "non_blocking", "copy"]
    elif "other" in kwargs or "device" in kwargs:
        names = ["other" if "other" in kwargs else "device", "dtype", "non_blocking", "copy"]
    given = dict(zip(names, args))
    if len(args) > len(names):
        raise TypeError(f"to() takes at most {len(names)} positional arguments here ({len(args)} given)")
    for key, value in kwargs.items():
        if key in given or key not in ("dtype", "device", "other", "non_blocking", "copy", "memory_format"):
            raise TypeError(f"to() got {'multiple values for' if key in given else 'an unexpected'} keyword argument '{key}'")
        given[key] = value
    flag = given.get("non_blocking")
    if flag is not None and not isinstance(flag, bool):
        raise TypeError(f"to() received an invalid combination of arguments - got ({', '.join(builtins.type(v).__name__ for v in args)}); expected "
                        "(device, dtype, non_blocking, copy), (dtype, non_blocking, copy) or (other, non_blocking, copy)")
    other = given.get("other")
    if other is not None:
        return other.dtype, other.device, bool(given.get("copy")), given.get("memory_format")
    return given.get("dtype"), given.get("device"), bool(given.get("copy")), given.get("memory_format")


@method("to")
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype, on another device, or in another memory format; itself where it is all that already.

    `to(dtype)`, `to(device, dtype)`, `to(other)`, each with `non_blocking`, `copy` (True: always a new tensor) and `memory_format`.
    The gradient flows back in the source's dtype. Example: `x.to(torch.float64)`, `x.to("cpu", copy=True)`.
    """
    if len(args) == 1 and not kwargs and args[0].__class__ is dtype and self._a.dtype.kind != "c":
        return cast(self, args[0])
    kind, where, copy, form = _to_arguments(args, kwargs)
    if kind is not None:
        kind = as_dtype(kind, "to")
    if form is not None and not isinstance(form, MemoryFormat):
        raise TypeError(f"to(): argument 'memory_format' must be torch.memory_format, not {builtins.type(form).__name__}")
    if isinstance(where, int):
        raise RuntimeError(f"Cannot access accelerator device when none is available: to({where}) names one. Pass 'cpu'.")
    return converted(self, kind, None if where is None else library(where, "to"), copy, form)


def _converter(name: str, kind: dtype) -> None:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return converted(self, kind, None, False, memory_format)

    convert.__name__ = name
    convert.__qualname__ = f"Tensor.{name}"
    convert.__doc__ = f"`self.to({kind!r})`."
    method(name)(convert)


for _name, _kind in {"float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
                     "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
                     "bool": dtypes.bool_, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128}.items():
    _converter(_name, _kind)


@method("cpu")
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor in the CPU's memory (itself when it lies there)."""
    return converted(self, None, library("cpu", "cpu"), False, memory_format)


@method("cuda")
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Raises AssertionError: there is no CUDA device."""
    resolve("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)
    return self


@method("type")
def type(self: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """Without an argument the name of the tensor's type ('torch.FloatTensor'), else the tensor in that dtype."""
    where = "" if self.device.type == "cpu" else f"{self.device.type}."
    if dtype is None:
        return f"torch.{where}{TYPE_NAMES.get(self.dtype.name, self.dtype.name)}"
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.")
        if name.startswith("cuda."):
            resolve("cuda")
        found = next((k for k, v in TYPE_NAMES.items() if v == name), None)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        return cast(self, dtypes.BY_NAME[found])
    if isinstance(dtype, builtins.type) and hasattr(dtype, "dtype"):
        dtype = dtype.dtype
    return cast(self, as_dtype(dtype, "type"))


@method("type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in other's dtype and on other's device."""
    return converted(self, other.dtype, of(other._a))


# -- values to Python ----------------------------------------------------------------------------------------------------------


@method("item")
def item(self: Tensor) -> Any:
    """The one element as a Python number; RuntimeError for any other count of elements."""
    a = self._a
    if a.size != 1:
        raise RuntimeError(f"a Tensor with {a.size} elements cannot be converted to Scalar (its shape is {list(a.shape)})")
    return of(a).item(a)


@method("tolist")
def tolist(self: Tensor) -> Any:
    """The values as nested lists (a number for a zero-dim tensor)."""
    return of(self._a).tolist(self._a)


def _single(self: Tensor) -> Any:
    a = self._a
    if a.size != 1:
        raise ValueError(f"only one element tensors can be converted to Python scalars, this one has shape {list(a.shape)}")
    return of(a).item(a)


@method("__bool__", "is_nonzero")
def __bool__(self: Tensor) -> bool:
    a = self._a
    if a.size != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'more than one value' if a.size else 'no values'} is ambiguous: its shape is "
                           f"{list(a.shape)}. Use .any() or .all().")
    return of(a).item(a) != 0


@op()
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero; RuntimeError for any other count of elements."""
    return __bool__(check_tensor(input, "is_nonzero"))


@method("__int__")
def __int__(self: Tensor) -> int:
    value = _single(self)
    if isinstance(value, complex):
        value = _real_part(value, "int64_t")
    return builtins.int(value)


@method("__float__")
def __float__(self: Tensor) -> float:
    value = _single(self)
    return builtins.float(_real_part(value, "double") if isinstance(value, complex) else value)


def _real_part(value: complex, name: str) -> float:
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {value} is complex. Take .real first.")
    return value.real


@method("__complex__")
def __complex__(self: Tensor) -> complex:
    return complex(_single(self))


@method("__index__")
def __index__(self: Tensor) -> int:
    a = self._a
    if a.size != 1 or a.dtype.kind not in "biu":
        raise TypeError(f"only integer tensors of a single element can be converted to an index, this one is {self.dtype!r} of shape "
                        f"{list(a.shape)}")
    return builtins.int(of(a).item(a))


@method("__len__")
def __len__(self: Tensor) -> int:
    a = self._a
    if a.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return a.shape[0]


@method("__iter__")
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self._a.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method("__contains__")
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, Tensor) or is_number(element):
        return builtins.bool((element == self).any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {builtins.type(element)}.")


@method("__repr__")
def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    return printing.describe(self, tensor_contents)


@method("__format__")
def __format__(self: Tensor, format_spec: str) -> str:
    if self._a.ndim == 0 and self.device.type != "meta" and builtins.type(self) is Tensor:
        return of(self._a).item(self._a).__format__(format_spec)
    return object.__format__(self, format_spec)


# -- NumPy ---------------------------------------------------------------------------------------------------------------------


@method("numpy")
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The values as a NumPy array over the same memory.

    RuntimeError for a tensor that requires grad (while grad mode is on), TypeError for dtypes NumPy does not have and for the meta device. `force`
    detaches first.
    """
    if self._rg and not force and thread.grad and needs_grad(self):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    a = self._a
    if of(a).name != "cpu":
        raise TypeError(f"can't convert {self.device.type} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                        "first.")
    if a.dtype.char not in _NUMPY_KINDS:
        raise TypeError(f"Got unsupported ScalarType {_scalar_type(self.dtype)}: NumPy has no {self.dtype!r}. Use .float().numpy().")
    return of(a).host(a)


_NUMPY_KINDS = frozenset("?bBhHiIlLqQefdFD")


def _scalar_type(kind: dtype) -> str:
    return kind.name[:1].upper() + kind.name[1:] if kind.name != "bfloat16" else "BFloat16"


@method("__array__")
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@method("__array_wrap__")
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What NumPy's functions make of a result when they were given a Tensor."""
    if array.dtype.kind == "b":
        array = array.astype("uint8")
    return wrap(array)


# -- history -------------------------------------------------------------------------------------------------------------------


@op(method=True)
def detach(input: Tensor) -> Tensor:
    """A tensor over the same memory without history; a write to either is seen by both, and by the version check."""
    t = wrap(check_tensor(input, "detach")._a)
    t._st = shared_of(input)
    return t


@method("detach_")
def detach_(self: Tensor) -> Tensor:
    """Cut the tensor off its history, in place; it becomes a leaf that needs no gradient. RuntimeError for a view."""
    if self._view is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
                           "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
                           "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function.")
    self._edge, self._rg = None, False
    return self


# -- questions -----------------------------------------------------------------------------------------------------------------


@op()
def is_tensor(obj: Any, /) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


@op()
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype that an op on these two (Tensors or numbers) would compute in."""
    for value in (tensor1, tensor2):
        if not (isinstance(value, Tensor) or is_number(value)):
            raise TypeError("result_type() received an invalid combination of arguments - got "
                            f"({builtins.type(tensor1).__name__}, {builtins.type(tensor2).__name__}), but expected Tensors and numbers")
    return result_dtype(tensor1, tensor2)


@op()
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a (real) floating point type."""
    return BY_NUMPY[check_tensor(input, "is_floating_point")._a.dtype].is_floating_point


@op()
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return check_tensor(input, "is_complex")._a.dtype.kind == "c"


@op()
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative values."""
    return BY_NUMPY[check_tensor(input, "is_signed")._a.dtype].is_signed


@op()
def numel(input: Tensor) -> int:
    """The number of elements."""
    return check_tensor(input, "numel")._a.size


@op(method=True)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape."""
    return check_tensor(input, "is_same_size")._a.shape == check_tensor(other, "is_same_size", "other")._a.shape


@op(method=True)
def get_device(input: Tensor) -> int:
    """The index of the tensor's device, -1 on the CPU."""
    index = check_tensor(input, "get_device").device.index
    return -1 if index is None else index


@method("_is_view")
def _is_view(self: Tensor) -> bool:
    """Whether the tensor is a differentiable view of another one."""
    return self._view is not None


@method("is_inference")
def is_inference(self: Tensor) -> bool:
    """Whether the tensor was made under inference_mode; saraph's tensors stay ordinary ones."""
    return False
