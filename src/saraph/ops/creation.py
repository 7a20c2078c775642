"""New tensors: from values, of one value, uninitialised, and "like" another tensor."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from saraph import shapes
from saraph.backends import cpu, is_array, of
from saraph.config import settings
from saraph.devices import CPU
from saraph.dtypes import BY_NUMPY, int64, of_scalar
from saraph.dtypes import dtype as Dtype
from saraph.ops import inplace as writing
from saraph.ops.options import as_dtype, as_sizes, check_layout, check_number, check_pin, chosen_dtype, library, made
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import method, op, publish, register
from saraph.ops.values import array_of, checked
from saraph.tensor.interop import from_dlpack
from saraph.tensor.state import state, upper
from saraph.tensor.storage import Shared
from saraph.tensor.tensor import Tensor, bump, wrap

_from_values = cpu.from_values


# -- from values -------------------------------------------------------------------------------------------------------------


def _tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested sequences of numbers, a NumPy array or scalar, or a Tensor.

    Without `dtype` it is inferred: bools give bool, ints int64, floats the default dtype, complex numbers its complex; arrays keep
    theirs. ValueError for ragged sequences, TypeError or RuntimeError for what is no number.

    Example: `tensor([[1, 2], [3, 4.]])` is a float32 tensor of shape (2, 2).
    """
    kind = None if dtype is None else as_dtype(dtype, "tensor")
    check_pin(pin_memory)
    if isinstance(data, Tensor):
        warnings.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                      "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).", UserWarning, stacklevel=3)
        a = data._a
        array = of(a).copy(a) if kind is None or kind.numpy == a.dtype else of(a).cast(a, kind.numpy)
        return made(_moved(array, library(device, "tensor") if device is not None else of(a)), requires_grad)
    return made(_moved(array_of(data, kind), library(device, "tensor")), requires_grad)


