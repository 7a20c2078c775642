"""Numbers that a dtype can hold: which are converted, which are refused, and by what name."""
import math

import pytest

import saraph as torch
from saraph.ops.options import check_number

MASK = torch.tensor([True, False])
ROW = torch.tensor([0])


@pytest.mark.parametrize(("value", "kind", "expected"), [
    (2.7, torch.int64, 2), (-1, torch.uint8, 255), (3 + 0j, torch.int32, 3), (1j, torch.bool, True), (math.nan, torch.bool, True), (0.0, torch.bool, False),
    (math.inf, torch.float32, math.inf), (1e300, torch.float64, 1e300), (1e300, torch.float16, 1e300), (2j, torch.complex64, 2j)])
def test_numbers_that_fit(value, kind, expected):
    found = check_number(value, kind, "fill_")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("value", "kind", "name"), [
    (300, torch.uint8, "uint8_t"), (128, torch.int8, "int8_t"), (2**31, torch.int32, "int"), (math.nan, torch.int64, "int64_t"),
    (math.inf, torch.int16, "int16_t"), (1e39, torch.float32, "float"), (1j, torch.float64, "double"), (1e300, torch.complex64, "c10::complex<float>")])
def test_numbers_that_do_not_fit(value, kind, name):
    with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
        check_number(value, kind, "fill_")


@pytest.mark.parametrize("fill", [lambda x, v: x.masked_fill(MASK, v), lambda x, v: x.index_fill(0, ROW, v)])
def test_fillers(fill):
    assert fill(torch.zeros(2, dtype=torch.int64), 1.9).tolist() == [1, 0]
    assert fill(torch.zeros(2, dtype=torch.bool), 7).tolist() == [True, False]
    assert fill(torch.zeros(2, dtype=torch.bfloat16), 1e38).dtype is torch.bfloat16
    assert fill(torch.zeros(2), torch.tensor(3)).tolist() == [3.0, 0.0]
    for kind, value in ((torch.int8, 300), (torch.int64, math.nan), (torch.float16, 7e4), (torch.bfloat16, 3.4e38), (torch.float32, 1e39),
                        (torch.float32, 1j)):
        with pytest.raises(RuntimeError, match="without overflow"):
            fill(torch.zeros(2, dtype=kind), value)
    with pytest.raises(RuntimeError, match="0-dimensional value tensor"):
        fill(torch.zeros(2), torch.ones(1))


def test_gradients_of_index_fill(check_gradients):
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).numpy()
    check_gradients(lambda a, v: a.index_fill(1, torch.tensor([0, -1, 0]), v.sum()), x, x[0])
    scalar = torch.tensor(2.0, requires_grad=True)
    filled = scalar.index_fill(0, ROW, 5.0)
    filled.backward()
    assert filled.item() == 5.0 and scalar.grad.item() == 0.0
