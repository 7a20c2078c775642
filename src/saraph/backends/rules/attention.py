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


@rule("recurrent_layer")
def recurrent_layer(kind: str, data: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, states: Any, sizes: Any, reverse: bool) -> list[Any]:
    gates, hidden = w_hh.shape
    rows = 1
    for n in data.shape[:-1]:
        rows *= n
    state, row = ((states[0].shape[0], hidden), data.dtype), ((rows, hidden), data.dtype)
    cell = kind == "lstm"
    return [((*data.shape[:-1], hidden), data.dtype), state, state if cell else None, ((rows, gates), data.dtype), row if kind == "gru" else None, row,
            row if cell else None]


@rule("recurrent_layer_backward")
def recurrent_layer_backward(kind: str, data: Any, w_ih: Any, w_hh: Any, kept: Any, grad: Any, last_grads: Any, sizes: Any, reverse: bool,
                             wanted: Any) -> list[Any]:
    gates, hidden = w_hh.shape
    batch = data.shape[1] if sizes is None else sizes[0]
    shapes = (data.shape, w_ih.shape, w_hh.shape, (gates,), (gates,), (batch, hidden))
    return [*((shape, data.dtype) if want else None for shape, want in zip(shapes, wanted)), ((batch, hidden), data.dtype) if kind == "lstm" else None]
