"""The loop-level program form: what is computed for every element, from which operands, and what is reduced along a row.

A program works on rows of elements. Its steps are in order, each a value made from earlier ones:

    level "element"   one value per element: an operand read there, arithmetic, a function
    level "row"       one value per row: a reduction of element values, or arithmetic on such

It says nothing about strides, vectors, threads or memory. `interpret.run` gives its meaning, slowly, in NumPy; `pointwise` and `rows` make
machine code of it. Programs are plain tuples: they can be compared, hashed and printed, and stand in the name of cached code.

    x = Operand(0) ...       built by tracing a Python function over expressions:

    program = trace("silu", lambda x: x / (1 + exp(-x)), [np.float32])
    print(program)
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Operations whose result is a bool, whatever their operands are.
TESTS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "isnan", "not", "isinf", "isfinite", "signbit"))
#: Reductions of a row: element values in, one value out. Extremes pass NaN on, as `amax` does; the plain ones pass it over, as softmax needs.
REDUCTIONS = ("row_sum", "row_max", "row_min", "row_largest", "row_prod")
#: Steps that cost much more than a load: what they give is kept, where there is room, and not computed again in a later pass.
COSTLY = frozenset(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
                    "acosh", "atanh", "erf", "erfc", "erfinv", "pow", "lgamma", "digamma", "sigmoid", "atan2", "cbrt"))


class Step(NamedTuple):
    """One value of a program."""

    operation: str  # "input", "constant", "convert", a reduction, or the name of an operation
    operands: tuple[int, ...]  # earlier steps, by number
    dtype: str  # of the value, by NumPy's name
    extra: Any = None  # an input's place; a constant's value


class Program(NamedTuple):
    """What a kernel computes."""

    name: str
    inputs: tuple[str, ...]  # dtypes of the operands in memory
    steps: tuple[Step, ...]
    outputs: tuple[tuple[int, str], ...]  # the steps that are stored, and the dtypes they have in memory

    def __str__(self) -> str:
        lines = [f"{self.name}({', '.join(self.inputs)}):"]
        for number, step in enumerate(self.steps):
            operands = [f"%{n}" for n in step.operands] + ([] if step.extra is None else [repr(step.extra)])
            lines.append(f"  %{number} = {step.operation} {' '.join(operands)} : {step.dtype}")
        return "\n".join([*lines, "  return " + ", ".join(f"%{n} as {dtype}" for n, dtype in self.outputs)])

    @property
    def has_rows(self) -> bool:
        """Whether the program is about rows: something is reduced, counted or picked."""
        return any(step.operation in REDUCTIONS or step.operation in ("column", "pick") for step in self.steps)

    def depths(self) -> list[int]:
        """For every step, how many reductions must be over before it can be computed."""
        depths: list[int] = []
        for step in self.steps:
            depth = max((depths[n] + (self.steps[n].operation in REDUCTIONS) for n in step.operands), default=0)
            depths.append(depth)
        return depths

    def levels(self) -> list[bool]:
        """For every step, whether it has one value per element (and not one per row, or one at all)."""
        levels: list[bool] = []
        for step in self.steps:
            if step.operation == "input":
                levels.append(step.extra[1])
            elif step.operation in ("column", "pick"):
                levels.append(step.operation == "column")
            else:
                levels.append(step.operation not in REDUCTIONS and any(levels[n] for n in step.operands))
        return levels


class Expression:
    """A value of a program that is being traced. Python's operators make further steps."""

    __slots__ = ("builder", "number", "dtype")

    def __init__(self, builder: Builder, number: int, dtype: np.dtype) -> None:
        self.builder, self.number, self.dtype = builder, number, dtype

    def __repr__(self) -> str:
        return f"%{self.number}:{self.dtype}"

    def _binary(self, name: str, other: Any, swapped: bool = False) -> Expression:
        return self.builder.apply(name, other, self) if swapped else self.builder.apply(name, self, other)

    def __add__(self, other: Any) -> Expression:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Expression:
        return self._binary("add", other, True)

    def __sub__(self, other: Any) -> Expression:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> Expression:
        return self._binary("sub", other, True)

    def __mul__(self, other: Any) -> Expression:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> Expression:
        return self._binary("mul", other, True)

    def __truediv__(self, other: Any) -> Expression:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Expression:
        return self._binary("div", other, True)

    def __neg__(self) -> Expression:
        return self.builder.apply("neg", self)

    def __lt__(self, other: Any) -> Expression:
        return self._binary("lt", other)

    def __le__(self, other: Any) -> Expression:
        return self._binary("le", other)

    def __gt__(self, other: Any) -> Expression:
        return self._binary("gt", other)

    def __ge__(self, other: Any) -> Expression:
        return self._binary("ge", other)

    def __and__(self, other: Any) -> Expression:
        return self._binary("and", other)

    def __or__(self, other: Any) -> Expression:
        return self._binary("or", other)

    def __xor__(self, other: Any) -> Expression:
        return self._binary("xor", other)

    def __invert__(self) -> Expression:
        return self.builder.apply("not", self)

    def sqrt(self) -> Expression:
        return self.builder.apply("sqrt", self)

    def abs(self) -> Expression:
        return self.builder.apply("abs", self)

    def maximum(self, other: Any) -> Expression:
        return self.builder.apply("maximum", self, other)

    def minimum(self, other: Any) -> Expression:
        return self.builder.apply("minimum", self, other)


