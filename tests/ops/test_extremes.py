"""max, min, amax, amin, aminmax, argmax, argmin."""
import pickle

import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(5)
A = rng.standard_normal((3, 4, 2))
TIES = np.array([[2.0, 1.0, 2.0], [0.0, 2.0, 1.0]])


def tensor(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_values_and_positions(kind):
    a = (rng.standard_normal((4, 5)) * 3).astype("f")
    x = tensor(np.abs(a)).to(kind)
    b = x.to(torch.float32).numpy()
    for dim in (0, 1):
        for name, values, positions in (("max", b.max(dim), b.argmax(dim)), ("min", b.min(dim), b.argmin(dim))):
            got = getattr(x, name)(dim)
            assert got.values.dtype is kind and got.indices.dtype is torch.int64
            assert got.values.to(torch.float32).tolist() == values.tolist() and got.indices.tolist() == positions.tolist()
            assert getattr(x, name)(dim, True)[0].shape == ((1, 5) if dim == 0 else (4, 1))
        if kind is not torch.bool:
            assert x.argmax(dim).tolist() == b.argmax(dim).tolist()
    assert float(x.max()) == b.max() and float(x.amin((0, 1))) == b.min()
    assert [float(v) for v in x.aminmax()] == [b.min(), b.max()]


def test_the_three_forms():
    x = tensor(TIES)
    assert x.max().item() == 2 and torch.max(x, dim=1, keepdim=True).values.shape == (2, 1)
    assert torch.max(x, x * 0 + 1).tolist() == x.max(other=torch.ones((), dtype=torch.float64)).tolist() == [[2, 1, 2], [1, 2, 1]]
    values, indices = torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.int64)
    torch.max(x, 1, out=(values, indices))
    assert values.tolist() == [2, 2] and indices.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        torch.max(x, 1, out=(torch.empty(0), indices))
    with pytest.raises(TypeError):
        x.max(1.5)
    assert torch.tensor(3.0).max(0).indices.item() == 0


def test_named_tuple():
    got = tensor(TIES).max(1)
    values, indices = got
    assert isinstance(got, tuple) and type(got) is torch.return_types.max and got[0] is got.values and len(got) == 2
    assert repr(torch.return_types.max((1, 2))) == "torch.return_types.max(\nvalues=1,\nindices=2)"
    assert pickle.loads(pickle.dumps(torch.return_types.sort((1, 2)))) == (1, 2)
    with pytest.raises(TypeError):
        torch.return_types.max((1, 2, 3))


def test_nan_wins():
    x = torch.tensor([1.0, np.nan, 3.0, np.nan])
    assert np.isnan(x.max().item()) and np.isnan(x.amin().item()) and x.max(0).indices.item() == x.argmin().item() == 1
    assert np.isnan(x.to(torch.bfloat16).max(0).values.item()) and x.to(torch.bfloat16).argmax().item() == 1


def test_argmax_of_all():
    x = tensor(A)
    assert x.argmax().item() == A.argmax() and x.argmin(keepdim=True).shape == (1, 1, 1) and x.argmax(1, keepdim=True).shape == (3, 1, 2)


def test_errors():
    empty = torch.zeros(0, 3)
    for function in (empty.max, empty.min, empty.amax, empty.aminmax):
        with pytest.raises(RuntimeError):
            function()
    with pytest.raises(IndexError, match="Expected reduction dim to be specified"):
        empty.argmax()
    for function in (empty.max, empty.amax, empty.argmax, lambda d: empty.aminmax(dim=d)):
        with pytest.raises(IndexError, match="non-zero size"):
            function(0)
    assert empty.max(1).values.shape == empty.argmax(1).shape == (0,)
    for function in (torch.max, torch.amax, torch.argmax, torch.aminmax):
        with pytest.raises(RuntimeError):
            function(torch.ones(2, dtype=torch.complex64))
    with pytest.raises(RuntimeError, match="bool"):
        torch.tensor([True]).argmax()


@pytest.mark.parametrize("name", ["max", "min"])
def test_gradient_goes_to_the_index(name, check_gradients):
    check_gradients(lambda x: getattr(x, name)(1).values, A)
    check_gradients(lambda x: getattr(x, name)(-1, keepdim=True)[0], A)
    x = tensor(TIES).requires_grad_()
    x.max(1).values.sum().backward()
    assert x.grad.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_gradient_is_shared_by_equal_elements(check_gradients):
    for function in (lambda x: x.amax(1), lambda x: x.amin((0, 2), True), lambda x: x.max(), lambda x: x.min(), lambda x: x.aminmax(dim=1),
                     lambda x: x.aminmax()):
        check_gradients(function, A)
    x = tensor(TIES).requires_grad_()
    (x.amax(1).sum() + 3 * x.max()).backward()
    assert x.grad.tolist() == [[1.5, 0, 1.5], [0, 2, 0]]


def test_second_derivatives_through_max(check_gradients):
    def gradient(x):
        x = x if x.requires_grad else x.requires_grad_()
        return torch.autograd.grad((x.max(1).values ** 3 + x.amax(1) ** 2).sum(), x, create_graph=True)[0]

    check_gradients(gradient, A)
