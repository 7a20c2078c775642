"""Subclasses of Tensor: how an op's result keeps its class, and which classes take part in `__torch_function__`.

A class whose `__torch_function__` is `disabled` (Parameter and its subclasses) goes through ops as a plain Tensor: it joins PLAIN. Any other
subclass is noticed when its first instance appears: from then on ops look at the classes of their arguments (`state.active`).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from saraph.tensor.state import raise_active, thread
from saraph.tensor.tensor import PLAIN, Tensor, wrap_as

_noticed: set[type] = set()
_plain_results: set[Any] = set()  # functions whose results keep the class they have


def disabled(*args: Any, **kwargs: Any) -> Any:
    """The `__torch_function__` of classes that take part in ops as plain Tensors."""
    return NotImplemented


def is_overriding(cls: type) -> bool:
    """Whether instances of a class are asked what an op on them does."""
    handler = getattr(cls, "__torch_function__", None)
    return handler is not None and getattr(handler, "__func__", handler) is not disabled


def notice(cls: type) -> None:
    """Called when an instance of `cls` is made: the first of an overriding class puts ops on the path that looks at classes."""
    if cls in PLAIN or cls in _noticed:
        return
    if is_overriding(cls):
        _noticed.add(cls)
        raise_active()
    else:
        PLAIN.add(cls)


def watched(tensors: Iterable[Any]) -> bool:
    """Whether ops on these must be seen one by one: a mode of this thread wants to, or a class that overrides them."""
    if thread.function_modes or thread.batches or thread.dual is not None or thread.autocast is not None:
        return True
    return any(t.__class__ not in PLAIN for t in tensors if t is not None)


def instance(cls: type, array: Any) -> Tensor:
    """A Tensor of class `cls` around an array, not initialised further."""
    if cls is not Tensor:
        notice(cls)
    return wrap_as(cls, array)


def share(x: Tensor, cls: type) -> Tensor:
    """A Tensor of class `cls` that is x in everything else: memory, version, history."""
    t = instance(cls, x._a)
    t._st, t._rg, t._edge, t._view = x._st, x._rg, x._edge, x._view
    if x._view is not None:
        t._seen = x._seen
    t._meta = x._meta
    t._grad = x._grad
    return t


class DisableTorchFunctionSubclass:
    """A context in which subclasses of Tensor are taken as plain Tensors."""

    __slots__ = ()

    def __enter__(self) -> None:
        thread.function_disabled += 1

    def __exit__(self, *exc: object) -> None:
        thread.function_disabled -= 1


def keep_class(result: Any, cls: type) -> Any:
    """Plain Tensors in an op's result become instances of `cls`."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else share(result, cls)
    if isinstance(result, (tuple, list)):
        kind = type(result)
        values = [keep_class(v, cls) for v in result]
        return kind(*values) if hasattr(result, "_fields") else kind(values)
    return result


def _torch_function(cls: type, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
    """What a subclass does by default: run the op as on plain Tensors, and give the result the subclass.

    A subclass overrides this classmethod to see every op on its instances; `super().__torch_function__(func, types, args, kwargs)` runs
    the op. NotImplemented where another argument's class is unrelated.
    """
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if func in _plain_results else keep_class(result, cls)


def _as_subclass(self: Tensor, cls: type) -> Tensor:
    """The same tensor (memory and history) as an instance of `cls`, a subclass of Tensor."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of torch.Tensor, not {cls!r}")
    t = share(self, cls)
    if self._edge is None and self._rg is True and self._view is None:
        t._edge = self  # gradients of the new tensor go to the leaf it was made from
        t._grad = t._meta = None
    return t


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False, dispatch_sizes_strides: bool = False, dispatch_device: bool = False,
                   device_for_backend_keys: Any = None) -> Tensor:
    """A leaf of class `cls` over data's memory."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' must be Tensor, not {type(data).__name__}")
    t = instance(cls, data._a)
    if require_grad:
        if data._a.dtype.kind in "biu":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._rg = True
    return t


_torch_function.__name__, _torch_function.__qualname__ = "__torch_function__", "Tensor.__torch_function__"
Tensor.__torch_function__ = classmethod(_torch_function)
Tensor.as_subclass = _as_subclass
Tensor._make_subclass = staticmethod(_make_subclass)
