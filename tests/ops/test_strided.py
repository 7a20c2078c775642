"""as_strided and its relatives, and tensors that become views of themselves."""
from __future__ import annotations

import numpy as np
import pytest

import saraph as torch


def test_as_strided_reads_the_storage():
    x = torch.arange(6.0)
    assert x.as_strided((2, 2), (3, 1), 1).tolist() == [[1.0, 2.0], [4.0, 5.0]]
    part = x.as_strided((4,), (1,), 2)
    assert part.as_strided((2,), (1,)).tolist() == [2.0, 3.0]  # the tensor's own offset
    assert part.as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]
    assert x.as_strided((0, 3), (3, 1)).shape == (0, 3)


@pytest.mark.parametrize("size, stride, offset, text", [
    ((2, 2), (3, 1), 3, "out of bounds for storage of size 24"), ((2,), (3, 1), 0, "mismatch in length"), ((2,), (-1,), 3, "Negative strides"),
    ((2,), (1,), -1, "invalid storage offset"), ((-2,), (1,), 0, "overflowed")])
def test_as_strided_stays_inside(size, stride, offset, text):
    with pytest.raises(RuntimeError, match=text):
        torch.arange(6.0).as_strided(size, stride, offset)


def test_overlapping_windows_add_their_gradients(check_gradients):
    check_gradients(lambda x: torch.as_strided(x, (3, 2), (1, 1)), np.arange(4.0))
    check_gradients(lambda x: torch.as_strided(x * 1, (2, 2), (2, 1), 1), np.arange(6.0))


def test_as_strided_scatter(check_gradients):
    x, source = torch.arange(6.0), torch.tensor([10.0, 11.0])
    assert torch.as_strided_scatter(x, source, (2,), (3,), 1).tolist() == [0.0, 10.0, 2.0, 3.0, 11.0, 5.0]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    check_gradients(lambda a, b: torch.as_strided_scatter(a, b, (2,), (2,), 1), np.arange(6.0), np.ones(2))
    with pytest.raises(RuntimeError, match="expected src to have a size equal"):
        torch.as_strided_scatter(x, source, (3,), (1,))


def test_a_tensor_becomes_a_view_of_itself():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * torch.arange(6.0).reshape(2, 3)
    assert y.transpose_(0, 1) is y and y.shape == (3, 2)
    y.unsqueeze_(0).squeeze_(0)
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 8.0], [3.0, 12.0, 25.0]]
    z = torch.arange(6.0)
    assert z.as_strided_((2, 2), (1, 1)).tolist() == [[0.0, 1.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.transpose_(0, 1)
