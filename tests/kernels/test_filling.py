"""Random fills in machine code give the numbers, and leave the state, of their definitions."""
import ml_dtypes
import numpy as np
import pytest
from layouts import bits, same_for_threads

from saraph.kernels import filling
from saraph.random import Generator, compiled

F4, F8, I8 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
DRAWS = {
    "few": lambda g: g.uniform((7,), F4),
    "uniform": lambda g: g.uniform((10_001,), F4),
    "uniform in a range": lambda g: g.uniform((100_001,), F4, -3.0, 5.0),
    "uniform64": lambda g: g.uniform((33_333,), F8),
    "uniform64 in a range": lambda g: g.uniform((5001,), F8, -1e3, 2.5),
    "normal": lambda g: g.normal((160_000,), F4),
    "normal of other moments": lambda g: g.normal((50_000,), F4, 1.5, 0.3),
    "normal with a rest": lambda g: g.normal((50_003,), F4),
    "normal bfloat16": lambda g: g.normal((50_000,), np.dtype(ml_dtypes.bfloat16)),
    "bernoulli": lambda g: g.bernoulli(0.3, (70_000,), F4),
    "bernoulli bool": lambda g: g.bernoulli(0.9, (5001,), np.dtype(np.bool_)),
    "scaled bernoulli": lambda g: g.bernoulli(0.8, (40_000,), F4, 1.25),
    "integers": lambda g: g.random_ints((90_000,), I8, -5, 12_345),
    "integers of the widest range": lambda g: g.random_ints((9000,), I8, 0, (1 << 28) - 1),
    "integers of 64 bits": lambda g: g.random_ints((9000,), I8, 0, 1 << 40),
    "permutation": lambda g: g.randperm(30_000, I8),
    "whole blocks": lambda g: g.uniform((filling.BLOCK * 10,), F4),
    "whole stretches": lambda g: g.uniform((filling.STRETCH * 2,), F4),
    "a block more": lambda g: g.uniform((filling.STRETCH + filling.BLOCK + 1,), F4),
}


def drawn(names, seed):
    generator = Generator().manual_seed(seed)
    return [bits(DRAWS[name](generator)) for name in names] + [bits(generator._source.state())]


@pytest.mark.parametrize("seed", range(6))
def test_as_their_definitions(seed):
    names = list(DRAWS)
    if seed:
        np.random.default_rng(seed).shuffle(names)
    got = drawn(names, seed)
    kept = compiled[:]
    compiled.clear()
    try:
        want = drawn(names, seed)
    finally:
        compiled[:] = kept
    for name, one, other in zip([*names, "state"], got, want, strict=True):
        assert one == other, name


def test_a_state_in_the_middle_of_a_block_goes_on():
    generator = Generator().manual_seed(3)
    generator.uniform((5000,), F4)
    state = generator._source.state()
    first = generator.uniform((9000,), F4)
    generator._source.restore(state)
    assert np.array_equal(generator.uniform((9000,), F4), first)


def test_threads():
    names = ("normal", "uniform", "bernoulli", "integers")
    assert same_for_threads(lambda: tuple(np.frombuffer(one, np.uint8) for one in drawn(names, 1)))
