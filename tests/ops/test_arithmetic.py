"""Arithmetic and comparison: dtypes, numbers of every kind, alpha, rounding modes, powers, in-place and reflected operators, errors."""
import operator

import numpy as np
import pytest

import saraph as torch


def tensor(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod"])
def test_operators_agree_with_numpy_and_with_their_reflected_and_inplace_forms(name):
    function = getattr(operator, name)
    a, b = np.array([[5.5, -7.25, 3.0]]), np.array([[2.0], [-1.5]])
    np.testing.assert_allclose(function(torch.from_numpy(a), torch.from_numpy(b)).numpy(), function(a, b))
    np.testing.assert_allclose(function(7, torch.from_numpy(b)).numpy(), function(7, b))
    x = torch.from_numpy(a.copy())
    same = getattr(operator, "i" + name)(x, 2)
    assert same is x
    np.testing.assert_allclose(x.numpy(), function(a, 2))


@pytest.mark.parametrize(("left", "right", "expected"), [
    ("float32", "float64", "float64"), ("int8", "uint8", "int16"), ("bool", "uint8", "uint8"), ("float16", "bfloat16", "float32"),
    ("int64", "float16", "float16"), ("complex64", "float64", "complex128"), ("bool", "bool", "bool")])
def test_mixed_dtypes(left, right, expected):
    x, y = torch.ones(2, dtype=getattr(torch, left)), torch.ones(2, dtype=getattr(torch, right))
    assert (x * y).dtype is getattr(torch, expected)
    assert torch.result_type(x, y) is getattr(torch, expected)


def test_weights_of_operands():
    x = torch.ones(2, dtype=torch.float32)
    assert (x + torch.tensor(1.0, dtype=torch.float64)).dtype is torch.float32
    assert (x * torch.tensor(2 + 1j, dtype=torch.complex128)).dtype is torch.complex64
    assert (torch.ones(2, dtype=torch.int32) + 1.5).dtype is torch.float32
    assert (torch.ones(2, dtype=torch.int8) + 300).tolist() == [45, 45]
    assert (torch.ones(2, dtype=torch.bool) + True).dtype is torch.bool
    assert (x + np.float64(1)).dtype is torch.float32
    assert (1 + torch.ones(2, dtype=torch.uint8)).dtype is torch.uint8


def test_integers_wrap():
    assert (torch.tensor([127], dtype=torch.int8) + 1).tolist() == [-128]
    assert (torch.tensor([200], dtype=torch.uint8) * 2).tolist() == [144]
    assert (-torch.tensor([1], dtype=torch.uint8)).tolist() == [255]
    assert torch.tensor(2**62).mul(4).item() == 0


def test_numbers_beside_16_bit_tensors_are_not_rounded():
    x = torch.tensor([300.0], dtype=torch.bfloat16)
    assert (x * 0.1).item() == 30.0
    assert torch.tensor([3.0], dtype=torch.float16).div(1e5).item() == pytest.approx(3e-5, rel=1e-3)
    assert torch.tensor([3.0], dtype=torch.float16).floor_divide(0.1).item() == 29.0
    assert (x + torch.tensor(0.9)).dtype is torch.bfloat16


@pytest.mark.parametrize("shape", [(1000,), (7, 1), (3, 40, 50)])
def test_alpha_is_rounded_once(shape):
    random = np.random.default_rng(1)
    x, y = (torch.from_numpy(random.standard_normal(shape).astype(np.float32)) for _ in range(2))
    alpha = float(np.float32(0.1234567))
    exact = (x.numpy().astype(np.float64) + alpha * y.numpy().astype(np.float64)).astype(np.float32)  # 24 + 24 bits fit into 53
    assert np.array_equal(torch.add(x, y, alpha=alpha).numpy(), exact) and np.array_equal(torch.sub(x, y, alpha=-alpha).numpy(), exact)
    assert np.array_equal(x.clone().add_(y, alpha=alpha).numpy(), exact) and np.array_equal(x.clone().sub_(y, alpha=-alpha).numpy(), exact)
    assert np.array_equal(x.clone().add_(y, alpha=torch.tensor(alpha)).numpy(), exact)
    z = torch.add(x.clone().requires_grad_(), y.clone().requires_grad_(), alpha=2)
    assert [type(f).__name__ for f, _ in z.grad_fn.next_functions] == ["AccumulateGrad", "AccumulateGrad"]


def test_alpha():
    x, y = tensor([1.0, 2.0]), tensor([10.0, 20.0])
    assert torch.add(x, y, alpha=2).tolist() == [21.0, 42.0]
    assert torch.sub(x, y, alpha=0.5).tolist() == [-4.0, -8.0]
    assert torch.rsub(x, y, alpha=2).tolist() == [8.0, 16.0]
    assert x.clone().add_(y, alpha=-0.5).tolist() == [-4.0, -8.0]
    assert x.clone().sub_(y, alpha=0.5).tolist() == [-4.0, -8.0]
    assert torch.add(torch.tensor([True]), torch.tensor([True]), alpha=True).dtype is torch.bool
    with pytest.raises(RuntimeError, match="floating point number"):
        torch.add(torch.ones(2, dtype=torch.int64), 1, alpha=0.5)
    with pytest.raises(RuntimeError, match="Boolean alpha"):
        torch.add(x, y, alpha=True)


def test_rounding_modes():
    x, y = tensor([7, -7, 7, -7], torch.int64), tensor([2, 2, -2, -2], torch.int64)
    assert torch.div(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]
    assert torch.div(x, y, rounding_mode="floor").tolist() == [3, -4, -4, 3] == (x // y).tolist()
    assert torch.div(x, y).dtype is torch.float32
    assert torch.remainder(x, y).tolist() == [1, 1, -1, -1] == (x % y).tolist()
    assert torch.fmod(x, y).tolist() == [1, -1, 1, -1]
    assert torch.div(tensor([1.0, -1.0]), 0, rounding_mode="floor").tolist() == [np.inf, -np.inf]
    for function in (torch.floor_divide, torch.remainder, torch.fmod):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            function(x, 0)
    with pytest.raises(RuntimeError, match="rounding_mode"):
        torch.div(x, y, rounding_mode="round")


def test_zeros_of_remainders_have_the_sign_of_the_dividend():
    assert np.signbit(torch.remainder(tensor([-4.0, 4.0]), 2).numpy()).tolist() == [True, False]
    assert np.signbit(torch.remainder(tensor([4.0]), -2).numpy()).tolist() == [False]


def test_powers():
    x = tensor([2.0, 3.0])
    assert (x ** 2).tolist() == [4.0, 9.0]
    assert (x ** -1).tolist() == pytest.approx([0.5, 1 / 3])
    assert (2 ** x).tolist() == [4.0, 8.0]
    assert (tensor([4.0]) ** 0.5).tolist() == [2.0]
    assert (tensor([2, 3], torch.int64) ** 3).tolist() == [8, 27]
    assert (2 ** tensor([-1, 0, 3], torch.int64)).tolist() == [0, 1, 8]
    assert ((-1) ** tensor([-3, -2], torch.int64)).tolist() == [-1, 1]
    assert torch.float_power(tensor([2], torch.int64), -1).tolist() == [0.5]
    assert torch.float_power(2, tensor([0.5], torch.float32)).dtype is torch.float64
    with pytest.raises(RuntimeError, match="negative integer powers"):
        tensor([2], torch.int64) ** -1
    with pytest.raises(RuntimeError, match="requires dtype Double"):
        torch.ones(2).float_power_(2)


def test_gradients(check_gradients):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 2, (3, 2)), rng.uniform(0.5, 2, (2,))
    for function in (torch.add, torch.sub, torch.mul, torch.div, torch.pow, torch.rsub, torch.float_power, lambda x, y: torch.add(x, y, alpha=3),
                     lambda x, y: 2 / x - y ** 3 + 2 ** y, lambda x, y: x ** 2.5 / (1 - y) * -x):
        check_gradients(function, a, b)
    check_gradients(torch.mul, a + 1j, b - 2j)
    check_gradients(torch.div, a + 1j, b - 2j)
    check_gradients(torch.pow, a + 1j, b - 2j)


def test_power_gradients_at_zero():
    x = tensor([0.0, 0.0, 2.0]).requires_grad_()
    y = tensor([0.0, 2.0, 0.0]).requires_grad_()
    (x ** y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    assert y.grad.tolist() == pytest.approx([0.0, 0.0, np.log(2.0)])


def test_comparisons():
    x = tensor([1.0, np.nan, 3.0])
    assert (x == x).tolist() == [True, False, True]
    assert (x != 1).tolist() == [False, True, True]
    assert torch.lt(x, 2).tolist() == [True, False, False] == (2 > x).tolist()
    assert (torch.tensor([250], dtype=torch.uint8) < 300).item() in (True, False)
    y = tensor([1.0, 2.0])
    assert y.gt_(1).tolist() == [0.0, 1.0] and y.dtype is torch.float64
    out = torch.empty(0, dtype=torch.float32)
    assert torch.ge(tensor([1.0, 2.0]), 2, out=out) is out and out.tolist() == [0.0, 1.0]
    assert (torch.ones(2) == None).__class__ is bool  # noqa: E711
    with pytest.raises(RuntimeError, match="not implemented for 'ComplexFloat'"):
        operator.lt(torch.ones(2, dtype=torch.complex64), 1)


@pytest.mark.parametrize("function", [torch.eq, torch.lt, torch.fmod, torch.copysign])
def test_a_number_may_not_come_first(function):
    with pytest.raises(TypeError, match="invalid combination"):
        function(1, torch.ones(2))


@pytest.mark.parametrize("function", [torch.maximum, torch.atan2, torch.hypot, torch.logical_and, torch.logaddexp, torch.nextafter, torch.heaviside])
def test_both_must_be_tensors(function):
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        function(torch.ones(2), 1)
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        function(1, torch.ones(2))


def test_foreign_operands():
    x = tensor([1.0, 2.0])
    assert (x + np.array([1.0, 1.0])).tolist() == [2.0, 3.0]
    with pytest.raises(TypeError, match="invalid combination"):
        torch.add(x, np.array([1.0, 1.0]))
    for function in (operator.add, operator.sub, operator.pow, operator.mod, operator.lt):
        with pytest.raises(TypeError):
            function(x, "text")
        with pytest.raises(TypeError):
            function([1, 2], x)


def test_bools_are_not_subtracted():
    mask = torch.tensor([True, False])
    for call in (lambda: mask - mask, lambda: torch.ones(2) - mask, lambda: torch.rsub(mask, 2), lambda: -mask, lambda: 1 - mask):
        with pytest.raises(RuntimeError, match="bool"):
            call()
    with pytest.raises(RuntimeError, match=r"`\+` operator"):
        operator.pos(mask)


def test_shapes_and_places_that_do_not_fit():
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"):
        torch.ones(3) + torch.ones(2)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(2, dtype=torch.int64).add_(0.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(2).mul_(torch.ones(3, 2))


def test_meta_tensors():
    x, y = torch.empty(3, 1, device="meta"), torch.empty(4, device="meta", dtype=torch.float64)
    z = x * 2 + y
    assert z.shape == (3, 4) and z.dtype is torch.float64 and z.device.type == "meta"
    assert (x > 0).dtype is torch.bool
    assert torch.floor_divide(x, 2).shape == (3, 1)


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.5, 1, 2, 3, 3.5])
def test_powers_of_zero_dim_tensors_are_tensors_like_others(exponent):
    x = torch.tensor(1.5, dtype=torch.float64)
    y = x.pow(exponent)
    assert y.masked_fill(torch.tensor(False), 0).item() == pytest.approx(1.5**exponent)
    norm = torch.tensor(1.5, requires_grad=True)
    torch.linalg.vector_norm(norm, 0.5).backward()
    assert norm.grad.item() == pytest.approx(1.0)
