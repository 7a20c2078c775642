"""`torch.nn.attention.flex_attention`: attention whose scores a Python function changes, and block masks.

    def causal(b, h, q_idx, kv_idx): return q_idx >= kv_idx
    mask = create_block_mask(causal, B=None, H=None, Q_LEN=n, KV_LEN=n)
    y = flex_attention(q, k, v, block_mask=mask)

The functions are called once with index tensors that broadcast to (B, H, Q, KV), which computes what one call per score would.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from saraph import dtypes
from saraph.ops.creation import tensor
from saraph.ops.joining import constant_pad_nd
from saraph.ops.sequences import arange
from saraph.tensor.tensor import Tensor

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]
_DEFAULT_BLOCK = 128


class AuxRequest(NamedTuple):
    """What `flex_attention(return_aux=...)` should return beside the output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for: the logarithm of the sum of the exponentials, and the greatest score, per query (float32)."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Tensor:
    """The mask function that keeps everything."""
    return batch.new_ones((), dtype=dtypes.bool_) if isinstance(batch, Tensor) else tensor(True)


def _combined(masks: tuple[Callable, ...], name: str, start: bool) -> Callable:
    if not all(callable(m) for m in masks):
        raise RuntimeError(f"All inputs should be callable mask_mods: {masks}")

    def combined(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Tensor:
        found = b.new_full((), start, dtype=dtypes.bool_)
        for mask in masks:
            found = found & mask(b, h, q_idx, kv_idx) if start else found | mask(b, h, q_idx, kv_idx)
        return found

    combined.__name__ = name
    return combined


def and_masks(*mask_mods: Callable) -> Callable:
    """The mask function that keeps what all of these keep."""
    return _combined(mask_mods, "and_mask", True)


def or_masks(*mask_mods: Callable) -> Callable:
    """The mask function that keeps what any of these keeps."""
    return _combined(mask_mods, "or_mask", False)


def _places(sizes: tuple[int, ...]) -> list[Tensor]:
    """Index tensors of the dimensions, which broadcast to `sizes`."""
    return [arange(n, dtype=dtypes.int32).reshape([-1 if d == i else 1 for d in range(len(sizes))]) for i, n in enumerate(sizes)]


def create_mask(mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """A mask function as a bool tensor (B, H, Q_LEN, KV_LEN); a score function as a tensor of what it makes of zeros."""
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    code = getattr(mod_fn, "__code__", None)
    places = _places(sizes)
    if code is not None and code.co_argcount == 5:
        return mod_fn(tensor(0.0).expand(sizes), *places).expand(sizes).contiguous()
    return mod_fn(*places).expand(sizes).contiguous()


def _ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """(count, indices) of the True entries along the last dimension; the indices of the others follow."""
    order = dense.to(dtypes.int32).argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(dtypes.int32), order.to(dtypes.int32)


class BlockMask:
    """Which blocks of queries and keys attention looks at, and the mask function for the blocks that are kept in part."""

    seq_lengths: tuple[int, int]

    def __init__(self, seq_lengths: tuple[int, int], kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None,
                 full_kv_indices: Tensor | None = None, BLOCK_SIZE: tuple[int, int] = (_DEFAULT_BLOCK, _DEFAULT_BLOCK),
                 mask_mod: Callable = noop_mask):
        self.seq_lengths, self.kv_num_blocks, self.kv_indices = seq_lengths, kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.BLOCK_SIZE, self.mask_mod = BLOCK_SIZE, mask_mod
        self.q_num_blocks, self.q_indices = _ordered(self._dense(kv_num_blocks, kv_indices).transpose(-2, -1))
        self.full_q_num_blocks: Tensor | None = None
        self.full_q_indices: Tensor | None = None
        if full_kv_num_blocks is not None and full_kv_indices is not None:
            self.full_q_num_blocks, self.full_q_indices = _ordered(self._dense(full_kv_num_blocks, full_kv_indices).transpose(-2, -1))

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None, full_kv_indices: Tensor | None = None,
                       BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_BLOCK, mask_mod: Callable | None = None, seq_lengths: tuple[int, int] | None = None,
                       compute_q_blocks: bool = True) -> BlockMask:
        """A mask from, per row of blocks, the number and the indices of the blocks that are kept in part and (full_...) as a whole."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        lengths = seq_lengths or (kv_num_blocks.shape[-1] * size[0], kv_indices.shape[-1] * size[1])
        return cls(lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, size, mask_mod or noop_mask)  # type: ignore[arg-type]

    @staticmethod
    def _dense(count: Tensor, indices: Tensor) -> Tensor:
        live = arange(indices.shape[-1]) < count.unsqueeze(-1)
        return indices.new_zeros(indices.shape, dtype=dtypes.bool_).scatter(-1, indices.long(), live)

    def to_dense(self) -> Tensor:
        """Which blocks are looked at, as int32 (..., rows of blocks, columns of blocks)."""
        found = self._dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            found = found | self._dense(self.full_kv_num_blocks, self.full_kv_indices)
        return found.to(dtypes.int32)

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores the mask speaks of."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The share of blocks that are skipped, in percent."""
        looked_at = int(self.to_dense().sum()) * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100.0 * (1 - looked_at / max(self.numel(), 1))

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads or rows of blocks; the mask function is kept as it is."""
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1) if isinstance(i, int) and i != -1 else slice(-1, None) if isinstance(i, int) else i for i in index)
        parts = [None if t is None else t[index] for t in (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)]
        rows = min(parts[1].shape[-2] * self.BLOCK_SIZE[0], self.seq_lengths[0])  # type: ignore[union-attr]
        return BlockMask((rows, self.seq_lengths[1]), *parts, self.BLOCK_SIZE, self.mask_mod)  # type: ignore[arg-type, call-arg]

    def to(self, device: Any) -> BlockMask:
        """The mask on a device."""
        parts = [None if t is None else t.to(device) for t in (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)]
        return BlockMask(self.seq_lengths, *parts, self.BLOCK_SIZE, self.mask_mod)  # type: ignore[arg-type, call-arg]

    def keep(self, sizes: tuple[int, ...]) -> Tensor:
        """Which scores take part, as bool (broadcastable to `sizes` = (B, H, queries, keys))."""
        rows, columns = self.BLOCK_SIZE
        places = _places(sizes)

        def spread(blocks: Tensor) -> Tensor:
            return blocks.repeat_interleave(rows, -2).repeat_interleave(columns, -1)[..., : sizes[2], : sizes[3]]

        found = spread(self._dense(self.kv_num_blocks, self.kv_indices)) & self.mask_mod(*places)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            found = found | spread(self._dense(self.full_kv_num_blocks, self.full_kv_indices))
        return found

    def __repr__(self) -> str:
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, BLOCK_SIZE={self.BLOCK_SIZE}, mask_mod={name})"


def create_block_mask(mask_mod: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
                      BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_BLOCK, _compile: bool = False, separate_full_blocks: bool = True) -> BlockMask:
    """The block mask of a mask function `(b, h, q_idx, kv_idx) -> bool`. B or H None: the mask is the same for all batches or heads."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    dense = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    padded = constant_pad_nd(dense, (0, columns * size[1] - KV_LEN, 0, rows * size[0] - Q_LEN))
    counts = padded.reshape(*dense.shape[:2], rows, size[0], columns, size[1]).sum((3, 5))
    full = counts == size[0] * size[1]
    partial = (counts > 0) & ~full if separate_full_blocks else counts > 0
    count, indices = _ordered(partial)
    whole = _ordered(full) if separate_full_blocks else (None, None)
    return BlockMask((Q_LEN, KV_LEN), count, indices, *whole, size, mask_mod)  # type: ignore[arg-type, call-arg]


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    for t in (query, key, value):
        if t.dim() != 4:
            raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not query.dtype is key.dtype is value.dtype:
        raise ValueError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype!r}, key.dtype: "
                         f"{key.dtype!r}, and value.dtype: {value.dtype!r} instead.")
    if not enable_gqa and query.shape[-3] != key.shape[-3]:
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={query.shape[-3]} and Hkv={key.shape[-3]}. Try setting "
                         "enable_gqa=True for GQA.")
    if enable_gqa and query.shape[1] % key.shape[1]:
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={query.shape[1]} and Hkv={key.shape[1]}.")