def _moved(array: Any, backend: Any) -> Any:
    """An array on another backend; its values are lost on a meta device."""
    own = of(array)
    if own is backend:
        return array
    if own.name == "meta":
        own.host(array)
    return backend.empty_strided(array.shape, tuple(s // array.dtype.itemsize for s in array.strides), array.dtype)


_tensor.__name__ = _tensor.__qualname__ = "tensor"
_tensor_record = register(_tensor, "tensor")


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    if not state.active:
        if dtype is None and device is None and settings.default_device is CPU and not pin_memory:
            array = _plain_numbers(data)
            if array is not None:
                return made(array, requires_grad) if requires_grad else wrap(array)
        return _tensor(data, dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory)
    return upper.dispatch(_tensor_record, (data,), _given(dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory))


def _plain_numbers(data: Any) -> Any:
    """The array of a number, a list of numbers or a list of such lists; None where the general way must look closer."""
    if data.__class__ is list:
        kinds = set(map(type, data))
        if kinds == _LISTS:
            kinds = {v.__class__ for row in data for v in row}
    else:
        kinds = {data.__class__}
    try:
        if kinds == _FLOATS or kinds == _MIXED:
            return _from_values(data, settings.default_dtype.numpy)
        if kinds == _INTS:
            return _from_values(data, _INT64)
    except (ValueError, OverflowError):
        return None
    return None


_FLOATS, _INTS, _MIXED, _LISTS = {float}, {int}, {float, int}, {list}
_INT64 = int64.numpy
tensor.__doc__ = _tensor.__doc__
publish(_tensor_record, tensor)


def over(array: Any) -> Tensor:
    """A Tensor that shares a NumPy array's memory; the array is its whole storage."""
    view = cpu.host(array)
    t = wrap(view)
    if array.base is not None:
        t._st = Shared(view)
    return t


@op()
def from_numpy(ndarray: Any, /) -> Tensor:
    """A tensor over a NumPy array's memory: writes to either are seen by both.

    TypeError for types PyTorch does not have, ValueError for negative strides or a foreign byte order.
    """
    if not is_array(ndarray):
        raise TypeError(f"expected np.ndarray (got {_full_name(type(ndarray))})")
    return over(checked(ndarray))


def _full_name(cls: type) -> str:
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


@op()
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where that can be: a Tensor of that dtype and device is returned as it is (its history kept),
    a NumPy array shares its memory."""
    kind = None if dtype is None else as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data.to(dtype=kind, device=device)
    if is_array(data):
        found = over(checked(data))
        return found.to(dtype=kind, device=library(device, "as_tensor").name)
    if hasattr(data, "__array_interface__") and not _is_plain(data):
        return as_tensor(cpu.shared(data), kind, device)
    return wrap(_moved(array_of(data, kind), library(device, "as_tensor")))


def _is_plain(data: Any) -> bool:
    return isinstance(data, (int, float, complex, list, tuple)) or getattr(data, "shape", None) == ()


@op()
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """obj as a tensor: a Tensor, NumPy array, DLPack object or buffer shares its memory where it can; numbers and sequences are copied.

    `copy` True always copies, False raises ValueError where that would be needed. `requires_grad` True: a leaf.
    """
    kind = None if dtype is None else as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        found = obj
    elif is_array(obj):
        found = over(checked(obj))
    elif hasattr(obj, "__dlpack__"):
        found = from_dlpack(obj)
    elif not isinstance(obj, (int, float, complex, str)) and _is_buffer(obj):
        found = frombuffer(obj, dtype=kind or settings.default_dtype)
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return made(_moved(array_of(obj, kind), library(device, "asarray")), requires_grad)
    backend = of(found._a) if device is None else library(device, "asarray")
    if copy is False and (kind not in (None, found.dtype) or backend is not of(found._a)):
        raise ValueError(f"can't alias tensor with dtype {found.dtype!r} into dtype {kind!r}." if backend is of(found._a) else
                         f"can't alias tensor from device '{found.device}' to '{device}'.")
    found = found.to(device=backend.name, dtype=kind, copy=bool(copy))
    if requires_grad:
        return found.detach().requires_grad_()
    return found


def _is_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


@op()
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor over a Python buffer's memory: `count` elements (-1: all) from byte `offset` on. ValueError where they do not fit."""
    kind = as_dtype(dtype, "frombuffer")
    if not _is_buffer(buffer):
        raise ValueError("object does not implement Python buffer protocol.")
    view = memoryview(buffer)
    length, item = view.nbytes, kind.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1")
    if count < 0 and (length - offset) % item:
        raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({item})")
    if count > 0 and offset + count * item > length:
        raise ValueError(f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be greater than actual buffer "
                         f"length ({length} bytes)")
    if view.readonly:
        warnings.warn("The given buffer is not writable, and PyTorch does not support non-writable tensors: writes to this tensor raise. Copy the "
                      "buffer (bytearray(buffer)) to be able to write.", UserWarning, stacklevel=3)
    return made(cpu.from_buffer(buffer, kind.numpy, count, offset), requires_grad)


@op()
def scalar_tensor(s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Tensor:
    """A zero-dim tensor of a number, in the default dtype unless `dtype` says otherwise."""
    kind = chosen_dtype(dtype, "scalar_tensor")
    value = check_number(s.item() if isinstance(s, Tensor) else s, kind, "scalar_tensor")
    return made(library(device, "scalar_tensor").scalar(value, kind.numpy), requires_grad)


# -- of one value ------------------------------------------------------------------------------------------------------------


def store_out(name: str, out: Any, array: Any, dtype: Any) -> Tensor:
    """Put a factory's array into `out=`, which is resized where its shape differs and keeps its dtype."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype is not None and as_dtype(dtype, name) is not out.dtype:
        raise RuntimeError(f"{name}(): dtype {dtype!r} does not match dtype of out parameter ({out.dtype!r})")
    writing.check_writable(out, f"{name}(out=...)")
    if out._a.shape != array.shape:
        writing.resize(out, array.shape)
    of(out._a).copy_into(out._a, array)
    bump(out)
    return out


def _factory(name: str, fast: Callable, doc: str) -> Callable:
    """zeros, ones, empty: `fast(shape, numpy dtype)` makes the array on the CPU, the backend's primitive of that name anywhere."""

    def body(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
             requires_grad: bool = False, memory_format: Any = None, **keywords: Any) -> Tensor:
        if keywords:
            size = (_size_keyword(name, size, keywords),)
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        shape = as_sizes(size, name)
        kind = None if dtype is None else as_dtype(dtype, name)
        check_layout(layout, name)
        check_pin(pin_memory)
        if out is not None:
            return store_out(name, out, getattr(of(out._a), name)(shape, out._a.dtype) if isinstance(out, Tensor) else None, kind)
        kind = kind or settings.default_dtype
        backend = library(device, name)
        if memory_format is not None and memory_format.name.startswith("channels_last"):
            return made(backend.empty_strided(shape, _strides_for(shape, memory_format), kind.numpy), requires_grad)
        return made(getattr(backend, name)(shape, kind.numpy), requires_grad)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    rec = register(body, name)
    rec.out = False

    def public(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
               requires_grad: bool = False, **keywords: Any) -> Tensor:
        if state.active:
            return upper.dispatch(rec, size, {**_given(out=out, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory,
                                                      requires_grad=requires_grad), **keywords})
        if device is None and out is None and layout is None and not keywords and not requires_grad and settings.default_device is CPU:
            kind = settings.default_dtype if dtype is None else dtype
            dims = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
            if kind.__class__ is Dtype and (dims or dims is not size) and not pin_memory:
                for n in dims:
                    if n.__class__ is not int or n < 0:
                        break
                else:
                    return wrap(fast(dims, kind.numpy))
        return body(*size, out=out, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory, requires_grad=requires_grad, **keywords)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    return publish(rec, public)


def _given(**keywords: Any) -> dict[str, Any]:
    """The keywords that were passed."""
    return {k: v for k, v in keywords.items() if v is not None and v is not False}


def _size_keyword(name: str, size: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    unknown = [k for k in keywords if k != "size"]
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{unknown[0]}'")
    if size:
        raise TypeError(f"{name}() got multiple values for argument 'size'")
    return keywords["size"]


def _strides_for(shape: tuple[int, ...], memory_format: Any) -> tuple[int, ...]:
    rank = 4 if memory_format.name == "channels_last" else 5
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format, got shape {list(shape)}")
    return shapes.channels_last_strides(shape)


zeros = _factory("zeros", cpu.zeros, """A tensor of zeros.

    Sizes are ints or one sequence of them: `zeros(2, 3)`, `zeros((2, 3))`. Keywords: `out` (filled in its own dtype), `dtype` (the default
    dtype), `device`, `layout`, `pin_memory`, `requires_grad`.""")
ones = _factory("ones", cpu.ones, """A tensor of ones (arguments as for `zeros`).""")
empty = _factory("empty", cpu.empty, """An uninitialised tensor (arguments as for `zeros`, and `memory_format`).""")


@op(out=False)
def full(size: Any, fill_value: Any, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
         pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A tensor of that size, every element `fill_value`; without `dtype` it is the number's own type.

    RuntimeError where the dtype cannot hold the number. Example: `full((2, 3), 7)` is an int64 tensor of sevens.
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape = as_sizes((size,), "full")
    value = _fill_number(fill_value, "full")
    kind = as_dtype(dtype, "full") if dtype is not None else out.dtype if out is not None else of_scalar(value)
    check_layout(layout, "full")
    check_pin(pin_memory)
    if out is not None:
        return store_out("full", out, of(out._a).full(shape, check_number(value, kind, "full"), kind.numpy), dtype)
    return made(library(device, "full").full(shape, check_number(value, kind, "full"), kind.numpy), requires_grad)


def _fill_number(value: Any, name: str) -> Any:
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise TypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not Tensor")
        return value.item()
    if is_array(value) or not isinstance(value, (bool, int, float, complex)):
        if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "shape", None) == ():
            return value.item()
        raise TypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    return value


@op()
def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Tensor:
    """An uninitialised tensor with these sizes and strides (in elements)."""
    shape, strides = as_sizes((size,), "empty_strided"), as_sizes((stride,), "empty_strided", "stride")
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})")
    check_pin(pin_memory)
    kind = chosen_dtype(dtype, "empty_strided")
    return made(library(device, "empty_strided").empty_strided(shape, strides, kind.numpy), requires_grad)


@op()
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:
    """An uninitialised dense tensor whose dimensions lie in memory in the order `physical_layout` (outermost first)."""
    shape, order = as_sizes((size,), "empty_permuted"), tuple(physical_layout)
    if len(shape) != len(order):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}")
    strides, step = [0] * len(shape), 1
    seen: set[int] = set()
    for d in reversed(order):
        if not 0 <= d < len(shape):
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {d} at index "
                               f"{order.index(d)}).  NB: negative dims not currently supported; file an issue if you want it.")
        if d in seen:
            raise RuntimeError(f"Duplicate dim not allowed: physical_layout {order} names dimension {d} twice")
        seen.add(d)
        strides[d] = step
        step *= max(shape[d], 1)
    check_pin(pin_memory)
    kind = chosen_dtype(dtype, "empty_permuted")
    return made(library(device, "empty_permuted").empty_strided(shape, tuple(strides), kind.numpy), requires_grad)


