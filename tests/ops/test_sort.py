"""Sorting, selection, different elements, searching."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(8)
A = rng.standard_normal((3, 4, 2))
KINDS = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]


def tensor(a):
    return torch.from_numpy(np.array(a))


def stable_order(a, descending):
    """Reference: Python's stable sort, NaN as the largest number."""
    key = [(1, 0.0) if v != v else (0, -v if descending else v) for v in a]
    if descending:
        key = [(-k[0], k[1]) for k in key]
    return sorted(range(len(a)), key=key.__getitem__)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [7, 300])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_for_every_dtype(kind, length, descending):
    a = np.round(rng.standard_normal((2, length)).astype("f") * 4)
    a = a if kind.is_signed else np.abs(a)
    if kind.is_floating_point:
        a[0, 1:6] = [np.nan, -0.0, 0.0, np.inf, -np.inf]
        a[1, 2:4] = np.nan
    x = tensor(a).to(kind)
    plain = x.to(torch.float64).numpy()
    values, indices = x.sort(descending=descending)
    expected = [stable_order(row.tolist(), descending) for row in plain]
    assert values.dtype is kind and indices.tolist() == expected
    np.testing.assert_array_equal(values.to(torch.float64).numpy(), np.take_along_axis(plain, np.array(expected), 1))
    assert x.argsort(1, descending).tolist() == expected
    assert x.t().sort(0, descending).indices.t().tolist() == expected
    if kind is not torch.bool:
        top = x.topk(3, largest=descending)
        np.testing.assert_array_equal(top.values.to(torch.float64).numpy(), values[:, :3].to(torch.float64).numpy())
        np.testing.assert_array_equal(np.take_along_axis(plain, top.indices.numpy(), 1), top.values.to(torch.float64).numpy())


def test_forms_and_errors(check_gradients):
    x = tensor(A)
    assert torch.sort(x, dim=0, descending=True, stable=True).values.shape == A.shape
    np.testing.assert_array_equal(x.msort().numpy(), np.sort(A, 0))
    assert torch.tensor(3.0).sort().indices.item() == 0 and torch.tensor(3.0).topk(1).values.item() == 3
    assert torch.zeros(0, 3).sort(0).values.shape == (0, 3) and x.topk(0, 1).values.shape == (3, 0, 2)
    with pytest.raises(RuntimeError, match="k out of range"):
        x.topk(5, 1)
    with pytest.raises(RuntimeError, match="complex"):
        torch.ones(2, dtype=torch.complex64).sort()
    with pytest.raises(TypeError):
        x.sort(0, False, True)
    for function in (lambda a: a.sort(1).values, lambda a: a.sort(0, True)[0], lambda a: a.topk(2, 1)[0], lambda a: a.topk(1, 0, largest=False)[0]):
        check_gradients(function, A)


def test_topk_of_long_rows_is_the_head_of_the_sort():
    for kind in (torch.float32, torch.float64, torch.int64):
        x = tensor(rng.standard_normal((3, 5000)) * 1000).to(kind)
        for largest in (True, False):
            values = x.topk(10, largest=largest).values
            assert torch.equal(values, x.sort(descending=largest).values[:, :10]) if hasattr(torch, "equal") else values.shape == (3, 10)


def test_unique():
    x = torch.tensor([[3, 1], [2, 3]])
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3] and inverse.tolist() == [[2, 0], [1, 2]] and counts.tolist() == [1, 1, 2]
    assert x.unique(False, True)[1].shape == (2, 2) and x.unique(sorted=False).tolist() == [1, 2, 3]
    rows = torch.tensor([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])
    values, inverse, counts = torch.unique(rows, return_inverse=True, return_counts=True, dim=0)
    assert values.tolist() == [[0, 5], [1, 2]] and inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]
    assert rows.t().unique(dim=1).tolist() == [[0, 1], [5, 2]]
    values, counts = torch.tensor([1.0, np.nan, np.nan]).unique(return_counts=True)
    assert counts.tolist() == [1, 1, 1]
    assert torch.zeros(0).unique(return_counts=True)[1].dtype is torch.int64
    scalar, inverse = torch.tensor(3.0).unique(return_inverse=True)
    assert scalar.tolist() == [3.0] and inverse.shape == ()
    with pytest.raises(RuntimeError, match="0 sized"):
        torch.zeros(0, 3).unique(dim=1)


def test_unique_consecutive():
    x = torch.tensor([1, 1, 2, 2, 2, 1])
    values, inverse, counts = x.unique_consecutive(True, True)
    assert values.tolist() == [1, 2, 1] and inverse.tolist() == [0, 0, 1, 1, 1, 2] and counts.tolist() == [2, 3, 1]
    assert torch.tensor([[1, 1, 2], [3, 3, 4]]).unique_consecutive(dim=1).tolist() == [[1, 2], [3, 4]]


def test_searchsorted_and_bucketize():
    edges = torch.tensor([1.0, 2.0, 2.0, 3.0])
    values = torch.tensor([[0.0, 2.0], [3.0, np.nan]])
    assert torch.searchsorted(edges, values).tolist() == [[0, 1], [3, 4]]
    assert torch.searchsorted(edges, values, right=True).tolist() == torch.searchsorted(edges, values, side="right").tolist() == [[0, 3], [4, 4]]
    assert torch.searchsorted(edges, 2).item() == 1 and torch.searchsorted(edges, 2, out_int32=True).dtype is torch.int32
    rows = torch.tensor([[1, 3], [2, 4]])
    assert torch.searchsorted(rows, torch.tensor([[2], [2]])).tolist() == [[1], [0]]
    unsorted = torch.tensor([3.0, 1.0, 2.0])
    assert torch.searchsorted(unsorted, torch.tensor([2.5]), sorter=unsorted.argsort()).tolist() == [2]
    assert torch.bucketize(values, edges, right=True).tolist() == [[0, 3], [4, 4]]
    for bad in (lambda: torch.searchsorted(edges, values, side="left", right=True), lambda: torch.searchsorted(rows, values[0]),
                lambda: torch.searchsorted(rows, 2), lambda: torch.searchsorted(unsorted, 1.0, sorter=torch.tensor([0, 1, 5])),
                lambda: torch.bucketize(values, rows)):
        with pytest.raises(RuntimeError):
            bad()


def test_isin():
    x = torch.tensor([1, 2, 3])
    assert torch.isin(x, torch.tensor([1, 3])).tolist() == [True, False, True]
    assert torch.isin(x, 2, invert=True).tolist() == [True, False, True] and torch.isin(2, x).item() is True
    with pytest.raises(RuntimeError, match="Bool"):
        torch.isin(x, x > 1)
    with pytest.raises(TypeError):
        torch.isin(1, 2)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.int64])
def test_topk_of_large_tensors_with_equal_elements_and_nan(kind):
    a = np.round(rng.standard_normal((20, 5000)) * 10)
    if kind.is_floating_point:
        a[3, 7] = np.nan
    x = tensor(a).to(kind)
    for largest in (True, False):
        values, indices = x.topk(7, largest=largest)
        np.testing.assert_array_equal(values.numpy(), x.sort(descending=largest).values[:, :7].numpy())
        np.testing.assert_array_equal(np.take_along_axis(x.numpy(), indices.numpy(), 1), values.numpy())
