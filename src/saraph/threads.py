"""How many threads compute."""
from __future__ import annotations

from saraph.config import settings

__all__ = ["get_num_threads", "set_num_threads", "get_num_interop_threads", "set_num_interop_threads"]
_interop = settings.threads


def get_num_threads() -> int:
    """How many threads an op may use."""
    return settings.threads


def set_num_threads(threads: int) -> None:
    """Set how many threads an op may use."""
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(threads).__name__}")
    if threads <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    settings.threads = threads


def get_num_interop_threads() -> int:
    """How many ops may run side by side (accepted for compatibility)."""
    return _interop


def set_num_interop_threads(threads: int) -> None:
    """Set how many ops may run side by side (accepted for compatibility)."""
    global _interop
    if threads <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop = threads
