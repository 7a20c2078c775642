"""Indexing with positions that a mask may rule out, diagonals that are written, and joining in chunks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.ops.inplace import update
from saraph.ops.joining import constant_pad_nd
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import method, op
from saraph.shapes import wrap_dim
from saraph.tensor.tensor import Tensor


def _clamped(x: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The indices with every position within x: the mask says which of them count."""
    return [i if i is None else i.clamp(-n, n - 1) for i, n in zip(indices, x.shape)]


def _at(indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i for i in indices)


@op()
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any) -> Tensor:
    """input[indices] where `mask` is True, `fill` elsewhere; positions that are masked out may lie outside of the input."""
    x = check_tensor(input, "_unsafe_masked_index")
    return x[_at(_clamped(x, indices))].masked_fill(mask.logical_not(), fill)


@op()
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """input with `values` added at `indices` where `mask` is True; positions that are masked out may lie outside of the input."""
    x = check_tensor(input, "_unsafe_masked_index_put_accumulate")
    return x.index_put(_at(_clamped(x, indices)), values.masked_fill(mask.logical_not(), 0), accumulate=True)


@op()
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int, *, out: Tensor | None = None) -> Tensor:
    """Each tensor is padded with 0 along `dim` to a multiple of `num_chunks`, cut into that many pieces, each flattened from `dim` on; the pieces of
    all tensors are joined: (..., num_chunks, total)."""
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, got {num_chunks}")
    dim = wrap_dim(dim, tensors[0].dim())
    pieces = []
    for t in tensors:
        if t.numel() == 0:
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if dim >= t.dim():
            raise RuntimeError(f"_chunk_cat expects dim ({dim}) below the rank of every tensor, but one has shape {list(t.shape)}")
        if t.shape[:dim] != tensors[0].shape[:dim]:
            raise RuntimeError(f"_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors: {list(tensors[0].shape)} and {list(t.shape)}")
        missing = -t.shape[dim] % num_chunks
        padded = constant_pad_nd(t, (0, 0) * (t.dim() - dim - 1) + (0, missing)) if missing else t
        pieces.append(padded.reshape(*t.shape[:dim], num_chunks, -1))
    return cat(pieces, dim + 1)


def _with_diagonal(x: Tensor, fill_value: Any, wrap: bool) -> Tensor:
    """x (all sizes equal, or 2-d) with `fill_value` on its diagonal; `wrap`: of a tall matrix again and again, with a row between."""
    found = x.clone()
    rows = x.shape[0]
    step = sum(found.stride())
    count = min(x.shape)
    if x.dim() == 2 and wrap and rows > x.shape[1]:
        flat = found.contiguous().reshape(-1)
        flat[:: x.shape[1] + 1] = fill_value
        return flat.reshape(x.shape)
    found.as_strided((count,), (step,), found.storage_offset()).fill_(fill_value)
    return found


@method()
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write `fill_value` on the main diagonal: a matrix, or more dimensions of equal length."""
    if self.dim() < 2:
        raise RuntimeError(f"dimensions must larger than 1: fill_diagonal_ got a tensor of shape {list(self.shape)}")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length: fill_diagonal_ got {list(self.shape)}")
    return update(self, "fill_diagonal_", _with_diagonal, (fill_value, wrap), {})
