"""How exact the functions of mathematics are: float64 against mpmath, float32 against float64. `pytest -s` prints the worst errors seen."""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from saraph.kernels import jit, vmath
from saraph.kernels.ir import DOUBLE, FLOAT, I32, I64, POINTER, Module
from saraph.kernels.ufunc import make_ufunc

mp = pytest.importorskip("mpmath")
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
POINTS = 500  # of each range; float32 gets a hundred times as many


def real(function: Callable) -> Callable:
    return lambda *x: mp.re(function(*x))


def inverse_of_erf(x):
    return mp.findroot(lambda y: mp.erf(y) - x, 0.9 * x) if abs(x) < 0.5 else mp.erfinv(x)


def every(limit32: float, limit64: float, *more: tuple[float, float]) -> tuple:
    """Ranges for float32 and float64: the whole of it, and what is near 0 or otherwise of interest."""
    return ((-limit32, limit32), *more), ((-limit64, limit64), *more)


POSITIVE = (("decades", -44, 38), (0.5, 2.0)), (("decades", -322, 308), (0.5, 2.0))
SIGNED = (("decades", -44, 38), (-5.0, 5.0), (-0.6, 0.6)), (("decades", -322, 308), (-5.0, 5.0), (-0.6, 0.6))
UNIT = ((-1.0, 1.0), (0.9, 1.0), ("decades", -44, 0)), ((-1.0, 1.0), (0.9, 1.0), ("decades", -322, 0))

#: What each function is, its ranges, and the bounds of its error in float32 and float64, in units in the last place.
CASES = {
    "exp": (mp.exp, every(87.0, 708.0, (-1.0, 1.0)), 1.1, 1.1),
    "exp2": (lambda x: mp.power(2, x), every(126.0, 1021.0, (-1.0, 1.0)), 1.1, 1.1),
    "expm1": (mp.expm1, every(88.0, 709.0, (-1.0, 1.0), ("decades", -37, 0)), 1.8, 1.8),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), every(87.0, 708.0, (-4.0, 4.0)), 2.3, 2.1),
    "tanh": (mp.tanh, every(11.0, 22.0, (-1.0, 1.0), ("decades", -44, 0)), 1.5, 1.5),
    "sinh": (mp.sinh, every(89.0, 710.0, (-3.0, 3.0), ("decades", -44, 0)), 1.7, 1.7),
    "cosh": (mp.cosh, every(89.0, 710.0, (-3.0, 3.0)), 1.4, 1.4),
    "log": (mp.log, POSITIVE, 0.9, 0.9),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE, 0.9, 0.9),
    "log10": (mp.log10, POSITIVE, 0.9, 0.9),
    "log1p": (mp.log1p, every(1.0, 1.0, ("decades", -44, -1), (0.2, 3.0), (0.0, 1e30)), 0.9, 0.9),
    "asinh": (mp.asinh, SIGNED, 1.1, 1.1),
    "acosh": (real(mp.acosh), (((1.0, 2.0), (1.0, 1e6), ("decades", 0, 38)), ((1.0, 2.0), (1.0, 1e6), ("decades", 0, 308))), 1.6, 1.4),
    "atanh": (real(mp.atanh), UNIT, 1.0, 1.0),
    "sin": (mp.sin, every(1e5, 1e9, (-4.0, 4.0), ("decades", -44, 38)), 0.9, 0.9),
    "cos": (mp.cos, every(1e5, 1e9, (-4.0, 4.0), ("decades", -44, 38)), 0.9, 0.9),
    "tan": (mp.tan, every(1e5, 1e9, (-4.0, 4.0), ("decades", -44, 38)), 1.0, 1.0),
    "asin": (real(mp.asin), UNIT, 1.2, 1.2),
    "acos": (real(mp.acos), UNIT, 1.2, 1.2),
    "atan": (mp.atan, SIGNED, 1.9, 1.9),
    "erf": (mp.erf, every(4.2, 6.2, (-1.0, 1.0), ("decades", -44, 0)), 1.0, 1.1),
    "erfc": (mp.erfc, (((-4.0, 9.0), (-0.6, 0.6)), ((-6.0, 26.0), (-0.6, 0.6))), 2.4, 2.2),
    "erfinv": (inverse_of_erf, (((-1.0, 1.0), (0.99, 1.0)), ((-1.0, 1.0), (0.99, 1.0))), 2.2, 2.2),
    "ndtr": (mp.ncdf, (((-12.0, 6.0), (-1.0, 1.0)), ((-36.0, 8.0), (-1.0, 1.0))), 2.6, 2.7),
    "digamma": (mp.digamma, (((0.001, 6.0), (5.0, 20.0), ("decades", -36, 38)), ((0.001, 6.0), (5.0, 20.0), ("decades", -300, 308))), 3.0, 2.6),
    "lgamma": (real(mp.loggamma), (((0.001, 3.0), (3.0, 50.0), ("decades", -36, 36)), ((0.001, 3.0), (3.0, 50.0), ("decades", -300, 300))), 2.4, 2.4),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), SIGNED, 0.51, 0.51),
}


