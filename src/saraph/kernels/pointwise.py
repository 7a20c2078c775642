"""Machine code for programs without reductions: one pass over any number of operands, of any strides.

The elements are cut into blocks of BLOCK, which threads take in turn. Within a block the vector loop (`body`) reads and writes memory that lies
side by side: an operand that does not is copied to and from a small buffer, a tile at a time; so is the end of a row that does not fill a vector.
There is one vector loop and no variant of it.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from saraph.kernels import emit, jit
from saraph.kernels.flags import flags_kept
from saraph.kernels.ir import I1, I8, I16, I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.loops import LOOP
from saraph.kernels.pool import PARALLEL, TASK
from saraph.kernels.program import Program

BLOCK = 1 << 14  # elements that one thread takes at a time
TILE = 512  # elements that are copied at a time when they do not lie side by side
SERIAL = 1 << 15  # elements below which starting threads costs more than it gives
HEAD = 3  # words before the operands'


def source(program: Program) -> str:
    """The module of a program: the task that does its work, and the loop (`row`) by which NumPy's ufuncs call it."""
    module = Module()
    lanes = emit.lanes_of(program, jit.host().vector_bytes)
    _write_body(module, program, lanes)
    _write_copies(module, program)
    _write_task(module, program, lanes)
    _write_row(module, program)
    return module.text()


def _kinds(program: Program) -> list[str]:
    return [*program.inputs, *(kind for _, kind in program.outputs)]


def _element(program: Program) -> list[bool]:
    """For every operand, whether it has a value per element; others are one number for the whole row."""
    rows = {step.extra[0] for step in program.steps if step.operation == "input" and not step.extra[1]}
    return [place not in rows for place in range(len(program.inputs) + len(program.outputs))]


def _write_body(module: Module, program: Program, lanes: int) -> None:
    """body(vectors, pointer..., step...): whole vectors; an operand's next vector lies `step` bytes further on (0: the same again)."""
    kinds, inputs = _kinds(program), len(program.inputs)
    count = len(kinds)
    function = module.function("body", [("vectors", I64), *((f"p{k}", POINTER) for k in range(count)), *((f"s{k}", I64) for k in range(count))])
    vectors, pointers, steps_of = function.parameters[0], function.parameters[1:1 + count], function.parameters[1 + count:]
    element = _element(program)
    numbers = {k: emit.load(function, kinds[k], pointers[k], 0) for k in range(inputs) if not element[k]}
    with function.range(0, vectors) as index:
        def place(k: int) -> Value:
            return function.offset(pointers[k], index * steps_of[k])

        def read(k: int) -> Value:
            return numbers[k] if k in numbers else emit.load(function, kinds[k], place(k), lanes)

        steps = emit.Elements(function, program, lanes, {}, read)
        results = []
        for number, kind in program.outputs:
            value = steps.value(number)
            dtype = program.steps[number].dtype
            value = function.lift(value, emit.REGISTER[dtype].vector(lanes))
            results.append(emit.in_memory(function, value, dtype, kind))
        for k, result in enumerate(results):
            function.store(result, place(inputs + k))
    function.give_back()


def _write_copies(module: Module, program: Program) -> None:
    """gather_S(buffer, source, stride, count, padded) and scatter_S(target, stride, buffer, count) for elements of S bytes.

    A gather repeats the last element up to `padded`: what the vector loop computes there is thrown away, and must not divide by garbage.
    """
    for size in sorted(set(emit.byte_sizes(program))):
        kind = {1: I8, 2: I16, 4: I32, 8: I64}[size]
        gather = module.function(f"gather_{size}", [("buffer", POINTER), ("source", POINTER), ("stride", I64), ("count", I64), ("padded", I64)])
        buffer, start, stride, count, padded = gather.parameters
        with gather.range(0, count) as index:
            gather.store(gather.load(kind, gather.offset(start, index * stride)), gather.offset(buffer, index * size))
        last = gather.load(kind, gather.offset(start, (count - 1) * stride))
        with gather.range(count, padded) as index:
            gather.store(last, gather.offset(buffer, index * size))
        gather.give_back()
        scatter = module.function(f"scatter_{size}", [("target", POINTER), ("stride", I64), ("buffer", POINTER), ("count", I64)])
        start, stride, buffer, count = scatter.parameters
        with scatter.range(0, count) as index:
            scatter.store(scatter.load(kind, scatter.offset(buffer, index * size)), scatter.offset(start, index * stride))
        scatter.give_back()


def _word(function: Function, args: Value, index: int, type: Type = I64) -> Value:
    return function.load(type, function.offset(args, 8 * index))


