"""Complex numbers: parts as views, conjugates, pairs of reals, angles."""
import math

import numpy as np
import pytest

import saraph as torch


def test_parts_are_views():
    z = torch.tensor([1 + 2j, 3 - 4j])
    z.real[0] = 9.0
    z.imag[1] = 0.5
    assert z.tolist() == [9 + 2j, 3 + 0.5j]
    z.real = torch.tensor([1.0, 1.0])
    assert z.tolist() == [1 + 2j, 1 + 0.5j]
    x = torch.tensor([1.0])
    assert x.real is x
    with pytest.raises(RuntimeError, match="non-complex"):
        torch.imag(x)


def test_pairs():
    z = torch.tensor([[1 + 2j], [3 - 4j]])
    pairs = torch.view_as_real(z)
    assert pairs.tolist() == [[[1.0, 2.0]], [[3.0, -4.0]]]
    pairs[0, 0, 1] = 7.0
    assert z[0, 0].item() == 1 + 7j
    assert torch.view_as_complex(pairs).tolist() == z.tolist()
    with pytest.raises(RuntimeError, match="only supported for complex"):
        torch.view_as_real(torch.ones(2))
    with pytest.raises(RuntimeError, match="size 2"):
        torch.view_as_complex(torch.ones(3))
    with pytest.raises(RuntimeError, match="floating point"):
        torch.view_as_complex(torch.ones(2, dtype=torch.int64))


def test_conjugates_and_angles():
    z = torch.tensor([1 + 2j, -1 + 0j])
    assert z.conj().tolist() == [1 - 2j, -1 - 0j]
    assert not z.conj().is_conj() and torch.resolve_conj(z) is z
    assert z.angle().tolist() == pytest.approx([math.atan2(2, 1), math.pi])
    assert torch.angle(torch.tensor([-1.0, 0.0, 2.0])).tolist() == pytest.approx([math.pi, 0.0, 0.0])
    assert torch.angle(torch.tensor([-1, 1])).dtype is torch.float32
    assert z.sgn().abs().tolist() == pytest.approx([1.0, 1.0])


def test_gradients(check_gradients):
    z = np.array([0.5 + 1j, -1.5 - 0.3j])
    for function in (torch.real, torch.imag, torch.conj, torch.conj_physical, torch.view_as_real, torch.angle, torch.abs,
                     lambda a: a.real * a.imag + (a * a.conj()).real):
        check_gradients(function, z)
    check_gradients(lambda a: torch.view_as_complex(a) ** 2, np.array([[1.0, 2.0], [0.5, -1.0]]))
