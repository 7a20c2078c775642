"""`torch.xpu`: there is no such device here."""


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """How many there are: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the device's stream: without a device nothing happens."""


def empty_cache() -> None:
    """Give cached device memory back: there is none."""
