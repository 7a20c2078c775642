"""The chi-squared distribution."""
from __future__ import annotations

from typing import Any

from saraph.distributions import constraints
from saraph.distributions.gamma import Gamma
from saraph.distributions.utils import Value
from saraph.tensor.tensor import Tensor

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of `df` independent standard normals: Gamma(df / 2, 1 / 2). Support: x >= 0.

    `df`: degrees of freedom, > 0, whole or not.

    >>> Chi2(torch.tensor(3.0)).variance
    tensor(6.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Value, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Chi2, _instance)
        return super().expand(batch_shape, new)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2
