"""Which implementation of scaled_dot_product_attention may run (`torch.nn.attention`).

saraph has one, for the CPU; the choice is kept, and read back, as programs expect.
"""
from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from saraph.backends import cuda

__all__ = ["SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS"]
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """The implementations that PyTorch knows."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    __str__ = enum.Enum.__str__


_SWITCHES = {SDPBackend.FLASH_ATTENTION: (cuda.flash_sdp_enabled, cuda.enable_flash_sdp),
             SDPBackend.EFFICIENT_ATTENTION: (cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp),
             SDPBackend.MATH: (cuda.math_sdp_enabled, cuda.enable_math_sdp)}


@contextmanager
def sdpa_kernel(backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """Context in which only these implementations are allowed. On the CPU the result is the same with all of them.

    Example: `with sdpa_kernel(SDPBackend.MATH): y = F.scaled_dot_product_attention(q, k, v)`.
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends) if isinstance(backends, Iterable) else None
    if chosen is None or not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}")
    before = {backend: enabled() for backend, (enabled, _) in _SWITCHES.items()}
    for backend, (_, enable) in _SWITCHES.items():
        enable(backend in chosen)
    try:
        yield
    finally:
        for backend, (_, enable) in _SWITCHES.items():
            enable(before[backend])
