"""Rules of normalisation."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.primitives import rule
from saraph.backends.rules.spatial import like_layout

Shape = tuple[int, ...]


@rule("standardize")
def standardize(a: Any, form: Shape, axes: Shape, eps: float, weight: Any, bias: Any, centred: bool) -> list[Any]:
    kept = tuple(1 if d in axes else n for d, n in enumerate(form))
    return [like_layout(a.shape, a.dtype, a), (kept, a.dtype), (kept, a.dtype), (kept, a.dtype)]


@rule("standardize_grad")
def standardize_grad(g: Any, a: Any, form: Shape, mean: Any, rstd: Any, axes: Shape, weight: Any, centred: bool,
                     wanted: tuple[bool, bool, bool], parameters: Shape) -> list[Any]:
    shapes = (a.shape, parameters, parameters)
    return [(tuple(shape), a.dtype) if want else None for shape, want in zip(shapes, wanted)]


@rule("scale_shift")
def scale_shift(a: Any, form: Shape, scale: Any, shift: Any) -> Any:
    return like_layout(a.shape, a.dtype, a)


@rule("normalized_by")
def normalized_by(a: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    return like_layout(a.shape, a.dtype, a)


@rule("epsilon")
def epsilon(dtype: np.dtype) -> float:
    return math.ldexp(1.0, -np.finfo(dtype).nmant)
