"""The CPU backend: primitives over NumPy arrays. `FUNCTIONS` maps primitive names to functions; each module fills in a family."""
from __future__ import annotations

from saraph.backends.cpu import conv, creation, fft, linalg, matmul, movement, pointwise, rearrange, reduce, scan, sort
from saraph.backends.cpu.table import FUNCTIONS

__all__ = ["FUNCTIONS", "linalg", "creation", "fft", "matmul", "movement", "pointwise", "rearrange", "reduce", "scan", "sort"]
