"""The CPU backend: primitives over NumPy arrays. `FUNCTIONS` maps primitive names to functions; each module fills in a family."""
from __future__ import annotations

from saraph.backends.cpu import (
    activation,
    blocks,
    conv,
    creation,
    fft,
    indexing,
    linalg,
    matmul,
    movement,
    normalization,
    pointwise,
    pool,
    rearrange,
    reduce,
    scan,
    sort,
    special,
)
from saraph.backends.cpu.table import FUNCTIONS

__all__ = ["FUNCTIONS", "activation", "blocks", "linalg", "creation", "fft", "indexing", "matmul", "movement", "normalization", "pointwise",
           "pool", "rearrange", "reduce", "scan", "sort", "special"]
