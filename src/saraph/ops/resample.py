"""Resizing (batch, channels, *spatial): interpolate and its older names.

Every mode is separable and linear in the image; `resize` and its adjoint are each other's derivatives.
"""
from __future__ import annotations

import math
import warnings
from typing import Any

from saraph.backends import of
from saraph.ops.adaptive_pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from saraph.ops.pool import FUNCTIONAL, Ints
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.ops.spatial import by_sizes, refuse
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

_RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_ALL_MODES = "nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact"


def _node(name: str) -> Any:
    @derivative(name)
    def formula(node: Any, g: Tensor) -> Tensor:
        return _resize_adjoint(g, node.sizes, node.how)

    return formula


_NODES = {"linear1": "UpsampleLinear1DBackward0", "linear2": "UpsampleBilinear2DBackward0", "linear3": "UpsampleTrilinear3DBackward0",
          "cubic2": "UpsampleBicubic2DBackward0", "linear-antialias2": "UpsampleBilinear2DAaBackward0",
          "cubic-antialias2": "UpsampleBicubic2DAaBackward0",
          **{f"nearest{n}": f"UpsampleNearest{n}DBackward0" for n in (1, 2, 3)},
          **{f"nearest-exact{n}": f"UpsampleNearestExact{n}DBackward0" for n in (1, 2, 3)}}
_NODES = {key: _node(name) for key, name in _NODES.items()}


@derivative("UpsampleBackwardBackward0")
def ResizeAdjointBackward(node: Any, g: Tensor) -> Tensor:
    return _resize(g, node.sizes, node.how)


def _resize(x: Tensor, sizes: Ints, how: tuple) -> Tensor:
    """how: (mode, given scale of every dimension or None, corners aligned)."""
    a = x._a
    rank = len(sizes)
    return record(of(a).resize(a, sizes, *how), _NODES[f"{how[0]}{rank}"], (x,), sizes=a.shape[a.ndim - rank:], how=how)


def _resize_adjoint(g: Tensor, sizes: Ints, how: tuple) -> Tensor:
    a = g._a
    return record(of(a).resize_adjoint(a, sizes, *how), ResizeAdjointBackward, (g,), sizes=a.shape[a.ndim - len(sizes):], how=how)


def _target(x: Tensor, rank: int, size: Any, scale_factor: Any, recompute: bool | None) -> tuple[Ints, tuple[float | None, ...]]:
    """The result's sizes, and the scale of every dimension where it counts for itself."""
    spatial = list(x._a.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = size if size is not None else scale_factor
    what, form = ("output size", "output size in (o1, o2, ...,oK)") if size is not None else ("scale_factor", "scale_factor in (s1, s2, ...,sK)")
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,) * rank
    if len(values) != rank:
        raise ValueError(f"Input and {what.replace('output size', 'output')} must have the same number of spatial dimensions, but got input with spatial "
                         f"dimensions of {spatial} and {what} of {list(values)}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                         f"{form} format.")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        for v in values:
            if isinstance(v, (bool, float)) or not hasattr(v, "__index__"):
                raise TypeError(f"expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
                                f"{[type(v) for v in values]}")
        return tuple([v.__index__() for v in values]), (None,) * rank
    sizes = tuple([math.floor(float(n) * float(f)) for n, f in zip(spatial, values)])
    return sizes, (None,) * rank if recompute else tuple([float(f) for f in values])


@op(namespaces=FUNCTIONAL)
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
                recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """(N, C, *spatial) resized to `size`, or by `scale_factor` (a number, or one for every spatial dimension).

    Modes: "nearest", "nearest-exact", "area" (1 to 3 spatial dimensions), "linear" (1), "bilinear" and "bicubic" (2; `antialias` filters when
    shrinking), "trilinear" (3). `align_corners` puts the corner elements' centres on each other. ValueError or NotImplementedError for
    arguments that do not go together.
    """
    x = check_tensor(input, "interpolate")
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    rank = x._a.ndim - 2
    sizes, scales = _target(x, rank, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and rank == 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if rank not in (1, 2, 3) or mode not in (*_RANKS, "nearest", "nearest-exact", "area"):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x._a.ndim}D) for the modes: {_ALL_MODES} (got {mode})")
    if mode in _RANKS and rank != _RANKS[mode]:
        raise NotImplementedError(f"Got {x._a.ndim}D input, but {mode} mode needs {_RANKS[mode] + 2}D input")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](x, sizes)
    if min(*sizes, *x._a.shape[2:]) <= 0:
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({by_sizes(x._a.shape[2:])}) output ({by_sizes(sizes)})")
    if x._a.shape[1] == 0:
        raise RuntimeError(f"Non-empty {x._a.ndim}D data tensor expected but got a tensor with sizes {list(x._a.shape)}")
    bytes_too = x.dtype.name == "uint8" and (rank == 2 or mode not in _RANKS)
    refuse(f"upsample_{mode.replace('-', '_')}{rank}d", x, "fi" if bytes_too else "f")
    kernel = {"nearest": "nearest", "nearest-exact": "nearest-exact", "bicubic": "cubic"}.get(mode, "linear")
    return _resize(x, sizes, (kernel + "-antialias" if antialias else kernel, scales, bool(align_corners)))


@op(namespaces=FUNCTIONAL)
def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """The old name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(namespaces=FUNCTIONAL)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, "nearest")


@op(namespaces=FUNCTIONAL)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear" and aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, "bilinear", True)
