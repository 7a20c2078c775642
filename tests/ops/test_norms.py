"""Vector norms and distances."""
import numpy as np
import pytest

import saraph as torch
from saraph.nn import functional as F

rng = np.random.default_rng(11)
A = rng.standard_normal((3, 4, 2))
B = rng.standard_normal((3, 4, 2))
C = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
ORDERS = [0, 0.5, 1, 1.5, 2, 3, np.inf, -np.inf, -1]


def tensor(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("order", ORDERS)
def test_vector_norm(order, check_gradients):
    for dim in (0, 2):
        expected = np.linalg.norm(A, order, dim)
        np.testing.assert_allclose(torch.linalg.vector_norm(tensor(A), order, dim).numpy(), expected)
        np.testing.assert_allclose(tensor(A).norm(order, dim, keepdim=True).numpy(), np.expand_dims(expected, dim))
    np.testing.assert_allclose(tensor(A).norm(order).item(), np.linalg.norm(A.ravel(), order))
    np.testing.assert_allclose(torch.linalg.vector_norm(tensor(C), order, 1).numpy(), np.linalg.norm(C, order, 1))
    if order:
        check_gradients(lambda x: torch.linalg.vector_norm(x, order, (0, 2)), A, tolerance=1e-5)
        check_gradients(lambda x: torch.linalg.vector_norm(x, order), C, tolerance=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_the_subgradient_at_zero_is_zero(order):
    x = torch.zeros(3, requires_grad=True)
    x.norm(order).backward()
    assert np.isfinite(x.grad.numpy()).all()
    y = torch.tensor([2.0, -2.0, 1.0], requires_grad=True)
    y.norm(np.inf).backward()
    assert y.grad.tolist() == [0.5, -0.5, 0]


def test_long_norms_are_accurate():
    a = np.full(1_000_000, 0.1, np.float32)
    assert abs(torch.from_numpy(a).norm().item() - 1000 * float(np.float32(0.1))) < 1e-4
    assert torch.ones(4096, dtype=torch.bfloat16).norm().item() == 64


def test_norm_arguments():
    x = tensor(A)
    assert x.norm().item() == x.norm("fro").item() and x.norm(dim=(0, 1)).shape == (2,) and x.norm(2, 0, dtype=torch.float64).dtype is torch.float64
    with pytest.raises(RuntimeError, match="floating point or complex"):
        torch.tensor([1, 2]).norm()
    with pytest.raises(RuntimeError, match="identity"):
        torch.zeros(0).norm(np.inf)
    assert torch.zeros(0, 3).norm(np.inf, dim=1).shape == (0,) and torch.zeros(0).norm().item() == 0
    with pytest.raises(TypeError):
        torch.linalg.vector_norm(x, "fro")


def test_dist_and_renorm(check_gradients):
    x, y = tensor(A), tensor(B)
    np.testing.assert_allclose(torch.dist(x, y, 3).item(), np.linalg.norm((A - B).ravel(), 3))
    check_gradients(lambda a, b: torch.dist(a, b), A, B)
    scaled = x.renorm(2, 1, 1.0)
    assert (scaled.norm(dim=(0, 2)) <= 1).all()
    small = torch.full((2, 2), 0.1)
    assert small.renorm(2, 0, 1.0).tolist() == small.tolist()
    check_gradients(lambda a: a.renorm(2, 1, 1.0), A)
    for bad in (lambda: x.renorm(-1, 0, 1.0), lambda: x.renorm(2, 0, -1.0), lambda: x[0, 0].renorm(2, 0, 1.0)):
        with pytest.raises(RuntimeError):
            bad()


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, 3.0, np.inf])
def test_cdist_and_pdist(p, check_gradients):
    a, b = A[0], rng.standard_normal((5, 2))
    expected = np.linalg.norm(a[:, None] - b[None], p, -1)
    np.testing.assert_allclose(torch.cdist(tensor(a), tensor(b), p).numpy(), expected)
    pairs = np.linalg.norm(a[:, None] - a[None], p, -1)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(F.pdist(tensor(a), p).numpy(), pairs)
    if p:
        check_gradients(lambda x, y: torch.cdist(x, y, p), a, b, tolerance=1e-5)
        check_gradients(lambda x: F.pdist(x, p), a, tolerance=1e-5)


def test_cdist_by_products_and_batches(check_gradients):
    a, b = rng.standard_normal((2, 30, 3)), rng.standard_normal((1, 28, 3))
    expected = np.linalg.norm(a[:, :, None] - b[:, None], 2, -1)
    for mode in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        np.testing.assert_allclose(torch.cdist(tensor(a), tensor(b), compute_mode=mode).numpy(), expected)
    check_gradients(lambda x, y: torch.cdist(x, y), a[:, :3], b[:, :2])
    x = tensor(a[0]).requires_grad_()
    torch.cdist(x, x).sum().backward()  # zero distances have gradient 0
    assert np.isfinite(x.grad.numpy()).all()
    assert torch.cdist(torch.zeros(0, 2), torch.zeros(3, 2)).shape == (0, 3)
    for bad in (lambda: torch.cdist(torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2)), lambda: torch.cdist(torch.ones(2, 2), torch.ones(2, 3)),
                lambda: torch.cdist(torch.ones(2), torch.ones(2, 2))):
        with pytest.raises(RuntimeError):
            bad()


def test_pairwise_distance_and_cosine_similarity(check_gradients):
    x, y = tensor(A), tensor(B)
    np.testing.assert_allclose(F.pairwise_distance(x, y).numpy(), np.linalg.norm(A - B + 1e-6, 2, -1))
    expected = (A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)
    np.testing.assert_allclose(F.cosine_similarity(x, y).numpy(), expected)
    assert F.cosine_similarity(torch.zeros(1, 3), torch.ones(1, 3)).item() == 0
    check_gradients(lambda a, b: F.pairwise_distance(a, b, 3.0, keepdim=True), A, B)
    check_gradients(lambda a, b: F.cosine_similarity(a, b, dim=-1), A, B)
    with pytest.raises(RuntimeError, match="Long"):
        F.cosine_similarity(torch.tensor([[1]]), torch.tensor([[1]]))
