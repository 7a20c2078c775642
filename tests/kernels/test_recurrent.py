"""Recurrent layers in one call, against steps written out in NumPy, and their gradients against finite differences."""
import numpy as np
import pytest
from guard import SIDES, check, guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.kernels import jit, recurrent

pytestmark = pytest.mark.skipif(not jit.available(), reason="nothing can be compiled here")
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_steps(kind, gates, weights, bias, hidden_bias, states, sizes, reverse):
    """(outputs, last states) in float64."""
    gates, weights = gates.astype(np.float64) + bias, weights.astype(np.float64)
    edges, states = np.cumsum([0, *sizes]), [s.astype(np.float64).copy() for s in states]
    out = np.zeros((edges[-1], weights.shape[1]))
    for t in range(len(sizes))[::-1 if reverse else 1]:
        count, h = sizes[t], states[0][:sizes[t]]
        x, y = (np.split(part, GATES[kind], -1) for part in (gates[edges[t]:edges[t + 1]], h @ weights.T))
        if kind == "lstm":
            i, f, g, o = (a + b for a, b in zip(x, y))
            states[1][:count] = sigmoid(f) * states[1][:count] + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(states[1][:count])
        elif kind == "gru":
            r, z = sigmoid(x[0] + y[0]), sigmoid(x[1] + y[1])
            new = np.tanh(x[2] + r * (y[2] + hidden_bias))
            h = (1 - z) * new + z * h
        else:
            h = np.tanh(x[0] + y[0]) if kind == "tanh" else np.maximum(x[0] + y[0], 0)
        states[0][:count] = out[edges[t]:edges[t + 1]] = h
    return out, states


def operands(kind, hidden, sizes, dtype, seed):
    random = np.random.default_rng(seed)
    rows, width = sum(sizes), GATES[kind] * hidden
    shapes = ((rows, width), (width, hidden), (width,), (hidden,))
    gates, weights, bias, hidden_bias = (random.standard_normal(shape).astype(dtype) for shape in shapes)
    states = [random.standard_normal((sizes[0], hidden)).astype(dtype) for _ in range(2 if kind == "lstm" else 1)]
    return gates, (weights / hidden ** 0.5).astype(dtype), bias, hidden_bias, states


def run(kind, given_, sizes, reverse):
    gates, weights, bias, hidden_bias, states = given_
    plan = recurrent.schedule(sizes, reverse)
    out = np.empty((sum(sizes), weights.shape[1]), gates.dtype)
    return out, recurrent.forward(kind, gates.copy(), weights, bias, hidden_bias, states, plan, out), plan


batches = st.lists(st.integers(1, 60), min_size=1, max_size=6).map(lambda sizes: sorted(sizes, reverse=True))


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(list(GATES)), hidden=st.integers(1, 70), sizes=batches, dtype=st.sampled_from([np.float32, np.float64]),
       reverse=st.booleans(), seed=st.integers(0, 1000))
def test_any_sizes_and_batches(kind, hidden, sizes, dtype, reverse, seed):
    given_ = operands(kind, hidden, sizes, dtype, seed)
    out, found, _ = run(kind, given_, sizes, reverse)
    expected, last = by_steps(kind, *given_, sizes, reverse)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(out, expected, tolerance, tolerance)
    for a, b in zip((found.last_h, found.last_c), last, strict=False):
        np.testing.assert_allclose(a, b, tolerance, tolerance)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", list(GATES))
