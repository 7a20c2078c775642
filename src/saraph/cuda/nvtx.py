"""`torch.cuda.nvtx`: marks for NVIDIA's profiler, which needs CUDA."""
from __future__ import annotations

from typing import Any

from saraph.absent import Context, refusing

__all__ = ["mark", "range", "range_pop", "range_push"]
_MESSAGE = "NVTX functions not installed. Are you sure you have a CUDA build?"
range_push = refusing("range_push", RuntimeError, _MESSAGE)
range_pop = refusing("range_pop", RuntimeError, _MESSAGE)
mark = refusing("mark", RuntimeError, _MESSAGE)


class range(Context):  # noqa: A001, N801
    """Context that marks a stretch of code."""

    def __init__(self, msg: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(msg)

    def __enter__(self) -> None:
        raise RuntimeError(_MESSAGE)
