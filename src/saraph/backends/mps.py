"""`torch.backends.mps`: not there."""


def is_available() -> bool:
    """Whether it is there: no."""
    return False


def is_built() -> bool:
    """Whether it is built in: no."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether this is macOS of at least that version: there is no MPS to ask it of."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Whether this is macOS 13 or newer: there is no MPS to ask it of."""
    return False
