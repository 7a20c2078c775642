"""Recurrent cells, and layers of them over time: plain, LSTM (with projection) and GRU, batched or packed, in both directions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.ops.dropout import dropout
from saraph.ops.matmul import linear
from saraph.ops.movement import cat
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor


@op(autocast="lower")
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """tanh(W_ih x + b_ih + W_hh h + b_hh)."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


@op(autocast="lower")
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """relu(W_ih x + b_ih + W_hh h + b_hh)."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


@op(autocast="lower")
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
              b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """One LSTM step: (h, c). Gates in the order input, forget, cell, output."""
    h, c = hx
    return _lstm_gates(linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh), c)


def _lstm_gates(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@op(autocast="lower")
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One GRU step. Gates in the order reset, update, new."""
    return _gru_gates(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)


def _gru_gates(from_input: Tensor, from_hidden: Tensor, h: Tensor) -> Tensor:
    ri, zi, ni = from_input.chunk(3, 1)
    rh, zh, nh = from_hidden.chunk(3, 1)
    r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    n = (ni + r * nh).tanh()
    return (h - n) * z + n


def _step(mode: str, from_input: Tensor, states: tuple[Tensor, ...], weights: dict[str, Tensor | None]) -> tuple[Tensor, ...]:
    """The next states, from the input's share of the gates (computed for all times at once) and the present states."""
    h = states[0]
    from_hidden = linear(h, weights["hh"], weights["bias_hh"])
    if mode == "LSTM":
        h, c = _lstm_gates(from_input + from_hidden, states[1])
        return (h if weights["hr"] is None else linear(h, weights["hr"])), c
    if mode == "GRU":
        return (_gru_gates(from_input, from_hidden, h),)
    total = from_input + from_hidden
    return (total.tanh() if mode == "RNN_TANH" else total.relu(),)


def _named(weights: Sequence[Tensor], bias: bool, projected: bool) -> dict[str, Any]:
    rest = list(weights[2:])
    return {"ih": weights[0], "hh": weights[1], "bias_ih": rest[0] if bias else None, "bias_hh": rest[1] if bias else None,
            "hr": rest[-1] if projected else None}


def _run_padded(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer in one direction over (time, batch, features)."""
    gates = linear(data, weights["ih"], weights["bias_ih"]).unbind(0)
    outputs: list[Any] = [None] * len(gates)
    for t in (range(len(gates) - 1, -1, -1) if reverse else range(len(gates))):
        states = _step(mode, gates[t], states, weights)
        outputs[t] = states[0].unsqueeze(0)
    return (cat(outputs) if outputs else data.new_zeros((0, data.shape[1], states[0].shape[1]))), states


def _run_packed(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool,
                batch_sizes: list[int]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer in one direction over a packed batch: at each time the longest sequences come first."""
    gates = linear(data, weights["ih"], weights["bias_ih"]).split(batch_sizes)
    outputs: list[Any] = [None] * len(batch_sizes)
    if reverse:
        start = states
        now = tuple(s[: batch_sizes[-1]] for s in start)
        for t in range(len(batch_sizes) - 1, -1, -1):
            size = batch_sizes[t]
            if size > now[0].shape[0]:
                now = tuple(cat([s, first[s.shape[0]:size]]) for s, first in zip(now, start))
            now = _step(mode, gates[t], now, weights)
            outputs[t] = now[0]
        return cat(outputs), now
    now, finished = states, []
    for t, size in enumerate(batch_sizes):
        if size < now[0].shape[0]:
            finished.append(tuple(s[size:] for s in now))
            now = tuple(s[:size] for s in now)
        now = _step(mode, gates[t], now, weights)
        outputs[t] = now[0]
    finished.append(now)
    final = tuple(cat([part[k] for part in reversed(finished)]) for k in range(len(now)))
    return cat(outputs), final


def run_layers(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: Sequence[Sequence[Tensor]], bias: bool, layers: int, drop: float,
               bidirectional: bool, batch_sizes: list[int] | None, projected: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    """All layers: (output, final states). `states` are (layers * directions, batch, size) each; `drop` acts between layers."""
    directions = 2 if bidirectional else 1
    finals: list[tuple[Tensor, ...]] = []
    for layer in range(layers):
        results = []
        for direction in range(directions):
            k = layer * directions + direction
            own = tuple(s[k] for s in states)
            named = _named(weights[k], bias, projected)
            if batch_sizes is None:
                output, final = _run_padded(mode, data, own, named, direction == 1)
            else:
                output, final = _run_packed(mode, data, own, named, direction == 1, batch_sizes)
            results.append(output)
            finals.append(final)
        data = results[0] if directions == 1 else cat(results, -1)
        if drop > 0 and layer < layers - 1:
            data = dropout(data, drop, True)
    return data, tuple(cat([f[k].unsqueeze(0) for f in finals]) for k in range(len(states)))
