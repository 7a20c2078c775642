"""The multinomial distribution."""
from __future__ import annotations

import math
from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.binomial import Binomial
from saraph.distributions.categorical import Categorical
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import broadcast_all
from saraph.ops.creation import ones_like
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each of K categories turns up in `total_count` draws.

    `total_count`: one whole number; `probs` or `logits`: as for `Categorical`.

    >>> Multinomial(4, torch.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(f"inhomogeneous total_count is not supported: it must be one int, not {type(total_count).__name__}")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(Multinomial, batch_shape, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(Size(batch_shape))
        new._binomial = self._binomial.expand((*batch_shape, *self.event_shape))
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        sample_shape = Size(sample_shape)
        with no_grad():
            draws = self._categorical.sample(Size((self.total_count, *sample_shape)))
            draws = draws.permute(*range(1, draws.dim()), 0)
            counts = draws.new_zeros(self._extended_shape(sample_shape))
            return counts.scatter_add_(-1, draws, ones_like(draws)).type_as(self.probs)

    def entropy(self) -> Tensor:
        """Of the ordered draws, minus the logarithm of the orderings that count as one, whose mean the binomial marginals give."""
        ordered = self.total_count * self._categorical.entropy() - math.lgamma(self.total_count + 1)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        return ordered + (self._binomial.log_prob(counts).exp() * (counts + 1).lgamma()).sum([0, -1])

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)  # 0 * -inf is 0 here
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)
