"""`torch.backends.mkldnn`: not there."""


def is_available() -> bool:
    """Whether it is there: no."""
    return False


def is_built() -> bool:
    """Whether it is built in: no."""
    return False
