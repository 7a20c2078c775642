"""sum, mean, prod, logsumexp, truth and counts."""
import itertools

import ml_dtypes
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(3)
A = rng.standard_normal((3, 4, 2))
Z = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
SHAPES = [(8, 8), (3, 4, 5), (300, 5), (5, 700, 3), (40, 130), (0, 3), ()]


def tensor(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("kind", ["f", "d", "F", "D"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sum_over_every_choice_of_dimensions_and_layout(shape, kind):
    a = rng.standard_normal(shape).astype(kind)
    for b in (a, a.T, a[::-1] if a.ndim else a):
        x = torch.from_numpy(b) if all(s >= 0 for s in b.strides) else torch.from_numpy(b.copy())
        exact = b.astype("D" if kind in "FD" else "d")
        slack = 1e-6 + 6e-8 * float(np.abs(exact).sum())  # half a unit in the last place of every term
        np.testing.assert_allclose(x.sum().numpy(), exact.sum(), rtol=1e-5, atol=slack)
        for count in range(1, b.ndim + 1):
            for dims in itertools.combinations(range(b.ndim), count):
                for keepdim in (False, True):
                    got = x.sum(dims, keepdim)
                    assert got.numpy().dtype == b.dtype
                    np.testing.assert_allclose(got.numpy(), exact.sum(dims, keepdims=keepdim), rtol=1e-5, atol=slack)


def test_sum_keeps_small_terms_of_long_float32_sums():
    n = 1_000_003
    a = np.full(n, 0.1, np.float32)
    exact = float(np.float32(0.1)) * n
    assert abs(torch.from_numpy(a).sum().item() - exact) < 1e-6 * exact
    tall = torch.from_numpy(np.full((n, 2), 0.1, np.float32))
    wide = torch.from_numpy(np.full((20_000, 40), 0.1, np.float32))
    assert np.abs(tall.sum(0).numpy() - exact).max() < 1e-6 * exact
    assert np.abs(wide.sum(0).numpy() - float(np.float32(0.1)) * 20_000).max() < 1e-6 * 2000
    assert abs(torch.from_numpy(a[::2]).mean().item() - 0.1) < 1e-7


def test_sixteen_bit_sums_are_added_in_float32():
    for kind in (np.float16, ml_dtypes.bfloat16):
        x = torch.from_numpy(np.full(4096, 1.0, np.float32)).to(torch.float16 if kind is np.float16 else torch.bfloat16)
        assert x.sum().item() == 4096 and x.sum().dtype is x.dtype
        assert x.mean().item() == 1 and x.reshape(2, -1).sum(1).tolist() == [2048, 2048]


def test_integers_and_bools_add_in_int64():
    x = torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8)
    assert x.sum().dtype is torch.int64 and x.sum().item() == 10
    assert (x > 1).sum(0).tolist() == [1, 2]
    assert x.sum(dtype=torch.int8).dtype is torch.int8 and x.sum(0, dtype=torch.float32).tolist() == [4.0, 6.0]
    assert x.prod().item() == 24 and x.prod(1).dtype is torch.int64 and x.prod(0, dtype=torch.float64).tolist() == [3.0, 8.0]
    assert (x > 1).prod(1, dtype=torch.bool).tolist() == [False, True]


def test_spellings_of_dimensions():
    x = tensor(A)
    for got in (x.sum(axis=1), x.sum(dim=1), torch.sum(x, 1), torch.sum(input=x, dim=[1]), x.sum(-2)):
        np.testing.assert_allclose(got.numpy(), A.sum(1))
    assert x.sum(1, keepdims=True).shape == (3, 1, 2)
    assert x.sum(()).shape == x.sum([]).shape == x.sum(dim=None).shape == ()
    assert x.sum(dim=None, keepdim=True).shape == (1, 1, 1) and x.mean(keepdim=True).shape == (1, 1, 1)
    out = torch.empty(3, 2, dtype=torch.float64)
    assert torch.sum(x, 1, out=out) is out and np.allclose(out.numpy(), A.sum(1))
    assert torch.tensor(3.0).sum(0).item() == torch.tensor(3.0).mean(-1).item() == 3


def test_errors():
    x = tensor(A)
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.sum(3)
    with pytest.raises(RuntimeError, match="appears multiple times"):
        x.sum((0, 0))
    with pytest.raises(TypeError):
        x.sum(0, True, 1)
    with pytest.raises(TypeError):
        x.prod((0, 1))
    with pytest.raises(RuntimeError, match="could not infer output dtype.*Long"):
        torch.tensor([1, 2]).mean()
    with pytest.raises(RuntimeError, match="Bool"):
        torch.tensor([True]).mean(0)
    with pytest.raises(RuntimeError, match="not expandable"):
        x.sum_to_size(3, 3, 2)


def test_empty():
    x = torch.zeros(0, 3)
    assert x.sum().item() == 0 and x.prod().item() == 1 and np.isnan(x.mean().item())
    assert x.sum(0).tolist() == [0, 0, 0] and np.isnan(x.mean(0).numpy()).all() and x.mean(1).shape == (0,)
    assert x.logsumexp(0).tolist() == [-np.inf] * 3 and x.all().item() is True and x.any().item() is False


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "nanmean", "logsumexp"])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_gradients(name, dim, keepdim, check_gradients):
    if name == "logsumexp" and dim is None:
        dim = (0, 2)
    check_gradients(lambda x: getattr(x, name)(dim, keepdim=keepdim), A)


