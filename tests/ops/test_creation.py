"""tensor(), factories and their keywords, against values worked out by hand and NumPy; dtypes and errors as PyTorch has them."""
from __future__ import annotations

import numpy as np
import pytest

import saraph as torch


@pytest.mark.parametrize("data, dtype, values", [
    (3, torch.int64, 3),
    (2.5, torch.float32, 2.5),
    (True, torch.bool, True),
    (1j, torch.complex64, 1j),
    ([1.0, 2.0], torch.float32, [1.0, 2.0]),
    ([1, 2.5], torch.float32, [1.0, 2.5]),
    ([True, 2], torch.int64, [1, 2]),
    ([True, False], torch.bool, [True, False]),
    ([], torch.float32, []),
    ([[], []], torch.float32, [[], []]),
    ((1, 2), torch.int64, [1, 2]),
    (range(3), torch.int64, [0, 1, 2]),
    ([[1, 2.5], [True, 3]], torch.float32, [[1.0, 2.5], [1.0, 3.0]]),
    ([np.float64(3)], torch.float64, [3.0]),
    ([np.int32(3)], torch.int32, [3]),
    ([np.float16(3), 1], torch.float16, [3.0, 1.0]),
    ([np.float16(3), 1.5], torch.float32, [3.0, 1.5]),
    ([np.uint8(1), np.int8(2)], torch.int16, [1, 2]),
    ([np.array([1.0, 2.0])], torch.float64, [[1.0, 2.0]]),
    (bytearray(b"abc"), torch.int64, [97, 98, 99]),
])
def test_tensor_infers_its_dtype(data, dtype, values):
    t = torch.tensor(data)
    assert t.dtype is dtype
    assert t.tolist() == values


def test_tensors_inside_sequences_count_with_their_dtype():
    assert torch.tensor([torch.tensor(3.0, dtype=torch.float64)]).dtype is torch.float64
    mixed = torch.tensor([torch.tensor(3), 2.5])
    assert mixed.dtype is torch.float32 and mixed.tolist() == [3.0, 2.5]
    assert torch.tensor([torch.ones(1), torch.ones(1)]).shape == (2,)


