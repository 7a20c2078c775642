"""The LKJ distribution of correlation matrices, through their Cholesky factors."""
from __future__ import annotations

import math
from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.beta import Beta
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import Value, broadcast_all
from saraph.dtypes import finfo
from saraph.ops.movement import cat
from saraph.ops.norms import vector_norm
from saraph.ops.random import randn
from saraph.ops.sequences import arange
from saraph.ops.special import mvlgamma
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors L of correlation matrices M = L L^T with density of M proportional to det(M) ** (concentration - 1).

    `dim`: rows of the matrices, >= 2; `concentration` > 0: 1 makes all correlation matrices equally likely, more favours small correlations.

    >>> LKJCholesky(3, 0.5).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Value = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # the onion method: the squared length of each row's part below the diagonal is a beta number
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(LKJCholesky, batch_shape, _instance, concentration=())
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return new

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        """Row by row: a direction on the sphere, times the root of a beta number; the diagonal completes the row to length 1."""
        with no_grad():
            squares = self._beta.sample(sample_shape).unsqueeze(-1)
            normals = randn(self._extended_shape(sample_shape), dtype=squares.dtype, device=squares.device).tril(-1)
            directions = normals / vector_norm(normals, dim=-1, keepdim=True)
            directions[..., 0, :].fill_(0.0)  # the first row has nothing below the diagonal
            factor = squares.sqrt() * directions
            rest = (1 - (factor ** 2).sum(-1)).clamp(min=finfo(factor.dtype).tiny)
            return factor + rest.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """The density of the factor: that of the matrix, times prod(L_ii ** (dim - i)) of the change of variables."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rows = arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        below = self.dim - 1
        alpha = self.concentration + 0.5 * below
        log_volume = 0.5 * below * math.log(math.pi) + mvlgamma(alpha - 0.5, below) - alpha.lgamma() * below
        return (powers * diagonal.log()).sum(-1) - log_volume