def _write_task(module: Module, program: Program, lanes: int) -> None:
    """task(args, begin, end, slot). A unit is a block of a row. args, in words of 8 bytes:

    columns; blocks per row; number of dimensions that count the rows; every operand's pointer; every operand's step along a row; then, innermost
    dimension first, its size and every operand's step along it. Steps are in bytes.
    """
    kinds, inputs, sizes, element = _kinds(program), len(program.inputs), emit.byte_sizes(program), _element(program)
    count = len(kinds)
    function = module.function("task", TASK)
    args, begin, end, _ = function.parameters
    columns, blocks, dimensions = (_word(function, args, k) for k in range(HEAD))
    pointers = [_word(function, args, HEAD + k, POINTER) for k in range(count)]
    steps = [_word(function, args, HEAD + count + k) for k in range(count)]
    outer = function.offset(args, 8 * (HEAD + 2 * count))
    dense = [step.equals(size) if own else function.constant(I1, 1) for step, size, own in zip(steps, sizes, element, strict=True)]
    constant = [step.equals(0) for step in steps]  # along a row: its buffer holds one vector of it, filled once per unit
    all_dense = function.constant(I1, 1)
    for k, one in enumerate(dense):
        all_dense = all_dense & (one | constant[k] if k < inputs else one)
    ahead = [function.constant(I64, lanes * size) for size in sizes]
    again = [function.select(same, 0, step) if k < inputs else step for k, (same, step) in enumerate(zip(constant, ahead, strict=True))]
    buffers = [function.array(I8, TILE * size) for size in sizes]
    span = function.select(all_dense, function.constant(I64, BLOCK), TILE)

    def compute(places: list[Value], elements: Value) -> None:
        function.call("body", [(elements + (lanes - 1)) / lanes, *places, *again])

    def directly(places: list[Value], elements: Value) -> None:
        compute([function.select(constant[k], buffers[k], place) if k < inputs and element[k] else place for k, place in enumerate(places)], elements)

    def through_buffers(places: list[Value], elements: Value, direct: list[Value]) -> None:
        padded = (elements + (lanes - 1)) & -lanes
        for k in filter(element.__getitem__, range(inputs)):
            with function.when((direct[k] | constant[k]) ^ 1), function.when(elements > 0):
                function.call(f"gather_{sizes[k]}", [buffers[k], places[k], steps[k], elements, padded])
        compute([function.select(d, place, buffer) if own else place
                 for d, place, buffer, own in zip(direct, places, buffers, element, strict=True)], elements)
        for k in range(inputs, count):
            with function.when(direct[k] ^ 1):
                function.call(f"scatter_{sizes[k]}", [places[k], steps[k], buffers[k], elements])

    with function.range(begin, end) as unit:
        row = unit / blocks
        first = (unit - row * blocks) * BLOCK
        last = first + BLOCK
        last = function.select(last < columns, last, columns)
        rows = _row_starts(function, row, dimensions, outer, pointers)
        for k in filter(element.__getitem__, range(inputs)):
            with function.when(constant[k]):
                function.call(f"gather_{sizes[k]}", [buffers[k], rows[k], steps[k], function.constant(I64, 1), function.constant(I64, lanes)])
        with function.range(first, last, span) as at:
            elements = last - at
            elements = function.select(elements < span, elements, span)
            whole = elements & -lanes
            places = [function.offset(start, at * step) if own else start for start, step, own in zip(rows, steps, element, strict=True)]
            function.either(all_dense, partial(directly, places, whole), partial(through_buffers, places, whole, dense))
            with function.when(elements > whole):
                ends = [function.offset(place, whole * step) if own else place for place, step, own in zip(places, steps, element, strict=True)]
                through_buffers(ends, elements - whole, [function.constant(I1, 0)] * count)
    function.give_back()


def _row_starts(function: Function, row: Value, dimensions: Value, outer: Value, pointers: list[Value]) -> list[Value]:
    """Where a row starts in every operand."""
    width = 8 * (1 + len(pointers))
    rest, places = function.variable(I64, row), [function.variable(POINTER, pointer) for pointer in pointers]
    with function.range(0, dimensions) as dimension:
        entry = function.offset(outer, dimension * width)
        size, before = _word(function, entry, 0), rest.get()
        after = before / size
        index = before - after * size
        rest.set(after)
        for k, place in enumerate(places):
            place.set(function.offset(place.get(), index * _word(function, entry, 1 + k)))
    return [place.get() for place in places]


def _write_row(module: Module, program: Program) -> None:
    """The inner loop of a ufunc: one row, at once where it is short, else on the pool."""
    count = len(_kinds(program))
    function = module.function("row", LOOP, I32)
    _, data, dimensions, strides, _ = function.parameters
    module.declare(PARALLEL)
    columns, zero = _word(function, dimensions, 0), function.constant(I64, 0)
    args = function.array(I64, HEAD + 2 * count)
    blocks = (columns + (BLOCK - 1)) / BLOCK
    words = [columns, blocks, zero, *(_word(function, data, k) for k in range(count)), *(_word(function, strides, k) for k in range(count))]
    for index, word in enumerate(words):
        function.store(word, function.offset(args, 8 * index))
    task = function.address_of("task")
    with flags_kept(function):
        function.either(columns <= SERIAL, partial(function.call, "task", [args, zero, blocks, zero]),
                        partial(function.call, "saraph_parallel", [task, args, blocks, function.constant(I64, 1)]))
    function.give_back(0)


def arguments(shape: Sequence[int], operands: Sequence[tuple[int, Sequence[int]]]) -> tuple[list[int], int, int]:
    """The task's words for operands (address, steps in bytes) of one shape, last dimension along the rows; the number of units; the grain."""
    *outer, columns = shape
    blocks = -(-columns // BLOCK)
    words = [columns, blocks, len(outer), *(address for address, _ in operands), *(steps[-1] for _, steps in operands)]
    for dimension in range(len(outer) - 1, -1, -1):
        words.append(outer[dimension])
        words.extend(steps[dimension] for _, steps in operands)
    return words, math.prod(outer) * blocks, max(1, BLOCK // max(columns, 1))
