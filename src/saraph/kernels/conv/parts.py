"""What the tasks of convolution share: their words, the strip of the input, panels."""
from __future__ import annotations

import copy
from collections.abc import Sequence

from saraph.kernels import pool
from saraph.kernels.conv.moving import clear, larger, smaller
from saraph.kernels.ir import I1, I64, POINTER, Function, Module, Type, Value

#: What describes a strip: see `write_stage`.
STRIP = ("x", "x_n", "x_d", "x_h", "x_w", "x_c", "size_d", "size_h", "size_w", "gap_d", "gap_h", "gap_w", "strip_d", "strip_h", "strip_w",
         "pitch", "strip_row", "strip_image", "channels", "stage", "scratch", "scratch_slot")
#: Ways to make a strip: channels are rows of the source, or lie side by side, or the strip is the input itself, or two rows make a row of pairs.
TRANSPOSE, COPY, DIRECT, PAIRS = range(4)


class Writer:
    """A task being written, with names for its words."""

    def __init__(self, module: Module, name: str, words: Sequence[str], pairs: bool = False) -> None:
        self.pairs = pairs
        self.function: Function = module.function(name, pool.TASK)
        self.args, self.begin, self.end, self.slot = self.function.parameters
        self._index = {word: index for index, word in enumerate(words)}

    def word(self, name: str, type: Type = I64) -> Value:
        return self.function.load(type, self.function.offset(self.args, 8 * self._index[name]))

    def pointer(self, name: str) -> Value:
        return self.word(name, POINTER)

    def prefixed(self, prefix: str, names: Sequence[str]) -> Writer:
        """The same task, where these names stand for the words with the prefix."""
        other = copy.copy(self)
        other._index = {**self._index, **{name: self._index[prefix + name] for name in names}}
        return other

    def split(self, number: Value, *names: str) -> list[Value]:
        """The digits of a number whose base is the word of each name; what is left over comes first."""
        digits: list[Value] = []
        for name in reversed(names):
            base = self.word(name)
            quotient = number / base
            digits.insert(0, number - quotient * base)
            number = quotient
        return [number, *digits]

    def scratch(self) -> Value:
        """This slot's scratch memory."""
        return self.function.offset(self.pointer("scratch"), self.slot * self.word("scratch_slot"))


def write_stage(w: Writer, first: Value, images: Value, at: Sequence[Value], channel: Value, channels: Value, size: int) -> Value:
    """Lay the input in a strip: from those coordinates on (negative ones are padding), zeros around it, channels innermost. The strip's address.

    `size` is that of an element.
    """
    function, (depth, height, width) = w.function, at
    start = function.offset(w.pointer("x"), first * w.word("x_n") + channel * w.word("x_c"))
    place = function.variable(POINTER, start)
    direct = w.word("stage").equals(DIRECT)

    def use() -> None:
        place.set(function.offset(start, depth * w.word("x_d") + height * w.word("x_h") + width * w.word("x_w")))

    def lay() -> None:
        strip = w.scratch()
        place.set(strip)
        lay_rows(w, start, strip, images, at, channel, channels, size)

    function.either(direct, use, lay)
    return place.get()


def lay_rows(w: Writer, start: Value, strip: Value, images: Value, at: Sequence[Value], channel: Value, channels: Value, size: int,
             border: Value | None = None) -> None:
    """Lay channels from `channel` on, which begin at `start`, in the strip; the zeros around too, unless `border` is false."""
    depth, height, width = at
    function, pitch, length, gap = w.function, w.word("pitch"), w.word("strip_w"), w.word("gap_w")
    left = smaller(function, larger(function, (0 - width + gap - 1) / gap, 0), length)
    right = smaller(function, larger(function, (w.word("size_w") - width + gap - 1) / gap, left), length)
    none = function.constant(I64, 0)
    with function.range(none, images) as image, function.range(none, w.word("strip_d")) as d, function.range(none, w.word("strip_h")) as h:
        row = function.offset(strip, image * w.word("strip_image") + (d * w.word("strip_h") + h) * w.word("strip_row"))
        at_d, at_h = depth + d * w.word("gap_d"), height + h * w.word("gap_h")
        inside = at_d.below(w.word("size_d")) & at_h.below(w.word("size_h"))
        stop = function.select(inside, right, left)
        wanted = function.constant(I1, 1) if border is None else border
        with function.when(wanted):
            clear(function, row, left * pitch)
            clear(function, function.offset(row, stop * pitch), (length - stop) * pitch)
        with function.when(stop > left):
            source = function.offset(start, image * w.word("x_n") + at_d * w.word("x_d") + at_h * w.word("x_h") + (width + left * gap) * w.word("x_w"))
            target = function.offset(row, left * pitch)
            rows = (source, w.word("x_c"), target, pitch, channels, stop - left)
            stage = w.word("stage")
            with function.when(stage.equals(TRANSPOSE)):
                function.call("transpose", rows)
            with function.when(stage.equals(COPY)):
                function.call("copy", (source, w.word("x_w") * gap, target, pitch, stop - left, channels * size))
            if w.pairs:
                with function.when(stage.equals(PAIRS)):
                    function.call("pair", (*rows, w.word("x_partner"), w.word("x_partners") - channel))
