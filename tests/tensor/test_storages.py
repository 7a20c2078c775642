"""Storages: the memory behind tensors, and shared memory."""
from __future__ import annotations

import copy
import multiprocessing
import os
import pickle

import numpy as np
import pytest

import saraph as torch
from saraph.tensor import shared_memory


def test_tensors_over_one_memory_have_one_storage():
    x = torch.arange(6.0)
    view = x.as_strided((2,), (2,), 1)
    assert view.untyped_storage() is x.untyped_storage() is x.detach().untyped_storage() is x.data.untyped_storage()
    assert view.storage_offset() == 1 and view.data_ptr() == x.data_ptr() + 4
    assert x.clone().untyped_storage() != x.untyped_storage()
    assert x.untyped_storage().nbytes() == len(x.untyped_storage()) == 24


def test_bytes_of_a_storage():
    s = torch.ones(1).untyped_storage()
    assert s.tolist() == list(np.float32(1).tobytes()) and s[3] == 63
    s[3] = 64
    assert s[2:4].tolist() == [128, 64]
    assert torch.UntypedStorage([1, 2, 3]).tolist() == [1, 2, 3] and torch.UntypedStorage(5).nbytes() == 5
    assert s.clone().tolist() == s.tolist() and s.clone() != s
    assert torch.zeros(2, device="meta").untyped_storage().nbytes() == 8
    with pytest.raises(RuntimeError):
        torch.UntypedStorage(2).copy_(torch.UntypedStorage(3))


def test_storage_of_memory_with_gaps():
    a = np.arange(12.0).reshape(3, 4)[:, ::2]
    t = torch.from_numpy(a)
    assert t.untyped_storage().nbytes() == 8 * (2 * 4 + 2 + 1)
    t.untyped_storage().fill_(0)
    assert not a.any()


def test_typed_storages():
    x = torch.tensor([1.0, 2.0])
    s = x._typed_storage()
    assert s.dtype is torch.float32 and s.size() == 2 and s[1] == 2.0 and s.tolist() == [1.0, 2.0]
    s[0] = 5
    assert x.tolist() == [5.0, 2.0]
    assert isinstance(s, torch.FloatStorage) and not isinstance(s, torch.LongStorage) and torch.is_storage(s)
    assert torch.FloatStorage([1, 2]).double().dtype is torch.float64
    assert torch.IntStorage(3).nbytes() == 12 and s.type() == "torch.FloatStorage"
    with pytest.raises(IndexError):
        s[2]
    with pytest.raises(RuntimeError, match="slices"):
        s[0:1]


def test_copies_of_storages():
    s = torch.ones(2).untyped_storage()
    assert pickle.loads(pickle.dumps(s)).tolist() == s.tolist()
    a, b = copy.deepcopy([s, s])
    assert a is b and a != s


def test_share_memory_is_seen_by_a_child():
    x = torch.zeros(3)
    view = x.share_memory_()
    assert view is x and x.is_shared() and not torch.zeros(3).is_shared()
    child = multiprocessing.get_context("fork").Process(target=x.fill_, args=(7,))
    child.start()
    child.join()
    assert x.tolist() == [7.0, 7.0, 7.0]
    part = torch.arange(4.0).as_strided((2,), (1,), 2)
    part.share_memory_()
    assert part.tolist() == [2.0, 3.0] and part.storage_offset() == 2


def test_blocks_travel_by_name():
    block = shared_memory.allocate(16)
    block[...] = np.arange(16)
    handle = pickle.loads(pickle.dumps(shared_memory.export(block)))
    again = shared_memory.attach(handle)
    again[0] = 99
    assert block[0] == 99 and shared_memory.is_shared(again[3:].view(np.int8))
    del again
    assert os.path.exists(handle.path)
    del block
    assert not os.path.exists(handle.path)
    with pytest.raises(ValueError):
        shared_memory.export(np.zeros(3))


def test_a_name_can_be_handed_over():
    block = shared_memory.allocate(4)
    handle = shared_memory.export(block)
    shared_memory.release(block)
    del block
    taken = shared_memory.attach(handle, take=True)
    assert taken.tolist() == [0, 0, 0, 0]
    del taken
    assert not os.path.exists(handle.path)


def test_storage_from_a_file(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(b"\1\2\3")
    private = torch.UntypedStorage.from_file(str(path))
    private[0] = 9
    assert path.read_bytes() == b"\1\2\3"
    shared = torch.UntypedStorage.from_file(str(path), shared=True, nbytes=4)
    shared[3] = 7
    assert path.read_bytes() == b"\1\2\3\7"
