"""Errors say in which module of a model they arose."""
import pickle
import traceback

import pytest

import saraph as torch
from saraph import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 6))
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.Linear(2, 3)])

    def forward(self, x, block=None):
        return self.body(x) if block is None else self.blocks[block](x)


def raised(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


def notes(error):
    return getattr(error, "__notes__", [])


def test_the_path_from_the_outermost_module():
    error = raised(Net(), torch.ones(2, 3))
    assert notes(error) == ["module: Net.body.2 (Linear)"]
    assert "module: Net.body.2 (Linear)" in "".join(traceback.format_exception(error))
    assert notes(raised(Net(), torch.ones(2, 3), 1)) == ["module: Net.blocks.1 (Linear)"]  # the list itself is never called
    assert notes(raised(nn.Sequential(Net()), torch.ones(2, 3))) == ["module: Sequential.0.body.2 (Linear)"]
    assert notes(raised(nn.Linear(2, 2), torch.ones(3))) == ["module: Linear"]


def test_the_message_and_the_class_stay_as_they_are():
    class Refuses(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    error = raised(nn.Sequential(Refuses()), 1)
    assert type(error) is KeyError and error.args == ("mine",) and notes(error) == ["module: Sequential.0 (Refuses)"]
    assert pickle.loads(pickle.dumps(error)).args == ("mine",)


def test_with_hooks_and_of_errors_in_hooks():
    net = Net()
    net.body[2].register_forward_pre_hook(lambda m, args: None)
    net.register_forward_hook(lambda m, args, out: None)
    assert notes(raised(net, torch.ones(2, 3))) == ["module: Net.body.2 (Linear)"]
    net.body[1].register_forward_hook(lambda m, args, out: out.no_such_attribute)
    assert notes(raised(net, torch.ones(2, 3))) == ["module: Net.body.1 (ReLU)"]


def test_a_module_that_is_no_part_of_the_caller():
    stray = nn.Linear(7, 7)

    class Calls(nn.Module):
        def forward(self, x):
            return stray(x)

    assert notes(raised(nn.Sequential(Calls()), torch.ones(2, 3))) == ["module: Linear"]


def test_an_error_that_is_caught_and_another_one():
    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.bad, self.worse = nn.Linear(7, 7), nn.Linear(8, 8)

        def forward(self, x):
            try:
                return self.bad(x)
            except RuntimeError:
                return self.worse(x)

    assert notes(raised(Tries(), torch.ones(2, 3))) == ["module: Tries.worse (Linear)"]


def test_the_same_error_raised_again():
    error = ValueError("once")

    class Raises(nn.Module):
        def forward(self, x):
            raise error

    model = nn.Sequential(Raises())
    assert raised(model, 1) is error and raised(model, 1) is error
    assert notes(error)[-1] == "module: Sequential.0 (Raises)" and len(notes(error)) <= 2
