"""`saraph.signal`: signal processing, as in `torch.signal`."""
from saraph.signal import windows

__all__ = ["windows"]
