"""Bitwise ops and their operators."""
import numpy as np
import pytest

import saraph as torch

A, B = torch.tensor([12, -5, 7]), torch.tensor([10, 3, -1])


def test_operators():
    a, b = A.numpy(), B.numpy()
    assert (A & B).tolist() == (a & b).tolist()
    assert (A | B).tolist() == (a | b).tolist()
    assert (A ^ B).tolist() == (a ^ b).tolist()
    assert (~A).tolist() == (~a).tolist()
    assert (A << 2).tolist() == (a << 2).tolist()
    assert (A >> 1).tolist() == (a >> 1).tolist()
    assert (1 << torch.tensor([0, 3])).tolist() == [1, 8]
    assert (-16 >> torch.tensor([1, 2])).tolist() == [-8, -4]
    assert (6 & A).tolist() == (6 & a).tolist()
    assert (True ^ torch.tensor([True, False])).tolist() == [False, True]


def test_inplace():
    x = A.clone()
    y = x
    x &= B
    x |= 1
    x ^= 2
    x <<= 1
    x >>= 1
    assert x is y
    assert x.tolist() == (((A.numpy() & B.numpy()) | 1) ^ 2).tolist()
    assert torch.tensor([True, False]).bitwise_not_().tolist() == [False, True]


def test_shifts_by_too_much():
    x = torch.tensor([-8, 8], dtype=torch.int8)
    assert (x << 8).tolist() == [0, 0]
    assert (x >> 100).tolist() == [-1, 0]
    assert torch.bitwise_left_shift(x, torch.tensor([-1, -1], dtype=torch.int8)).tolist() == [0, 0]


def test_dtypes_and_errors():
    assert torch.bitwise_and(torch.tensor([3], dtype=torch.uint8), torch.tensor([1], dtype=torch.int8)).dtype is torch.int16
    for function in (torch.bitwise_and, torch.bitwise_left_shift):
        with pytest.raises(RuntimeError, match="not implemented for 'Float'"):
            function(torch.ones(2), torch.ones(2))
        with pytest.raises(TypeError, match="invalid combination"):
            function(1, 2)
    with pytest.raises(RuntimeError, match="not implemented for 'Bool'"):
        torch.tensor([True]) << torch.tensor([True])
    with pytest.raises(TypeError, match="operator.invert"):
        ~torch.ones(2)


def test_gcd_lcm():
    a, b = np.array([12, -18, 0, 7]), np.array([18, 12, 5, 0])
    assert torch.gcd(torch.from_numpy(a), torch.from_numpy(b)).tolist() == np.gcd(a, b).tolist()
    assert torch.lcm(torch.from_numpy(a), torch.from_numpy(b)).tolist() == np.lcm(a, b).tolist()
    with pytest.raises(RuntimeError, match="gcd_cpu"):
        torch.gcd(torch.ones(2), torch.ones(2))
