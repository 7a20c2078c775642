"""Mixtures of distributions of one family."""
from __future__ import annotations

from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.categorical import Categorical
from saraph.distributions.constraints import MixtureSameFamilyConstraint
from saraph.distributions.distribution import Distribution
from saraph.ops.activation import log_softmax
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw of one of K components, chosen at random.

    `mixture_distribution`: a `Categorical` over the K components; `component_distribution`: a distribution whose last batch dimension, of
    size K, holds the components.

    >>> MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1.0, 1.0]), torch.ones(2))).variance
    tensor(2.)
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None) -> None:
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical, "
                             f"but is {type(mixture_distribution).__name__}")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution, "
                             f"but is {type(component_distribution).__name__}")
        chosen, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(n != 1 and m != 1 and n != m for n, m in zip(reversed(chosen), reversed(batch))):
            raise ValueError(f"`mixture_distribution.batch_shape` ({chosen}) is not compatible with `component_distribution.batch_shape`({batch})")
        choices, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if choices != components:
            raise ValueError(f"`mixture_distribution component` ({choices}) does not equal `component_distribution.batch_shape[-1]` ({components})")
        self._num_component = choices
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(MixtureSameFamily, batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(Size(batch_shape))
        new._num_component, new._event_ndims = self._num_component, len(self.event_shape)
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which component is drawn from."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, in the last batch dimension."""
        return self._component_distribution

    @property
    def mean(self) -> Tensor:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return (probs * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The mean variance of the components plus the variance of their means."""
        dim = -1 - self._event_ndims
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        within = (probs * self.component_distribution.variance).sum(dim)
        return within + (probs * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0)).sum(dim)

    def cdf(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:  # type: ignore[override]
        if self._validate_args:
            self._validate_sample(x)
        each = self.component_distribution.log_prob(self._pad(x))
        return (each + log_softmax(self.mixture_distribution.logits, dim=-1)).logsumexp(dim=-1)

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        """The components are all drawn from; the chosen one is taken."""
        sample_shape = Size(sample_shape)
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            places = places.expand((*drawn.shape[:dim], 1, *self.event_shape))
            return drawn.gather(dim, places).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        """With a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Numbers per component, with dimensions of size 1 where the components have further batch and event dimensions."""
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        lead = x.shape[:-1] if missing == 0 else (1,) * missing + tuple(x.shape[:-1])
        return x.reshape((*lead, x.shape[-1], *(1,) * self._event_ndims))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