class Builder:
    """Collects the steps of a program; equal steps become one."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.inputs: list[str] = []
        self._known: dict[Step, int] = {}

    def step(self, operation: str, operands: tuple[int, ...], dtype: np.dtype, extra: Any = None) -> Expression:
        step = Step(operation, operands, dtype.name, extra)
        key = step._replace(extra=repr(extra)) if operation == "constant" else step  # 0.0 and -0.0 are two constants
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.steps)
            self.steps.append(step)
        return Expression(self, number, dtype)

    def input(self, dtype: Any, element: bool = True, computed: Any = None) -> Expression:
        """The next operand: one value per element, or per row; read from memory in `dtype`, computed with in `computed`."""
        kind = np.dtype(dtype)
        value = self.step("input", (), kind, (len(self.inputs), element))
        self.inputs.append(kind.name)
        return value if computed is None else self.convert(value, computed)

    def constant(self, value: Any, dtype: Any) -> Expression:
        kind = np.dtype(dtype)
        return self.step("constant", (), kind, kind.type(value).item())

    def convert(self, value: Expression, dtype: Any) -> Expression:
        kind = np.dtype(dtype)
        return value if value.dtype == kind else self.step("convert", (value.number,), kind)

    def apply(self, name: str, *operands: Any) -> Expression:
        """An operation on expressions of one dtype; Python numbers take the dtype of what stands beside them."""
        beside = [o for o in (operands[1:] if name == "where" else operands) if isinstance(o, Expression)]
        kind = beside[0].dtype if beside else np.dtype(np.float32)
        values = [o if isinstance(o, Expression) else self.constant(o, kind) for o in operands]
        for value in values[1:] if name == "where" else values:
            if value.dtype != kind:
                raise TypeError(f"{name}: operands of dtypes {[v.dtype.name for v in values]}; convert them first")
        return self.step(name, tuple(v.number for v in values), np.dtype(bool) if name in TESTS else kind)


def column(like: Expression) -> Expression:
    """The number of each element in its row, as int32."""
    return like.builder.step("column", (), np.dtype(np.int32))


def pick(operand: Expression, index: Expression) -> Expression:
    """One element of every row: of an operand in memory, by a whole number per row (one outside the row stands for 0)."""
    if operand.builder.steps[operand.number].operation != "input":
        raise TypeError("pick takes an operand as it lies in memory")
    return operand.builder.step("pick", (operand.number, index.number), operand.dtype)


def apply(name: str, *operands: Any) -> Expression:
    """An operation on expressions, by name: `apply("exp", x)`, `apply("where", x > 0, x, 0)`."""
    for operand in operands:
        if isinstance(operand, Expression):
            return operand.builder.apply(name, *operands)
    raise TypeError(f"{name}: none of the operands is an expression")


def trace(name: str, function: Callable[..., Any], dtypes: Sequence[Any], rows: Sequence[int] = (), computed: Any = None,
          stored: Sequence[Any] | None = None) -> Program:
    """The program of a Python function of expressions, which returns one or several of them.

    rows       the places of operands that have one value per row
    computed   compute in this dtype: floating operands are converted to it when read
    stored     dtypes of the results in memory (default: those they have)
    """
    builder = Builder()
    operands = [builder.input(d, place not in rows, computed if computed is not None and np.dtype(d).kind != "b" else None) for place, d in enumerate(dtypes)]
    results = function(*operands)
    results = results if isinstance(results, tuple) else (results,)
    kinds = [np.dtype(k).name for k in stored] if stored is not None else [r.dtype.name for r in results]
    return finished(name, builder, [(r.number, kind) for r, kind in zip(results, kinds, strict=True)])


def finished(name: str, builder: Builder, outputs: Sequence[tuple[int, str]]) -> Program:
    """The builder's steps as a program, without those that nothing needs."""
    needed = {number for number, _ in outputs}
    for number in range(len(builder.steps) - 1, -1, -1):
        step = builder.steps[number]
        if number in needed:
            needed.update(step.operands)
    order = sorted(needed)
    renumbered = {old: new for new, old in enumerate(order)}
    steps = tuple(builder.steps[old]._replace(operands=tuple(renumbered[n] for n in builder.steps[old].operands)) for old in order)
    return Program(name, tuple(builder.inputs), steps, tuple((renumbered[n], kind) for n, kind in outputs))
