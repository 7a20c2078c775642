"""What ops save: hooks on it, save_on_cpu; anomaly mode."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph.autograd import graph


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_packing_and_unpacking():
    x, packed, unpacked = leaf(1.0, 2.0), [], []

    def pack(t):
        packed.append(t.tolist())
        return len(packed) - 1, t

    def unpack(value):
        unpacked.append(value[0])
        return value[1] * 10

    with graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    z = y * y
    assert packed == [[1, 2], [1, 2]] and unpacked == []
    z.sum().backward()
    assert sorted(unpacked) == [0, 1] and x.grad.tolist() == [40, 320]  # x stands for 10 x in y's backward


def test_hooks_nest():
    x, seen = leaf(2.0), []
    with graph.saved_tensors_hooks(lambda t: (seen.append("outer"), t)[1], lambda t: t):
        x.exp()
        with graph.saved_tensors_hooks(lambda t: (seen.append("inner"), t)[1], lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert seen == ["outer", "inner", "outer"]


def test_hooks_and_second_derivatives():
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x ** 3
        z = y.exp()
    (g,) = torch.autograd.grad(z, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    e = torch.tensor(8.0).exp()
    assert torch.allclose(g, 12 * e) and torch.allclose(h, (144 + 12) * e)


def test_numpy_packing():
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
        y = (x.sigmoid() * x).sum()
    y.backward()
    s = x.detach().sigmoid()
    assert torch.allclose(x.grad, s + x.detach() * s * (1 - s))


def test_wrong_unpacking():
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="Tensor"):
        y.sum().backward()


def test_a_write_after_packing_a_copy_is_fine():
    x = leaf(1.0, 2.0)
    y = x * 1
    with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = y * y
    y.detach().zero_()
    z.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_save_on_cpu():
    x = leaf(1.0, 2.0)
    y = x * 1
    with graph.save_on_cpu(pin_memory=True):
        z = (y.exp() * y).sum()
    with torch.no_grad():
        y.zero_()
    z.backward()
    e = x.detach().exp()
    assert torch.allclose(x.grad, e + x.detach() * e)
    x.grad = None
    with graph.save_on_cpu():
        x.exp().sum().backward()
    assert torch.allclose(x.grad, e)


def test_hooks_can_be_forbidden():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        with pytest.raises(RuntimeError, match="nor here"):
            with graph.disable_saved_tensors_hooks("nor here"):
                pass


def test_errors_in_the_block_switch_hooks_off():
    with pytest.raises(ZeroDivisionError):
        with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
            leaf(1.0).exp()
    leaf(1.0).exp().sum().backward()


# -- anomaly mode ----------------------------------------------------------------------------------------------------------------


def root_of_negative(x):
    return torch.sqrt(x)  # THE LINE


def test_nan_names_the_forward_line():
    x = leaf(0.0)
    with torch.autograd.detect_anomaly():
        y = root_of_negative(x) * 0
        with pytest.raises(RuntimeError, match=r"SqrtBackward0.* returned nan values in its 0th output") as caught:
            y.sum().backward()
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert "root_of_negative" in text and "THE LINE" in text
    assert not torch.is_anomaly_enabled()


def test_errors_in_backward_name_the_forward_line():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("no derivative")

    with torch.autograd.detect_anomaly():
        y = Fails.apply(leaf(1.0))  # WHERE IT WAS MADE
        with pytest.raises(ValueError, match="no derivative") as caught:
            y.sum().backward()
    assert "WHERE IT WAS MADE" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_switching_anomaly_mode():
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        with torch.autograd.detect_anomaly(check_nan=False):
            assert not torch.is_anomaly_check_nan_enabled()
            x = leaf(0.0)
            (x.sqrt() * 0).sum().backward()
            assert x.grad.isnan().all()
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()
