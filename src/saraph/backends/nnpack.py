"""`torch.backends.nnpack`: a library of convolutions that is not built in."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["is_available", "flags", "set_flags"]
_enabled = [True]


def is_available() -> bool:
    """Whether it is built in: no."""
    return False


def set_flags(_enabled_: bool) -> tuple[bool]:
    """Keep the switch; returns what it was."""
    before = _enabled[0]
    _enabled[0] = _enabled_
    return (before,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Context in which the switch has this value."""
    (before,) = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(before)
