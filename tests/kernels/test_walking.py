"""Dimensions are ordered and merged where every array's strides allow it."""
import numpy as np

from saraph.kernels.walking import RANK, merged, name_of


def test_dense_dimensions_become_one():
    walk = merged((2, 3, 4), ((48, 16, 4), (48, 16, 4)))
    assert walk.shape == (24,) and walk.strides == ((4,), (4,))


def test_the_first_array_gives_the_order():
    walk = merged((2, 3), ((4, 8), (12, 4)))
    assert walk.shape == (3, 2) and walk.strides == ((8, 4), (4, 12))


def test_inner_dimensions_stay():
    walk = merged((1, 2, 3), ((0, 12, 4), (0, 12, 4)), 1)
    assert walk.shape == (2, 3) and walk.strides == ((12, 4), (12, 4))
    assert len(walk.arguments()) == 1 + 3 * RANK


def test_name_of():
    assert name_of(np.dtype(np.float32)) == "float32"
