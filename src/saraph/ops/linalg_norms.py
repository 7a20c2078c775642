"""`linalg.norm` and `linalg.matrix_norm`, over vector norms and singular values."""
from __future__ import annotations

from math import inf
from typing import Any

from saraph.errors import describe
from saraph.ops.linalg_decompositions import svdvals
from saraph.ops.norms import check_norm_dtype, vector_norm
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.tensor import Tensor

_NAME = "linalg.matrix_norm"


def _two_dims(x: Tensor, dim: Any) -> tuple[int, int]:
    if x._a.ndim < 2:
        raise RuntimeError(f"{_NAME}: The input tensor A must have at least 2 dimensions. (got {describe(x)})")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"{_NAME}: dim must be a 2-tuple. Got {dim}")
    rows, columns = (wrap_dim(d, x._a.ndim) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{_NAME}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, columns


def _extreme(x: Tensor, dim: int, largest: bool, keepdim: bool) -> Tensor:
    """amax or amin along `dim`; the largest of nothing is 0, as for norms there is nothing smaller."""
    if not largest:
        return x.amin(dim, keepdim)
    return x.amax(dim, keepdim) if x._a.shape[dim] else x.sum(dim, keepdim)


def _of_singular_values(x: Tensor, order: Any, dims: tuple[int, int], keepdim: bool) -> Tensor:
    values = svdvals(x.movedim(dims, (-2, -1)))
    result = values.sum(-1) if order == "nuc" else _extreme(values, -1, order == 2, False)
    if keepdim:
        for d in sorted(dims):
            result = result.unsqueeze(d)
    return result


@op(namespaces="linalg", autocast="float32")
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The norm of the matrices in the two dimensions `dim`.

    `ord`: "fro" (root of the sum of squares), "nuc" (sum of singular values), 2, -2 (largest, smallest singular value), 1, -1 (largest, smallest
    column sum of |A|), inf, -inf (row sums).
    """
    x = check_tensor(A, _NAME, "A")
    rows, columns = _two_dims(x, dim)
    x = check_norm_dtype(x, dtype, _NAME)
    if not (ord in ("fro", "nuc") if isinstance(ord, str) else is_number(ord) and abs(ord) in (1, 2, inf)):
        raise RuntimeError(f"{_NAME}: Order {ord} not supported.")
    if ord == "fro":
        return vector_norm(x, 2, (rows, columns), keepdim)
    if ord == "nuc" or abs(ord) == 2:
        return _of_singular_values(x, ord, (rows, columns), keepdim)
    summed, left = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = x.abs().sum(summed, keepdim=True)
    sums = _extreme(sums, left, ord > 0, True)
    return sums if keepdim else sums.squeeze((rows, columns))


@op(namespaces="linalg", name="norm", autocast="float32")
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """A vector or matrix norm: of the matrices in two dimensions `dim`, else of vectors; with neither `ord` nor `dim`, the 2-norm of all elements."""
    x = check_tensor(A, "linalg.norm", "A")
    dims = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        if dims is not None and len(dims) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
        return vector_norm(x, 2, dims, keepdim, dtype=dtype)
    if dims is None:
        if x._a.ndim not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {x._a.ndim}D.")
        dims = (0,) if x._a.ndim == 1 else (0, 1)
    if len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if len(dims) == 2 or isinstance(ord, str):
        return matrix_norm(x, ord, dims, keepdim, dtype=dtype)
    return vector_norm(x, ord, dims, keepdim, dtype=dtype)


__all__ = ["linalg_norm", "matrix_norm"]
