"""The symbolic backend: arrays that stand for a value of a program that is being written down.

Ops run unchanged over them; each primitive adds a step to the program (kernels/program.py) in place of computing. It knows the primitives that work
element by element; asking it for another one raises AttributeError, by which a tracer learns that a function is not one kernel.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from saraph.kernels import functions
from saraph.kernels.program import Builder, Expression
from saraph.shapes import broadcast_shapes


class SymbolicArray:
    """A value of a program, with a shape."""

    __slots__ = ("expression", "shape")
    base = None
    library: Any = None

    def __init__(self, expression: Expression, shape: tuple[int, ...]) -> None:
        self.expression, self.shape = expression, shape

    dtype = property(lambda self: self.expression.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)

    def __repr__(self) -> str:
        return f"SymbolicArray({self.shape}, {self.expression})"


class _Current(threading.local):
    builder: Builder | None = None


_current = _Current()


@contextmanager
def writing(builder: Builder) -> Iterator[None]:
    """Numbers that become arrays inside the block are constants of this program."""
    before, _current.builder = _current.builder, builder
    try:
        yield
    finally:
        _current.builder = before


def _value(operand: Any) -> Any:
    return operand.expression if operand.__class__ is SymbolicArray else operand


def _pointwise(operation: str) -> Callable[..., SymbolicArray]:
    def primitive(*operands: Any) -> SymbolicArray:
        shape = broadcast_shapes(*(o.shape for o in operands if o.__class__ is SymbolicArray))
        builder = next(o for o in operands if o.__class__ is SymbolicArray).expression.builder
        return SymbolicArray(builder.apply(operation, *map(_value, operands)), tuple(shape))

    primitive.__name__ = operation
    return primitive


def _of_bools(operation: str, otherwise: str) -> Callable[..., SymbolicArray]:
    """`operation` on bools; AttributeError for other dtypes, which `otherwise` names."""
    apply = _pointwise(operation)

    def primitive(*operands: SymbolicArray) -> SymbolicArray:
        if any(o.dtype.kind != "b" for o in operands):
            raise AttributeError(f"{otherwise} of {operands[0].dtype} is not a step of a program")
        return apply(*operands)

    return primitive


def scalar(value: Any, dtype: np.dtype) -> SymbolicArray:
    """A number as a constant of the program that is being written."""
    if _current.builder is None:
        raise AttributeError("no program is being written")
    return SymbolicArray(_current.builder.constant(value, dtype), ())


def masked_fill(a: SymbolicArray, mask: SymbolicArray, value: Any) -> SymbolicArray:
    """`value` where the mask is true, else `a`."""
    return _pointwise("where")(mask, value, a)


def cast(a: SymbolicArray, dtype: np.dtype) -> SymbolicArray:
    """The value in another dtype."""
    return SymbolicArray(a.expression.builder.convert(a.expression, dtype), a.shape)


def sign(a: SymbolicArray) -> SymbolicArray:
    """-1, 0 or 1; of NaN 0."""
    x = a.expression
    return SymbolicArray(functions.where(x > 0, 1, functions.where(x < 0, -1, x.builder.constant(0, x.dtype))), a.shape)


def limited(a: SymbolicArray, low: float | None, high: float | None) -> SymbolicArray:
    """Held within limits that are numbers."""
    return SymbolicArray(functions.clamp(a.expression, low, high), a.shape)


def _by_definition(definition: Callable[..., Expression]) -> Callable[..., SymbolicArray]:
    """A primitive that has a kernel of its own, by what that computes of an expression and the primitive's numbers."""

    def primitive(a: SymbolicArray, *numbers: Any) -> SymbolicArray:
        return SymbolicArray(definition(a.expression, *numbers), a.shape)

    return primitive


def _same(a: SymbolicArray) -> SymbolicArray:
    return a


_NAMES = (
    "add", "sub", "mul", "div", "neg", "abs", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "where", "square",
    "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "sigmoid", "hypot", "copysign", "floor", "ceil", "trunc", "pow",
)

symbolic = SimpleNamespace(
    name="symbolic", scalar=scalar, masked_fill=masked_fill, cast=cast, conj=_same, positive=_same,
    **{name: _pointwise(name) for name in _NAMES},
    logical_and=_of_bools("and", "logical_and"), logical_or=_of_bools("or", "logical_or"),
    logical_not=_of_bools("not", "logical_not"),
    bitwise_and=_of_bools("and", "bitwise_and"), bitwise_or=_of_bools("or", "bitwise_or"),
    bitwise_not=_of_bools("not", "bitwise_not"))
for _kernel in (functions.relu, functions.silu, functions.hardswish, functions.hardsigmoid, functions.logsigmoid):
    setattr(symbolic, _kernel.name, _by_definition(_kernel.definition))
symbolic.sign = symbolic.sgn = sign
symbolic.limited = limited
symbolic.gelu = _by_definition(lambda x, approximate: (functions.gelu_tanh if approximate else functions.gelu).definition(x))
for _function in (functions.leaky_relu, functions.elu, functions.softplus):
    setattr(symbolic, _function.name, _by_definition(_function.definition))
SymbolicArray.library = symbolic
