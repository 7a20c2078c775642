"""Layers of recurrent cells on the CPU, all steps in one call; float32 and float64."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saraph.backends.cpu.conversion import copied
from saraph.backends.cpu.matmul import matmul, matmul_nt, matmul_tn
from saraph.backends.cpu.reduce import sum_
from saraph.backends.cpu.table import primitive
from saraph.kernels import blocks, jit, recurrent

Array = np.ndarray | None


@primitive
def recurrent_layer(kind: str, data: np.ndarray, w_ih: np.ndarray, w_hh: np.ndarray, b_ih: Array, b_hh: Array, states: Sequence[np.ndarray],
                    sizes: tuple[int, ...] | None, reverse: bool) -> list[Array] | None:
    """One layer in one direction: [outputs, last h, last c, and four arrays that the backward pass needs]; None where there is no kernel.

    kind       "lstm", "gru", "tanh" or "relu"
    data       (time, batch, features); with `sizes`, the batch sizes of a packed sequence, (rows, features)
    states     h, and c for an lstm: (batch, hidden)
    """
    operands = [data, w_ih, w_hh, *states, *(b for b in (b_ih, b_hh) if b is not None)]
    if data.dtype.char not in "fd" or any(a.dtype != data.dtype for a in operands) or 0 in data.shape or not jit.available():
        return None
    hidden = w_hh.shape[1]
    plan = _plan(data, sizes, reverse)
    x = _rows(data)
    gates = matmul_nt(x, w_ih)
    bias, hidden_bias = np.zeros(gates.shape[1], data.dtype), np.zeros(hidden, data.dtype)
    for b in (b_ih, b_hh):
        if b is not None:
            bias += b
    if kind == "gru" and b_hh is not None:  # the reset gate acts on what the state gives to the new gate, its bias included
        bias[2 * hidden:] = 0 if b_ih is None else b_ih[2 * hidden:]
        hidden_bias = np.ascontiguousarray(b_hh[2 * hidden:])
    out = blocks.empty((plan.rows, hidden), data.dtype)
    found = recurrent.forward(kind, gates, np.ascontiguousarray(w_hh), bias, hidden_bias, states, plan, out)
    return [out.reshape(*data.shape[:-1], hidden), found.last_h, found.last_c, found.gates, found.extra, found.before_h, found.before_c]


@primitive
def recurrent_layer_backward(kind: str, data: np.ndarray, w_ih: np.ndarray, w_hh: np.ndarray, kept: Sequence[Array], grad: Array,
                             last_grads: Sequence[Array], sizes: tuple[int, ...] | None, reverse: bool, wanted: Sequence[bool]) -> list[Array]:
    """The gradients of data, both weights, both biases and the first states, those that are wanted, from what `recurrent_layer` gave last."""
    plan = _plan(data, sizes, reverse)
    gates, extra, before_h, before_c = kept
    w_hh = np.ascontiguousarray(w_hh)
    found = recurrent.backward(kind, recurrent.Forward(gates, extra, before_h, before_c, before_h, before_c),  # type: ignore[arg-type]
                               w_hh, None if grad is None else _rows(grad), last_grads, plan)
    slopes, hidden_slopes = found.slopes, found.hidden_slopes
    dx = matmul(slopes, w_ih).reshape(data.shape) if wanted[0] else None
    dw_ih = matmul_tn(slopes, _rows(data)) if wanted[1] else None
    dw_hh = matmul_tn(hidden_slopes, before_h) if wanted[2] else None  # type: ignore[arg-type]
    db_ih = sum_(slopes, (0,), False) if wanted[3] else None
    db_hh = None
    if wanted[4]:
        db_hh = db_ih.copy() if db_ih is not None and hidden_slopes is slopes else sum_(hidden_slopes, (0,), False)
    dh = found.carried_h + matmul(hidden_slopes[plan.starts], w_hh) if wanted[5] else None
    return [dx, dw_ih, dw_hh, db_ih, db_hh, dh, found.carried_c]


def _plan(data: np.ndarray, sizes: tuple[int, ...] | None, reverse: bool) -> recurrent.Schedule:
    if sizes is None:
        return recurrent.padded_schedule(data.shape[0], data.shape[1], reverse)
    return recurrent.schedule(sizes, reverse)


def _rows(a: np.ndarray) -> np.ndarray:
    """Two dimensions, row-major."""
    dense = a if a.flags.c_contiguous else copied(a, "C")
    return dense.reshape(-1, a.shape[-1])
