"""Fourier transforms, overlap-add and window functions on the CPU. SciPy's transforms are loaded by the first call that needs them."""
from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np

from saraph.backends.cpu.lazy import special
from saraph.backends.cpu.table import primitive
from saraph.kernels import blocks


@cache
def _scipy_fft() -> ModuleType:
    import scipy.fft

    return scipy.fft


_LARGE = 1 << 16  # elements from which fresh memory costs more than a look for reused memory


def _scaled(a: np.ndarray, scale: float) -> np.ndarray:
    return a if scale == 1 else np.multiply(a, a.real.dtype.type(scale), out=a if a.base is None else None)


@primitive
def fft(a: np.ndarray, axes: tuple[int, ...], forward: bool, scale: float) -> np.ndarray:
    """The transform along `axes` of a complex (or real) array, times `scale`; nothing else is normalised."""
    if not axes or a.size == 0:
        return a.astype(np.result_type(a.dtype, np.complex64)) * a.real.dtype.type(scale)
    if a.size >= _LARGE:  # SciPy has NumPy make the result: from then on in reused memory
        blocks.empty(a.shape, np.result_type(a.dtype, np.complex64))
    if forward:
        return _scaled(_scipy_fft().fftn(a, axes=axes), scale)
    return _scaled(_scipy_fft().ifftn(a, axes=axes, norm="forward"), scale)


@primitive
def rfft(a: np.ndarray, axes: tuple[int, ...], scale: float) -> np.ndarray:
    """The forward transform of a real array: the half of the last of `axes` that is not redundant."""
    if a.size == 0:
        shape = list(a.shape)
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        return np.zeros(shape, np.result_type(a.dtype, np.complex64))
    return _scaled(_scipy_fft().rfftn(a, axes=axes), scale)


@primitive
def irfft(a: np.ndarray, axes: tuple[int, ...], length: int, scale: float) -> np.ndarray:
    """The inverse transform of half a spectrum to a real array, whose size along the last of `axes` is `length`."""
    shape = [a.shape[d] for d in axes[:-1]] + [length]
    if a.size == 0:
        full = list(a.shape)
        full[axes[-1]] = length
        return np.zeros(full, a.real.dtype)
    return _scaled(_scipy_fft().irfftn(a, shape, axes=axes, norm="forward"), scale)


@primitive
def overlap_add(frames: np.ndarray, hop: int) -> np.ndarray:
    """Frames (..., count, size) laid `hop` apart and added up: (..., (count - 1) * hop + size)."""
    count, size = frames.shape[-2:]
    total = (count - 1) * hop + size
    pieces = -(-size // hop)
    rows = count + pieces - 1
    result = np.zeros((*frames.shape[:-2], rows, hop), frames.dtype)
    for k in range(pieces):
        piece = frames[..., k * hop:(k + 1) * hop]
        result[..., k:k + count, :piece.shape[-1]] += piece
    return result.reshape(*frames.shape[:-2], rows * hop)[..., :total].copy()


def _cosines(k: np.ndarray, span: float, coefficients: tuple[float, ...]) -> np.ndarray:
    """Alternating sum of cosines: a0 - a1 cos(x) + a2 cos(2x) - ..."""
    x = 2 * np.pi * k / span
    return sum((-1) ** i * a * np.cos(i * x) for i, a in enumerate(coefficients))


def _kaiser(k: np.ndarray, span: float, beta: float) -> np.ndarray:
    inside = np.maximum(1 - (2 * k / span - 1) ** 2, 0)
    return special.i0(beta * np.sqrt(inside)) / special.i0(beta)


_WINDOWS = {
    "cosines": _cosines,
    "bartlett": lambda k, span: 1 - np.abs(2 * k / span - 1),
    "kaiser": _kaiser,
    "sine": lambda k, span: np.sin(np.pi * (k + 0.5) / (span + 1)),
    "gaussian": lambda k, span, std: np.exp(-(((k - span / 2) / std) ** 2) / 2),
    "exponential": lambda k, span, center, tau: np.exp(-np.abs(k - (span / 2 if center is None else center)) / tau),
}


@primitive
def window(kind: str, length: int, periodic: bool, parameters: tuple, dtype: np.dtype) -> np.ndarray:
    """A window function of that many values; a periodic one is the symmetric one of length + 1 without its last value."""
    if length <= 1:
        return np.ones(length, dtype)
    span = length if periodic else length - 1
    return _WINDOWS[kind](np.arange(length, dtype=np.float64), float(span), *parameters).astype(dtype)
