"""Kernels that work along rows: softmax and its kin, forward and backward, and the plain sum.

    softmax = RowKernel("softmax", _softmax)        # _softmax takes expressions (program.py) and says what is computed
    y = softmax(x)                                  # along the last axis

What `interpret` computes with the same program judges the machine code in the tests and serves where nothing can be compiled.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from saraph.kernels import emit, interpret, jit
from saraph.kernels.ir import Module
from saraph.kernels.loops import write_row_loop
from saraph.kernels.program import Expression, Program, apply, column, pick, trace
from saraph.kernels.ufunc import make_ufunc

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


class RowKernel:
    """A function of arrays whose last axis holds the rows; float32 or float64, of one dtype, broadcast as NumPy does.

    Call it, or bind `kernel.function`, whose calls cost what NumPy's own do. Both take `out=`.
    """

    __slots__ = ("name", "doc", "_trace", "_programs", "_function")

    def __init__(self, name: str, formula: Callable[..., Any], operands: int = 1, rows: tuple[int, ...] = (), whole: tuple[int, ...] = ()) -> None:
        """`formula` takes `operands` expressions, those at the places `rows` with one value per row, and gives one or several.

        The operands at the places `whole` are int64.
        """
        self.name, self.doc = name, formula.__doc__ or ""
        self._trace = formula, operands, rows, whole
        self._programs: dict[np.dtype, Program] | None = None
        self._function: Callable[..., Any] | None = None

    @property
    def programs(self) -> dict[np.dtype, Program]:
        """The program in each dtype."""
        if self._programs is None:
            formula, operands, rows, whole = self._trace
            self._programs = {dtype: trace(self.name, formula, [np.int64 if k in whole else dtype for k in range(operands)], rows) for dtype in DTYPES}
        return self._programs

    @property
    def signature(self) -> str:
        """The core signature of the gufunc."""
        return signature_of(self.programs[DTYPES[0]])

    def __repr__(self) -> str:
        return f"<row kernel {self.name} {self.signature}>"

    def __call__(self, *arrays: np.ndarray, out: Any = None) -> Any:
        return self.function(*arrays, out=out)

    @property
    def function(self) -> Callable[..., Any]:
        """The compiled gufunc, made on the first request; the definition where nothing can be compiled."""
        if self._function is None:
            with jit.LOCK:
                if self._function is None:
                    self._function = self._make() if self._can_compile() else self.definition
        return self._function

    def definition(self, *arrays: np.ndarray, out: Any = None, axis: int = -1) -> Any:
        """What the program computes, by NumPy; of other dtypes as well, in their precision."""
        kind = arrays[0].dtype
        program = self.programs.get(kind) or retyped(self.programs[DTYPES[1]], kind)
        inputs, outputs = (part.split("),(") for part in self.signature.split("->"))
        if len(arrays) > len(inputs):  # out by position, as gufuncs take it
            arrays, given = arrays[:len(inputs)], arrays[len(inputs):]
            out = given[0] if len(given) == 1 else given
        moved = [np.moveaxis(a, axis, -1) if "n" in core else a[..., None] for a, core in zip(arrays, inputs, strict=True)]
        results = [np.moveaxis(r, -1, axis) if "n" in core else r[..., 0]
                   for r, core in zip(interpret.run(program, *moved), outputs, strict=True)]
        if out is not None:
            for target, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
                np.copyto(target, result)
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def twin(self) -> RowKernel:
        """A kernel of the same formula that has not been compiled yet."""
        formula, operands, rows, whole = self._trace
        return RowKernel(self.name, formula, operands, rows, whole)

    def source(self) -> str:
        """The kernel as LLVM IR for this processor."""
        module = Module()
        for dtype, program in self.programs.items():
            write_row_loop(module, dtype.name, program)
        return module.text()

    def task(self, dtype: np.dtype) -> int | None:
        """The address of the native task (see loops.py) that does some rows; None where nothing can be compiled."""
        if not self._can_compile():
            return None
        return jit.kernel("rows", tuple(self.programs.values()), self.source).address(f"{dtype.name}_task")

    def _can_compile(self) -> bool:
        return jit.available() and all(map(emit.can_emit, self.programs.values()))

    def _make(self) -> np.ufunc:
        code = jit.kernel("rows", tuple(self.programs.values()), self.source)
        inputs, outputs = (part.count("(") for part in self.signature.split("->"))
        loops = {tuple(map(np.dtype, (*program.inputs, *(kind for _, kind in program.outputs)))): code.address(f"{dtype.name}_loop")
                 for dtype, program in self.programs.items()}
        return make_ufunc(self.name, inputs, outputs, loops, self.signature, self.doc)


def signature_of(program: Program) -> str:
    """The core signature of a gufunc: (n) for what has a value per element, () for what has one per row."""
    levels = program.levels()
    elements = {step.extra[0] for step, element in zip(program.steps, levels, strict=True) if step.operation == "input" and element}
    inputs = ["(n)" if place in elements else "()" for place in range(len(program.inputs))]
    return ",".join(inputs) + "->" + ",".join("(n)" if levels[number] else "()" for number, _ in program.outputs)


def retyped(program: Program, kind: np.dtype) -> Program:
    """The same program for another floating dtype."""
    def named(dtype: str) -> str:
        return kind.name if dtype == "float64" else dtype

    return Program(program.name, tuple(map(named, program.inputs)), tuple(s._replace(dtype=named(s.dtype)) for s in program.steps),
                   tuple((number, named(dtype)) for number, dtype in program.outputs))


def _exp(x: Expression) -> Expression:
    return apply("exp", x)


_sum, _largest = partial(apply, "row_sum"), partial(apply, "row_largest")


def _softmax(x: Expression) -> Expression:
    """exp(x) / sum(exp(x)) along the last axis, safe from overflow; NaN in rows with NaN, +inf or nothing but -inf."""
    exponentials = _exp(x - _largest(x))
    return exponentials / _sum(exponentials)


def _log_softmax(x: Expression) -> Expression:
    """log(softmax(x)) along the last axis, without the loss of small values; NaN in the rows where softmax has it."""
    lowered = x - _largest(x)
    return lowered - apply("log", _sum(_exp(lowered)))


def _softmax_backward(grad: Expression, y: Expression) -> Expression:
    """The gradient of softmax's input from that of its output y: (grad - sum(grad * y)) * y."""
    return (grad - _sum(grad * y)) * y


