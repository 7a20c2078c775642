"""Products on the CPU, small and large, against NumPy in float64."""
import ml_dtypes
import numpy as np
import pytest

import saraph as torch
from saraph.backends import cpu
from saraph.kernels import jit

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
ERRORS = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-13, np.dtype(np.float16): 2e-3, BFLOAT16: 1e-2}
SHAPES = [((3,), (3,)), ((40000,), (40000,)), ((3, 4), (4,)), ((300, 500), (500,)), ((4,), (4, 3)), ((500,), (500, 300)), ((5, 4), (4, 3)),
          ((90, 70), (70, 80)), ((2, 3, 4), (4, 5)), ((4, 30, 60), (60, 50)), ((4, 30, 60), (4, 60, 50)), ((500,), (3, 500, 40)), ((3, 40, 500), (500,)),
          ((1, 2, 1, 2, 1, 2, 8, 9), (2, 1, 2, 1, 2, 1, 9, 40))]


@pytest.fixture(params=[True, False], ids=["kernels", "numpy"])
def either_way(request, monkeypatch):
    """With machine code, and where none can be made."""
    if not request.param:
        monkeypatch.setattr(jit, "available", lambda: False)


def assert_close(found, want, scale, dtype):
    assert found.dtype == dtype
    assert found.shape == want.shape
    np.testing.assert_allclose(found.astype(np.float64), want, rtol=ERRORS[dtype], atol=ERRORS[dtype] * scale)


@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul_by_ranks(either_way, dtype, shapes):
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(s).astype(dtype) for s in shapes)
    assert_close(np.asarray(cpu.matmul(a, b)), np.matmul(a.astype(np.float64), b.astype(np.float64)), a.shape[-1] ** 0.5, dtype)


@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize("shapes", [((0, 3), (3, 4)), ((3, 0), (0, 4)),
                                    ((3, 4), (4, 0)), ((0,), (0,)), ((2, 3, 0), (2, 0, 4)), ((0, 3, 4), (4, 5)), ((3, 0), (0,))])
def test_sizes_of_zero(either_way, dtype, shapes):
    a, b = (np.ones(s, dtype) for s in shapes)
    found = np.asarray(cpu.matmul(a, b))
    assert found.shape == np.matmul(np.ones(shapes[0]), np.ones(shapes[1])).shape
    assert not found.astype(np.float64).any()


@pytest.mark.parametrize("dtype", ERRORS)
def test_without_depth_the_addend_is_the_result(either_way, dtype):
    bias = np.arange(4).astype(dtype)
    found = cpu.linear(np.ones((3, 0), dtype), np.ones((4, 0), dtype), bias)
    np.testing.assert_array_equal(found, np.tile(bias, (3, 1)))


@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize("lead", [(3,), (70,), (5, 20), ()])
@pytest.mark.parametrize("width", [5, 150])
def test_linear_and_affine(either_way, dtype, lead, width):
    random = np.random.default_rng(1)
    x, w, bias = (random.standard_normal(s).astype(dtype) for s in ((*lead, 90) if lead else (1, 90), (width, 90), (width,)))
    wide = [v.astype(np.float64) for v in (x, w, bias)]
    product = wide[0] @ wide[1].T
    assert_close(cpu.linear(x, w, bias), product + wide[2], 10, dtype)
    assert_close(cpu.affine(bias, x, w.T, 0.5, -2), 0.5 * wide[2] - 2 * product, 20, dtype)
    ignored = np.full(width, np.nan, dtype)
    assert_close(cpu.affine(ignored, x, w.T, 0, 1), product, 10, dtype)


def test_addends_in_any_layout(either_way):
    random = np.random.default_rng(2)
    a, b = random.standard_normal((90, 60)).astype(np.float32), random.standard_normal((60, 80)).astype(np.float32)
    for addend in (random.standard_normal((80, 90)).astype(np.float32).T, random.standard_normal((90, 160)).astype(np.float32)[:, ::2],
                   random.standard_normal((90, 1)).astype(np.float32), np.array(3, np.float32)):
        assert_close(cpu.affine(addend, a, b), a.astype(np.float64) @ b + addend, 10, a.dtype)


def test_operands_and_results_in_the_same_memory():
    x = torch.randn(90, 90, dtype=torch.float64)
    y = x.clone()
    want = y @ y + y
    torch.addmm(x, x, x, out=x)
    assert torch.allclose(x, want)
    z = y.clone()
    torch.matmul(z, z, out=z)
    assert torch.allclose(z, y @ y)


def test_gradients_of_products_large_enough_for_kernels():
    x, w, b = (torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((70, 65), (80, 65), (80,)))
    g = torch.randn(70, 80, dtype=torch.float64)
    torch.nn.functional.linear(x, w, b).backward(g)
    with torch.no_grad():
        assert np.allclose(x.grad.numpy(), g.numpy() @ w.numpy())
        assert np.allclose(w.grad.numpy(), g.numpy().T @ x.numpy())
        assert np.allclose(b.grad.numpy(), g.numpy().sum(0))


def test_integers_wrap_around():
    a = np.full((2, 3), 100, np.int8)
    assert cpu.matmul(a, a.T).tolist() == [[(30000 + 128) % 256 - 128] * 2] * 2
