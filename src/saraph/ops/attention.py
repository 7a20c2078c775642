"""Attention (Vaswani et al. 2017)."""
from __future__ import annotations

import math
import warnings
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED
from saraph.errors import describe
from saraph.ops.dropout import dropout
from saraph.ops.joining import constant_pad_nd
from saraph.ops.matmul import linear
from saraph.ops.movement import cat
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, record_many, unpack, wrap

FUNCTIONAL = "nn.functional"


def _causal(query: Tensor, rows: int, columns: int) -> Tensor:
    return query.new_ones((rows, columns)).bool().tril()


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf) if mask.dtype.name == "bool" else scores + mask


@op(namespaces=FUNCTIONAL, autocast="lower")
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    """softmax(query key^T scale + mask) value: (..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev).

    attn_mask: bool (True takes part) or added to the scores; is_causal: lower triangle; scale: default 1 / sqrt(E); enable_gqa: fewer heads in key and value.
    """
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() < 2:
            raise RuntimeError(f"Expected query, key, and value to all be at least 2 dimensional, but got {name}.dim: {t.dim()} instead.")
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype!r} key.dtype: {key.dtype!r} and "
                           f"value.dtype: {value.dtype!r} instead.")
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and attn_mask.dtype.name != "bool" and attn_mask.dtype is not query.dtype:
        raise RuntimeError(f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {attn_mask.dtype!r} and  "
                           f"query.dtype: {query.dtype!r} instead.")
    if enable_gqa and query.dim() > 2:
        heads = query.shape[-3]
        if heads % key.shape[-3] or heads % value.shape[-3]:
            raise RuntimeError(f"Number of heads in key and value must divide the number of heads in query: {describe(query, key, value)}")
    if dropout_p == 0.0 and _one_call(query, key, value, attn_mask, enable_gqa):
        found = _fused(query, key, value, attn_mask, is_causal, scale)
        if found is not None:
            return found
    return _definition(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _one_call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, grouped: bool) -> bool:
    """Whether the operands are such that the backend's own attention serves: floats, equal batches, a mask that needs no gradient."""
    q, k, v = query._a.shape, key._a.shape, value._a.shape
    if q[-1] != k[-1] or k[-2] != v[-2] or not query.is_floating_point() or (mask is not None and (mask._rg and thread.grad or mask.dim() > len(q))):
        return False
    if k[:-2] != v[:-2] or (k[:-2] != q[:-2] and not (grouped and len(q) > 2 and k[:-3] == q[:-3])):
        return False
    return mask is None or all(m in (1, n) for m, n in zip(reversed(mask._a.shape), (k[-2], q[-2], *reversed(q[:-2])), strict=False))


def _fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None) -> Tensor | None:
    """Attention by one primitive; None where the backend has none for this dtype."""
    q, k, v = query._a, key._a, value._a
    recorded = thread.grad and bool(query._rg or key._rg or value._rg)
    if recorded and query._a.dtype in REDUCED:
        wide = None if mask is None else mask if mask.dtype.name == "bool" else mask.float()
        found = _fused(query.float(), key.float(), value.float(), wide, is_causal, scale)
        return None if found is None else found.to(query.dtype)
    factor = 1.0 / math.sqrt(max(q.shape[-1], 1)) if scale is None else float(scale)
    arrays = of(q, k, v).sdpa(q, k, v, None if mask is None else mask._a, bool(is_causal), factor, recorded)
    if arrays is None:
        return None
    if not recorded:
        return wrap(arrays[0])
    return record_many(arrays, AttentionBackward, (query, key, value), (query, key, value, mask), (0,), save_results=(0, 1), causal=bool(is_causal),
                       scale=factor)[0]


@derivative("ScaledDotProductFlashAttentionForCpuBackward0", outputs=2)
def AttentionBackward(node: Any, g: Tensor | None, g_sums: Tensor | None = None) -> tuple[Tensor | None, ...]:
    """With w = softmax(s q k^T): dv = w^T g, d(scores) = w (g v^T - sum(w g v^T)), dq = s d(scores) k, dk = s d(scores)^T q."""
    query, key, value, mask, out, sums = unpack(node)
    if g is None:
        return None, None, None
    if not thread.grad:
        q, k, v = query._a, key._a, value._a
        arrays = of(g._a, q).sdpa_backward(g._a, q, k, v, None if mask is None else mask._a, node.causal, node.scale, out._a, sums._a)
        return tuple(wrap(a) if node.needs(i) else None for i, a in enumerate(arrays))
    count = query.shape[-3] // key.shape[-3] if query.dim() > 2 else 1
    k, v = (x.repeat_interleave(count, -3) if count > 1 else x for x in (key, value))
    weights = _weights(query, k, mask, node.causal, node.scale)
    products = weights * (g @ v.transpose(-2, -1))
    slopes = (products - weights * products.sum(-1, keepdim=True)) * node.scale
    dk, dv = slopes.transpose(-2, -1) @ query, weights.transpose(-2, -1) @ g
    if count > 1:
        dk, dv = (x.reshape(*key.shape[:-2], count, *x.shape[-2:]).sum(-3) for x in (dk, dv))
    return slopes @ k, dk, dv


