"""The meaning of a program, step by step in NumPy: slow, and the judge of every kernel made from it."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.kernels.program import Program, Step


def _special(name: str) -> Callable[..., Any]:
    """A function of SciPy, which is imported when it is first called."""

    def call(*arrays: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*arrays)

    return call


def _lgamma(x: Any) -> Any:
    return np.where(np.isneginf(x), np.inf, _special("gammaln")(x)).astype(x.dtype)


def _sigmoid(x: Any) -> Any:
    return np.true_divide(1, np.add(np.exp(np.negative(x)), 1))


def _fma(a: Any, b: Any, c: Any) -> Any:
    wide = np.float64 if a.dtype == np.float32 else np.longdouble
    return (a.astype(wide) * b + c).astype(a.dtype)


def _not(x: Any) -> Any:
    return np.logical_not(x)


#: What each operation computes.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "neg": np.negative, "abs": np.absolute, "square": np.square,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "sqrt": np.sqrt, "rsqrt": lambda x: np.true_divide(1, np.sqrt(x)),
    "reciprocal": lambda x: np.true_divide(1, x), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "copysign": np.copysign, "fma": _fma,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "isnan": np.isnan,
    "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": _not, "where": np.where,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "erf": _special("erf"), "erfc": _special("erfc"), "erfinv": _special("erfinv"), "lgamma": _lgamma, "digamma": _special("digamma"),
    "pow": np.power, "sigmoid": _sigmoid, "cbrt": np.cbrt, "hypot": np.hypot, "ndtr": _special("ndtr"),
}


def _largest(x: np.ndarray) -> Any:
    """The largest element that is not NaN; -inf where there is none."""
    return np.fmax.reduce(x, -1, keepdims=True, initial=-np.inf)


REDUCTIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "row_sum": lambda x: np.add.reduce(x, -1, keepdims=True),
    "row_prod": lambda x: np.multiply.reduce(x, -1, keepdims=True),
    "row_max": lambda x: np.maximum.reduce(x, -1, keepdims=True, initial=-np.inf),
    "row_min": lambda x: np.minimum.reduce(x, -1, keepdims=True, initial=np.inf),
    "row_largest": _largest,
}


def run(program: Program, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """The results of a program. Operands are broadcast; rows are along the last axis, and a value per row has size 1 there."""
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    values: list[Any] = []
    levels = program.levels()
    with np.errstate(all="ignore"):
        for number, step in enumerate(program.steps):
            value = _step(step, values, arrays, shape, levels[number])
            values.append(np.asarray(value).astype(step.dtype, copy=False))
    results = []
    for number, kind in program.outputs:
        value = values[number].astype(kind, copy=False)
        results.append(np.broadcast_to(value, shape if levels[number] or not program.has_rows else (*shape[:-1], 1)).copy())
    return tuple(results)


def _step(step: Step, values: list[Any], arrays: tuple[np.ndarray, ...], shape: tuple[int, ...], element: bool) -> Any:
    if step.operation == "input":
        array = arrays[step.extra[0]]
        return np.broadcast_to(array, shape) if element else array
    if step.operation == "constant":
        return np.asarray(step.extra, step.dtype)
    if step.operation == "column":
        return np.broadcast_to(np.arange(shape[-1], dtype=np.int32), shape)
    operands = [values[n] for n in step.operands]
    if step.operation == "pick":
        index = np.where((operands[1] >= 0) & (operands[1] < shape[-1]), operands[1], 0)
        return np.take_along_axis(operands[0], np.broadcast_to(index, (*shape[:-1], 1)), -1)
    if step.operation == "convert":
        return operands[0].astype(step.dtype)
    if step.operation in REDUCTIONS:
        return REDUCTIONS[step.operation](np.broadcast_to(operands[0], (*shape[:-1], shape[-1])))
    return OPERATIONS[step.operation](*operands)
