"""Norms of vectors and distances between them."""
from __future__ import annotations

from math import inf
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.errors import describe
from saraph.ops import promotion
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import check_dims, normal_axes, stretched, title
from saraph.ops.registry import OPS, op
from saraph.shapes import broadcast_shapes, wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, wrap

# -- vector norms ----------------------------------------------------------------------------------------------------------------


@derivative("LinalgVectorNormBackward0", saves_result=True)
def VectorNormBackward(node: Any, g: Tensor) -> Tensor:
    """x |x|^(p-2) / norm^(p-1) times g; the subgradient 0 where that has no value; the infinite norms share g among the extremes."""
    x, norm = unpack(node)
    g, norm = (stretched(t, x._a.ndim, node.axes, node.keepdim) for t in (g, norm))
    p = node.order
    if p == 0:
        return x * 0
    if p == 1:
        return x.sgn() * g
    if p == 2:
        return x * (g / norm).masked_fill(norm == 0, 0)
    size = x.abs()
    if p in (inf, -inf):
        chosen = (size.detach() == norm.detach()) | (size.isnan() & norm.isnan())
        count = chosen.sum() if node.axes is None else chosen.sum(node.axes, keepdim=True) if node.axes else chosen
        return x.sgn() * (chosen * (g / count))
    if p < 1:
        return x.sgn() * size.pow(p - 1).masked_fill(x == 0, 0) * (g * norm.pow(1 - p))
    scale = (g / norm.pow(p - 1)).masked_fill(norm == 0, 0)
    return (x.sgn() * size.pow(p - 1) if p < 2 else x * size.pow(p - 2).masked_fill(x == 0, 0)) * scale


def check_norm_dtype(x: Tensor, dtype: Any, name: str) -> Tensor:
    """x in the dtype that its norm is computed in; errors for integers and for conversions that lose something."""
    if x.dtype.category < 2:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {title(x)}")
    if dtype is None:
        return x
    if dtype.category < 2:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype!r}")
    if dtype.is_complex != x.dtype.is_complex:
        raise RuntimeError(f"{name}: dtype should be {'complex' if x.dtype.is_complex else 'real'} for {'complex' if x.dtype.is_complex else 'real'} "
                           f"inputs, but got {dtype!r}")
    if dtypes.promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({x.dtype!r}) should be convertible without narrowing to the specified dtype ({dtype!r})")
    return promotion.cast(x, dtype)


def _check_identity(a: Any, order: float, axes: tuple[int, ...] | None) -> None:
    """The norms below 0 and the infinite one have no value over nothing."""
    if a.size or not (order < 0 or order == inf):
        return
    if axes is None:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {order:g} norm on an empty tensor because the operation does not have an identity")
    for d in axes:
        if a.shape[d] == 0:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {order:g} norm on the dimension {d} because this dimension is empty and the "
                               "operation does not have an identity")


@op(namespaces="linalg", autocast="float32")
def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """sum(|x|^ord)^(1/ord) of all elements or over the dimensions `dim`; ord inf, -inf: the largest, smallest |x|; 0: the number of non-zeros.

    `dtype` is what x is converted to first. The result is real.
    """
    x = check_tensor(x, "linalg.vector_norm", "x")
    if not is_number(ord):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' must be Number, not {type(ord).__name__}")
    check_dims(dim, "linalg.vector_norm")
    x = check_norm_dtype(x, dtype, "linalg.vector_norm")
    a, order = x._a, float(ord)
    axes = normal_axes(dim, a.ndim)
    _check_identity(a, order, axes)
    return record(of(a).vector_norm(a, order, axes, keepdim), VectorNormBackward, (x,), (x,), order=order, axes=axes, keepdim=keepdim)


