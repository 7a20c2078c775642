"""Recurrent cells, and layers of them over time: plain, LSTM (with projection) and GRU, batched or packed, in both directions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.ops.dropout import dropout
from saraph.ops.matmul import linear
from saraph.ops.movement import cat
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import state, thread, upper
from saraph.tensor.subclass import watched
from saraph.tensor.tensor import Tensor, record_many, unpack, wrap


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


def _step(mode: str, from_input: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any]) -> tuple[Tensor, ...]:
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


_KINDS = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "tanh", "RNN_RELU": "relu"}


def _run(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool,
         batch_sizes: tuple[int, ...] | None) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer in one direction: by one primitive, else step by step."""
    inputs = (data, weights["ih"], weights["hh"], weights["bias_ih"], weights["bias_hh"], *states)
    if weights["hr"] is None and not (state.active and watched(inputs)):
        x, w_ih, w_hh, b_ih, b_hh, *first = (None if t is None else t._a for t in inputs)
        arrays = of(x, w_ih).recurrent_layer(_KINDS[mode], x, w_ih, w_hh, b_ih, b_hh, first, batch_sizes, reverse)
        if arrays is not None:
            count = 1 + len(states)
            kept = tuple([None if a is None else wrap(a) for a in arrays[3:]])
            results = record_many(arrays[:count], LayerBackward, inputs, (*inputs, *kept), mode=mode, reverse=reverse, batch_sizes=batch_sizes)
            return results[0], results[1:]
    return _by_steps(mode, data, states, weights, reverse, batch_sizes)


@derivative("MkldnnRnnLayerBackward0", outputs=3)
def LayerBackward(node: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
    """Back through all steps; through the definition where the gradient is recorded itself."""
    saved = unpack(node)
    inputs, kept = saved[:-4], saved[-4:]
    if thread.grad:
        return _through_definition(node, inputs, grads)
    data, w_ih, w_hh = (t._a for t in inputs[:3])
    last = [None if g is None else g._a for g in (*grads[1:], None)[:len(inputs) - 5]]
    arrays = of(data).recurrent_layer_backward(
        _KINDS[node.mode], data, w_ih, w_hh, [None if t is None else t._a for t in kept], None if grads[0] is None else grads[0]._a, last,
        node.batch_sizes, node.reverse, [edge is not None for edge in node.edges])
    return tuple([None if a is None or edge is None else wrap(a) for a, edge in zip(arrays, node.edges)])


def _through_definition(node: Any, inputs: tuple[Any, ...], grads: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    data, w_ih, w_hh, b_ih, b_hh, *states = inputs
    weights = {"ih": w_ih, "hh": w_hh, "bias_ih": b_ih, "bias_hh": b_hh, "hr": None}
    output, last = _by_steps(node.mode, data, tuple(states), weights, node.reverse, node.batch_sizes)
    wanted = [t for t, edge in zip(inputs, node.edges) if edge is not None]
    totals: list[Tensor | None] = [None] * len(wanted)
    for y, g in zip((output, *last), grads):
        if g is not None:
            for k, found in enumerate(upper.gradients(y, wanted, g, True)):
                totals[k] = found if totals[k] is None else totals[k] if found is None else totals[k] + found
    rest = iter(totals)
    return tuple([None if edge is None else next(rest) for edge in node.edges])


def _by_steps(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool,
              batch_sizes: tuple[int, ...] | None) -> tuple[Tensor, tuple[Tensor, ...]]:
    if batch_sizes is None:
        return _run_padded(mode, data, states, weights, reverse)
    return _run_packed(mode, data, states, weights, reverse, batch_sizes)


def _run_padded(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    """One layer in one direction over (time, batch, features)."""
    gates = linear(data, weights["ih"], weights["bias_ih"]).unbind(0)
    outputs: list[Any] = [None] * len(gates)
    for t in (range(len(gates) - 1, -1, -1) if reverse else range(len(gates))):
        states = _step(mode, gates[t], states, weights)
        outputs[t] = states[0].unsqueeze(0)
    return (cat(outputs) if outputs else data.new_zeros((0, data.shape[1], states[0].shape[1]))), states


def _run_packed(mode: str, data: Tensor, states: tuple[Tensor, ...], weights: dict[str, Any], reverse: bool,
                batch_sizes: tuple[int, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
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
            output, final = _run(mode, data, own, named, direction == 1, None if batch_sizes is None else tuple(batch_sizes))
            results.append(output)
            finals.append(final)
        data = results[0] if directions == 1 else cat(results, -1)
        if drop > 0 and layer < layers - 1:
            data = dropout(data, drop, True)
    return data, tuple(cat([f[k].unsqueeze(0) for f in finals]) for k in range(len(states)))
