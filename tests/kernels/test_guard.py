import ctypes
import os

import numpy as np
import pytest
from guard import PAGE, SIDES, check, dies, guarded, watched
from numpy.lib.stride_tricks import as_strided, sliding_window_view

ARRAYS = {
    "vector": np.arange(5, dtype=np.float32), "bytes": np.arange(7, dtype=np.int8), "matrix": np.arange(12.0).reshape(3, 4),
    "reversed": np.arange(12.0).reshape(3, 4)[::-1, ::-1], "columns": np.arange(24).reshape(4, 6)[:, 1::2], "transposed": np.ones((3, 5), "f").T,
    "repeated": np.broadcast_to(np.arange(3.0), (4, 3)), "windows": sliding_window_view(np.arange(9.0), 4), "scalar": np.array(3.0),
    "empty": np.zeros((0, 3)), "page": np.zeros(PAGE, np.uint8), "large": np.arange(20_000.0), "gaps": as_strided(np.zeros(100), (3, 2), (160, -8)),
}


def peek(array, byte):
    low = array.__array_interface__["data"][0]
    return ctypes.c_uint8.from_address(low + byte)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ARRAYS)
def test_copy_has_values_and_strides(name, side):
    array = ARRAYS[name]
    with watched(array, side=side) as (copy,):
        assert copy.dtype == array.dtype and copy.shape == array.shape
        assert array.size == 0 or copy.strides == array.strides
        assert np.array_equal(copy, array)
        copy[...] = 0
    assert not copy.any()


def test_alignment_and_shift():
    assert guarded(np.zeros(5)).__array_interface__["data"][0] % PAGE == PAGE - 40
    assert guarded(np.zeros(5), shift=3).__array_interface__["data"][0] % PAGE == PAGE - 43
    assert guarded(np.zeros(5), "before").__array_interface__["data"][0] % PAGE == 0
    assert not guarded(np.zeros(5), "before", shift=1).flags.aligned


def test_check_finds_writes_before_behind_and_between():
    array = guarded(np.zeros((3, 4), "f")[:, :3])
    check(array, array[1:], array.T)
    for byte in (-1, 12, 15):
        peek(array, byte).value = 0
        with pytest.raises(AssertionError, match=f"1 bytes written outside its elements, at {byte} "):
            check(array)
        peek(array, byte).value = 255
    check(array)
    with pytest.raises(TypeError, match="neither from guarded"):
        check(np.zeros(3))
    with pytest.raises(TypeError, match="expected an array of numbers"):
        guarded(np.array([None]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pages_are_inaccessible():
    after, before = guarded(np.zeros(3)), guarded(np.zeros(3), "before")
    constant = guarded(np.zeros(3), read_only=True)
    assert not dies(lambda: peek(after, 23).value)
    assert dies(lambda: peek(after, 24).value)
    assert not dies(lambda: peek(before, 24).value)
    assert dies(lambda: peek(before, -1).value)
    assert dies(lambda: setattr(peek(constant, 0), "value", 1))
    assert not dies(lambda: peek(constant, 0).value)
