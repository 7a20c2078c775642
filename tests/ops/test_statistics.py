"""Variance, medians, quantiles, modes, covariance."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(9)
A = rng.standard_normal((3, 4, 2))
C = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))


def tensor(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("shape", [(4, 5), (3, 40_000), (2, 70_000), (5, 7, 9)])
@pytest.mark.parametrize("kind", ["f", "d"])
def test_variance_is_numpys(shape, kind):
    a = (rng.standard_normal(shape) + 100).astype(kind)
    x = torch.from_numpy(a)
    for dim in (None, 0, -1, (0, 1)):
        expected = a.astype("d").var(dim, ddof=1)
        for got in (x.var(dim), x.std(dim) ** 2, torch.var_mean(x, dim)[0], torch.std_mean(x, dim)[0] ** 2):
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4 if kind == "f" else 1e-10)
        np.testing.assert_allclose(torch.var_mean(x, dim)[1].numpy(), a.astype("d").mean(dim), rtol=1e-6)


def test_overloads_of_variance():
    x = tensor(A)
    biased = A.var(0)
    for got in (x.var(0, False), x.var(0, unbiased=False), x.var(dim=0, correction=0), x.var((0,), False, True)[0],
                torch.std_mean(x, 0, False)[0] ** 2):
        np.testing.assert_allclose(got.numpy(), biased)
    assert abs(x.var(False).item() - A.var()) < 1e-12 and abs(x.std(unbiased=False).item() - A.std()) < 1e-12
    assert x.var(keepdim=True).shape == (1, 1, 1)
    np.testing.assert_allclose(x.var(0, correction=0.5).numpy(), A.var(0) * 3 / 2.5)
    np.testing.assert_allclose(tensor(C).var().item(), C.var(ddof=1))
    assert np.isnan(torch.tensor(3.0).var().item()) and np.isinf(torch.tensor([1.0, 2.0]).var(correction=2).item())
    with pytest.raises(TypeError):
        x.var(0, False, correction=1)
    with pytest.raises(RuntimeError, match="floating point"):
        torch.tensor([1, 2]).std()


@pytest.mark.parametrize("dim", [None, 1, (0, 2)])
def test_gradients_of_variance(dim, check_gradients):
    for function in (torch.var, torch.std, torch.var_mean, torch.std_mean):
        check_gradients(lambda x, f=function: f(x, dim, correction=0), A, tolerance=1e-5)
    check_gradients(lambda x: x.var(0), C)
    x = torch.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_median():
    x = torch.tensor([[3.0, 1.0, 2.0, 4.0], [1.0, np.nan, 0.0, 5.0]])
    assert torch.tensor([3, 1, 2, 4]).median().item() == 2 and np.isnan(x.median().item()) and x.nanmedian().item() == 2
    values, indices = x.median(1)
    assert values[0].item() == 2 and np.isnan(values[1].item()) and indices.tolist() == [2, 1]
    assert x.nanmedian(1).values.tolist() == [2, 1] and x.median(0, True).values.shape == (1, 4)
    assert np.isnan(torch.tensor([np.nan, np.nan]).nanmedian().item()) and np.isnan(torch.zeros(0).median().item())
    with pytest.raises(IndexError, match="non-zero size"):
        torch.zeros(0, 3).median(0)


def test_kthvalue_and_mode():
    x = torch.tensor([3.0, 1.0, np.nan, 2.0])
    assert x.kthvalue(2).values.item() == 2 and x.kthvalue(4).indices.item() == 2
    long = tensor(rng.permutation(5000).astype("f"))
    assert long.kthvalue(1234).values.item() == 1233
    values, indices = torch.tensor([[1, 2, 2, 1, 3], [5, 4, 4, 4, 5]]).mode()
    assert values.tolist() == [1, 4] and indices.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="out of range"):
        x.kthvalue(5)


def test_gradients_of_selections(check_gradients):
    for function in (lambda x: x.median(), lambda x: x.median(1).values, lambda x: x.nanmedian(0, True)[0], lambda x: x.kthvalue(2, 1)[0],
                     lambda x: x.mode(1)[0], lambda x: x.quantile(0.3), lambda x: x.quantile(torch.tensor([0.1, 0.7], dtype=torch.float64), 1)):
        check_gradients(function, A)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_quantile_is_numpys(method, dim):
    q = np.array([0.0, 0.2, 0.55, 1.0])
    x = tensor(A)
    got = x.quantile(tensor(q), dim, interpolation=method)
    np.testing.assert_allclose(got.numpy(), np.quantile(A, q, dim, method=method))
    b = A.copy()
    b[0, 0, 0] = np.nan
    np.testing.assert_allclose(tensor(b).nanquantile(tensor(q), dim, True, interpolation=method).numpy(),
                               np.nanquantile(b, q, dim, method=method, keepdims=True))
    assert np.isnan(tensor(b).quantile(0.5).item()) and x.quantile(0.5, keepdim=True).shape == (1, 1, 1)


def test_quantile_errors():
    x = tensor(A)
    for bad in (lambda: x.quantile(1.5), lambda: x.quantile(0.5, interpolation="x"), lambda: torch.tensor([1, 2]).quantile(0.5),
                lambda: x.quantile(torch.tensor(0.5)), lambda: torch.zeros(0).quantile(0.5), lambda: x.quantile(tensor([[0.5]]))):
        with pytest.raises(RuntimeError, match="quantile"):
            bad()


def test_covariance(check_gradients):
    a = A[:, :, 0]
    x = tensor(a)
    f, w = np.array([1, 2, 0, 3]), np.array([0.5, 1.0, 2.0, 0.1])
    np.testing.assert_allclose(x.cov().numpy(), np.cov(a))
    np.testing.assert_allclose(x.cov(correction=0).numpy(), np.cov(a, ddof=0))
    np.testing.assert_allclose(x.cov(fweights=tensor(f), aweights=tensor(w)).numpy(), np.cov(a, fweights=f, aweights=w))
    np.testing.assert_allclose(tensor(C).cov().numpy(), np.cov(C))
    np.testing.assert_allclose(x.corrcoef().numpy(), np.corrcoef(a))
    assert x[0].cov().shape == ()
    check_gradients(torch.cov, a)
    check_gradients(torch.corrcoef, a, tolerance=1e-5)
    with pytest.raises(RuntimeError, match="two or fewer dimensions"):
        tensor(A).cov()
    with pytest.raises(RuntimeError, match="integral"):
        x.cov(fweights=tensor(w))


def test_kthvalue_into_its_input():
    x = torch.tensor([3.0, 1.0, 2.0])
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.kthvalue(x, 1, out=(x[:1], torch.zeros(1, dtype=torch.int64)))
    assert x.tolist() == [3.0, 1.0, 2.0]
