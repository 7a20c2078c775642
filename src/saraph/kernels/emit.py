"""The operations of programs as IR: what `interpret` computes with NumPy, on vectors in registers."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from saraph.kernels import vmath
from saraph.kernels.ir import DOUBLE, FLOAT, HALF, I1, I8, I16, I32, I64, Function, Type, Value
from saraph.kernels.program import Program, Step

#: How each dtype lies in memory, and how it is held in registers.
MEMORY = {"bool": I8, "uint8": I8, "int8": I8, "int16": I16, "int32": I32, "int64": I64, "float16": HALF, "bfloat16": I16, "float32": FLOAT,
          "float64": DOUBLE}
REGISTER = {**MEMORY, "bool": I1}
UNSIGNED = frozenset(("bool", "uint8"))


def lanes_of(program: Program, vector_bytes: int) -> int:
    """How many elements a vector step computes: as many of the widest floating type as a register holds."""
    wide = any(step.dtype in ("float64", "int64") for step, element in zip(program.steps, program.levels(), strict=True) if element)
    return vector_bytes // (8 if wide else 4)


def load(function: Function, dtype: str, pointer: Value, lanes: int) -> Value:
    """`lanes` values that lie side by side."""
    value = function.load(MEMORY[dtype].vector(lanes), pointer)
    return value.differs(0) if dtype == "bool" else value


def in_memory(function: Function, value: Value, dtype: str, stored: str) -> Value:
    """A value of `dtype` as it is stored in `stored`."""
    value = convert(function, value, dtype, stored)
    return function.convert("zext", value, I8.like(value.type)) if stored == "bool" else value


def convert(function: Function, value: Value, source: str, target: str) -> Value:
    """A value in another dtype: to 16-bit floats by one rounding to the nearest even; to bool: whether it is not 0."""
    if source == target:
        return value
    if target == "bool":
        return value.differs(0)
    if source == "bfloat16":
        wide = function.convert("zext", value, I32.like(value.type)) << 16
        return convert(function, function.convert("bitcast", wide, FLOAT.like(value.type)), "float32", target)
    if target == "bfloat16":
        return _to_bfloat16(function, convert(function, value, source, "float32"))
    kind, start = REGISTER[target].like(value.type), REGISTER[source]
    if start.is_float and kind.is_float:
        return function.convert("fpext" if kind.vector(0).size > start.size else "fptrunc", value, kind)
    if kind.is_float:
        return function.convert("uitofp" if source in UNSIGNED else "sitofp", value, kind)
    if start.is_float:
        return function.convert("fptosi", value, kind)
    grows = kind.vector(0).size > start.size or source == "bool"
    return function.convert(("zext" if source in UNSIGNED else "sext") if grows else "trunc", value, kind)


def _to_bfloat16(function: Function, value: Value) -> Value:
    bits = function.convert("bitcast", value, I32.like(value.type))
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return function.convert("trunc", function.select(value.differs(value), 0x7FC0, rounded), I16.like(value.type))


def _maximum(function: Function, a: Value, b: Value) -> Value:
    return function.select(a.differs(a), a, function.select(a > b, a, b))


def _minimum(function: Function, a: Value, b: Value) -> Value:
    return function.select(a.differs(a), a, function.select(a < b, a, b))


def _fmax(function: Function, a: Value, b: Value) -> Value:
    return function.select(b.differs(b), a, function.select(a > b, a, b))


def _fmin(function: Function, a: Value, b: Value) -> Value:
    return function.select(b.differs(b), a, function.select(a < b, a, b))


def _intrinsic(name: str) -> Callable[..., Value]:
    def emit(function: Function, *operands: Value) -> Value:
        return function.intrinsic(name, [operands[0].type], operands[0].type, operands)

    return emit


def _abs(function: Function, x: Value) -> Value:
    if x.type.is_float:
        return _intrinsic("fabs")(function, x)
    return function.select(x < 0, 0 - x, x)


def _isinf(function: Function, x: Value) -> Value:
    return _abs(function, x).equals(float("inf"))


def _isfinite(function: Function, x: Value) -> Value:
    return _abs(function, x) < float("inf")


def _signbit(function: Function, x: Value) -> Value:
    return function.convert("bitcast", x, (I32 if x.type.scalar == "float" else I64).like(x.type)) < 0


SIMPLE: dict[str, Callable[..., Value]] = {
    "add": lambda f, a, b: a + b, "sub": lambda f, a, b: a - b, "mul": lambda f, a, b: a * b, "div": lambda f, a, b: a / b, "neg": lambda f, a: -a,
    "abs": _abs, "square": lambda f, a: a * a, "maximum": _maximum, "minimum": _minimum, "fmax": _fmax, "fmin": _fmin, "sqrt": _intrinsic("sqrt"),
    "rsqrt": lambda f, a: f.constant(a.type, 1.0) / _intrinsic("sqrt")(f, a), "reciprocal": lambda f, a: f.constant(a.type, 1.0) / a,
    "floor": _intrinsic("floor"), "ceil": _intrinsic("ceil"), "trunc": _intrinsic("trunc"), "rint": _intrinsic("rint"), "copysign": _intrinsic("copysign"),
    "lt": lambda f, a, b: a < b, "le": lambda f, a, b: a <= b, "gt": lambda f, a, b: a > b, "ge": lambda f, a, b: a >= b,
    "eq": lambda f, a, b: a.equals(b), "ne": lambda f, a, b: a.differs(b), "isnan": lambda f, a: a.differs(a), "isinf": _isinf, "isfinite": _isfinite,
    "signbit": _signbit, "fma": lambda f, a, b, c: f.intrinsic("fma", [a.type], a.type, [a, b, c]), "and": lambda f, a, b: a & b,
    "or": lambda f, a, b: a | b, "xor": lambda f, a, b: a ^ b,
    "not": lambda f, a: a ^ 1 if a.type.scalar == "i1" else a.equals(0), "where": lambda f, c, a, b: f.select(c, a, b),
}


def emit(function: Function, step: Step, operands: Sequence[Value], source: str, type: Type) -> Value:
    """One step that is neither an input nor a reduction. `source` is the dtype of its first operand, `type` of a constant's value."""
    if step.operation == "constant":
        return function.constant(type, step.extra)
    if step.operation == "convert":
        return convert(function, operands[0], source, step.dtype)
    operation = SIMPLE.get(step.operation) or getattr(vmath, step.operation, None) or getattr(vmath, step.operation + "_", None)
    if operation is None:
        raise KeyError(f"no machine code for the operation {step.operation!r}")
    return operation(function, *operands)


