"""`DataParallel` and its function form."""
from __future__ import annotations

from typing import Any

from saraph.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module split over devices; with none but the CPU it calls the module itself, as PyTorch's does."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids, self.dim = module, [], dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None) -> Any:
    """module(*inputs), split over accelerators; RuntimeError where there is none, as in PyTorch."""
    raise RuntimeError("device type could not be determined: data_parallel splits a batch over accelerators, and this machine has none. Call the "
                       "module itself.")
