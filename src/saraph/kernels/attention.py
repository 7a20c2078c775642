"""Attention in tiles: softmax(scale q k^T + mask) v without the matrix of scores.

Scores are kept with one query in every lane: a panel of queries is transposed once, and from then on a tile of scores is (keys, queries). Keys
and values are read where they lie, as scalars; the softmax runs down the keys, lane by lane, and never across lanes. A unit of work is a panel
of queries of one head, so that the order of every sum is given by the sizes alone.

    attend(q, k, v, mask, causal, scale)                    (out, lse); arrays (batch, heads, length, size), the last dimension dense
    attend_few(q, k, v, mask, causal, scale)                out alone, for a few queries: one unit a query, the lanes run along its size

`lse` is the logarithm of the sum of a row's exponentials, which is what the backward pass (attention_gradient.py) makes the weights from again.
Heads of q may be a multiple of those of k and v. Masks have any strides that broadcast: bool (false takes no part) or numbers to add.
"""
from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from saraph.kernels import blocks, emit, jit, pool, vmath
from saraph.kernels.copying import smaller, transposed
from saraph.kernels.gemm import micro
from saraph.kernels.ir import DOUBLE, I1, I8, I64, Function, Module, Type, Value, Variable
from saraph.kernels.kernel import empty_in_order, memory_order
from saraph.kernels.lanes import combined, lanes_below, load_part, store_part
from saraph.kernels.walking import Task, write_task

BLOCK = 64  #: keys that are looked at together
VECTORS = 2  #: vectors of queries in a panel
FEW = 8  #: queries up to which `attend_few` is the faster one
SERIAL = 1 << 17  #: multiplications below which work is not shared out
_INFINITE = -math.inf
_DOUBLE_BITS = struct.Struct("d")

#: Words of a task's arguments.
WORDS = ("q", "k", "v", "mask", "out", "lse", "scratch", "room", "panels", "heads", "group", "length", "source", "size", "width", "scale",
         "q_batch", "q_head", "q_row", "k_batch", "k_head", "k_row", "v_batch", "v_head", "v_row", "mask_batch", "mask_head", "mask_row",
         "out_batch", "out_head", "out_row", "grad", "dq", "dk", "dv", "chunks", "chunk", "dq_chunk",
         "grad_batch", "grad_head", "grad_row", "dq_batch", "dq_head", "dq_row", "dk_batch", "dk_head", "dk_row", "dv_batch", "dv_head", "dv_row")
_PLACES = {name: place for place, name in enumerate(WORDS)}


class Form(NamedTuple):
    """What the machine code of a call depends on."""

    dtype: str  # float32 or float64
    mask: str  # "", "bool" or "add"
    causal: bool
    stored: str = ""  # what q, k and v are stored as, if not as dtype


class Layout(NamedTuple):
    """Types and sizes for a form on this processor."""

    element: Type
    vector: Type
    tile: micro.Tile
    product: micro.Product

    @property
    def panel(self) -> int:
        """Queries in a panel."""
        return self.tile.columns