def can_emit(program: Program) -> bool:
    """Whether every step has machine code and every operand a layout."""
    def known(step: Step) -> bool:
        named = step.operation in SIMPLE or step.operation in ("input", "constant", "convert", "column", "pick") or step.operation.startswith("row_")
        return (named or hasattr(vmath, step.operation) or hasattr(vmath, step.operation + "_")) and step.dtype in MEMORY

    return all(map(known, program.steps)) and all(kind in MEMORY for _, kind in program.outputs)


class Elements:
    """Writes the steps of a program for one vector of elements, each when it is first asked for."""

    def __init__(self, function: Function, program: Program, lanes: int, known: dict[int, Value], read: Callable[[int], Value],
                 column: Callable[[], Value] | None = None) -> None:
        self._function, self._program, self._lanes, self._read, self._column = function, program, lanes, read, column
        self.values: dict[int, Value] = dict(known)

    def value(self, number: int) -> Value:
        """The value of a step; `read(place)` gives the operands of the program."""
        found = self.values.get(number)
        if found is None:
            found = self.values[number] = self._make(number)
        return found

    def _make(self, number: int) -> Value:
        step = self._program.steps[number]
        if step.operation == "input":
            return self._read(step.extra[0])
        if step.operation == "column" and self._column is not None:
            return self._column()
        operands = [self.value(n) for n in step.operands]
        if any(o.type.lanes for o in operands):
            operands = [self._function.lift(o, o.type.vector(self._lanes)) for o in operands]
        source = self._program.steps[step.operands[0]].dtype if step.operands else ""
        return emit(self._function, step, operands, source, REGISTER[step.dtype].vector(self._lanes))


def byte_sizes(program: Program) -> list[int]:
    """Bytes per element of every operand in memory, inputs first."""
    return [MEMORY[kind].size for kind in (*program.inputs, *(kind for _, kind in program.outputs))]


def numpy_dtypes(program: Program) -> tuple[Any, ...]:
    """The dtypes of the operands in memory, inputs first."""
    import ml_dtypes

    known = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
    return tuple(known.get(kind) or np.dtype(kind) for kind in (*program.inputs, *(kind for _, kind in program.outputs)))
