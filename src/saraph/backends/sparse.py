"""Sparse arrays: the positions and values of the elements that are stored. Only what keeps positions is computed on them as they are;
everything else goes through a dense array.

SparseArray      COO: indices (sparse dims, nnz), values (nnz, *dense dims)
CompressedArray  CSR, CSC, BSR, BSC: compressed and plain indices, values
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph import shapes


class SparseArray:
    """A COO array; `coalesced` says that positions are sorted and each occurs once."""

    __slots__ = ("indices", "values", "shape", "coalesced")
    layout = shapes.sparse_coo
    base = None
    strides = ()
    library: Any = None

    def __init__(self, indices: np.ndarray, values: np.ndarray, shape: tuple[int, ...], coalesced: bool = False):
        self.indices, self.values, self.shape, self.coalesced = indices, values, tuple(shape), coalesced

    dtype = property(lambda self: self.values.dtype)
    itemsize = property(lambda self: self.values.dtype.itemsize)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: shapes.numel(self.shape))
    nbytes = property(lambda self: self.values.nbytes + self.indices.nbytes)

    def with_values(self, values: np.ndarray) -> SparseArray:
        """Other values at the same positions."""
        return SparseArray(self.indices, values, self.shape, self.coalesced)

    def positions(self) -> tuple[np.ndarray, ...]:
        """Index arrays of the sparse dimensions: a dense array at these gives what `values` holds."""
        return tuple(self.indices)

    def dense(self) -> np.ndarray:
        """The whole array; repeated positions add up."""
        found = np.zeros(self.shape, self.dtype)
        if self.indices.shape[0] == 0:
            return found + self.values.sum(0) if len(self.values) else found
        if self.coalesced:
            found[tuple(self.indices)] = self.values
        else:
            np.add.at(found, tuple(self.indices), self.values)
        return found

    def coalesce(self) -> SparseArray:
        """Sorted positions, each once."""
        if self.coalesced:
            return self
        dims = self.shape[: self.indices.shape[0]]
        if not self.indices.shape[1]:
            return SparseArray(self.indices, self.values, self.shape, True)
        flat = np.ravel_multi_index(tuple(self.indices), dims) if dims else np.zeros(self.indices.shape[1], np.int64)
        unique, inverse = np.unique(flat, return_inverse=True)
        values = np.zeros((len(unique), *self.values.shape[1:]), self.dtype)
        np.add.at(values, inverse, self.values)
        indices = np.array(np.unravel_index(unique, dims), np.int64).reshape(len(dims), -1) if dims else self.indices[:, : len(unique)]
        return SparseArray(indices, values, self.shape, True)


class CompressedArray:
    """A CSR, CSC, BSR or BSC array."""

    __slots__ = ("compressed", "plain", "values", "shape", "layout")
    base = None
    strides = ()
    library: Any = None

    def __init__(self, compressed: np.ndarray, plain: np.ndarray, values: np.ndarray, shape: tuple[int, ...], layout: Any):
        self.compressed, self.plain, self.values, self.shape, self.layout = compressed, plain, values, tuple(shape), layout

    dtype = property(lambda self: self.values.dtype)
    itemsize = property(lambda self: self.values.dtype.itemsize)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: shapes.numel(self.shape))
    nbytes = property(lambda self: self.values.nbytes + self.compressed.nbytes + self.plain.nbytes)

    def with_values(self, values: np.ndarray) -> CompressedArray:
        """Other values at the same positions."""
        return CompressedArray(self.compressed, self.plain, values, self.shape, self.layout)

    def positions(self) -> tuple[np.ndarray, ...]:
        """Index arrays of batch, rows and columns: a dense array at these gives what `values` holds."""
        lead = self.compressed.shape[:-1]
        major = np.empty(self.plain.shape, np.int64)
        for b in np.ndindex(*lead):
            major[b] = np.repeat(np.arange(self.compressed.shape[-1] - 1), np.diff(self.compressed[b]))
        by_rows = self.layout in (shapes.sparse_csr, shapes.sparse_bsr)
        rows, columns = (major, self.plain) if by_rows else (self.plain, major)
        batch = [at[..., None] for at in np.indices(lead)]
        if self.layout in (shapes.sparse_bsr, shapes.sparse_bsc):
            height, width = self.values.shape[self.plain.ndim:self.plain.ndim + 2]
            batch = [at[..., None, None] for at in batch]
            rows = rows[..., None, None] * height + np.arange(height)[:, None]
            columns = columns[..., None, None] * width + np.arange(width)
        return (*batch, rows, columns)

    def dense(self) -> np.ndarray:
        """The whole array."""
        found = np.zeros(self.shape, self.dtype)
        found[self.positions()] = self.values
        return found


def from_dense(a: np.ndarray, sparse_dims: int) -> SparseArray:
    """The COO array of a dense one: positions of the first dimensions at which anything is not 0."""
    rest = tuple(range(sparse_dims, a.ndim))
    mask = (a != 0).any(rest) if rest else a != 0
    indices = np.array(np.nonzero(mask), np.int64).reshape(sparse_dims, -1)
    return SparseArray(indices, a[tuple(indices)] if sparse_dims else a[None], a.shape, True)


def on_values(function: Callable) -> Callable:
    """A primitive that works on the stored values alone (f(0) = 0)."""

    def compute(a: Any, *args: Any, **kwargs: Any) -> Any:
        return a.with_values(function(a.values, *args, **kwargs))

    compute.__name__ = function.__name__
    return compute


def densified(function: Callable) -> Callable:
    """A primitive that has no sparse form: its sparse arguments are made dense."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        return function(*[a.dense() if hasattr(a, "dense") else a for a in args], **kwargs)

    compute.__name__ = getattr(function, "__name__", "primitive")
    return compute


