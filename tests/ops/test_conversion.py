"""Dtypes, devices and memory orders; values as Python numbers and NumPy arrays."""
from __future__ import annotations

import numpy as np
import pytest

import saraph as torch

NAN, INF = float("nan"), float("inf")


def test_float_to_integer_out_of_range_is_what_x86_gives():
    for source in (torch.float32, torch.float64):
        x = torch.tensor([NAN, INF, -INF, 1e10, 3e9, 300.7, -300.7, -1.5], dtype=source)
        assert x.to(torch.int8).tolist() == [0, 0, 0, 0, 0, 44, -44, -1]
        assert x.to(torch.uint8).tolist() == [0, 0, 0, 0, 0, 44, 212, 255]
        assert x.to(torch.int16).tolist() == [0, 0, 0, 0, 0, 300, -300, -1]
        assert x.to(torch.int32).tolist() == [-2**31] * 5 + [300, -300, -1]
        assert x.to(torch.int64).tolist() == [-2**63] * 3 + [10**10, 3 * 10**9, 300, -300, -1]
        assert x.to(torch.bool).tolist() == [True] * 8
    assert torch.tensor([300.5, NAN, 65504], dtype=torch.float16).to(torch.int8).tolist() == [44, 0, -32]


def test_complex_conversions():
    assert torch.tensor([1j, 0j]).bool().tolist() == [True, False]
    assert torch.tensor([1 + 0j]).float().tolist() == [1.0]
    assert torch.ones(2, dtype=torch.int8).to(torch.complex64).tolist() == [1 + 0j, 1 + 0j]


def test_forms_of_to():
    x = torch.ones(2)
    assert x.to(torch.float32) is x and x.to() is x and x.to(None) is x and x.to("cpu") is x
    assert x.to("cpu", torch.int32, True, True).dtype is torch.int32
    assert x.to(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8
    assert x.to(dtype=torch.float64, device="cpu").dtype is torch.float64
    assert x.to(float).dtype is torch.float64
    assert x.to(torch.float32, copy=True) is not x
    assert x.to("meta").device.type == "meta"
    image = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert image.stride() == (60, 1, 15, 3) and image.to(torch.float64).stride() == (60, 1, 15, 3)
    for arguments, error in (((torch.float32, torch.int32), TypeError), ((1,), RuntimeError), (("cuda",), AssertionError)):
        with pytest.raises(error):
            x.to(*arguments)
    with pytest.raises(RuntimeError, match="required rank 4"):
        x.to(memory_format=torch.channels_last)


def test_named_conversions_and_type():
    x = torch.ones(2)
    for name, dtype in (("double", torch.float64), ("half", torch.float16), ("bfloat16", torch.bfloat16), ("int", torch.int32),
                        ("long", torch.int64), ("short", torch.int16), ("char", torch.int8), ("byte", torch.uint8), ("bool", torch.bool),
                        ("cfloat", torch.complex64), ("cdouble", torch.complex128)):
        assert getattr(x, name)().dtype is dtype
    assert x.float() is x
    assert x.type() == "torch.FloatTensor" and torch.ones(1, device="meta").type() == "torch.meta.FloatTensor"
    assert x.type("torch.IntTensor").dtype is x.type(torch.IntTensor).dtype is torch.int32
    assert x.type_as(torch.ones(1, dtype=torch.int8)).dtype is torch.int8
    with pytest.raises(ValueError, match="invalid type"):
        x.type("foo")


def test_gradient_comes_back_in_the_source_dtype():
    x = torch.ones(2, requires_grad=True)
    x.double().sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [1.0, 1.0]


def test_python_numbers():
    assert torch.tensor([[2.5]]).item() == 2.5 and torch.tensor(3, dtype=torch.bfloat16).item() == 3.0
    assert int(torch.tensor([2.7])) == 2 and float(torch.tensor(3)) == 3.0 and complex(torch.tensor(1.5)) == 1.5
    assert bool(torch.ones(1, 1)) and [1, 2][torch.tensor(1)] == 2
    assert f"{torch.tensor(1.5):.3f}" == "1.500" and f"{torch.tensor(2):d}" == "2"
    assert len(torch.ones(3, 2)) == 3
    two, none = torch.ones(2), torch.ones(0)
    for function, value, error in ((torch.Tensor.item, two, RuntimeError), (bool, two, RuntimeError), (bool, none, RuntimeError),
                                   (int, two, ValueError),
                                   (float, two, ValueError), (len, torch.tensor(1), TypeError), (iter, torch.tensor(1), TypeError),
                                   (float, torch.tensor(1j), RuntimeError), (torch.is_nonzero, two, RuntimeError),
                                   (torch.Tensor.item, torch.ones(1, device="meta"), RuntimeError),
                                   (torch.Tensor.tolist, torch.ones(1, device="meta"), NotImplementedError)):
        with pytest.raises(error):
            function(value)
    with pytest.raises(TypeError, match="only integer tensors"):
        torch.tensor(2.5).__index__()
    with pytest.raises(TypeError):
        format(two, ".3f")


def test_numpy_shares_memory():
    x = torch.zeros(3)
    a = x.numpy()
    a[1] = 5
    assert x.tolist() == [0.0, 5.0, 0.0]
    a.shape = (3, 1)
    assert x.shape == (3,)
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        leaf.numpy()
    assert leaf.numpy(force=True).tolist() == [1.0, 1.0]
    for t in (torch.ones(1, dtype=torch.bfloat16), torch.ones(1, device="meta")):
        with pytest.raises(TypeError):
            t.numpy()


def test_detach_shares_the_version_and_data_does_not():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.data.zero_()
    assert y._version == 0 and y.tolist() == [0.0, 0.0] and not y.data.requires_grad
    y.detach().zero_()
    assert y._version == 1
    z = x * 3
    z.detach_()
    assert z.grad_fn is None and not z.requires_grad
    with pytest.raises(RuntimeError, match="detach views"):
        torch.ones(4).as_strided((2,), (1,)).detach_()


def test_setting_data():
    x = torch.ones(2, requires_grad=True)
    x.data = torch.zeros(3, dtype=torch.float64)
    assert x.shape == (3,) and x.dtype is torch.float64 and x.requires_grad
    with pytest.raises(RuntimeError):
        x.data = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = torch.zeros(2, device="meta")


def test_questions():
    assert torch.is_tensor(torch.ones(1)) and not torch.is_tensor(3)
    assert torch.result_type(torch.ones(2, dtype=torch.int32), 1.0) is torch.float32 and torch.result_type(1, 2) is torch.int64
    assert torch.is_floating_point(torch.ones(1)) and not torch.is_complex(torch.ones(1)) and torch.numel(torch.ones(2, 3)) == 6
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor" and torch.typename(3) == "int"
    with pytest.raises(TypeError):
        torch.result_type(1, "a")
    with pytest.raises(TypeError):
        torch.is_floating_point(1)