@op(method=True, autocast="float32")
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None, dtype: Any = None) -> Tensor:
    """The p-norm of all elements or over the dimensions `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values.

    See `linalg.vector_norm` and `linalg.matrix_norm`.
    """
    x = check_tensor(input, "norm")
    if isinstance(p, str) and p != "fro":
        dims = dim if dim is not None else tuple(range(x._a.ndim)) if x._a.ndim == 2 else (-2, -1)
        return OPS["linalg.matrix_norm"].public(x, p, dims, keepdim, dtype=dtype)
    return vector_norm(x, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


@op(method=True, autocast="float32")
def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """The p-norm of `input - other`."""
    difference = check_tensor(input, "dist") - check_tensor(other, "dist", "other")
    if difference.dtype.category < 2:
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {title(difference)} instead.")
    return vector_norm(difference, p)


@op(method=True, inplace=True, autocast="float32")
def renorm(input: Tensor, p: Any, dim: int, maxnorm: Any, *, out: Tensor | None = None) -> Tensor:
    """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it."""
    x = check_tensor(input, "renorm")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported (p={p})")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    rank = x._a.ndim
    if rank < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {rank} dimensions")
    dim = wrap_dim(dim, rank)
    wide = promotion.cast(x, dtypes.float32) if x.dtype in (dtypes.float16, dtypes.bfloat16) else x
    norms = vector_norm(wide, p, tuple(d for d in range(rank) if d != dim), True)
    factor = (maxnorm / (norms + 1e-7)).where(norms > maxnorm, norms.new_ones(()))
    return promotion.cast(wide * factor, x.dtype)


# -- distances ---------------------------------------------------------------------------------------------------------------------


@op(namespaces=("torch", "nn.functional"))
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
    difference = check_tensor(x1, "pairwise_distance", "x1") - check_tensor(x2, "pairwise_distance", "x2") + eps
    return vector_norm(difference, p, -1, keepdim)


@op(namespaces=("torch", "nn.functional"), autocast="widest")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between `x1` and `x2` along `dim`; norms below `eps` count as `eps`."""
    x1, x2 = promotion.promoted("cosine_similarity", check_tensor(x1, "cosine_similarity", "x1"), check_tensor(x2, "cosine_similarity", "x2"))
    if x1.dtype.category < 2:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {title(x1)}")
    shape = broadcast_shapes(x1._a.shape, x2._a.shape, op="cosine_similarity")
    x1, x2 = x1.expand(shape), x2.expand(shape)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    """x over its norm, at least eps; the gradient is that of the norm itself."""
    length = vector_norm(x, 2, dim, True)
    return x / (length + (length.clamp_min(eps) - length).detach())


def _check_points(x: Any, name: str, position: str) -> Tensor:
    x = check_tensor(x, name, position)
    if x.dtype.category != 2:
        raise RuntimeError(f"{name} only supports floating-point dtypes, {position} got: {title(x)}")
    return x


@derivative("CdistBackward0", saves_result=True)
def CdistBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """For p = 2, without the differences of all pairs: sum of w (x1 - x2) with w = g / distance."""
    x1, x2, distance = unpack(node)
    w = (g / distance).masked_fill(distance == 0, 0)
    g1 = w.sum(-1, keepdim=True) * x1 - w @ x2 if node.needs(0) else None
    g2 = w.sum(-2).unsqueeze(-1) * x2 - w.transpose(-2, -1) @ x1 if node.needs(1) else None
    return g1, g2


def _euclidean(x1: Tensor, x2: Tensor, by_product: bool) -> Any:
    """All distances, as an array: of the differences, or (quicker, less exact for near points) by |x|^2 - 2 x y + |y|^2."""
    if not by_product:
        difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
        return of(difference._a).vector_norm(difference._a, 2.0, (difference._a.ndim - 1,), False)
    squares = x1.square().sum(-1, keepdim=True) + x2.square().sum(-1).unsqueeze(-2) - (x1 @ x2.transpose(-2, -1)) * 2
    return squares.clamp_min(0).sqrt()._a


@op(autocast="float32")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance of every row of `x1` (..., P, M) to every row of `x2` (..., R, M): (..., P, R).

    `compute_mode` says whether p = 2 may go through a matrix product: "use_mm_for_euclid_dist_if_necessary" (from 26 rows on),
    "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist".
    """
    x1, x2 = _check_points(x1, "cdist", "X1"), _check_points(x2, "cdist", "X2")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._a.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._a.ndim}D")
    if x1._a.shape[-1] != x2._a.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1._a.shape[-1]} X2: {x2._a.shape[-1]} "
                           f"({describe(x1, x2)})")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {title(x1)} but found {title(x2)}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values (got {p})")
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode (one of {', '.join(modes)})")
    rows, columns = x1._a.shape[-2], x2._a.shape[-2]
    batch = broadcast_shapes(x1._a.shape[:-2], x2._a.shape[:-2], op="cdist")
    x1, x2 = x1.expand(*batch, *x1._a.shape[-2:]), x2.expand(*batch, *x2._a.shape[-2:])
    if p != 2:
        return vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)
    by_product = compute_mode == modes[1] or (compute_mode == modes[0] and (rows > 25 or columns > 25))
    return record(_euclidean(x1.detach(), x2.detach(), by_product), CdistBackward, (x1, x2), (x1, x2))


@op(namespaces=("torch", "nn.functional"), autocast="float32")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows of a matrix (N, M), in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    x = check_tensor(input, "pdist")
    if x._a.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x._a.ndim}D")
    if x.dtype.category != 2:
        raise RuntimeError(f"pdist only supports floating-point dtypes (got {title(x)})")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values (got {p})")
    pairs = of(x._a).combination_index(x._a.shape[0], 2, False)
    first, second = wrap(of(pairs).getitem(pairs, 0)), wrap(of(pairs).getitem(pairs, 1))
    return vector_norm(x.index_select(0, first) - x.index_select(0, second), p, -1)


__all__ = ["cdist", "cosine_similarity", "dist", "norm", "pairwise_distance", "pdist", "renorm", "vector_norm"]


# -- weight normalisation -------------------------------------------------------------------------------------------------


@op()
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The p-norm (p = `pow`) of each slice of `dim`, broadcastable to v; of everything (0-dim) for dim -1."""
    if dim == -1:
        return v.norm(pow)
    rank = v.dim()
    if dim == 0:
        return v.reshape(v.shape[0], -1).norm(pow, 1).reshape((v.shape[0], *[1] * (rank - 1)))
    if dim == rank - 1:
        return v.reshape(-1, v.shape[-1]).norm(pow, 0).reshape((*[1] * (rank - 1), v.shape[-1]))
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


@op(name="_weight_norm")
def weight_norm_of(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """g v / ||v||, with one norm per slice of `dim` (or one for all: -1)."""
    return v * (g / norm_except_dim(v, 2, dim))
