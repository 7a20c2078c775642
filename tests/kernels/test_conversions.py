import ctypes

import ml_dtypes
import numpy as np
import pytest

from saraph.kernels import conversions, jit
from saraph.kernels.ir import BFLOAT, DOUBLE, FLOAT, HALF, I64, POINTER, Module

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def converted(values, source, target, result, how):
    """Every value through an instruction of LLVM's, in a loop."""
    module = Module()
    function = module.function("loop", (("from", POINTER), ("to", POINTER), ("count", I64)))
    start, to, count = function.parameters
    with function.range(0, count) as index:
        value = function.load(source, function.offset(start, index * source.size))
        function.store(function.convert(how, value, target), function.offset(to, index * target.size))
    function.give_back()
    out = np.empty(values.shape, result)
    address = jit.kernel("convert", (source, target), module.text).address("loop")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)(values.ctypes.data, out.ctypes.data, values.size)
    return out


@pytest.fixture(params=["", "sse2"])
def host(request):
    """This processor, and one on which LLVM calls functions for 16-bit floats."""
    if request.param and jit.host().architecture != "x86_64":
        pytest.skip("names of x86")
    with jit.host_as(request.param) as host:
        yield host


def doubles():
    """Numbers at, and beside, halves and the middles between them; of all sizes; specials."""
    finite = np.sort(HALVES[np.isfinite(HALVES)].astype(np.float64))
    middles = (finite[1:] + finite[:-1]) / 2
    ends = np.array([65519.99, 65520.0, 65536.0, 1e300, 2.0**-25, 2.0**-26, 5e-324, np.inf, np.nan, 0.0])
    near = np.concatenate([finite, middles, ends, np.random.default_rng(0).standard_normal(20_000) * 1e-3])
    return np.concatenate([near, -near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])


def same(a, b, bits):
    """Whether all bits agree, but those of NaNs."""
    nan = np.isnan(b.astype(np.float64))
    return np.array_equal(np.isnan(a.astype(np.float64)), nan) and np.array_equal(a.view(bits)[~nan], b.view(bits)[~nan])


@pytest.mark.filterwarnings("ignore:overflow")
def test_half(host):
    assert same(converted(HALVES, HALF, FLOAT, np.float32, "fpext"), HALVES.astype(np.float32), np.uint32)
    wide = doubles()
    assert same(converted(wide, DOUBLE, HALF, np.float16, "fptrunc"), wide.astype(np.float16), np.uint16)
    single = wide.astype(np.float32)
    single = np.concatenate([single, np.nextafter(single, np.float32(1)), np.random.default_rng(0).integers(0, 2**32, 50_000, np.uint32).view("f")])
    assert same(converted(single, FLOAT, HALF, np.float16, "fptrunc"), single.astype(np.float16), np.uint16)


def test_bfloat(host):
    single = np.random.default_rng(0).integers(0, 2**32, 100_000, np.uint32).view(np.float32)
    single[:5] = 0.0, -0.0, np.inf, -np.inf, np.nan
    single[5:50_000] = (single[5:50_000].view(np.uint32) & 0xFFFF0000 | 0x8000).view(np.float32)  # ties
    if host.has("avx512bf16"):  # the instruction takes denormals for zero
        single = single[~(np.abs(single) < 2.0**-126)]
    assert same(converted(single, FLOAT, BFLOAT, ml_dtypes.bfloat16, "fptrunc"), single.astype(ml_dtypes.bfloat16), np.uint16)


def test_the_processor_decides_whether_they_are_called():
    if jit.host().architecture == "x86_64":
        with jit.host_as("sse2"):
            source = "define half @narrow(float %x) {\n  %y = fptrunc float %x to half\n  ret half %y\n}\n"
            assert jit._setup().object_code(source, jit.host(), False).called == ("__truncsfhf2",)
    assert set(conversions.FUNCTIONS) <= set(jit._symbols)
