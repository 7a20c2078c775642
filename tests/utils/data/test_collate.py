"""Samples to batches."""
from __future__ import annotations

import collections
import datetime
import types
from typing import NamedTuple

import numpy as np
import pytest

import saraph as torch
from saraph.utils.data import default_collate, default_convert
from saraph.utils.data.collate import collate


class Point(NamedTuple):
    x: float
    y: int


def test_tensors_are_stacked():
    batch = default_collate([torch.ones(2), torch.zeros(2)])
    assert batch.tolist() == [[1, 1], [0, 0]] and batch.dtype is torch.float32
    assert default_collate([torch.tensor(1), torch.tensor(2)]).tolist() == [1, 2]
    w = torch.ones(2, requires_grad=True)
    default_collate([w * 2, w]).sum().backward()
    assert w.grad.tolist() == [3, 3]


@pytest.mark.parametrize("samples, dtype", [
    ([1.0, 2.5], torch.float64), ([1.5, 2], torch.float64), ([1, 2], torch.int64), ([True, False], torch.bool),
    ([np.float32(1), np.float32(2)], torch.float32), ([np.int16(1), np.int16(2)], torch.int16), ([np.bool_(True), np.bool_(False)], torch.bool),
    ([np.array(1, np.uint8), np.array(2, np.uint8)], torch.uint8), ([np.ones(2), np.zeros(2)], torch.float64)])
def test_numbers_and_arrays(samples, dtype):
    batch = default_collate(samples)
    assert batch.dtype is dtype and np.array_equal(batch.numpy(), np.array(samples))


def test_text_stays_a_list():
    assert default_collate(["a", "bc"]) == ["a", "bc"] and default_collate([b"a", b"b"]) == [b"a", b"b"]
    assert default_collate([np.str_("a"), np.str_("b")]) == ["a", "b"]


def test_containers():
    batch = default_collate([{"a": 1, "b": [1.0, "x"]}, {"a": 2, "b": [3.0, "y"]}])
    assert type(batch) is dict and batch["a"].tolist() == [1, 2] and batch["b"][0].tolist() == [1, 3] and batch["b"][1] == ("x", "y")
    points = default_collate([Point(1.0, 2), Point(3.0, 4)])
    assert type(points) is Point and points.x.tolist() == [1, 3] and points.y.tolist() == [2, 4]
    pair = default_collate([(1, torch.ones(2)), (2, torch.zeros(2))])
    assert type(pair) is list and pair[0].tolist() == [1, 2] and pair[1].shape == (2, 2)
    nested = default_collate([[(1, {"k": 2})], [(3, {"k": 4})]])
    assert nested[0][0].tolist() == [1, 3] and nested[0][1]["k"].tolist() == [2, 4]


def test_kinds_of_containers_are_kept():
    ordered = default_collate([collections.OrderedDict(b=1, a=2)] * 2)
    assert type(ordered) is collections.OrderedDict and list(ordered) == ["b", "a"]
    counted = default_collate([collections.defaultdict(int, a=1)] * 2)
    assert type(counted) is collections.defaultdict and counted.default_factory is int
    proxy = default_collate([types.MappingProxyType({"a": 1})] * 2)
    assert type(proxy) is types.MappingProxyType and proxy["a"].tolist() == [1, 1]
    queue = default_collate([collections.deque([1, 2])] * 2)
    assert type(queue) is collections.deque and queue[1].tolist() == [2, 2]
    users = default_collate([collections.UserList([1])] * 2)
    assert type(users) is collections.UserList and users[0].tolist() == [1, 1]


def test_samples_are_not_changed():
    samples = [collections.OrderedDict(a=1), collections.OrderedDict(a=2)]
    default_collate(samples)
    assert samples == [{"a": 1}, {"a": 2}]


def test_errors():
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [1]])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([torch.ones(2), torch.ones(3)])
    for what in (object(), datetime.date(2020, 1, 1), None):
        with pytest.raises(TypeError, match="batch must contain tensors"):
            default_collate([what, what])
    with pytest.raises(TypeError):
        default_collate([np.array(["a"]), np.array(["b"])])
    with pytest.raises(KeyError):
        default_collate([{"a": 1}, {"b": 1}])


def test_convert():
    converted = default_convert({"a": np.ones(2), "b": ["x", (np.int64(3), None)], "p": Point(np.zeros(1), 2)})
    assert converted["a"].tolist() == [1, 1] and converted["b"][0] == "x" and converted["b"][1][0].item() == 3 and converted["b"][1][1] is None
    assert type(converted["p"]) is Point and torch.is_tensor(converted["p"].x)
    array, text = np.arange(3), np.array(["a"])
    assert default_convert(array).data_ptr() == array.ctypes.data and default_convert(text) is text


def test_own_functions_for_types():
    table = {int: lambda batch, *, collate_fn_map=None: sum(batch), (str, bytes): lambda batch, *, collate_fn_map=None: len(batch)}
    assert collate([{"n": 1, "t": "a"}, {"n": 2, "t": "b"}], collate_fn_map=table) == {"n": 3, "t": 2}
    assert collate([True, True], collate_fn_map=table) == 2  # a bool is an int
    with pytest.raises(TypeError):
        collate([1.5], collate_fn_map=table)
