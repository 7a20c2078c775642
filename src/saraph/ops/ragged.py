"""Sequences of different lengths in one tensor."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record


@derivative("PadSequenceBackward0")
def PadSequenceBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    rows = g.unbind(0 if node.batch_first else 1)
    return tuple([promotion.cast(row.narrow(0, node.longest - length if node.left else 0, length), kind) if edge is not None else None
                  for row, edge, (length, kind) in zip(rows, node.edges, node.origins)])


@op(namespaces=())
def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Stack (length_i, *) tensors to (longest, batch, *) or (batch, longest, *), filled up with `padding_value`.

    Example: `pad_sequence([ones(2), ones(3)], batch_first=True)` is `[[1, 1, 0], [1, 1, 1]]`; the dtype is that of the first one.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("right", "left"):
        raise RuntimeError(f'padding_side must be "left" or "right", got "{padding_side}"')
    parts = list(sequences.unbind(0)) if isinstance(sequences, Tensor) else list(sequences)
    if not parts:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    arrays = []
    for p in parts:
        if not isinstance(p, Tensor):
            raise TypeError(f"pad_sequence: every sequence must be a Tensor, got {type(p).__name__}")
        arrays.append(p._a)
    shapes = {a.shape[1:] for a in arrays}
    if len(shapes) > 1 or not arrays[0].ndim:
        raise RuntimeError("The size of the sequences must match in all dimensions but the first (pad_sequence), and there must be at least one: "
                           f"got {sorted({tuple(a.shape) for a in arrays})}")
    left = padding_side == "left"
    longest = max([a.shape[0] for a in arrays])
    result = of(*arrays).pad_rows(arrays, longest, padding_value, batch_first, left)
    return record(result, PadSequenceBackward, tuple(parts), batch_first=batch_first, left=left, longest=longest,
                  origins=[(p._a.shape[0], p.dtype) for p in parts] if any(p._rg for p in parts) else None)
