"""`torch.accelerator`: the accelerator of this machine, whatever its kind. There is none; what needs one raises as PyTorch does."""
from __future__ import annotations

from typing import Any

from saraph.absent import Context, false, refusing
from saraph.devices import device

__all__ = ["is_available", "device_count", "current_accelerator", "current_device_index", "current_device_idx", "set_device_index", "set_device_idx",
           "current_stream", "set_stream", "synchronize", "device_index", "empty_cache", "empty_host_cache", "get_device_capability",
           "get_memory_info", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
           "reset_accumulated_memory_stats", "reset_peak_memory_stats"]
_MESSAGE = "Cannot access accelerator device when none is available."
is_available = false
current_device_index = refusing("current_device_index", RuntimeError, _MESSAGE)
current_device_idx = refusing("current_device_idx", RuntimeError, _MESSAGE)
set_device_index = refusing("set_device_index", RuntimeError, _MESSAGE)
set_device_idx = refusing("set_device_idx", RuntimeError, _MESSAGE)
current_stream = refusing("current_stream", RuntimeError, _MESSAGE)
set_stream = refusing("set_stream", RuntimeError, _MESSAGE)
synchronize = refusing("synchronize", RuntimeError, _MESSAGE)
empty_cache = refusing("empty_cache", RuntimeError, _MESSAGE)
empty_host_cache = refusing("empty_host_cache", RuntimeError, _MESSAGE)
get_device_capability = refusing("get_device_capability", RuntimeError, _MESSAGE)
get_memory_info = refusing("get_memory_info", RuntimeError, _MESSAGE)
max_memory_allocated = refusing("max_memory_allocated", RuntimeError, _MESSAGE)
max_memory_reserved = refusing("max_memory_reserved", RuntimeError, _MESSAGE)
memory_allocated = refusing("memory_allocated", RuntimeError, _MESSAGE)
memory_reserved = refusing("memory_reserved", RuntimeError, _MESSAGE)
memory_stats = refusing("memory_stats", RuntimeError, _MESSAGE)
reset_accumulated_memory_stats = refusing("reset_accumulated_memory_stats", RuntimeError, _MESSAGE)
reset_peak_memory_stats = refusing("reset_peak_memory_stats", RuntimeError, _MESSAGE)


def device_count() -> int:
    """How many accelerators there are: 0."""
    return 0


def current_accelerator(check_available: bool = False) -> device | None:
    """The kind of accelerator: None."""
    return None


class device_index(Context):  # noqa: N801
    """Context that chooses an accelerator by number. None does nothing; with no accelerator a number raises on entry."""

    def __init__(self, device: int | None) -> None:
        super().__init__(device)

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError(_MESSAGE)

    def __call__(self, function: Any) -> Any:
        """As a decorator: the function runs inside the context."""

        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside
