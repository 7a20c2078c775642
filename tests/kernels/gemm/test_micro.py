import ctypes

import numpy as np
import pytest

from saraph.kernels import jit
from saraph.kernels.gemm import micro
from saraph.kernels.ir import I64, POINTER, Module


def inner_product(product, tile, unroll, started):
    """A function (depth, a, b, c): c = the tile's sums over panels of a and b, on top of c where `started`."""
    module = Module()
    function = module.function("tile", (("depth", I64), ("a", POINTER), ("b", POINTER), ("c", POINTER)))
    depth, a, b, c = function.parameters
    size, total = product.element.size, product.total.vector(tile.lanes)

    def place(i, j):
        return function.offset(c, (i * tile.vectors + j) * total.size)

    start = [[function.load(total, place(i, j)) for j in range(tile.vectors)] for i in range(tile.rows)] if started else None
    totals = micro.accumulate(
        function, product, tile, depth, lambda k, i: function.offset(a, (k * tile.rows + i) * size),
        lambda k, j: function.load(product.element.vector(tile.lanes), function.offset(b, (k * tile.vectors + j) * (tile.lanes * size))), start, unroll)
    for i, row in enumerate(totals):
        for j, value in enumerate(row):
            function.store(value, place(i, j))
    function.give_back()
    address = jit.compile(module.text()).address("tile")
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3)(address)


def run(call, depth, *arrays):
    call(depth, *(array.ctypes.data for array in arrays))


@pytest.mark.parametrize("limit", ["", "avx2", "sse2"])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4])
@pytest.mark.parametrize("product", [micro.FLOAT32, micro.FLOAT64])
def test_sums_of_products(limit, vectors, product):
    if jit.host().architecture != "x86_64":
        limit = ""
    with jit.host_as(limit) as host:
        tile = micro.tile(host, product, vectors)
        plain, unrolled = inner_product(product, tile, 1, False), inner_product(product, tile, 4, True)
    random = np.random.default_rng(vectors)
    dtype = np.dtype(product.name)
    for depth in (0, 1, 3, 8, 21):
        a, b = (random.standard_normal((depth, n)).astype(dtype) for n in (tile.rows, tile.columns))
        c = np.full((tile.rows, tile.columns), np.nan, dtype)
        run(plain, depth, a, b, c)
        want = a.astype(np.float64).T @ b
        np.testing.assert_allclose(c, want, rtol=0, atol=100 * np.finfo(dtype).eps)
        c[...] = 3
        run(unrolled, depth, a, b, c)
        np.testing.assert_allclose(c, want + 3, rtol=0, atol=100 * np.finfo(dtype).eps)


def test_pairs_of_bfloat16():
    if not micro.available(jit.host(), micro.BFLOAT16):
        pytest.skip("the processor multiplies no bfloat16")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tile = micro.tile(jit.host(), micro.BFLOAT16)
    call = inner_product(micro.BFLOAT16, tile, 2, False)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((5, n, 2)).astype(ml_dtypes.bfloat16) for n in (tile.rows, tile.columns))
    c = np.empty((tile.rows, tile.columns), np.float32)
    run(call, 5, a, b, c)
    np.testing.assert_allclose(c, np.einsum("kip,kjp->ij", a.astype(np.float64), b.astype(np.float64)), rtol=0, atol=1e-5)


def test_fours_of_bytes():
    if not micro.available(jit.host(), micro.INT8):
        pytest.skip("the processor multiplies no bytes")
    tile = micro.tile(jit.host(), micro.INT8)
    call = inner_product(micro.INT8, tile, 1, False)
    random = np.random.default_rng(0)
    a = random.integers(0, 256, (7, tile.rows, 4)).astype(np.uint8)
    b = random.integers(-128, 128, (7, tile.columns, 4)).astype(np.int8)
    c = np.empty((tile.rows, tile.columns), np.int32)
    run(call, 7, a, b, c)
    np.testing.assert_array_equal(c, np.einsum("kip,kjp->ij", a.astype(np.int64), b.astype(np.int64)))