def scaled(a: Any, b: Any) -> Any:
    """a * b: stays sparse when the other operand is a single number."""
    sparse, other = (a, b) if hasattr(a, "with_values") else (b, a)
    if getattr(other, "ndim", 0) == 0 and not hasattr(other, "with_values"):
        return sparse.with_values(sparse.values * other)
    dense = (a.dense() if hasattr(a, "dense") else a) * (b.dense() if hasattr(b, "dense") else b)
    return from_dense(dense, sparse.indices.shape[0]) if isinstance(sparse, SparseArray) else dense


def added(a: Any, b: Any) -> Any:
    """a + b: two COO arrays are joined; otherwise dense."""
    if isinstance(a, SparseArray) and isinstance(b, SparseArray) and a.shape == b.shape and a.indices.shape[0] == b.indices.shape[0]:
        return SparseArray(np.concatenate([a.indices, b.indices], 1), np.concatenate([a.values, b.values]), a.shape).coalesce()
    return (a.dense() if hasattr(a, "dense") else a) + (b.dense() if hasattr(b, "dense") else b)


def copy_into(destination: Any, source: Any) -> None:
    """Write into an array, sparse or dense: a sparse one takes the positions and values of what is written."""
    if not hasattr(destination, "with_values"):
        np.copyto(destination, source.dense() if hasattr(source, "dense") else source, casting="unsafe")
        return
    if destination.shape != tuple(source.shape):
        raise ValueError(f"a sparse array of shape {list(destination.shape)} cannot take one of shape {list(source.shape)}")
    if isinstance(destination, SparseArray):
        found = source if isinstance(source, SparseArray) else from_dense(source.dense() if hasattr(source, "dense") else source,
                                                                           destination.indices.shape[0])
        destination.indices, destination.coalesced = found.indices, found.coalesced
    elif isinstance(source, CompressedArray) and source.layout is destination.layout:
        found = source
        destination.compressed, destination.plain = found.compressed, found.plain
    else:
        raise ValueError(f"an array of layout {destination.layout} takes only arrays of its own layout")
    destination.values = found.values.astype(destination.values.dtype)


def fill(destination: Any, value: Any) -> None:
    """Zeros: nothing is stored any more. Other values have no sparse form."""
    if value != 0:
        raise RuntimeError("fill: a sparse tensor can only be filled with 0; use .to_dense() first")
    if isinstance(destination, SparseArray):
        destination.indices, destination.values, destination.coalesced = destination.indices[:, :0], destination.values[:0], True
    else:
        destination.values = np.zeros_like(destination.values)


VALUEWISE = ("copy", "neg", "cast", "abs", "sqrt", "square", "sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh", "expm1", "log1p", "floor",
             "ceil", "trunc", "conj", "positive", "erf")
