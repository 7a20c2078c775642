"""Attention on the CPU: kernels for float32 and float64; 16-bit floats are computed in float32 and rounded once."""
from __future__ import annotations

import math

import numpy as np

from saraph.backends.cpu.conversion import cast
from saraph.backends.cpu.table import primitive
from saraph.dtypes import REDUCED
from saraph.kernels import attention, jit
from saraph.kernels.attention_gradient import attend_backward

float32 = np.dtype(np.float32)
_KINDS = (float32, np.dtype(np.float64))


@primitive
def sdpa(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float,
         keep: bool) -> tuple[np.ndarray, np.ndarray | None] | None:
    """(softmax(scale q k^T + mask) v, the logarithms of the rows' sums if `keep`), of (..., heads, length, size); None where there is no kernel.

    k and v have q's leading dimensions, or fewer heads that divide q's.
    """
    reduced = q.dtype in REDUCED
    if not (reduced or q.dtype in _KINDS) or 0 in q.shape or 0 in v.shape or not jit.available():
        return None
    lead, kind = q.shape[:-1], q.dtype
    heads, source = q.shape[-3] if q.ndim > 2 else 1, k.shape[-2]
    few = q.shape[-2] <= attention.FEW and not keep
    if reduced and not few:
        q, k, v = (cast(x, float32) for x in (q, k, v))
    if mask is not None and mask.dtype in REDUCED:
        mask = cast(mask, float32)
    mask = _spread(mask, lead, source)
    q4, k4, v4 = (_four(x, heads if x is q else (x.shape[-3] if x.ndim > 2 else 1)) for x in (q, k, v))
    if few:
        out, lse = attention.attend_few(q4, k4, v4, mask, causal, scale), None
    else:
        out, lse = attention.attend(q4, k4, v4, mask, causal, scale)
    if reduced:
        out = cast(out, kind)
    return out.reshape(*lead, v.shape[-1]), lse


@primitive
def sdpa_backward(grad: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float,
                  out: np.ndarray, lse: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of q, k and v, from what `sdpa` took and gave."""
    heads = q.shape[-3] if q.ndim > 2 else 1
    mask = _spread(mask, q.shape[:-1], k.shape[-2])
    groups = k.shape[-3] if k.ndim > 2 else 1
    grad4, q4, out4 = (_four(x, heads) for x in (grad, q, out))
    k4, v4 = (_four(x, groups) for x in (k, v))
    found = attend_backward(grad4, q4, k4, v4, mask, causal, scale, out4, lse)
    return tuple(d.reshape(x.shape) for d, x in zip(found, (q, k, v)))  # type: ignore[return-value]


def _four(a: np.ndarray, heads: int) -> np.ndarray:
    """Four dimensions, the last of them dense: without a copy where strides allow it."""
    if a.strides[-1] != a.itemsize and a.shape[-1] > 1:
        a = np.ascontiguousarray(a)
    return a if a.ndim == 4 else a.reshape(math.prod(a.shape[:-3]), heads, *a.shape[-2:])


def _spread(mask: np.ndarray | None, lead: tuple[int, ...], source: int) -> np.ndarray | None:
    """The mask over all scores, in four dimensions, dense along the keys."""
    if mask is None:
        return None
    if mask.shape[-1:] != (source,):
        mask = np.broadcast_to(mask, (*mask.shape[:-1], source))
    if mask.strides[-1] != mask.itemsize:
        mask = np.ascontiguousarray(mask)
    mask = np.broadcast_to(mask, (*lead, source))
    return mask if mask.ndim == 4 else mask.reshape(math.prod(lead[:-2]), lead[-2] if len(lead) > 1 else 1, lead[-1], source)