@pytest.mark.parametrize(("hidden", "sizes"), [(5, [3, 3, 3]), (33, [7, 5, 5, 2, 1]), (16, [50, 20])])
def test_gradients_by_finite_differences(kind, hidden, sizes, reverse):
    gates, weights, bias, hidden_bias, states = operands(kind, hidden, sizes, np.float64, 1)
    random = np.random.default_rng(2)
    out, found, plan = run(kind, (gates, weights, bias, hidden_bias, states), sizes, reverse)
    grad, last = random.standard_normal(out.shape), [random.standard_normal(s.shape) for s in states]
    back = recurrent.backward(kind, found, weights, grad, last, plan)
    inputs = [gates, weights, *states]
    by_hand = [back.slopes, back.hidden_slopes.T @ found.before_h, back.carried_h + back.hidden_slopes[plan.starts] @ weights, back.carried_c]

    def loss(gates, weights, *states):
        output, final = by_steps(kind, gates, weights, bias, hidden_bias, states, sizes, reverse)
        return (output * grad).sum() + sum((a * b).sum() for a, b in zip(final, last))

    for k, (value, slope) in enumerate(zip(inputs, by_hand, strict=False)):
        way = random.standard_normal(value.shape)
        ahead, behind = (loss(*(x + sign * 1e-6 * way if j == k else x for j, x in enumerate(inputs))) for sign in (1, -1))
        np.testing.assert_allclose((slope * way).sum(), (ahead - behind) / 2e-6, 1e-5, 1e-5)


def test_gradients_that_do_not_come_are_zero():
    given_ = operands("lstm", 9, [4, 4], np.float64, 3)
    out, found, plan = run("lstm", given_, [4, 4], False)
    zeros = recurrent.backward("lstm", found, given_[1], np.zeros_like(out), [np.zeros((4, 9))] * 2, plan)
    nothing = recurrent.backward("lstm", found, given_[1], None, [None, None], plan)
    for a, b in zip(zeros, nothing):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", list(GATES))
def test_nothing_beyond_the_borders_is_touched(kind, side):
    sizes = [5, 5, 2]
    gates, weights, bias, hidden_bias, states = (guarded(x, side) if isinstance(x, np.ndarray) else [guarded(s, side) for s in x]
                                                 for x in operands(kind, 17, sizes, np.float32, 4))
    plan = recurrent.schedule(sizes, True)
    wide = guarded(np.zeros((12, 40), np.float32)[:, 11:28], side)  # rows that lie apart, as in an output of two directions
    found = recurrent.forward(kind, gates, weights, bias, hidden_bias, states, plan, wide)
    grad = guarded(wide, side, read_only=True)
    recurrent.backward(kind, found, weights, grad, [None] * len(states), plan)
    check(gates, weights, bias, hidden_bias, *states, wide, grad)


@pytest.mark.parametrize("kind", list(GATES))
def test_the_same_bits_with_any_number_of_threads(kind):
    sizes = [70, 70, 33, 2]
    given_ = operands(kind, 40, sizes, np.float32, 5)
    before, results = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            out, found, plan = run(kind, given_, sizes, False)
            back = recurrent.backward(kind, found, given_[1], out, [None] * len(given_[4]), plan)
            results.append([out, *(a for a in (*found, *back) if a is not None)])
    finally:
        threads.set_num_threads(before)
    for others in results[1:]:
        for a, b in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


def test_nan_stays_in_its_sequence():
    for kind in GATES:
        gates, *rest = operands(kind, 20, [6, 6, 6], np.float32, 6)
        gates[2, 3] = np.nan  # the first step of the third sequence
        out, _, _ = run(kind, (gates, *rest), [6, 6, 6], False)
        broken = np.isnan(out).any(-1).reshape(3, 6)
        assert broken[:, 2].all() and not np.delete(broken, 2, 1).any()


@pytest.mark.parametrize("instructions", ["avx2", "sse2"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_other_processors(kind, instructions):
    given_ = operands(kind, 21, [9, 9, 4], np.float32, 7)
    try:
        with jit.host_as(instructions):
            out, found, plan = run(kind, given_, [9, 9, 4], False)
            back = recurrent.backward(kind, found, given_[1], out, [None] * len(given_[4]), plan)
    except ValueError:
        pytest.skip("not that family of processors")
    expected, found, plan = run(kind, given_, [9, 9, 4], False)
    np.testing.assert_allclose(out, expected, 1e-5, 1e-5)
    np.testing.assert_allclose(back.slopes, recurrent.backward(kind, found, given_[1], expected, [None] * len(given_[4]), plan).slopes, 1e-4, 1e-5)
