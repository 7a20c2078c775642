"""Compiled inner loops as true NumPy ufuncs and gufuncs.

NumPy does what it does for its own: broadcasting, any strides, `out=`, `axis=`, overlap of input and output, releasing
the GIL. A call costs what a call of np.add or np.vecdot costs. Only the given dtypes are accepted (others raise
TypeError), and arrays need not be aligned. An inner loop should leave the floating-point flags as it found them: from
those of a gufunc NumPy makes warnings.

An inner loop has this C signature (NumPy's PyArrayMethod_StridedLoop), and returns 0:

    int loop(void *context, char **data, intptr_t *dimensions, intptr_t *strides, void *auxiliary)

dimensions: the number of outer turns, then the sizes of the core dimensions. strides: the outer step of every operand,
then, operand by operand, the steps of its core dimensions. All in bytes, of any sign, or zero.
"""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]  # keeps the table of ufunc C functions

_pointer, _int, _text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p

# Places in the table, and numbers, from NumPy's headers (__ufunc_api.h, dtype_api.h, ufuncobject.h): its ABI since 2.0.
_FROM_DATA_AND_SIGNATURE = 31
_ADD_LOOP_FROM_SPEC = 43
_STRIDED_LOOP, _UNALIGNED_STRIDED_LOOP, _LAST_SLOT = 5, 7, 0
_NO_FLOATINGPOINT_ERRORS, _SUPPORTS_UNALIGNED = 1 << 1, 1 << 2
_NO_IDENTITY = -1
_NO_CASTING = 0

_forever: list[Any] = []  # what ufuncs point to; NumPy copies none of it


class _Slot(ctypes.Structure):
    """PyType_Slot."""

    _fields_ = [("slot", _int), ("function", _pointer)]


class _Spec(ctypes.Structure):
    """PyArrayMethod_Spec."""

    _fields_ = [("name", _text), ("inputs", _int), ("outputs", _int), ("casting", _int), ("flags", _int),
                ("dtypes", _pointer), ("slots", _pointer)]


def _table() -> Any:
    capsule = _multiarray_umath._UFUNC_API
    get_pointer = ctypes.PYFUNCTYPE(_pointer, ctypes.py_object, _text)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(get_pointer(capsule, None), ctypes.POINTER(_pointer))


def make_ufunc(name: str, inputs: int, outputs: int, loops: Mapping[tuple[np.dtype, ...], int],
               signature: str | None = None, doc: str = "") -> np.ufunc:
    """Make a ufunc (or, with a core signature such as "(n),(n)->(n)", a gufunc).

    `loops` gives the address of the inner loop for each tuple of dtypes, inputs then outputs. The code must stay in
    memory as long as the process lives. Raises ValueError when a tuple's length does not fit or the signature is wrong.
    """
    operands = inputs + outputs
    for dtypes in loops:
        if len(dtypes) != operands:
            raise ValueError(f"ufunc {name}: a loop of {len(dtypes)} dtypes {dtypes} for {operands} operands")
    texts = tuple(None if text is None else text.encode() for text in (name, doc, signature))
    table = _table()
    create = ctypes.PYFUNCTYPE(ctypes.py_object, _pointer, _pointer, _pointer, _int, _int, _int, _int, _text, _text,
                               _int, _text)(table[_FROM_DATA_AND_SIGNATURE])
    ufunc = create(None, None, None, 0, inputs, outputs, _NO_IDENTITY, texts[0], texts[1], 0, texts[2])
    add_loop = ctypes.PYFUNCTYPE(_int, ctypes.py_object, _pointer)(table[_ADD_LOOP_FROM_SPEC])
    # NumPy reads the floating-point flags after a gufunc even if told not to, but then clears no old ones before it.
    flags = _SUPPORTS_UNALIGNED if signature else _SUPPORTS_UNALIGNED | _NO_FLOATINGPOINT_ERRORS
    for dtypes, address in loops.items():
        classes = (ctypes.py_object * operands)()
        for index, dtype in enumerate(dtypes):
            classes[index] = type(dtype)  # type: ignore[assignment]  # ctypes makes the py_object
        slots = (_Slot * 3)(_Slot(_STRIDED_LOOP, address), _Slot(_UNALIGNED_STRIDED_LOOP, address),
                            _Slot(_LAST_SLOT, None))
        spec = _Spec(texts[0], inputs, outputs, _NO_CASTING, flags,
                     ctypes.addressof(classes), ctypes.addressof(slots))
        add_loop(ufunc, ctypes.addressof(spec))
    _forever.append((ufunc, texts))
    return ufunc
