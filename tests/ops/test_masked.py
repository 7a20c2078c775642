"""Reductions under a mask."""
import numpy as np
import pytest

import saraph as torch

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
KEPT = np.array([[True, False, True], [False, False, False]])


def tensor(a):
    return torch.from_numpy(np.array(a))


def test_identities_where_nothing_is_kept():
    x, mask = tensor(A), tensor(KEPT)
    for name, expected in {"sum": [4, 0], "prod": [3, 1], "amax": [3, -np.inf], "amin": [1, np.inf], "argmax": [2, 0], "argmin": [0, 0],
                           "mean": [2, np.nan], "var": [2, np.nan], "std": [2**0.5, np.nan], "median": [1, np.nan],
                           "logsumexp": [np.log(np.exp(1) + np.exp(3)), -np.inf]}.items():
        np.testing.assert_allclose(getattr(torch.masked, name)(x, 1, mask=mask).numpy(), expected, err_msg=name)
    np.testing.assert_allclose(torch.masked.norm(x, 2.0, 1, mask=mask).numpy(), [10**0.5, 0])
    np.testing.assert_allclose(torch.masked.cumsum(x, 1, mask=mask).numpy(), [[1, 1, 4], [0, 0, 0]])
    np.testing.assert_allclose(torch.masked.cumprod(x, 1, mask=mask).numpy(), [[1, 1, 3], [1, 1, 1]])
    assert torch.masked.sum(x, (0, 1), mask=mask).item() == torch.masked.sum(x, mask=mask).item() == 4


def test_normalisations():
    x, mask = tensor(A), tensor(KEPT[:1])
    soft = torch.masked.softmax(x, 1, mask=mask)
    np.testing.assert_allclose(soft.numpy()[0], [1 / (1 + np.exp(2)), 0, 1 / (1 + np.exp(-2))])
    np.testing.assert_allclose(torch.masked.log_softmax(x, 1, mask=mask).exp().numpy(), soft.numpy())
    np.testing.assert_allclose(torch.masked.softmin(-x, 1, mask=mask).numpy(), soft.numpy())
    np.testing.assert_allclose(torch.masked.normalize(x, 2.0, 1, mask=mask).numpy()[0], [1 / 10**0.5, 0, 3 / 10**0.5])
    np.testing.assert_allclose(torch.masked.logaddexp(x, x, input_mask=mask, other_mask=~mask).numpy(), A)


def test_gradients_and_errors(check_gradients):
    mask = tensor(KEPT[:1])
    for name in ("sum", "prod", "mean", "amax", "var", "std", "logsumexp", "median"):
        check_gradients(lambda x, n=name: getattr(torch.masked, n)(x, 1, mask=mask), A, tolerance=1e-5)
    with pytest.raises(RuntimeError):
        torch.masked.sum(tensor(A), 0, mask=torch.ones(3, 3, dtype=torch.bool))
    with pytest.raises(IndexError):
        torch.masked.sum(tensor(A), 0, mask=torch.ones(1, 2, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="infer output dtype"):
        torch.masked.mean(torch.tensor([1, 2]))
    assert torch.masked.sum(torch.tensor([1, 2], dtype=torch.int8)).dtype is torch.int64
