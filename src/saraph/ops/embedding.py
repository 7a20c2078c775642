"""Rows of a table by number: embedding and embedding_bag."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import SparseArray, of
from saraph.ops.gathering import _add_rows as add_rows
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import without_grad
from saraph.tensor.tensor import Tensor, bump, record, wrap

FUNCTIONAL = "nn.functional"


@derivative("EmbeddingBackward0")
def EmbeddingBackward(node: Any, g: Tensor) -> Tensor:
    index, padding = node.index, node.padding_idx
    flat = g.reshape(-1, node.shape[1])
    rows = wrap(index)
    if node.by_frequency:
        counts = rows.bincount(minlength=node.shape[0])
        flat = flat / counts[rows].to(flat.dtype).unsqueeze(1)
    if padding is not None:
        flat = flat.masked_fill((rows == padding).unsqueeze(1), 0)
    if node.sparse:
        kept = rows if padding is None else rows[rows != padding]
        values = flat.clone() if padding is None else flat[rows != padding]
        return wrap(SparseArray(kept.reshape(1, -1)._a, values._a, node.shape))
    return add_rows(flat, node.shape, 0, index)


def _check(name: str, input: Tensor, weight: Tensor) -> None:
    if check_tensor(input, name, "indices")._a.dtype.kind not in "iu" or input._a.dtype.itemsize < 4:
        raise RuntimeError(f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
                           f"{input.dtype!r} instead (while checking arguments for {name})")
    if weight.dim() != 2:
        raise RuntimeError(f"'weight' must be 2-D (got {list(weight.shape)} in {name})")
    if input._a.size and of(input._a).name == "cpu":
        low, high = int(input._a.min()), int(input._a.max())
        if low < 0 or high >= weight.shape[0]:
            raise IndexError(f"index out of range in self: {name} got the index {low if low < 0 else high} for a table of {weight.shape[0]} rows")


def _padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def _renormalize(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Rows that are used are scaled down, in place, to a p-norm of at most max_norm."""
    with without_grad():
        rows = input.reshape(-1).long().unique()
        used = weight.index_select(0, rows)
        norms = used.norm(norm_type, 1, keepdim=True)
        scale = (norms > max_norm).where(max_norm / (norms + 1e-7), norms.new_ones(()))
        weight._a[rows._a] = (used * scale)._a
        bump(weight)


@op(namespaces=FUNCTIONAL)
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """(*) row numbers -> (*, dim) rows of weight. The row `padding_idx` gets no gradient."""
    _check("embedding", input, weight)
    padding = _padding(padding_idx, weight.shape[0])
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    return _embed(weight, input, padding, scale_grad_by_freq, sparse)


def _embed(weight: Tensor, input: Tensor, padding: int | None, by_frequency: bool, sparse: bool) -> Tensor:
    index = input.reshape(-1).long()._a
    backend = of(weight._a, index)
    rows = backend.index_select(weight._a, 0, index)
    r = backend.reshape_view(rows, (*input._a.shape, weight._a.shape[1]))
    return record(r, EmbeddingBackward, (weight,), index=index, shape=weight._a.shape, padding_idx=padding, by_frequency=by_frequency, sparse=sparse)


@op(name="embedding")
def _torch_embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """`nn.functional.embedding` in the order of torch.embedding."""
    _check("embedding", indices, weight)
    return _embed(weight, indices, padding_idx if padding_idx >= 0 else None, scale_grad_by_freq, sparse)


@op(namespaces=FUNCTIONAL)
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
                  include_last_offset: bool = False, padding_idx: int | None = None) -> Tensor:
    """Sums, means or maxima of bags of rows: input (bags, n), or flat with `offsets` where each bag begins."""
    if weight.dtype.name in ("int64", "int32") and input.is_floating_point():
        raise ValueError("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and should "
                         "now be `embedding_bag(input, weight, ...)`.")
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it must have the same shape as the "
                         f"input ({tuple(input.shape)})")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}').")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.")
        count, length = input.shape
        starts = [i * length for i in range(count + 1)]
        flat = input.reshape(-1)
        per_sample_weights = per_sample_weights.reshape(-1) if per_sample_weights is not None else None
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts, flat = [int(o) for o in offsets.tolist()], input
        if starts and starts[0] != 0:
            raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got {starts[0]}")
        if starts and starts[-1] > flat.numel():
            raise RuntimeError(f"offsets[-1] can not be greater than input's length {flat.numel()} but got offsets[-1] of {starts[-1]}")
        if not include_last_offset:
            starts.append(flat.numel())
        elif not starts:
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    _check("embedding_bag", flat, weight)
    padding = _padding(padding_idx, weight.shape[0])
    if max_norm is not None:
        _renormalize(weight, flat, max_norm, norm_type)
    return _bags(flat, weight, starts, mode, per_sample_weights, padding, scale_grad_by_freq, sparse)


def _bags(flat: Tensor, weight: Tensor, starts: list[int], mode: str, samples: Tensor | None, padding: int | None, by_frequency: bool,
          sparse: bool) -> Tensor:
    count = len(starts) - 1
    rows = _embed(weight, flat, padding, by_frequency, sparse)
    kind = rows.dtype
    if mode != "max" and kind.itemsize < 4:  # sums of 16-bit numbers are kept in float32, and rounded once
        rows, samples = rows.float(), None if samples is None else samples.float()
    owner = [b for b in range(count) for _ in range(starts[b + 1] - starts[b])]
    bag = flat.new_tensor(owner).to(dtypes.int64)
    kept = None if padding is None else flat != padding
    if mode == "max":
        return _max_bags(rows, starts, kept)
    if samples is not None:
        rows = rows * samples.unsqueeze(1)
    if kept is not None:
        rows = rows.masked_fill(~kept.unsqueeze(1), 0)
    total = add_rows(rows, (count, weight.shape[1]), 0, bag._a)
    if mode == "mean":
        sizes = bag.bincount(minlength=count) if kept is None else bag[kept].bincount(minlength=count)
        total = total / sizes.clamp(min=1).to(total.dtype).unsqueeze(1)
    return total if total.dtype is kind else total.to(kind)


def _max_bags(rows: Tensor, starts: list[int], kept: Tensor | None) -> Tensor:
    found = []
    for a, b in zip(starts, starts[1:]):
        part = rows[a:b] if kept is None else rows[a:b][kept[a:b]]
        found.append(part.max(0)[0] if part.shape[0] else rows.new_zeros(rows.shape[1]))
    return cat([f.unsqueeze(0) for f in found]) if found else rows.new_zeros((0, rows.shape[1]))
