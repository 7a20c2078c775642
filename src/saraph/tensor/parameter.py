"""Parameter and Buffer: the tensors that a Module registers by itself, and their not yet shaped forms."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from saraph import config
from saraph.backends import on
from saraph.devices import resolve
from saraph.dtypes import BY_NUMPY
from saraph.tensor import interop
from saraph.tensor.subclass import disabled, instance, is_overriding
from saraph.tensor.tensor import PLAIN, Tensor, wrap


class _ParameterMeta(type):
    """`isinstance(x, Parameter)` also holds for tensors of another class that were marked as parameters."""

    def __instancecheck__(cls, value: object) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        return cls is Parameter and isinstance(value, Tensor) and getattr(value, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a Module registers as its parameter when it is assigned as an attribute.

    `Parameter(data, requires_grad=True)` shares data's memory and is a leaf. The result of ops on parameters are plain Tensors.
    """

    __slots__ = ()
    __torch_function__ = disabled

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = wrap(np.empty(0, config.settings.default_dtype.numpy))
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach': Parameter() takes a Tensor")
        check_can_require(data, requires_grad)
        kind = type(data)
        if kind is Tensor or isinstance(data, Parameter) or not is_overriding(kind):
            p = instance(cls, data._a)
        else:
            p = instance(kind, data._a)
            p._is_param = True
        p._rg = bool(requires_grad)
        return p

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        array = self._a
        copied = type(self)(wrap(array.copy("K") if isinstance(array, np.ndarray) else array), self._rg is True)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: int) -> Any:
        state = interop.state_of(self)
        data = interop.plain(self)
        if not state:
            return rebuild_parameter, (data, self._rg is True, OrderedDict())
        return rebuild_parameter_with_state, (data, self._rg is True, OrderedDict(), state)


Parameter.__module__ = "saraph.nn.parameter"
PLAIN.add(Parameter)


def rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """A Parameter from a pickle."""
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    """A Parameter from a pickle, with its Python attributes."""
    return interop.set_state(Parameter(data, requires_grad), state)


def check_can_require(data: Tensor, requires_grad: bool) -> None:
    """RuntimeError where a tensor of that dtype is asked to require grad."""
    if requires_grad and data._a.dtype.kind in "biu":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients, this one is "
                           f"{data.dtype!r}: pass requires_grad=False")


class _BufferMeta(type):
    """`isinstance(x, Buffer)`: a Tensor that `Buffer(...)` has marked."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and bool(getattr(value, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it is assigned as an attribute; `persistent`: part of the state dict."""

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = wrap(np.empty(0, config.settings.default_dtype.numpy))
        t = data.detach()
        if data._rg:
            t.requires_grad = data.requires_grad
        t.persistent = persistent
        t._is_buffer = True
        return t


Buffer.__module__ = "saraph.nn.parameter"


def _unshaped(action: str = "use") -> str:
    return ("Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or explicitly manipulating "
            "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules call `forward` with a dummy batch to initialize the "
            f"parameters before calling torch functions (what was asked for: {action}).")


class Unshaped:
    """Stands where the array of an uninitialized parameter will be: it has a dtype and a device, and refuses everything else."""

    __slots__ = ("dtype", "place")
    base = library = None

    def __init__(self, kind: np.dtype, place: Any):
        self.dtype, self.place = kind, place

    def astype(self, kind: np.dtype) -> Unshaped:
        """The same in another dtype."""
        return Unshaped(kind, self.place)

    @property
    def shape(self) -> Any:
        """Raises: there is no shape yet."""
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
                           "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters "
                           "before accessing their attributes.")

    def __getattr__(self, name: str) -> Any:
        raise ValueError(_unshaped(name))


class UninitializedTensorMixin:
    """A parameter or buffer whose shape is not known yet: `materialize(shape)` gives it one."""

    __slots__ = ()
    cls_to_become: type

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a Parameter (or Tensor) of that shape, uninitialised; device and dtype as at construction unless given."""
        kind = self._a.dtype if dtype is None else dtype.numpy
        where = self._a.place if device is None else resolve(device)
        self._a = on(where).empty(tuple(shape), kind)
        self._st = None
        self.__class__ = self.cls_to_become

    @property
    def device(self) -> Any:
        """Where the memory will lie."""
        return self._a.place

    def share_memory_(self) -> Any:
        """Raises: there is no memory yet."""
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
                           "calling `module.share_memory()`.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _uninitialized(type(self), self._rg, self._a.place, BY_NUMPY[self._a.dtype])
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int) -> Any:
        return _uninitialized, (type(self), self._rg, self._a.place, BY_NUMPY[self._a.dtype])


def _uninitialized(cls: type, requires_grad: bool, device: Any, dtype: Any) -> Any:
    kind = config.settings.default_dtype if dtype is None else dtype
    t = instance(cls, Unshaped(kind.numpy, resolve(device)))
    t._rg = requires_grad
    return t


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape, for lazy modules; any use but `materialize` and conversions raises ValueError."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _uninitialized(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape, for lazy modules."""

    __slots__ = ()
    __torch_function__ = disabled
    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        t = _uninitialized(cls, requires_grad, device, dtype)
        t.persistent = persistent
        t._is_buffer = True
        return t


for _cls in (UninitializedParameter, UninitializedBuffer):
    _cls.__module__ = "saraph.nn.parameter"


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
