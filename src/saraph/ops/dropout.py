"""Dropout: noise is a Bernoulli draw from the default generator in PyTorch's order, so that a seed gives PyTorch's masks."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops.creation import empty_like
from saraph.ops.inplace import update
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.random import default_generator
from saraph.tensor.tensor import Tensor, wrap

FUNCTIONAL = "nn.functional"
_MANY = 1 << 12  # elements from which the noise is drawn and scaled in one go


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(x: Tensor, p: float, whole_features: bool) -> Tensor:
    """1 where an element (or a feature: the first two dimensions) is kept, else 0; memory order as x's."""
    if whole_features:
        if x.dim() < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        return x.new_empty([*x.shape[:2], *[1] * (x.dim() - 2)]).bernoulli_(1 - p)
    return empty_like(x).bernoulli_(1 - p)


def _drop(x: Tensor, p: float, training: bool, whole_features: bool = False) -> Tensor:
    if not training or p == 0 or x.numel() == 0:
        return x
    if p == 1:
        return x * x.new_zeros(())
    if not whole_features and x._a.size >= _MANY and of(x._a).name == "cpu" and of(x._a).is_row_major(x._a) and x.is_floating_point():
        return x * wrap(default_generator.bernoulli(1 - p, x._a.shape, x._a.dtype, x.new_ones(()).div_(1 - p).item()))
    return x * _noise(x.detach(), p, whole_features).div_(1 - p)


def _alpha_drop(x: Tensor, p: float, training: bool, whole_features: bool = False) -> Tensor:
    """Dropped elements become the negative saturation value of SELU; an affine map keeps mean and variance."""
    if not training or p == 0 or x.numel() == 0:
        return x
    if p == 1:
        return x * x.new_zeros(())
    alpha = 1.7580993408473766
    noise = _noise(x.detach(), p, whole_features)
    a = 1.0 / (((alpha * alpha * p + 1) * (1 - p)) ** 0.5)
    shift = (noise - 1) * (alpha * a) + alpha * a * p
    return x * (noise * a) + shift


def _run(x: Tensor, p: float, training: bool, inplace: bool, name: str, function: Any, whole: bool = False) -> Tensor:
    _check(p)
    check_tensor(x, name)
    if inplace:
        return update(x, name + "_", lambda v: _out(function(v, p, training, whole), v), (), {})
    return function(x, p, training, whole)


def _out(result: Tensor, x: Tensor) -> Tensor:
    return result if result is not x else x.clone()


@op(namespaces=(FUNCTIONAL,))
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability p, else scaled by 1 / (1 - p) (in training; otherwise the input itself)."""
    return _run(input, p, training, inplace, "dropout", _drop)


@op(namespaces=(FUNCTIONAL,))
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (batch, channels, length) or (channels, length) are dropped."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input.")
    batched = input.dim() == 3
    found = _run(input if batched else input.unsqueeze(0), p, training, inplace, "dropout1d", _drop, True)
    return found if batched else found.squeeze(0)


@op(namespaces=(FUNCTIONAL,))
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (batch, channels, height, width) are dropped."""
    if input.dim() not in (3, 4):
        warnings.warn(f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an error in a future release. "
                      "To retain the behavior and silence this warning, please use dropout instead.", stacklevel=3)
    if input.dim() == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is interpreted "
                      "as shape (N, C, L), where C is the channel dim.", stacklevel=3)
    return _run(input, p, training, inplace, "dropout2d", _drop, True)


@op(namespaces=(FUNCTIONAL,))
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (batch, channels, depth, height, width) or (channels, depth, height, width) are dropped."""
    batched = input.dim() != 4
    found = _run(input if batched else input.unsqueeze(0), p, training, inplace, "dropout3d", _drop, True)
    return found if batched else found.squeeze(0)


@op(namespaces=(FUNCTIONAL,))
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for SELU networks: mean and variance stay (Klambauer et al. 2017)."""
    return _run(input, p, training, inplace, "alpha_dropout", _alpha_drop)


@op(namespaces=(FUNCTIONAL,))
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    return _run(input, p, training, inplace, "feature_alpha_dropout", _alpha_drop, True)


# -- under the names of torch: all arguments given, and in-place forms ----------------------------------------------------------------


def _declare(name: str, function: Callable, whole: bool, doc: str) -> None:
    """torch.<name> and torch.<name>_."""

    def drop(input: Tensor, p: float, train: bool) -> Tensor:
        return _run(input, p, train, False, name, function, whole)

    def drop_in_place(input: Tensor, p: float, train: bool) -> Tensor:
        return _run(input, p, train, True, name, function, whole)

    drop.__doc__ = doc
    drop_in_place.__doc__ = f"In-place `{name}`."
    for key, body in ((name, drop), (name + "_", drop_in_place)):
        body.__name__ = body.__qualname__ = key
        op(name=key, namespaces="torch")(body)


_declare("dropout", _drop, False, "Elements are 0 with probability p, else scaled by 1 / (1 - p), in training.")
_declare("feature_dropout", _drop, True, "`dropout` of whole channels of (N, C, ...).")
_declare("alpha_dropout", _alpha_drop, False, "Dropout for SELU networks: mean and variance stay.")
_declare("feature_alpha_dropout", _alpha_drop, True, "`alpha_dropout` of whole channels of (N, C, ...).")


@op()
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """(dropout, mask): the bool mask says which elements were kept."""
    x = check_tensor(input, "native_dropout")
    _check(p)
    mask = empty_like(x, dtype=dtypes.bool_, requires_grad=False)
    if train is False or p == 0 or x._a.size == 0:
        return x.clone(), mask.fill_(True)
    mask.bernoulli_(1 - p)
    return x * mask * (0.0 if p == 1 else 1 / (1 - p)), mask
