"""The CPU backend: primitives over NumPy arrays. `FUNCTIONS` maps primitive names to functions; each module fills in a family."""
from __future__ import annotations

import warnings

from saraph.backends.cpu import (
    activation,
    attention,
    conv,
    conversion,
    creation,
    extremes,
    fft,
    indexing,
    linalg,
    loss,
    matmul,
    movement,
    normalization,
    pointwise,
    pool,
    random,
    rearrange,
    recurrent,
    reduce,
    reparameterized,
    resample,
    scan,
    sort,
    special,
    windows,
)
from saraph.backends.cpu.table import FUNCTIONS

__all__ = [
    "FUNCTIONS", "activation", "attention", "conv", "conversion", "creation", "extremes", "fft", "indexing", "linalg", "loss", "matmul", "movement",
    "normalization", "pointwise", "pool", "random", "rearrange", "recurrent", "reduce", "reparameterized", "resample", "scan", "sort", "special", "windows",
]

# Infinities and NaNs are results like others: NumPy does not warn of them where saraph calls it; NumPy's own callers keep their warnings.
warnings.filterwarnings("ignore", r"(divide by zero|overflow|underflow|invalid value) encountered", RuntimeWarning, r"saraph\.")
