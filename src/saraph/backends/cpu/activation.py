"""Activation primitives on the CPU; 16-bit floats go through float32."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saraph.backends.cpu.pointwise import of_one, through_float32
from saraph.backends.cpu.reduce import COLUMN_MAXIMUM, COLUMN_SUM, across_rows
from saraph.backends.cpu.table import FUNCTIONS, primitive
from saraph.kernels import RowKernel, blocks, functions, log_softmax_backward_rows, log_softmax_rows, softmax_backward_rows, softmax_rows
from saraph.kernels.columns import ColumnKernel

COLUMN_PRODUCTS = ColumnKernel("products", "row_sum", lambda x, y: x * y, operands=2)
SMALL = 1 << 14  # elements up to which strided rows are read where they lie


def _relu(a: np.ndarray) -> np.ndarray:
    return np.maximum(a, a.dtype.type(0))


def _silu(a: np.ndarray) -> np.ndarray:
    return a * FUNCTIONS["sigmoid"](a)


FUNCTIONS["relu"] = of_one(functions.relu, _relu)
FUNCTIONS["silu"] = of_one(functions.silu, _silu)


@primitive
def leaky_relu(a: np.ndarray, slope: float) -> np.ndarray:
    return functions.leaky_relu(a, float(slope))


@primitive
def elu(a: np.ndarray, alpha: float, scale: float, slope: float) -> np.ndarray:
    return functions.elu(a, alpha, scale, slope)


@primitive
def gelu(a: np.ndarray, approximate: bool) -> np.ndarray:
    return functions.gelu_tanh(a) if approximate else functions.gelu(a)


@primitive
def softplus(a: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    return functions.softplus(a, beta, threshold)


for _kernel in (functions.logsigmoid, functions.hardswish, functions.hardsigmoid):
    FUNCTIONS[_kernel.name] = _kernel


def _rowwise(kernel: RowKernel, axis: int, *arrays: np.ndarray, by_columns: Callable[..., np.ndarray]) -> np.ndarray:
    """A row kernel along an axis; `by_columns(axis, *arrays)` computes the same for many elements, dense, along another axis than the last."""
    first = arrays[0]
    if first.ndim == 0:
        return kernel.function(*[a.reshape(1) for a in arrays]).reshape(())
    if not first.size:
        return first.copy()
    last = axis == first.ndim - 1 or axis == -1
    if first.size <= SMALL:
        result = np.empty(first.shape, first.dtype)  # row-major, whatever the order of the arrays: so it is in PyTorch, and programs take views
        return kernel.function(*arrays, out=result) if last else kernel.function(*arrays, axis=axis, out=result)
    if last:
        return kernel.function(*arrays, out=blocks.empty(first.shape, first.dtype))
    if all(a.flags.c_contiguous for a in arrays) and COLUMN_MAXIMUM.available(first.dtype):
        return by_columns(axis, *arrays)
    moved = [np.ascontiguousarray(np.moveaxis(a, axis, -1)) for a in arrays]
    return np.ascontiguousarray(np.moveaxis(kernel.function(*moved, out=blocks.empty(moved[0].shape, first.dtype)), -1, axis))


def _softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_rows, axis, a, by_columns=_softmax_of_columns)


def _softmax_of_columns(axis: int, a: np.ndarray) -> np.ndarray:
    result = functions.exp_of_difference(a, across_rows(COLUMN_MAXIMUM, a, axis))
    return functions.BINARY["div"](result, across_rows(COLUMN_SUM, result, axis), out=result)


def _log_softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_rows, axis, a, by_columns=_log_softmax_of_columns)


def _log_softmax_of_columns(axis: int, a: np.ndarray) -> np.ndarray:
    top = across_rows(COLUMN_MAXIMUM, a, axis)
    result = functions.exp_of_difference(a, top)
    return functions.log_softmax_from_terms(a, top, across_rows(COLUMN_SUM, result, axis), out=result)


def _softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(softmax_backward_rows, axis, g, y, by_columns=_softmax_backward_of_columns)


def _softmax_backward_of_columns(axis: int, g: np.ndarray, y: np.ndarray) -> np.ndarray:
    return functions.softmax_gradient(g, y, across_rows(COLUMN_PRODUCTS, g, axis, y))


def _log_softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return _rowwise(log_softmax_backward_rows, axis, g, y, by_columns=_log_softmax_backward_of_columns)


def _log_softmax_backward_of_columns(axis: int, g: np.ndarray, y: np.ndarray) -> np.ndarray:
    return functions.log_softmax_gradient(g, y, across_rows(COLUMN_SUM, g, axis))


for _function in (_softmax, _log_softmax, _softmax_backward, _log_softmax_backward):
    FUNCTIONS[_function.__name__.lstrip("_")] = through_float32(_function)
