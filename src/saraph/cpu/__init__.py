"""`torch.cpu`: the processor as a device, and what the memory of tensors on it is used for.

Counted are tensors of 256 KB and more; smaller ones live in the C library's own heap. Bytes that are freed wait for reuse (see kernels/blocks.py).
"""
from __future__ import annotations

from importlib import import_module
from typing import Any

from saraph.devices import without_device
from saraph.kernels import blocks

__all__ = ["current_device", "device_count", "empty_cache", "is_available", "is_initialized", "max_memory_allocated", "max_memory_reserved",
           "memory_allocated", "memory_reserved", "memory_stats", "memory_summary", "reset_peak_memory_stats", "set_device", "synchronize"]


def is_available() -> bool:
    """Whether there is such a device: always."""
    return True


def is_initialized() -> bool:
    """Whether it is ready: always."""
    return True


def device_count() -> int:
    """How many there are: 1."""
    return 1


def current_device() -> str:
    """The name of the current one."""
    return "cpu"


set_device = synchronize = without_device  # there is but one, and it computes at once


def memory_allocated(device: Any = None) -> int:
    """Bytes that large tensors use now."""
    return blocks.memory().allocated


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that large tensors used at once, since the start or `reset_peak_memory_stats`."""
    return blocks.memory().peak_allocated


def memory_reserved(device: Any = None) -> int:
    """Bytes held for large tensors: in use, or waiting for reuse."""
    return blocks.memory().reserved


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes held at once, since the start or `reset_peak_memory_stats`."""
    return blocks.memory().peak_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Count the peaks from now on."""
    blocks.reset_peak()


def empty_cache() -> None:
    """Give the memory that waits for reuse back to the system."""
    blocks.release()


def memory_stats(device: Any = None) -> dict[str, int]:
    """The counters by name, with PyTorch's names where it has such a counter."""
    now = blocks.memory()
    return {"allocated_bytes.all.current": now.allocated, "allocated_bytes.all.peak": now.peak_allocated,
            "reserved_bytes.all.current": now.reserved, "reserved_bytes.all.peak": now.peak_reserved,
            "allocation.all.current": now.blocks, "allocation.all.allocated": now.allocations,
            "cached_bytes": now.cached, "cached_bytes_limit": now.limit, "num_reused": now.reused, "num_released": now.released}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The same as a table to read; abbreviated, only its first four lines.

    >>> print(saraph.memory_summary(abbreviated=True))
    Memory of tensors of 256 KB and more
    allocated                     80.0 MB (at most    120.0 MB)
    reserved                      83.9 MB (at most    125.8 MB)
    waiting for reuse              3.9 MB (at most   3159.6 MB)
    """
    now = blocks.memory()
    lines = ["Memory of tensors of 256 KB and more"]
    for name, current, most in (("allocated", now.allocated, now.peak_allocated), ("reserved", now.reserved, now.peak_reserved),
                                ("waiting for reuse", now.cached, now.limit)):
        lines.append(f"{name:<20}{current / 1e6:14.1f} MB (at most {most / 1e6:8.1f} MB)")
    if not abbreviated:
        for name, count in (("tensors now", now.blocks), ("tensors made", now.allocations), ("of reused memory", now.reused),
                            ("blocks given back", now.released)):
            lines.append(f"{name:<20}{count:14}")
    return "\n".join(lines)


def __getattr__(name: str) -> Any:
    if name == "amp":  # stands on the upper floors
        return import_module("saraph.cpu.amp")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
