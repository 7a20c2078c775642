"""safetensors files, through the safetensors package (extra `safetensors`).

`save_file`, `load_file`, `save`, `load`, as the package's `safetensors.torch` has them; `metadata` reads a file's notes.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import safetensors
from safetensors import SafetensorError

from saraph import dtypes, shapes
from saraph.serialization.archive import replacing
from saraph.tensor.tensor import Tensor, wrap

__all__ = ["SafetensorError", "load", "load_file", "metadata", "save", "save_file"]
_KINDS = {"F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I64": dtypes.int64, "I32": dtypes.int32,
          "I16": dtypes.int16, "I8": dtypes.int8, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32, "U64": dtypes.uint64,
          "BOOL": dtypes.bool_, "F8_E4M3": dtypes.float8_e4m3fn, "F8_E5M2": dtypes.float8_e5m2, "C64": dtypes.complex64}


def _array(name: str, t: Any) -> np.ndarray:
    if not isinstance(t, Tensor):
        raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(t)}")
    if t.layout is not shapes.strided:
        raise ValueError(f"You are trying to save a sparse tensor: `{name}` which this library does not support. Make it dense with .to_dense() first.")
    if t.is_meta or t.dtype not in _KINDS.values():
        raise ValueError(f"`{name}` cannot be saved: device {t.device}, dtype {t.dtype}")
    return np.asarray(t._a, order="C")  # (ascontiguousarray would make one element a row)


def _check_apart(tensors: dict[str, Tensor]) -> None:
    """RuntimeError when two tensors overlap in memory: they would come back as separate copies."""
    spans = []
    for name, t in tensors.items():
        if t._a.size:
            low, high = np.lib.array_utils.byte_bounds(t._a)
            spans.append((low, high, name))
    spans.sort()
    for (_, end, first), (start, _, second) in zip(spans, spans[1:]):
        if start < end:
            raise RuntimeError("Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them "
                               f"again: {[{first, second}]}. Save one of them, or clone() it.")


def _spec(a: np.ndarray, name: str) -> Any:
    """An array as the package takes it: since its 0.8 by address, before by its bytes."""
    spec = getattr(safetensors, "TensorSpec", None)
    if spec is None:
        return {"dtype": name, "shape": list(a.shape), "data": a.tobytes()}
    return spec(dtype=name, shape=list(a.shape), data_ptr=a.ctypes.data, data_len=a.nbytes)


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """A dict of tensors as the bytes of a safetensors file."""
    arrays = {name: _array(name, t) for name, t in tensors.items()}  # held until the bytes are made
    _check_apart(tensors)
    return safetensors.serialize({name: _spec(a, tensors[name].dtype.name) for name, a in arrays.items()}, metadata=metadata)


def save_file(tensors: dict[str, Tensor], filename: str | os.PathLike, metadata: dict[str, str] | None = None) -> None:
    """Write a dict of tensors; the file is replaced only when the new one is complete."""
    content = save(tensors, metadata)
    with replacing(filename) as stream:
        stream.write(content)


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of the bytes of a safetensors file."""
    found = {}
    for name, entry in safetensors.deserialize(data):
        if entry["dtype"] not in _KINDS:
            raise SafetensorError(f"tensor `{name}` has dtype {entry['dtype']}, which saraph does not have")
        content = entry["data"] if isinstance(entry["data"], bytearray) else bytearray(entry["data"])
        kind = _KINDS[entry["dtype"]].numpy
        found[name] = wrap(np.frombuffer(content, kind).reshape(entry["shape"]) if content else np.empty(entry["shape"], kind))
    return found


def load_file(filename: str | os.PathLike, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    with open(filename, "rb") as stream:
        return {name: t.to(device) for name, t in load(stream.read()).items()}


def metadata(filename: str | os.PathLike) -> dict[str, str]:
    """The notes that were saved with the tensors."""
    with safetensors.safe_open(os.fspath(filename), framework="numpy") as file:
        return file.metadata() or {}
