"""The CPU backend: primitives over NumPy arrays. `FUNCTIONS` maps primitive names to functions; each module fills in a family."""
from __future__ import annotations

from saraph.backends.cpu import (
    activation,
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
    resample,
    scan,
    sort,
    special,
    windows,
)
from saraph.backends.cpu.table import FUNCTIONS

__all__ = ["FUNCTIONS", "activation", "conv", "creation", "fft", "indexing", "linalg", "matmul", "movement", "normalization", "pointwise",
           "pool", "rearrange", "reduce", "resample", "scan", "sort", "special", "windows"]
