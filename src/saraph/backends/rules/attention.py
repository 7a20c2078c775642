"""Rules of attention and of recurrent layers."""
from __future__ import annotations

from typing import Any

from saraph.backends.primitives import rule


@rule("sdpa")
def sdpa(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float, keep: bool) -> list[Any]:
    batch = 1
    for n in q.shape[:-3]:
        batch *= n
    heads = q.shape[-3] if q.ndim > 2 else 1
    return [((*q.shape[:-1], v.shape[-1]), q.dtype), ((batch, heads, q.shape[-2]), q.dtype) if keep else None]


@rule("sdpa_backward")
def sdpa_backward(grad: Any, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float, out: Any, lse: Any) -> list[Any]:
    return [(x.shape, x.dtype) for x in (q, k, v)]
