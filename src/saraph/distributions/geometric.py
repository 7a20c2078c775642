"""The geometric distribution."""
from __future__ import annotations

from typing import Any

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.distribution import Distribution
from saraph.distributions.utils import Value, broadcast_all, lazy_property, logits_to_probs, only_one, probs_to_logits
from saraph.dtypes import finfo
from saraph.ops.creation import zeros_like
from saraph.ops.loss import binary_cross_entropy_with_logits
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["Geometric"]


class Geometric(Distribution):
    """How many trials fail before the first one succeeds: P(k) = (1 - p) ** k p. Support: 0, 1, 2, ...

    `probs`: p in (0, 1]; or `logits`: log(p / (1 - p)). Exactly one of the two.

    >>> Geometric(torch.tensor(0.25)).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Value | None = None, logits: Value | None = None, validate_args: bool | None = None) -> None:
        only_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__((self.probs if probs is not None else self.logits).size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            wrong = self.probs.detach()[~(self.probs > 0)]
            raise ValueError(f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution {self!r} "
                             f"to be positive but found invalid values:\n{wrong}")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Geometric, batch_shape, _instance, probs=(), logits=())

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p))"""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)  # 0 * log(0) is 0 here
        return value * (-probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
