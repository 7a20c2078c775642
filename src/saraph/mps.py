"""`torch.mps`: there is no such device here."""
from saraph.devices import without_device


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """How many there are: 0."""
    return 0


manual_seed = empty_cache = without_device
