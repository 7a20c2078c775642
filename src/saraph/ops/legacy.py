"""PyTorch's old constructors (`Tensor(2, 3)`, `FloatTensor([1, 2])`, `x.new(...)`) and the defaults for new tensors."""
from __future__ import annotations

import warnings
from typing import Any

from saraph import dtypes
from saraph.backends import of, on
from saraph.config import settings
from saraph.devices import device as Device
from saraph.devices import resolve
from saraph.dtypes import BY_NAME, dtype
from saraph.ops.conversion import TYPE_NAMES
from saraph.ops.creation import tensor
from saraph.ops.options import as_sizes
from saraph.ops.registry import method
from saraph.ops.values import is_sequence
from saraph.shapes import Size, strided
from saraph.tensor.node import derivative
from saraph.tensor.storages import TypedStorage, UntypedStorage, tensor_over
from saraph.tensor.subclass import instance, share
from saraph.tensor.tensor import Tensor, view_of, wrap

# -- constructors --------------------------------------------------------------------------------------------------------------


@derivative("AliasBackward0")
def AliasBackward(node: Any, g: Tensor) -> Tensor:
    return g


def alias(x: Tensor) -> Tensor:
    """A view of all of x."""
    return view_of(x, x._a, AliasBackward)


def build(args: tuple[Any, ...], kwargs: dict[str, Any], kind: dtype | None) -> Tensor:
    """What the old constructors make: nothing; sizes; data; another tensor; a storage. `kind` None: the default dtype, any for a Tensor."""
    known = {"device", "size", "other", "data", "storage"}
    if not known.issuperset(kwargs):
        raise TypeError(f"new() received an invalid combination of arguments: keyword {sorted(set(kwargs) - known)[0]!r} is not understood. "
                        "Use torch.tensor(data, dtype=...) or torch.empty(sizes, dtype=...).")
    where = kwargs.pop("device", None)
    if where is not None and Device(where).type not in ("cpu", "meta"):
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {Device(where).type} was passed")
    backend = on(resolve("cpu" if where is None else where))
    if kwargs:
        key, value = next(iter(kwargs.items()))
        args = (Size(value),) if key == "size" else (value,)
    numpy_kind = (settings.default_dtype if kind is None else kind).numpy
    if not args:
        return wrap(backend.empty((0,), numpy_kind))
    first = args[0]
    if len(args) > 1 or isinstance(first, Size) or (isinstance(first, int) and not isinstance(first, bool)):
        if isinstance(first, int) and not all(isinstance(n, int) for n in args) or isinstance(first, float):
            raise TypeError(f"new() received an invalid combination of arguments - got ({', '.join(type(a).__name__ for a in args)}): sizes "
                            "must be ints")
        return wrap(backend.empty(as_sizes(args, "new"), numpy_kind))
    if isinstance(first, Tensor):
        if kind is not None and first.dtype is not kind:
            raise TypeError(f"expected TensorOptions(dtype={kind!r}, device=cpu, layout=Strided) (got dtype={first.dtype!r}): convert the tensor "
                            "with .to(dtype)")
        return alias(first)
    if isinstance(first, (TypedStorage, UntypedStorage)):
        own = dtypes.from_numpy_dtype(numpy_kind)
        return tensor_over(first.untyped(), own, 0, (first.nbytes() // own.itemsize,), (1,))
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if not is_sequence(first):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return tensor(first, dtype=kind or settings.default_dtype, device=None if where is None else resolve(where))


def _new_tensor(cls: type, *args: Any, **kwargs: Any) -> Tensor:
    """`Tensor(2, 3)`: uninitialised; `Tensor([1, 2])`: the data in the default dtype; `Tensor(other)`: the same memory."""
    made = build(args, kwargs, None)
    return made if cls is Tensor else share(made, cls) if made._view is not None else instance(cls, made._a)


Tensor.__new__ = _new_tensor


@method("new")
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """As the constructor `Tensor(...)`, with this tensor's dtype. Deprecated in PyTorch: use `new_tensor`, `new_empty`."""
    if "device" not in kwargs and of(self._a).name == "meta":
        kwargs["device"] = "meta"
    return build(args, kwargs, self.dtype)


class _TensorTypeMeta(type):
    """`isinstance(x, FloatTensor)` asks for the dtype (and the CPU)."""

    dtype: dtype

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype and value.device.type == "cpu"

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return build(args, kwargs, cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TENSOR_TYPES: dict[str, type] = {
    name: _TensorTypeMeta(name, (), {"dtype": BY_NAME[kind], "layout": strided, "is_cuda": False, "is_sparse": False, "__module__": "saraph",
                                     "__doc__": f"Constructor and isinstance test of {kind} tensors on the CPU. Prefer torch.tensor(data, dtype)."})
    for kind, name in TYPE_NAMES.items() if BY_NAME[kind].category < 3}


# -- defaults ------------------------------------------------------------------------------------------------------------------


def set_default_dtype(d: Any, /) -> None:
    """The floating dtype of tensors that are made from Python numbers without a dtype (float32 at start)."""
    if d is float:
        d = dtypes.float64
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {d!r}")
    settings.default_dtype = d


def get_default_dtype() -> dtype:
    """The dtype that `set_default_dtype` set."""
    return settings.default_dtype


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a tensor type such as `FloatTensor` or its name. Deprecated: use `set_default_dtype`."""
    warnings.warn("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
                  "torch.set_default_device() as alternatives.", UserWarning, stacklevel=2)
    if isinstance(t, str):
        name = t.removeprefix("torch.")
        if name not in TENSOR_TYPES:
            raise TypeError(f"invalid type name '{t}'" if not name.startswith("cuda.") else "type torch.cuda tensors are not available: saraph "
                            "computes on the CPU")
        t = TENSOR_TYPES[name]
    kind = getattr(t, "dtype", None)
    if not isinstance(kind, dtype):
        raise TypeError("invalid type object: expected a tensor type such as torch.FloatTensor")
    set_default_dtype(kind)


def set_default_device(device: Any) -> None:
    """The device of tensors that are made without one; None: the CPU. `with torch.device(...)` does so for a block."""
    settings.default_device = resolve("cpu") if device is None else _known(Device(device))


def _known(device: Device) -> Device:
    return resolve(device) if device.type in ("cpu", "meta") else device


def get_default_device() -> Device:
    """The device of tensors that are made without one."""
    return settings.default_device


def typename(obj: Any, /) -> str:
    """The qualified name of a value's type; for a tensor that of its tensor type ('torch.FloatTensor')."""
    if isinstance(obj, Tensor):
        return obj.type()
    found = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(found, "__module__", None) or ""
    return found.__qualname__ if module in ("builtins", "__builtin__", "") else f"{module}.{found.__qualname__}"


DEFAULTS = {f.__name__: f for f in (set_default_dtype, get_default_dtype, set_default_tensor_type, set_default_device, get_default_device,
                                     typename)}
