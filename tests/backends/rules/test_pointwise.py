"""The rules of pointwise primitives agree with what the CPU computes: shapes and dtypes."""
import numpy as np
import pytest

from saraph.backends import MetaArray, cpu, meta, primitives

rng = np.random.default_rng(3)
BINARY = [n for n, r in primitives.RULES.items() if r in (primitives.binary, primitives.binary_more, primitives.comparison)]
UNARY = [n for n, r in primitives.RULES.items() if r in (primitives.unary, primitives.unary_more, primitives.test, primitives.test_more, primitives.absolute)]
INTEGERS_ONLY = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift")


ANY_KIND = ("add", "mul", "eq", "lt", "maximum", "div_floor", "div_trunc", "remainder", "pow")


def compare(name, arrays, *arguments):
    found = getattr(cpu, name)(*arrays, *arguments)
    ghost = getattr(meta, name)(*[MetaArray(a.shape, a.dtype) for a in arrays], *arguments)
    assert (np.shape(found), found.dtype) == (ghost.shape, ghost.dtype), name


CASES = [(name, kind) for name in BINARY for kind in ("l" if name in INTEGERS_ONLY else "fdl" if name in ANY_KIND else "fd")]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_two_operands(name, kind):
    a, b = (rng.uniform(1, 3, shape).astype(kind) for shape in ((2, 1, 3), (4, 1)))
    compare(name, [a, b.astype(np.int64) if name == "ldexp" else b])


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", ["f", "d"])
def test_one_operand(name, kind):
    compare(name, [rng.uniform(0.1, 0.9, (2, 3)).astype("l" if name in INTEGERS_ONLY else kind)])


def test_three_operands_and_numbers():
    a, b, c = (rng.uniform(1, 2, shape) for shape in ((2, 1), (3,), (1, 3)))
    compare("lerp", [a, b, c])
    compare("lerp", [a, b], 0.3)
    for name in ("addcmul", "addcdiv"):
        compare(name, [a, b, c], 2.0)
    compare("round", [a], 2)
    compare("logit", [a / 3], 0.1)
    compare("polygamma", [a], 1)