def _log_softmax_backward(grad: Expression, y: Expression) -> Expression:
    """The gradient of log_softmax's input from that of its output y: grad - exp(y) * sum(grad)."""
    return grad - _exp(y) * _sum(grad)


def _sum_of_row(x: Expression) -> Expression:
    """The sum along the last axis; +0 for an empty row."""
    return _sum(x)


def _largest_of_row(x: Expression) -> Expression:
    """The largest element of a row; NaN where there is one."""
    return apply("row_max", x)


def _smallest_of_row(x: Expression) -> Expression:
    """The smallest element of a row; NaN where there is one."""
    return apply("row_min", x)


def _sums_about(x: Expression, center: Expression) -> tuple[Expression, Expression]:
    """The sums of x - center and of its square along the last axis."""
    away = x - center
    return _sum(away), _sum(away * away)


def _squares_of_row(x: Expression) -> Expression:
    """The sum of the squares along the last axis."""
    return _sum(x * x)


def _numbers_of_row(x: Expression) -> Expression:
    """The sum of what is not NaN along the last axis."""
    return _sum(apply("where", apply("isnan", x), 0.0, x))


def _sizes_of_row(x: Expression) -> Expression:
    """The sum of the absolute values along the last axis."""
    return _sum(apply("abs", x))


def _logsumexp(x: Expression) -> Expression:
    """log(sum(exp(x))) along the last axis, safe from overflow; -inf for an empty row."""
    top = apply("row_max", x)
    top = apply("where", apply("isfinite", top), top, 0.0)
    return apply("log", _sum(_exp(x - top))) + top


def _class_loss(x: Expression, target: Expression) -> tuple[Expression, Expression, Expression]:
    """-log softmax(x)[target], and what softmax takes from every element: the largest of the row, and the logarithm of the sum of exp(x - largest)."""
    top = _largest(x)
    log_total = apply("log", _sum(_exp(x - top)))
    return log_total - (pick(x, target) - top), top, log_total


def _class_loss_backward(x: Expression, target: Expression, top: Expression, log_total: Expression, grad: Expression) -> Expression:
    """The gradient of x from that of its row's loss."""
    own = apply("eq", column(x), x.builder.convert(target, np.int32))
    probability = _exp((x - top) - log_total)
    return apply("where", own, probability - 1.0, probability) * grad


def _product_of_row(x: Expression) -> Expression:
    """The product along the last axis; 1 for an empty row."""
    return apply("row_prod", x)


def _lower(x: Expression, last: Expression) -> Expression:
    """The elements of a row up to the number `last`; the others 0."""
    return apply("where", column(x) <= x.builder.convert(last, np.int32), x, 0.0)


def _upper(x: Expression, last: Expression) -> Expression:
    """The elements of a row after the number `last`; the others 0."""
    return apply("where", column(x) > x.builder.convert(last, np.int32), x, 0.0)


def _layer_norm(x: Expression, weight: Expression, bias: Expression, eps: Expression, count: Expression) -> tuple[Expression, ...]:
    """Mean 0 and variance 1 along the last axis (of `count` elements), times weight, plus bias; the mean, 1 / sqrt(variance + eps), the variance."""
    mean = _sum(x) / count
    away = x - mean
    variance = _sum(away * away) / count
    rstd = 1.0 / apply("sqrt", variance + eps)
    return away * rstd * weight + bias, mean, rstd, variance


softmax = RowKernel("softmax", _softmax)
class_loss = RowKernel("class_loss", _class_loss, 2, rows=(1,), whole=(1,))
class_loss_backward = RowKernel("class_loss_backward", _class_loss_backward, 5, rows=(1, 2, 3, 4), whole=(1,))
log_softmax = RowKernel("log_softmax", _log_softmax)
softmax_backward = RowKernel("softmax_backward", _softmax_backward, 2)
log_softmax_backward = RowKernel("log_softmax_backward", _log_softmax_backward, 2)
sum_of_row = RowKernel("sum", _sum_of_row)
largest_of_row, smallest_of_row = RowKernel("largest", _largest_of_row), RowKernel("smallest", _smallest_of_row)
sums_about = RowKernel("sums_about", _sums_about, 2, rows=(1,))
numbers_of_row = RowKernel("numbers", _numbers_of_row)
squares_of_row, sizes_of_row = RowKernel("squares", _squares_of_row), RowKernel("sizes", _sizes_of_row)
product_of_row = RowKernel("product", _product_of_row)
lower_of_row, upper_of_row = (RowKernel(f.__name__[1:], f, 2, rows=(1,), whole=(1,)) for f in (_lower, _upper))
layer_norm_of_row = RowKernel("layer_norm", _layer_norm, 5, rows=(3, 4))
logsumexp_of_row = RowKernel("logsumexp", _logsumexp)