def compiled(write: Callable, operands: int, lanes: int) -> np.ufunc:
    """A function as a ufunc over arrays whose elements lie side by side; `lanes` at a time, the rest singly."""
    module = Module()
    for scalar in (FLOAT, DOUBLE):
        function = module.function(f"loop_{scalar}", [(name, POINTER) for name in ("context", "data", "dimensions", "strides", "auxiliary")], I32)
        _, data, dimensions, strides, _ = function.parameters
        places = [function.load(POINTER, function.offset(data, 8 * k)) for k in range(operands + 1)]
        count, start = function.load(I64, dimensions), function.constant(I64, 0)
        for width in (lanes, 0) if lanes else (0,):
            step = max(1, width)
            stop = count & -step
            with function.range(start, stop, step) as index:
                at = [function.offset(place, index * scalar.size) for place in places]
                function.store(write(function, *(function.load(scalar.vector(width), place) for place in at[:-1])), at[-1])
            start = stop
        function.give_back(0)
    code = jit.compile(module.text())
    kinds = ((DTYPES[0], FLOAT), (DTYPES[1], DOUBLE))
    return make_ufunc(write.__name__, operands, 1, {(kind,) * (operands + 1): code.address(f"loop_{scalar}") for kind, scalar in kinds})


def draw(ranges: tuple, count: int, dtype: np.dtype) -> np.ndarray:
    """Random points of every range; ("decades", a, b) means both signs unless the function's other ranges are positive."""
    rng = np.random.default_rng(7)
    positive = all(isinstance(low, str) or low > 0 for low, *_ in ranges) or any(low == 1.0 for low, *_ in ranges)
    parts = []
    for low, *rest in ranges:
        if isinstance(low, str):
            sizes = 10.0 ** rng.uniform(*rest, count)
            parts.append(sizes if positive else sizes * rng.choice([-1.0, 1.0], count))
        else:
            parts.append(rng.uniform(low, rest[0], count))
    return np.concatenate(parts).astype(dtype)


