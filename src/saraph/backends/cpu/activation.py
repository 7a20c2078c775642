"""Activation primitives on the CPU; 16-bit floats go through float32."""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu import pointwise
from saraph.backends.cpu.pointwise import through_float32
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import RowKernel, log_softmax_backward_rows, log_softmax_rows, softmax_backward_rows, softmax_rows

SMALL = 1 << 14  # elements up to which strided rows are read where they lie


@primitive
def relu(a: np.ndarray) -> np.ndarray:
    return np.maximum(a, a.dtype.type(0))


@primitive
def leaky_relu(a: np.ndarray, slope: float) -> np.ndarray:
    lowered = np.multiply(a, a.dtype.type(slope))
    return np.maximum(a, lowered) if 0 < slope <= 1 else np.where(a > 0, a, lowered)  # a maximum has no branches


def _elu(a: np.ndarray, alpha: float, scale: float, slope: float) -> np.ndarray:
    low = np.minimum(a, 0) if slope == 1 else np.minimum(a, 0) * a.dtype.type(slope)
    low = np.expm1(low) * a.dtype.type(alpha * scale)
    high = np.maximum(a, 0)
    return (high if scale == 1 else high * a.dtype.type(scale)) + low


def _gelu(a: np.ndarray, approximate: bool) -> np.ndarray:
    kind = a.dtype.type
    if approximate:
        inner = (a + a * a * a * kind(0.044715)) * kind(math.sqrt(2 / math.pi))
        return a * kind(0.5) * (np.tanh(inner) + kind(1))
    return a * kind(0.5) * (pointwise.sc.erf(a * kind(math.sqrt(0.5))) + kind(1))


def _silu(a: np.ndarray) -> np.ndarray:
    return a * FUNCTIONS["sigmoid"](a)


def _softplus(a: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    scaled = a * a.dtype.type(beta)
    small = (np.log1p(np.exp(-np.abs(scaled))) + np.maximum(scaled, 0)) / a.dtype.type(beta)
    return np.where(scaled > threshold, a, small)


def _logsigmoid(a: np.ndarray) -> np.ndarray:
    return np.minimum(a, 0) - np.log1p(np.exp(-np.abs(a)))


def _hardswish(a: np.ndarray) -> np.ndarray:
    return a * np.clip(a + 3, 0, 6) / 6


def _hardsigmoid(a: np.ndarray) -> np.ndarray:
    return np.clip(a + 3, 0, 6) / 6


def _rowwise(kernel: RowKernel, axis: int, *arrays: np.ndarray) -> np.ndarray:
    """A row kernel along an axis. Long rows that do not lie side by side are copied first: a strided sweep reads memory once per element."""
    first = arrays[0]
    if first.ndim == 0:
        return kernel.function(*[a.reshape(1) for a in arrays]).reshape(())
    if not first.size:
        return first.copy()
    if axis == first.ndim - 1 or axis == -1:
        return kernel.function(*arrays)
    if first.size <= SMALL:
        return kernel.function(*arrays, axis=axis)
    moved = kernel.function(*[np.ascontiguousarray(np.moveaxis(a, axis, -1)) for a in arrays])
    return np.ascontiguousarray(np.moveaxis(moved, -1, axis))


def _softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_rows, axis, a)


def _log_softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_rows, axis, a)


def _softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_backward_rows, axis, g, y)


def _log_softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_backward_rows, axis, g, y)


for _function in (_elu, _gelu, _silu, _softplus, _logsigmoid, _hardswish, _hardsigmoid, _softmax, _log_softmax,
                  _softmax_backward, _log_softmax_backward):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)
