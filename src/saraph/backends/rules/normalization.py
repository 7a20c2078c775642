"""Rules of normalisation."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import reduced, rule

Shape = tuple[int, ...]


@rule("standardize")
def standardize(a: Any, axes: tuple[int, ...], eps: float) -> list[tuple[Shape, np.dtype]]:
    small = reduced(a.shape, axes, True)
    return [(a.shape, a.dtype), (small, a.dtype), (small, a.dtype)]


@rule("epsilon")
def epsilon(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).eps)
