"""Sparse tensors: making, reading and converting them (COO, CSR, CSC, BSR, BSC)."""
from __future__ import annotations

from typing import Any

from saraph import dtypes, shapes
from saraph.backends import CompressedArray, SparseArray
from saraph.backends.sparse import from_dense
from saraph.ops.creation import as_tensor
from saraph.ops.registry import method, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, wrap


def _at_stored(g: Tensor, array: Any) -> Tensor:
    """The numbers of g at the positions that a sparse array stores, in the order of its values."""
    where = tuple(map(wrap, array.positions()))
    return g.to_dense()[where] if where else g.to_dense().expand(array.values.shape)


def _with_values(array: Any, values: Tensor) -> Tensor:
    """A sparse tensor with the positions of a sparse array."""
    if isinstance(array, SparseArray):
        return sparse_coo_tensor(wrap(array.indices), values, array.shape, is_coalesced=array.coalesced)
    return sparse_compressed_tensor(wrap(array.compressed), wrap(array.plain), values, array.shape, layout=array.layout)


@derivative("ToDenseBackward0")
def ToDenseBackward(node: Any, g: Tensor) -> Tensor:
    """Only what is stored has a gradient, unless all of it was asked for."""
    if not node.masked:
        return g
    array = node.stored.coalesce() if isinstance(node.stored, SparseArray) else node.stored
    return _with_values(array, _at_stored(g, array))


@derivative("ToSparseBackward0")
def ToSparseBackward(node: Any, g: Tensor) -> Tensor:
    return g.to_dense()


@derivative("SparseCooTensorBackward0")
def SparseCooTensorBackward(node: Any, g: Tensor) -> Tensor:
    return _at_stored(g, node.stored)


@derivative("SparseCompressedTensorBackward0")
def SparseCompressedTensorBackward(node: Any, g: Tensor) -> Tensor:
    return _at_stored(g, node.stored)


@derivative("CoalesceBackward0")
def CoalesceBackward(node: Any, g: Tensor) -> Tensor:
    return g


@derivative("ValuesBackward0")
def ValuesBackward(node: Any, g: Tensor) -> Tensor:
    return _with_values(node.stored, g)


@op()
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None, is_coalesced: bool | None = None) -> Tensor:
    """A COO tensor: indices (sparse dims, nnz) int64, values (nnz, *dense dims); `size` is inferred when left out. Repeated positions add up."""
    if values is None:
        shape = tuple(size if size is not None else indices)
        empty = as_tensor([], dtype=dtype or dtypes.float32)
        return wrap(SparseArray(as_tensor([[]] * len(shape), dtype=dtypes.int64)._a.reshape(len(shape), 0), empty._a, shape))
    where, what = as_tensor(indices, dtype=dtypes.int64), as_tensor(values, dtype=dtype)
    positions = where._a if where._a.ndim == 2 else where._a.reshape(-1, what._a.shape[0] if what._a.ndim else 0)
    if what._a.ndim == 0 or positions.shape[1] != what._a.shape[0]:
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {positions.shape[1]}, nnz from values: "
                           f"{what._a.shape[0] if what._a.ndim else 0}")
    if size is None:
        lead = tuple(int(n) + 1 for n in positions.max(1)) if positions.shape[1] else (0,) * positions.shape[0]
        shape = lead + what._a.shape[1:]
    else:
        shape = tuple(int(n) for n in size)
        check_coo(positions, what._a, shape)
    a = SparseArray(positions, what._a, shape, bool(is_coalesced))
    found = record(a, SparseCooTensorBackward, (what,), stored=a)
    return found.requires_grad_() if requires_grad else found


def check_coo(positions: Any, values: Any, shape: tuple[int, ...]) -> None:
    """RuntimeError where positions, values and shape of a COO tensor contradict each other."""
    if positions.ndim != 2 or values.ndim == 0 or positions.shape[1] != values.shape[0] or positions.dtype.kind != "i":
        raise RuntimeError(f"indices of shape {list(positions.shape)} do not go with values of shape {list(values.shape)}")
    if len(shape) != positions.shape[0] + values.ndim - 1:
        raise RuntimeError(f"number of dimensions must be sparse_dim ({positions.shape[0]}) + dense_dim ({values.ndim - 1}), but got {len(shape)}")
    if positions.shape[1]:
        for d, n in enumerate(shape[: positions.shape[0]]):
            low, high = int(positions[d].min()), int(positions[d].max())
            if low < 0:
                raise RuntimeError(f"found negative index {low} for dim {d}")
            if high >= n:
                raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {n} but found index {high}")