def _weights(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None) -> Tensor:
    """The softmax of the scores."""
    root = math.sqrt(scale if scale is not None else 1.0 / math.sqrt(query.shape[-1])) if (scale is None or scale >= 0) and query.shape[-1] else None
    if root is None:
        scores = (query * (scale or 0.0)) @ key.transpose(-2, -1)
    else:
        scores = (query * root) @ (key.transpose(-2, -1) * root)
    if is_causal:
        scores = scores.masked_fill(_causal(query, query.shape[-2], key.shape[-2]).logical_not(), -math.inf)
    weights = (scores if mask is None else _masked(scores, mask)).softmax(-1)
    if mask is not None:
        nowhere = ~mask.any(-1, keepdim=True) if mask.dtype.name == "bool" else (mask == -math.inf).all(-1, keepdim=True)
        if bool(nowhere.any()):
            weights = weights.masked_fill(nowhere, 0)  # a row that may look at nothing gives 0
    return weights


def _definition(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, drop: float, is_causal: bool, scale: float | None,
                grouped: bool) -> Tensor:
    """Attention with its weights written out. Scores of 16-bit numbers are kept in float32, and the result rounded once."""
    if grouped and query.dim() > 2:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    kind = query.dtype
    if kind.is_floating_point and kind.itemsize < 4:
        query, key, value = query.float(), key.float(), value.float()
        mask = mask.float() if mask is not None and mask.is_floating_point() else mask
    weights = _weights(query, key, mask, is_causal, scale)
    if drop > 0.0:
        weights = dropout(weights, drop, True)
    result = weights @ value
    return result if result.dtype is kind else result.to(kind)