# -- like another tensor -----------------------------------------------------------------------------------------------------


def uninitialized_like(name: str, input: Any, dtype: Any, layout: Any, device: Any, pin_memory: bool, memory_format: Any) -> Any:
    """An uninitialised array for the `*_like` functions."""
    a = check_tensor(input, name)._a
    kind = a.dtype if dtype is None else as_dtype(dtype, name).numpy
    check_layout(layout, name)
    check_pin(pin_memory)
    backend = of(a) if device is None else library(device, name)
    form = "preserve_format" if memory_format is None else memory_format.name
    if form == "preserve_format":
        if backend is of(a):
            return backend.empty_like(a, kind) if 0 not in a.strides or a.size <= 1 else backend.empty(a.shape, kind)
        return backend.empty_strided(a.shape, _dense_strides(a), kind)
    if form == "contiguous_format":
        return backend.empty(a.shape, kind)
    return backend.empty_strided(a.shape, _strides_for(a.shape, memory_format), kind)


def _dense_strides(a: Any) -> tuple[int, ...]:
    """Strides in elements of a dense tensor in a's memory order."""
    order = sorted(range(a.ndim), key=lambda d: (-a.strides[d], d))
    strides, step = [0] * a.ndim, 1
    for d in reversed(order):
        strides[d] = step
        step *= max(a.shape[d], 1)
    return tuple(strides)


