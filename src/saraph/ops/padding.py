"""nn.functional.pad: by a constant, by reflection, by repeating the edge, or by wrapping around."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.ops.spatial import is_int, refuse
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

Pairs = tuple[tuple[int, int], ...]


def _node(name: str) -> Any:
    @derivative(name)
    def formula(node: Any, g: Tensor) -> Tensor:
        r = of(g._a).pad_edges_adjoint(g._a, node.sizes, node.pads, node.mode)
        return record(r, PadAdjointBackward, (g,), pads=node.pads, mode=node.mode)

    return formula


_NODES = {(mode, rank): _node(f"{name}{rank}DBackward0")
          for mode, name in (("reflect", "ReflectionPad"), ("replicate", "ReplicationPad"), ("circular", "CircularPad")) for rank in (1, 2, 3)}


@derivative("PadBackwardBackward0")
def PadAdjointBackward(node: Any, g: Tensor) -> Tensor:
    return _pad_edges(g, node.pads, node.mode)


def _pad_edges(x: Tensor, pads: Pairs, mode: str) -> Tensor:
    a = x._a
    return record(of(a).pad_edges(a, pads, mode), _NODES[mode, len(pads)], (x,), sizes=a.shape[a.ndim - len(pads):], pads=pads, mode=mode)


def _check_edges(x: Tensor, pads: Pairs, mode: str) -> None:
    rank, shape = len(pads), x._a.shape
    if rank not in (1, 2, 3) or len(shape) not in (rank + 1, rank + 2):
        raise NotImplementedError(f"Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: mode '{mode}' with {2 * rank} numbers "
                                  f"takes an input of {rank + 1} or {rank + 2} dimensions, got {list(shape)}")
    if 0 in shape[len(shape) - rank - 1:]:
        raise RuntimeError(f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
                           f"but got: {list(shape)}")
    if mode != "circular":
        refuse(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{rank}d", x, "fic")
    for d, (before, after) in enumerate(pads, len(shape) - rank):
        size = shape[d]
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at "
                               f"dimension {d} of input {list(shape)}")
        if mode == "circular":
            if before > size or after > size:
                raise RuntimeError(f"Padding value causes wrapping around more than once: ({before}, {after}) at dimension {d} of input {list(shape)}.")
            if size + before + after < 0:
                raise RuntimeError(f"Negative padding value is resulting in an empty dimension: ({before}, {after}) at dimension {d} of input "
                                   f"{list(shape)}.")
        elif size + before + after < 1:
            raise RuntimeError(f"input (size: {size} at dimension {d} of {list(shape)}) is too small: padding ({before}, {after}) leaves calculated output "
                               f"size {size + before + after}")


def _pad_constant(x: Tensor, pad: Sequence[int], value: Any) -> Tensor:
    return constant_pad_nd(x, pad, 0 if value is None else value)


def _pad_edges_checked(x: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    pads = tuple([(int(pad[i]), int(pad[i + 1])) for i in range(len(pad) - 2, -1, -2)])
    _check_edges(x, pads, mode)
    return _pad_edges(x, pads, mode)


@op(namespaces=(), autocast="float32")
def _edges(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """`pad` by reflection or repetition (which autocast runs in float32)."""
    return _pad_edges_checked(input, pad, mode)


@op(namespaces="nn.functional")
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """The last dimensions padded: `pad` is (before, after) of the last one, then of the one before it, ...; negative numbers crop.

    Modes: "constant" (with `value`, any number of dimensions), "reflect" (without repeating the edge), "replicate", "circular" (1 to 3 spatial
    dimensions of ([N,] C, *spatial)). RuntimeError or NotImplementedError for paddings that do not fit.
    """
    x = check_tensor(input, "pad")
    if not isinstance(pad, (tuple, list)) or not all(is_int(n) for n in pad):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {pad!r}")
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2 (got {len(pad)} numbers)")
    if mode == "constant":
        return _pad_constant(x, pad, value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}: use 'constant', 'reflect', 'replicate' or 'circular'")
    if value is not None and value != 0:
        raise ValueError(f"Padding mode \"{mode}\" doesn't take in value argument")
    return _pad_edges_checked(x, pad, mode) if mode == "circular" else _edges(x, pad, mode)
