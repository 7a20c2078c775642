"""One program over many tuples of arrays."""
import numpy as np
import pytest
from guard import watched

from saraph.kernels import jit
from saraph.kernels.updates import ListUpdate

MOVE = ListUpdate("move", lambda p, g, m, lr, decay: (p - (m * decay + g) * lr, m * decay + g), arrays=3, numbers=2, written=(0, 2))


def expected(p, g, m, lr, decay):
    kind = p.dtype.type
    m = m * kind(decay) + g
    return p - m * kind(lr), m


@pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=lambda d: d.__name__)
@pytest.mark.parametrize("shapes", [[(3,)], [(1,), (7, 5), (40_000,), (16, 3, 3)], [(0,), (4,)]])
def test_every_tuple_is_updated_with_its_numbers(dtype, shapes):
    rng = np.random.default_rng(0)
    rows = [[rng.standard_normal(s).astype(dtype) for _ in range(3)] for s in shapes]
    numbers = [(0.1 * k, 0.9) for k in range(len(rows))]
    want = [expected(*row, *n) for row, n in zip(rows, numbers, strict=True)]
    with watched(*(a for row in rows for a in row)) as flat:
        rows = [list(flat[3 * k:3 * k + 3]) for k in range(len(shapes))]
        MOVE.plan(rows).run(numbers)
    for row, (p, m) in zip(rows, want, strict=True):
        np.testing.assert_allclose(row[0], p, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(row[2], m, rtol=1e-6, atol=1e-6)


def test_gradients_may_be_replaced():
    p, g, m = np.ones(5, np.float32), np.zeros(5, np.float32), np.zeros(5, np.float32)
    plan = MOVE.plan([(p, g, m)])
    plan.replace(1, [np.full(5, 2, np.float32)])
    plan.run([(0.5, 0.0)])
    assert p.tolist() == [0.0] * 5 and m.tolist() == [2.0] * 5


def test_without_a_compiler_the_interpreter_updates(monkeypatch):
    monkeypatch.setattr(jit, "available", lambda: False)
    slow = ListUpdate("move_slowly", MOVE.definition, 3, 2, (0, 2))
    p, g, m = np.ones(4), np.ones(4), np.zeros(4)
    slow.plan([(p, g, m)]).run([(0.25, 0.0)])
    assert p.tolist() == [0.75] * 4 and m.tolist() == [1.0] * 4
