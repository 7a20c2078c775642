"""The backward pass of attention in tiles: the weights are made again from the scores and `lse` (attention.py), block by block.

    dq, dk, dv = attend_backward(grad, q, k, v, mask, causal, scale, out, lse)

A unit of work is a chunk of the keys of one head of k and v: it goes through all panels of queries of that head (or of its group of heads), adds
to its own rows of dk and dv, and writes its share of dq. Where there are heads enough for the threads a chunk is all keys, and the share is dq
itself; else the shares are added up in the order of the chunks.
"""
from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool, vmath
from saraph.kernels.attention import BLOCK, VECTORS, Form, Layout, Writer, arguments, layout, mask_kind, rounded, run
from saraph.kernels.copying import smaller
from saraph.kernels.ir import I1, Module, Value
from saraph.kernels.kernel import empty_in_order, memory_order
from saraph.kernels.lanes import combined
from saraph.kernels.walking import write_task

HEADS = 8  #: heads from which on keys are not cut into chunks
CHUNK = 256  #: the fewest keys in a chunk
#: Of a row of a tile: where the factor number (k, i) of the sums lies.
Factors = Callable[[Value], Callable[[Value, int], Value]]


def attend_backward(grad: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float,
                    out: np.ndarray, lse: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(dq, dk, dv), each laid out in memory as its input is. Arguments as in `attention.attend`; the last dimension of grad and out is dense."""
    batch, heads, length, size = q.shape
    groups, source, width = v.shape[1:]
    form = Form(q.dtype.name, mask_kind(mask), causal)
    shape = layout(form.dtype)
    dk, dv = (empty_in_order(x.shape, x.dtype, memory_order(x, 4)) for x in (k, v))
    chunks = 1 if batch * groups >= HEADS else min(-(-source // CHUNK), -(-HEADS // (batch * groups)))
    chunk = rounded(-(-source // chunks), BLOCK)
    chunks = -(-source // chunk)
    order = memory_order(q, 4)
    shares = [empty_in_order(q.shape, q.dtype, order)] if chunks == 1 else list(blocks.empty((chunks, *q.shape), q.dtype))
    room = _room(shape, size, width)
    scratch = blocks.empty((pool.slots() * room,), np.dtype(np.uint8))
    words = arguments(q, k, v, mask, scale, out=out, lse=lse, scratch=scratch, room=room, panels=-(-length // shape.panel), grad=grad, dq=shares[0],
                      dk=dk, dv=dv, chunks=chunks, chunk=chunk, dq_chunk=shares[0].nbytes)
    code = jit.kernel("attention gradient", form, functools.partial(_module, form))
    run(code.address("attend_backward"), words, batch * groups * chunks, heads // groups * length * chunk * (size + width))
    dq = shares[0]
    if chunks > 1:
        dq = empty_in_order(q.shape, q.dtype, order)
        np.add(shares[0], shares[1], out=dq)
        for share in shares[2:]:
            np.add(dq, share, out=dq)
    return dq, dk, dv


def _room(shape: Layout, size: int, width: int) -> int:
    """Bytes of scratch memory that a thread needs: queries, gradient, weights, gradient of the scores, mask, and the sums of rows."""
    lanes = shape.tile.lanes
    return (rounded(size, lanes) + rounded(width, lanes) + 3 * BLOCK + 1) * shape.panel * shape.element.size


def _module(form: Form) -> str:
    module = Module()
    _Backward(write_task(module, "attend_backward"), form).write()
    return module.text()


class _Backward(Writer):
    """The task of `attend_backward`."""

    def write(self) -> None:
        function, task, tile = self.function, self.task, self.tile
        size, width = self.word("size"), self.word("width")
        self.queries = self.own()
        self.grads = self.at(self.queries, self.padded(size, tile.lanes))
        self.weights = self.at(self.grads, self.padded(width, tile.lanes))
        self.slopes = self.at(self.weights, BLOCK)
        self.mask = self.at(self.slopes, BLOCK)
        self.products = self.at(self.mask, BLOCK)
        with function.range(task.begin, task.end) as unit:
            chunks, group = self.word("chunks"), self.word("group")
            over = unit / chunks
            chunk = unit - over * chunks
            groups = self.word("heads") / group
            batch = over / groups
            owner = over - batch * groups
            begin = chunk * self.word("chunk")
            end = smaller(function, begin + self.word("chunk"), self.word("source"))
            for name, count in (("dk", size), ("dv", width)):
                self._clear(self.place(name, batch, owner, begin), self.word(f"{name}_row"), end - begin, count)
            with function.range(0, group) as member:
                with function.range(0, self.word("panels")) as panel:
                    self._panel(batch, owner * group + member, owner, panel * self.shape.panel, chunk, begin, end)
        function.give_back()

    def _clear(self, target: Value, step: Value, rows: Value, columns: Value) -> None:
        function, lanes = self.function, self.tile.lanes
        with function.range(0, rows) as row:
            with function.range(0, columns, lanes) as column:
                place = function.offset(target, row * step + column * self.bytes)
                self.store_part(function.constant(self.vector, 0.0), place, self.lanes_below(columns - column))

    def _panel(self, batch: Value, head: Value, owner: Value, first: Value, chunk: Value, begin: Value, end: Value) -> None:
        """All blocks of the chunk for one panel of queries."""
        function, tile = self.function, self.tile
        size, width = self.word("size"), self.word("width")
        rows = smaller(function, self.word("length") - first, self.shape.panel)
        stop = smaller(function, end, first + rows) if self.form.causal else end
        share = function.offset(self.place("dq", batch, head, first), chunk * self.word("dq_chunk"))
        self._clear(share, self.word("dq_row"), rows, size)
        with function.when(begin < stop):
            query, grad = self.place("q", batch, head, first), self.place("grad", batch, head, first)
            self.pack(query, self.word("q_row"), rows, size, self.queries, self.load_numbers, self.scale())
            self.pack(grad, self.word("grad_row"), rows, width, self.grads, self.load_numbers)
            self._products(grad, self.place("out", batch, head, first), rows, width)
            table = function.offset(self.pointer("lse"), ((batch * self.word("heads") + head) * self.word("length") + first) * self.bytes)
            parts = [self.lanes_below(rows - j * tile.lanes) for j in range(VECTORS)]
            # Lanes without a query have an infinite sum: their weights are 0.
            sums = [self.load_part(self.vector, function.offset(table, j * self.vector.size), parts[j], float("inf")) for j in range(VECTORS)]
            products = [function.load(self.vector, self.at(self.products, 0, j)) for j in range(VECTORS)]
            with function.range(begin, stop, BLOCK) as key:
                count = smaller(function, stop - key, BLOCK)
                if self.form.mask:
                    self.pack_mask(batch, head, first, rows, key, count, self.mask)
                self._weights(batch, owner, first, key, count, stop, sums, products)
                for name, factors, lines, columns in (("dv", self.weights, "grad", width), ("dk", self.slopes, "q", size)):
                    self._add_products(self.place(name, batch, owner, key), self.word(f"{name}_row"), count, rows, columns,
                                       self._by_keys(factors), grad if lines == "grad" else query, self.word(f"{lines}_row"))
                self._add_products(share, self.word("dq_row"), rows, count, size, self._by_queries, self.place("k", batch, owner, key),
                                   self.word("k_row"))

    def _products(self, grad: Value, out: Value, rows: Value, width: Value) -> None:
        """The sum of grad * out of every row, one query a lane."""
        function, lanes = self.function, self.tile.lanes
        for j in range(VECTORS):
            function.store(function.constant(self.vector, 0.0), self.at(self.products, 0, j))
        grad_row, out_row = self.word("grad_row"), self.word("out_row")
        with function.range(0, rows) as row:
            total = function.variable(self.vector, 0.0)
            with function.range(0, width, lanes) as column:
                mask = self.lanes_below(width - column)
                a, b = (self.load_part(self.vector, function.offset(source, row * step + column * self.bytes), mask)
                        for source, step in ((grad, grad_row), (out, out_row)))
                total.set(function.fma(a, b, total.get()))
            function.store(combined(function, total.get(), lambda a, b: a + b), function.offset(self.products, row * self.bytes))

    def _weights(self, batch: Value, owner: Value, first: Value, begin: Value, count: Value, stop: Value, sums: list[Value],
                 products: list[Value]) -> None:
        """The block's weights, and the gradient of its scores times the scale."""
        function, tile = self.function, self.tile
        keys, values = self.place("k", batch, owner), self.place("v", batch, owner)
        with function.range(begin, begin + count, tile.rows) as key:
            tiles = self.score_tile(keys, self.word("k_row"), stop - 1, key, self.queries, self.word("size"), self.mask if self.form.mask else None,
                                    first, begin)
            for i, line in enumerate(tiles):
                for j, score in enumerate(line):
                    function.store(score - sums[j], self.at(self.weights, key - begin + i, j))
        with function.range(0, count) as row:
            for j in range(VECTORS):
                place = self.at(self.weights, row, j)
                function.store(vmath.exp(function, function.load(self.vector, place)), place)
        scale, step = self.scale(), self.word("v_row")
        with function.range(begin, begin + count, tile.rows) as key:
            totals = self.accumulate(self.word("width"), self.scalars(values, step, key, stop - 1), self.lanes_of(self.grads))
            for i, line in enumerate(totals):
                for j, total in enumerate(line):
                    weight = function.load(self.vector, self.at(self.weights, key - begin + i, j))
                    function.store(weight * (total - products[j]) * scale, self.at(self.slopes, key - begin + i, j))

    def _by_keys(self, factors: Value) -> Factors:
        """Rows are keys, and the sums run over queries."""
        return lambda row: lambda k, i: self.function.offset(self.at(factors, row + i), k * self.bytes)

    def _by_queries(self, row: Value) -> Callable[[Value, int], Value]:
        """Rows are queries, and the sums run over keys."""
        return lambda k, i: self.function.offset(self.at(self.slopes, k), (row + i) * self.bytes)

    def _add_products(self, target: Value, step: Value, rows: Value, depth: Value, columns: Value, factors: Factors, lines: Value,
                      line_step: Value) -> None:
        """target[row] += the sum over k of factors(row)(k) * lines[k]."""
        function, tile = self.function, self.tile
        with function.range(0, columns, tile.columns) as column:
            masks = [self.lanes_below(columns - column - j * tile.lanes) for j in range(VECTORS)]
            source = function.offset(lines, column * self.bytes)
            with function.range(0, rows, tile.rows) as row:
                places = [[function.offset(target, (row + i) * step + column * self.bytes + j * self.vector.size) for j in range(VECTORS)]
                          for i in range(tile.rows)]
                inside = [[masks[j] & function.lift(row + i < rows, I1.vector(tile.lanes)) for j in range(VECTORS)] for i in range(tile.rows)]
                start = [[self.load_part(self.vector, place, mask) for place, mask in zip(*both)] for both in zip(places, inside)]
                totals = self.accumulate(
                    depth, factors(row),
                    lambda k, j: self.load_part(self.vector, function.offset(source, k * line_step + j * self.vector.size), masks[j]), start)
                for line, targets, parts in zip(totals, places, inside):
                    for total, place, mask in zip(line, targets, parts):
                        self.store_part(total, place, mask)
