"""Arrays of any layout for tests of kernels, and one call with several numbers of threads."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from saraph.threads import get_num_threads, set_num_threads

SIZES = (0, 1, 2, 3, 7, 16, 17, 33, 70)
shapes = st.lists(st.sampled_from(SIZES), max_size=4).map(tuple)


@st.composite
def strided(draw: Any, shape: tuple[int, ...], dtype: Any, stretch: bool = True) -> np.ndarray:
    """Numbers of that shape: permuted, with gaps, reversed, and (with `stretch`) sometimes repeated with a stride of 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = [draw(st.sampled_from([1, 1, 1, 2, -1, -3])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    base = numbers(rng, [shape[d] * abs(steps[d]) for d in order], dtype).transpose(np.argsort(order).tolist()) if shape else numbers(rng, (), dtype)
    array = base[tuple(slice(None, None, s) for s in steps)] if shape else base
    if stretch and shape and shape[0] and draw(st.integers(0, 5)) == 0:
        array = np.broadcast_to(array[:1], shape)
    return array


def numbers(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Numbers of both signs (where there are), some of them equal; among floats some NaN, infinities and zeros of both signs."""
    dtype = np.dtype(dtype)
    if dtype.kind in "bu":
        return np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 200, shape)).astype(dtype)
    values = np.asarray(rng.integers(-60, 60, shape))
    if dtype.kind == "i":
        return values.astype(dtype)
    floats = np.where(rng.random(shape) < 0.5, values * 0.37, values)
    for value in (np.nan, np.inf, -np.inf, -0.0, 0.0):
        floats = np.where(rng.random(shape) < 0.02, value, floats)
    return np.asarray(floats).astype(dtype)


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def same_for_threads(function: Callable[[], Any]) -> bool:
    """Whether the results of `function` (arrays) have the same bits for 1, 2, 3 and 7 threads."""
    before = get_num_threads()
    try:
        found = []
        for count in (1, 2, 3, 7):
            set_num_threads(count)
            results = function()
            found.append([bits(r) for r in (results if isinstance(results, tuple) else (results,))])
    finally:
        set_num_threads(before)
    return all(one == found[0] for one in found)
