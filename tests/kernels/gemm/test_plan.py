"""Products of arrays against NumPy's in float64."""
import ml_dtypes
import numpy as np
import pytest
from guard import guarded, watched
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph import threads
from saraph.kernels import jit
from saraph.kernels.gemm import plan

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BFLOAT16]
STEP = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52, np.dtype(np.float16): 2.0**-10, BFLOAT16: 2.0**-7}

pytestmark = pytest.mark.skipif(not jit.available(), reason="no machine code here")


def assert_product(c, a, b, addend=None, alpha=1.0, beta=1.0):
    """`c` is the product: the error is within the sums' own rounding and one rounding to the dtype."""
    wide = [x.astype(np.float64) for x in (a, b)]
    want = alpha * np.matmul(*wide)
    size = abs(alpha) * np.matmul(*map(np.abs, wide))
    if addend is not None:
        want = want + beta * addend.astype(np.float64)
        size = size + abs(beta) * np.abs(addend.astype(np.float64))
    sums = min(STEP[a.dtype], 2.0**-23)
    assert c.dtype == a.dtype
    assert c.shape == want.shape
    allowed = STEP[a.dtype] * np.abs(want) + (2 + 0.5 * a.shape[-1] ** 0.5) * sums * size + 1e-6 * (a.dtype == np.float16)
    assert (np.abs(c.astype(np.float64) - want) <= allowed).all()


def laid_out(random, shape, dtype, layout):
    """Random numbers in a certain memory order."""
    rows, columns = shape[-2:]
    if layout == "transposed":
        return random.standard_normal((*shape[:-2], columns, rows)).astype(dtype).swapaxes(-1, -2)
    if layout == "gaps":
        return random.standard_normal((*shape[:-1], 2 * columns)).astype(dtype)[..., ::2]
    if layout == "backwards":
        return random.standard_normal(shape).astype(dtype)[..., ::-1, ::-1]
    if layout == "repeated":
        return np.broadcast_to(random.standard_normal((*shape[:-1], 1)).astype(dtype), shape)
    return random.standard_normal(shape).astype(dtype)


LAYOUTS = st.sampled_from(["dense", "transposed", "gaps", "backwards", "repeated"])
SIZES = st.one_of(st.integers(1, 9), st.sampled_from([13, 14, 15, 16, 17, 31, 32, 33, 64, 97, 130]))


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_shapes_and_strides(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    rows, depth, columns = data.draw(SIZES), data.draw(st.one_of(SIZES, st.sampled_from([513, 1100]))), data.draw(SIZES)
    batches = data.draw(st.sampled_from([((), ()), ((3,), (3,)), ((2, 1), (3,)), ((), (2,)), ((2, 3), (1, 1)), ((1,), (4,))]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    a = laid_out(random, (*batches[0], rows, depth), dtype, data.draw(LAYOUTS))
    b = laid_out(random, (*batches[1], depth, columns), dtype, data.draw(LAYOUTS))
    shape = (*np.broadcast_shapes(*batches), rows, columns)
    lead = data.draw(st.sampled_from([None, shape, shape[-2:], shape[-1:], (rows, 1), (1,), (1, columns)]))
    addend = None if lead is None else random.standard_normal(lead).astype(dtype)
    alpha, beta = data.draw(st.sampled_from([(1.0, 1.0), (2.0, -0.5)]))
    side = data.draw(st.sampled_from(["after", "before"]))
    with watched(a, b, *([] if addend is None else [addend]), side=side) as copies:
        c = plan.multiply(copies[0], copies[1], copies[2] if addend is not None else None, alpha, beta)
    assert_product(c, a, b, addend, alpha, beta)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30, 70, 45), (200, 1100, 150), (1, 600, 300), (5, 300, 600), (300, 90, 3)])
