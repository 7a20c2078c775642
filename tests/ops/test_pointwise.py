"""Pointwise maths: values against Python's math and NumPy, special values, dtypes, gradients, errors."""
import math
import subprocess
import sys

import numpy as np
import pytest

import saraph as torch

UNARY = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "atanh": np.arctanh, "sqrt": np.sqrt, "rsqrt": lambda a: 1 / np.sqrt(a), "reciprocal": lambda a: 1 / a,
    "square": np.square, "abs": np.abs, "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(math.lgamma), "sinc": np.sinc, "logit": lambda a: np.log(a / (1 - a)), "deg2rad": np.deg2rad, "rad2deg": np.rad2deg,
    "frac": lambda a: a - np.trunc(a), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "sign": np.sign,
}
X = np.array([0.1, 0.3, 0.55, 0.9])


@pytest.mark.parametrize("name", UNARY)
def test_values_gradients_and_forms(name, check_gradients):
    expected = UNARY[name](X)
    x = torch.from_numpy(X.copy())
    np.testing.assert_allclose(getattr(torch, name)(x).numpy(), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(getattr(x, name)().numpy(), expected, rtol=1e-12, atol=1e-15)
    out = torch.empty(0, dtype=torch.float64)
    assert getattr(torch, name)(x, out=out) is out and out.shape == x.shape
    np.testing.assert_allclose(getattr(x, name + "_")().numpy(), expected, rtol=1e-12, atol=1e-15)
    for kind, tolerance in ((torch.float32, 3e-6), (torch.bfloat16, 8e-3), (torch.float16, 1e-3)):
        found = getattr(torch, name)(torch.tensor(X, dtype=kind))
        assert found.dtype is kind
        np.testing.assert_allclose(found.float().numpy(), UNARY[name](torch.tensor(X, dtype=kind).double().numpy()), rtol=tolerance, atol=tolerance)
    check_gradients(getattr(torch, name), X)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "sqrt", "acosh", "atanh", "square", "reciprocal", "sigmoid", "abs", "sgn", "tan", "angle"])
def test_complex_gradients(name, check_gradients):
    check_gradients(getattr(torch, name), np.array([0.3 + 0.4j, -0.7 + 0.2j, 1.5 - 2j]))


@pytest.mark.parametrize("name", ["exp", "sigmoid", "atan2", "log", "sinc"])
def test_integers_become_the_default_dtype(name):
    x = torch.tensor([1, 2])
    assert (torch.atan2(x, x) if name == "atan2" else getattr(torch, name)(x)).dtype is torch.float32


def test_integers_that_stay():
    x = torch.tensor([-2, 0, 3])
    for name in ("abs", "sign", "floor", "trunc", "square", "sgn", "neg"):
        assert getattr(torch, name)(x).dtype is torch.int64
    assert torch.square(torch.tensor([True])).dtype is torch.int64
    assert torch.conj_physical(torch.tensor([True])).dtype is torch.bool


def test_special_values():
    nan, inf = math.nan, math.inf
    x = torch.tensor([nan, inf, -inf, -0.0, 0.0])
    assert x.sign().tolist() == [0.0, 1.0, -1.0, 0.0, 0.0]
    assert x.isnan().tolist() == [True, False, False, False, False]
    assert x.isposinf().tolist() == [False, True, False, False, False]
    assert x.isneginf().tolist() == [False, False, True, False, False]
    assert x.isfinite().tolist() == [False, False, False, True, True]
    assert x[1:].signbit().tolist() == [False, True, True, False]
    assert torch.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-3.0).tolist() == [1.0, 2.0, -3.0, 0.0, 0.0]
    assert torch.nan_to_num(x)[1].item() == torch.finfo(torch.float32).max
    assert torch.nan_to_num(torch.tensor([complex(nan, inf)]), posinf=2.0).tolist() == [2j]
    assert torch.lgamma(x)[1:3].tolist() == [inf, inf]
    assert torch.sinc(torch.tensor([0.0, 1.0])).tolist() == pytest.approx([1.0, 0.0], abs=1e-7)
    assert torch.sigmoid(torch.tensor([-1000.0, 1000.0])).tolist() == [0.0, 1.0]
    assert torch.isreal(torch.tensor([1 + 0j, 1j])).tolist() == [True, False]


