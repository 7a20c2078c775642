"""The base of all distributions: shapes, validation, and what is computed from what a subclass defines."""
from __future__ import annotations

import warnings
from typing import Any, NoReturn

from saraph.autograd.grad_mode import no_grad
from saraph.distributions import constraints
from saraph.distributions.utils import lazy_property
from saraph.shapes import Size
from saraph.tensor.tensor import Tensor

__all__ = ["Distribution"]


def undefined(distribution: Any, what: str) -> NoReturn:
    """NotImplementedError: this distribution has no such quantity."""
    name = type(distribution).__name__
    raise NotImplementedError(f"{name} does not define `{what}`")


class _Undefined:
    """`arg_constraints` and `support` of a class that does not say them: NotImplementedError when an object is asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        undefined(instance, self.name)


class Distribution:
    """A (batch of) probability distributions.

    `batch_shape` is the shape of the batch of distributions, `event_shape` that of one draw: `sample(s)` has shape s + batch_shape +
    event_shape, and `log_prob` of it shape s + batch_shape. With `validate_args` (the default under `__debug__`) parameters are checked
    against `arg_constraints` when the object is made, and values against `support`.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: Any = __debug__
    _batch_shape: Size
    _event_shape: Size

    arg_constraints: Any = _Undefined("arg_constraints")
    support: Any = _Undefined("support")

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on validate their arguments when nothing is said."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args(value): value must be True or False, but got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(()), event_shape: Any = Size(()), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warnings.warn(f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution "
                          "with `validate_args=False` to turn off validation.", stacklevel=4)
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # follows from parameters that are checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy "
                                 f"the constraint {constraint!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """A distribution of the same kind whose parameters are expanded to this batch shape; `_instance` is for subclasses."""
        undefined(self, "expand")

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw of one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        undefined(self, "mean")

    @property
    def mode(self) -> Tensor:
        """A value of greatest density or probability."""
        undefined(self, "mode")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance from the mean, element by element."""
        undefined(self, "variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size(())) -> Tensor:
        """Draws of shape sample_shape + batch_shape + event_shape, through which no gradients flow."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size(())) -> Tensor:
        """Draws that are differentiable functions of the parameters (where `has_rsample`)."""
        undefined(self, "rsample")

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`; deprecated."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability at `value`, which broadcasts with batch_shape + event_shape."""
        undefined(self, "log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw <= value."""
        undefined(self, "cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`: the quantile of the probability `value`."""
        undefined(self, "icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension, expanded over batch_shape unless `expand` is False (where `has_enumerate_support`)."""
        undefined(self, "enumerate_support")

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape batch_shape."""
        undefined(self, "entropy")

    def perplexity(self) -> Tensor:
        """exp of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size(())) -> Size:
        return Size((*Size(sample_shape), *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless `value` has a fitting shape and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, but got {type(value).__name__}")
        start = value.dim() - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(value.shape), reversed(expected))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
            return
        if not support.check(value).all():
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support ({support!r}) "
                             f"of the distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """The object that `expand` of `cls` fills: `_instance`, or a new one of this type."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a "
                                      "custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls: type, batch_shape: Any, _instance: Any, /, **trailing: Any) -> Any:
        """What most `expand` methods do: the named attributes that exist are expanded to batch_shape + their trailing shape."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = Size(batch_shape)
        for name, shape in trailing.items():
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand((*batch_shape, *shape)))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}: {self.__dict__[k] if self.__dict__[k].numel() == 1 else self.__dict__[k].size()}"
                          for k in self.arg_constraints if k in self.__dict__)
        return f"{type(self).__name__}({shown})"
