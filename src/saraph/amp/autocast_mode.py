"""`autocast`: products and convolutions run in a 16-bit type, sums and losses in float32, by each op's policy in the registry."""
from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from saraph import dtypes
from saraph.devices import device as device_class
from saraph.tensor.state import lower_active, raise_active, thread

__all__ = ["autocast", "custom_fwd", "custom_bwd", "is_autocast_available", "is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled",
           "set_autocast_dtype", "is_autocast_cache_enabled", "set_autocast_cache_enabled", "clear_autocast_cache"]
_KINDS = ("cpu", "cuda", "mps", "xpu", "hpu", "mtia", "meta", "ipu", "xla", "privateuseone", "maia")
_default_dtypes = {"cpu": dtypes.bfloat16}
_cache_enabled = True


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast can be asked for on this type of device (it acts on the CPU)."""
    return device_type in _KINDS


class autocast:  # noqa: N801
    """Context or decorator: ops marked for it run in `dtype` (default bfloat16 on the CPU).

    float64 is left alone; weights are cast once per outermost region (`cache_enabled`). On a device type that is not there it does nothing,
    with a warning, as PyTorch's does.
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_class(device_type).type
        if not is_autocast_available(self.device):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{self.device}'")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self.cache_enabled = _cache_enabled if cache_enabled is None else cache_enabled
        if self.device == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if self.device == "cpu" and enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtype of "
                          "torch.bfloat16, torch.float16 currently.", stacklevel=2)
            enabled = False
        self._enabled = bool(enabled)

    def __enter__(self) -> autocast:
        self._before = thread.autocast, thread.autocast_cache
        table = dict(thread.autocast or {})
        if self._enabled:
            table[self.device] = self.fast_dtype
        else:
            table.pop(self.device, None)
        thread.autocast = table or None
        if thread.autocast_cache is None and self.cache_enabled:
            thread.autocast_cache = {}
        raise_active()
        return self

    def __exit__(self, *exc: object) -> None:
        thread.autocast, thread.autocast_cache = self._before
        lower_active()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with type(self).__new__(type(self))._copy(self):
                return function(*args, **kwargs)

        return decorated

    def _copy(self, other: autocast) -> autocast:
        self.__dict__.update({k: v for k, v in other.__dict__.items() if k != "_before"})
        return self


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for this type of device in this thread."""
    return thread.autocast is not None and (device_type or "cuda") in thread.autocast


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that autocast uses there."""
    if thread.autocast is not None and device_type in thread.autocast:
        return thread.autocast[device_type]
    return _default_dtypes.get(device_type, dtypes.float16)


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switch autocast on or off outside of a context."""
    table = dict(thread.autocast or {})
    before = bool(table)
    if enabled:
        table[device_type] = get_autocast_dtype(device_type)
    else:
        table.pop(device_type, None)
    thread.autocast = table or None
    if bool(table) and not before:
        raise_active()
    elif before and not table:
        lower_active()


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the dtype that autocast uses there."""
    _default_dtypes[device_type] = dtype
    if thread.autocast is not None and device_type in thread.autocast:
        thread.autocast = {**thread.autocast, device_type: dtype}


def is_autocast_cache_enabled() -> bool:
    """Whether weights are cast once per region."""
    return _cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether weights are cast once per region."""
    global _cache_enabled
    _cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Forget the cast weights."""
    if thread.autocast_cache is not None:
        thread.autocast_cache = {}


def custom_fwd(fwd: Callable | None = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Callable:
    """Decorator of a Function's forward: its inputs are cast to `cast_inputs`, and it runs without autocast then."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        enabled = is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = enabled and cast_inputs is None
        args[0]._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None or not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*[_cast(a, cast_inputs) for a in args], **{k: _cast(v, cast_inputs) for k, v in kwargs.items()})

    return decorated


def _cast(value: Any, dtype: dtypes.dtype) -> Any:
    if hasattr(value, "is_floating_point") and value.is_floating_point() and value.dtype is not dtypes.float64:
        return value.to(dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, dtype) for v in value)
    return value


def custom_bwd(bwd: Callable | None = None, *, device_type: str = "cuda") -> Callable:
    """Decorator of a Function's backward: it runs with the autocast state that forward had."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"torch.{name}() is deprecated. Please use torch.{instead} instead.", DeprecationWarning, stacklevel=3)


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU. Deprecated in PyTorch: `is_autocast_enabled('cpu')`."""
    _deprecated("is_autocast_cpu_enabled", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """Autocast's type on the CPU. Deprecated in PyTorch: `get_autocast_dtype('cpu')`."""
    _deprecated("get_autocast_cpu_dtype", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """Autocast's type on CUDA. Deprecated in PyTorch: `get_autocast_dtype('cuda')`."""
    _deprecated("get_autocast_gpu_dtype", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")
