"""Conversions between dtypes, over any strides: floats to integers truncate as x86 does, to 16-bit floats round to the nearest even."""
from __future__ import annotations

import functools
import math

import numpy as np

from saraph.kernels import blocks, emit, jit, pool
from saraph.kernels.copying import GRAIN, smaller
from saraph.kernels.ir import I8, I16, I32, I64, Function, Module, Type, Value
from saraph.kernels.walking import RANK, Task, merged, name_of, write_task, write_walk

#: How each dtype lies in memory.
MEMORY = {**emit.MEMORY, "uint16": I16, "uint32": I32}
LANES = 32  #: elements converted at once
PIECE = 1 << 15  #: elements of a row that are one unit of work

_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))
_INNER = 3 + 3 * RANK
_UNSIGNED = emit.UNSIGNED | {"uint16", "uint32"}


def convertible(source: np.dtype, target: np.dtype) -> bool:
    """Whether `cast_into` knows the two dtypes. Of floats as uint32, out of range, compilers make different things: those are NumPy's."""
    start, goal = name_of(source), name_of(target)
    return start in MEMORY and goal in MEMORY and not (goal == "uint32" and start in _FLOATS)


def cast_into(target: np.ndarray, source: np.ndarray) -> bool:
    """target[...] = source, converted; of the same shape, not overlapping. False, and nothing done, where strides are beyond this kernel."""
    plan = _plan(target.shape, target.strides, source.strides, target.itemsize, source.itemsize)
    if plan is None:
        return False
    name, words, units, grain = plan
    if units:
        pair = name_of(source.dtype), name_of(target.dtype)
        code = jit.kernel("casting", pair, functools.partial(_module, *pair))
        pool.parallel(code.address(name), pool.arguments(blocks.address(target), blocks.address(source), *words), units, grain)
    return True


@functools.lru_cache(maxsize=512)
def _plan(shape: tuple[int, ...], target: tuple[int, ...], source: tuple[int, ...], size: int,
          source_size: int) -> tuple[str, tuple[int, ...], int, int] | None:
    if 0 in shape:
        return "rows", (), 0, 1
    walk = merged(shape, (target, source))
    sizes, to, start = walk.shape or (1,), walk.strides[0] or (size,), walk.strides[1] or (source_size,)
    if len(sizes) > RANK - 1:
        return None
    length = sizes[-1]
    pieces = -(-length // PIECE)
    walk = merged((*sizes[:-1], pieces), ((*to[:-1], PIECE * to[-1]), (*start[:-1], PIECE * start[-1])), 1)
    name = "rows" if to[-1] == size and start[-1] == source_size else "strided_rows"
    work = (size + source_size) * min(length, PIECE)
    return name, (*walk.arguments(), length, to[-1], start[-1]), math.prod(walk.shape), max(1, GRAIN // work)


# -- machine code ------------------------------------------------------------------------------------------------------------------


def _module(source: str, target: str) -> str:
    module = Module()
    _write_rows(write_task(module, "rows"), source, target, True)
    _write_rows(write_task(module, "strided_rows"), source, target, False)
    return module.text()


def _write_rows(task: Task, source: str, target: str, dense: bool) -> None:
    function, kind, start_kind = task.function, MEMORY[target], MEMORY[source]
    length, to, start = (task.word(_INNER + k) for k in range(3))

    def part(places: list[Value], index: Value, lanes: int, steps: tuple[Value | int, Value | int]) -> None:
        value = function.load(start_kind.vector(lanes), function.offset(places[1], index * steps[1]))
        function.store(converted(function, value, source, target), function.offset(places[0], index * steps[0]))

    def row(places: list[Value], counters: list[Value]) -> None:
        count = smaller(function, length - counters[0] * PIECE, PIECE)
        steps: tuple[Value | int, Value | int] = (kind.size, start_kind.size) if dense else (to, start)
        first: Value | int = 0
        if dense:
            first = count & -LANES
            with function.range(0, first, LANES) as index:
                part(places, index, LANES, steps)
        with function.range(first, count) as index:
            part(places, index, 0, steps)

    write_walk(task, 2, 2, row, 1)


def converted(function: Function, value: Value, source: str, target: str) -> Value:
    """Values as they lie in memory, in another dtype (as they lie in memory)."""
    if source == target:
        return value
    if target == "bool":
        return function.convert("zext", _nonzero(function, value, source), I8.like(value.type))
    if source in ("float16", "bfloat16"):
        value, source = emit.convert(function, value, source, "float32"), "float32"
    if source == "float32" and target == "bfloat16" and value.type.lanes > 1:
        return _upper_halves(function, value)
    if target in ("float16", "bfloat16"):
        value = value if source == "float32" else _number(function, value, source, "float32")
        return emit.convert(function, value, "float32", target)
    return _number(function, value, source, target)


def _upper_halves(function: Function, value: Value) -> Value:
    """float32 rounded to the nearest bfloat16: `emit.convert` for vectors, whose upper halves are picked by one instruction."""
    lanes = value.type.lanes
    bits = function.convert("bitcast", value, I32.vector(lanes))
    rounded = bits + (bits.shift_in_zeros(16) & 1) + 0x7FFF
    rounded = function.select(value.differs(value), 0x7FC00000, rounded)
    return function.shuffle(function.convert("bitcast", rounded, I16.vector(2 * lanes)), range(1, 2 * lanes, 2))


def _nonzero(function: Function, value: Value, source: str) -> Value:
    if source in ("float16", "bfloat16"):
        bits = value if source == "bfloat16" else function.convert("bitcast", value, I16.like(value.type))
        return (bits & 0x7FFF).differs(0)
    return value.differs(0)


def _number(function: Function, value: Value, source: str, target: str) -> Value:
    """Between integers, float32 and float64."""
    kind = MEMORY[target].like(value.type)
    if value.type.is_float and kind.is_float:
        return value if source == target else function.convert("fpext" if source == "float32" else "fptrunc", value, kind)
    if kind.is_float:
        return function.convert("uitofp" if source in _UNSIGNED else "sitofp", value, kind)
    if value.type.is_float:
        # as C compilers have it on x86: through the int that holds every value, whose excess bits are cut off
        wide: Type = I64 if target == "int64" else I32
        number = function.convert("fptosi", value, wide.like(value.type))
        return number if kind.scalar == wide.scalar else function.convert("trunc", number, kind)
    if kind.scalar == value.type.scalar:
        return value
    grows = kind.vector(0).size > value.type.vector(0).size
    return function.convert(("zext" if source in _UNSIGNED else "sext") if grows else "trunc", value, kind)