@op()
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, layout: Any = None,
                             device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                             check_invariants: bool | None = None) -> Tensor:
    """A tensor in a compressed layout, from its index and value tensors."""
    starts, plain, what = as_tensor(compressed_indices), as_tensor(plain_indices), as_tensor(values, dtype=dtype)
    layout = layout or shapes.sparse_csr
    if size is None:
        block = what._a.shape[-2:] if layout in (shapes.sparse_bsr, shapes.sparse_bsc) else (1, 1)
        major = (starts._a.shape[-1] - 1)
        minor = int(plain._a.max()) + 1 if plain._a.size else 0
        pair = (major, minor) if layout in (shapes.sparse_csr, shapes.sparse_bsr) else (minor, major)
        size = (*starts._a.shape[:-1], pair[0] * block[0], pair[1] * block[1])
    if check_invariants:
        check_compressed(starts, plain, what, size, layout)
    a = CompressedArray(starts._a, plain._a, what._a, tuple(size), layout)
    found = record(a, SparseCompressedTensorBackward, (what,), stored=a)
    return found.requires_grad_() if requires_grad else found


def check_compressed(starts: Tensor, plain: Tensor, values: Tensor, size: Any, layout: Any) -> None:
    """RuntimeError where the parts of a compressed tensor contradict each other."""
    rows = layout in (shapes.sparse_csr, shapes.sparse_bsr)
    block = tuple(values._a.shape[plain._a.ndim:plain._a.ndim + 2]) if layout in (shapes.sparse_bsr, shapes.sparse_bsc) else (1, 1)
    lead, s, p = starts._a.ndim - 1, starts._a, plain._a
    shape = tuple(int(n) for n in size)
    if lead < 0 or p.ndim != lead + 1 or len(shape) < lead + 2 or len(block) != 2 or 0 in block or s.dtype.kind != "i" or p.dtype.kind != "i":
        raise RuntimeError(f"sparse tensor: index shapes {list(s.shape)} and {list(p.shape)} do not go with values {list(values._a.shape)} and size "
                           f"{list(shape)}")
    grid = [n // b for n, b in zip(shape[lead:lead + 2], block)]
    major, minor = grid if rows else grid[::-1]
    count = p.shape[-1]
    problem = ""
    if s.shape[-1] != major + 1 or values._a.shape[:p.ndim] != p.shape or s.shape[:-1] != p.shape[:-1]:
        problem = f"{list(s.shape)} compressed and {list(p.shape)} plain indices for {major} rows or columns and values {list(values._a.shape)}"
    elif s.size and (bool((s[..., 0] != 0).any()) or bool((s[..., -1] != count).any())):
        problem = f"compressed indices must begin with 0 and end with {count}"
    elif s.size and (bool((s[..., 1:] < s[..., :-1]).any()) or bool((s[..., 1:] - s[..., :-1] > minor).any())):
        problem = f"compressed indices must rise by 0 to {minor}"
    elif p.size and (int(p.min()) < 0 or int(p.max()) >= minor):
        problem = f"plain indices must lie between 0 and {minor - 1}"
    if problem:
        raise RuntimeError(f"sparse tensor of size {list(shape)}: {problem}")


def _compressed(name: str, layout: Any, doc: str) -> Any:
    def make(first_indices: Any, second_indices: Any, values: Any, size: Any = None, **options: Any) -> Tensor:
        return sparse_compressed_tensor(first_indices, second_indices, values, size, layout=layout, **options)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return op()(make)


sparse_csr_tensor = _compressed("sparse_csr_tensor", shapes.sparse_csr, "A CSR tensor from row starts, column indices and values.")
sparse_csc_tensor = _compressed("sparse_csc_tensor", shapes.sparse_csc, "A CSC tensor from column starts, row indices and values.")
sparse_bsr_tensor = _compressed("sparse_bsr_tensor", shapes.sparse_bsr, "A block CSR tensor.")
sparse_bsc_tensor = _compressed("sparse_bsc_tensor", shapes.sparse_bsc, "A block CSC tensor.")


@method()
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor in the strided layout (itself when it is strided). Its gradient is sparse, at what is stored; with `masked_grad=False` it is dense."""
    if not hasattr(self._a, "dense"):
        return self if dtype is None else self.to(dtype)
    found = record(self._a.dense(), ToDenseBackward, (self,), stored=self._a, masked=masked_grad is not False)
    return found if dtype is None else found.to(dtype)


@method()
def to_sparse(self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None) -> Tensor:
    """The tensor in the COO layout, with `sparse_dim` sparse dimensions (default: all)."""
    if isinstance(self._a, SparseArray):
        return self
    dense = self.to_dense()
    if layout is not None and layout is not shapes.sparse_coo:
        return _to_compressed(dense, layout)
    dims = dense._a.ndim if sparse_dim is None else int(sparse_dim)
    return record(from_dense(dense._a, dims), ToSparseBackward, (dense,))


def _to_compressed(dense: Tensor, layout: Any) -> Tensor:
    if layout not in (shapes.sparse_csr, shapes.sparse_csc) or dense.dim() != 2:
        raise RuntimeError(f"to_sparse: a {dense.dim()}-d tensor cannot be converted to {layout!r} (2-d tensors to CSR and CSC can)")
    by_rows = layout is shapes.sparse_csr
    coo = from_dense(dense._a if by_rows else dense.t()._a, 2)
    counts = wrap(coo.indices[0]).bincount(minlength=coo.shape[0])
    starts = counts.new_zeros(coo.shape[0] + 1)
    starts[1:] = counts.cumsum(0)
    return record(CompressedArray(starts._a, coo.indices[1], coo.values, tuple(dense.shape), layout), ToSparseBackward, (dense,))


@method()
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The tensor in the CSR layout."""
    return to_sparse(self, layout=shapes.sparse_csr)


@method()
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The tensor in the CSC layout."""
    return to_sparse(self, layout=shapes.sparse_csc)


@method()
def coalesce(self: Tensor) -> Tensor:
    """Positions sorted, each once, values of repeated ones added."""
    a = _coo(self, "coalesce")
    return self if a.coalesced else record(a.coalesce(), CoalesceBackward, (self,))


@method()
def is_coalesced(self: Tensor) -> bool:
    """Whether every position occurs once, in order."""
    return _coo(self, "is_coalesced").coalesced


def _coo(x: Tensor, name: str) -> SparseArray:
    if not isinstance(x._a, SparseArray):
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {str(x.layout).removeprefix('torch.').capitalize()}")
    return x._a


@method()
def indices(self: Tensor) -> Tensor:
    """The positions (sparse dims, nnz) of a coalesced COO tensor."""
    a = _coo(self, "indices")
    if not a.coalesced:
        raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return wrap(a.indices)


@method()
def values(self: Tensor) -> Tensor:
    """The stored values of a (coalesced) sparse tensor."""
    a = self._a if isinstance(self._a, CompressedArray) else _coo(self, "values")
    if isinstance(a, SparseArray) and not a.coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    return record(a.values, ValuesBackward, (self,), stored=a)


@method("_indices")
def _indices(self: Tensor) -> Tensor:
    return wrap(_coo(self, "_indices").indices)


@method("_values")
def _values(self: Tensor) -> Tensor:
    return wrap(self._a.values)


@method("_nnz")
def _nnz(self: Tensor) -> int:
    return self._a.values.shape[0] if isinstance(self._a, SparseArray) else self._a.plain.shape[-1]


@method()
def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse."""
    return self._a.indices.shape[0] if isinstance(self._a, SparseArray) else 2


@method()
def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense."""
    return self._a.values.ndim - 1 if isinstance(self._a, SparseArray) else 0


def _index_reader(name: str, attribute: str, layouts: tuple, doc: str) -> None:
    def read(self: Tensor) -> Tensor:
        if getattr(self._a, "layout", None) not in layouts:
            raise RuntimeError(f"{name} expected one of the layouts {[repr(x) for x in layouts]}, but got {self.layout!r}")
        return wrap(getattr(self._a, attribute))

    read.__name__, read.__doc__ = name, doc
    method(name)(read)


_index_reader("crow_indices", "compressed", (shapes.sparse_csr, shapes.sparse_bsr), "Where each row begins.")
_index_reader("col_indices", "plain", (shapes.sparse_csr, shapes.sparse_bsr), "The column of each value.")
_index_reader("ccol_indices", "compressed", (shapes.sparse_csc, shapes.sparse_bsc), "Where each column begins.")
_index_reader("row_indices", "plain", (shapes.sparse_csc, shapes.sparse_bsc), "The row of each value.")
Tensor.is_sparse = property(lambda self: isinstance(self._a, SparseArray), doc="Whether the layout is COO.")
Tensor.is_sparse_csr = property(lambda self: getattr(self._a, "layout", None) is shapes.sparse_csr, doc="Whether the layout is CSR.")
