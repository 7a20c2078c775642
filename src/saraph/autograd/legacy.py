"""Old names of autograd."""
from typing import Any


def variable(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: use `torch.tensor`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")
