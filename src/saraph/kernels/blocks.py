"""Memory for results. For now it is NumPy's."""
from __future__ import annotations

import ctypes

import numpy as np

empty = np.empty
_word_at = ctypes.c_size_t.from_address


def _address_by_interface(array: np.ndarray) -> int:
    return array.ctypes.data


def _address_by_layout(array: np.ndarray) -> int:
    return _word_at(id(array) + 16).value


def _probe() -> bool:
    """Whether an array's address lies where NumPy's headers have it, behind the head of a Python object."""
    array = np.empty(64, np.uint8)
    return object.__basicsize__ == 16 and all(_address_by_layout(a) == a.ctypes.data for a in (array, array[7:], array[::-1]))


#: The address of an array's first element.
address = _address_by_layout if _probe() else _address_by_interface