def test_gradients_of_complex_numbers(check_gradients):
    c = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
    for function in (lambda x: x.sum(0), lambda x: x.mean(), lambda x: x.prod(1), lambda x: x.prod(), lambda x: x.logsumexp(1)):
        check_gradients(function, c)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_prod_with_zeros_has_first_and_second_derivatives(dim, check_gradients):
    check_gradients(lambda x: x.prod() if dim is None else x.prod(dim), Z)

    def gradient(x):
        x = x if x.requires_grad else x.requires_grad_()
        y = x.prod() if dim is None else x.prod(dim)
        return torch.autograd.grad((y * y + y).sum(), x, create_graph=True)[0]

    check_gradients(gradient, Z)
    check_gradients(gradient, A[0])


def test_backward_of_sum_is_a_view_of_one_number():
    x = torch.ones(3, 4, requires_grad=True)
    x.sum().backward()
    assert x.grad.tolist() == [[1.0] * 4] * 3
    x.grad.add_(1)  # the accumulated gradient has memory of its own
    assert x.grad.sum().item() == 24
    y = torch.ones(3, 4, requires_grad=True)
    (g,) = torch.autograd.grad((y * y).sum(), y, create_graph=True)
    g.sum().backward()
    assert y.grad.tolist() == [[2.0] * 4] * 3
    assert (y.sum().grad_fn.name(), y.sum(0).grad_fn.name(), y.mean().grad_fn.name()) == ("SumBackward0", "SumBackward1", "MeanBackward0")


def test_nan_is_passed_over():
    x = torch.tensor([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    assert x.nansum().item() == 4 and x.nanmean(1).tolist()[0] == 2 and np.isnan(x.nanmean(1).tolist()[1])
    assert torch.tensor([1, 2]).nansum().dtype is torch.int64
    with pytest.raises(RuntimeError, match="complex"):
        torch.ones(2, dtype=torch.complex64).nansum()


def test_logsumexp_does_not_overflow():
    x = torch.tensor([[1000.0, 1000.0], [-1000.0, -np.inf], [-np.inf, -np.inf], [np.inf, 1.0]])
    np.testing.assert_allclose(x.logsumexp(1).numpy(), [1000 + np.log(2), -1000, -np.inf, np.inf])
    assert torch.tensor([0, 0]).logsumexp(0).dtype is torch.float32


def test_truth_and_counts():
    x = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    assert x.any().item() is True and x.all().item() is False and x.any(1).tolist() == [True, False]
    assert x.any((0, 1), keepdim=True).shape == (1, 1) and x.all(()).shape == (2, 2)
    assert x.to(torch.uint8).any(0).dtype is torch.uint8
    assert torch.tensor([0.0, np.nan]).any().item() is True
    assert x.count_nonzero().item() == 1 and x.count_nonzero((0,)).tolist() == [0, 1]
    assert x.to(torch.bfloat16).any(1).tolist() == [True, False]


def test_sum_to_size_and_trace(check_gradients):
    assert tensor(A).sum_to_size(4, 1).shape == (4, 1)
    check_gradients(lambda x: x.sum_to_size(3, 1, 2), A)
    check_gradients(torch.trace, A[0])
    assert torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int8).trace().item() == 6
    with pytest.raises(RuntimeError, match="expected a matrix"):
        tensor(A).trace()


def test_meta_tensors_have_shapes_only():
    x = torch.empty(3, 4, device="meta")
    assert x.sum().shape == () and x.mean(1, keepdim=True).shape == (3, 1) and x.to(torch.bool).sum(0).dtype is torch.int64
    assert x.prod(0).shape == (4,) and x.logsumexp(1).shape == (3,) and x.any(0).dtype is torch.bool


def test_sums_to_a_single_number_count():
    assert torch.ones((), dtype=torch.bool).sum_to_size(()).dtype is torch.int64 and torch.ones(2, 3, dtype=torch.bool).sum_to_size(2, 3).dtype is torch.bool
