"""Relaxed categorical distributions: differentiable draws near the corners of the simplex."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.categorical import Categorical
from saraph.distributions.distribution import Distribution
from saraph.distributions.transformed_distribution import TransformedDistribution
from saraph.distributions.transforms import ExpTransform
from saraph.distributions.utils import Value, broadcast_all, clamp_probs
from saraph.ops.creation import as_tensor, full_like
from saraph.ops.random import rand
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a `RelaxedOneHotCategorical` point: log_softmax((logits + Gumbel noise) / temperature).

    `temperature` > 0; `probs` or `logits` as for `Categorical`.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # the points whose exponentials add up to 1
    has_rsample = True

    def __init__(self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(ExpRelaxedCategorical, batch_shape, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(Size(batch_shape))
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        gumbels = -((-(u.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        k = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        temperature = as_tensor(self.temperature, dtype=logits.dtype, device=logits.device)
        log_scale = full_like(temperature, float(k)).lgamma() - temperature.log().mul(-(k - 1))
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex near its corners: the smaller the temperature, the nearer to `OneHotCategorical`, with differentiable draws
    (Maddison et al. 2017, Jang et al. 2017).

    `temperature` > 0; `probs` or `logits` as for `Categorical`.

    >>> RelaxedOneHotCategorical(torch.tensor(2.0), torch.tensor([0.1, 0.9])).event_shape
    torch.Size([2])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedOneHotCategorical, _instance))

    @property
    def temperature(self) -> Value:
        """How soft the draws are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self.base_dist.probs
