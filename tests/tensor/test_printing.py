"""Tensors as text, against what PyTorch 2.13 prints."""
import json
from pathlib import Path

import pytest

import saraph as torch
from saraph import arange, inf, nan, tensor

CASES = json.loads((Path(__file__).parent / "printing.json").read_text())
NAMES = {"torch": torch, "tensor": tensor, "arange": arange, "inf": inf, "nan": nan}


@pytest.fixture(autouse=True)
def default_options():
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.parametrize(("options", "source", "expected"), CASES)
def test_text(options, source, expected):
    torch.set_printoptions(**options)
    assert repr(eval(source, NAMES)) == expected


def test_str_is_repr_and_format_is_the_number():
    x = tensor(1.5)
    assert str(x) == repr(x) == "tensor(1.5000)"
    assert f"{x:.3f}" == "1.500"
    assert f"{tensor([1])}" == "tensor([1])"


def test_subclasses_print_their_name():
    class Sub(torch.Tensor):
        pass

    assert repr(torch.ones(2).as_subclass(Sub)) == "Sub([1., 1.])"


def test_non_contiguous_tensors_print_as_their_copies():
    x = arange(24.).reshape(2, 3, 4)
    for y in (x.permute(2, 0, 1), x[:, ::2], x.flip(0), x[..., None].expand(2, 3, 4, 2)):
        assert repr(y) == repr(y.contiguous())