def flex_attention(query: Tensor, key: Tensor, value: Tensor, score_mod: Callable | None = None, block_mask: BlockMask | None = None,
                   scale: float | None = None, enable_gqa: bool = False, return_lse: bool = False, kernel_options: Any = None, *,
                   return_aux: AuxRequest | None = None) -> Any:
    """softmax(score_mod(query key^T scale, b, h, q_idx, kv_idx)) value, over the scores that `block_mask` keeps: (B, H, L, E) -> (B, H, L, Ev).

    enable_gqa: fewer heads in key and value; return_lse: (output, logsumexp of the scores), or by `return_aux` as an AuxOutput. Rows without any
    score give 0.
    """
    _check(query, key, value, enable_gqa)
    if enable_gqa and key.shape[1] != query.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    wide = query.dtype if query.dtype is dtypes.float64 else dtypes.float32
    scores = query.to(wide).matmul(key.to(wide).transpose(-2, -1)) * factor
    sizes = tuple(scores.shape)
    if block_mask is not None and (block_mask.seq_lengths[0] < sizes[2] or block_mask.seq_lengths[1] < sizes[3]):
        raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={sizes[2]} and kv_len={sizes[3]}. "
                         "As the block mask was created for a smaller length than you're using it for, you likely need to create a new block mask.")
    if score_mod is not None:
        scores = score_mod(scores, *_places(sizes)).to(wide)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.keep(sizes), -math.inf)
    top = scores.detach().amax(-1, keepdim=True) if sizes[3] else scores.new_full((*sizes[:3], 1), -math.inf)
    powers = (scores - top.masked_fill(top == -math.inf, 0.0)).exp()
    total = powers.sum(-1, keepdim=True)
    found = (powers / total.masked_fill(total == 0, 1.0)).matmul(value.to(wide)).to(query.dtype)
    if not return_lse and return_aux is None:
        return found
    lse = scores.logsumexp(-1)
    if return_aux is None:
        return found, lse
    return found, AuxOutput(lse=lse if return_aux.lse else None, max_scores=top.squeeze(-1) if return_aux.max_scores else None)
