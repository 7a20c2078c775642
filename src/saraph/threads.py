"""How many threads compute."""
from __future__ import annotations

from saraph.config import settings
from saraph.kernels import pool

__all__ = ["get_num_threads", "set_num_threads", "get_num_interop_threads", "set_num_interop_threads"]
_interop = settings.threads


def get_num_threads() -> int:
    """How many threads an op may use.

    At first SARAPH_NUM_THREADS or OMP_NUM_THREADS, else the processors that this process may use (see processors.py).
    """
    return settings.threads


def set_num_threads(threads: int) -> None:
    """Set how many threads an op may use. Results do not depend on it. No op uses more than eight or one per processor of the machine."""
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(threads).__name__}")
    if threads <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    settings.threads = threads
    pool.set_threads(threads)


def get_num_interop_threads() -> int:
    """How many ops may run side by side (accepted for compatibility)."""
    return _interop


def set_num_interop_threads(threads: int) -> None:
    """Set how many ops may run side by side (accepted for compatibility)."""
    global _interop
    if threads <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop = threads
