"""Which dtype operands of different dtypes and weights are computed in."""
import numpy as np
import pytest

import saraph as torch
from saraph.ops import promotion

ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("left", ORDER)
@pytest.mark.parametrize("right", ORDER)
def test_promote_types_is_a_join(left, right):
    a, b = getattr(torch, left), getattr(torch, right)
    found = torch.promote_types(a, b)
    assert found is torch.promote_types(b, a)
    assert torch.promote_types(found, a) is found is torch.promote_types(found, b)
    if a is b:
        assert found is a
    if {left, right} not in ({"uint8", "int8"}, {"float16", "bfloat16"}) and "complex" not in left + right:
        assert found in (a, b)


def test_pairs_without_a_larger_one():
    assert torch.promote_types(torch.uint8, torch.int8) is torch.int16
    assert torch.promote_types(torch.float16, torch.bfloat16) is torch.float32
    assert torch.promote_types(torch.complex64, torch.float64) is torch.complex128


def test_result_type_weighs_operands():
    wide = torch.ones(3, dtype=torch.float32)
    assert torch.result_type(wide, torch.tensor(1.0, dtype=torch.float64)) is torch.float32
    assert torch.result_type(wide, 2j) is torch.complex64
    assert torch.result_type(torch.ones(3, dtype=torch.int8), 1000) is torch.int8
    assert torch.result_type(torch.ones(3, dtype=torch.int8), 1.0) is torch.float32
    assert torch.result_type(torch.tensor(1, dtype=torch.int8), torch.tensor(1, dtype=torch.int64)) is torch.int64
    assert torch.result_type(1, 2.5) is torch.float32
    assert torch.result_type(torch.ones(1, dtype=torch.bool), True) is torch.bool


def test_casts_are_differentiated():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = promotion.cast(x, torch.complex64)
    (y * (2 + 1j)).real.sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [2.0, 2.0]
    assert promotion.cast(x, torch.float64) is x


def test_gradients_are_summed_to_the_operands_shape():
    g = torch.ones(2, 3, 4)
    assert promotion.unbroadcast(g, (3, 1)).tolist() == [[8.0]] * 3
    assert promotion.unbroadcast(g, ()).item() == 24.0
    assert promotion.unbroadcast(g, (2, 3, 4)) is g


def test_numbers():
    assert promotion.is_number(np.float32(1)) and promotion.is_number(True) and promotion.is_number(1j)
    assert not promotion.is_number("1") and not promotion.is_number(np.ones(1)) and not promotion.is_number(None)
    with pytest.raises(TypeError, match="must be Tensor"):
        promotion.check_tensor(1, "op")
    with pytest.raises(NotImplementedError, match="\"op_cpu\" not implemented for 'Long': op\\(\\) takes floating point and complex tensors"):
        promotion.check_kind("op", torch.ones(2, dtype=torch.int64), "fc")
