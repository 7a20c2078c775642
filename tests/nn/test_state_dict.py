"""State dicts: what they hold, how they are loaded, what is reported."""
import copy
import pickle
from collections import OrderedDict

import pytest

import saraph as torch
from saraph import nn


def test_entries_share_memory_and_carry_versions():
    m = nn.Sequential(OrderedDict(a=nn.Linear(2, 2), n=nn.BatchNorm1d(2)))
    state = m.state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state) == ["a.weight", "a.bias", "n.weight", "n.bias", "n.running_mean", "n.running_var", "n.num_batches_tracked"]
    assert state["a.weight"].data_ptr() == m.a.weight.data_ptr() and not state["a.weight"].requires_grad and type(state["a.weight"]) is torch.Tensor
    assert dict(state._metadata) == {"": {"version": 1}, "a": {"version": 1}, "n": {"version": 2}}
    assert m.state_dict(keep_vars=True)["a.weight"] is m.a.weight
    filled = m.state_dict(destination=OrderedDict(), prefix="x.")
    assert list(filled)[0] == "x.a.weight"


def test_the_whole_report_of_a_strict_load():
    m = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    state = m.state_dict()
    del state["0.bias"], state["1.bias"]
    state["0.weight"], state["9.weight"], state["zz"] = torch.ones(3, 4), torch.ones(1), torch.ones(1)
    with pytest.raises(RuntimeError) as error:
        m.load_state_dict(state)
    assert str(error.value) == (
        'Error(s) in loading state_dict for Sequential:\n\tMissing key(s) in state_dict: "0.bias", "1.bias". \n\t'
        'Unexpected key(s) in state_dict: "9.weight", "zz". \n\t'
        "size mismatch for 0.weight: copying a param with shape torch.Size([3, 4]) from checkpoint, the shape in current model is torch.Size([3, 2]).")
    with pytest.raises(RuntimeError, match="size mismatch"):  # shapes must agree even so
        m.load_state_dict(state, strict=False)
    with pytest.raises(TypeError, match="dict-like"):
        m.load_state_dict([1])
    with pytest.raises(RuntimeError, match="expected torch.Tensor or Tensor-like object from checkpoint"):
        m.load_state_dict({**m.state_dict(), "0.bias": 3})


def test_loading_copies_values_and_converts_dtypes():
    m = nn.Linear(1, 1)
    weight, source = m.weight, torch.full((1, 1), 2.5, dtype=torch.float64)
    m.load_state_dict({"weight": source, "bias": torch.zeros(1)})
    assert m.weight is weight and weight.item() == 2.5 and weight.dtype is torch.float32
    source.fill_(7)
    assert weight.item() == 2.5


def test_assigning_puts_the_tensors_themselves_in():
    m, source = nn.Linear(1, 1, bias=False, device="meta"), torch.full((1, 1), 4.0, dtype=torch.float64)
    assert m.weight.is_meta
    m.load_state_dict({"weight": source}, assign=True)
    assert isinstance(m.weight, nn.Parameter) and m.weight.data_ptr() == source.data_ptr() and m.weight.requires_grad
    buffer = nn.BatchNorm1d(1)
    fresh = {k: v.clone() for k, v in buffer.state_dict().items()}
    buffer.load_state_dict(fresh, assign=True)
    assert buffer.running_mean.data_ptr() == fresh["running_mean"].data_ptr()


def test_extra_state_is_saved_and_given_back():
    class Counted(nn.Module):
        calls = 3

        def get_extra_state(self):
            return {"calls": self.calls}

        def set_extra_state(self, state):
            self.calls = state["calls"]

    m = nn.Sequential(Counted())
    m[0].calls = 8
    state = m.state_dict()
    assert list(state) == ["0._extra_state"]
    other = nn.Sequential(Counted())
    other.load_state_dict(state)
    assert other[0].calls == 8
    with pytest.raises(RuntimeError, match='Missing key.*"0._extra_state"'):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match='Unexpected key.*"0._extra_state"'):
        nn.Sequential(nn.Identity()).load_state_dict(state)


def test_reserved_names_have_no_entry():
    m = nn.Linear(1, 1, bias=False)
    m.register_buffer("none", None)
    m.register_parameter("later", None)
    assert list(m.state_dict()) == ["weight"] and m.bias is None
    m.load_state_dict(m.state_dict())


def test_old_batch_norms_without_a_counter_load():
    m = nn.BatchNorm1d(2)
    state = OrderedDict((k, v) for k, v in m.state_dict().items() if k != "num_batches_tracked")
    assert repr(m.load_state_dict(state)) == "<All keys matched successfully>"


def test_copies_and_pickles_are_independent_and_equal():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert all(torch.equal(a, b) and a.data_ptr() != b.data_ptr() for a, b in zip(m.state_dict().values(), twin.state_dict().values()))
        assert repr(twin) == repr(m) and twin.training
    tied = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    tied[1].weight = tied[0].weight
    twin = copy.deepcopy(tied)
    assert twin[0].weight is twin[1].weight and len(list(twin.parameters())) == 3
    assert list(tied.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
