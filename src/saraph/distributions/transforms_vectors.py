"""Transforms of vectors and matrices: onto the simplex, onto triangular factors, onto positive definite matrices."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.transforms_base import Transform
from saraph.distributions.transforms_elementwise import _clipped_sigmoid, _Same
from saraph.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from saraph.dtypes import finfo
from saraph.ops.activation import logsigmoid, softplus
from saraph.ops.linalg_solve import cholesky
from saraph.ops.padding import pad
from saraph.ops.sequences import eye
from saraph.tensor.tensor import Tensor

__all__ = ["CorrCholeskyTransform", "SoftmaxTransform", "StickBreakingTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"]


def _at_least(shape: Any, dims: int) -> None:
    if len(shape) < dims:
        raise ValueError(f"Too few dimensions on input: {tuple(shape)}, expected at least {dims}")


class CorrCholeskyTransform(Transform):
    """Vectors of length D (D - 1) / 2 to Cholesky factors of D x D correlation matrices.

    tanh brings the numbers into (-1, 1), as the strictly lower triangle of a matrix; each row is then scaled, stick by stick, to length
    1, the rest of the stick being the diagonal (Lewandowski, Kurowicka and Joe 2009: canonical partial correlations).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = x.tanh()
        eps = finfo(x.dtype).eps
        rows = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - rows ** 2).sqrt().cumprod(-1)
        rows = rows + eye(rows.shape[-1], dtype=rows.dtype, device=rows.device)
        return rows * pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = 1 - (y * y).cumsum(dim=-1)
        rest = pad(rest[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(rest, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2  # atanh

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        sticks = 0.5 * rest.log().sum(-1)
        return sticks - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError(f"Input is not a flattened lower-diagonal number: {count} is not D * (D - 1) / 2 for a whole number D")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError(f"Input is not square: {tuple(shape)}")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class SoftmaxTransform(_Same):
    """exp and normalisation of vectors. Not bijective, so it has no log-determinant: it is for optimisation, not for densities."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape


class StickBreakingTransform(_Same):
    """Vectors of length K - 1 to the simplex of K shares: each number says, by a sigmoid, how much of the remaining stick is broken off."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        broken = _clipped_sigmoid(x - offset.log())
        rest = (1 - broken).cumprod(-1)
        return pad(broken, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        offset = y.shape[-1] - shares.new_ones(shares.shape[-1]).cumsum(-1)
        rest = (1 - shares.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return shares.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Same):
    """Square matrices to lower triangular ones with a positive diagonal: the diagonal by exp, what lies below as it is."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Same):
    """Square matrices to positive definite ones: L @ L.mT of the `LowerCholeskyTransform`."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(cholesky(y))
