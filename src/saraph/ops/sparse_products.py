"""Products and reductions of sparse tensors (`torch.sparse`). A product keeps what its definition keeps sparse; values are computed densely."""
from __future__ import annotations

from typing import Any

from saraph import shapes
from saraph.ops.registry import method, op
from saraph.ops.sparse import sparse_coo_tensor, sparse_csr_tensor
from saraph.tensor.tensor import Tensor


def _rows_and_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    """The positions of the stored values of a 2-d sparse tensor, in the order of its values."""
    if x.layout is shapes.sparse_csr:
        starts = x.crow_indices()
        counts = starts[1:] - starts[:-1]
        rows = counts.new_zeros(int(counts.sum())) if counts.numel() == 0 else _numbers(counts)
        return rows, x.col_indices()
    found = x.coalesce().indices()
    return found[0], found[1]


def _numbers(counts: Tensor) -> Tensor:
    """0 as often as counts[0] says, then 1, ..."""
    steps = counts.new_zeros(int(counts.sum()) + 1)
    ends = counts.cumsum(0)
    return steps.scatter_add(0, ends, counts.new_ones(counts.shape))[:-1].cumsum(0)


@op(name="mm", namespaces="sparse")
def sparse_mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """The product of a sparse matrix and a dense or sparse one (two sparse ones give a sparse one).

    reduce: "sum", or for a CSR mat1 and a dense mat2 also "mean", "amax", "amin" over the stored values of a row.
    """
    if reduce == "sum":
        found = mat1.to_dense().matmul(mat2.to_dense())
        if mat1.layout is shapes.strided or mat2.layout is shapes.strided:
            return found
        return found.to_sparse() if mat1.layout is shapes.sparse_coo else found.to_sparse(layout=mat1.layout)
    if reduce not in ("mean", "amax", "amin"):
        raise ValueError(f"torch.sparse.mm: reduce must be one of 'sum', 'mean', 'amax', 'amin', but got {reduce!r}")
    if mat1.layout is not shapes.sparse_csr:
        raise RuntimeError(f"torch.sparse.mm with reduce={reduce!r} expects a CSR matrix first, got layout {mat1.layout!r}")
    rows, columns = _rows_and_columns(mat1)
    dense = mat1.to_dense()
    values = dense[rows, columns].unsqueeze(1) * mat2[columns]
    zeros = values.new_zeros((mat1.shape[0], mat2.shape[1]))
    return zeros.scatter_reduce(0, rows.long().unsqueeze(1).expand(values.shape), values, reduce, include_self=False)


@op(name="addmm", namespaces="sparse")
def sparse_addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """beta mat + alpha (mat1 mat2) for a sparse mat1."""
    return mat * beta + sparse_mm(mat1, mat2) * alpha


@op(name="sampled_addmm", namespaces="sparse")
def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Tensor | None = None) -> Tensor:
    """alpha (mat1 mat2) + beta input, at the positions that the CSR tensor `input` stores."""
    if input.layout is not shapes.sparse_csr:
        raise RuntimeError(f"Expected input to have sparse csr layout, but got {input.layout!r}")
    if mat1.shape[-1] != mat2.shape[-2] or tuple(input.shape[-2:]) != (mat1.shape[-2], mat2.shape[-1]):
        raise RuntimeError(f"sampled_addmm: shapes do not fit: input {list(input.shape)}, mat1 {list(mat1.shape)}, mat2 {list(mat2.shape)}")
    product = mat1.matmul(mat2)
    if input.dim() == 2:
        values = _sampled(input.crow_indices(), input.col_indices(), product)
    else:
        lead = input.crow_indices().shape[:-1].numel()
        starts, columns = (t.reshape(lead, t.shape[-1]) for t in (input.crow_indices(), input.col_indices()))
        flat = product.expand((*input.shape[:-2], *product.shape[-2:])).reshape(lead, *product.shape[-2:])
        values = input.values().new_zeros(columns.shape)
        for b in range(lead):
            values[b] = _sampled(starts[b], columns[b], flat[b])
        values = values.reshape(input.values().shape)
    found = values * alpha + input.values() * beta
    return _csr(input, found)


def _sampled(starts: Tensor, columns: Tensor, product: Tensor) -> Tensor:
    return product[_numbers(starts[1:] - starts[:-1]).long(), columns.long()]


