"""`torch.backends.opt_einsum`: whether einsum asks the opt_einsum package for an order. It never does: it has an order of its own."""
from __future__ import annotations

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether the package is used: no."""
    return False
