"""histc, histogram, histogramdd, bincount."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(10)
A = rng.standard_normal(200)


def tensor(a):
    return torch.from_numpy(np.array(a))


def test_histc():
    x = torch.tensor([1.0, 3.0, 2.0, 3.0, np.nan])
    assert x[:4].histc(4).tolist() == [1, 0, 1, 2] and x.histc(4, 0, 4).tolist() == [0, 1, 1, 2]
    assert torch.tensor([1.0, 1.0]).histc(4).tolist() == [0, 0, 2, 0] and torch.zeros(0).histc(2).tolist() == [0, 0]
    np.testing.assert_array_equal(tensor(A).histc(10, -2, 2).numpy(), np.histogram(A, 10, (-2, 2))[0])
    with pytest.raises(RuntimeError, match="not finite"):
        x.histc(2)
    with pytest.raises(RuntimeError, match="max must be larger"):
        x.histc(2, 2, 1)


@pytest.mark.parametrize("density", [False, True])
def test_histogram_is_numpys(density):
    w = np.abs(rng.standard_normal(200))
    edges = np.array([-2.0, -0.5, 0.1, 3.0])
    cases = [({"bins": 7}, np.histogram(A, 7, density=density)),
             ({"bins": tensor(edges)}, np.histogram(A, edges, density=density)),
             ({"bins": 5, "range": (-1.0, 2.0)}, np.histogram(A, 5, (-1, 2), density=density)),
             ({"bins": 5, "weight": tensor(w)}, np.histogram(A, 5, weights=w, density=density))]
    for arguments, expected in cases:
        hist, bin_edges = torch.histogram(tensor(A), density=density, **arguments)
        np.testing.assert_allclose(hist.numpy(), expected[0])
        np.testing.assert_allclose(bin_edges.numpy(), expected[1])


def test_histogramdd_is_numpys():
    a = A.reshape(-1, 2)
    hist, edges = torch.histogramdd(tensor(a), [3, 4], range=[-2.0, 2.0, -1.0, 1.5], density=True)
    expected = np.histogramdd(a, (3, 4), ((-2, 2), (-1, 1.5)), density=True)
    np.testing.assert_allclose(hist.numpy(), expected[0])
    for e, f in zip(edges, expected[1]):
        np.testing.assert_allclose(e.numpy(), f)
    np.testing.assert_allclose(torch.histogramdd(tensor(a), 3).hist.numpy(), np.histogramdd(a, 3)[0])
    for bad in (lambda: torch.histogramdd(tensor(A), 2), lambda: torch.histogramdd(tensor(a), [2, 2, 2]), lambda: torch.histogram(tensor(A), 0),
                lambda: torch.histogram(torch.tensor([1, 2]), 2)):
        with pytest.raises(RuntimeError):
            bad()


def test_bincount():
    x = torch.tensor([1, 2, 2])
    assert x.bincount().tolist() == [0, 1, 2] and x.bincount(minlength=5).tolist() == [0, 1, 2, 0, 0]
    weighted = x.bincount(torch.tensor([0.5, 0.5, 1.0]))
    assert weighted.tolist() == [0, 0.5, 1.5] and weighted.dtype is torch.float32
    assert x.bincount(x).dtype is torch.float64
    for bad in (lambda: torch.tensor([-1]).bincount(), lambda: torch.tensor([1.0]).bincount(), lambda: x.bincount(torch.ones(2)),
                lambda: x.bincount(minlength=-1)):
        with pytest.raises(RuntimeError):
            bad()