def _csr(like: Tensor, values: Tensor) -> Tensor:
    return sparse_csr_tensor(like.crow_indices(), like.col_indices(), values, like.shape)


@op(name="sum", namespaces="sparse")
def sparse_sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum over some dimensions: sparse where sparse dimensions remain; over all, a dense number."""
    x = input if dtype is None else input.to(dtype)
    if dim is None:
        return x.coalesce().values().sum() if x.layout is shapes.sparse_coo else x.values().sum()
    found = x.to_dense().sum(dim)
    dims = {d % x.dim() for d in ((dim,) if isinstance(dim, int) else dim)}
    left = x.sparse_dim() - sum(d < x.sparse_dim() for d in dims)
    return found.to_sparse(left) if left else found


def _over_stored(name: str, x: Tensor, dim: int, dtype: Any) -> Tensor:
    x = (x if dtype is None else x.to(dtype)).coalesce()
    stored = sparse_coo_tensor(x.indices(), x.values() * 0 + 1, x.shape).to_dense() != 0
    dense = x.to_dense().masked_fill(~stored, float("-inf"))
    found = getattr(dense, name)(dim)
    return sparse_coo_tensor(x.indices(), found[tuple(x.indices())], x.shape, is_coalesced=True)


@op(name="softmax", namespaces="sparse")
def sparse_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """softmax over the stored values: what is not stored counts as -inf and stays away."""
    return _over_stored("softmax", input, dim, dtype)


@op(name="log_softmax", namespaces="sparse")
def sparse_log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """log(softmax) over the stored values."""
    return _over_stored("log_softmax", input, dim, dtype)


@op(name="spdiags", namespaces="sparse")
def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None) -> Tensor:
    """A sparse matrix with the rows of `diagonals` on its diagonals `offsets` (above 0 to the right); entry j of a row stands in column j."""
    rows = diagonals if diagonals.dim() == 2 else diagonals.unsqueeze(0)
    numbers = offsets.reshape(-1)
    if rows.shape[0] != numbers.numel():
        raise RuntimeError(f"spdiags(): number of diagonals ({rows.shape[0]}) does not match the number of offsets ({numbers.numel()})")
    if numbers.unique().numel() != numbers.numel():
        raise RuntimeError("spdiags(): offset tensor contains duplicate values")
    columns = numbers.new_ones((rows.shape[0], rows.shape[1])).cumsum(1) - 1
    heights = columns - numbers.unsqueeze(1)
    inside = (heights >= 0) & (heights < shape[0]) & (columns < shape[1])
    where = heights[inside].unsqueeze(0), columns[inside].unsqueeze(0)
    indices = where[0].new_zeros((2, where[0].shape[1]))
    indices[0], indices[1] = where[0][0], where[1][0]
    found = sparse_coo_tensor(indices, rows[inside], shape)
    return found if layout is None or layout is shapes.sparse_coo else found.to_sparse(layout=layout)


@op(name="smm", method=True)
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, sparse."""
    return input.to_dense().matmul(mat).to_sparse()


@op(name="spmm", aliases=("dsmm", "hsmm"))
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix; unlike `torch.sparse.mm` it gives the sparse one a dense gradient."""
    if shapes.strided not in (input.layout, mat2.layout):
        return sparse_mm(input, mat2)
    return input.to_dense(masked_grad=False).matmul(mat2.to_dense(masked_grad=False))


@method()
def to_sparse_coo(self: Tensor) -> Tensor:
    """The tensor in the COO layout."""
    return self.to_sparse()


@method()
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The values of a dense tensor at the positions that the sparse tensor `mask` stores."""
    if self.shape != mask.shape:
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size {list(mask.shape)}")
    where = mask.coalesce().indices()
    return sparse_coo_tensor(where, self.to_dense()[tuple(where)], self.shape, is_coalesced=True)


@method()
def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a COO tensor another size of as many dimensions; stored positions must stay inside when there are any."""
    a = self._a
    if self._nnz() and (self.sparse_dim() != sparse_dim or self.dense_dim() != dense_dim or any(n < m for n, m in zip(size, self.shape))):
        raise RuntimeError(f"sparse_resize_: a tensor with stored values cannot shrink or change its dimensions: {list(self.shape)} to {list(size)}")
    a.shape = tuple(size)
    return self
