"""Optimizer: groups, state dicts, hooks, printing."""
import copy
import pickle

import pytest

import saraph as torch
from saraph import optim


def parameter(*values):
    return torch.nn.Parameter(torch.tensor(values or [1.0]))


def test_groups_take_defaults_and_refuse_duplicates():
    a, b = parameter(), parameter()
    optimizer = optim.SGD([{"params": a, "lr": 0.5}], lr=0.1, momentum=0.9)
    optimizer.add_param_group({"params": [b], "weight_decay": 0.3})
    assert [g["lr"] for g in optimizer.param_groups] == [0.5, 0.1] and optimizer.param_groups[1]["weight_decay"] == 0.3
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [a]})
    with pytest.raises(TypeError, match="ordered collections"):
        optimizer.add_param_group({"params": {parameter()}})
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        optimizer.add_param_group({"params": [parameter() * 2]})
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([parameter(), *[b] * 2], lr=0.1)


def test_state_dicts_number_the_parameters():
    a, b, c = parameter(), parameter(), parameter()
    optimizer = optim.Adam([{"params": [a, b]}, {"params": [c], "lr": 0.5}])
    a.grad, c.grad = torch.ones(1), torch.ones(1)
    optimizer.step()
    state = optimizer.state_dict()
    assert [g["params"] for g in state["param_groups"]] == [[0, 1], [2]] and sorted(state["state"]) == [0, 2]
    assert state["state"][0]["exp_avg"].item() == pytest.approx(0.1) and state["state"][0]["step"].item() == 1
    fresh = optim.Adam([{"params": [parameter().requires_grad_(), parameter()]}, {"params": [parameter()]}])
    fresh.load_state_dict(copy.deepcopy(state))
    assert fresh.param_groups[1]["lr"] == 0.5 and fresh.state[fresh.param_groups[0]["params"][0]]["exp_avg"].item() == pytest.approx(0.1)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optim.Adam([parameter()]).load_state_dict(state)
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optim.Adam([{"params": [parameter()]}, {"params": [parameter()]}]).load_state_dict(state)


def test_a_loaded_state_takes_the_dtype_of_its_parameter():
    p = parameter()
    optimizer = optim.Adam([p])
    p.grad = torch.ones(1)
    optimizer.step()
    q = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    other = optim.Adam([q])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[q]["exp_avg"].dtype is torch.float64 and other.state[q]["step"].dtype is torch.float32


def test_names_go_with_the_groups():
    m = torch.nn.Linear(1, 1)
    optimizer = optim.SGD(m.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_hooks_around_steps_and_state_dicts():
    p, seen = parameter(), []
    optimizer = optim.SGD([p], lr=1.0)
    handles = [optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre")),
               optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post")),
               optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1}),
               optimizer.register_load_state_dict_pre_hook(lambda o, state: {k: v for k, v in state.items() if k != "extra"}),
               optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))]
    optimizer.step()
    state = optimizer.state_dict()
    assert state["extra"] == 1
    optimizer.load_state_dict(state)
    assert seen == ["pre", "post", "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 3 and "extra" not in optimizer.state_dict()


def test_printing_and_pickling():
    optimizer = optim.SGD([parameter()], lr=0.1)
    assert repr(optimizer) == ("SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n    fused: None\n    lr: 0.1\n"
                               "    maximize: False\n    momentum: 0\n    nesterov: False\n    weight_decay: 0\n)")
    twin = pickle.loads(pickle.dumps(optimizer))
    assert twin.param_groups[0]["lr"] == 0.1 and repr(twin) == repr(optimizer)


def test_gradients_are_dropped_or_filled():
    p = parameter()
    optimizer = optim.SGD([p], lr=0.1)
    p.grad = torch.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.item() == 0
    optimizer.zero_grad()
    assert p.grad is None
    optimizer.step()  # a parameter without a gradient stays
    assert p.item() == 1


def test_learning_rates_may_be_tensors():
    p = parameter(1.0)
    rate = torch.tensor(0.5)
    optimizer = optim.SGD([p], lr=rate)
    p.grad = torch.ones(1)
    optimizer.step()
    rate.fill_(0.25)
    optimizer.step()
    assert p.item() == 0.25
