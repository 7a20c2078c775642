"""Exponential families: densities exp(<natural parameters, statistics> - log normalizer + carrier)."""
from __future__ import annotations

from typing import Any

from saraph.autograd.api import grad
from saraph.autograd.grad_mode import enable_grad
from saraph.distributions.distribution import Distribution, undefined
from saraph.tensor.tensor import Tensor

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions with natural parameters. Subclasses say `_natural_params`, `_log_normalizer(*natural)` and `_mean_carrier_measure`,
    the mean of the carrier term; from these follow `entropy` and the divergence of two members of one family."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        undefined(self, "_natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        undefined(self, "_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        undefined(self, "_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """By Bregman's identity: the log normalizer minus the natural parameters times its gradient (which autograd takes)."""
        result = -self._mean_carrier_measure
        with enable_grad():
            natural = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*natural)
            means = grad(normalizer.sum(), natural, create_graph=True)
        result = result + normalizer
        for p, mean in zip(natural, means):
            result = result - (p * mean).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
