"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""
from collections import OrderedDict

import pytest

import saraph as torch
from saraph import nn


def test_sequential_runs_in_order_and_behaves_like_a_list():
    s = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    x = torch.rand(4, 2)
    assert torch.equal(s(x), s[2](s[1](s[0](x)))) and len(s) == 3 and s[-1] is s[2]
    assert type(s[:2]) is nn.Sequential and len(s[:2]) == 2 and [type(m).__name__ for m in s] == ["Linear", "ReLU", "Linear"]
    s[1] = nn.Tanh()
    s.append(nn.Identity()).insert(0, nn.Identity())
    assert [type(m).__name__ for m in s] == ["Identity", "Linear", "Tanh", "Linear", "Identity"] and list(s._modules) == list("01234")
    assert type(s.pop(0)) is nn.Identity and len(s) == 4
    del s[-1]
    s.extend([nn.ELU()])
    assert [type(m).__name__ for m in s] == ["Linear", "Tanh", "Linear", "ELU"]
    both = s + nn.Sequential(nn.Softmax(dim=1))
    assert len(both) == 5 and len(nn.Sequential(nn.ReLU()) * 3) == 3
    with pytest.raises(IndexError, match="index 9 is out of range"):
        s[9]
    with pytest.raises(TypeError, match="is not a Module subclass"):
        nn.Sequential(3)
    named = nn.Sequential(OrderedDict(fc=nn.Linear(1, 1), act=nn.ReLU()))
    assert named.fc is named[0] and [n for n, _ in named.named_children()] == ["fc", "act"]
    assert repr(named) == "Sequential(\n  (fc): Linear(in_features=1, out_features=1, bias=True)\n  (act): ReLU()\n)"
    assert nn.Sequential()(3) == 3


def test_module_list():
    m = nn.ModuleList(nn.Linear(1, i + 1) for i in range(3))
    assert len(m) == 3 and [n for n, _ in m.named_parameters()][:2] == ["0.weight", "0.bias"] and m[1] in list(m)
    m.append(nn.ReLU())
    m.insert(1, nn.Tanh())
    assert [type(c).__name__ for c in m] == ["Linear", "Tanh", "Linear", "Linear", "ReLU"]
    assert type(m[1:3]) is nn.ModuleList and m.pop(-1) is not None and len(m) == 4
    m += [nn.Sigmoid()]
    del m[0:2]
    assert [type(c).__name__ for c in m] == ["Linear", "Linear", "Sigmoid"] and len(m + nn.ModuleList([nn.ELU()])) == 4
    with pytest.raises(TypeError, match="should be called with an iterable"):
        m.extend(3)
    with pytest.raises(NotImplementedError, match="forward"):
        m(1)
    twice = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 1)])
    assert repr(twice) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Linear(in_features=1, out_features=1, bias=True)\n)"


def test_module_dict():
    m = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    assert list(m) == ["a", "b"] and "a" in m and len(m) == 2 and [k for k, _ in m.items()] == ["a", "b"]
    m.update([("c", nn.Tanh())])
    m["a"] = nn.ELU()
    assert list(m.keys()) == ["a", "b", "c"] and type(m.pop("a")) is nn.ELU and [type(v).__name__ for v in m.values()] == ["Linear", "Tanh"]
    with pytest.raises(TypeError, match="should be called with an iterable"):
        m.update(3)
    m.clear()
    assert not m


def test_parameter_list():
    m = nn.ParameterList([nn.Parameter(torch.ones(1)), torch.zeros(2)])
    assert isinstance(m[1], nn.Parameter) and len(list(m.parameters())) == 2 and len(m) == 2
    m.append(torch.ones(3)).extend([nn.Parameter(torch.ones(4))])
    m[0] = torch.full((1,), 5.0)
    assert [p.numel() for p in m] == [1, 2, 3, 4] and m[-1].numel() == 4 and list(m.state_dict()) == ["0", "1", "2", "3"] and m[0].item() == 5
    assert "Parameter containing: [torch.float32 of size 2]" in repr(m)


def test_parameter_dict():
    m = nn.ParameterDict([("w", torch.ones(2)), ("n", None)])
    m["v"] = nn.Parameter(torch.zeros(1))
    assert list(m) == ["w", "n", "v"] and isinstance(m["w"], nn.Parameter) and m["n"] is None and len(m) == 3
    assert [n for n, _ in m.named_parameters()] == ["w", "v"] and m.get("zz") is None and m.setdefault("s", torch.ones(1)) is m["s"]
    both = m | {"extra": torch.ones(1)}
    assert "extra" in both and "extra" not in m
    assert m.pop("v").item() == 0 and "v" not in m and m.popitem()[0] == "s"
    other = nn.ParameterDict().fromkeys(["a", "b"], torch.ones(1))
    assert list(other.keys()) == ["a", "b"]
