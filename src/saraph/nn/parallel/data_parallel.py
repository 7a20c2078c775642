"""`DataParallel`."""
from __future__ import annotations

from typing import Any

from saraph.nn.modules.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """A module split over devices; with none but the CPU it calls the module itself, as PyTorch's does."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids, self.dim = module, [], dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)
