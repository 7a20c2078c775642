"""Module: registration, state, hooks."""
import pytest

import saraph as torch
from saraph import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.fc(x) * self.scale


def test_what_is_registered_and_what_is_saved():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "fc.weight", "fc.bias"]
    assert [n for n, _ in net.named_buffers()] == ["count", "scratch"]
    assert list(net.state_dict()) == ["scale", "count", "fc.weight", "fc.bias"]
    assert net.get_submodule("fc") is net.fc and net.get_parameter("fc.bias") is net.fc.bias
    with pytest.raises(AttributeError, match="nothing"):
        net.get_submodule("nothing")


def test_strict_loading_names_what_is_missing_and_what_is_too_much():
    state = Net().state_dict()
    state["extra"] = state.pop("fc.bias")
    net = Net()
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(state)
    assert 'Missing key(s) in state_dict: "fc.bias"' in str(error.value) and 'Unexpected key(s) in state_dict: "extra"' in str(error.value)
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["fc.bias"] and found.unexpected_keys == ["extra"]
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        net.load_state_dict({**Net().state_dict(), "scale": torch.ones(4)})


def test_hooks_see_and_change_values_until_they_are_removed():
    net, seen, x = Net(), [], torch.ones(1, 2)
    plain = net(x)
    handles = [net.register_forward_pre_hook(lambda m, args: (args[0] * 2,)), net.register_forward_hook(lambda m, args, out: out + 1),
               net.fc.register_forward_hook(lambda m, args, out: seen.append(args[0].tolist())),
               net.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append(grad_out[0].tolist()))]
    y = net(x)
    assert torch.allclose(y, net.fc(2 * x) * net.scale + 1)
    y.sum().backward()
    assert seen[0] == [[2.0, 2.0]] and seen[-1] == [[1.0, 1.0, 1.0]]
    for handle in handles:
        handle.remove()
    assert torch.equal(net(x), plain)


def test_train_eval_apply_and_conversion_reach_every_module():
    net = nn.Sequential(Net(), nn.ModuleList([nn.Dropout()]), nn.ModuleDict({"a": nn.BatchNorm1d(2)}))
    assert not any(m.training for m in net.eval().modules()) and all(m.training for m in net.train().modules())
    names = []
    net.apply(lambda m: names.append(type(m).__name__))
    assert names[0] == "Linear" and names[-1] == "Sequential"
    net.double()
    assert {p.dtype for p in net.parameters()} == {torch.float64} and net[2]["a"].num_batches_tracked.dtype is torch.int64
