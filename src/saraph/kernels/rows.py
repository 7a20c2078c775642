"""Kernels that work along rows: softmax and its kin, forward and backward, and the plain sum.

Each stands here twice: as its NumPy definition, which says what it means, judges it in the tests and serves where
nothing can be compiled; and as passes over a row, from which machine code is made on the first call.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.kernels import jit
from saraph.kernels.ir import DOUBLE, FLOAT, Module, Value
from saraph.kernels.loops import Body, write_row_loop
from saraph.kernels.sweep import Part, Row, Sweep
from saraph.kernels.ufunc import make_ufunc
from saraph.kernels.vmath import exp, log

DTYPES = ((np.dtype(np.float32), FLOAT), (np.dtype(np.float64), DOUBLE))


class RowKernel:
    """A function of arrays whose last axis holds the rows; float32 or float64, of one dtype, broadcast as NumPy does.

    Call it, or bind `kernel.function`, whose calls cost what NumPy's own do. Both take `out=`.
    """

    __slots__ = ("name", "signature", "definition", "_body", "_function")

    def __init__(self, name: str, signature: str, definition: Callable[..., Any], body: Body) -> None:
        self.name, self.signature, self.definition, self._body = name, signature, definition, body
        self._function: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<row kernel {self.name} {self.signature}>"

    def __call__(self, *arrays: np.ndarray, out: np.ndarray | None = None) -> Any:
        return self.function(*arrays, out=out)

    @property
    def function(self) -> Callable[..., Any]:
        """The compiled gufunc, made on the first request; the definition where nothing can be compiled."""
        if self._function is None:
            with jit.LOCK:
                if self._function is None:
                    self._function = self._make() if jit.available() else self.definition
        return self._function

    def source(self) -> str:
        """The kernel as LLVM IR for this processor."""
        module = Module()
        for _, scalar in DTYPES:
            write_row_loop(module, f"{self.name}_{scalar}", scalar, self.signature, self._body)
        return module.text()

    def _make(self) -> np.ufunc:
        code = jit.compile(self.source())
        inputs, output = self.signature.split("->")
        count = inputs.count("(")
        loops = {(dtype,) * (count + 1): code.address(f"{self.name}_{scalar}") for dtype, scalar in DTYPES}
        return make_ufunc(self.name, count, 1, loops, self.signature, self.definition.__doc__ or "")


def _softmax(x: np.ndarray, out: np.ndarray | None = None) -> Any:
    """exp(x) / sum(exp(x)) along the last axis, safe from overflow; NaN in rows with NaN, +inf or nothing but -inf."""
    with np.errstate(all="ignore"):
        exponentials = np.exp(x - np.max(x, -1, keepdims=True, initial=-np.inf))
        return np.divide(exponentials, np.sum(exponentials, -1, keepdims=True), out=out)


def _softmax_body(sweep: Sweep, x: Row, y: Row) -> None:
    top = sweep.maximum(x.load)

    def exponential(part: Part) -> Value:
        value = exp(sweep.function, x.load(part) - top)
        y.store(part, value)
        return value

    total = sweep.sum(exponential)
    sweep.each(lambda part: y.store(part, y.load(part) / total))


def _log_softmax(x: np.ndarray, out: np.ndarray | None = None) -> Any:
    """log(softmax(x)) along the last axis, without the loss of small values; NaN in the rows where softmax has it."""
    with np.errstate(all="ignore"):
        lowered = x - np.max(x, -1, keepdims=True, initial=-np.inf)
        return np.subtract(lowered, np.log(np.sum(np.exp(lowered), -1, keepdims=True)), out=out)


def _log_softmax_body(sweep: Sweep, x: Row, y: Row) -> None:
    function = sweep.function
    top = sweep.maximum(x.load)
    log_total = log(function, sweep.sum(lambda part: exp(function, x.load(part) - top)))
    sweep.each(lambda part: y.store(part, (x.load(part) - top) - log_total))


def _softmax_backward(grad: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> Any:
    """The gradient of softmax's input from that of its output y: (grad - sum(grad * y)) * y."""
    with np.errstate(all="ignore"):
        return np.multiply(grad - np.sum(grad * y, -1, keepdims=True), y, out=out)


def _softmax_backward_body(sweep: Sweep, grad: Row, y: Row, result: Row) -> None:
    total = sweep.sum(lambda part: grad.load(part) * y.load(part))
    sweep.each(lambda part: result.store(part, (grad.load(part) - total) * y.load(part)))


def _log_softmax_backward(grad: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> Any:
    """The gradient of log_softmax's input from that of its output y: grad - exp(y) * sum(grad)."""
    with np.errstate(all="ignore"):
        return np.subtract(grad, np.exp(y) * np.sum(grad, -1, keepdims=True), out=out)


def _log_softmax_backward_body(sweep: Sweep, grad: Row, y: Row, result: Row) -> None:
    total = sweep.sum(grad.load)
    sweep.each(lambda part: result.store(part, grad.load(part) - exp(sweep.function, y.load(part)) * total))


def _sum(x: np.ndarray, out: np.ndarray | None = None) -> Any:
    """The sum along the last axis; +0 for an empty row."""
    with np.errstate(all="ignore"):
        return np.add.reduce(x, -1, out=out)


def _sum_body(sweep: Sweep, x: Row) -> Value:
    return sweep.sum(x.load)


softmax = RowKernel("softmax", "(n)->(n)", _softmax, _softmax_body)
log_softmax = RowKernel("log_softmax", "(n)->(n)", _log_softmax, _log_softmax_body)
softmax_backward = RowKernel("softmax_backward", "(n),(n)->(n)", _softmax_backward, _softmax_backward_body)
log_softmax_backward = RowKernel("log_softmax_backward", "(n),(n)->(n)", _log_softmax_backward,
                                 _log_softmax_backward_body)
sum_of_row = RowKernel("sum", "(n)->()", _sum, _sum_body)
