"""The Wishart distribution of positive definite matrices."""
from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.chi2 import Chi2
from saraph.distributions.exp_family import ExponentialFamily
from saraph.distributions.multivariate_normal import _precision_to_scale_tril
from saraph.distributions.utils import Value, lazy_property
from saraph.dtypes import finfo
from saraph.ops.creation import tensor
from saraph.ops.linalg_solve import cholesky, cholesky_solve, slogdet
from saraph.ops.random import randn
from saraph.ops.rearrange import broadcast_shapes
from saraph.ops.sequences import arange, eye, tril_indices
from saraph.ops.special import mvlgamma
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["Wishart"]

_LOG_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of the multivariate log gamma function."""
    assert x.gt((p - 1) / 2).all(), "Wrong domain for multivariate digamma function."
    return (x.unsqueeze(-1) - arange(p, dtype=x.dtype, device=x.device).div(2).expand(x.shape + (-1,))).digamma().sum(-1)


def _clamp_above_eps(x: Tensor) -> Tensor:
    return x.clamp(min=finfo(x.dtype).eps)


class Wishart(ExponentialFamily):
    """Sums of outer products of `df` normal vectors around 0: p x p positive definite matrices.

    `df`: degrees of freedom, > p - 1; and exactly one of `covariance_matrix` of the vectors, `precision_matrix` (its inverse) and `scale_tril`
    (its lower Cholesky factor), of shape (*batch, p, p). Draws are products of Bartlett's triangular factors.

    >>> Wishart(torch.tensor(4.0), torch.eye(2)).mean
    tensor([[4., 0.],
            [0., 4.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, df: Value, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        assert len(given) == 1, "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        p = matrix.shape[-1]
        if isinstance(df, Number):
            batch_shape = Size(matrix.shape[:-2])
            self.df = tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = broadcast_shapes(matrix.shape[:-2], df.shape)  # type: ignore[union-attr]
            self.df = df.expand(batch_shape)  # type: ignore[union-attr]
        if self.df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.lt(p).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        else:
            self._unbroadcasted_scale_tril = cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)
        self._dist_chi2 = Chi2(df=self._row_df())

    def _row_df(self) -> Tensor:
        """Degrees of freedom of the diagonal of Bartlett's factor: df, df - 1, ..."""
        steps = arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return self.df.unsqueeze(-1) - steps.expand(self._batch_shape + (-1,))

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """The bound of df depends on the size of the matrices."""
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        square = self.event_shape
        new = self._expanded(Wishart, batch_shape, _instance, df=(), covariance_matrix=square, scale_tril=square, precision_matrix=square)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._dist_chi2 = Chi2(df=new._row_df())
        return new

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of the normal vectors."""
        factor = self._unbroadcasted_scale_tril
        return factor.matmul(factor.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        identity = eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return cholesky_solve(identity, factor).expand(self._batch_shape + self._event_shape)

    def _per_matrix(self, x: Tensor) -> Tensor:
        return x.expand(self._batch_shape)[..., None, None]

    @property
    def mean(self) -> Tensor:
        return self._per_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """(df - p - 1) times the covariance; nan where that factor is not positive."""
        factor = self.df - self._event_shape[-1] - 1
        return self._per_matrix(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        return self._per_matrix(self.df) * (matrix.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = Size(())) -> Tensor:
        """Chi numbers on the diagonal, normal numbers below: times the scale factor, and the product with its transpose."""
        p = self._event_shape[-1]
        factor = _clamp_above_eps(self._dist_chi2.rsample(sample_shape).sqrt()).diag_embed(dim1=-2, dim2=-1)
        i, j = tril_indices(p, p, offset=-1)
        count = p * (p - 1) // 2
        factor[..., i, j] = randn((*sample_shape, *self._batch_shape, count), dtype=self.df.dtype, device=self.df.device)
        factor = self._unbroadcasted_scale_tril @ factor
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = Size(()), max_try_correction: int | None = None) -> Tensor:
        """Draws; those that rounding made singular are drawn anew, up to `max_try_correction` (10) times, with a warning.

        PyTorch draws everything twice and keeps the second; so do we, and the same seed gives the same matrices.
        """
        sample_shape = Size(sample_shape)
        tries = 10 if max_try_correction is None else max_try_correction
        sample = self._bartlett_sampling(sample_shape)
        if tries == 0:
            return sample
        flat = self._bartlett_sampling(Size((sample_shape.numel(),)))
        for _ in range(tries - 1):
            singular = ~self.support.check(flat).reshape(flat.shape[0], -1).all(-1)
            if not singular.any():
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            flat = flat.index_put((singular,), self._bartlett_sampling(Size((int(singular.sum()),))))
        return flat.reshape(sample.shape)

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        trace = cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * _LOG_2 / 2 + self._half_log_det()) - mvlgamma(nu / 2, p) + (nu - p - 1) / 2 * slogdet(value)[1] - trace / 2)

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return ((p + 1) * (p * _LOG_2 / 2 + self._half_log_det()) + mvlgamma(nu / 2, p) - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p)
                + nu * p / 2)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-slogdet(-2 * x)[1] + _LOG_2 * p) + mvlgamma(half, p)
