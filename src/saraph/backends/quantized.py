"""`torch.backends.quantized`: which library computes on quantized tensors. Nothing is quantized yet: no engine."""
from __future__ import annotations

engine = "none"
supported_engines: list[str] = ["none"]
