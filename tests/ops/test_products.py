"""addmm and its relatives, outer products, tensordot, kron, cross, chains and powers."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(1)


def tensors(*arrays):
    return [torch.from_numpy(a) for a in arrays]


def test_added_products(check_gradients):
    m, x, y = rng.standard_normal((2, 4)), rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    np.testing.assert_allclose(torch.addmm(*tensors(m, x, y), beta=2, alpha=3).numpy(), 2 * m + 3 * x @ y)
    check_gradients(lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), m[:1], x, y)
    v = rng.standard_normal(3)
    np.testing.assert_allclose(torch.addmv(*tensors(m[:, 0], x, v), beta=2, alpha=3).numpy(), 2 * m[:, 0] + 3 * x @ v)
    b1, b2 = rng.standard_normal((5, 2, 3)), rng.standard_normal((5, 3, 4))
    np.testing.assert_allclose(torch.addbmm(*tensors(m, b1, b2)).numpy(), m + (b1 @ b2).sum(0))
    np.testing.assert_allclose(torch.baddbmm(*tensors(m, b1, b2), alpha=2).numpy(), m + 2 * b1 @ b2)
    np.testing.assert_allclose(torch.addr(*tensors(m, m[:, 0], v[[0, 1, 2, 0]]), beta=2).numpy(), 2 * m + np.outer(m[:, 0], v[[0, 1, 2, 0]]))
    check_gradients(torch.addbmm, m, b1, b2)


def test_beta_zero_ignores_nan():
    bad = torch.full((2, 2), float("nan"))
    assert torch.addmm(bad, torch.ones(2, 2), torch.ones(2, 2), beta=0).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_in_place_form():
    m = torch.ones(2, 2)
    assert m.addmm_(torch.ones(2, 2), torch.ones(2, 2)) is m and m.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_outer_inner_tensordot(check_gradients):
    x, y = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 3, 5))
    np.testing.assert_allclose(torch.tensordot(*tensors(x, y), dims=([1, 2], [1, 0])).numpy(), np.tensordot(x, y, ([1, 2], [1, 0])))
    np.testing.assert_allclose(torch.tensordot(*tensors(x, y), dims=1).numpy(), np.tensordot(x, y, 1))
    assert torch.tensordot(*tensors(x, y), dims=0).shape == (2, 3, 4, 4, 3, 5)
    np.testing.assert_allclose(torch.inner(*tensors(x, x)).numpy(), np.inner(x, x))
    np.testing.assert_allclose(torch.outer(*tensors(x[0, 0], y[0, 0])).numpy(), np.outer(x[0, 0], y[0, 0]))
    check_gradients(lambda a, b: torch.tensordot(a, b, ([1, 2], [1, 0])), x, y)


def test_tensordot_broadcasts_a_contracted_one():
    x, y = rng.standard_normal((2, 1)), rng.standard_normal((3, 4))
    np.testing.assert_allclose(torch.tensordot(*tensors(x, y), dims=([1], [0])).numpy(), np.tensordot(x[:, 0], y.sum(0), 0))


def test_kron_and_cross(check_gradients):
    x, y = rng.standard_normal((2, 3)), rng.standard_normal((4, 1, 3))
    np.testing.assert_allclose(torch.kron(*tensors(x, y)).numpy(), np.kron(x, y))
    np.testing.assert_allclose(torch.linalg.cross(*tensors(x, y[:, 0][:2])).numpy(), np.cross(x, y[:, 0][:2]))
    np.testing.assert_allclose(torch.cross(*tensors(x.T.copy(), x.T[::-1].copy())).numpy(), np.cross(x.T, x.T[::-1], axis=0))
    check_gradients(torch.kron, x, y)
    check_gradients(lambda a, b: torch.linalg.cross(a, b), x[:1], x)
    z = x + 1j * rng.standard_normal((2, 3))
    check_gradients(torch.linalg.cross, z, z[::-1].copy())


def test_vecdot(check_gradients):
    x, y = rng.standard_normal((2, 3)) + 1j, rng.standard_normal((2, 3)) - 2j
    np.testing.assert_allclose(torch.linalg.vecdot(*tensors(x, y)).numpy(), (x.conj() * y).sum(-1))
    np.testing.assert_allclose(torch.linalg.vecdot(*tensors(x, y), dim=0).numpy(), (x.conj() * y).sum(0))
    check_gradients(torch.linalg.vecdot, x, y)


def test_chains_take_the_cheapest_order():
    sizes = [10, 30, 5, 60, 2]
    matrices = [rng.standard_normal((n, m)) for n, m in zip(sizes, sizes[1:])]
    expected = np.linalg.multi_dot(matrices)
    np.testing.assert_allclose(torch.linalg.multi_dot(tensors(*matrices)).numpy(), expected)
    np.testing.assert_allclose(torch.chain_matmul(*tensors(*matrices)).numpy(), expected)
    vectors = [matrices[0][0], *matrices[1:-1], matrices[-1][:, 0]]
    assert torch.linalg.multi_dot(tensors(*vectors)).shape == ()


def test_matrix_power(check_gradients):
    x = rng.standard_normal((2, 3, 3))
    for n in (0, 1, 2, 5, -1, -3):
        np.testing.assert_allclose(torch.matrix_power(torch.from_numpy(x), n).numpy(), np.linalg.matrix_power(x, n), rtol=1e-9)
    check_gradients(lambda a: torch.linalg.matrix_power(a, 3), x[0])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: torch.addmm(torch.zeros(3, 2), torch.zeros(2, 3), torch.zeros(3, 5)), "must match the existing size"),
    (lambda: torch.baddbmm(torch.zeros(2, 2), torch.zeros(2, 2, 3), torch.zeros(3, 3, 2)), "same number of batches, got 2 and 3"),
    (lambda: torch.addr(torch.zeros(2, 2), torch.zeros(2, 2), torch.zeros(3)), "Expected 1-D argument vec1, but got 2-D"),
    (lambda: torch.inner(torch.zeros(2, 3), torch.zeros(2, 2)), "the last dimension must match"),
    (lambda: torch.tensordot(torch.zeros(2, 3), torch.zeros(2, 3), 1), "contracted dimensions need to match"),
    (lambda: torch.matrix_power(torch.zeros(2, 3), 2), "batches of square matrices"),
    (lambda: torch.cross(torch.zeros(2, 2), torch.zeros(2, 2)), "no dimension of size 3"),
    (lambda: torch.linalg.multi_dot([torch.zeros(2, 3)]), "at least 2 tensors but got 1"),
])
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_the_power_0_is_a_constant_with_a_gradient_of_zeros():
    x = torch.full((2, 3, 3), float("inf"), dtype=torch.float64, requires_grad=True)
    y = torch.linalg.matrix_power(x, 0)
    y.sum().backward()
    assert torch.equal(y.detach(), torch.eye(3, dtype=torch.float64).expand(2, 3, 3)) and x.grad.abs().sum() == 0
