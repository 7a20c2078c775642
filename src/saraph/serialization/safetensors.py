"""safetensors files: a header of JSON (names, dtypes, shapes, places), then the bytes of the tensors.

`save_file`, `load_file`, `save`, `load`, as the `safetensors.torch` package has them; `metadata` reads a file's notes.
"""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from saraph import dtypes, shapes
from saraph.serialization.archive import replacing
from saraph.tensor.tensor import Tensor, wrap

__all__ = ["SafetensorError", "load", "load_file", "metadata", "save", "save_file"]
_KINDS = {"F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I64": dtypes.int64, "I32": dtypes.int32,
          "I16": dtypes.int16, "I8": dtypes.int8, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32, "U64": dtypes.uint64,
          "BOOL": dtypes.bool_, "F8_E4M3": dtypes.float8_e4m3fn, "F8_E5M2": dtypes.float8_e5m2, "C64": dtypes.complex64}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LARGEST_HEADER = 100_000_000
_ALIGNMENT = 8


class SafetensorError(RuntimeError):
    """The file is no safetensors file, or is damaged."""


# -- writing -------------------------------------------------------------------------------------------------------------------


def _pieces(tensors: dict[str, Tensor], notes: dict[str, str] | None) -> Iterator[Any]:
    """The parts of a file: the header, then every tensor's bytes, widest elements first."""
    arrays = {name: _array(name, t) for name, t in tensors.items()}
    _check_apart(tensors)
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {} if notes is None else {"__metadata__": dict(notes)}
    place = 0
    for name in names:
        end = place + arrays[name].nbytes
        header[name] = {"dtype": _NAMES[tensors[name].dtype], "shape": list(arrays[name].shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    yield len(text).to_bytes(8, "little") + text
    for name in names:
        yield np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data


def _array(name: str, t: Any) -> np.ndarray:
    if not isinstance(t, Tensor):
        raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(t)}")
    if t.layout is not shapes.strided:
        raise ValueError(f"You are trying to save a sparse tensor: `{name}` which this library does not support. Make it dense with .to_dense() first.")
    if t.is_meta or t.dtype not in _NAMES:
        raise ValueError(f"`{name}` cannot be saved: device {t.device}, dtype {t.dtype}")
    return t._a


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


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """A dict of tensors as the bytes of a safetensors file."""
    return b"".join(_pieces(tensors, metadata))


def save_file(tensors: dict[str, Tensor], filename: str | os.PathLike, metadata: dict[str, str] | None = None) -> None:
    """Write a dict of tensors; the file is replaced only when the new one is complete."""
    with replacing(filename) as stream:
        for piece in _pieces(tensors, metadata):
            stream.write(piece)


# -- reading -------------------------------------------------------------------------------------------------------------------


def _header(start: bytes, size: int) -> int:
    """The length of the header, from the first bytes of a file of this size."""
    if len(start) < 8:
        raise SafetensorError("Error while deserializing header: header too small")
    length = int.from_bytes(start, "little")
    if length > min(_LARGEST_HEADER, size - 8):
        raise SafetensorError(f"Error while deserializing header: header too large ({length} bytes in a file of {size})")
    return length


def _entries(text: bytes, room: int) -> tuple[list[tuple[str, Any, tuple[int, ...], int, int]], dict[str, str]]:
    """(name, dtype, shape, begin, end) of every tensor in order of place, and the notes. The tensors must fill `room` bytes exactly."""
    try:
        header = json.loads(text)
        notes = header.pop("__metadata__", None) or {}
        found = []
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            found.append((name, _KINDS[entry["dtype"]], tuple(entry["shape"]), begin, end))
        found.sort(key=lambda entry: entry[3:])
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise SafetensorError(f"Error while deserializing header: invalid header ({type(error).__name__}: {error})") from None
    place = 0
    for name, kind, shape, begin, end in found:
        if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
            raise SafetensorError(f"Error while deserializing header: tensor `{name}` has shape {shape} and place {begin}:{end}")
        if begin != place or end - begin != shapes.numel(shape) * kind.itemsize:
            raise SafetensorError(f"Error while deserializing header: tensor `{name}` of shape {shape} and dtype {kind} does not fit its place "
                                  f"{begin}:{end}")
        place = end
    if place != room:
        raise SafetensorError(f"Error while deserializing header: the tensors need {place} bytes, the file has {room}: it is truncated or damaged")
    return found, notes


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of the bytes of a safetensors file."""
    length = _header(data[:8], len(data))
    content = memoryview(data)[8 + length:]
    found = {}
    for name, kind, shape, begin, end in _entries(data[8:8 + length], len(content))[0]:
        found[name] = wrap(np.frombuffer(bytearray(content[begin:end]), kind.numpy).reshape(shape) if end > begin else np.empty(shape, kind.numpy))
    return found


def load_file(filename: str | os.PathLike, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    with open(filename, "rb") as stream:
        found = {}
        for name, kind, shape, _, _ in _read_header(stream)[0]:
            a = np.empty(shape, kind.numpy)
            if stream.readinto(a.reshape(-1).view(np.uint8).data) != a.nbytes:
                raise SafetensorError(f"the file ends within tensor `{name}`")
            found[name] = wrap(a).to(device)
        return found


def metadata(filename: str | os.PathLike) -> dict[str, str]:
    """The notes that were saved with the tensors."""
    with open(filename, "rb") as stream:
        return _read_header(stream)[1]


def _read_header(stream: BinaryIO) -> tuple[list, dict[str, str]]:
    size = os.fstat(stream.fileno()).st_size
    length = _header(stream.read(8), size)
    return _entries(stream.read(length), size - 8 - length)
