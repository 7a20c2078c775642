import ctypes

import numpy as np
import pytest
from guard import guarded

from saraph.kernels import jit
from saraph.kernels.gemm import micro
from saraph.kernels.gemm.packing import write_pack
from saraph.kernels.ir import Module

LANES = 8


def packer(product, dtype):
    module = Module()
    write_pack(module, "pack", product, dtype, LANES)
    address = jit.compile(module.text()).address("pack")
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 4, ctypes.c_void_p, ctypes.c_int64)(address)


@pytest.mark.parametrize("order", ["straight", "turned", "neither"])
@pytest.mark.parametrize("product, dtype", [(micro.FLOAT32, "float32"), (micro.FLOAT64, "float64"), (micro.FLOAT32, "float16"), (micro.INT8, "int8")])
def test_panels_hold_groups_of_depth_side_by_side(product, dtype, order):
    pack = packer(product, dtype)
    kind = {"float32": np.float32, "float64": np.float64, "int8": np.int8}.get(product.name)
    for valid in (1, 5, LANES):
        for depth in (1, 2, 7, 8, 19, 35):
            source = np.arange(1, valid * depth + 1).reshape(valid, depth).astype(dtype)
            source = {"straight": np.asfortranarray(source), "turned": source, "neither": np.repeat(source, 2, 1)[:, ::2]}[order]
            source = guarded(source)
            groups = -(-depth // product.group)
            target = guarded(np.zeros((groups, LANES, product.group), kind))
            pack(source.ctypes.data, *source.strides, valid, depth, target.ctypes.data, target.strides[0])
            filled = np.zeros((valid, groups * product.group), kind)
            filled[:, :depth] = source
            want = filled.reshape(valid, groups, product.group).transpose(1, 0, 2)
            np.testing.assert_array_equal(target[:, :valid], want)
