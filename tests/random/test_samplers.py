"""Rejection samplers, choices and permutations against PyTorch's numbers and against plain definitions."""
import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

from saraph.random import Generator
from saraph.random._samplers import _inside_out, _swaps, _swaps_by_sorting

GOLDEN = json.loads((pathlib.Path(__file__).parent / "golden.json").read_text())
SEEDS = (0, 1, 42, 2 ** 40)
F16, BF16, F32, F64, I64 = (np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int64))
WEIGHTS = np.array([0.1, 3, 0.5, 2, 0, 1], F32)
ROWS = np.array([[0.1, 3, 0.5, 2], [1, 1, 1, 5]])

EXACT = {
    "poisson": lambda g: g.poisson(np.array([0.1, 1, 3, 9.5, 10, 40, 200], F32)),
    "binomial": lambda g: g.binomial(np.array([3, 10, 40, 100, 100, 1000], F32),
                                     np.array([0.5, 0.2, 0.7, 0.5, 0.9, 0.3], F32)),
    "multinomial one": lambda g: g.multinomial(WEIGHTS, 1),
    "multinomial some": lambda g: g.multinomial(WEIGHTS, 4),
    "multinomial again": lambda g: g.multinomial(WEIGHTS, 8, True),
    "multinomial rows": lambda g: g.multinomial(ROWS, 5, True).ravel(),
    "randperm 10": lambda g: g.randperm(10, I64),
    "randperm 5000": lambda g: g.randperm(5000, I64)[[0, 1, 2500, 4998, 4999]],
}
CLOSE = {
    "gamma": lambda g: g.standard_gamma(np.array([0.1, 0.7, 1, 2.5, 30], F32)),
    "dirichlet": lambda g: g.dirichlet(np.array([0.5, 1, 4], F32)),
}


@pytest.mark.parametrize("name", EXACT)
def test_golden_exact(name):
    for seed, expected in zip(SEEDS, GOLDEN[name], strict=True):
        values = EXACT[name](Generator().manual_seed(seed))
        np.testing.assert_array_equal(values, np.array(expected, values.dtype))


@pytest.mark.parametrize("name", CLOSE)
def test_golden_close(name):
    for seed, expected in zip(SEEDS, GOLDEN[name], strict=True):
        values = CLOSE[name](Generator().manual_seed(seed))
        np.testing.assert_allclose(values, np.array(expected, values.dtype), rtol=1e-5)


def test_means_and_variances():
    g = Generator().manual_seed(8)
    size = 4000
    for values, mean, variance in [
        (g.poisson(np.full(size, 4.0)), 4, 4), (g.poisson(np.full(size, 30.0)), 30, 30),
        (g.binomial(np.full(size, 20.0), np.full(size, 0.2)), 4, 3.2),
        (g.binomial(np.full(size, 200.0), np.full(size, 0.8)), 160, 32),
        (g.standard_gamma(np.full(size, 0.5)), 0.5, 0.5), (g.standard_gamma(np.full(size, 9.0)), 9, 9),
        (g.dirichlet(np.tile([1.0, 3.0], (size, 1)))[:, 1], 0.75, 3 / 80),
    ]:
        assert abs(values.mean() - mean) < 5 * (variance / size) ** 0.5
        assert abs(values.var() / variance - 1) < 0.25


def test_edges_of_the_rejection_samplers():
    g = Generator()
    assert g.poisson(np.zeros((2, 0), F32)).shape == (2, 0)
    assert (g.poisson(np.zeros(3, F16)) == 0).all()
    assert (g.poisson(np.full(2, 1e19, F32)) == -2.0 ** 63).all()
    found = g.binomial(np.array([5.0, 5, -1, 5, 5]), np.array([0.0, 1.0, 0.5, -1.0, np.nan]))
    np.testing.assert_array_equal(found, [0, 5, 0, 0, np.nan])
    assert g.binomial(np.full((2, 1), 10.0), np.full(3, 0.5)).shape == (2, 3)
    assert (g.standard_gamma(np.array([0.0, 1e-3], F32)) >= np.finfo(F32).tiny).all()
    rows = g.dirichlet(np.full((4, 3), 0.01))
    np.testing.assert_allclose(rows.sum(-1), 1)


def test_multinomial_frequencies_and_uniqueness():
    g = Generator().manual_seed(1)
    found = g.multinomial(np.array([1.0, 2, 0, 5]), 40000, True)
    np.testing.assert_allclose(np.bincount(found, minlength=4) / 40000, [0.125, 0.25, 0, 0.625], atol=0.01)
    for dtype in (F16, BF16, F32, F64):
        rows = g.multinomial(np.ones((50, 6), dtype), 6)
        assert (np.sort(rows, -1) == np.arange(6)).all() and rows.dtype == I64
    firsts = np.array([g.multinomial(np.array([1.0, 3.0]), 1).item() for _ in range(2000)])
    assert abs(firsts.mean() - 0.75) < 0.05
    assert g.multinomial(np.ones((0, 3)), 2).shape == (0, 2)


