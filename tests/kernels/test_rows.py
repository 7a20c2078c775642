"""Row kernels against their NumPy definitions, computed in a wider format; and against themselves, on other layouts."""
import math
import os
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saraph.kernels import jit, rows

ROW_TO_ROW = (rows.softmax, rows.log_softmax, rows.softmax_backward, rows.log_softmax_backward)
KERNELS = (*ROW_TO_ROW, rows.sum_of_row)
DTYPES = (np.float32, np.float64)
SHAPES = [(0,), (1,), (2, 0), (0, 5), (7, 1), (5, 3), (8, 8), (3, 13), (2, 16), (3, 17), (3, 31), (2, 64), (2, 65),
          (2, 127), (3, 257), (2, 997), (1, 2048), (2, 2049), (1, 5003), (2, 3, 4, 10)]
LAYOUTS = ("transposed", "reversed", "every third", "inside", "misaligned", "foreign bytes")

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)


def count_of_inputs(kernel):
    return kernel.signature.split("->")[0].count("(")


def inputs_for(kernel, shape, dtype, rng, scale=3.0):
    return [(rng.standard_normal(shape) * scale).astype(dtype) for _ in range(count_of_inputs(kernel))]


def below_maximum(x):
    return np.abs(x - np.max(x, -1, keepdims=True, initial=-math.inf))


def size_of_terms(kernel, *inputs):
    """How large the numbers are that make up each result: rounding errors are counted in units of their last place."""
    if kernel is rows.sum_of_row:
        return np.sum(np.abs(inputs[0]), -1)
    if kernel is rows.softmax:
        return kernel.definition(*inputs) * (1 + below_maximum(inputs[0]))
    if kernel is rows.log_softmax:
        return below_maximum(inputs[0]) + math.log(inputs[0].shape[-1] or 1)
    grad, y = np.abs(inputs[0]), inputs[1]
    if kernel is rows.softmax_backward:
        return (grad + np.sum(grad * np.abs(y), -1, keepdims=True)) * np.abs(y)
    return grad + np.exp(y) * np.sum(grad, -1, keepdims=True)


def assert_right(kernel, inputs, got, units=4):
    wide = [np.asarray(x).astype(np.longdouble) for x in inputs]
    dtype = got.dtype
    allowed = units * np.finfo(dtype).eps * size_of_terms(kernel, *wide) + np.finfo(dtype).smallest_subnormal
    want = kernel.definition(*wide)
    assert got.shape == want.shape and dtype == inputs[0].dtype.newbyteorder("=")
    assert np.all(np.abs(got - want) <= allowed), (kernel, inputs, got, want)


def laid_out(x, layout):
    """The same numbers in other places."""
    if layout == "transposed":
        return np.asfortranarray(x)
    if layout == "reversed":
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    if layout == "every third":
        memory = np.full((*x.shape, 3), np.nan, x.dtype)
        memory[..., 1] = x
        return memory[..., 1]
    if layout == "inside":
        memory = np.full((*x.shape[:-1], x.shape[-1] + 3), np.nan, x.dtype)
        memory[..., 1:-2] = x
        return memory[..., 1:-2]
    if layout == "misaligned":
        memory = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        memory[...] = x
        return memory
    return x.astype(x.dtype.newbyteorder())


@every_kernel
@every_dtype
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_agrees_with_the_definition_in_any_layout(kernel, dtype, shape):
    inputs = inputs_for(kernel, shape, dtype, np.random.default_rng(hash(shape) % 2**32))
    result = np.asarray(kernel(*inputs))
    assert_right(kernel, inputs, result)
    for layout in LAYOUTS:
        others = [laid_out(x, layout) for x in inputs]
        np.testing.assert_array_equal(kernel(*others), result, err_msg=layout)
        np.testing.assert_array_equal(kernel(others[0], *inputs[1:]), result, err_msg=layout + ", first only")
        if layout != "foreign bytes":
            target = laid_out(np.full_like(result, 7), layout) if result.ndim else np.full_like(result, 7)
            assert kernel(*inputs, out=target) is target
            np.testing.assert_array_equal(target, result, err_msg=layout + ", output")


