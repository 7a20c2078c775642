"""Copying and pickling tensors, and DLPack."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import saraph as torch
from saraph.nn.parameter import Parameter
from saraph.tensor.interop import swap_tensors
from saraph.utils import dlpack


@pytest.mark.parametrize("again", [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_copies_share_what_the_originals_shared(again):
    x = torch.arange(6.0)
    view = x.as_strided((2, 2), (1, 3), 1)
    a, b = again([x, view])
    assert b.stride() == (1, 3) and b.storage_offset() == 1 and b.tolist() == view.tolist()
    b.fill_(9)
    assert a.tolist() == [0.0, 9.0, 9.0, 3.0, 9.0, 9.0] and x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e5m2, torch.bool, torch.complex128, torch.uint16, torch.int64])
def test_every_dtype_pickles(dtype):
    x = torch.tensor([1, 0, 1]).to(dtype)
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype is dtype and y.tolist() == x.tolist()


def test_what_a_copy_keeps():
    x = torch.ones(2, requires_grad=True)
    x.note = [1]
    x.grad = torch.full((2,), 3.0)
    y = copy.deepcopy(x)
    assert y.requires_grad and y.grad.tolist() == [3.0, 3.0] and y.note == [1] and y.note is not x.note
    z = pickle.loads(pickle.dumps(x))
    assert z.requires_grad and z.note == [1] and z.is_leaf
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    shallow = copy.copy(x)
    assert shallow.data_ptr() == x.data_ptr() and shallow is not x
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)
    meta = pickle.loads(pickle.dumps(torch.ones(2, 3, device="meta")))
    assert meta.device.type == "meta" and meta.shape == (2, 3)
    assert copy.deepcopy(torch.ones(2, device="meta")).shape == (2,)


def test_dlpack_shares_memory():
    x = torch.zeros(3)
    for other in (dlpack.from_dlpack(x.__dlpack__()), dlpack.from_dlpack(dlpack.to_dlpack(x)), torch.from_dlpack(x)):
        other.fill_(x.tolist()[0] + 1)
    assert x.tolist() == [3.0, 3.0, 3.0]
    assert np.from_dlpack(torch.ones(2, dtype=torch.bool)).tolist() == [True, True]
    a = np.arange(3)
    t = torch.from_dlpack(a)
    t.zero_()
    assert not a.any() and x.__dlpack_device__() == (1, 0)
    for bad in (torch.ones(1, requires_grad=True), torch.ones(1, device="meta")):
        with pytest.raises(BufferError):
            bad.__dlpack__()
    with pytest.raises(TypeError):
        torch.from_dlpack(3)


def test_swap_tensors():
    a, b = torch.ones(2), Parameter(torch.zeros(3))
    a.note = "first"
    swap_tensors(a, b)
    assert type(a) is Parameter and a.requires_grad and a.shape == (3,) and type(b) is torch.Tensor and b.note == "first"
    with pytest.raises(RuntimeError, match="backward graph"):
        swap_tensors(a * 2, b)


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_sparse_tensors_are_copied_and_pickled(layout):
    x = torch.tensor([[0.0, 2, 0], [3, 0, 0]]).to_sparse(layout=getattr(torch, layout))
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.layout is x.layout and torch.equal(again.to_dense(), x.to_dense()) and again.values().data_ptr() != x.values().data_ptr()
