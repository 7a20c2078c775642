"""`DistributedDataParallel`."""
from __future__ import annotations

from typing import Any

from saraph.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over the processes of a group; needs one to be initialised."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0, broadcast_buffers: bool = True,
                 init_sync: bool = True, process_group: Any = None, bucket_cap_mb: float | None = None, find_unused_parameters: bool = False,
                 check_reduction: bool = False, gradient_as_bucket_view: bool = False, static_graph: bool = False, **kwargs: Any) -> None:
        super().__init__()
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group. "
                         "(saraph has no process groups yet: torch.distributed.is_available() is False. Use the module itself.)")
