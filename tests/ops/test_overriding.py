"""`__torch_function__`: subclasses, foreign classes, modes."""
from __future__ import annotations

import copy
import pickle

import pytest

import saraph as torch
from saraph import overrides


class Plain(torch.Tensor):
    """Keeps its class through ops."""


class Logging(torch.Tensor):
    calls: list[str] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Foreign:
    """Not a Tensor at all."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return f"foreign {func.__name__}"


class Refusing:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Recorder(overrides.TorchFunctionMode):
    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_results_keep_the_class():
    x = Plain([1, 2])
    assert type(x) is Plain and x.tolist() == [1.0, 2.0]
    for result in (x + 1, 1 + x, torch.add(x, x), torch.ones(2) + x, x.detach(), x.clone(), x.data, x.to(torch.float64), x.sum()):
        assert type(result) is Plain
    assert all(type(part) is Plain for part in x.split(1))
    assert type(x.shape) is torch.Size and isinstance(x.numpy(), object)
    y = torch.ones(2).as_subclass(Plain)
    y.tag = 4
    for again in (pickle.loads(pickle.dumps(y)), copy.deepcopy(y)):
        assert type(again) is Plain and again.tag == 4


def test_gradients_pass_through_subclasses():
    leaf = torch.ones(2, requires_grad=True)
    (leaf.as_subclass(Plain) * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]
    own = torch.Tensor._make_subclass(Plain, torch.ones(2), True)
    (own * 2).sum().backward()
    assert own.grad.tolist() == [2.0, 2.0]


def test_a_subclass_sees_its_ops():
    x = torch.ones(2).as_subclass(Logging)
    Logging.calls.clear()
    result = torch.add(x, 1)
    x.add_(1)
    assert Logging.calls == ["add", "add_"] and type(result) is Logging
    with torch.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    with pytest.raises(TypeError):
        torch.ones(2).as_subclass(int)


def test_unrelated_subclasses_decline():
    with pytest.raises(TypeError, match="no implementation found"):
        torch.add(torch.ones(1).as_subclass(Plain), torch.ones(1).as_subclass(Logging))


def test_foreign_classes():
    assert torch.sum(Foreign()) == "foreign sum"
    assert torch.add(torch.ones(1), Foreign()) == torch.ones(1) + Foreign() == "foreign add"
    assert torch.cat([torch.ones(1), Foreign()]) == "foreign cat"
    with pytest.raises(TypeError, match="no implementation found"):
        torch.add(torch.ones(1), Refusing())
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.sum(3)
    assert overrides.is_tensor_like(Foreign()) and not overrides.is_tensor_like(3)


def test_modes_nest_and_end():
    x = torch.ones(2)
    with Recorder() as outer:
        x + 1
        with Recorder() as inner:
            torch.zeros(2)
    x * 2
    assert outer.names == ["add", "zeros"] and inner.names == ["zeros"]


def test_helpers_for_library_authors():
    @overrides.wrap_torch_function(lambda x: (x,))
    def double(x):
        return x * 2

    assert double(torch.ones(1)).tolist() == [2.0] and double(Foreign()) == "foreign double"
    assert overrides.has_torch_function((torch.ones(1).as_subclass(Plain),)) and not overrides.has_torch_function((torch.ones(1),))
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert torch.add in overrides.get_overridable_functions()["torch"] and overrides.get_testing_overrides()[torch.add](1, 2) == -1
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
