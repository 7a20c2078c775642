"""Walking along one row of numbers: the loops that row kernels share.

A row kernel is written once, as passes over a row ("the maximum of these terms", "the sum of those", "store that
everywhere"), and the sweep decides how the passes run: a short row is held in one vector register from the first pass
to the last; a long row is read in chunks, pass by pass.

The order of additions depends on the length of the row and on nothing else: not on strides, addresses, threads or the
width of the processor's vectors. A row is cut into blocks of BLOCK_CHUNKS chunks; element i of a block goes to lane
i % (elements of a chunk); lanes are folded in halves; the blocks' sums are added with compensation.
"""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from saraph.kernels.ir import I1, I32, I64, POINTER, Function, Type, Value
from saraph.kernels.vmath import maximum

#: Bytes that one turn of a loop takes from a row, and so the number of independent sums: enough to hide the latency of
#: an addition.
CHUNK_BYTES = 256
#: Chunks whose lanes are added up one after another before they are folded into one number.
BLOCK_CHUNKS = 128


class Part:
    """One vector's worth of a row: where it starts, and which lanes are within the row (None: all)."""

    __slots__ = ("index", "mask", "known", "values")

    def __init__(self, index: Value, mask: Value | None = None) -> None:
        self.index, self.mask = index, mask
        #: What is known to stand in a row at this part, so that it need not be loaded again.
        self.known: dict[Row, Value] = {}
        #: Room for what whoever walks the row has computed at this part.
        self.values: Any = None


class Row:
    """A row in memory: `stride` bytes between elements, or None when they lie side by side."""

    __slots__ = ("_function", "_vector", "_pointer", "_stride")

    def __init__(self, function: Function, vector: Type, pointer: Value, stride: Value | None) -> None:
        self._function, self._vector, self._pointer, self._stride = function, vector, pointer, stride

    def load(self, part: Part) -> Value:
        """The elements at `part`; zero in lanes beyond the end of the row."""
        if self not in part.known:
            part.known[self] = self._load(part)
        return part.known[self]

    def store(self, part: Part, value: Value) -> None:
        """Write the lanes that are within the row."""
        part.known[self] = value
        function, mask, align = self._function, part.mask, self._function.constant(I32, 1)
        if self._stride is not None:
            places = self._places(part, self._stride)
            function.effect("masked.scatter", [self._vector, places.type], [value, places, align, self._mask(part)])
        elif mask is None:
            function.store(value, self._start(part))
        else:
            function.effect("masked.store", [self._vector, POINTER], [value, self._start(part), align, mask])

    def at(self, index: Value) -> Value:
        """One element."""
        scalar = self._vector.vector(0)
        step = self._stride if self._stride is not None else self._function.constant(I64, scalar.size)
        return self._function.load(scalar, self._function.offset(self._pointer, index * step))

    def _load(self, part: Part) -> Value:
        function, mask, align = self._function, part.mask, self._function.constant(I32, 1)
        zero = function.constant(self._vector, 0.0)
        if self._stride is not None:
            places = self._places(part, self._stride)
            return function.intrinsic("masked.gather", [self._vector, places.type], self._vector,
                                      [places, align, self._mask(part), zero])
        if mask is None:
            return function.load(self._vector, self._start(part))
        return function.intrinsic("masked.load", [self._vector, POINTER], self._vector,
                                  [self._start(part), align, mask, zero])

    def _start(self, part: Part) -> Value:
        return self._function.offset(self._pointer, part.index, self._vector.scalar)

    def _places(self, part: Part, stride: Value) -> Value:
        """The address of each element, for rows with a stride."""
        index = self._function.counting(I64.like(self._vector)) + part.index
        return self._function.offset(self._pointer, index * stride)

    def _mask(self, part: Part) -> Value:
        return part.mask if part.mask is not None else self._function.constant(I1.like(self._vector), 1)


Term = Callable[[Part], Value]
Combine = Callable[[Value, Value], Value]


class Sweep(ABC):
    """Passes over the `length` elements of a row, `vector` of them at a time."""

    def __init__(self, function: Function, vector: Type, length: Value) -> None:
        self.function, self.vector, self.length = function, vector, length
        self.scalar = vector.vector(0)

    @abstractmethod
    def maximum(self, term: Term) -> Value:
        """The largest of the row's terms, as a scalar. A NaN is passed over; -inf when nothing is left."""

    @abstractmethod
    def reduce(self, term: Term, neutral: float, combine: Combine) -> Value:
        """The row's terms combined two and two, in any grouping; `neutral` for an empty row."""

    @abstractmethod
    def sum(self, term: Term) -> Value:
        """The sum of the row's terms, as a scalar; +0 for an empty row."""

    @abstractmethod
    def each(self, action: Callable[[Part], None]) -> None:
        """Do something for every part of the row."""

    def _within(self, part: Part, value: Value, otherwise: float) -> Value:
        """`value`, with `otherwise` in the lanes beyond the end of the row."""
        return value if part.mask is None else self.function.select(part.mask, value, otherwise)

    def _first_lanes(self, count: Value) -> Value:
        """The mask of the first `count` lanes; `count` may be more than there are."""
        lanes = self.vector.lanes
        count = self.function.select(count < lanes, count, lanes)
        return self.function.counting(I32.like(self.vector)) < self.function.convert("trunc", count, I32)

    def _fold(self, vectors: list[Value], combine: Combine) -> Value:
        """All lanes of all vectors into one scalar, by halves: first the vectors, then the lanes."""
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [combine(a, b) for a, b in zip(vectors[:half], vectors[half:], strict=True)]
        vector = vectors[0]
        while vector.type.lanes > 1:
            half = vector.type.lanes // 2
            low, high = (self.function.shuffle(vector, range(start, start + half)) for start in (0, half))
            vector = combine(low, high)
        return self.function.extract(vector, 0)

    def _add(self, a: Value, b: Value) -> Value:
        return a + b

    def _larger(self, a: Value, b: Value) -> Value:
        return maximum(self.function, a, b)


