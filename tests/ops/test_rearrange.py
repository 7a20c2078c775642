"""Transposes by name, flatten, flip, roll, repeat, diagonals, triangles."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(3)
X = rng.standard_normal((2, 3, 4))


def t(a=X):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: x.movedim(0, 2), np.moveaxis(X, 0, 2)),
    (lambda x: torch.moveaxis(x, (0, 1), (-1, 0)), np.moveaxis(X, (0, 1), (-1, 0))),
    (lambda x: x.mT, X.swapaxes(1, 2)),
    (lambda x: x.T, X.T),
    (lambda x: x.flatten(1), X.reshape(2, 12)),
    (lambda x: x.transpose(0, 2).flatten(), X.transpose(2, 1, 0).reshape(-1)),
    (lambda x: x.unflatten(2, (2, -1)), X.reshape(2, 3, 2, 2)),
    (lambda x: x.transpose(0, 1).ravel(), X.transpose(1, 0, 2).reshape(-1)),
    (lambda x: x.flip(0, 2), X[::-1, :, ::-1]),
    (lambda x: torch.fliplr(x), X[:, ::-1]),
    (lambda x: torch.flipud(x), X[::-1]),
    (lambda x: x.roll(5), np.roll(X, 5)),
    (lambda x: x.roll((1, -2), (0, 2)), np.roll(X, (1, -2), (0, 2))),
    (lambda x: x.rot90(), np.rot90(X)),
    (lambda x: torch.rot90(x, 3, (1, 2)), np.rot90(X, 3, (1, 2))),
    (lambda x: torch.rot90(x, -2, (2, 0)), np.rot90(X, -2, (2, 0))),
    (lambda x: x.repeat(2, 1, 3), np.tile(X, (2, 1, 3))),
    (lambda x: x.repeat(2, 1, 1, 2), np.tile(X, (2, 1, 1, 2))),
    (lambda x: x.tile(2), np.tile(X, 2)),
    (lambda x: x.repeat_interleave(2), np.repeat(X, 2)),
    (lambda x: x.repeat_interleave(3, 1), np.repeat(X, 3, 1)),
    (lambda x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1), np.repeat(X, [2, 0, 1], 1)),
    (lambda x: x.tril(1), np.tril(X, 1)),
    (lambda x: x.triu(-1), np.triu(X, -1)),
    (lambda x: x.diag_embed(), np.stack([[np.diag(v) for v in m] for m in X])),
    (lambda x: x[0, 0].diag(1), np.diag(X[0, 0], 1)),
    (lambda x: x[0].diag(-1), np.diag(X[0], -1)),
    (lambda x: torch.diagflat(x[0], 1), np.diagflat(X[0], 1)),
    (lambda x: torch.broadcast_to(x, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4))),
    (lambda x: x.view_as(torch.zeros(6, 4)), X.reshape(6, 4)),
    (lambda x: x.transpose(0, 1).reshape_as(torch.zeros(24)), X.transpose(1, 0, 2).reshape(24)),
])
def test_values_and_gradients(function, expected, check_gradients):
    result = function(t())
    assert result.shape == expected.shape
    assert (result.numpy() == expected).all()
    check_gradients(function, X)


def test_views_share_memory_and_copies_do_not():
    x = torch.zeros(2, 3)
    x.t().fill_(1), x.mT.fill_(2), x.flatten().fill_(3), x.movedim(0, 1).fill_(4)
    assert (x.numpy() == 4).all()
    x.flip(0).fill_(9), x.roll(1).fill_(9), x.repeat(1, 1).fill_(9), x.rot90(0).fill_(9)
    assert (x.numpy() == 4).all()


def test_flatten_returns_its_input_where_nothing_changes():
    x = torch.zeros(3)
    assert x.flatten() is x and torch.zeros(()).flatten().shape == (1,)


def test_diag_embed_places():
    x = rng.standard_normal((2, 3))
    made = torch.from_numpy(x).diag_embed(offset=-1, dim1=0, dim2=2)
    assert made.shape == (4, 2, 4)
    for row in range(2):
        np.testing.assert_array_equal(made.numpy()[:, row, :], np.diag(x[row], -1))


def test_adjoint_conjugates():
    x = X[0] + 1j * X[1]
    np.testing.assert_array_equal(torch.from_numpy(x).mH.numpy(), x.conj().T)
    np.testing.assert_array_equal(torch.from_numpy(x).H.numpy(), x.conj().T)
    np.testing.assert_array_equal(torch.adjoint(torch.from_numpy(x)).numpy(), x.conj().T)


def test_empty_and_zero_dim():
    assert torch.zeros(0, 3).flip(0).shape == (0, 3) and torch.zeros(()).flip(0).shape == ()
    assert torch.zeros(2, 0).repeat(2, 3).shape == (4, 0) and torch.zeros(2, 3).repeat(0, 1).shape == (0, 3)
    assert torch.zeros(0, 0).tril().shape == (0, 0) and torch.zeros(0).diag().shape == (0, 0)
    assert torch.broadcast_shapes((2, 1), (3,), 1) == (2, 3)


def test_bfloat16_and_bool_triangles():
    assert torch.ones(2, 2, dtype=torch.bfloat16).tril().dtype is torch.bfloat16
    assert torch.ones(2, 2, dtype=torch.bool).triu(1).tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: x.t(), RuntimeError, "<= 2 dimensions, but self is 3D"),
    (lambda x: x.H, RuntimeError, "only supported on matrices"),
    (lambda x: x.flatten(2, 1), RuntimeError, "start_dim cannot come after end_dim"),
    (lambda x: x.unflatten(1, (2, 2)), RuntimeError, "don't multiply up to the size of dim 1"),
    (lambda x: x.movedim((0, 1), 1), RuntimeError, "Invalid source or destination dims"),
    (lambda x: x.flip(0, 0), RuntimeError, "multiple times in the list of dims"),
    (lambda x: x.roll(1, (0, 1)), RuntimeError, "shifts and dimensions must align"),
    (lambda x: x.rot90(1, (0, 0)), RuntimeError, "expected rotation dims to be different"),
    (lambda x: x.repeat(2), RuntimeError, "can not be smaller than number of dimensions"),
    (lambda x: x.repeat_interleave(-1), RuntimeError, "Repeats must be non-negative"),
    (lambda x: x.diag(), RuntimeError, "Supports 1D or 2D tensors. Got 3D"),
    (lambda x: x.transpose(0, 5), IndexError, "Dimension out of range"),
    (lambda x: torch.zeros(3).tril(), RuntimeError, "must have at least 2 dimensions"),
    (lambda x: torch.broadcast_shapes((2,), (3,)), RuntimeError, "must match"),
    (lambda x: x.expand(3), RuntimeError, "must be greater or equal to the number of dimensions"),
    (lambda x: x.expand(2, 3, 5), RuntimeError, "must match the existing size"),
    (lambda x: x.view(7), RuntimeError, "is invalid for input of size 24"),
    (lambda x: x.transpose(0, 1).view(24), RuntimeError, "view size is not compatible"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch.zeros(2, 3, 4))
