"""Activation primitives on the CPU; 16-bit floats go through float32."""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu import pointwise
from saraph.backends.cpu.pointwise import through_float32
from saraph.backends.cpu.table import FUNCTIONS, primitive


@primitive
def relu(a: np.ndarray) -> np.ndarray:
    return np.maximum(a, a.dtype.type(0))


@primitive
def leaky_relu(a: np.ndarray, slope: float) -> np.ndarray:
    return np.where(a > 0, a, a * a.dtype.type(slope))


def _elu(a: np.ndarray, alpha: float, scale: float, slope: float) -> np.ndarray:
    return np.where(a > 0, a * a.dtype.type(scale), np.expm1(np.minimum(a, 0) * a.dtype.type(slope)) * a.dtype.type(alpha * scale))


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


def _softmax(a: np.ndarray, axis: int) -> np.ndarray:
    if a.ndim == 0:
        return np.ones_like(a) if not np.isnan(a) else a.copy()
    if not a.size:
        return a.copy()
    e = np.exp(a - np.maximum.reduce(a, axis, keepdims=True))
    return e / np.add.reduce(e, axis, keepdims=True)


def _log_softmax(a: np.ndarray, axis: int) -> np.ndarray:
    if a.ndim == 0:
        return np.zeros_like(a)
    if not a.size:
        return a.copy()
    shifted = a - np.maximum.reduce(a, axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis, keepdims=True))


for _function in (_elu, _gelu, _silu, _softplus, _logsigmoid, _hardswish, _hardsigmoid, _softmax, _log_softmax):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)
