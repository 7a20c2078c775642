"""Array libraries, one per kind of device. An op asks `of(array)` for the library of its arrays and calls primitives on it:

    of(a).add(a, b)        of(a).sum(a, axes, keepdims)        of(a).getitem(a, index)

`cpu` computes with NumPy (and compiled kernels); `meta` keeps only shapes. `on(device)` is the library that makes new arrays there.
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from saraph.backends import nnpack, opt_einsum, primitives, quantized
from saraph.backends.cpu import FUNCTIONS
from saraph.backends.meta import MetaArray, make_primitive
from saraph.backends.rules import attention, creation, fft, indexing, linalg, normalization, products, rearrange, reductions, spatial
from saraph.backends.sparse import VALUEWISE, CompressedArray, SparseArray, added, copy_into, densified, fill, on_values, scaled
from saraph.devices import META, device
from saraph.kernels import jit

__all__ = ["CompressedArray", "MetaArray", "SparseArray", "attention", "cpu", "creation", "fft", "linalg", "meta", "nnpack", "normalization", "of", "on",
           "opt_einsum", "products", "quantized", "rearrange", "reductions", "sparse", "spatial"]
ndarray = np.ndarray


class Backend(SimpleNamespace):
    """The primitives of one array library, as attributes."""

    name: str


def get_cpu_capability() -> str:
    """The widest vectors that machine code is made for: "AVX512", "AVX2" or "DEFAULT" (`torch.backends.cpu`)."""
    width = jit.host().vector_bytes if jit.available() else 0
    return {64: "AVX512", 32: "AVX2"}.get(width, "DEFAULT")


cpu = Backend(name="cpu", get_cpu_capability=get_cpu_capability, **primitives.VIEWS, **FUNCTIONS)
meta = Backend(name="meta", **{n: make_primitive(f, True) for n, f in primitives.VIEWS.items()},
               **{n: make_primitive(f, False) for n, f in primitives.RULES.items()})


sparse = Backend(name="sparse", **{n: densified(f) for n, f in {**primitives.VIEWS, **FUNCTIONS}.items()})
for _name in VALUEWISE:
    setattr(sparse, _name, on_values(FUNCTIONS[_name]))
sparse.mul, sparse.add, sparse.copy_into, sparse.fill = scaled, added, copy_into, fill
MetaArray.library = meta
SparseArray.library = CompressedArray.library = sparse


def of(*arrays: Any) -> Backend:
    """The library of these arrays. Zero-dimensional CPU arrays may be mixed with arrays of another device."""
    for a in arrays:
        if a.__class__ is not ndarray:
            library = getattr(a, "library", None)
            if library is not None:
                return library
    return cpu


def on(where: device) -> Backend:
    """The library that makes arrays on a device."""
    return meta if where is META or where.type == "meta" else cpu


def is_array(value: object) -> bool:
    """Whether a value is an array of some backend."""
    return value.__class__ is ndarray or hasattr(value, "library")


#: How exact float32 products must be ("none": as the ops' own switches say); kept for programs that set it.
fp32_precision = "none"
