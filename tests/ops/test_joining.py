"""stack and its relatives, grids, block matrices, padding."""
import itertools

import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(4)
A, B = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))


def tensors(*arrays):
    return [torch.from_numpy(np.array(a)) for a in arrays]


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_stack(dim, check_gradients):
    np.testing.assert_array_equal(torch.stack(tensors(A, B), dim).numpy(), np.stack([A, B], dim))
    check_gradients(lambda a, b: torch.stack([a, b], dim), A, B)


def test_stack_promotes_and_writes_out():
    mixed = torch.stack([torch.zeros(2), torch.zeros(2, dtype=torch.float64)])
    assert mixed.dtype is torch.float64
    out = torch.empty(2, 2, 3, dtype=torch.float64)
    assert torch.stack(tensors(A, B), out=out) is out and (out.numpy()[1] == B).all()


@pytest.mark.parametrize(("name", "reference"), [("hstack", np.hstack), ("vstack", np.vstack), ("dstack", np.dstack),
                                                 ("column_stack", np.column_stack), ("row_stack", np.vstack)])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_named_stacks(name, reference, rank):
    parts = [rng.standard_normal((3,) * rank) for _ in range(3)]
    np.testing.assert_array_equal(getattr(torch, name)(tensors(*parts)).numpy(), reference(parts))


def test_at_least():
    for n, reference in ((1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)):
        for shape in ((), (2,), (2, 3), (2, 3, 4)):
            assert getattr(torch, f"atleast_{n}d")(torch.zeros(shape)).shape == reference(np.zeros(shape)).shape
    assert [x.shape for x in torch.atleast_2d([torch.zeros(2), torch.zeros(())])] == [(1, 2), (1, 1)]


def test_meshgrid(check_gradients):
    x, y, z = np.arange(2.0), np.arange(3.0), np.arange(4.0)
    for indexing in ("ij", "xy"):
        for ours, theirs in zip(torch.meshgrid(*tensors(x, y, z), indexing=indexing), np.meshgrid(x, y, z, indexing=indexing)):
            np.testing.assert_array_equal(ours.numpy(), theirs)
    check_gradients(lambda a, b: torch.meshgrid(a, b, indexing="xy"), x, y)


def test_products_of_vectors():
    x, y = tensors([1, 2], [3, 4, 5])
    assert torch.cartesian_prod(x, y).tolist() == [list(p) for p in itertools.product([1, 2], [3, 4, 5])]
    assert torch.combinations(y).tolist() == [list(c) for c in itertools.combinations([3, 4, 5], 2)]
    assert torch.combinations(y, 3, with_replacement=True).tolist() == [list(c) for c in itertools.combinations_with_replacement([3, 4, 5], 3)]
    assert torch.combinations(y, 0).shape == (0,) and torch.combinations(x, 3).shape == (0, 3)


def test_block_diag(check_gradients):
    made = torch.block_diag(*tensors(A, B[0], 7.0))
    expected = np.zeros((4, 7))
    expected[:2, :3], expected[2, 3:6], expected[3, 6] = A, B[0], 7
    np.testing.assert_array_equal(made.numpy(), expected)
    check_gradients(torch.block_diag, A, B[0])


def test_broadcast_tensors():
    x, y = torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))
    assert x.shape == y.shape == (2, 3)


@pytest.mark.parametrize("pad", [[1, 2], [0, 1, 2, 0], [-1, 1], [1, -1, -1, 2], []])
def test_constant_pad(pad, check_gradients):
    amounts = [(0, 0)] * (2 - len(pad) // 2) + [tuple(pad[i:i + 2]) for i in range(0, len(pad), 2)][::-1]
    expected = np.pad(A, [(max(b, 0), max(a, 0)) for b, a in amounts], constant_values=5)
    expected = expected[tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(expected.shape, amounts))]
    np.testing.assert_array_equal(torch.constant_pad_nd(torch.from_numpy(A), pad, 5).numpy(), expected)
    check_gradients(lambda x: torch.constant_pad_nd(x, pad, 5), A)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: torch.stack([torch.zeros(2), torch.zeros(3)]), RuntimeError, r"got \[2\] at entry 0 and \[3\] at entry 1"),
    (lambda: torch.stack([]), RuntimeError, "expects a non-empty TensorList"),
    (lambda: torch.hstack(torch.zeros(2)), TypeError, "must be tuple of Tensors, not Tensor"),
    (lambda: torch.meshgrid(torch.zeros(2, 2)), RuntimeError, "Expected 0D or 1D tensor"),
    (lambda: torch.cartesian_prod(torch.zeros(2, 2)), RuntimeError, "Expect a 1D vector"),
    (lambda: torch.block_diag(torch.zeros(2, 2, 2)), RuntimeError, "2 or fewer dimensions. Input 0 has 3"),
    (lambda: torch.constant_pad_nd(torch.zeros(2), [1]), RuntimeError, "Length of pad must be even"),
    (lambda: torch.constant_pad_nd(torch.zeros(2), [-2, -1]), RuntimeError, "resulted in a negative output size"),
    (lambda: torch.broadcast_tensors(torch.zeros(2), torch.zeros(3)), RuntimeError, "must match"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("sizes", [[(2, 2), (2, 1), (2, 3)], [(2, 2), (1, 2), (3, 2)], [(2,), (1,), (3,)], [(2,), (2, 1)], [(), (1,)]])
def test_stack_refuses_other_sizes_even_where_the_sum_fits(sizes):
    for dim in range(len(sizes[0]) + 1):
        with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
            torch.stack([torch.zeros(s) for s in sizes], dim)
