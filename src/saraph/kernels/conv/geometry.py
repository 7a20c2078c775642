"""Where a convolution's windows lie: the same form for convolution and for the gradient of its input.

Both compute outputs from a strip of the input in scratch memory. An output of index `step * j + phase` takes the strip's elements `mul * j + offset`,
one for each tap of its phase. Convolution has one phase with all taps; the gradient of the input has as many as the stride, with the taps that
hit them. All is in three dimensions; those that are not there have size 1.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Ints = Sequence[int]


class Phase(NamedTuple):
    """Outputs start, start + step, ... of a dimension: `length` of them, and the taps they are made of with their offsets in the strip."""

    start: int
    length: int
    taps: tuple[tuple[int, int], ...]


class Dimension(NamedTuple):
    """One spatial dimension."""

    size: int  # of the input
    outputs: int
    step: int  # between outputs of one phase
    phases: tuple[Phase, ...]
    mul: int  # strip elements from one output of a phase to the next
    gap: int  # input elements from one strip element to the next
    origin: int  # input element that is the strip's first, for the first block
    advance: int  # input elements from the strip of one block of 1 to the next
    reach: int  # strip elements that one output reaches beyond its first

    @property
    def turns(self) -> int:
        """Values of j."""
        return -(-self.outputs // self.step)

    def strip(self, block: int) -> int:
        """Strip elements for `block` values of j."""
        return (block - 1) * self.mul + 1 + self.reach


def forward(size: int, outputs: int, kernel: int, stride: int, padding: int, dilation: int, skip: bool = True) -> Dimension:
    """Convolution along a dimension. `skip`: the strip may leave out elements that no window touches."""
    taps = tuple((t, t * dilation) for t in range(kernel))
    gap = stride if kernel == 1 and skip else 1
    mul = 1 if gap > 1 else stride
    return Dimension(size, outputs, 1, (Phase(0, outputs, taps),), mul, gap, -padding, stride, (kernel - 1) * dilation)


def backward(size: int, outputs: int, kernel: int, stride: int, padding: int, dilation: int) -> Dimension:
    """The gradient of a convolution's input: `size` is that of the convolution's output, `outputs` of its input."""
    phases = []
    for start in range(min(stride, outputs)):
        taps = [(t, (start + padding - t * dilation) // stride) for t in range(kernel) if (start + padding - t * dilation) % stride == 0]
        phases.append((start, taps))
    offsets = [offset for _, taps in phases for _, offset in taps]
    low, high = min(offsets, default=0), max(offsets, default=0)
    made = tuple(Phase(start, -(-(outputs - start) // stride), tuple((t, offset - low) for t, offset in taps)) for start, taps in phases)
    return Dimension(size, outputs, stride, made, 1, 1, low, 1, high - low)


class Blocks(NamedTuple):
    """How many images, and values of j in height and width, one unit of work has. Depth is always one."""

    images: int
    height: int
    width: int


def choose_blocks(images: int, dimensions: Sequence[Dimension], element_bytes: int, pixels: int, strip_bytes: int) -> Blocks:
    """Units of about `pixels` outputs whose strip fits into `strip_bytes`: a function of sizes alone."""
    depth, height, width = dimensions
    phases = height.step * width.step

    def room(block: Blocks) -> bool:
        made = block.images * block.height * block.width * phases
        strip = block.images * depth.strip(1) * height.strip(block.height) * width.strip(block.width) * element_bytes
        return made <= pixels and strip <= strip_bytes

    whole = Blocks(1, height.turns, width.turns)
    if room(whole):
        if depth.outputs > 1:
            return whole
        count = 1
        while count < images and room(whole._replace(images=count + 1)):
            count += 1
        return whole._replace(images=-(-images // -(-images // count)))
    rows = 1
    while rows < height.turns and room(Blocks(1, rows + 1, width.turns)):
        rows += 1
    if rows > 1 or room(Blocks(1, 1, width.turns)):
        return Blocks(1, -(-height.turns // -(-height.turns // rows)), width.turns)
    piece = width.turns
    while piece > 16 and not room(Blocks(1, 1, piece)):
        piece = -(-piece // 2)
    return Blocks(1, 1, piece)
