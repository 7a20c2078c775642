"""The fills against PyTorch's numbers, then their rules: bounds, dtypes, order of memory, errors."""
import hashlib
import json
import math
import pathlib
import warnings

import ml_dtypes
import numpy as np
import pytest

from saraph.random import Generator, fill_view

GOLDEN = json.loads((pathlib.Path(__file__).parent / "golden.json").read_text())
SEEDS = (0, 1, 42, 2 ** 40)
F16, BF16, F32, F64, C64 = (np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64))
BOOL, U8, I32, I64 = (np.dtype(t) for t in (np.bool_, np.uint8, np.int32, np.int64))

EXACT = {
    "uniform float32": lambda g: g.uniform((4,), F32),
    "uniform float32 (-2, 3)": lambda g: g.uniform((4,), F32, -2, 3),
    "uniform float64": lambda g: g.uniform((3,), F64),
    "uniform float64 (-2, 3)": lambda g: g.uniform((3,), F64, -2, 3),
    "uniform float16": lambda g: g.uniform((4,), F16),
    "uniform bfloat16": lambda g: g.uniform((4,), BF16),
    "uniform complex64": lambda g: g.uniform((2,), C64).view(F32),
    "normal float32 16": lambda g: g.normal((16,), F32)[6:10],
    "normal float32 17": lambda g: g.normal((17,), F32)[:4],
    "normal float32 40 (1, 2)": lambda g: g.normal((40,), F32, 1, 2)[-4:],
    "normal bfloat16 33": lambda g: g.normal((33,), BF16)[[0, 16, 32]],
    "normal complex64 9": lambda g: g.normal((9,), C64).view(F32)[:3],
    "geometric": lambda g: g.geometric((6,), I64, 0.3),
    "ints 10": lambda g: g.random_ints((8,), I64, 0, 10),
    "ints -5 5": lambda g: g.random_ints((8,), I32, -5, 5),
    "ints 2**40": lambda g: g.random_ints((3,), I64, 0, 2 ** 40),
    "ints 2**28": lambda g: g.random_ints((3,), I64, 0, 2 ** 28),
    "ints full range": lambda g: g.random_ints((2,), I64, -2 ** 63, None),
    "full int64": lambda g: g.random_full((2,), I64),
    "full int32": lambda g: g.random_full((3,), I32),
    "full uint8": lambda g: g.random_full((6,), U8),
    "full bool": lambda g: g.random_full((8,), BOOL),
    "full float32": lambda g: g.random_full((3,), F32),
    "full float16": lambda g: g.random_full((3,), F16),
    "full float64": lambda g: g.random_full((2,), F64),
    "bernoulli 0.3": lambda g: g.bernoulli(0.3, (16,), F32),
    "bernoulli float32": lambda g: g.bernoulli(np.full(16, 0.3, F32), (16,), BOOL),
    "bernoulli float64": lambda g: g.bernoulli(np.full(1, 0.3), (16,), I64),
}
# These go through the C library's logarithm, sine, ..., which may differ in the last place elsewhere.
CLOSE = {
    "normal float32 7": lambda g: g.normal((7,), F32)[-4:],
    "normal float64 5": lambda g: g.normal((5,), F64)[-3:],
    "normal float64 35 (-1, 3)": lambda g: g.normal((35,), F64, -1, 3)[[0, 20, 34]],
    "normal float16 5": lambda g: g.normal((5,), F16)[:3],
    "normal complex64 5": lambda g: g.normal((5,), C64).view(F32)[:3],
    "normal strided 8x5": lambda g: g.normal((8, 5), F32, contiguous=False).ravel()[:4],
    "log_normal": lambda g: g.log_normal((4,), F32, 0.2, 0.5),
    "exponential": lambda g: g.exponential((4,), F32, 1.5),
    "exponential float64": lambda g: g.exponential((3,), F64),
    "cauchy": lambda g: g.cauchy((4,), F32, 0.5, 2),
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
        tolerance = {F16: 1e-3, F32: 1e-6, F64: 1e-14}[values.dtype]
        np.testing.assert_allclose(values, np.array(expected, values.dtype), rtol=tolerance)


def test_long_draws_have_pytorch_bits():
    def digest(values):
        return hashlib.sha256(values.tobytes()).hexdigest()[:12]

    generator = Generator().manual_seed(7)
    found = generator.normal((1000,), F32)
    expected = np.array([-0.8201345, 0.68151426, -0.4849473, 1.0575672, -0.8487755], F32)
    np.testing.assert_array_equal(found[[0, 500, 991, 992, 999]], expected)
    found = [digest(generator.normal((n,), F32)) for n in (16, 1000, 100003)]
    assert found == ["20fb0349c268", "b961bd5b1f0c", "84ec3663d98c"]

    generator.manual_seed(7)
    found = [digest(generator.uniform((n,), F32)) for n in (16, 1000, 100003)]
    assert found == ["fd89f5510753", "22134def8bd6", "224a89d6f1d0"]
    assert digest(generator.uniform((100003,), F32, -0.1, 0.3)) == "3721e7da1a25"
    assert digest(generator.uniform((100003,), F64, -0.1, 0.3)) == "d38db386b859"
    assert digest(generator.bernoulli(0.9, (100003,), F32)) == "4991c44c327a"
    assert digest(generator.normal((100003,), F32, 0.3, 1.7)) == "7421f88200ad"


def test_mixed_stream():
    g = Generator().manual_seed(7)
    np.testing.assert_array_equal(g.uniform((3,), F32), np.array([0.53492254, 0.19880319, 0.6592117], F32))
    expected = [-0.03255197, 1.0110544, 1.7714938, 0.42990813, -1.2119222]
    np.testing.assert_allclose(g.normal((5,), F32), expected, rtol=1e-6)
    np.testing.assert_array_equal(g.uniform((2,), F32), np.array([0.35928595, 0.7203804], F32))
    np.testing.assert_array_equal(g.normal((17,), F32)[:3], np.array([-0.32456663, 0.17437536, 2.2983427], F32))
    assert g.random_ints((4,), I64, 0, 100).tolist() == [9, 19, 7, 83]
    assert g.randperm(5, I64).tolist() == [0, 4, 1, 2, 3]
    expected = [0.7962812668040433, 1.1875784273988583, -0.32203706630876505]
    np.testing.assert_allclose(g.normal((3,), F64), expected, rtol=1e-14)
    np.testing.assert_allclose(g.normal((1,), F32), [1.2202253341674805], rtol=1e-6)


@pytest.mark.parametrize("draw", [
    lambda g, shape: g.uniform(shape, F32), lambda g, shape: g.uniform(shape, C64),
    lambda g, shape: g.normal(shape, F64), lambda g, shape: g.normal(shape, BF16),
    lambda g, shape: g.random_full(shape, U8),
    lambda g, shape: g.random_ints(shape, I64, 3, 7), lambda g, shape: g.bernoulli(0.5, shape, BOOL),
    lambda g, shape: g.exponential(shape, F16), lambda g, shape: g.geometric(shape, I32, 0.5),
    lambda g, shape: g.log_normal(shape, F32), lambda g, shape: g.cauchy(shape, F64),
])
def test_shapes_and_split_draws(draw):
    generator = Generator()
    for shape in ((), (0,), (3, 0), (2, 3, 4)):
        values = draw(generator, shape)
        assert values.shape == shape and values.flags.c_contiguous and values.flags.writeable
    # The empty draws take nothing from the stream.
    before = generator.get_state()
    draw(generator, (0,))
    np.testing.assert_array_equal(generator.get_state(), before)


def test_pieces_continue_the_stream():
    # More values than are made at once, against the same number in two calls.
    size = (1 << 15) + 1001
    for draw in (lambda g, n: g.uniform((n,), F32, -1, 1), lambda g, n: g.exponential((n,), F32),
                 lambda g, n: g.bernoulli(0.25, (n,), F32), lambda g, n: g.normal((n,), F32, contiguous=False),
                 lambda g, n: g.random_ints((n,), I64, 0, 2 ** 50)):
        whole = draw(Generator().manual_seed(5), size)
        generator = Generator().manual_seed(5)
        parts = np.concatenate([draw(generator, 777), draw(generator, size - 777)])
        np.testing.assert_array_equal(whole, parts)


def test_uniform_never_reaches_the_upper_bound():
    for dtype in (F16, BF16):
        values = Generator().manual_seed(0).uniform((20000,), dtype)
        assert values.min() >= 0 and values.max() < 1
    values = Generator().uniform((1000,), F32, 1.0, float(np.nextafter(F32.type(1), F32.type(2))))
    assert (values == 1).all()
    assert (Generator().uniform((5,), F32, 3, 3) == 3).all()


def test_statistics():
    g = Generator().manual_seed(12)
    size = 200000
    checks = [(g.uniform((size,), F64), 0.5, 1 / 12), (g.normal((size,), F32, 2, 3), 2, 9),
              (g.exponential((size,), F32, 2), 0.5, 0.25), (g.geometric((size,), F32, 0.25), 4, 12),
              (g.bernoulli(0.2, (size,), F32), 0.2, 0.16),
              (g.random_ints((size,), I64, -3, 4), 0, 4), (np.log(g.log_normal((size,), F64, 0.5, 2)), 0.5, 4)]
    for values, mean, variance in checks:
        spread = math.sqrt(variance / size)
        assert abs(values.mean(dtype=np.float64) - mean) < 5 * spread
        assert abs(values.astype(np.float64).var() / variance - 1) < 0.05
    values = g.normal((size,), C64)
    assert abs(values.real.var() - 0.5) < 0.02 and abs((values.real * values.imag).mean()) < 0.01
    assert abs(np.median(g.cauchy((size,), F64, 1, 2)) - 1) < 0.05


def test_normal_without_spread_is_the_mean():
    for shape in ((5,), (40,)):
        assert (Generator().normal(shape, F32, 1.5, 0) == 1.5).all()


def test_fill_view_follows_memory():
    target = np.empty((5, 8), F32).T
    view = fill_view(target)
    view[...] = Generator().manual_seed(0).uniform(view.shape, F32)
    np.testing.assert_array_equal(target.T.ravel(), Generator().manual_seed(0).uniform((40,), F32))
    channels_last = np.empty((2, 4, 5, 3), F32).transpose(0, 3, 1, 2)
    assert fill_view(channels_last).shape == (2, 4, 5, 3)
    plain = np.empty((2, 3), F32)
    assert fill_view(plain) is plain


def test_integer_bounds_of_floats_stay_inside():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = Generator().manual_seed(0).random_ints((2000,), F16, 0, 65504)
        assert "Due to precision limitations" in str(caught[0].message)
    assert values.max() < 65504
    assert Generator().random_ints((9,), F32, 5, None).max() <= 2 ** 24
    assert (Generator().random_ints((100,), np.dtype(np.uint64), 7, 8) == 7).all()
    assert Generator().random_ints((100,), U8, 5, None).min() >= 5


@pytest.mark.parametrize("error, phrase, call", [
    (RuntimeError, "found from=3 > to=2", lambda g: g.uniform((3,), F32, 3, 2)),
    (RuntimeError, "to is out of bounds for c10::Half", lambda g: g.uniform((3,), F16, 0, 1e6)),
    (RuntimeError, "from is out of bounds for float", lambda g: g.uniform((3,), F32, math.nan, 1)),
    (RuntimeError, "expects to-from <= std::numeric_limits<Float>::max", lambda g: g.uniform((3,), F32, -3e38, 3e38)),
    (NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'", lambda g: g.uniform((3,), I64)),
    (RuntimeError, "normal expects std >= 0.0, but found std -1", lambda g: g.normal((3,), F32, 0, -1)),
    (NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Int'", lambda g: g.normal((3,), I32)),
    (RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=1.5", lambda g: g.bernoulli(1.5, (3,), F32)),
    (RuntimeError, "Expected p_in >= 0 && p_in <= 1", lambda g: g.bernoulli(np.full(3, 2, F32), (3,), F32)),
    (RuntimeError, "Expected p_in >= 0 && p_in <= 1", lambda g: g.bernoulli(np.full(3, np.nan, F32), (3,), F32)),
    (NotImplementedError, "bernoulli_tensor_cpu_p_", lambda g: g.bernoulli(np.ones(3, I64), (3,), F32)),
    (NotImplementedError, "bernoulli_scalar_cpu_", lambda g: g.bernoulli(0.5, (3,), C64)),
    (RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=0", lambda g: g.exponential((3,), F32, 0)),
    (RuntimeError, "dtype must be a floating point but you specified Long", lambda g: g.exponential((3,), I64)),
    (RuntimeError, "geometric_ expects p to be in (0, 1), but got p=1", lambda g: g.geometric((3,), F32, 1)),
    (RuntimeError, "log_normal_ expects std > 0.0", lambda g: g.log_normal((3,), F32, 0, 0)),
    (RuntimeError, "cauchy_ expects sigma > 0.0", lambda g: g.cauchy((3,), F32, 0, 0)),
    (RuntimeError, "got from=5 >= to=5", lambda g: g.random_ints((3,), F32, 5, 5)),
    (RuntimeError, "to - 1 is out of bounds for unsigned char", lambda g: g.random_ints((3,), U8, 0, 257)),
    (RuntimeError, "from is out of bounds for unsigned char", lambda g: g.random_ints((3,), U8, -1, 5)),
    (RuntimeError, "to - 1 is out of bounds for bool", lambda g: g.random_ints((3,), BOOL, 0, 3)),
    (RuntimeError, "to - 1 is out of bounds for c10::Half", lambda g: g.random_ints((3,), F16, 0, 70000)),
    (RuntimeError, "check_random_bounds handles only", lambda g: g.random_ints((3,), C64, 0, 5)),
    (RuntimeError, "only int64, double, float and bfloat16", lambda g: g.random_ints((3,), I32, -2 ** 63, None)),
    (NotImplementedError, "\"random_kernel_cpu\" not implemented for 'UInt16'",
     lambda g: g.random_full((3,), np.dtype(np.uint16))),
])
def test_errors_leave_the_stream_alone(error, phrase, call):
    generator = Generator().manual_seed(3)
    before = generator.get_state()
    with pytest.raises(error) as caught:
        call(generator)
    assert phrase in str(caught.value)
    np.testing.assert_array_equal(generator.get_state(), before)
