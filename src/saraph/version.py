"""`torch.version`: which PyTorch this is compatible with, and what is built in."""
from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]
__version__ = "2.13.0+saraph"
debug = False
cuda: str | None = None
git_version = "unknown"
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
