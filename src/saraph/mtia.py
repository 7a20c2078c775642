"""`torch.mtia`: there is no such device here."""
from saraph.absent import false, nothing

is_available = is_initialized = false
manual_seed = manual_seed_all = empty_cache = nothing


def device_count() -> int:
    """How many there are: 0."""
    return 0
