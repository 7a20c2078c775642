"""`torch.distributed` in a build without it: `is_available()` says so."""

__all__ = ["is_available", "is_initialized"]


def is_available() -> bool:
    """Whether processes can work together: not yet."""
    return False


def is_initialized() -> bool:
    """Whether a process group has been set up: no."""
    return False