def test_multinomial_draws_in_memory_order_of_its_weights():
    weights = np.arange(1.0, 13).reshape(3, 4)
    turned = np.asfortranarray(weights)
    race = Generator().manual_seed(2).exponential((4, 3), F64).T
    expected = np.argsort(-(weights / race), axis=-1)[:, :2]
    np.testing.assert_array_equal(Generator().manual_seed(2).multinomial(turned, 2), expected)


def test_permutations():
    for count in (0, 1, 2, 5, 4095, 4096, 9001):
        order = Generator().manual_seed(count).randperm(count, I64)
        np.testing.assert_array_equal(np.sort(order), np.arange(count))
    assert Generator().randperm(7, F32).dtype == F32
    firsts = np.bincount([Generator().manual_seed(s).randperm(4, I64)[0] for s in range(800)], minlength=4)
    assert firsts.min() > 150


def test_swaps_by_sorting_are_the_swaps():
    for count in (1, 2, 3, 10, 500, 6000):
        draws = np.random.default_rng(count).integers(0, 1 << 32, max(count - 1, 0)) % np.arange(count, 1, -1)
        targets = draws + np.arange(draws.size)
        np.testing.assert_array_equal(_swaps_by_sorting(targets, count), _swaps(targets, count))


def test_inside_out_is_its_loop():
    for count in (1, 2, 3, 10, 2000):
        targets = np.random.default_rng(count).integers(0, 1 << 40, count) % np.arange(1, count + 1)
        order = [0] * count
        for index, target in enumerate(targets.tolist()):
            order[index] = order[target]
            order[target] = index
        np.testing.assert_array_equal(_inside_out(targets), order)


@pytest.mark.parametrize("error, phrase, call", [
    (RuntimeError, "Poisson rate, expected rate to be non-negative", lambda g: g.poisson(np.array([1.0, -1.0]))),
    (RuntimeError, "invalid Poisson rate", lambda g: g.poisson(np.array([np.nan]))),
    (NotImplementedError, "\"poisson_cpu\" not implemented for 'Long'", lambda g: g.poisson(np.ones(2, I64))),
    (ValueError, "only supports floating-point dtypes for count, got: Long",
     lambda g: g.binomial(np.ones(2, I64), np.ones(2))),
    (RuntimeError, "Found dtype Double but expected Float", lambda g: g.binomial(np.ones(2, F32), np.ones(2))),
    (NotImplementedError, "gamma_cpu", lambda g: g.standard_gamma(np.ones(2, F16))),
    (NotImplementedError, "dirichlet", lambda g: g.dirichlet(np.ones(2, BF16))),
    (RuntimeError, "prob_dist must be 1 or 2 dim", lambda g: g.multinomial(np.ones((2, 2, 2)), 1)),
    (RuntimeError, "multinomial only supports floating-point dtypes", lambda g: g.multinomial(np.ones(2, I64), 1)),
    (RuntimeError, "cannot sample n_sample <= 0 samples", lambda g: g.multinomial(WEIGHTS, 0)),
    (RuntimeError, "cannot sample n_sample > prob_dist.size(-1)", lambda g: g.multinomial(WEIGHTS, 7)),
    (RuntimeError, "contains either `inf`, `nan` or element < 0", lambda g: g.multinomial(-WEIGHTS, 2)),
    (RuntimeError, "contains either `inf`, `nan` or element < 0", lambda g: g.multinomial(-WEIGHTS, 1, True)),
    (RuntimeError, "encountering probability entry < 0", lambda g: g.multinomial(-WEIGHTS, 2, True)),
    (RuntimeError, "entry = infinity or NaN", lambda g: g.multinomial(np.array([np.inf, 1]), 2, True)),
    (RuntimeError, "sum of probabilities <= 0", lambda g: g.multinomial(WEIGHTS * 0, 2)),
    (RuntimeError, "sum of probabilities <= 0", lambda g: g.multinomial(WEIGHTS * 0, 2, True)),
    (RuntimeError, "Trying to create tensor with negative dimension -1", lambda g: g.randperm(-1, I64)),
    (RuntimeError, "n cannot be greater than 2049 for Half type", lambda g: g.randperm(2050, F16)),
    (RuntimeError, "cannot be converted to type uint8_t", lambda g: g.randperm(257, np.dtype(np.uint8))),
    (NotImplementedError, "\"randperm\" not implemented for 'Bool'", lambda g: g.randperm(3, np.dtype(np.bool_))),
])
def test_errors(error, phrase, call):
    with pytest.raises(error) as caught:
        call(Generator())
    assert phrase in str(caught.value)
