"""The checksum of tensors: the exclusive or of 64-bit patterns, computed here with Python integers."""
import struct

import pytest

import saraph as torch
from saraph import tensor


def pattern(value):
    return struct.unpack("<Q", struct.pack("<d" if isinstance(value, float) else "<q", value))[0]


def test_exclusive_or_of_patterns():
    values = [[1.5, -2.25, 3.0], [0.0, -0.0, float("inf")]]
    rows = [pattern(a) ^ pattern(b) ^ pattern(c) for a, b, c in values]
    x = tensor(values)
    assert torch.hash_tensor(x).item() == rows[0] ^ rows[1] and torch.hash_tensor(x).dtype is torch.uint64
    assert x.hash_tensor(1).tolist() == rows and x.hash_tensor(-1, keepdim=True).shape == (2, 1)
    assert x.half().hash_tensor() == x.double().hash_tensor() == x.bfloat16().hash_tensor()
    assert tensor([1, -2], dtype=torch.int32).hash_tensor().item() == pattern(1) ^ pattern(-2)
    assert tensor([True, False]).hash_tensor().item() == 1 and tensor(2.5).hash_tensor().item() == pattern(2.5)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: torch.hash_tensor(torch.ones(2), mode=1), RuntimeError, "Unknown hash_tensor mode: 1"),
    (lambda: torch.hash_tensor(tensor([1j])), NotImplementedError, "not implemented for 'ComplexFloat'"),
    (lambda: torch.hash_tensor(torch.ones(0)), RuntimeError, "Expected reduction dim to be specified"),
    (lambda: torch.hash_tensor(torch.ones(0, 3), 0), IndexError, "non-zero size")])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
