"""Recurrent layers over time: all steps of one layer in one direction, forward or backward, in one native call.

The input's share of the gates is a product of matrices that the caller makes for all times at once; what is left of a step is the product of
the state with the recurrent weights, and the gates. A part of a step is a block of hidden units of a number of rows of the batch: all gates of the
block are summed in registers, and what they make of the state is written at once. Weights are packed once a call. Sequences do not know of each
other: where there are enough of them, threads take some each and go through all steps; else they share the parts of every step. What is
computed is the same.

    plan = schedule(batch_sizes, reverse)
    result = forward(kind, gates, weights, bias, states, plan, out)     # Forward: what the backward pass needs, and the last states
    found = backward(kind, result, weights, grad, last_grads, plan)     # Backward: gradients of the gates and of the first states

Rows lie as in a packed sequence: those of a step side by side, the longest sequences first (a padded batch is one where all are of one length).
A step's states are kept beside the inputs' rows: `before` holds the state that every row started from, so that the gradient of the recurrent
weights is one product. Kinds: "lstm" (gates input, forget, cell, output), "gru" (reset, update, new), "tanh", "relu".
"""
from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from saraph.config import settings
from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import copy_into, smaller
from saraph.kernels.gemm import micro
from saraph.kernels.ir import I64, POINTER, Module, Value
from saraph.kernels.lanes import lanes_below, load_part, store_part
from saraph.kernels.recurrent_gates import CELLS
from saraph.kernels.walking import Task, write_task

CHUNK = 48  #: rows of the batch in a unit of work, where threads share every step
OWN = 16  #: sequences in a unit of work, where threads go through all steps
HIGHEST = 8  #: rows of a tile at most: every height has code of its own
SERIAL = 1 << 17  #: multiplications below which work is not shared out
_int64 = np.dtype(np.int64)

#: First row and number of rows, of a step and of the next.
STEP = ("row", "count", "next_row", "next_count")
#: Words of a task's arguments. The driver fills in the last four at every step.
WORDS = ("gates", "weights", "bias", "hidden_bias", "extra", "before_h", "before_c", "out", "out_row", "last_h", "last_c", "grad", "grad_row",
         "slopes", "hidden_slopes", "hidden", "blocks", "schedule", "steps", "grain", *STEP)
_PLACES = {name: place for place, name in enumerate(WORDS)}


class Forward(NamedTuple):
    """What a layer's forward pass gives."""

    gates: np.ndarray  # (rows, gates * hidden): after their functions
    extra: np.ndarray | None  # gru: the hidden share of the new gate
    before_h: np.ndarray  # (rows, hidden)
    before_c: np.ndarray | None
    last_h: np.ndarray  # (batch, hidden)
    last_c: np.ndarray | None


class Backward(NamedTuple):
    """Gradients: of the gates' sums as the input sees them, as the state sees them (another array for gru), and of the first states' own terms."""

    slopes: np.ndarray
    hidden_slopes: np.ndarray
    carried_h: np.ndarray
    carried_c: np.ndarray | None


class Schedule(NamedTuple):
    """The steps in the order in which they are made: (first row, rows, first row of the next step, its rows)."""

    steps: np.ndarray
    starts: np.ndarray  # for every row of the batch, the row of its first step
    batch: int
    rows: int


@functools.lru_cache(maxsize=64)
def padded_schedule(steps: int, batch: int, reverse: bool) -> Schedule:
    """All sequences of one length."""
    return schedule([batch] * steps, reverse)


def schedule(sizes: Sequence[int], reverse: bool) -> Schedule:
    """The steps of a packed sequence, whose batch sizes never grow."""
    count = np.asarray(sizes, _int64)
    first = np.cumsum(count) - count
    batch = int(count[0]) if len(count) else 0
    place = np.arange(batch)
    starts = place
    if reverse:  # a sequence begins at its last step
        lengths = (count[:, None] > place).sum(0)
        starts = first[lengths - 1] + place
        count, first = count[::-1], first[::-1]
    table = np.zeros((len(count), 4), _int64)
    table[:, 0], table[:, 1] = first, count
    table[:-1, 2:] = table[1:, :2]
    return Schedule(table, starts, batch, int(count.sum()))