def test_no_warnings_for_infinities():
    program = ("import saraph as t; t.tensor([0.0]).log(); t.tensor([1e30]) * t.tensor([1e30]); t.tensor([1.0]) / 0; t.tensor([0.0]) / 0; "
               "t.tensor([-1000.0]).sigmoid(); t.tensor([1.0]).bfloat16() / 0; t.tensor([0.0j]).log()")
    done = subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    assert "RuntimeWarning" not in done.stderr


def test_rounding():
    assert torch.round(torch.tensor([0.5, 1.5, -2.5])).tolist() == [0.0, 2.0, -2.0]
    assert torch.round(torch.tensor([1.2345, -1.25]), decimals=2).tolist() == pytest.approx([1.23, -1.25], rel=1e-6)
    assert torch.round(torch.tensor([1250.0, 1350.0]), decimals=-2).tolist() == [1200.0, 1400.0]
    with pytest.raises(RuntimeError, match="round"):
        torch.round(torch.tensor([True]))


def test_logit_with_limits(check_gradients):
    x = torch.tensor([0.0, 0.05, 0.5, 1.0], dtype=torch.float64, requires_grad=True)
    y = torch.logit(x, eps=0.1)
    assert y.tolist() == pytest.approx([math.log(0.1 / 0.9), math.log(0.1 / 0.9), 0.0, math.log(0.9 / 0.1)])
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 4.0, 0.0]


def test_polygamma(check_gradients):
    x = torch.tensor([1.0], dtype=torch.float64)
    assert torch.polygamma(1, x).item() == pytest.approx(math.pi**2 / 6)
    assert torch.digamma(x).item() == pytest.approx(-0.5772156649015329)
    assert x.polygamma(2).item() == pytest.approx(-2 * 1.2020569031595942)
    assert x.clone().polygamma_(1).item() == pytest.approx(math.pi**2 / 6)
    check_gradients(lambda a: torch.polygamma(1, a), np.array([0.7, 2.5]))
    with pytest.raises(RuntimeError, match="negative n"):
        torch.polygamma(-1, x)


def test_minima_and_maxima(check_gradients):
    nan = math.nan
    a, b = torch.tensor([1.0, nan, 3.0, nan]), torch.tensor([2.0, 1.0, nan, nan])
    assert torch.maximum(a, b).isnan().tolist() == [False, True, True, True]
    assert torch.fmax(a, b)[:3].tolist() == [2.0, 1.0, 3.0]
    assert torch.fmin(a, b)[:3].tolist() == [1.0, 1.0, 3.0]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([2.0, 2.0, 2.0], requires_grad=True)
    torch.maximum(x, y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.5, 1.0] and y.grad.tolist() == [1.0, 0.5, 0.0]
    assert torch.maximum(torch.tensor([1]), torch.tensor([2.5])).tolist() == [2.5]
    with pytest.raises(RuntimeError, match="complex"):
        torch.maximum(torch.ones(1, dtype=torch.complex64), torch.ones(1))
    rng = np.random.default_rng(0)
    for function in (torch.maximum, torch.minimum, torch.fmax, torch.fmin):
        check_gradients(function, rng.normal(size=(2, 3)), rng.normal(size=3))


def test_two_operands(check_gradients):
    rng = np.random.default_rng(5)
    a, b = rng.uniform(0.5, 2, (2, 3)), rng.uniform(0.5, 2, 3)
    for name, function in {"atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign, "fmod": np.fmod, "remainder": np.remainder,
                           "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "xlogy": lambda x, y: x * np.log(y)}.items():
        np.testing.assert_allclose(getattr(torch, name)(torch.from_numpy(a), torch.from_numpy(b)).numpy(), function(a, b), rtol=1e-12)
        check_gradients(getattr(torch, name), a, b)
    check_gradients(torch.logaddexp, a + 0.3j, b - 0.2j)
    z = torch.logaddexp(torch.tensor([1 + 2j]), torch.tensor([0.5 - 1j]))
    assert z.item() == pytest.approx(np.log(np.exp(1 + 2j) + np.exp(0.5 - 1j)), rel=1e-6)
    assert torch.logaddexp(torch.tensor([-math.inf]), torch.tensor([-math.inf])).item() == -math.inf
    assert torch.xlogy(0, torch.tensor([0.0])).tolist() == [0.0]
    assert torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5])).tolist() == [0.0, 0.5, 1.0]
    assert torch.copysign(torch.tensor([1, -2]), -1).tolist() == [-1.0, -2.0]
    x = torch.tensor([1.0], requires_grad=True)
    up = torch.nextafter(x, torch.tensor([2.0]))
    assert up.item() == 1 + 2**-23
    up.sum().backward()
    assert x.grad.tolist() == [1.0]
    with pytest.raises(RuntimeError, match="different dtypes"):
        torch.heaviside(torch.ones(1), torch.ones(1, dtype=torch.float64))


