"""Old constructors and the defaults for new tensors."""
from __future__ import annotations

import pytest

import saraph as torch


@pytest.fixture(autouse=True)
def _restore_defaults():
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)


def test_tensor_constructor():
    assert torch.Tensor(2, 3).shape == torch.Tensor(torch.Size([2, 3])).shape == torch.Tensor(size=(2, 3)).shape == (2, 3)
    assert torch.Tensor().shape == (0,) and torch.Tensor((2, 3)).tolist() == [2.0, 3.0]
    assert torch.Tensor(torch.FloatStorage([1, 2])).tolist() == [1.0, 2.0]
    x = torch.ones(2, requires_grad=True)
    same = torch.Tensor(x)
    assert same.data_ptr() == x.data_ptr() and same.requires_grad and not same.is_leaf
    for arguments, error in (((2.5,), TypeError), ((None,), TypeError), (("a",), TypeError), ((2.0, 3), TypeError), ((-1,), RuntimeError),
                             (([[1, 2], [3]],), ValueError)):
        with pytest.raises(error):
            torch.Tensor(*arguments)
    for keywords in ({"dtype": torch.int32}, {"requires_grad": True}):
        with pytest.raises(TypeError):
            torch.Tensor([1], **keywords)
    with pytest.raises(RuntimeError, match="legacy constructor"):
        torch.Tensor([1], device="cuda")


def test_tensor_types():
    assert torch.LongTensor([1.5, 2]).tolist() == [1, 2] and torch.IntTensor(2).dtype is torch.int32
    assert isinstance(torch.ones(2), torch.FloatTensor) and not isinstance(torch.ones(2), torch.LongTensor) and not isinstance(3, torch.FloatTensor)
    assert repr(torch.FloatTensor) == "<class 'torch.FloatTensor'>" and torch.FloatTensor.dtype is torch.float32
    with pytest.raises(TypeError, match="expected TensorOptions"):
        torch.LongTensor(torch.ones(2))
    x = torch.ones(2, dtype=torch.float64)
    assert x.new(3).dtype is torch.float64 and x.new([1, 2]).tolist() == [1.0, 2.0] and x.new().shape == (0,)


def test_subclass_constructor():
    class Mine(torch.Tensor):
        def __init__(self, *values):
            self.tag = 1

    assert type(Mine([1.0])) is Mine and Mine([1.0]).tag == 1 and type(Mine(2, 3)) is Mine


def test_defaults():
    torch.set_default_dtype(torch.float64)
    assert torch.get_default_dtype() is torch.float64
    assert torch.zeros(1).dtype is torch.tensor([1.0]).dtype is torch.Tensor([1]).dtype is torch.linspace(0, 1, 3).dtype is torch.float64
    assert torch.tensor(1j).dtype is torch.complex128
    for bad in (torch.int32, "float32"):
        with pytest.raises(TypeError, match="only floating-point types"):
            torch.set_default_dtype(bad)
    with pytest.warns(UserWarning, match="deprecated"):
        torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.get_default_dtype() is torch.float32
    torch.set_default_device("meta")
    assert torch.zeros(2).device.type == torch.get_default_device().type == "meta"
    torch.set_default_device("cuda")
    with pytest.raises(AssertionError, match="CUDA"):
        torch.zeros(2)
    torch.set_default_device(None)
    assert torch.zeros(2).device.type == "cpu"
