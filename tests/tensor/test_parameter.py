"""Parameter, Buffer, and their forms without a shape."""
from __future__ import annotations

import copy
import pickle

import pytest

import saraph as torch
from saraph.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter, is_lazy


class Special(Parameter):
    """A user's own kind of parameter."""


def test_parameter_is_a_leaf_over_the_same_memory():
    x = torch.ones(2)
    p = Parameter(x)
    assert p.requires_grad and p.is_leaf and p.data_ptr() == x.data_ptr()
    assert type(p + 1) is torch.Tensor and type(p.data) is torch.Tensor
    assert isinstance(p, Parameter) and not isinstance(x, Parameter)
    assert Parameter(p * 2).is_leaf and Parameter().shape == (0,)
    assert not Parameter(torch.ones(2, dtype=torch.int64), requires_grad=False).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        Parameter(torch.ones(2, dtype=torch.int64))
    with pytest.raises(AttributeError):
        Parameter([1.0])
    assert repr(p).startswith("Parameter containing:\n")


def test_copies_of_parameters():
    p = Parameter(torch.ones(2))
    for q in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(q) is Parameter and q.requires_grad and q.tolist() == [1.0, 1.0] and q.data_ptr() != p.data_ptr()
    p.note = 3
    assert pickle.loads(pickle.dumps(p)).note == 3
    a, b = copy.deepcopy([p, p])
    assert a is b


def test_subclasses_of_parameter():
    s = Special(torch.ones(2))
    assert type(s) is Special and type(s * 2) is torch.Tensor and type(copy.deepcopy(s)) is Special


def test_parameter_of_a_tensor_subclass_keeps_the_class():
    class Tagged(torch.Tensor):
        pass

    p = Parameter(torch.ones(2).as_subclass(Tagged))
    assert type(p) is Tagged and isinstance(p, Parameter) and p.requires_grad


def test_buffer_marks_a_tensor():
    x = torch.ones(2)
    b = Buffer(x, persistent=False)
    assert type(b) is torch.Tensor and isinstance(b, Buffer) and not b.persistent and not isinstance(x, Buffer)
    assert b.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("cls, becomes", [(UninitializedParameter, Parameter), (UninitializedBuffer, torch.Tensor)])
def test_without_a_shape(cls, becomes):
    u = cls(dtype=torch.float64)
    assert is_lazy(u) and repr(u) == f"<{cls.__name__}>" and u.dtype is torch.float64 and u.device.type == "cpu"
    with pytest.raises(RuntimeError, match="uninitialized"):
        u.shape  # noqa: B018
    with pytest.raises(ValueError, match="uninitialized parameter"):
        u + 1
    v = pickle.loads(pickle.dumps(copy.deepcopy(u)))
    v.materialize((2, 3))
    assert type(v) is becomes and v.shape == (2, 3) and v.dtype is torch.float64 and not is_lazy(v)
