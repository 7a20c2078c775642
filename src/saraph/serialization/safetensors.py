"""safetensors files, through the safetensors package (extra `safetensors`): `load_file`, `save_file`, `load`, `save`."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import safetensors

from saraph import dtypes
from saraph.serialization.archive import replacing
from saraph.tensor.tensor import Tensor, wrap

__all__ = ["load_file", "save_file", "load", "save"]
_NAMES = {"F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I64": dtypes.int64, "I32": dtypes.int32,
          "I16": dtypes.int16, "I8": dtypes.int8, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32, "U64": dtypes.uint64,
          "BOOL": dtypes.bool_, "F8_E4M3": dtypes.float8_e4m3fn, "F8_E5M2": dtypes.float8_e5m2}


def _described(tensors: dict[str, Tensor]) -> dict[str, dict[str, Any]]:
    found, owners = {}, {}
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(t)}")
        a = np.ascontiguousarray(t.detach()._a)
        owner = owners.setdefault(t.data_ptr() if a.size else object(), name)
        if owner != name:
            raise RuntimeError(f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them "
                               f"again: {[{owner, name}]}. Save one of them, or clone() it.")
        found[name] = {"dtype": t.dtype.name, "shape": list(a.shape), "data": a.tobytes()}
    return found


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """A dict of tensors as the bytes of a safetensors file."""
    return safetensors.serialize(_described(tensors), metadata=metadata)


def save_file(tensors: dict[str, Tensor], filename: str | os.PathLike, metadata: dict[str, str] | None = None) -> None:
    """Write a dict of tensors; the file is replaced only when complete."""
    with replacing(filename) as stream:
        stream.write(save(tensors, metadata))


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of the bytes of a safetensors file."""
    found = {}
    for name, entry in safetensors.deserialize(data):
        kind = _NAMES[entry["dtype"]]
        found[name] = wrap(np.frombuffer(bytearray(entry["data"]), np.uint8).view(kind.numpy).reshape(entry["shape"]))
    return found


def load_file(filename: str | os.PathLike, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    with open(filename, "rb") as stream:
        return {name: t.to(device) for name, t in load(stream.read()).items()}
