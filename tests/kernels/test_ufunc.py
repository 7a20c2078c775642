import gc

import numpy as np
import pytest

from saraph.kernels import jit
from saraph.kernels.ir import DOUBLE, I32, I64, POINTER, Module
from saraph.kernels.ufunc import make_ufunc

FLOAT64 = np.dtype(np.float64)


def plus_one(function, x):
    return x + 1.0


def test_a_ufunc_with_two_dtypes(elementwise):
    add = elementwise(plus_one)
    assert isinstance(add, np.ufunc) and (add.nin, add.nout, add.signature) == (1, 1, None)
    for dtype in (np.float32, np.float64):
        x = np.arange(24, dtype=dtype).reshape(2, 3, 4)
        assert add(x).dtype == dtype
        for view in (x, x.T, x[:, ::-1, ::2], x[:0], x[0, 0, 0], np.broadcast_to(x[:, :1], (2, 5, 4))):
            np.testing.assert_array_equal(add(view), np.asarray(view) + 1)
        np.testing.assert_array_equal(add(x, where=x > 5, out=np.zeros_like(x)), np.where(x > 5, x + 1, 0))


def test_misaligned_and_swapped_memory(elementwise):
    add = elementwise(plus_one)
    memory = np.zeros(8 * 5 + 1, np.uint8)
    x = memory[1:].view(np.float64)
    x[...] = np.arange(5)
    assert not x.flags.aligned
    np.testing.assert_array_equal(add(x), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(add(x, out=x), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(add(np.arange(5, dtype=">f8")), [1, 2, 3, 4, 5])


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float16, np.complex64, object])
def test_other_dtypes_are_refused(elementwise, dtype):
    with pytest.raises(TypeError, match="plus_one"):
        elementwise(plus_one)(np.ones(3, dtype))


def matrix_times_vector():
    """(m,n),(n)->(m): every core step is used."""
    module = Module()
    names = ("context", "data", "dimensions", "strides", "auxiliary")
    function = module.function("loop", [(name, POINTER) for name in names], I32)
    _, data, dimensions, strides, _ = function.parameters
    turns, m, n = (function.load(I64, function.offset(dimensions, 8 * index)) for index in range(3))
    pointers = [function.load(POINTER, function.offset(data, 8 * index)) for index in range(3)]
    steps = [function.load(I64, function.offset(strides, 8 * index)) for index in range(7)]
    with function.range(0, turns) as turn:
        matrix, vector, result = (function.offset(pointer, turn * step)
                                  for pointer, step in zip(pointers, steps[:3], strict=True))
        with function.range(0, m) as row:
            total = function.variable(DOUBLE, 0.0)
            with function.range(0, n) as column:
                left = function.load(DOUBLE, function.offset(matrix, row * steps[3] + column * steps[4]))
                total.set(total.get() + left * function.load(DOUBLE, function.offset(vector, column * steps[5])))
            function.store(total.get(), function.offset(result, row * steps[6]))
    function.give_back(0)
    return make_ufunc("product", 2, 1, {(FLOAT64,) * 3: jit.compile(module.text()).address("loop")}, "(m,n),(n)->(m)")


def test_a_gufunc_gets_the_steps_of_all_core_dimensions():
    product, rng = matrix_times_vector(), np.random.default_rng(0)
    assert product.signature == "(m,n),(n)->(m)"
    matrix, vector = rng.integers(-9, 9, (6, 4, 5)).astype(float), rng.integers(-9, 9, (3, 1, 5)).astype(float)
    for a, v in ((matrix, vector), (matrix[::-1, :, ::-1], vector), (matrix.transpose(0, 2, 1), vector[..., :4]),
                 (matrix[:, :0], vector), (matrix[..., :0], vector[..., :0]), (matrix[0], vector[0, 0])):
        np.testing.assert_array_equal(product(a, v), (a @ v[..., None])[..., 0])
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        product(matrix, vector[..., :3])


def test_ufuncs_outlive_what_they_were_made_from(elementwise):
    ufuncs = [elementwise(plus_one) for _ in range(20)]
    gc.collect()
    assert all(ufunc(1.5) == 2.5 for ufunc in ufuncs)


def test_wrong_declarations_are_refused():
    with pytest.raises(ValueError, match="a loop of 2 dtypes"):
        make_ufunc("wrong", 2, 1, {(FLOAT64,) * 2: 0})
    with pytest.raises(ValueError):
        make_ufunc("wrong", 1, 1, {}, "(n->(n)")
