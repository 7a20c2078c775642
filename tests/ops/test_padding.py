"""nn.functional.pad against numpy.pad."""
import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(8)
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_values(mode, rank):
    x = rng.standard_normal((2, 3) + (5, 4, 6)[:rank])
    pads = [(1, 2), (3, 0), (0, 2)][:rank]  # first spatial dimension first
    flat = [n for pair in reversed(pads) for n in pair]
    expected = np.pad(x, [(0, 0), (0, 0), *pads], MODES[mode])
    np.testing.assert_array_equal(F.pad(torch.from_numpy(x), flat, mode).numpy(), expected)
    np.testing.assert_array_equal(F.pad(torch.from_numpy(x[0]), flat, mode).numpy(), expected[0])


def test_constant():
    x = torch.tensor([[1, 2], [3, 4]])
    assert F.pad(x, (1, 0), value=9).tolist() == [[9, 1, 2], [9, 3, 4]]
    assert F.pad(x, (0, 0, 0, 1)).tolist() == [[1, 2], [3, 4], [0, 0]]
    assert F.pad(x, (-1, 1)).tolist() == [[2, 0], [4, 0]]
    assert F.pad(x > 1, (0, 1), value=True).tolist() == [[False, True, True], [True, True, True]]


def test_negative_pads_crop():
    """Golden answers: reflection and repetition count from the whole input, wrapping from what is left of it."""
    x = torch.arange(5.0).reshape(1, 1, 5)
    assert F.pad(x, (-1, 2), "reflect").tolist() == [[[1, 2, 3, 4, 3, 2]]]
    assert F.pad(x, (2, -2), "replicate").tolist() == [[[0, 0, 0, 1, 2]]]
    assert F.pad(x, (-1, 2), "circular").tolist() == [[[1, 2, 3, 4, 1, 2]]]
    assert F.pad(x, (-1, -1), "reflect").tolist() == [[[1, 2, 3]]]


@pytest.mark.parametrize("mode", MODES)
def test_gradients(mode, check_gradients):
    x = rng.standard_normal((1, 2, 3, 4))
    for pads in ((1, 2, 2, 0), (3, 3, 1, 1) if mode != "reflect" else (3, 2, 2, 2), (-1, 1, 1, -1)):
        check_gradients(lambda t, pads=pads: F.pad(t, pads, mode), x)
    assert torch.autograd.gradgradcheck(lambda t: F.pad(t, (1, 2, 2, 0), mode) ** 2, [torch.from_numpy(x).requires_grad_()])
    check_gradients(lambda t: F.pad(t, (1, 2, 2, 0), mode), x + 1j * x[..., ::-1])


def test_order_dtypes_and_meta():
    x = torch.from_numpy(rng.standard_normal((2, 3, 4, 5)))
    last = x.to(memory_format=torch.channels_last)
    for mode in ("reflect", "replicate"):
        y = F.pad(last, (1, 1, 2, 0), mode)
        assert y.is_contiguous(memory_format=torch.channels_last) and y.tolist() == F.pad(x, (1, 1, 2, 0), mode).tolist()
        assert F.pad(x[0].bfloat16(), (1, 1), mode).dtype is torch.bfloat16
        assert F.pad(torch.empty(2, 3, 4, device="meta"), (1, 2), mode).shape == (2, 3, 7)
        assert F.pad(torch.arange(6).reshape(1, 1, 6), (1, 1), mode).dtype is torch.int64
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        F.pad(torch.ones(1, 1, 3) > 0, (1, 1), "reflect")
    g = torch.ones(1, 1, 3, dtype=torch.bfloat16, requires_grad=True)
    F.pad(g, (300, 300), "replicate").sum().backward()
    assert g.grad.tolist() == [[[300, 1, 300]]]  # 301, rounded once


def test_the_result_is_never_the_input():
    x = torch.ones(1, 1, 3)
    for mode in MODES:
        y = F.pad(x, (0, 0), mode)
        y.zero_()
    assert x.sum().item() == 3


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: F.pad(x, (1,)), RuntimeError, "Padding length must be divisible by 2"),
    (lambda x: F.pad(x, (4, 1), "reflect"), RuntimeError, "Padding size should be less than the corresponding input dimension"),
    (lambda x: F.pad(x, (5, 1), "circular"), RuntimeError, "Padding value causes wrapping around more than once"),
    (lambda x: F.pad(x, (1, 1), "other"), NotImplementedError, "Unrecognised padding mode other"),
    (lambda x: F.pad(x, (1, 1), "reflect", 1.0), ValueError, 'Padding mode "reflect" doesn\'t take in value argument'),
    (lambda x: F.pad(x[0, 0], (1, 1), "reflect"), NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported"),
    (lambda x: F.pad(x, (-2, -2), "replicate"), RuntimeError, "is too small"),
    (lambda x: F.pad(x, (1.5, 1)), TypeError, "argument 'pad'"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch.ones(1, 1, 4))


def test_names_of_nodes():
    x = torch.ones(1, 1, 4, requires_grad=True)
    assert F.pad(x, (1, 1), "reflect").grad_fn.name() == "ReflectionPad1DBackward0"
    assert F.pad(x[None], (1, 1, 0, 0), "replicate").grad_fn.name() == "ReplicationPad2DBackward0"