def errors(got: np.ndarray, want: np.ndarray, rest: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """In units in the last place; the exact value is want + rest."""
    finite = np.isfinite(want) & (np.abs(want) <= np.finfo(dtype).max)
    with np.errstate(all="ignore"):
        place = np.spacing(np.abs(want.astype(dtype))).astype(np.float64)
        error = np.abs((got.astype(np.float64) - want) - rest) / place
    return np.where(finite, error, np.where(np.isfinite(got), math.inf, 0.0))


def exact(function: Callable, *arrays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """mpmath's values as two doubles each."""
    with mp.workdps(360):  # the largest double has 309 digits before the point
        numbers = [[mp.mpf(float(x)) for x in array] for array in arrays]
    with mp.workdps(50):
        values = [function(*row) for row in zip(*numbers, strict=True)]
        near = [float(v) for v in values]
        return np.array(near), np.array([float(v - n) if math.isfinite(n) else 0.0 for v, n in zip(values, near, strict=True)])


@pytest.mark.parametrize("name", CASES)
def test_error_over_the_whole_range(name):
    definition, (ranges32, ranges64), bound32, bound64 = CASES[name]
    function = compiled(getattr(vmath, name), 1, 8)
    if name in ("sin", "cos", "tan"):
        plain = definition

        def definition(x):
            with mp.workdps(400):
                return plain(x)

    x = draw(ranges64, POINTS, DTYPES[1])
    worst64 = errors(function(x), *exact(definition, x), DTYPES[1]).max()
    x = draw(ranges32, 100 * POINTS, DTYPES[0])
    wide = function(x.astype(np.float64))
    worst32 = errors(function(x), wide, np.zeros_like(wide), DTYPES[0]).max()
    print(f"\n{name:8s} float32 {worst32:.2f}  float64 {worst64:.2f}")
    assert worst32 < bound32 and worst64 < bound64


def pairs(name: str, count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    most = 36 if dtype == DTYPES[0] else 300
    if name == "pow":
        x = 10.0 ** rng.uniform(-most, most, count) ** rng.choice([1.0, 0.1], count)
        x = x.astype(dtype)
        return x, (rng.uniform(-most, most, count) / np.log10(x, dtype=np.float64)).astype(dtype)
    x, y = (rng.standard_normal(count) * 10 ** rng.uniform(-most / 3, most / 3, count) for _ in range(2))
    return x.astype(dtype), np.where(rng.random(count) < 0.5, y, x * rng.standard_normal(count)).astype(dtype)


@pytest.mark.parametrize("name, definition, bound32, bound64", [
    ("pow", mp.power, 0.51, 1.2), ("atan2", mp.atan2, 1.7, 1.8), ("hypot", mp.hypot, 0.51, 0.51)])
def test_error_of_functions_of_two(name, definition, bound32, bound64):
    function = compiled(getattr(vmath, name), 2, 8)
    x, y = pairs(name, 4 * POINTS, DTYPES[1])
    worst64 = errors(function(x, y), *exact(definition, x, y), DTYPES[1]).max()
    x, y = pairs(name, 100 * POINTS, DTYPES[0])
    wide = function(x.astype(np.float64), y.astype(np.float64))
    worst32 = errors(function(x, y), wide, np.zeros_like(wide), DTYPES[0]).max()
    print(f"\n{name:8s} float32 {worst32:.2f}  float64 {worst64:.2f}")
    assert worst32 < bound32 and worst64 < bound64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_near_multiples_of_a_quarter_turn(name, dtype):
    rng = np.random.default_rng(3)
    turns = np.concatenate([rng.integers(1, 2**16, POINTS), rng.integers(2**20, 2**50, POINTS)])
    x = (turns * (np.pi / 2)).astype(dtype)

    def definition(angle):
        with mp.workdps(400):
            return getattr(mp, name)(angle)

    got = compiled(getattr(vmath, name), 1, 8)(x)
    assert errors(got, *exact(definition, x.astype(np.float64)), dtype).max() < 1.0


@pytest.mark.parametrize("name", [*CASES, "pow", "atan2", "hypot"])
def test_bits_do_not_depend_on_the_number_of_lanes(name):
    operands = 1 if name in CASES else 2
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal(1003) * 10 ** rng.uniform(-2, 6, 1003) ** rng.choice([1.0, 0.01], 1003) for _ in range(operands)]
    results = []
    for lanes in (0, 4, 8, 16):
        function = compiled(getattr(vmath, name), operands, lanes)
        results.append([function(*(a.astype(dtype) for a in arrays)) for dtype in DTYPES])
    for other in results[1:]:
        for one, another in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, another)


def specials(dtype: np.dtype) -> np.ndarray:
    form = np.finfo(dtype)
    one_sided = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf, form.tiny, form.smallest_subnormal, form.max, 1 + form.eps, 1 - form.epsneg]
    return np.array([*one_sided, *(-x for x in one_sided), math.nan], dtype)


NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power",
         "atan2": "arctan2"}


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal, of equal sign, or within two units of a finite number."""
    with np.errstate(all="ignore"):
        close = np.abs(got - want) <= 2 * np.spacing(np.abs(want))
    return (np.isnan(got) & np.isnan(want)) | (((got == want) | close) & (np.signbit(got) == np.signbit(want)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in CASES if hasattr(np, NUMPY.get(name, name))])
def test_special_values(name, dtype):
    x = specials(dtype)
    got = compiled(getattr(vmath, name), 1, 4)(x)
    with np.errstate(all="ignore"):
        want = getattr(np, NUMPY.get(name, name))(x.astype(np.float64)).astype(dtype) if dtype == DTYPES[0] else getattr(np, NUMPY.get(name, name))(x)
    wrong = ~same(got, want)
    assert not wrong.any(), list(zip(x[wrong], got[wrong], want[wrong], strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot"])
def test_special_values_of_functions_of_two(name, dtype):
    x, y = (grid.ravel().copy() for grid in np.meshgrid(specials(dtype), specials(dtype)))
    got = compiled(getattr(vmath, name), 2, 4)(x, y)
    with np.errstate(all="ignore"):
        want = getattr(np, NUMPY.get(name, name))(x, y)
    wrong = ~same(got, want)
    assert not wrong.any(), list(zip(x[wrong], y[wrong], got[wrong], want[wrong], strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, at, want", [
    ("erf", [0.0, -0.0, math.inf, -math.inf, math.nan], [0.0, -0.0, 1.0, -1.0, math.nan]),
    ("erfc", [0.0, -0.0, math.inf, -math.inf, math.nan], [1.0, 1.0, 0.0, 2.0, math.nan]),
    ("erfinv", [0.0, -0.0, 1.0, -1.0, 1.5, -2.0, math.inf, math.nan], [0.0, -0.0, math.inf, -math.inf, math.nan, math.nan, math.nan, math.nan]),
    ("ndtr", [0.0, math.inf, -math.inf, math.nan], [0.5, 1.0, 0.0, math.nan]),
    ("digamma", [0.0, -0.0, -1.0, -7.0, math.inf, -math.inf, math.nan], [-math.inf, math.inf, math.nan, math.nan, math.inf, math.nan, math.nan]),
    ("lgamma", [0.0, -0.0, 1.0, 2.0, -1.0, -7.0, math.inf, -math.inf, math.nan],
     [math.inf, math.inf, 0.0, 0.0, math.inf, math.inf, math.inf, math.inf, math.nan]),
    ("sigmoid", [0.0, -0.0, math.inf, -math.inf, math.nan], [0.5, 0.5, 1.0, 0.0, math.nan])])
def test_special_values_by_table(name, at, want, dtype):
    got = compiled(getattr(vmath, name), 1, 0)(np.array(at, dtype))
    np.testing.assert_array_equal(got, np.array(want, dtype))
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(np.array(want)[~np.isnan(want)]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, definition", [("digamma", mp.digamma), ("lgamma", real(mp.loggamma))])
def test_gamma_functions_of_negative_numbers(name, definition, dtype):
    x = np.concatenate([-np.random.default_rng(1).uniform(0, 10, POINTS), -10 ** np.random.default_rng(2).uniform(-5, 4, POINTS)]).astype(dtype)
    want, _ = exact(definition, x.astype(np.float64))
    # Between their poles they have roots, near which only the absolute error is small.
    np.testing.assert_allclose(compiled(getattr(vmath, name), 1, 8)(x), want, rtol=8 * np.finfo(dtype).eps, atol=16 * np.finfo(dtype).eps)
