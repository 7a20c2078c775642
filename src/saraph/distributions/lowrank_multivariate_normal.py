"""The multivariate normal distribution whose covariance is a diagonal plus a product of thin matrices."""
from __future__ import annotations

import math
from typing import Any

from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from saraph.distributions.utils import _standard_normal, lazy_property
from saraph.ops.joining import broadcast_tensors
from saraph.ops.linalg_solve import cholesky, solve_triangular
from saraph.ops.sequences import eye
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of I + W^T D^-1 W, for W (*, n, m) and diagonals D (*, n)."""
    scaled = W.mT / D.unsqueeze(-2)
    return cholesky(scaled.matmul(W) + eye(W.shape[-1], dtype=W.dtype, device=W.device))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """log det(W W^T + D), by the matrix determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x, by the Woodbury identity."""
    scaled = W.mT / D.unsqueeze(-2)
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, _batch_mv(scaled, x))


class LowRankMultivariateNormal(Distribution):
    """Jointly normal vectors of n numbers with covariance cov_factor cov_factor^T + diag(cov_diag), at the cost of rank m instead of n.

    `loc`: the mean, shape (*batch, n); `cov_factor`: shape (*batch, n, m); `cov_diag` > 0: shape (*batch, n).

    >>> LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)).variance
    tensor([2., 1.])
    """

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m, but has shape {tuple(cov_factor.shape)}")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}, but has shape {tuple(cov_diag.shape)}")
        try:
            locs, self.cov_factor, diagonals = broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}") from error
        self.loc, self.cov_diag = locs[..., 0], diagonals[..., 0]
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance, loc=self.event_shape, cov_diag=self.event_shape,
                             cov_factor=self.event_shape + self.cov_factor.shape[-1:])
        new._unbroadcasted_cov_factor, new._unbroadcasted_cov_diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        return new

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The diagonal of the covariance matrix."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix: that of I + (D^-1/2 W)(D^-1/2 W)^T, with rows scaled by D^1/2."""
        n = self._event_shape[0]
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        factor = root * cholesky(scaled.matmul(scaled.mT) + eye(n, dtype=scaled.dtype, device=scaled.device))
        return factor.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        matrix = factor.matmul(factor.mT) + self._unbroadcasted_cov_diag.diag_embed()
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix, by the Woodbury identity."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        part = solve_triangular(self._capacitance_tril, scaled, upper=False)
        matrix = self._unbroadcasted_cov_diag.reciprocal().diag_embed() - part.mT.matmul(part)
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        thin = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], dtype=self.loc.dtype, device=self.loc.device)
        wide = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, thin) + self._unbroadcasted_cov_diag.sqrt() * wide

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        distance = _batch_lowrank_mahalanobis(factor, diagonal, value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(factor, diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self) -> Tensor:
        log_det = _batch_lowrank_logdet(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril)
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)).expand(self._batch_shape)