@op()
def empty_like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
               requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """An uninitialised tensor of input's shape, dtype, device and memory order, each of which a keyword can change."""
    return made(uninitialized_like("empty_like", input, dtype, layout, device, pin_memory, memory_format), requires_grad)


@op()
def zeros_like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
               requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """Zeros of input's shape, dtype, device and memory order, each of which a keyword can change."""
    return made(_filled_like("zeros_like", 0, input, dtype, layout, device, pin_memory, memory_format), requires_grad)


@op()
def ones_like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
              requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """Ones of input's shape, dtype, device and memory order, each of which a keyword can change."""
    return made(_filled_like("ones_like", 1, input, dtype, layout, device, pin_memory, memory_format), requires_grad)


@op()
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
              requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """`fill_value` everywhere, with input's shape, dtype, device and memory order, each of which a keyword can change."""
    value = _fill_number(fill_value, "full_like")
    check_number(value, check_tensor(input, "full_like").dtype if dtype is None else as_dtype(dtype, "full_like"), "full_like")
    return made(_filled_like("full_like", value, input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def _filled_like(name: str, value: Any, *arguments: Any) -> Any:
    input = arguments[0]
    if input.__class__ is Tensor and arguments[1:] == _NO_OPTIONS and value.__class__ is int and 0 <= value <= 1 and 0 not in input._a.strides:
        a = input._a
        array = of(a).empty_like(a, a.dtype)
        of(array).fill(array, value)
        return array
    array = uninitialized_like(name, *arguments)
    of(array).fill(array, check_number(value, BY_NUMPY[array.dtype], name))
    return array


_NO_OPTIONS = (None, None, None, False, None)


# -- methods: new_* ----------------------------------------------------------------------------------------------------------


def _new(name: str, self: Tensor, dtype: Any, device: Any, layout: Any, pin_memory: bool) -> tuple[Any, Any]:
    """The backend and NumPy dtype of a `new_*` method: those of the tensor unless named."""
    check_layout(layout, name)
    check_pin(pin_memory)
    backend = of(self._a) if device is None else library(device, name)
    return backend, self._a.dtype if dtype is None else as_dtype(dtype, name).numpy


def _new_sizes(size: tuple[Any, ...], keyword: Any, name: str) -> tuple[int, ...]:
    if keyword is not None:
        size = (keyword,)
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return as_sizes(size, name)


@method("new_zeros")
def new_zeros(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False,
              requires_grad: bool = False) -> Tensor:
    """Zeros of another size with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_zeros", self, dtype, device, layout, pin_memory)
    return made(backend.zeros(_new_sizes(shape, size, "new_zeros"), kind), requires_grad)


@method("new_ones")
def new_ones(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """Ones of another size with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_ones", self, dtype, device, layout, pin_memory)
    return made(backend.ones(_new_sizes(shape, size, "new_ones"), kind), requires_grad)


@method("new_empty")
def new_empty(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False,
              requires_grad: bool = False) -> Tensor:
    """An uninitialised tensor of another size with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_empty", self, dtype, device, layout, pin_memory)
    return made(backend.empty(_new_sizes(shape, size, "new_empty"), kind), requires_grad)


@method("new_full")
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """`fill_value` everywhere, with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_full", self, dtype, device, layout, pin_memory)
    value = check_number(_fill_number(fill_value, "new_full"), BY_NUMPY[kind], "new_full")
    return made(backend.full(as_sizes((size,), "new_full"), value, kind), requires_grad)


@method("new_empty_strided")
def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False) -> Tensor:
    """An uninitialised tensor of these sizes and strides with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_empty_strided", self, dtype, device, layout, pin_memory)
    return empty_strided(size, stride, dtype=BY_NUMPY[kind], device=backend.name, requires_grad=requires_grad)


@method("new_tensor")
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
               pin_memory: bool = False) -> Tensor:
    """A copy of `data` (as `tensor` takes it) with this tensor's dtype and device, unless named."""
    backend, kind = _new("new_tensor", self, dtype, device, layout, pin_memory)
    return tensor(data, dtype=BY_NUMPY[kind], device=backend.name, requires_grad=requires_grad)
