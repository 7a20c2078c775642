"""The von Mises distribution, on the circle."""
from __future__ import annotations

import math
from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import Value, broadcast_all, lazy_property
from saraph.dtypes import bool_, float64
from saraph.ops.creation import empty, zeros
from saraph.ops.random import rand
from saraph.ops.special import i0e, i1e
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["VonMises"]


def _by_rejection(concentration: Tensor, r: Tensor, x: Tensor) -> Tensor:
    """Angles around 0 in the shape and dtype of x (Best and Fisher 1979: a wrapped Cauchy distribution proposes)."""
    done = zeros(x.shape, dtype=bool_, device=x.device)
    while not done.all():
        u1, u2, u3 = rand((3, *x.shape), dtype=x.dtype, device=x.device).unbind()
        z = (math.pi * u1).cos()
        f = (1 + r * z) / (r + z)
        c = concentration * (r - f)
        accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
        if accepted.any():
            x = accepted.where((u3 - 0.5).sign() * f.acos(), x)
            done = done | accepted
    return x


class VonMises(Distribution):
    """Angles (in radians, drawn from [-pi, pi)) with density proportional to exp(concentration cos(x - loc)).

    `loc`: the mean angle; `concentration` (often kappa) > 0. Support: real numbers, which stand for angles.

    >>> VonMises(torch.tensor(1.0), torch.tensor(1.0)).variance
    tensor(0.5536)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        c = self.concentration
        return c * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - i0e(c).log()

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the proposals; its expansion where the concentration is so small that the formula cancels."""
        kappa = self.concentration.to(float64)
        tau = 1 + (1 + 4 * kappa ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return (kappa < 1e-5).where(1 / kappa + kappa, (1 + rho ** 2) / (2 * rho))

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        """Angles in [-pi, pi); drawn in float64, whatever the dtype of the parameters."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            x = _by_rejection(self.concentration.to(float64), self._proposal_r, empty(shape, dtype=float64, device=self.loc.device))
            return ((x + math.pi + self.loc.to(float64)) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(VonMises, batch_shape, _instance, loc=(), concentration=())

    @property
    def mean(self) -> Tensor:
        """The mean angle."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance: 1 minus the length of the mean direction."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)
