"""Rules of the Fourier transforms and of window functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, rule

Result = tuple[Shape, np.dtype]


def _complex(a: Any) -> np.dtype:
    return np.result_type(a.dtype, np.complex64)


def _resized(a: Any, axis: int, size: int) -> Shape:
    return (*a.shape[:axis], size, *a.shape[axis + 1:])


@rule("fft")
def fft(a: Any, axes: tuple[int, ...], forward: bool, scale: float) -> Result:
    return a.shape, _complex(a)


@rule("rfft")
def rfft(a: Any, axes: tuple[int, ...], scale: float) -> Result:
    return _resized(a, axes[-1], a.shape[axes[-1]] // 2 + 1), _complex(a)


@rule("irfft")
def irfft(a: Any, axes: tuple[int, ...], length: int, scale: float) -> Result:
    return _resized(a, axes[-1], length), np.dtype(a.dtype.char.lower())


@rule("overlap_add")
def overlap_add(frames: Any, hop: int) -> Result:
    count, size = frames.shape[-2:]
    return (*frames.shape[:-2], (count - 1) * hop + size), frames.dtype


@rule("window")
def window(kind: str, length: int, periodic: bool, parameters: tuple, dtype: np.dtype) -> Result:
    return (length,), dtype