@given(data=st.data())
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_view_of_any_array(dtype, data):
    kernel = data.draw(st.sampled_from(KERNELS))
    shape = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=4).map(tuple))
    slices = st.sampled_from([slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, None)])
    steps = tuple(data.draw(slices) for _ in shape)
    order = data.draw(st.permutations(range(len(shape))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    inputs = [x[steps].transpose(order) for x in inputs_for(kernel, shape, dtype, rng)]
    result = np.asarray(kernel(*inputs))
    assert_right(kernel, inputs, result)
    np.testing.assert_array_equal(result, kernel(*map(np.ascontiguousarray, inputs)))


@every_kernel
@every_dtype
def test_broadcasting(kernel, dtype):
    rng = np.random.default_rng(1)
    x = inputs_for(kernel, (6, 21), dtype, rng)
    for change in (lambda a: np.broadcast_to(a[:1], (4, 21)), lambda a: np.broadcast_to(a[:, :1], (6, 37)),
                   lambda a: np.broadcast_to(a[0, 0], (3, 5))):
        views = [change(a) for a in x]
        np.testing.assert_array_equal(kernel(*views), kernel(*map(np.ascontiguousarray, views)))
    if len(x) == 2:
        np.testing.assert_array_equal(kernel(x[0], x[1][2]), kernel(x[0], np.tile(x[1][2], (6, 1))))
        with pytest.raises(ValueError):
            kernel(x[0], x[1][:, :-1])


@every_kernel
@every_dtype
@pytest.mark.parametrize("length", [1, 7, 8, 15, 16, 17, 63, 64, 65, 300])
def test_writes_nothing_but_the_result(kernel, dtype, length):
    inputs = inputs_for(kernel, (5, length), dtype, np.random.default_rng(2))
    wanted = kernel(*inputs)
    for step in (1, 2):
        memory = np.full((7, *(step * size + 40 for size in wanted.shape[1:])), 123, dtype)
        inside = (slice(1, -1), *(slice(20, 20 + step * size, step) for size in wanted.shape[1:]))
        kernel(*inputs, out=memory[inside])
        np.testing.assert_array_equal(memory[inside], wanted)
        memory[inside] = 123
        assert np.all(memory == 123)


@every_kernel
@every_dtype
def test_a_row_does_not_depend_on_its_neighbours(kernel, dtype):
    for length in (9, 70, 3000):
        inputs = inputs_for(kernel, (6, length), dtype, np.random.default_rng(3))
        together = kernel(*inputs)
        for row in range(6):
            np.testing.assert_array_equal(kernel(*(x[row] for x in inputs)), together[row])


@every_kernel
@every_dtype
def test_bits_do_not_depend_on_the_width_of_vectors(kernel, dtype, host_with):
    native = jit.host().vector_bytes
    for width in {16, 32, 64} - {native}:
        host_with(vector_bytes=width)
        other = kernel.twin()
        for length in (1, 3, 5, 8, 16, 17, 40, 64, 100, 5000):
            inputs = inputs_for(kernel, (2, length), dtype, np.random.default_rng(length))
            np.testing.assert_array_equal(other(*inputs), kernel(*inputs), err_msg=f"{width} bytes, {length} elements")


@every_kernel
@pytest.mark.skipif(not jit.available() or jit.host().architecture != "x86_64", reason="names an x86 processor")
def test_a_processor_without_fused_multiplication(kernel, host_with):
    host_with(cpu="x86-64", features="", vector_bytes=16)
    plain = kernel.twin()
    for dtype in DTYPES:
        for length in (3, 100):
            inputs = inputs_for(kernel, (4, length), dtype, np.random.default_rng(4))
            assert_right(kernel, inputs, plain(*inputs))


INF, NAN = math.inf, math.nan


@every_dtype
@pytest.mark.parametrize("repeat", [1, 7, 50])
@pytest.mark.parametrize("row, softmax, log_softmax", [
    ([INF, 1, 2], [NAN, NAN, NAN], [NAN, NAN, NAN]),
    ([-INF, -INF, -INF], [NAN, NAN, NAN], [NAN, NAN, NAN]),
    ([NAN, 1, 2], [NAN, NAN, NAN], [NAN, NAN, NAN]),
    ([1, NAN, -INF], [NAN, NAN, NAN], [NAN, NAN, NAN]),
    ([INF, INF, INF], [NAN, NAN, NAN], [NAN, NAN, NAN]),
    ([-INF, 1, -INF], [0, 1, 0], [-INF, 0, -INF]),
    ([-3e38, 3e38, 0], [0, 1, 0], [-INF, 0, -3e38]),
    ([-200, 0, -800], [1.383896526736737e-87, 1, 0], [-200, 0, -800]),
])
def test_special_rows(dtype, repeat, row, softmax, log_softmax):
    x = np.full((2, 3 * repeat), -INF, dtype)  # -inf beside a finite maximum adds nothing
    if not any(map(math.isfinite, row)):
        x = np.tile(np.array(row, dtype), (2, repeat))
        softmax, log_softmax = softmax * repeat, log_softmax * repeat
    x[:, :3] = row
    if dtype == np.float64 and -3e38 in row:
        log_softmax = [-6e38, *log_softmax[1:]]
    for layout in (np.ascontiguousarray, np.asfortranarray):
        for kernel, want in ((rows.softmax, softmax), (rows.log_softmax, log_softmax)):
            with warnings.catch_warnings(), np.errstate(all="raise"):
                warnings.simplefilter("error")
                got = kernel(layout(x))
            want = np.array(want)
            np.testing.assert_allclose(got[:, :len(want)], np.tile(want, (2, 1)).astype(dtype), rtol=1e-6)
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(np.isnan(got), np.isnan(kernel.definition(x)))


@every_dtype
@pytest.mark.parametrize("length", [3, 20, 70, 5000])
def test_sums_of_special_values(dtype, length):
    largest = float(np.finfo(dtype).max)
    for start, want in (([INF, 1], INF), ([-INF, 1], -INF), ([INF, -INF], NAN), ([NAN, INF], NAN),
                        ([largest, largest], INF), ([-largest, -largest], -INF), ([-0.0], 0.0)):
        x = np.full(length, -0.0, dtype)
        x[[0, -1][:len(start)]] = start
        with np.errstate(all="raise"):
            got = rows.sum_of_row(x)
        np.testing.assert_equal(float(got), want)
        assert math.copysign(1, got) == math.copysign(1, want) or math.isnan(want)
    assert str(rows.sum_of_row(np.zeros((0,), dtype))) == "0.0"


@every_dtype
def test_backward_passes_nan_on(dtype):
    grad, y = np.ones((3, 20), dtype), np.full((3, 20), 0.05, dtype)
    grad[0, 3] = NAN
    y[1, 19] = NAN
    for kernel, lost in ((rows.softmax_backward, [20, 20, 0]), (rows.log_softmax_backward, [20, 1, 0])):
        with np.errstate(all="raise"):
            assert np.isnan(kernel(grad, y)).sum(-1).tolist() == lost


@every_kernel
def test_old_floating_point_flags_make_no_warnings(kernel):
    x = [np.ones((2, 3), np.float32)] * count_of_inputs(kernel)
    assert 1e308 * float(np.float64(10)) == INF  # sets the processor's overflow flag
    with np.errstate(all="raise"):
        kernel(*x)
        kernel(*(a[:0] for a in x))


@every_dtype
@pytest.mark.parametrize("length", [10, 64, 1000])
def test_softmax_is_within_four_ulp(dtype, length):
    """Where x - max is exact; else its rounding, magnified by the exponential, hides everything."""
    x = np.round(np.random.default_rng(5).uniform(-40, 40, (20_000 // length, length)) * 64) / 64
    want = rows.softmax.definition(x.astype(np.longdouble))
    got = rows.softmax(x.astype(dtype))
    assert float(np.max(np.abs(got - want) / np.spacing(want.astype(dtype)))) < 4.25
    np.testing.assert_allclose(got.sum(-1), 1, rtol=4 * np.finfo(dtype).eps)


@every_dtype
def test_long_sums_lose_next_to_nothing(dtype):
    x = np.random.default_rng(6).uniform(0, 1, 1_500_001).astype(dtype)
    exact = math.fsum(x.tolist())
    assert abs(float(rows.sum_of_row(x)) - exact) <= 1.5 * float(np.spacing(dtype(exact)))
    large = np.tile(np.array([1e4, 1, -1e4, 0], dtype), 100_000)
    assert abs(float(rows.sum_of_row(large)) - 100_000) <= 100_000 * 40 * np.finfo(dtype).eps


@pytest.mark.parametrize("kernel", ROW_TO_ROW, ids=lambda kernel: kernel.name)
def test_in_place_and_overlapping_output(kernel):
    inputs = inputs_for(kernel, (5, 33), np.float32, np.random.default_rng(7))
    want = kernel(*inputs)
    same = inputs[0].copy()
    np.testing.assert_array_equal(kernel(same, *inputs[1:], out=same), want)
    memory = np.zeros((6, 33), np.float32)
    memory[:-1] = inputs[0]
    np.testing.assert_array_equal(kernel(memory[:-1], *inputs[1:], out=memory[1:]), want)


def test_the_function_is_a_gufunc_with_its_keywords():
    softmax = rows.softmax.function
    assert isinstance(softmax, np.ufunc) and softmax.signature == "(n)->(n)" and rows.softmax.function is softmax
    x = np.random.default_rng(8).standard_normal((4, 5, 6))
    np.testing.assert_array_equal(softmax(x, axis=1), np.moveaxis(rows.softmax(np.moveaxis(x, 1, -1)), -1, 1))


@every_kernel
def test_wrong_arguments(kernel):
    x = np.ones((2, 3), np.float32)
    count = count_of_inputs(kernel)
    for dtype in (np.int64, np.float16, np.bool_, np.complex64):
        with pytest.raises(TypeError):
            kernel(*[x.astype(dtype)] * count)
    with pytest.raises(ValueError):
        kernel(*[x] * count, out=np.ones((9, 9), np.float32))
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        kernel(*[np.float32(1)] * count)
    if count == 2:
        with pytest.raises(TypeError):
            kernel(x, x.astype(np.float64))


def test_threads_that_ask_first_get_one_function():
    kernel = rows.softmax.twin()
    x = np.random.default_rng(9).standard_normal((50, 70)).astype(np.float32)
    start, seen = threading.Barrier(6), []

    def work():
        start.wait()
        seen.append((kernel.function, kernel(x)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6 and len({id(function) for function, _ in seen}) == 1
    assert all(np.array_equal(result, rows.softmax(x)) for _, result in seen)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_computes_and_compiles():
    x = np.random.default_rng(10).standard_normal((5, 40))
    want = rows.softmax(x)
    twin = rows.softmax.twin()
    child = os.fork()
    if not child:
        right = np.array_equal(rows.softmax(x), want) and np.array_equal(twin(x), want)
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@every_kernel
def test_definitions_serve_where_nothing_compiles(kernel, monkeypatch):
    monkeypatch.setattr(jit._setup(), "binding", None)
    other = kernel.twin()
    assert other.function == other.definition
    x = inputs_for(kernel, (3, 20), np.float32, np.random.default_rng(11))
    result = np.empty_like(np.asarray(other(*x)))
    assert other(*x, out=result) is result
    monkeypatch.undo()
    np.testing.assert_allclose(result, kernel(*x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_triangles_and_products_of_rows(kind):
    x = np.random.default_rng(5).uniform(0.9, 1.1, (37, 53)).astype(kind)
    limits = np.arange(37) + 3
    x[2, 50] = np.nan
    np.testing.assert_array_equal(rows.lower_of_row.function(x, limits), np.tril(x, 3))
    np.testing.assert_array_equal(rows.upper_of_row.function(x, limits), np.triu(x, 4))
    np.testing.assert_allclose(rows.product_of_row.function(x[3:]), x[3:].prod(1), rtol=1e-5)


@pytest.mark.parametrize("length", [1, 8, 19, 200])
def test_layer_norm_of_few_rows(length):
    generator = np.random.default_rng(length)
    x, weight, bias = generator.standard_normal((5, length)) + 7, generator.standard_normal(length), generator.standard_normal(length)
    y, mean, rstd, variance = rows.layer_norm_of_row.function(x, weight, bias, np.array(1e-5), np.array(float(length)))
    np.testing.assert_allclose(mean, x.mean(1), rtol=1e-12)
    np.testing.assert_allclose(variance, x.var(1), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(x.var(1) + 1e-5), rtol=1e-10)
    np.testing.assert_allclose(y, (x - x.mean(1)[:, None]) * rstd[:, None] * weight + bias, rtol=1e-9, atol=1e-9)