@pytest.mark.parametrize("data, error, text", [
    ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    ([[1, 2], [1, 2, 3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 3\)"),
    ([[[1, 2], [3, 4]], [[5, 6], [7, 8, 9]]], ValueError, r"length 2 at dim 2 \(got 3\)"),
    ([[1], 2], TypeError, "not a sequence"),
    ([1, [2]], TypeError, "'list' object"),
    ("abc", TypeError, "invalid data type 'str'"),
    (["a"], ValueError, "too many dimensions 'str'"),
    ([1.0, "2"], TypeError, "invalid data type 'str'"),
    ([1.0, None], RuntimeError, "Could not infer dtype of NoneType"),
    ({1, 2}, RuntimeError, "Could not infer dtype of set"),
    ([2**63], ValueError, "Overflow when unpacking long long"),
])
def test_tensor_refuses(data, error, text):
    with pytest.raises(error, match=text):
        torch.tensor(data)


def test_tensor_with_a_dtype():
    assert torch.tensor([1.7, -2.7], dtype=torch.int64).tolist() == [1, -2]
    assert torch.tensor([-1], dtype=torch.uint8).tolist() == [255]
    assert torch.tensor([1.5, 0.0], dtype=torch.bool).tolist() == [True, False]
    assert torch.tensor([2**63], dtype=torch.uint64).tolist() == [2**63]
    assert torch.tensor([1.0078125], dtype=torch.bfloat16).tolist() == [1.0078125]
    for data, dtype in (([300], torch.uint8), ([float("nan")], torch.int64), (1e10, torch.int32)):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.tensor(data, dtype=dtype)
    with pytest.raises(TypeError, match="must be real number"):
        torch.tensor([1j], dtype=torch.float32)
    with pytest.raises(TypeError, match="'dtype' must be torch.dtype"):
        torch.tensor([1], dtype="float")


def test_tensor_copies_and_requires_grad():
    source = np.arange(3.0)
    t = torch.tensor(source)
    source[0] = 9
    assert t.tolist() == [0.0, 1.0, 2.0] and t.dtype is torch.float64
    assert torch.tensor([1.0], requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        torch.tensor([1], requires_grad=True)
    with pytest.warns(UserWarning, match="recommended to use"):
        copy = torch.tensor(t)
    assert copy.data_ptr() != t.data_ptr()


def test_from_numpy_shares_memory():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = torch.from_numpy(a.T)
    assert t.stride() == (1, 3) and t.shape == (3, 2)
    t.zero_()
    assert not a.any()
    part = torch.from_numpy(np.arange(5.0)[1:])
    assert part.storage_offset() == 0 and part.untyped_storage().nbytes() == 32


@pytest.mark.parametrize("array, error", [
    (3, TypeError), (np.float32(1), TypeError), (np.array(["a"]), TypeError), (np.arange(3)[::-1], ValueError),
    (np.array([1], ">i4"), ValueError)])
def test_from_numpy_refuses(array, error):
    with pytest.raises(error):
        torch.from_numpy(array)


def test_as_tensor_and_asarray_copy_only_where_they_must():
    a = np.arange(3.0)
    assert torch.as_tensor(a).data_ptr() == torch.asarray(a).data_ptr() == a.ctypes.data
    assert torch.asarray(a, copy=True).data_ptr() != a.ctypes.data
    leaf = torch.ones(2, requires_grad=True)
    assert torch.as_tensor(leaf) is leaf
    assert torch.asarray(leaf, requires_grad=True).grad_fn is None
    assert torch.as_tensor([1, 2], dtype=torch.float32).dtype is torch.float32
    assert torch.asarray(bytearray(b"abcd"), dtype=torch.int32).tolist() == [int.from_bytes(b"abcd", "little")]
    for arguments in ({"obj": [1, 2], "copy": False}, {"obj": a, "copy": False, "dtype": torch.float32}):
        with pytest.raises(ValueError, match="can't alias"):
            torch.asarray(**arguments)


def test_frombuffer():
    memory = bytearray(np.arange(4, dtype=np.int32).tobytes())
    t = torch.frombuffer(memory, dtype=torch.int32)
    t.as_strided((1,), (1,)).fill_(7)
    assert memory[0] == 7
    assert torch.frombuffer(memory, dtype=torch.int32, count=2, offset=4).tolist() == [1, 2]
    for keywords in ({"dtype": torch.int32, "offset": 15}, {"dtype": torch.int32, "count": 9}, {"dtype": torch.int32, "offset": 99},
                     {"dtype": torch.int32, "count": 0}):
        with pytest.raises(ValueError):
            torch.frombuffer(memory, **keywords)
    with pytest.warns(UserWarning, match="not writable"):
        torch.frombuffer(b"abcd", dtype=torch.uint8)


@pytest.mark.parametrize("make, value", [(torch.zeros, 0), (torch.ones, 1)])
def test_zeros_and_ones(make, value):
    for arguments in ((2, 3), ((2, 3),), ([2, 3],), (torch.Size([2, 3]),), (np.int64(2), 3)):
        t = make(*arguments)
        assert t.shape == (2, 3) and t.dtype is torch.float32 and t.tolist() == [[value] * 3] * 2
    assert make(()).shape == () and make(0, 3).shape == (0, 3)
    assert make(size=(2,)).tolist() == [value] * 2
    assert make(2, dtype=torch.int8).dtype is torch.int8 and make(2, dtype=float).dtype is torch.float64
    out = torch.empty(5, dtype=torch.int64)
    assert make(2, out=out) is out and out.tolist() == [value] * 2


@pytest.mark.parametrize("arguments, keywords, error", [
    ((), {}, TypeError), ((2.0,), {}, TypeError), ((True,), {}, TypeError), (("a",), {}, TypeError), (((2,), (3,)), {}, TypeError),
    ((-1,), {}, RuntimeError), ((2,), {"foo": 1}, TypeError), ((2,), {"dtype": np.float32}, TypeError), ((2,), {"device": "cuda"}, AssertionError),
    ((2,), {"pin_memory": True}, RuntimeError), ((2,), {"dtype": torch.int64, "requires_grad": True}, RuntimeError),
    ((2,), {"out": torch.empty(2, dtype=torch.int64), "dtype": torch.float32}, RuntimeError)])
def test_zeros_refuses(arguments, keywords, error):
    with pytest.raises(error):
        torch.zeros(*arguments, **keywords)


def test_full_takes_its_dtype_from_the_number():
    for value, dtype in ((1, torch.int64), (True, torch.bool), (1.5, torch.float32), (1j, torch.complex64), (torch.tensor(3), torch.int64)):
        t = torch.full((2,), value)
        assert t.dtype is dtype and t.tolist() == [value if not isinstance(value, torch.Tensor) else 3] * 2
    assert torch.full((2,), 1.5, dtype=torch.int64).tolist() == [1, 1]
    assert torch.full((2,), -1, dtype=torch.uint8).tolist() == [255, 255]
    assert torch.full_like(torch.ones(2, dtype=torch.int32), 2.6).tolist() == [2, 2]
    for value, dtype in ((300, torch.uint8), (1j, torch.float32), (float("nan"), torch.int64)):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.full((2,), value, dtype=dtype)
    with pytest.raises(TypeError):
        torch.full(2, 3)


def test_like_functions_keep_memory_order():
    x = torch.ones(2, 3).transpose(0, 1)
    for make in (torch.zeros_like, torch.ones_like, torch.empty_like):
        assert make(x).stride() == (1, 3)
        assert make(x, memory_format=torch.contiguous_format).stride() == (2, 1)
    assert torch.zeros_like(x, dtype=torch.int8, device="meta").device.type == "meta"
    assert torch.empty_like(torch.ones(2, 1).expand(2, 3)).stride() == (3, 1)
    image = torch.ones(2, 3, 4, 5)
    assert torch.zeros_like(image, memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    with pytest.raises(RuntimeError, match="required rank 4"):
        torch.zeros_like(x, memory_format=torch.channels_last)


def test_strided_and_permuted():
    assert torch.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    with pytest.raises(RuntimeError):
        torch.empty_strided((2, 3), (1,))
    with pytest.raises(RuntimeError, match="Duplicate dim"):
        torch.empty_permuted((2, 3), (1, 1))


def test_new_methods_follow_the_tensor():
    x = torch.ones(2, dtype=torch.int32)
    assert x.new_zeros(2, 3).dtype is torch.int32 and x.new_zeros((2, 3)).shape == (2, 3)
    assert x.new_ones(2, dtype=torch.float64).tolist() == [1.0, 1.0]
    assert x.new_full((2,), 7.5).tolist() == [7, 7]
    assert x.new_tensor([1.5]).tolist() == [1]
    assert x.new_empty(0).shape == (0,)
    assert x.new_empty_strided((2, 2), (1, 2)).stride() == (1, 2)


def test_meta_device_keeps_shapes_only():
    with torch.device("meta"):
        made = [torch.zeros(2), torch.tensor([1.0]), torch.arange(3), torch.eye(2), torch.linspace(0, 1, 4), torch.rand(2)]
        assert torch.ones(2, device="cpu").device.type == "cpu"
    assert all(t.device.type == "meta" for t in made)
    assert torch.zeros(2).device.type == "cpu"
    with pytest.raises(NotImplementedError, match="no data"):
        made[0].to("cpu")
