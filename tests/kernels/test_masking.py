"""What masks choose, against NumPy."""
import numpy as np
import pytest
from guard import SIDES, watched
from layouts import numbers, same_for_threads

from saraph.kernels import masking

SIZES = (0, 1, 63, 64, 65, 1000, masking.PIECE, 2 * masking.PIECE + 77)


@pytest.mark.parametrize("dtype", (np.int8, np.float16, np.float32, np.float64, np.complex128), ids=lambda d: d.__name__)
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("side", SIDES)
def test_chosen(dtype, share, side):
    rng = np.random.default_rng(0)
    for size in SIZES:
        with watched(numbers(rng, size, dtype), rng.random(size) < share, side=side) as (a, mask):
            assert np.array_equal(masking.chosen(a, mask), a[mask], equal_nan=True)


@pytest.mark.parametrize("shape", [(70_001,), (300, 7), (3, 129, 65), (2, 3, 4, 5), (4, 0, 2)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_positions(shape, share):
    with watched(np.random.default_rng(1).random(shape) < share) as (mask,):
        found = masking.positions(mask)
        assert found.dtype == np.int64 and np.array_equal(found, np.argwhere(mask))


def test_threads():
    rng = np.random.default_rng(2)
    mask = rng.random((300, 1000)) < 0.3
    values = rng.standard_normal(mask.shape)
    assert same_for_threads(lambda: (masking.chosen(values, mask), masking.positions(mask)))
