"""Programs without reductions against their interpreter: any shapes, strides and dtypes, with guarded memory."""
import ml_dtypes
import numpy as np
import pytest
from guard import SIDES, watched
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph.kernels import emit, functions, interpret, kernel, pointwise, program
from saraph.kernels.kernel import Pointwise
from saraph.kernels.program import apply, trace
from saraph.threads import set_num_threads

FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
FUSED = Pointwise("fused", lambda x, y, z: (x * y + z, functions.where(x > y, z, functions.exp(y))))


def assert_same(got, want, ulps=2):
    assert got.shape == want.shape and got.dtype == want.dtype
    wide = np.asarray(want, np.float64), np.asarray(got, np.float64)
    eps = 2.0**-7 if want.dtype == ml_dtypes.bfloat16 else np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0
    np.testing.assert_allclose(wide[1], wide[0], rtol=ulps * eps, atol=ulps * eps * 1e-3)


@st.composite
def operands(draw, count):
    """Arrays that broadcast: with steps, reversed, permuted, of stride 0, empty."""
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 7, 16, 33, 130]), max_size=3)))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    arrays = []
    for _ in range(count):
        own = tuple(1 if draw(st.booleans()) and draw(st.booleans()) else n for n in shape)
        steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in own]
        order = draw(st.permutations(range(len(own))))
        base = rng.standard_normal([own[d] * abs(steps[d]) for d in order]).transpose(np.argsort(order)) if own else rng.standard_normal(())
        array = base[tuple(slice(None, None, s) for s in steps)] if own else base
        if own and draw(st.integers(0, 5)) == 0:
            array = np.broadcast_to(array[:1], own) if own[0] else array
        arrays.append(array)
    return arrays


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@given(arrays=operands(3), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_any_layout_is_computed_within_its_bounds(dtype, arrays, side):
    arrays = [a.astype(dtype) if 0 not in a.strides else np.broadcast_to(a[:1].astype(dtype), a.shape) if a.size else a.astype(dtype) for a in arrays]
    with watched(*arrays, side=side) as guarded:
        got = FUSED(*guarded)
    for one, want in zip(got, interpret.run(FUSED.program([dtype] * 3), *arrays), strict=True):
        assert_same(one, want)


@pytest.mark.parametrize("size", [pointwise.SERIAL + 1, pointwise.BLOCK * 3 + 5, 100_003])
@pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=lambda d: d.__name__)
def test_many_elements_into_guarded_memory(size, dtype):
    rng = np.random.default_rng(size)
    x, y, z = rng.standard_normal((3, size)).astype(dtype)
    with watched(x, y, z, np.empty_like(x), np.empty_like(x)) as (x, y, z, a, b):
        FUSED(x, y, z, out=(a, b))
    for one, want in zip((a, b), interpret.run(FUSED.program([dtype] * 3), x, y, z), strict=True):
        assert_same(one, want)


@pytest.mark.parametrize("shapes", [((300, 400), (400,)), ((300, 1), (1, 400)), ((2, 30, 40, 50), (30, 1, 1)), ((70, 1, 60), (50, 1)), ((5, 40_000), (5, 1))])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_elements_are_broadcast(shapes, order):
    rng = np.random.default_rng(1)
    a, b = (np.asarray(rng.standard_normal(s).astype(np.float32), order=order) for s in shapes)
    np.testing.assert_array_equal(functions.BINARY["sub"](a, b), a - b)
    np.testing.assert_array_equal(functions.BINARY["lt"](a, b), a < b)


def test_results_keep_the_memory_order_of_the_first_whole_operand():
    x = np.ones((64, 64, 32), np.float32).transpose(2, 0, 1)
    assert functions.relu(x).strides == x.strides
    assert functions.BINARY["add"](np.float32(1).reshape(()), x).strides == x.strides
    assert functions.BINARY["add"](np.ones((64, 1), np.float32), x).strides == x.strides


def test_a_result_may_be_written_over_an_operand():
    x = np.random.default_rng(2).standard_normal(100_000).astype(np.float32)
    want = x + x
    assert functions.BINARY["add"](x, x, out=x) is x
    np.testing.assert_array_equal(x, want)
    y = x.copy()
    functions.BINARY["add"](y[1:], y[:-1], out=y[1:])  # overlapping with an offset: as if computed before anything is written
    np.testing.assert_array_equal(y[1:], x[1:] + x[:-1])


def test_bits_do_not_depend_on_threads():
    x = np.random.default_rng(3).standard_normal(300_001).astype(np.float32)
    try:
        results = []
        for threads in (1, 2, 3, 7):
            set_num_threads(threads)
            results.append([r.tobytes() for r in FUSED(x, x[::-1], x)])
    finally:
        set_num_threads(2)
    assert all(r == results[0] for r in results)


