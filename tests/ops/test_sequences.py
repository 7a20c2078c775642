"""arange, linspace, logspace, eye, index triangles, vander, complex and polar."""
from __future__ import annotations

import math

import numpy as np
import pytest

import saraph as torch


@pytest.mark.parametrize("arguments, dtype, values", [
    ((5,), torch.int64, [0, 1, 2, 3, 4]),
    ((5.0,), torch.float32, [0, 1, 2, 3, 4]),
    ((1, 5, 2), torch.int64, [1, 3]),
    ((1, 5, 2.0), torch.float32, [1, 3]),
    ((5, 1, -1), torch.int64, [5, 4, 3, 2]),
    ((3, 3), torch.int64, []),
    ((True,), torch.int64, [0]),
    ((torch.tensor(2), torch.tensor(5.0)), torch.float32, [2, 3, 4]),
    ((0, 2**62, 2**61), torch.int64, [0, 2**61]),
])
def test_arange(arguments, dtype, values):
    t = torch.arange(*arguments)
    assert t.dtype is dtype and t.tolist() == values


def test_arange_with_a_dtype():
    assert torch.arange(-3, 3, dtype=torch.uint8).tolist() == [253, 254, 255, 0, 1, 2]
    assert torch.arange(0.5, 5, 1.5, dtype=torch.int32).tolist() == [0, 1, 2]  # counted in floats
    assert torch.arange(0.5, 5, 1.5, dtype=torch.int64).tolist() == [0, 1, 2, 3, 4]  # counted in int64
    assert torch.arange(0, 5, 0.5, dtype=torch.int32).tolist() == [0] * 10
    assert torch.arange(5, dtype=torch.float16).dtype is torch.float16
    assert torch.arange(end=5, start=2).tolist() == [2, 3, 4] and torch.arange(2, end=5, step=2).tolist() == [2, 4]
    out = torch.empty(0, dtype=torch.float64)
    assert torch.arange(3, out=out) is out and out.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("arguments, keywords, error, text", [
    ((1, 5, 0), {}, RuntimeError, "step must be nonzero"), ((5, 1), {}, RuntimeError, "inconsistent with step sign"),
    ((1, math.inf), {}, RuntimeError, "unsupported range"), ((), {}, TypeError, "arange"), (("a",), {}, TypeError, "must be Number"),
    ((0, 5, 0.5), {"dtype": torch.int64}, ValueError, "step must be nonzero"), ((5,), {"dtype": torch.bool}, NotImplementedError, "arange"),
    ((5,), {"requires_grad": True}, RuntimeError, "floating point"), ((1j,), {}, RuntimeError, "without overflow")])
def test_arange_refuses(arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        torch.arange(*arguments, **keywords)


def test_last_bits_of_spaced_floats():
    # sums of the float bits, from PyTorch 2.13
    def bits(t):
        return int(t.numpy().view(np.uint32 if t.dtype is torch.float32 else np.uint64).astype(object).sum())

    assert bits(torch.arange(0.1, 0.1 + 0.3 * 32.5, 0.3)) == 35649801425
    assert bits(torch.arange(0.1, 0.1 + 0.3 * 32.5, 0.3, dtype=torch.float64)) == 152301775183494617490
    assert bits(torch.linspace(0.1, 20, 40)) == 43550377951
    assert bits(torch.linspace(0.1, 20, 40, dtype=torch.float64)) == 184789941774257814537


def test_linspace_and_logspace():
    assert torch.linspace(0, 10, 4, dtype=torch.int64).tolist() == [0, 3, 6, 10]
    assert torch.linspace(10, -3, 6, dtype=torch.int8).tolist() == [10, 7, 4, 2, 0, -3]
    assert torch.linspace(3, 1, 1).tolist() == [3.0] and torch.linspace(0, 1, 0).shape == (0,)
    assert torch.linspace(0, 1j, 3).tolist() == [0j, 0.5j, 1j]
    assert torch.linspace(torch.tensor(0), torch.tensor(1.0), 3).tolist() == [0.0, 0.5, 1.0]
    assert torch.logspace(0, 3, 4, base=-2).tolist() == [1.0, -2.0, 4.0, -8.0]
    assert torch.logspace(0, 2, 8, dtype=torch.int32).tolist() == [1, 1, 3, 7, 13, 26, 51, 100]
    out = torch.empty(1, dtype=torch.int64)
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0, 1]
    for arguments, keywords, error in (((0, 1, -1), {}, RuntimeError), ((0, 1, 2.0), {}, TypeError),
                                       ((0, 1j, 3), {"dtype": torch.float32}, RuntimeError),
                                       ((0, 1, 3), {"dtype": torch.bool}, NotImplementedError), ((torch.zeros(1), 1, 3), {}, RuntimeError)):
        with pytest.raises(error):
            torch.linspace(*arguments, **keywords)


def test_range_includes_its_end():
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.range(1, 4, 0.5).tolist() == [1, 1.5, 2, 2.5, 3, 3.5, 4]


def test_eye_and_triangles():
    assert torch.eye(2, 3, dtype=torch.int64).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.eye(2, out=torch.empty(0, dtype=torch.int8)).dtype is torch.int8
    for rows, columns, offset in ((3, 3, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (3, 3, -5)):
        lower, upper = torch.tril_indices(rows, columns, offset), torch.triu_indices(rows, columns, offset)
        assert lower.tolist() == np.stack(np.tril_indices(rows, offset, columns)).tolist()
        assert upper.tolist() == np.stack(np.triu_indices(rows, offset, columns)).tolist()
        assert torch.tril_indices(rows, columns, offset, device="meta").shape == lower.shape
        assert torch.triu_indices(rows, columns, offset, device="meta").shape == upper.shape
    with pytest.raises(RuntimeError):
        torch.eye(-1)
    with pytest.raises(NotImplementedError):
        torch.tril_indices(3, 3, dtype=torch.float32)


def test_complex_and_polar(check_gradients):
    a, b = np.array([[1.0], [2.0]]), np.array([0.5, -1.0, 3.0])
    assert torch.complex(torch.from_numpy(a), torch.from_numpy(b)).tolist() == (a + 1j * b).tolist()
    assert torch.polar(torch.ones(1), torch.tensor([math.pi / 2])).real.item() == pytest.approx(0, abs=1e-6)
    check_gradients(torch.complex, a, b)
    check_gradients(torch.polar, a, b)
    for x, y in ((torch.ones(2), torch.ones(2).double()), (torch.ones(2).int(), torch.ones(2).int())):
        with pytest.raises(RuntimeError):
            torch.complex(x, y)


def test_vander():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert torch.vander(x).tolist() == np.vander([1.0, 2, 3]).tolist()
    assert torch.vander(x, 2, True).tolist() == [[1, 1], [1, 2], [1, 3]]
    with pytest.raises(RuntimeError):
        torch.vander(torch.ones(2, 2))