def _linear(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """`linear`, row by row in the order of memory: what has its batch first there is multiplied so, without a copy."""
    if x.dim() == 3 and x.stride(0) < x.stride(1) and x.shape[1] > 1:
        return linear(x.transpose(0, 1), weight, bias).transpose(0, 1)
    return linear(x, weight, bias)


def _project(query: Tensor, key: Tensor, value: Tensor, width: int, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, ...]:
    """The three input projections from one packed weight."""
    if key is value and query is key:
        return _linear(query, weight, bias).chunk(3, -1)
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(_linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _canonical_mask(mask: Tensor | None, name: str, other: Any, kind: Any, check_other: bool = True) -> Tensor | None:
    """A mask as something to add to the scores."""
    if mask is None:
        return None
    if mask.dtype.name != "bool" and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other is not None and other is not mask.dtype:
        warnings.warn(f"Support for mismatched {name} and its partner is deprecated. Use same type for both instead.", stacklevel=4)
    if mask.is_floating_point():
        return mask
    return mask.new_zeros(mask.shape).to(kind).masked_fill(mask, -math.inf)


@op(namespaces=FUNCTIONAL)
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None,
        bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
        training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
        use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """(output, weights): query (L, batch, E), key and value (S, batch, .), or without batch. Masks: True (or -inf) takes no part."""
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = key_padding_mask.unsqueeze(0) if key_padding_mask is not None else None
    length, batch, width = query.shape
    source = key.shape[0]
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head = width // num_heads
    if head * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", attn_mask.dtype if attn_mask is not None else None, query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, query.dtype, False)
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (_linear(x, w, b) for x, w, b in zip((query, key, value), (q_proj_weight, k_proj_weight, v_proj_weight), biases))
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        q, k, v = _project(query, key, value, width, in_proj_weight, in_proj_bias)
    attn_mask = _check_attention_mask(attn_mask, length, source, batch * num_heads)
    drop = dropout_p if training else 0.0
    weights = None
    if need_weights or static_k is not None or static_v is not None or add_zero_attn or bias_k is not None:
        q, k, v, attn_mask, key_padding_mask = _extended(q, k, v, attn_mask, key_padding_mask, num_heads, bias_k, bias_v, add_zero_attn, static_k, static_v)
        source = k.shape[1]
        mask = _joint_mask(attn_mask, key_padding_mask, batch, num_heads, source)
        if need_weights:
            weights, output = _weighted(q, k, v, mask, drop)
        else:
            output = _unweighted(q, k, v, mask, drop, num_heads, is_causal)
        output = output.transpose(0, 1).reshape(length, batch, width)
    else:
        output = _by_heads(q, k, v, _head_mask(attn_mask, key_padding_mask, batch, num_heads, source), drop, num_heads, is_causal)
    output = _linear(output, out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = weights.reshape(batch, num_heads, length, source)
        weights = weights.mean(1) if average_attn_weights else weights
    if not batched:
        output = output.squeeze(1)
        weights = weights.squeeze(0) if weights is not None else None
    return output, weights


def _extended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, padding: Tensor | None, heads: int, bias_k: Tensor | None, bias_v: Tensor | None,
              zero: bool, static_k: Tensor | None, static_v: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """q, k and v as (batch * heads, length, size), with the extra keys that were asked for; and the masks with as many columns more."""
    length, batch, width = q.shape
    rows, head = batch * heads, width // heads
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key.")
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
        mask, padding = _widened(mask), _widened(padding)
    q = q.reshape(length, rows, head).transpose(0, 1)
    k = k.reshape(k.shape[0], rows, head).transpose(0, 1) if static_k is None else static_k
    v = v.reshape(v.shape[0], rows, head).transpose(0, 1) if static_v is None else static_v
    if zero:
        k, v = (cat([x, x.new_zeros((rows, 1, head))], 1) for x in (k, v))
        mask, padding = _widened(mask), _widened(padding)
    return q, k, v, mask, padding


def _by_heads(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: float, heads: int, is_causal: bool) -> Tensor:
    """Attention of (length, batch, heads * size), every head for itself and where it lies."""
    q4, k4, v4 = (x.reshape(*x.shape[:2], heads, x.shape[2] // heads).permute(1, 2, 0, 3) for x in (q, k, v))
    found = scaled_dot_product_attention(q4, k4, v4, mask, drop, is_causal and mask is None)
    batch_first = found.permute(0, 2, 1, 3).reshape(q.shape[1], q.shape[0], q.shape[2]) if q.stride(0) < q.stride(1) else None
    return batch_first.transpose(0, 1) if batch_first is not None else found.permute(2, 0, 1, 3).reshape(q.shape)


def _head_mask(mask: Tensor | None, padding: Tensor | None, batch: int, heads: int, source: int) -> Tensor | None:
    """The mask of the scores (1 or batch * heads, length, source) and that of the keys as one that fits (batch, heads, length, source)."""
    if mask is not None:
        mask = mask if mask.shape[0] == 1 else mask.reshape(batch, heads, *mask.shape[1:])
    if padding is None:
        return mask
    spread = _checked_padding(padding, batch, source).reshape(batch, 1, 1, source)
    return spread if mask is None else mask + spread


def _checked_padding(padding: Tensor, batch: int, source: int) -> Tensor:
    if tuple(padding.shape) != (batch, source):
        raise AssertionError(f"expecting key_padding_mask shape of {(batch, source)}, but got {tuple(padding.shape)}")
    return padding


def _joint_mask(mask: Tensor | None, padding: Tensor | None, batch: int, heads: int, source: int) -> Tensor | None:
    """The mask of the scores and that of the keys as one, to be added to the scores (batch * heads, length, source)."""
    if padding is None:
        return mask
    spread = _checked_padding(padding, batch, source).reshape(batch, 1, 1, source).expand(-1, heads, -1, -1).reshape(batch * heads, 1, source)
    return spread if mask is None else mask + spread


def _unweighted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: float, heads: int, is_causal: bool) -> Tensor:
    """Attention of (batch * heads, length, size) without its weights."""
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.reshape(mask.shape[0] // heads, heads, *mask.shape[1:])
    q4, k4, v4 = (t.reshape(t.shape[0] // heads, heads, *t.shape[1:]) for t in (q, k, v))
    return scaled_dot_product_attention(q4, k4, v4, mask, drop, is_causal and mask is None).reshape(q.shape)


def _weighted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: float) -> tuple[Tensor, Tensor]:
    scaled = q * math.sqrt(1.0 / q.shape[-1])
    scores = scaled.bmm(k.transpose(-2, -1)) if mask is None else mask + scaled.bmm(k.transpose(-2, -1))
    weights = scores.softmax(-1)
    if drop > 0.0:
        weights = dropout(weights, drop, True)
    return weights, weights.bmm(v)


def _widened(mask: Tensor | None) -> Tensor | None:
    """A mask with one more column, which takes part."""
    return None if mask is None else constant_pad_nd(mask, (0, 1))


def _check_ranks(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int) -> bool:
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    rank = query.dim()
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(f"For {'batched' if rank == 3 else 'unbatched'} ({rank}-D) `query`, expected `key` and `value` to be {rank}-D but found "
                             f"{key.dim()}-D and {value.dim()}-D tensors respectively")
    if padding is not None and padding.dim() != rank - 1:
        raise AssertionError(f"For {'batched' if rank == 3 else 'unbatched'} ({rank}-D) `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D "
                             f"but found {padding.dim()}-D tensor instead")
    if mask is not None:
        if mask.dim() not in (2, 3):
            raise AssertionError(f"expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead")
        if rank == 2 and mask.dim() == 3 and tuple(mask.shape) != (heads, query.shape[0], key.shape[0]):
            raise AssertionError(f"Expected `attn_mask` shape to be {(heads, query.shape[0], key.shape[0])} but got {tuple(mask.shape)}")
    return rank == 3


def _check_attention_mask(mask: Tensor | None, length: int, source: int, rows: int) -> Tensor | None:
    if mask is None:
        return None
    if mask.dim() == 2:
        if tuple(mask.shape) != (length, source):
            raise RuntimeError(f"The shape of the 2D attn_mask is {mask.shape}, but should be {(length, source)}.")
        return mask.unsqueeze(0)
    if tuple(mask.shape) != (rows, length, source):
        raise RuntimeError(f"The shape of the 3D attn_mask is {mask.shape}, but should be {(rows, length, source)}.")
    return mask