@pytest.mark.parametrize("turned", [False, True])
def test_results_are_written_and_nothing_beside_them(dtype, shape, turned):
    rows, depth, columns = shape
    random = np.random.default_rng(0)
    a = random.standard_normal((rows, depth)).astype(dtype)
    b = random.standard_normal((columns, depth)).astype(dtype).T if turned else random.standard_normal((depth, columns)).astype(dtype)
    made = plan._plan(dtype.char, a.shape, a.strides, b.shape, b.strides, None, None, "", jit.host())
    with watched(np.zeros((rows, columns), dtype), side="after") as (after,), watched(np.zeros((rows, columns), dtype), side="before") as (before,):
        for c in (after, before):
            plan.run(made, guarded(a, read_only=True), guarded(b, read_only=True), c, None, 1.0, 1.0)
            assert_product(c, a, b)


@pytest.mark.parametrize("limit", ["avx2", "sse2", "-avx512bf16"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lesser_processors(limit, dtype):
    if jit.host().architecture != "x86_64":
        pytest.skip("names of x86")
    random = np.random.default_rng(1)
    with jit.host_as(limit):
        for rows, depth, columns in ((20, 600, 37), (3, 200, 90), (90, 200, 2)):
            a, b = random.standard_normal((rows, depth)).astype(dtype), random.standard_normal((columns, depth)).astype(dtype).T
            bias = random.standard_normal(columns).astype(dtype)
            assert_product(plan.multiply(a, b, bias), a, b, bias)
            assert_product(plan.multiply(a, np.ascontiguousarray(b)), a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [((260, 300), (300, 530)), ((7, 400), (400, 1030)), ((6, 50, 700), (6, 700, 90)), ((20, 1500), (1500, 260))])
def test_bits_do_not_depend_on_threads(dtype, shape):
    random = np.random.default_rng(2)
    a, b = (random.standard_normal(s).astype(dtype) for s in shape)
    before = threads.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3, 7):
            threads.set_num_threads(count)
            found.append(plan.multiply(a, b).tobytes())
    finally:
        threads.set_num_threads(before)
    assert len(set(found)) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [3, 40])
def test_nan_and_infinity_reach_their_row_or_column_alone(dtype, rows):
    random = np.random.default_rng(3)
    a, b = random.standard_normal((rows, 150)).astype(dtype), random.standard_normal((150, 60)).astype(dtype)
    a[1, 149], b[0, 7], a[2, 3] = np.nan, np.inf, -np.inf
    b[3, 11] = 0
    with np.errstate(invalid="ignore"):
        want = np.matmul(a.astype(np.float64), b.astype(np.float64))
        found = plan.multiply(a, b).astype(np.float64)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(want))
    np.testing.assert_array_equal(found == np.inf, want == np.inf)
    np.testing.assert_array_equal(found == -np.inf, want == -np.inf)


def test_an_activation_is_applied_last():
    random = np.random.default_rng(4)
    a, b, bias = (random.standard_normal(s).astype(np.float32) for s in ((40, 600), (600, 50), (50,)))
    got = plan.multiply(a, b, bias, activation="relu")
    np.testing.assert_array_equal(got, np.maximum(plan.multiply(a, b, bias), 0))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="inner sizes 5 and 6"):
        plan.multiply(np.ones((4, 5), np.float32), np.ones((6, 4), np.float32))
    with pytest.raises(ValueError, match="does not broadcast"):
        plan.multiply(np.ones((4, 5), np.float32), np.ones((5, 4), np.float32), np.ones((3, 4), np.float32))


@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 9), (33, 130, 70), (100, 3001, 45)])
def test_bytes_are_multiplied_exactly(left, shape):
    rows, depth, columns = shape
    random = np.random.default_rng(5)
    a = random.integers(np.iinfo(left).min, np.iinfo(left).max + 1, (rows, depth)).astype(left)
    b = random.integers(-128, 128, (columns, depth)).astype(np.int8).T
    for x, y in ((a, b), (np.asfortranarray(a), np.ascontiguousarray(b))):
        with watched(x, y) as (x, y):
            found = plan.multiply_bytes(x, y)
        if found is None:
            pytest.skip("the processor multiplies no bytes")
        np.testing.assert_array_equal(found, a.astype(np.int64) @ b.astype(np.int64))
