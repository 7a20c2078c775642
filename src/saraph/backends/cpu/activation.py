"""Activation primitives on the CPU; 16-bit floats go through float32."""
from __future__ import annotations

import numpy as np

from saraph.backends.cpu.pointwise import of_one, through_float32
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import RowKernel, blocks, functions, log_softmax_backward_rows, log_softmax_rows, softmax_backward_rows, softmax_rows

SMALL = 1 << 14  # elements up to which strided rows are read where they lie


def _relu(a: np.ndarray) -> np.ndarray:
    return np.maximum(a, a.dtype.type(0))


def _silu(a: np.ndarray) -> np.ndarray:
    return a * FUNCTIONS["sigmoid"](a)


FUNCTIONS["relu"] = of_one(functions.relu, _relu)
FUNCTIONS["silu"] = of_one(functions.silu, _silu)


@primitive
def leaky_relu(a: np.ndarray, slope: float) -> np.ndarray:
    return functions.leaky_relu(float(slope))(a)


@primitive
def elu(a: np.ndarray, alpha: float, scale: float, slope: float) -> np.ndarray:
    return functions.elu(alpha, scale, slope)(a)


@primitive
def gelu(a: np.ndarray, approximate: bool) -> np.ndarray:
    return functions.gelu_tanh(a) if approximate else functions.gelu(a)


@primitive
def softplus(a: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    return functions.softplus(beta, threshold)(a)


for _kernel in (functions.logsigmoid, functions.hardswish, functions.hardsigmoid):
    FUNCTIONS[_kernel.name] = _kernel


def _rowwise(kernel: RowKernel, axis: int, *arrays: np.ndarray) -> np.ndarray:
    """A row kernel along an axis. Long rows that do not lie side by side are copied first: a strided sweep reads memory once per element."""
    first = arrays[0]
    if first.ndim == 0:
        return kernel.function(*[a.reshape(1) for a in arrays]).reshape(())
    if not first.size:
        return first.copy()
    last = axis == first.ndim - 1 or axis == -1
    if first.size <= SMALL:
        return kernel.function(*arrays) if last else kernel.function(*arrays, axis=axis)
    if last:
        return kernel.function(*arrays, out=blocks.empty(first.shape, first.dtype))
    moved = [np.ascontiguousarray(np.moveaxis(a, axis, -1)) for a in arrays]
    return np.ascontiguousarray(np.moveaxis(kernel.function(*moved, out=blocks.empty(moved[0].shape, first.dtype)), -1, axis))


def _softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_rows, axis, a)


def _log_softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_rows, axis, a)


def _softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_backward_rows, axis, g, y)


def _log_softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_backward_rows, axis, g, y)


for _function in (_softmax, _log_softmax, _softmax_backward, _log_softmax_backward):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)