class Sizes(NamedTuple):
    """A kind of cell in a dtype on this processor."""

    kind: str
    dtype: str

    @property
    def product(self) -> micro.Product:
        """What multiplies."""
        return micro.FLOAT64 if self.dtype == "float64" else micro.FLOAT32

    @property
    def lanes(self) -> int:
        """Hidden units in a vector."""
        return jit.host().vector_bytes // self.product.total.size

    @property
    def forward_rows(self) -> int:
        """Rows of a tile that has a vector of every gate."""
        registers = 32 if jit.host().vector_registers >= 32 else 16
        return min(micro.ROWS[registers, CELLS[self.kind].gates], HIGHEST)

    @property
    def backward_rows(self) -> int:
        """Rows of a tile with two vectors of hidden units."""
        return min(micro.tile(jit.host(), self.product, 2).rows, HIGHEST)


def forward(kind: str, gates: np.ndarray, weights: np.ndarray, bias: np.ndarray, hidden_bias: np.ndarray, states: Sequence[np.ndarray],
            plan: Schedule, out: np.ndarray) -> Forward:
    """Run all steps. `gates` (rows, gates * hidden) holds the input's share and is overwritten; weights (gates * hidden, hidden).

    bias (gates * hidden) is added to all gates; hidden_bias (hidden) to the hidden share of gru's new gate. states: h, and c for an lstm,
    (batch, hidden). `out` (rows, hidden) takes the states; its rows may lie apart.
    """
    sizes, cell = Sizes(kind, gates.dtype.name), CELLS[kind]
    hidden, rows, dtype = weights.shape[1], plan.rows, gates.dtype
    number = -(-hidden // sizes.lanes)
    packed = _packed(weights.reshape(cell.gates, hidden, hidden).transpose(2, 0, 1), number, sizes.lanes)
    before = [blocks.empty((rows, hidden), dtype) for _ in states]
    last = [np.empty((plan.batch, hidden), dtype) for _ in states]
    for buffer, state in zip(before, states, strict=True):
        buffer[plan.starts] = state
    extra = blocks.empty((rows, hidden), dtype) if cell.extra else None
    arrays = {"gates": gates, "weights": packed, "bias": bias, "hidden_bias": hidden_bias, "extra": extra, "out": out, "schedule": plan.steps}
    arrays.update(zip(("before_h", "before_c"), before, strict=False))
    arrays.update(zip(("last_h", "last_c"), last, strict=False))
    _run("forward", sizes, arrays, {"out_row": out.strides[0], "hidden": hidden, "blocks": number, "steps": len(plan.steps)}, plan.batch)
    return Forward(gates, extra, before[0], before[1] if len(before) > 1 else None, last[0], last[1] if len(last) > 1 else None)


def backward(kind: str, found: Forward, weights: np.ndarray, grad: np.ndarray | None, last_grads: Sequence[np.ndarray | None],
             plan: Schedule) -> Backward:
    """Run all steps back. `grad` (rows, hidden) is of the outputs, its rows may lie apart; last_grads are of the last states."""
    sizes, cell = Sizes(kind, weights.dtype.name), CELLS[kind]
    hidden, rows, dtype = weights.shape[1], plan.rows, weights.dtype
    number = -(-hidden // (2 * sizes.lanes))
    packed = _packed(weights[:, None], number, 2 * sizes.lanes)
    carried = [np.zeros((plan.batch, hidden), dtype) if g is None else np.array(g, dtype, order="C") for g in last_grads]
    slopes = blocks.empty((rows, cell.gates * hidden), dtype)
    hidden_slopes = blocks.empty((rows, cell.gates * hidden), dtype) if cell.extra else slopes
    if grad is None:
        grad = np.broadcast_to(np.zeros(hidden, dtype), (rows, hidden))
    arrays = {"gates": found.gates, "weights": packed, "extra": found.extra, "before_h": found.before_h, "before_c": found.before_c,
              "grad": grad, "slopes": slopes, "hidden_slopes": hidden_slopes, "schedule": np.ascontiguousarray(plan.steps[::-1])}
    arrays.update(zip(("last_h", "last_c"), carried, strict=False))
    _run("backward", sizes, arrays, {"grad_row": grad.strides[0], "hidden": hidden, "blocks": number, "steps": len(plan.steps)}, plan.batch)
    return Backward(slopes, hidden_slopes, carried[0], carried[1] if len(carried) > 1 else None)


def _packed(weights: np.ndarray, number: int, width: int) -> np.ndarray:
    """(depth, parts, hidden) as (number of blocks, depth, parts, width), zeros behind the last."""
    depth, parts, hidden = weights.shape
    packed = blocks.empty((number, depth, parts, width), weights.dtype)
    whole, rest = divmod(hidden, width)
    if whole:
        source = weights[:, :, :whole * width].reshape(depth, parts, whole, width, copy=False).transpose(2, 0, 1, 3)
        if not copy_into(packed[:whole], source):
            np.copyto(packed[:whole], source)
    if rest:
        packed[whole, :, :, :rest] = weights[:, :, whole * width:]
        packed[whole, :, :, rest:] = 0
    return packed


def _run(name: str, sizes: Sizes, arrays: dict[str, np.ndarray | None], numbers: dict[str, int], batch: int) -> None:
    words = dict.fromkeys(WORDS, 0)
    words.update({key: blocks.address(a) for key, a in arrays.items() if a is not None}, **numbers)
    code = jit.kernel(f"recurrent {name}", sizes, functools.partial(_module, name, sizes))
    work = numbers["hidden"] ** 2 * CELLS[sizes.kind].gates  # multiplications for a row
    if batch >= OWN * settings.threads and settings.threads > 1:
        pool.parallel(code.address("sequences"), pool.arguments(*words.values()), -(-batch // OWN), max(1, SERIAL // (work * OWN * numbers["steps"])))
    else:
        words["grain"] = max(1, SERIAL * numbers["blocks"] // (work * min(batch, CHUNK)))
        pool.call(code.address("driver"), pool.arguments(*words.values()))


# -- machine code ----------------------------------------------------------------------------------------------------------------------


def _module(name: str, sizes: Sizes) -> str:
    module = Module()
    (_ForwardPart if name == "forward" else _BackwardPart)(module, sizes).write()
    _write_step(write_task(module, "step"))
    _write_sequences(write_task(module, "sequences"))
    _write_driver(module)
    return module.text()


def _write_step(task: Task) -> None:
    """Some parts of one step."""
    function = task.function
    now = [task.word(_PLACES[name]) for name in STEP]
    chunks = (now[1] + (CHUNK - 1)) / CHUNK
    with function.range(task.begin, task.end) as unit:
        block = unit / chunks
        first = (unit - block * chunks) * CHUNK
        function.call("part", [task.args, block, first, smaller(function, now[1] - first, CHUNK), now[0], now[2], now[3]])
    function.give_back()


def _write_sequences(task: Task) -> None:
    """All steps of some sequences."""
    function, number = task.function, task.word(_PLACES["blocks"])
    with function.range(task.begin, task.end) as unit, function.range(0, task.word(_PLACES["steps"])) as step:
        now = _numbers(task, step)
        rows = smaller(function, now[1] - unit * OWN, OWN)
        with function.when(rows > 0), function.range(0, number) as block:
            function.call("part", [task.args, block, unit * OWN, rows, now[0], now[2], now[3]])
    function.give_back()


def _numbers(task: Task, step: Value) -> list[Value]:
    """A row of the schedule."""
    place = task.function.offset(task.pointer(_PLACES["schedule"]), step * (8 * len(STEP)))
    return [task.function.load(I64, task.function.offset(place, 8 * k)) for k in range(len(STEP))]


def _write_driver(module: Module) -> None:
    """Step by step: every step waits for the one before."""
    module.declare(pool.PARALLEL)
    function = module.function("driver", (("args", POINTER),))
    task = Task(function, function.parameters[0], *(function.constant(I64, 0) for _ in range(3)))
    words = function.array(I64, len(WORDS))
    for place in range(len(WORDS) - len(STEP)):
        function.store(task.word(place), function.offset(words, 8 * place))
    with function.range(0, task.word(_PLACES["steps"])) as step:
        numbers = _numbers(task, step)
        for name, value in zip(STEP, numbers):
            function.store(value, function.offset(words, 8 * _PLACES[name]))
        units = task.word(_PLACES["blocks"]) * ((numbers[1] + (CHUNK - 1)) / CHUNK)
        function.call("saraph_parallel", [function.address_of("step"), words, units, task.word(_PLACES["grain"])])
    function.give_back()


class _Part(ABC):
    """Writes the function that does a part of a step: void part(args, block, first, rows, row, next_row, next_count)."""

    highest: int  # rows of a tile
    vectors: int  # vectors of a row of a tile
    column: Value  # the first hidden unit of a vector
    inside: Value  # the mask of those that there are

    def __init__(self, module: Module, sizes: Sizes) -> None:
        names = ("block", "first", "rows", "row", "next_row", "next_count")
        self.function = function = module.function("part", (("args", POINTER), *((name, I64) for name in names)))
        args, self.block, self.first, self.count, self.row, self.next_row, self.next_count = function.parameters
        self.task = Task(function, args, *(function.constant(I64, 0) for _ in range(3)))
        self.sizes, self.cell = sizes, CELLS[sizes.kind]
        self.lanes, self.element = sizes.lanes, sizes.product.total
        self.vector = self.element.vector(self.lanes)
        self.bytes = self.element.size
        self.hidden = self.word("hidden")

    def word(self, name: str) -> Value:
        """A word of the arguments."""
        return self.task.word(_PLACES[name])

    def pointer(self, name: str) -> Value:
        """A word that is an address."""
        return self.task.pointer(_PLACES[name])

    def at(self, name: str, row: Value, column: Value, columns: int = 1) -> Value:
        """The address of an element of an array with dense rows of so many times the hidden size."""
        return self.function.offset(self.pointer(name), (row * (self.hidden * columns) + column) * self.bytes)

    def load(self, pointer: Value) -> Value:
        """A vector of hidden units, as many as there are."""
        return load_part(self.function, self.vector, pointer, self.inside)

    def store(self, value: Value, pointer: Value) -> None:
        """Write a vector of hidden units."""
        store_part(self.function, value, pointer, self.inside)

    def write(self) -> None:
        """Tiles of nearly the same height, one below the other."""
        function = self.function
        self.sums = function.array(self.vector, self.highest * self.vectors)
        groups = (self.count + (self.highest - 1)) / self.highest
        base = self.count / groups
        more = self.count - base * groups  # of the tiles, those with one row more
        self.share()
        with function.range(0, groups) as group:
            self.rows(self.first + group * base + smaller(function, group, more), function.select(group < more, base + 1, base))
        function.give_back()

    @abstractmethod
    def share(self) -> None:
        """What all tiles share."""

    @abstractmethod
    def rows(self, first: Value, rows: Value) -> None:
        """A tile."""

    def sum_products(self, rows: Value, depth: Value, source: Value, step: Value, last: Value, panel: Value) -> None:
        """sums[row] = the products of the rows from `source` on, none beyond the row `last`, with a panel of weights."""
        for height in range(1, self.highest + 1):
            with self.function.when(rows.equals(height)):
                self._sum_tile(height, depth, source, step, last, panel)

    def _sum_tile(self, height: int, depth: Value, source: Value, step: Value, last: Value, panel: Value) -> None:
        function = self.function
        tile, width = micro.Tile(height, self.vectors, self.lanes), self.vectors * self.vector.size
        pointers = [function.offset(source, smaller(function, function.constant(I64, i), last) * step) for i in range(height)]
        totals = micro.accumulate(
            function, self.sizes.product, tile, depth, lambda k, i: function.offset(pointers[i], k * self.bytes),
            lambda k, j: function.load(self.vector, function.offset(panel, k * width + j * self.vector.size)))
        for i, line in enumerate(totals):
            for j, total in enumerate(line):
                function.store(total, self.sum_at(i, j))

    def sum_at(self, row: Value | int, j: int) -> Value:
        """Where a sum lies."""
        row = row if isinstance(row, Value) else self.function.constant(I64, row)
        return self.function.offset(self.sums, row * (self.vectors * self.vector.size) + j * self.vector.size)


class _ForwardPart(_Part):
    """A block has one vector of every gate."""

    def __init__(self, module: Module, sizes: Sizes) -> None:
        super().__init__(module, sizes)
        self.highest, self.vectors = sizes.forward_rows, self.cell.gates

    def share(self) -> None:
        function = self.function
        self.column = self.block * self.lanes
        self.inside = lanes_below(function, self.lanes, self.hidden - self.column)
        self.biases = [self.load(function.offset(self.pointer("bias"), (self.column + self.hidden * j) * self.bytes)) for j in range(self.vectors)]
        self.hidden_bias = self.load(function.offset(self.pointer("hidden_bias"), self.column * self.bytes)) if self.cell.extra else None

    def rows(self, first: Value, rows: Value) -> None:
        function, cell = self.function, self.cell
        begin, gates = self.row + first, self.cell.gates
        panel = function.offset(self.pointer("weights"), self.block * self.hidden * (gates * self.vector.size))
        self.sum_products(rows, self.hidden, self.at("before_h", begin, function.constant(I64, 0)), self.hidden * self.bytes, rows - 1, panel)
        with function.range(0, rows) as turn:
            row = begin + turn
            places = [function.offset(self.at("gates", row, self.column, gates), self.hidden * (j * self.bytes)) for j in range(gates)]
            from_input = [self.load(place) + bias for place, bias in zip(places, self.biases)]
            from_state = [function.load(self.vector, self.sum_at(turn, j)) for j in range(gates)]
            states = [self.load(self.at(name, row, self.column)) for name in ("before_h", "before_c")[:cell.states]]
            done = cell.forward(function, from_input, from_state, self.hidden_bias, states)
            for value, place in zip(done.gates, places):
                self.store(value, place)
            if done.extra is not None:
                self.store(done.extra, self.at("extra", row, self.column))
            number = first + turn  # of the sequence: after its last step the state is its last one
            goes_on = number < self.next_count
            for name, value in zip(("h", "c"), done.states):
                following = self.at(f"before_{name}", self.next_row + number, self.column)
                self.store(value, function.select(goes_on, following, self.at(f"last_{name}", number, self.column)))
            self.store(done.states[0], function.offset(self.pointer("out"), row * self.word("out_row") + self.column * self.bytes))


class _BackwardPart(_Part):
    """A block has two vectors of hidden units; its sums are what the next step's gates give back to the state."""

    def __init__(self, module: Module, sizes: Sizes) -> None:
        super().__init__(module, sizes)
        self.highest, self.vectors = sizes.backward_rows, 2

    def share(self) -> None:
        self.panel = self.function.offset(self.pointer("weights"), self.block * (self.hidden * self.cell.gates) * (2 * self.vector.size))

    def rows(self, first: Value, rows: Value) -> None:
        function, gates = self.function, self.cell.gates
        following, depth = self.next_count, self.hidden * gates
        with function.when(first < following):
            source = self.at("hidden_slopes", self.next_row + first, function.constant(I64, 0), gates)
            self.sum_products(rows, depth, source, depth * self.bytes, following - first - 1, self.panel)
        for j in range(2):
            self.column = (self.block * 2 + j) * self.lanes
            self.inside = lanes_below(function, self.lanes, self.hidden - self.column)
            with function.range(0, rows) as turn:
                self._row(first + turn, turn, j)

    def _row(self, number: Value, turn: Value, j: int) -> None:
        """One sequence's gradients at this step, for one vector of hidden units."""
        function, cell, gates = self.function, self.cell, self.cell.gates
        row = self.row + number
        given = self.load(function.offset(self.pointer("grad"), row * self.word("grad_row") + self.column * self.bytes))
        carried = [self.at(f"last_{name}", number, self.column) for name in "hc"[:cell.states]]
        grads = [self.load(place) for place in carried]
        back = function.select(number < self.next_count, function.load(self.vector, self.sum_at(turn, j)), 0.0)
        grads[0] = grads[0] + given + back
        values = [self.load(function.offset(self.at("gates", row, self.column, gates), self.hidden * (k * self.bytes))) for k in range(gates)]
        states = [self.load(self.at(f"before_{name}", row, self.column)) for name in "hc"[:cell.states]]
        extra = self.load(self.at("extra", row, self.column)) if cell.extra else None
        done = cell.backward(function, values, extra, states, grads)
        for name, slopes in (("slopes", done.slopes), ("hidden_slopes", done.hidden_slopes)):
            if name == "slopes" or cell.extra:
                for k, slope in enumerate(slopes):
                    self.store(slope, function.offset(self.at(name, row, self.column, gates), self.hidden * (k * self.bytes)))
        for value, place in zip(done.carried, carried):
            self.store(value, place)