class ShortRow(Sweep):
    """A row of at most one vector: one part, whose values stay in registers between passes."""

    def __init__(self, function: Function, vector: Type, length: Value) -> None:
        super().__init__(function, vector, length)
        self._part = Part(function.constant(I64, 0), self._first_lanes(length))

    def maximum(self, term: Term) -> Value:
        numbers = maximum(self.function, term(self._part), -math.inf)  # a NaN becomes -inf
        return self._fold([self._within(self._part, numbers, -math.inf)], self._larger)

    def reduce(self, term: Term, neutral: float, combine: Combine) -> Value:
        return self._fold([self._within(self._part, term(self._part), neutral)], combine)

    def sum(self, term: Term) -> Value:
        # A long row's sum starts at +0, so that it is never -0; the same here.
        return self._fold([self._within(self._part, term(self._part), 0.0)], self._add) + 0.0

    def each(self, action: Callable[[Part], None]) -> None:
        action(self._part)


class LongRow(Sweep):
    """A row of any length. Whole chunks first, if the row lies side by side, then vector by vector under a mask."""

    def __init__(self, function: Function, vector: Type, length: Value, by_chunks: bool, cheap: bool = False) -> None:
        """`cheap`: the terms are so little code that the row's end may repeat it for every vector of a chunk."""
        super().__init__(function, vector, length)
        self._cheap = cheap and by_chunks
        self._chunk = CHUNK_BYTES // self.scalar.size
        self._vectors = self._chunk // vector.lanes
        self._by_chunks = by_chunks

    def maximum(self, term: Term) -> Value:
        zero = self.function.constant(I64, 0)
        return self._fold(self._accumulate(zero, self.length, term, -math.inf, self._larger), self._larger)

    def reduce(self, term: Term, neutral: float, combine: Combine) -> Value:
        zero = self.function.constant(I64, 0)
        return self._fold(self._accumulate(zero, self.length, term, neutral, combine), combine)

    def sum(self, term: Term) -> Value:
        function, block = self.function, self._chunk * BLOCK_CHUNKS
        total, lost = (function.variable(self.scalar, 0.0) for _ in range(2))
        with function.range(0, self.length, block) as start:
            stop = start + block
            stop = function.select(stop < self.length, stop, self.length)
            sums = self._accumulate(start, stop, term, 0.0, self._add)
            # Knuth's two-sum: what rounding takes from the total is kept beside it.
            before, more = total.get(), self._fold(sums, self._add)
            after = before + more
            taken = after - before
            lost.set(lost.get() + ((before - (after - taken)) + (more - taken)))
            total.set(after)
        missing = lost.get()
        usable = missing.equals(missing)  # NaN once the total is infinite; then the total stands as it is
        return function.select(usable, total.get() + missing, total.get())

    def each(self, action: Callable[[Part], None]) -> None:
        whole = self._whole_chunks(self.function.constant(I64, 0), self.length, lambda number, part: action(part))
        with self.function.range(whole, self.length, self.vector.lanes) as index:
            action(Part(index, self._first_lanes(self.length - index)))

    def _accumulate(self, start: Value, stop: Value, term: Term, neutral: float, combine: Combine) -> list[Value]:
        """The terms between two indices combined into one chunk of lanes, each vector of a chunk into its own."""
        function = self.function
        registers = [function.variable(self.vector, neutral) for _ in range(self._vectors)]

        def visit(number: int, part: Part) -> None:
            registers[number].set(combine(term(part), registers[number].get()))

        whole = self._whole_chunks(start, stop, visit)
        if self._cheap:
            for number, register in enumerate(registers):
                index = whole + number * self.vector.lanes
                part = Part(index, self._first_lanes(stop - index))
                register.set(combine(self._within(part, term(part), neutral), register.get()))
            return [register.get() for register in registers]
        # The rest goes through memory: there a vector's number can be computed, so that the terms are written once.
        places = function.array(self.vector, self._vectors)
        for number, register in enumerate(registers):
            function.store(register.get(), function.offset(places, number * self.vector.size))
        with function.range(whole, stop, self.vector.lanes) as index:
            part = Part(index, self._first_lanes(stop - index))
            place = function.offset(places, ((index - start) & (self._chunk - 1)) * self.scalar.size)
            value = self._within(part, term(part), neutral)
            function.store(combine(value, function.load(self.vector, place)), place)
        return [function.load(self.vector, function.offset(places, number * self.vector.size))
                for number in range(self._vectors)]

    def _whole_chunks(self, start: Value, stop: Value, visit: Callable[[int, Part], None]) -> Value:
        """Write `visit` for every vector of the whole chunks between two indices; gives the index after them."""
        if not self._by_chunks:
            return start
        whole = start + ((stop - start) & -self._chunk)
        with self.function.range(start, whole, self._chunk) as index:
            for number in range(self._vectors):
                visit(number, Part(index + number * self.vector.lanes))
        return whole