def test_logical():
    a, b = torch.tensor([0.0, 2.0, 0.0, -1.0]), torch.tensor([0, 0, 3, 4])
    assert torch.logical_and(a, b).tolist() == [False, False, False, True]
    assert torch.logical_or(a, b).tolist() == [False, True, True, True]
    assert torch.logical_xor(a, b).tolist() == [False, True, True, False]
    assert torch.logical_not(a).tolist() == [True, False, True, False]
    assert a.clone().logical_not_().tolist() == [1.0, 0.0, 1.0, 0.0]


def test_closeness():
    a = torch.tensor([1.0, 1.0, math.nan, math.inf])
    b = torch.tensor([1.0 + 1e-7, 1.1, math.nan, math.inf])
    assert torch.isclose(a, b).tolist() == [True, False, False, True]
    assert torch.isclose(a, b, equal_nan=True).tolist() == [True, False, True, True]
    assert torch.allclose(a[:1], b[:1]) and not torch.allclose(a, b)
    assert torch.equal(a[:2], a[:2].clone()) and not torch.equal(a[:2], a[:1]) and not torch.equal(a, a)
    assert torch.isclose(torch.tensor([100]), torch.tensor([101]), rtol=0.1).tolist() == [True]
    with pytest.raises(RuntimeError, match="did not match"):
        torch.isclose(a, a.double())
    with pytest.raises(RuntimeError, match="greater than or equal to zero"):
        torch.isclose(a, b, rtol=-1)
    for function in (torch.isclose, torch.allclose, torch.equal):
        with pytest.raises(TypeError, match="must be Tensor"):
            function(a, 1)


def test_places_of_other_dtypes():
    x = torch.tensor([1.5, -2.5])
    assert torch.exp(x, out=torch.empty(2, dtype=torch.float64)).dtype is torch.float64
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.exp(x, out=torch.empty(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch.floor(x, out=torch.empty(2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="non-boolean outputs"):
        torch.signbit(x, out=torch.empty(2))
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        torch.isnan(x, out=torch.empty(2, dtype=torch.bool))


@pytest.mark.parametrize(("name", "kind"), [("floor", "bool"), ("frac", "int64"), ("erf", "complex64"), ("sign", "complex64"), ("abs", "bool"),
                                            ("lgamma", "complex128"), ("signbit", "complex64"), ("positive", "bool")])
def test_dtypes_that_are_refused(name, kind):
    with pytest.raises(RuntimeError, match="not implemented for"):
        getattr(torch, name)(torch.ones(2, dtype=getattr(torch, kind)))


def test_absolute_values():
    assert abs(torch.tensor([-1.5])).tolist() == [1.5]
    assert torch.tensor([3 + 4j]).abs().tolist() == [5.0]
    assert torch.abs(torch.tensor([-128], dtype=torch.int8)).tolist() == [-128]
    with pytest.raises(RuntimeError, match="In-place abs"):
        torch.tensor([3 + 4j]).abs_()


def test_layouts_are_kept():
    x = torch.rand(4, 3, 5).transpose(0, 2)
    assert x.exp().stride() == x.stride()
    assert torch.rand(2, 3).t().clamp(0, 1).stride() == (1, 3)
    assert torch.exp(torch.ones(3).expand(2, 3)).shape == (2, 3)
    assert torch.exp(torch.empty(0, 3)).shape == (0, 3)
    assert torch.exp(torch.tensor(0.0)).shape == ()
