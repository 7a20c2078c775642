"""`torch.backends.mkldnn`: not there."""
#: Kept for programs that set it.
enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether it is there: no."""
    return False


def is_built() -> bool:
    """Whether it is built in: no."""
    return False