@pytest.mark.parametrize("limit", ["avx2", "sse2"])
def test_other_vector_widths_give_the_same(limit):
    from saraph.kernels import jit
    x = np.random.default_rng(4).standard_normal((3, 1001)).astype(np.float32)
    want = FUSED(*x)
    with jit.host_as(limit):
        code = kernel.Pointwise("fused_narrow", FUSED.definition)
        for got, one in zip(code(*x), want, strict=True):
            assert_same(got, one, 2)


OPERANDS = dict.fromkeys(functions.UNARY, 1) | dict.fromkeys(functions.BINARY, 2)


@pytest.mark.parametrize("name", sorted(OPERANDS))
@pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=lambda d: d.__name__)
def test_every_operation_agrees_with_its_definition(name, dtype):
    made = (functions.UNARY | functions.BINARY)[name]
    if not emit.can_emit(made.program([dtype] * OPERANDS[name])):
        pytest.skip("no machine code for it")
    rng = np.random.default_rng(5)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, 1e-30, 1e30], dtype)
    x = np.concatenate([np.repeat(special, special.size), rng.standard_normal(500).astype(dtype) * 3])
    y = np.concatenate([np.tile(special, special.size), rng.standard_normal(500).astype(dtype) * 3])
    arrays = (x, y)[:OPERANDS[name]]
    want, = interpret.run(made.program([dtype] * len(arrays)), *arrays)
    got = made(*arrays)
    assert got.dtype == want.dtype
    small = np.finfo(dtype).tiny * 1e3 if name not in ("lgamma", "digamma") else 1e-5
    np.testing.assert_allclose(got, want, rtol=(64 if name in ("erfc", "pow") else 8) * np.finfo(dtype).eps, atol=small)


@pytest.mark.parametrize("kernel_of", [functions.relu, functions.silu, functions.gelu, functions.gelu_tanh, functions.hardswish, functions.hardsigmoid,
                                       functions.logsigmoid, functions.leaky_relu.of(0.2), functions.elu.of(1.5, 1.1, 0.7), functions.softplus.of(2.0, 5.0),
                                       Pointwise("clamp", lambda x: functions.clamp(x, -0.5, 0.5)),
                                       Pointwise("clamp", lambda x: functions.clamp(x, None, 0.1))], ids=lambda k: k.name)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_activations_agree_with_their_definitions(kernel_of, dtype):
    x = np.concatenate([np.linspace(-30, 30, 1001), [np.nan, np.inf, 0.0, -0.0]]).astype(dtype)
    want, = interpret.run(kernel_of.program([dtype]), x)
    got = kernel_of(x)
    assert got.dtype == want.dtype
    eps = 2.0**-7 if dtype is ml_dtypes.bfloat16 else float(np.finfo(dtype).eps)
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=8 * eps, atol=8 * eps)  # 1 + erf(x) cancels


def test_a_program_is_plain_data():
    made = trace("f", lambda x, y: functions.where(x < y, x * 2, apply("exp", x)), [np.float32, np.float32])
    assert made == trace("f", lambda x, y: functions.where(x < y, x * 2, apply("exp", x)), [np.float32, np.float32])
    assert hash(made) == hash(program.Program(*made)) and "where" in str(made)


def test_equal_steps_are_computed_once_and_unused_ones_not_at_all():
    def twice(x):
        apply("log", x)
        return apply("exp", x) + apply("exp", x)

    assert [s.operation for s in trace("f", twice, [np.float32]).steps] == ["input", "exp", "add"]


def test_zeros_of_both_signs_are_two_constants():
    made = trace("f", lambda x: (x * 0.0, x * -0.0), [np.float32])
    got = interpret.run(made, np.ones(2, np.float32))
    assert not np.signbit(got[0]).any() and np.signbit(got[1]).all()


def test_operands_of_two_dtypes_are_refused():
    with pytest.raises(TypeError, match="convert them first"):
        trace("f", lambda x, y: x + y, [np.float32, np.float64])


@pytest.mark.parametrize("dtype", (np.float32, np.float64), ids=lambda d: d.__name__)
def test_remainders_are_exact_or_said_not_to_be(dtype):
    rng = np.random.default_rng(6)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5, -3], dtype)
    a = np.concatenate([np.repeat(special, 9), (rng.standard_normal(5000) * 10.0 ** rng.uniform(-3, 3, 5000)).astype(dtype), np.array([1e30], dtype)])
    b = np.concatenate([np.tile(special, 9), (rng.standard_normal(5000) * 10.0 ** rng.uniform(-1, 1, 5000)).astype(dtype), np.array([0.7], dtype)])
    with np.errstate(all="ignore"):
        want = np.fmod(a, b)
        signed = np.where(np.remainder(a, b) == 0, np.copysign(0, a), np.remainder(a, b))
    for kernel_of, expected in ((functions.fmod, want), (functions.remainder, signed)):
        got, far = kernel_of(a, b)
        assert far[-1] and not far[:-1].any()
        np.testing.assert_array_equal(got[:-1], expected[:-1])
        np.testing.assert_array_equal(np.signbit(got[:-1][got[:-1] == 0]), np.signbit(expected[:-1][got[:-1] == 0]))
