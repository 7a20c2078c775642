"""safetensors files."""
from __future__ import annotations

import json
import os
import struct

import numpy as np
import pytest

import saraph as torch

pytest.importorskip("safetensors")
from saraph.serialization import safetensors  # noqa: E402

DTYPES = ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32",
          "uint64", "bool", "complex64"]


@pytest.mark.parametrize("name", DTYPES)
def test_round_trip(name, tmp_path):
    x = torch.tensor([[0, 1, 2], [3, 1, 0]]).to(getattr(torch, name))
    tensors = {"x": x, "t": x.t().clone(), "scalar": x[0, 1].clone(), "empty": x[:0]}
    safetensors.save_file(tensors, tmp_path / "a.safetensors", metadata={"made": "here"})
    for got in (safetensors.load_file(tmp_path / "a.safetensors"), safetensors.load(safetensors.save(tensors))):
        assert got.keys() == tensors.keys()
        for key, value in tensors.items():
            assert got[key].dtype is value.dtype and got[key].shape == value.shape
            assert torch.equal(got[key].reshape(-1).view(torch.uint8), value.reshape(-1).view(torch.uint8))
        got["x"].zero_()
    assert safetensors.metadata(tmp_path / "a.safetensors") == {"made": "here"}


def test_other_programs_read_and_write_them(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False])}
    reference = pytest.importorskip("safetensors.numpy")
    reference.save_file(arrays, tmp_path / "a.safetensors")
    got = safetensors.load_file(str(tmp_path / "a.safetensors"), device="cpu")
    assert all(np.array_equal(got[k].numpy(), v) for k, v in arrays.items())
    safetensors.save_file(got, str(tmp_path / "b.safetensors"))
    assert all(np.array_equal(v, arrays[k]) for k, v in reference.load_file(tmp_path / "b.safetensors").items())


def test_views_are_written_as_they_look():
    x = torch.arange(6.0).view(2, 3)
    assert safetensors.load(safetensors.save({"t": x.t()}))["t"].tolist() == x.t().tolist()
    parts = safetensors.load(safetensors.save({"a": x[0], "b": x[1]}))
    assert parts["b"].tolist() == [3, 4, 5]


def test_what_cannot_be_saved():
    x = torch.arange(6.0)
    for tensors in ({"a": x, "b": x}, {"a": x, "b": x[2:]}):
        with pytest.raises(RuntimeError, match="share memory"):
            safetensors.save(tensors)
    with pytest.raises(ValueError, match="Key `a` is invalid"):
        safetensors.save({"a": [1]})


def test_damaged_files(tmp_path):
    data = safetensors.save({"a": torch.arange(6.0)})
    entry = {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]}
    headers = [{"a": {**entry, **change}} for change in (
        {"shape": [1 << 40]}, {"shape": [-6]}, {"shape": ["6"]}, {"shape": 6}, {"dtype": "F99"}, {"data_offsets": [0, 28]}, {"data_offsets": [24, 0]},
        {"data_offsets": [0]}, {"data_offsets": [4, 28]}, {"shape": [5], "data_offsets": [0, 20]})]
    headers += [{"a": entry, "b": entry}, [], 3, {"a": 1}, {"a": {}}]
    wrong = [b"", data[:20], data[:-1], data + b"x",
             struct.pack("<Q", 1 << 60) + data[8:], struct.pack("<Q", 2) + b"{" + data[8:], data.replace(b"{", b"[", 1)]
    for text in (json.dumps(header).encode() for header in headers):
        wrong.append(struct.pack("<Q", len(text)) + text + bytes(24))
    for content in wrong:
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(safetensors.SafetensorError):
            safetensors.load(content)
        with pytest.raises(safetensors.SafetensorError):
            safetensors.load_file(tmp_path / "x")
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ValueError):
        safetensors.save_file({"a": 3}, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == data and os.listdir(tmp_path) == ["x"]
