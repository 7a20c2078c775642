"""`__torch_function__` for users: modes that see every call, and the helpers that library authors put into their own functions.

    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            print(func.__name__)
            return func(*args, **(kwargs or {}))

    with Log():
        x + y            # prints "add"
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from saraph.ops.dispatch import call_overloads, overloaded_types
from saraph.ops.registry import NAMESPACES, OF_PUBLIC, OPS
from saraph.tensor import subclass
from saraph.tensor.state import lower_active, raise_active, thread, upper
from saraph.tensor.subclass import is_overriding
from saraph.tensor.tensor import PLAIN, Tensor


class TorchFunctionMode:
    """A context in which `__torch_function__(self, func, types, args, kwargs)` is called instead of every op; the innermost mode first.

    Inside the method the mode itself is off, so `func(*args, **kwargs)` runs the op (or the next mode).
    """

    inner: TorchFunctionMode | None = None

    def __torch_function__(self, func: Callable, types: tuple, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """What to do instead of `func(*args, **kwargs)`; a mode must define it."""
        raise RuntimeError(f"{type(self).__name__} must define __torch_function__(self, func, types, args=(), kwargs=None)")

    def __enter__(self) -> TorchFunctionMode:
        thread.function_modes = (*thread.function_modes, self)
        raise_active()
        return self

    def __exit__(self, *exc: object) -> None:
        thread.function_modes = thread.function_modes[:-1]
        lower_active()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """A new mode: `with MyMode.push(): ...`. Deprecated in PyTorch: use the constructor."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only passes calls on."""

    def __torch_function__(self, func: Callable, types: tuple, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Run the op."""
        return func(*args, **(kwargs or {}))


class DisableTorchFunction:
    """A context without modes and in which subclasses are taken as plain Tensors."""

    __slots__ = ("_modes",)

    def __enter__(self) -> None:
        self._modes = thread.function_modes
        thread.function_modes = ()
        thread.function_disabled += 1

    def __exit__(self, *exc: object) -> None:
        thread.function_modes = self._modes
        thread.function_disabled -= 1


def has_torch_function(relevant_args: Iterable[Any], /) -> bool:
    """Whether a call with these arguments must go through `handle_torch_function`: a mode is on, or a class overrides ops."""
    if thread.function_modes:
        return True
    return not thread.function_disabled and any(type(x) not in PLAIN and is_overriding(type(x)) for x in relevant_args)


def has_torch_function_unary(obj: Any, /) -> bool:
    """`has_torch_function((obj,))`."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """`has_torch_function(relevant_args)`."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Let modes, then the overriding classes among `relevant_args`, do the call; TypeError when all decline.

    Call it first in a function that takes tensors: `if has_torch_function((x,)): return handle_torch_function(f, (x,), x, ...)`.
    """
    overloaded = overloaded_types(tuple(relevant_args))
    if thread.function_modes:
        modes = thread.function_modes
        thread.function_modes = modes[:-1]
        try:
            result = modes[-1].__torch_function__(public_api, tuple(type(x) for x in overloaded), args, kwargs)
        finally:
            thread.function_modes = modes
        if result is not NotImplemented:
            return result
    return call_overloads(public_api, overloaded, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable], Callable]:
    """Decorator: a function of tensors becomes overridable; `dispatcher(*args, **kwargs)` names the arguments that count."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def foreign(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Called while an op's TypeError is being handled: an argument that is no Tensor but has `__torch_function__` may know what to do.

    NotImplemented where there is none: the error stands.
    """
    overloaded = [x for x in overloaded_types(args, kwargs) if not isinstance(x, Tensor)]
    return call_overloads(record.public, overloaded, args, kwargs) if overloaded else NotImplemented


upper.foreign = foreign


# -- what there is to override -------------------------------------------------------------------------------------------------


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a Tensor or takes part in ops through `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether a function is a method of Tensor or the getter of one of its properties."""
    return func in _tensor_methods() or getattr(func, "__name__", "") == "__get__"


def _tensor_methods() -> set[Any]:
    return {value for value in vars(Tensor).values() if callable(value) and getattr(value, "__hash__", None)}


def get_default_nowrap_functions() -> set[Callable]:
    """Functions whose results the default `__torch_function__` leaves in the class they have."""
    return subclass._plain_results


def resolve_name(f: Callable) -> str | None:
    """The public name of an op ('torch.add', 'torch.Tensor.add_'), None for an unknown function."""
    record = OF_PUBLIC.get(f)
    if record is None:
        return None
    if record.namespaces and record.name in NAMESPACES.get(record.namespaces[0], {}):
        space = record.namespaces[0]
        return f"torch.{record.name}" if space == "torch" else f"torch.{space}.{record.name}"
    return f"torch.Tensor.{record.name}"


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that can be overridden, by where they are public ("torch", "torch.nn.functional", Tensor, ...)."""
    found: dict[Any, list[Callable]] = {("torch" if space == "torch" else f"torch.{space}"): list(dict.fromkeys(table.values()))
                                        for space, table in NAMESPACES.items()}
    found[Tensor] = [f for f in dict.fromkeys(v for v in vars(Tensor).values() if callable(v)) if f in OF_PUBLIC]
    return found


def get_ignored_functions() -> set[Callable]:
    """Public functions that never ask `__torch_function__`."""
    return {OPS[name].public for name in ("is_tensor", "from_numpy") if name in OPS}


def get_testing_overrides() -> dict[Callable, Callable]:
    """For every overridable function a stand-in that takes any arguments and returns -1."""
    return {f: _minus_one for functions in get_overridable_functions().values() for f in functions}


def _minus_one(*args: Any, **kwargs: Any) -> int:
    return -1


subclass._plain_results.update(getattr(Tensor, name).__get__ for name in ("_base", "grad"))
