"""`torch.types`: names for annotations."""
from __future__ import annotations

import os
from typing import IO

from saraph.devices import device as _device
from saraph.shapes import Size
from saraph.symbolic_numbers import SymBool, SymFloat, SymInt
from saraph.tensor import Tensor
from saraph.tensor.storages import UntypedStorage as Storage

__all__ = ["BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "PySymType", "Size", "Storage", "SymBool", "SymFloat", "SymInt",
           "Tensor", "py_sym_types"]
Number = int | float | bool
Device = _device | str | int | None
FileLike = str | os.PathLike[str] | IO[bytes]
IntLikeType = int | SymInt
FloatLikeType = float | SymFloat
BoolLikeType = bool | SymBool
PySymType = SymInt | SymFloat | SymBool
py_sym_types = (SymInt, SymFloat, SymBool)
