"""Programs with reductions as machine code: what surrounds the passes over one row, and the inner loop by which NumPy calls it (ufunc.py)."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

from saraph.kernels import emit, jit
from saraph.kernels.flags import flags_kept
from saraph.kernels.ir import I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.pool import PARALLEL, TASK
from saraph.kernels.program import COSTLY, REDUCTIONS, Program
from saraph.kernels.sweep import LongRow, Part, Row, ShortRow, Sweep

#: Parameters of an inner loop.
LOOP = tuple((name, POINTER) for name in ("context", "data", "dimensions", "strides", "auxiliary"))
SERIAL = 1 << 14  # elements below which starting threads costs more than it gives
SHARE = 1 << 15  # elements of whole rows that a thread takes at a time


def write_row_loop(module: Module, name: str, program: Program) -> None:
    """NAME_loop, the inner loop of a gufunc, and NAME_task, which does some of its rows.

    The task's args, in words: the length of a row, every operand's pointer, its step from row to row, and its step along a row (0 for one with a
    single value per row). It is written in four variants, of which a call takes the one that fits its length and strides.
    """
    plan = RowPlan(program)
    _write_task(module, f"{name}_task", plan)
    function = module.function(f"{name}_loop", LOOP, I32)
    _, data, dimensions, strides, _ = function.parameters
    module.declare(PARALLEL)
    count = len(plan.element)
    turns, length = (_word(function, dimensions, k) for k in range(2))
    inner = iter(range(count, count + sum(plan.element)))
    steps = [_word(function, strides, next(inner)) if element else function.constant(I64, 0) for element in plan.element]
    words = [length, *(_word(function, data, k) for k in range(count)), *(_word(function, strides, k) for k in range(count)), *steps]
    args = function.array(I64, len(words))
    for index, word in enumerate(words):
        function.store(word, function.offset(args, 8 * index))
    task, zero = function.address_of(f"{name}_task"), function.constant(I64, 0)
    size = function.select(length < 1, 1, length)
    grain = (function.constant(I64, SHARE - 1) + size) / size
    with flags_kept(function):
        function.either(turns * length <= SERIAL, partial(function.call, f"{name}_task", [args, zero, turns, zero]),
                        partial(function.call, "saraph_parallel", [task, args, turns, grain]))
    function.give_back(0)


def _word(function: Function, args: Value, index: int, type: Type = I64) -> Value:
    return function.load(type, function.offset(args, 8 * index))


CHEAP = 6  #: steps of a program whose terms may be written several times


class RowPlan:
    """What is known about a program before it is written: which operands are rows, and which values are kept between passes."""

    def __init__(self, program: Program) -> None:
        self.program, self.depths, self.levels = program, program.depths(), program.levels()
        inputs = {step.extra[0]: number for number, step in enumerate(program.steps) if step.operation == "input"}
        self.kinds = [*program.inputs, *(kind for _, kind in program.outputs)]
        self.element = [place in inputs and self.levels[inputs[place]] for place in range(len(program.inputs))]
        self.element += [self.levels[number] for number, _ in program.outputs]
        self.last = max((self.depths[number] for number, _ in program.outputs if self.levels[number]), default=0)
        self.kept = self._kept()
        self.cheap = not any(step.operation in COSTLY for step in program.steps) and len(program.steps) <= CHEAP

    def _kept(self) -> dict[int, int]:
        """Costly steps that a later pass needs again: they wait in the memory of a result (step -> operand) until that is written."""
        kept: dict[int, int] = {}
        steps, first = self.program.steps, len(self.program.inputs)
        free = [first + k for k, (number, kind) in enumerate(self.program.outputs) if self.levels[number] and self.depths[number] == self.last]
        for number, step in enumerate(steps):
            if step.operation in COSTLY and self.levels[number] and self.depths[number] < self.last and self._needed_later(number):
                place = next((p for p in free if self.kinds[p] == step.dtype), None)
                if place is not None:
                    free.remove(place)
                    kept[number] = place
        return kept

    def _needed_later(self, number: int) -> bool:
        """Whether an element step that the last pass computes reads this one."""
        steps = self.program.steps
        wanted, seen = [n for n, _ in self.program.outputs if self.levels[n]], set()
        while wanted:
            step = wanted.pop()
            if step == number:
                return True
            if step not in seen and self.levels[step]:
                seen.add(step)
                wanted.extend(steps[step].operands)
        return False


def _write_task(module: Module, name: str, plan: RowPlan) -> None:
    program = plan.program
    count = len(plan.element)
    function = module.function(name, TASK)
    args, begin, end, _ = function.parameters
    length = _word(function, args, 0)
    starts = [_word(function, args, 1 + k, POINTER) for k in range(count)]
    outer = [_word(function, args, 1 + count + k) for k in range(count)]
    inner = [_word(function, args, 1 + 2 * count + k) for k in range(count)]
    lanes = emit.lanes_of(program, jit.host().vector_bytes)
    vectors = [emit.MEMORY[kind].vector(lanes) for kind in plan.kinds]

    def every_row(sweep: Callable[..., Sweep], side_by_side: bool) -> None:
        with function.range(begin, end) as turn:
            pointers = [function.offset(start, turn * step) for start, step in zip(starts, outer, strict=True)]
            rows = [Row(function, vector, pointer, None if side_by_side else step) if element else pointer
                    for vector, pointer, step, element in zip(vectors, pointers, inner, plan.element, strict=True)]
            _RowWriter(plan, sweep(function, emit.FLOAT.vector(lanes) if lanes * 4 == jit.host().vector_bytes else emit.DOUBLE.vector(lanes), length),
                       rows).write()

    def by_length(side_by_side: bool) -> None:
        long_row = partial(LongRow, by_chunks=side_by_side, cheap=plan.cheap)
        function.either(length <= lanes, lambda: every_row(ShortRow, side_by_side), lambda: every_row(long_row, side_by_side))

    together = [step.equals(vector.vector(0).size) for step, vector, element in zip(inner, vectors, plan.element, strict=True) if element]
    side_by_side = together[0]
    for one in together[1:]:
        side_by_side = side_by_side & one
    function.either(side_by_side, lambda: by_length(True), lambda: by_length(False))
    function.give_back()


class _RowWriter:
    """Writes the passes over one row."""

    def __init__(self, plan: RowPlan, sweep: Sweep, rows: list[Row | Value]) -> None:
        self.plan, self.sweep, self.function, self.rows = plan, sweep, sweep.function, rows
        self.program = plan.program
        self.known: dict[int, Value] = {}  # values per row
        self.stored: set[int] = set()  # kept steps that a pass has written

    def _row(self, place: int) -> Row:
        """An operand that has a value per element."""
        row = self.rows[place]
        assert isinstance(row, Row)
        return row

    def _pointer(self, place: int) -> Value:
        """An operand that has one value per row."""
        pointer = self.rows[place]
        assert isinstance(pointer, Value)
        return pointer

    def write(self) -> None:
        program, levels = self.program, self.plan.levels
        for number, step in enumerate(program.steps):
            if step.operation in REDUCTIONS:
                self.known[number] = self._reduce(step.operation, step.operands[0])
            elif step.operation == "pick":
                self.known[number] = self._pick(*step.operands)
            elif not levels[number]:
                self.known[number] = self._per_row(number)
        first = len(program.inputs)
        element = [(first + k, number) for k, (number, _) in enumerate(program.outputs) if levels[number]]
        if element:
            self.sweep.each(partial(self._store, element))
        for k, (number, kind) in enumerate(program.outputs):
            if not levels[number]:
                value = emit.in_memory(self.function, self.known[number], program.steps[number].dtype, kind)
                self.function.store(value, self._pointer(first + k))

    def _pick(self, operand: int, index: int) -> Value:
        row = self._row(self.program.steps[operand].extra[0])
        place = emit.convert(self.function, self.known[index], self.program.steps[index].dtype, "int64")
        inside = (place >= 0) & (place < self.sweep.length)
        return row.at(self.function.select(inside, place, 0))

    def _per_row(self, number: int) -> Value:
        def read(place: int) -> Value:
            return emit.load(self.function, self.program.inputs[place], self._pointer(place), 0)

        steps = emit.Elements(self.function, self.program, 0, self.known, read)
        return steps.value(number)

    def _values(self, part: Part) -> emit.Elements:
        """The element steps at a part of the row; what a part has computed once it knows."""
        values = part.values
        if values is None:
            values = part.values = emit.Elements(self.function, self.program, self.sweep.vector.lanes, self.known, lambda place: self._read(part, place),
                                                 lambda: self._column(part))
            for number in self.stored:
                values.values[number] = self._row(self.plan.kept[number]).load(part)
        values.values.update(self.known)
        return values

    def _column(self, part: Part) -> Value:
        first = self.function.convert("trunc", part.index, I32)
        return self.function.counting(I32.vector(self.sweep.vector.lanes)) + first

    def _read(self, part: Part, place: int) -> Value:
        value = self._row(place).load(part)
        return value.differs(0) if self.program.inputs[place] == "bool" else value

    def _term(self, number: int, part: Part) -> Value:
        values = self._values(part)
        value = self.function.lift(values.value(number), emit.REGISTER[self.program.steps[number].dtype].vector(self.sweep.vector.lanes))
        for step, place in self.plan.kept.items():
            if step in values.values and step not in self.stored:
                self._row(place).store(part, values.values[step])
        return value

    def _reduce(self, operation: str, number: int) -> Value:
        term = partial(self._term, number)
        if operation == "row_sum":
            result = self.sweep.sum(term)
        elif operation == "row_largest":
            result = self.sweep.maximum(term)
        else:
            neutral, combine = {"row_max": (-float("inf"), emit.SIMPLE["maximum"]), "row_min": (float("inf"), emit.SIMPLE["minimum"]),
                                "row_prod": (1.0, emit.SIMPLE["mul"])}[operation]
            result = self.sweep.reduce(term, neutral, partial(combine, self.function))
        depth = self.plan.depths[number]
        self.stored.update(n for n in self.plan.kept if self.plan.depths[n] <= depth and self._reads(number, n))
        return result

    def _reads(self, number: int, other: int) -> bool:
        return number == other or any(self._reads(n, other) for n in self.program.steps[number].operands if self.plan.levels[n])

    def _store(self, outputs: list[tuple[int, int]], part: Part) -> None:
        values = self._values(part)
        results = []
        for place, number in outputs:
            dtype = self.program.steps[number].dtype
            value = self.function.lift(values.value(number), emit.REGISTER[dtype].vector(self.sweep.vector.lanes))
            results.append((place, emit.in_memory(self.function, value, dtype, self.plan.kinds[place])))
        for place, value in results:
            self._row(place).store(part, value)
