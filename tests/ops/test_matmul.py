"""Matrix products: values against NumPy, gradients against differences, errors."""
import numpy as np
import pytest

import saraph as torch
import saraph.nn.functional as F

rng = np.random.default_rng(0)
SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)),
          ((5, 1, 2, 3), (4, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((4, 0, 3), (3, 2)),
          ((6, 5, 2, 3), (3,)), ((0,), (0,))]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "uint8"])
def test_matmul_values(a, b, dtype):
    x, y = (rng.standard_normal(s) * 4 for s in (a, b))
    x, y = (np.abs(v).astype(dtype) if dtype == "uint8" else v.astype(dtype) for v in (x, y))
    expected = np.matmul(x, y)
    result = torch.from_numpy(x) @ torch.from_numpy(y)
    assert result.shape == expected.shape and str(result.dtype) == f"torch.{dtype}"
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_gradients(a, b, check_gradients):
    check_gradients(torch.matmul, rng.standard_normal(a), rng.standard_normal(b))


def test_complex_gradients(check_gradients):
    x, y = (rng.standard_normal((2, 3, 3)) + 1j * rng.standard_normal((2, 3, 3)) for _ in range(2))
    check_gradients(torch.matmul, x, y)
    check_gradients(torch.vdot, x[0, 0], y[0, 0])


def test_second_derivative(check_gradients):
    def once(x, y):
        x, y = x.detach().requires_grad_() if not x.requires_grad else x, y
        (g,) = torch.autograd.grad(((x @ y) ** 3).sum(), x, create_graph=True)
        return g

    check_gradients(once, rng.standard_normal((2, 3)), rng.standard_normal((3, 2)), tolerance=1e-5)


def test_strided_operands():
    x, y = rng.standard_normal((6, 8)), rng.standard_normal((8, 6))
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    np.testing.assert_allclose((a.t() @ b.t()).numpy(), x.T @ y.T)
    batch = rng.standard_normal((3, 4, 5, 6))
    t = torch.from_numpy(batch).permute(1, 0, 3, 2)
    np.testing.assert_allclose((t @ t.mT).numpy(), batch.transpose(1, 0, 3, 2) @ batch.transpose(1, 0, 2, 3))


def test_large_integers_are_exact():
    x = rng.integers(-(2**40), 2**40, (20, 20))
    y = rng.integers(-1000, 1000, (20, 20))
    assert ((torch.from_numpy(x) @ torch.from_numpy(y)).numpy() == x @ y).all()
    small = rng.integers(-100, 100, (64, 64)).astype(np.int8)
    assert ((torch.from_numpy(small) @ torch.from_numpy(small)).numpy() == small @ small).all()


def test_half_precision_is_rounded_once():
    x = rng.standard_normal((8, 64)).astype(np.float32)
    for dtype in (torch.bfloat16, torch.float16):
        a = torch.from_numpy(x).to(dtype)
        expected = torch.from_numpy(a.float().numpy() @ a.float().numpy().T).to(dtype)
        assert ((a @ a.t()).float().numpy() == expected.float().numpy()).all()
        assert (a @ a.t()).dtype is dtype


@pytest.mark.parametrize(("shapes", "text"), [
    (((2, 3), (4, 5)), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    (((2, 2, 3), (4, 5)), r"cannot be multiplied \(4x3 and 4x5\)"),
    (((2, 3), (4,)), r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
    (((3,), (4,)), "inconsistent tensor size"),
    (((), (3,)), "both arguments to matmul need to be at least 1D"),
    (((2, 2, 3), (3, 3, 2)), "must match the size of tensor b"),
])
def test_shape_errors(shapes, text):
    with pytest.raises(RuntimeError, match=text):
        torch.zeros(shapes[0]) @ torch.zeros(shapes[1])


def test_other_errors():
    x = torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype, but got: float != double"):
        x @ x.double()
    with pytest.raises(TypeError):
        x @ 3
    with pytest.raises(RuntimeError, match="not implemented for 'Bool'"):
        x.bool() @ x.bool()
    with pytest.raises(RuntimeError, match="must be a matrix"):
        torch.mm(x, torch.zeros(2))
    with pytest.raises(RuntimeError, match="must be a 3D tensor"):
        torch.bmm(x, x)
    with pytest.raises(RuntimeError, match="1D tensors expected"):
        torch.dot(x, x)


def test_node_names():
    x = torch.zeros(2, 2, requires_grad=True)
    v = torch.zeros(2)
    assert (x @ x).grad_fn.name() == "MmBackward0" and (x @ v).grad_fn.name() == "MvBackward0"
    assert F.linear(x, x, v).grad_fn.name() == "AddmmBackward0"


@pytest.mark.parametrize("lead", [(), (4,), (2, 4), (0,), (2, 0, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(lead, bias, check_gradients):
    x, w, b = rng.standard_normal((*lead, 3)), rng.standard_normal((5, 3)), rng.standard_normal(5)
    arguments = (x, w, b) if bias else (x, w)
    expected = x @ w.T + (b if bias else 0)
    np.testing.assert_allclose(F.linear(*[torch.from_numpy(a) for a in arguments]).numpy(), expected)
    check_gradients(F.linear, *arguments)


def test_linear_vector_weight_and_complex(check_gradients):
    x, w = rng.standard_normal((4, 3)), rng.standard_normal(3)
    np.testing.assert_allclose(F.linear(torch.from_numpy(x), torch.from_numpy(w)).numpy(), x @ w)
    z, v = x + 1j * x[::-1], rng.standard_normal((2, 3)) + 1j
    np.testing.assert_allclose(F.linear(torch.from_numpy(z), torch.from_numpy(v)).numpy(), z @ v.T)
    check_gradients(F.linear, z, v)


def test_linear_errors():
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 4x5\)"):
        F.linear(torch.zeros(2, 3), torch.zeros(5, 4), torch.zeros(5))
    with pytest.raises(RuntimeError, match="mat1 and mat2 must have the same dtype, but got Double and Float"):
        F.linear(torch.zeros(2, 3).double(), torch.zeros(5, 3), torch.zeros(5))
    with pytest.raises(RuntimeError, match="must match the existing size"):
        F.linear(torch.zeros(2, 3), torch.zeros(5, 3), torch.zeros(4))


def test_only_needed_tensors_are_saved():
    x, w = torch.zeros(2, 2), torch.zeros(2, 2, requires_grad=True)
    assert [s is not None for s in (x @ w).grad_fn.saved] == [True, False]
