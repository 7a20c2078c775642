"""copy_, fill, zero_, resize_, set_: values, history, and what is refused."""
from __future__ import annotations

import pytest

import saraph as torch


def test_copy_broadcasts_and_converts():
    assert torch.zeros(2, 3).copy_(torch.arange(3)).tolist() == [[0.0, 1.0, 2.0]] * 2
    assert torch.zeros(2, dtype=torch.int8).copy_(torch.tensor([1.9, -300.0])).tolist() == [1, -44]
    assert torch.zeros(2).copy_(3).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="2.*3"):
        torch.ones(2).copy_(torch.ones(3))
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(2, 1).expand(2, 3).copy_(torch.ones(2, 3))
    with pytest.raises(NotImplementedError):
        torch.ones(2).copy_(torch.ones(2, device="meta"))


def test_copy_passes_the_gradient_to_its_source_only():
    x = torch.ones(2, 3, requires_grad=True)
    source = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.copy_(source)
    (y * torch.arange(6.0).reshape(2, 3)).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2
    assert source.grad.tolist() == [3.0, 5.0, 7.0] and source.grad.dtype is torch.float64


def test_copy_of_a_constant_cuts_the_history():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.copy_(torch.zeros(2))
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_writes_through_a_view_reach_its_base():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    value = torch.tensor(5.0, requires_grad=True)
    y = x * 2
    y.as_strided((2,), (1,), 1).fill_(value)
    assert y.tolist() == [2.0, 5.0, 5.0, 8.0]
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0, 8.0] and value.grad.item() == 5.0


def test_writes_through_a_view_of_a_base_that_lies_transposed():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = torch.empty(3, 2).transpose(0, 1).copy_(x)  # strides (1, 2): the gradient will not lie like that
    y.as_strided((2,), (1,)).zero_()
    (y * torch.arange(1.0, 7.0).reshape(2, 3)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 3.0], [0.0, 5.0, 6.0]]


def test_a_view_may_lie_outside_the_tensor_it_was_made_from():
    storage = torch.arange(4.0)
    x = torch.ones(2, requires_grad=True)
    piece = storage.as_strided((2,), (1,), 2).detach()
    piece.copy_(x)
    piece.as_strided((2,), (1,), 0).fill_(7.0)
    assert storage.tolist() == [7.0, 7.0, 1.0, 1.0]
    piece.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_fill_and_zero():
    x = torch.zeros(2, dtype=torch.int32)
    assert x.fill_(2.7).tolist() == [2, 2] and x._version == 1
    assert torch.fill(torch.zeros(2), 3).tolist() == [3.0, 3.0]
    assert torch.ones(2, 1).expand(2, 3).zero_().tolist() == [[0.0] * 3] * 2
    assert torch.zeros(2).fill_(torch.tensor(3)).tolist() == [3.0, 3.0]
    for value in (torch.ones(2), 1j, "a"):
        with pytest.raises((RuntimeError, TypeError)):
            torch.ones(2).fill_(value)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.ones(2, dtype=torch.uint8).fill_(300)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        torch.ones(2, requires_grad=True).zero_()


def test_resize_stays_in_the_memory_that_is_large_enough():
    x = torch.arange(6.0)
    place = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]] and x.data_ptr() == place
    assert x.resize_(6).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and x.data_ptr() == place
    view = x.as_strided((2,), (1,), 4)
    assert x.resize_(8).as_strided((6,), (1,)).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert view.tolist() == [4.0, 5.0]
    assert torch.ones(4).resize_as_(torch.ones(2, 2)).shape == (2, 2)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)


def test_set():
    source = torch.arange(6.0)
    x = torch.zeros(2).set_(source.untyped_storage(), 1, (2,), (2,))
    assert x.tolist() == [1.0, 3.0] and x.storage_offset() == 1
    x.zero_()
    assert source.tolist() == [0.0, 0.0, 2.0, 0.0, 4.0, 5.0]
    assert torch.zeros(2).set_(source).is_set_to(source)
    assert torch.ones(4).set_().shape == (0,)
    with pytest.raises(RuntimeError):
        torch.zeros(2).set_(torch.ones(4, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.zeros(2).set_(source.untyped_storage(), 5, (2,), (1,))
