"""What the gates of recurrent cells make of a state, and the gradients of that, vector by vector (recurrent.py)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from saraph.kernels import vmath
from saraph.kernels.ir import Function, Value


class Stepped(NamedTuple):
    """A step's results: the gates after their functions, the hidden share of gru's new gate, and the states h (and c)."""

    gates: Sequence[Value]
    extra: Value | None
    states: Sequence[Value]


class Returned(NamedTuple):
    """A step's gradients: of the gates' sums as the input and as the state see them, and of the states by ways other than the product."""

    slopes: Sequence[Value]
    hidden_slopes: Sequence[Value]
    carried: Sequence[Value]


class Cell(NamedTuple):
    """A kind of recurrent cell.

    forward   (function, gates from the input, gates from the state, bias of the hidden share of the new gate, states)
    backward  (function, gates after their functions, the hidden share of the new gate, states before the step, gradients of those after it)
    """

    gates: int
    states: int
    extra: bool
    forward: Callable[[Function, Sequence[Value], Sequence[Value], Value | None, Sequence[Value]], Stepped]
    backward: Callable[[Function, Sequence[Value], Value | None, Sequence[Value], Sequence[Value]], Returned]


def _one_minus(function: Function, x: Value) -> Value:
    return function.constant(x.type, 1.0) - x


def _lstm(function: Function, given: Sequence[Value], recurrent: Sequence[Value], bias: Value | None, states: Sequence[Value]) -> Stepped:
    sums = [a + b for a, b in zip(given, recurrent)]
    i, f, o = (vmath.sigmoid(function, sums[k]) for k in (0, 1, 3))
    g = vmath.tanh(function, sums[2])
    c = f * states[1] + i * g
    return Stepped((i, f, g, o), None, (o * vmath.tanh(function, c), c))


def _lstm_back(function: Function, gates: Sequence[Value], extra: Value | None, states: Sequence[Value], grads: Sequence[Value]) -> Returned:
    i, f, g, o = gates
    c = states[1]
    wave = vmath.tanh(function, f * c + i * g)
    dc = grads[1] + grads[0] * o * _one_minus(function, wave * wave)
    slopes = (dc * g * i * _one_minus(function, i), dc * c * f * _one_minus(function, f), dc * i * _one_minus(function, g * g),
              grads[0] * wave * o * _one_minus(function, o))
    return Returned(slopes, slopes, (function.constant(c.type, 0.0), dc * f))


def _gru(function: Function, given: Sequence[Value], recurrent: Sequence[Value], bias: Value | None, states: Sequence[Value]) -> Stepped:
    r, z = (vmath.sigmoid(function, given[k] + recurrent[k]) for k in (0, 1))
    share = recurrent[2] if bias is None else recurrent[2] + bias
    n = vmath.tanh(function, given[2] + r * share)
    return Stepped((r, z, n), share, ((states[0] - n) * z + n,))


def _gru_back(function: Function, gates: Sequence[Value], extra: Value | None, states: Sequence[Value], grads: Sequence[Value]) -> Returned:
    r, z, n = gates
    dh = grads[0]
    new = dh * _one_minus(function, z) * _one_minus(function, n * n)
    dr = (new if extra is None else new * extra) * r * _one_minus(function, r)
    dz = dh * (states[0] - n) * z * _one_minus(function, z)
    return Returned((dr, dz, new), (dr, dz, new * r), (dh * z,))


def _tanh(function: Function, given: Sequence[Value], recurrent: Sequence[Value], bias: Value | None, states: Sequence[Value]) -> Stepped:
    h = vmath.tanh(function, given[0] + recurrent[0])
    return Stepped((h,), None, (h,))


def _tanh_back(function: Function, gates: Sequence[Value], extra: Value | None, states: Sequence[Value], grads: Sequence[Value]) -> Returned:
    slope = grads[0] * _one_minus(function, gates[0] * gates[0])
    return Returned((slope,), (slope,), (function.constant(slope.type, 0.0),))


def _relu(function: Function, given: Sequence[Value], recurrent: Sequence[Value], bias: Value | None, states: Sequence[Value]) -> Stepped:
    total = given[0] + recurrent[0]
    h = function.select(total <= 0.0, 0.0, total)  # NaN stays
    return Stepped((h,), None, (h,))


def _relu_back(function: Function, gates: Sequence[Value], extra: Value | None, states: Sequence[Value], grads: Sequence[Value]) -> Returned:
    slope = function.select(gates[0] <= 0.0, 0.0, grads[0])
    return Returned((slope,), (slope,), (function.constant(slope.type, 0.0),))


CELLS = {"lstm": Cell(4, 2, False, _lstm, _lstm_back), "gru": Cell(3, 1, True, _gru, _gru_back), "tanh": Cell(1, 1, False, _tanh, _tanh_back),
         "relu": Cell(1, 1, False, _relu, _relu_back)}