def layout(dtype: str) -> Layout:
    """Tiles of 8 keys (4 where there are only 16 registers) by two vectors of queries: sizes of heads are multiples of that."""
    product = micro.FLOAT64 if dtype == "float64" else micro.FLOAT32
    host = jit.host()
    tile = micro.Tile(8 if host.vector_registers >= 32 else 4, VECTORS, host.vector_bytes // product.total.size)
    return Layout(product.total, product.total.vector(tile.lanes), tile, product)


def rounded(count: int, step: int) -> int:
    """The next multiple."""
    return -(-count // step) * step


# -- calls ---------------------------------------------------------------------------------------------------------------------------


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(out, lse) of (batch, heads, length, size), (batch, fewer heads, source, size) and (batch, fewer heads, source, width); none is empty."""
    batch, heads, length, size = q.shape
    source, width = v.shape[2:]
    form = Form(q.dtype.name, mask_kind(mask), causal)
    shape = layout(form.dtype)
    out = empty_in_order((batch, heads, length, width), q.dtype, memory_order(q, 4))
    lse = np.empty((batch, heads, length), q.dtype)
    room = _forward_room(shape, size, width)
    scratch = blocks.empty((pool.slots() * room,), np.dtype(np.uint8))
    panels = -(-length // shape.panel)
    words = arguments(q, k, v, mask, scale, out=out, lse=lse, scratch=scratch, room=room, panels=panels)
    code = jit.kernel("attention", form, functools.partial(_module, form))
    run(code.address("attend"), words, batch * heads * panels, shape.panel * source * (size + width))
    return out, lse


def attend_few(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float) -> np.ndarray:
    """As `attend`, for a few queries. q, k and v may be of 16 bits: the result is float32 then (as is an additive mask)."""
    batch, heads, length, size = q.shape
    source, width = v.shape[2:]
    reduced = q.dtype.itemsize == 2
    form = Form("float32" if reduced else q.dtype.name, mask_kind(mask), causal, q.dtype.name if reduced else "")
    shape = layout(form.dtype)
    out = empty_in_order((batch, heads, length, width), np.dtype(form.dtype), memory_order(q, 4))
    room = rounded(source, shape.tile.lanes) * out.itemsize + 64
    scratch = blocks.empty((pool.slots() * room,), np.dtype(np.uint8))
    words = arguments(q, k, v, mask, scale, out=out, scratch=scratch, room=room, panels=length)
    code = jit.kernel("attention of few", form, functools.partial(_few_module, form))
    run(code.address("attend"), words, batch * heads * length, source * (size + width))
    return out


def run(task: int, words: list[int], units: int, work: int) -> None:
    """Share out units of so many multiplications."""
    pool.parallel(task, pool.arguments(*words), units, max(1, SERIAL // max(work, 1)))


def mask_kind(mask: np.ndarray | None) -> str:
    """The form's name for a mask."""
    return "" if mask is None else "bool" if mask.dtype == np.bool_ else "add"


def arguments(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, scale: float, **others: np.ndarray | int) -> list[int]:
    """The words of a call. An array among `others` gives its address, and its strides where there are words for them."""
    words = dict.fromkeys(WORDS, 0)
    arrays: dict[str, np.ndarray] = {"q": q, "k": k, "v": v}
    if mask is not None:
        arrays["mask"] = mask
    for name, value in others.items():
        if isinstance(value, int):
            words[name] = value
        else:
            arrays[name] = value
    for name, array in arrays.items():
        words[name] = blocks.address(array)
        for part, stride in zip(("batch", "head", "row"), array.strides, strict=False):
            if f"{name}_{part}" in words:
                words[f"{name}_{part}"] = stride
    bits = int.from_bytes(_DOUBLE_BITS.pack(scale), "little", signed=True)
    words.update(heads=q.shape[1], group=q.shape[1] // k.shape[1], length=q.shape[2], source=k.shape[2], size=q.shape[3], width=v.shape[3], scale=bits)
    return list(words.values())


def _forward_room(shape: Layout, size: int, width: int) -> int:
    """Bytes of scratch memory that a thread needs: queries, result, scores and mask, each with a query in every lane; then the inverse sums."""
    lanes, rows = shape.tile.lanes, shape.tile.rows
    count = rounded(size, lanes) + rounded(width, max(lanes, rows)) + 2 * BLOCK + 1
    return count * shape.panel * shape.element.size


# -- parts of a task -------------------------------------------------------------------------------------------------------------------


class Writer:
    """Writes the parts that forward and backward tasks are made of."""

    def __init__(self, task: Task, form: Form) -> None:
        self.task, self.form, self.function = task, form, task.function
        self.shape = layout(form.dtype)
        self.tile, self.vector, self.bytes = self.shape.tile, self.shape.vector, self.shape.element.size
        self.line = self.tile.columns * self.bytes  # bytes of a row with a query in every lane
        self.integers = I64.vector(self.tile.lanes)

    def word(self, name: str) -> Value:
        """A word of the arguments."""
        return self.task.word(_PLACES[name])

    def pointer(self, name: str) -> Value:
        """A word that is an address."""
        return self.task.pointer(_PLACES[name])

    def scale(self) -> Value:
        """The factor of the scores."""
        number = self.task.word(_PLACES["scale"], DOUBLE)
        return number if self.shape.element == DOUBLE else self.function.convert("fptrunc", number, self.shape.element)

    def place(self, name: str, batch: Value, head: Value, row: Value | int = 0) -> Value:
        """The address of a row of an array."""
        total = batch * self.word(f"{name}_batch") + head * self.word(f"{name}_head") + self.word(f"{name}_row") * row
        return self.function.offset(self.pointer(name), total)

    def own(self) -> Value:
        """This thread's scratch memory."""
        return self.function.offset(self.pointer("scratch"), self.task.slot * self.word("room"))

    def padded(self, count: Value, step: int) -> Value:
        """The next multiple of a power of two."""
        return (count + (step - 1)) & -step

    def lanes_below(self, count: Value) -> Value:
        """The mask of the first `count` lanes."""
        return lanes_below(self.function, self.tile.lanes, count)

    def load_part(self, kind: Type, pointer: Value, mask: Value, otherwise: float = 0) -> Value:
        """The lanes of the mask; the others are not touched in memory."""
        return load_part(self.function, kind, pointer, mask, otherwise)

    def store_part(self, value: Value, pointer: Value, mask: Value) -> None:
        """Write the lanes of the mask."""
        store_part(self.function, value, pointer, mask)

    def at(self, base: Value, row: Value | int, vector: int = 0) -> Value:
        """Where a vector of a row with a query in every lane lies."""
        row = row if isinstance(row, Value) else self.function.constant(I64, row)
        return self.function.offset(base, row * self.line + vector * self.vector.size)

    def pack(self, source: Value, step: Value, rows: Value, columns: Value, target: Value, load: Callable[[Value, Value], Value],
             factor: Value | None = None, bytes_of: int | None = None) -> None:
        """Up to a panel of rows, transposed: target[column][row]. Rows beyond the last are the last once more; `load` is given an address and
        the mask of the lanes that there are."""
        function, lanes = self.function, self.tile.lanes
        with function.range(0, function.constant(I64, self.shape.panel), lanes) as group:
            with function.range(0, columns, lanes) as column:
                mask = self.lanes_below(columns - column)
                lines = []
                for k in range(lanes):
                    row = smaller(function, group + k, rows - 1)
                    lines.append(load(function.offset(source, row * step + column * (bytes_of or self.bytes)), mask))
                for k, line in enumerate(transposed(function, lines)):
                    value = line if factor is None else line * factor
                    function.store(value, function.offset(target, (column + k) * self.line + group * self.bytes))

    def load_numbers(self, pointer: Value, mask: Value) -> Value:
        """A vector of numbers as they are stored."""
        return self.load_part(self.vector, pointer, mask)

    def load_mask(self, pointer: Value, mask: Value) -> Value:
        """A vector of a mask, as something to add to scores; -inf in lanes beyond it."""
        function = self.function
        if self.form.mask == "add":
            return self.load_part(self.vector, pointer, mask, _INFINITE)
        chosen = self.load_part(I8.vector(self.tile.lanes), pointer, mask).differs(0)
        return function.select(chosen, function.constant(self.vector, 0.0), _INFINITE)

    def mask_bytes(self) -> int:
        """Bytes of an element of the mask."""
        return self.bytes if self.form.mask == "add" else 1

    def pack_mask(self, batch: Value, head: Value, first: Value, rows: Value, key: Value, count: Value, target: Value) -> None:
        """The mask of a block of scores, with a query in every lane."""
        source = self.function.offset(self.place("mask", batch, head, first), key * self.mask_bytes())
        self.pack(source, self.word("mask_row"), rows, count, target, self.load_mask, bytes_of=self.mask_bytes())

    def scalars(self, source: Value, step: Value, first: Value, last: Value) -> Callable[[Value, int], Value]:
        """For `accumulate`: element k of the rows from `first`, none beyond the row `last`."""
        function = self.function
        rows = [function.offset(source, smaller(function, first + i, last) * step) for i in range(self.tile.rows)]
        return lambda k, i: function.offset(rows[i], k * self.bytes)

    def lanes_of(self, base: Value) -> Callable[[Value, int], Value]:
        """For `accumulate`: vector j of row k of what has a query in every lane."""
        return lambda k, j: self.function.load(self.vector, self.at(base, k, j))

    def accumulate(self, depth: Value, a_at: Callable[[Value, int], Value], b_at: Callable[[Value, int], Value],
                   start: list[list[Value]] | None = None) -> list[list[Value]]:
        """A tile of sums of products."""
        return micro.accumulate(self.function, self.shape.product, self.tile, depth, a_at, b_at, start)

    def score_tile(self, keys: Value, step: Value, last: Value, key: Value, queries: Value, size: Value, mask: Value | None, first: Value,
                   begin: Value) -> list[list[Value]]:
        """Scores of the tile's keys (from `key` on) and the panel's queries (from `first` on); `mask` holds the block's from key `begin` on."""
        function = self.function
        start = None
        if mask is not None:
            start = [[function.load(self.vector, self.at(mask, key - begin + i, j)) for j in range(VECTORS)] for i in range(self.tile.rows)]
        totals = self.accumulate(size, self.scalars(keys, step, key, last), self.lanes_of(queries), start)
        if not self.form.causal:
            return totals
        numbers = [function.counting(self.integers) + (first + j * self.tile.lanes) for j in range(VECTORS)]
        return [[function.select(numbers[j] >= key + i, totals[i][j], _INFINITE) for j in range(VECTORS)] for i in range(self.tile.rows)]


def finite(function: Function, value: Value) -> Value:
    """0 in place of minus infinity: what is subtracted from scores that are all minus infinity."""
    return function.select(value.equals(_INFINITE), 0.0, value)


# -- the forward pass ------------------------------------------------------------------------------------------------------------------


def _module(form: Form) -> str:
    module = Module()
    _Forward(write_task(module, "attend"), form).write()
    return module.text()


class _Forward(Writer):
    """The task of `attend`."""

    def write(self) -> None:
        function, task = self.function, self.task
        with function.range(task.begin, task.end) as unit:
            panels = self.word("panels")
            over = unit / panels
            batch, head = over / self.word("heads"), over - over / self.word("heads") * self.word("heads")
            self._panel(batch, head, (unit - over * panels) * self.shape.panel)
        function.give_back()

    def _panel(self, batch: Value, head: Value, first: Value) -> None:
        function, tile = self.function, self.tile
        length, source, size, width = (self.word(name) for name in ("length", "source", "size", "width"))
        group = head / self.word("group")
        rows = smaller(function, length - first, self.shape.panel)
        queries = self.own()
        result = self.at(queries, self.padded(size, tile.lanes))
        scores = self.at(result, self.padded(width, max(tile.lanes, tile.rows)))
        mask = self.at(scores, BLOCK)
        inverse = self.at(mask, BLOCK)
        self.pack(self.place("q", batch, head, first), self.word("q_row"), rows, size, queries, self.load_numbers, self.scale())
        with function.range(0, self.padded(width, tile.rows)) as row:
            for j in range(VECTORS):
                function.store(function.constant(self.vector, 0.0), self.at(result, row, j))
        keys, values = self.place("k", batch, group), self.place("v", batch, group)
        largest = [function.variable(self.vector, _INFINITE) for _ in range(VECTORS)]
        sums = [function.variable(self.vector, 0.0) for _ in range(VECTORS)]
        stop = smaller(function, source, first + rows) if self.form.causal else source
        with function.range(0, stop, BLOCK) as begin:
            count = smaller(function, stop - begin, BLOCK)
            if self.form.mask:
                self.pack_mask(batch, head, first, rows, begin, count, mask)
            following = [function.variable(self.vector, best.get()) for best in largest]
            with function.range(begin, begin + count, tile.rows) as key:
                tiles = self.score_tile(keys, self.word("k_row"), stop - 1, key, queries, size, mask if self.form.mask else None, first, begin)
                for i, line in enumerate(tiles):
                    for j, score in enumerate(line):
                        function.store(score, self.at(scores, key - begin + i, j))
                        following[j].set(vmath.maximum(function, score, following[j].get()))
            base = [finite(function, best.get()) for best in following]
            factors = [vmath.exp(function, best.get() - low) for best, low in zip(largest, base)]
            self._weights(scores, count, base, sums, factors)
            for best, new in zip(largest, following):
                best.set(new.get())
            self._blend(values, begin, count, width, scores, result, factors)
        self._finish(batch, head, first, rows, width, result, inverse, largest, sums)

    def _weights(self, scores: Value, count: Value, base: list[Value], sums: list[Variable], factors: list[Value]) -> None:
        """Scores become exponentials; the sums of the block are added to those before it."""
        function = self.function
        parts = [function.variable(self.vector, 0.0) for _ in range(VECTORS)]
        with function.range(0, count) as row:
            for j in range(VECTORS):
                place = self.at(scores, row, j)
                weight = vmath.exp(function, function.load(self.vector, place) - base[j])
                function.store(weight, place)
                parts[j].set(parts[j].get() + weight)
        for total, part, factor in zip(sums, parts, factors):
            total.set(total.get() * factor + part.get())

    def _blend(self, values: Value, begin: Value, count: Value, width: Value, weights: Value, result: Value, factors: list[Value]) -> None:
        """result = result * factors + values^T weights, with a query in every lane."""
        function, tile = self.function, self.tile
        step = self.word("v_row")
        block = function.offset(values, begin * step)
        with function.range(0, width, tile.rows) as column:
            columns = [function.offset(block, smaller(function, column + i, width - 1) * self.bytes) for i in range(tile.rows)]
            start = [[function.load(self.vector, self.at(result, column + i, j)) * factors[j] for j in range(VECTORS)] for i in range(tile.rows)]
            totals = self.accumulate(count, lambda k, i: function.offset(columns[i], k * step), self.lanes_of(weights), start)
            for i, line in enumerate(totals):
                for j, total in enumerate(line):
                    function.store(total, self.at(result, column + i, j))

    def _finish(self, batch: Value, head: Value, first: Value, rows: Value, width: Value, result: Value, inverse: Value, largest: list[Variable],
                sums: list[Variable]) -> None:
        """Divide by the sums, transpose into place, and keep the logarithms of the sums."""
        function, lanes = self.function, self.tile.lanes
        table = function.offset(self.pointer("lse"), ((batch * self.word("heads") + head) * self.word("length") + first) * self.bytes)
        for j in range(VECTORS):
            total, best = sums[j].get(), largest[j].get()
            share, logarithm = function.constant(self.vector, 1.0) / total, best + vmath.log(function, total)
            if self.form.mask:  # a row that may look at nothing gives 0
                nothing = total.equals(0.0)
                share = function.select(nothing, 0.0, share)
                logarithm = function.select(nothing, math.inf, logarithm)
            function.store(share, self.at(inverse, 0, j))
            self.store_part(logarithm, function.offset(table, j * self.vector.size), self.lanes_below(rows - j * lanes))
        target, step = self.place("out", batch, head, first), self.word("out_row")
        with function.range(0, rows, lanes) as group:
            share = function.load(self.vector, function.offset(inverse, group * self.bytes))
            with function.range(0, width, lanes) as column:
                mask = self.lanes_below(width - column)
                lines = [function.load(self.vector, function.offset(result, (column + k) * self.line + group * self.bytes)) * share for k in range(lanes)]
                for k, line in enumerate(transposed(function, lines)):
                    inside = mask & function.lift(group + k < rows, I1.vector(lanes))
                    self.store_part(line, function.offset(target, (group + k) * step + column * self.bytes), inside)


# -- few queries -----------------------------------------------------------------------------------------------------------------------


def _few_module(form: Form) -> str:
    module = Module()
    _Few(write_task(module, "attend"), form).write()
    return module.text()


class _Few(Writer):
    """The task of `attend_few`: the scores of one query lie side by side in scratch memory."""

    def __init__(self, task: Task, form: Form) -> None:
        super().__init__(task, form)
        self.stored = form.stored or form.dtype
        self.memory = emit.MEMORY[self.stored].vector(self.tile.lanes)

    def write(self) -> None:
        function, task, source = self.function, self.task, self.word("source")
        with function.range(task.begin, task.end) as unit:
            length, heads = self.word("length"), self.word("heads")
            over = unit / length
            row, batch = unit - over * length, over / heads
            head = over - batch * heads
            group = head / self.word("group")
            stop = smaller(function, source, row + 1) if self.form.causal else source
            best = self._scores(batch, head, group, row, stop)
            total = self._exponentials(stop, finite(function, best))
            share = function.constant(self.shape.element, 1.0) / total
            if self.form.mask:
                share = function.select(total.equals(0.0), 0.0, share)
            self._blend(self.place("v", batch, group), self.place("out", batch, head, row), stop, share)
        function.give_back()

    def load_stored(self, pointer: Value, mask: Value) -> Value:
        """A vector of numbers as they are stored, as what is computed with."""
        return emit.convert(self.function, self.load_part(self.memory, pointer, mask), self.stored, self.form.dtype)

    def _scores(self, batch: Value, head: Value, group: Value, row: Value, stop: Value) -> Value:
        """Fill in the scores, -inf behind the last; gives the largest."""
        function, lanes, size, bytes_of = self.function, self.tile.lanes, self.word("size"), self.memory.vector(0).size
        query, keys, step, scale = self.place("q", batch, head, row), self.place("k", batch, group), self.word("k_row"), self.scale()
        places = self.own()
        largest = function.variable(self.vector, _INFINITE)
        with function.range(0, stop, lanes) as key:
            rows = [function.offset(keys, smaller(function, key + k, stop - 1) * step) for k in range(lanes)]
            sums = [function.variable(self.vector, 0.0) for _ in rows]
            with function.range(0, size, lanes) as column:
                mask = self.lanes_below(size - column)
                part = self.load_stored(function.offset(query, column * bytes_of), mask)
                for total, line in zip(sums, rows):
                    total.set(function.fma(self.load_stored(function.offset(line, column * bytes_of), mask), part, total.get()))
            lines = transposed(function, [total.get() for total in sums])
            while len(lines) > 1:
                lines = [a + b for a, b in zip(lines[::2], lines[1::2])]
            mask = self.lanes_below(stop - key)
            score = lines[0] * scale
            if self.form.mask:
                score = score + self.load_mask(function.offset(self.place("mask", batch, head, row), key * self.mask_bytes()), mask)
            score = function.select(mask, score, _INFINITE)
            function.store(score, function.offset(places, key * self.bytes))
            largest.set(vmath.maximum(function, score, largest.get()))
        return combined(function, largest.get(), lambda a, b: vmath.maximum(function, a, b))

    def _exponentials(self, stop: Value, base: Value) -> Value:
        """Scores become exponentials; gives their sum."""
        function = self.function
        total = function.variable(self.vector, 0.0)
        with function.range(0, stop, self.tile.lanes) as key:
            place = function.offset(self.own(), key * self.bytes)
            weight = vmath.exp(function, function.load(self.vector, place) - base)
            function.store(weight, place)
            total.set(total.get() + weight)
        return combined(function, total.get(), lambda a, b: a + b)

    def _blend(self, values: Value, target: Value, stop: Value, share: Value) -> None:
        """The sum of values times weights, four vectors of it at a time; even and odd keys apart, to keep the processor busy."""
        function, lanes, width, step = self.function, self.tile.lanes, self.word("width"), self.word("v_row")
        bytes_of, weights, count = self.memory.vector(0).size, self.own(), 4
        with function.range(0, width, count * lanes) as column:
            masks = [self.lanes_below(width - column - j * lanes) for j in range(count)]
            base = function.offset(values, column * bytes_of)
            sums = [[function.variable(self.vector, 0.0) for _ in range(count)] for _ in range(2)]

            def add(key: Value, turn: int) -> None:
                weight = function.load(self.shape.element, function.offset(weights, (key + turn) * self.bytes))
                for j in range(count):
                    value = self.load_stored(function.offset(base, (key + turn) * step + j * lanes * bytes_of), masks[j])
                    sums[turn][j].set(function.fma(value, weight, sums[turn][j].get()))

            whole = stop & -2
            with function.range(0, whole, 2) as key:
                add(key, 0)
                add(key, 1)
            with function.range(whole, stop) as key:
                add(key, 0)
            for j in range(count):
                total = (sums[0][j].get() + sums[1][j].get()) * share
                self.store_part(total, function.offset(target, column * self.bytes + j * lanes * self.bytes), masks[j])
