"""Images sampled at given places: grid_sample, and the grids of affine maps."""
from __future__ import annotations

import warnings
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, float32
from saraph.ops.promotion import cast, check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack

FUNCTIONAL = "nn.functional"


def _unnormalized(at: Tensor, size: int, align: bool) -> Tensor:
    return (at + 1) * ((size - 1) / 2) if align else ((at + 1) * size - 1) / 2


def _reflected(at: Tensor, low2: int, high2: int) -> Tensor:
    """Reflected at low2 / 2 and high2 / 2 until it lies between."""
    if low2 == high2:
        return at * 0
    low, span = low2 / 2, (high2 - low2) / 2
    distance = (at - low).abs()
    flips = (distance / span).floor()
    extra = distance - flips * span
    return ((flips % 2) == 0).where(extra + low, span - extra + low)


def _bounded(at: Tensor, size: int, padding: str, align: bool) -> Tensor:
    if padding == "border":
        return at.clamp(0, size - 1)
    if padding == "reflection":
        at = _reflected(at, 0, 2 * (size - 1)) if align else _reflected(at, -1, 2 * size - 1)
        return at.clamp(0, size - 1)
    return at


@derivative("PickBackward0")
def PickBackward(node: Any, g: Tensor) -> Tensor:
    (index,) = unpack(node)
    r = of(g._a).pick_places_adjoint(g._a, index._a, node.sizes)
    return record(r, PickAdjointBackward, (g,), (index,))


@derivative("PickBackwardBackward0")
def PickAdjointBackward(node: Any, g: Tensor) -> Tensor:
    (index,) = unpack(node)
    return _pick_flat(g, index)


def _pick_flat(x: Tensor, index: Tensor) -> Tensor:
    """x (batch, channels, *sizes) at flat positions (batch, *out); 0 where the position is -1."""
    return record(of(x._a).pick_places(x._a, index._a), PickBackward, (x,), (index,), sizes=x._a.shape[2:])


def _pick(x: Tensor, places: list[Tensor]) -> Tensor:
    """x (batch, channels, *sizes) at whole places (batch, *out) per dimension; 0 where they lie outside."""
    inside, flat = None, None
    for at, size in zip(places, x._a.shape[2:]):
        ok = (at >= 0) & (at <= size - 1)
        inside = ok if inside is None else inside & ok
        whole = at.masked_fill(~ok, 0).long()
        flat = whole if flat is None else flat * size + whole
    return _pick_flat(x, flat.masked_fill(~inside, -1))


@derivative("GridSamplerBackward0")
def NearestBackward(node: Any, g: Tensor) -> tuple[Tensor, Tensor]:
    """Nearest elements do not change with the grid: its gradient is 0."""
    return g, g.new_zeros(node.shape, dtype=node.kind)


def _sample_nearest(x: Tensor, places: list[Tensor], grid: Tensor) -> Tensor:
    picked = _pick(x, places)
    return record(picked._a, NearestBackward, (picked, grid), shape=grid._a.shape, kind=grid.dtype)


def _sample_linear(x: Tensor, places: list[Tensor]) -> Tensor:
    lows = [at.detach().floor() for at in places]
    total = None
    for corner in range(2 ** len(places)):
        chosen, weight = [], None
        for k, (at, low) in enumerate(zip(places, lows)):
            upper = corner >> k & 1
            chosen.append(low + 1 if upper else low)
            part = at - low if upper else low + 1 - at
            weight = part if weight is None else weight * part
        term = _pick(x, chosen) * weight.unsqueeze(1)
        total = term if total is None else total + term
    return total


def _sample_cubic(x: Tensor, raw: list[Tensor], padding: str, align: bool) -> Tensor:
    a = -0.75
    lows = [at.detach().floor() for at in raw]
    columns = []
    for at, low in zip(raw, lows):
        t = at - low
        u, v, w = t + 1, 1 - t, 2 - t
        columns.append([((a * u - 5 * a) * u + 8 * a) * u - 4 * a, ((a + 2) * t - (a + 3)) * t * t + 1, ((a + 2) * v - (a + 3)) * v * v + 1,
                        ((a * w - 5 * a) * w + 8 * a) * w - 4 * a])
    total = None
    for i in range(4):
        for j in range(4):
            y = _bounded(lows[0] + (i - 1), x.shape[2], padding, align)
            z = _bounded(lows[1] + (j - 1), x.shape[3], padding, align)
            term = _pick(x, [y, z]) * (columns[0][i] * columns[1][j]).unsqueeze(1)
            total = term if total is None else total + term
    return total


@op(namespaces=FUNCTIONAL, autocast="float32")
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None) -> Tensor:
    """(batch, channels, *sizes) sampled at grid (batch, *out, n), whose last dimension holds places in [-1, 1], x first."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if "
                      "the old behavior is desired. See the documentation of grid_sample for details.", stacklevel=3)
        align_corners = False
    x = check_tensor(input, "grid_sample")
    n = x.dim() - 2
    if n not in (2, 3) or grid.dim() != x.dim():
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {list(x.shape)} and "
                           f"grid with sizes {list(grid.shape)}")
    if x.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(x.shape)} and grid with sizes "
                           f"{list(grid.shape)}")
    if grid.shape[-1] != n:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.shape)}")
    if 0 in x.shape[2:]:
        raise RuntimeError(f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(x.shape)}")
    if mode == "bicubic" and n != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if x.dtype is not grid.dtype:
        raise RuntimeError(f"grid_sampler(): expected input and grid to have same dtype, but input has {x.dtype!r} and grid has {grid.dtype!r}")
    kind = x.dtype
    if mode == "bicubic" and x._a.dtype in REDUCED:
        x, grid = cast(x, float32), cast(grid, float32)
    # in the other modes places in 16-bit floats are rounded at every step, as PyTorch rounds them: that decides between neighbours
    raw = [_unnormalized(grid[..., n - 1 - k], x.shape[2 + k], align_corners) for k in range(n)]
    if x._a.dtype in REDUCED:
        x, raw = cast(x, float32), [cast(at, float32) for at in raw]
    if mode == "bicubic":
        return cast(_sample_cubic(x, raw, padding_mode, align_corners), kind)
    places = [_bounded(at, size, padding_mode, align_corners) for at, size in zip(raw, x.shape[2:])]
    if mode == "nearest":
        return cast(_sample_nearest(x, [at.detach().round() for at in places], grid), kind)
    return cast(_sample_linear(x, places), kind)


_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _by_number(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    return grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


@op(autocast="float32")
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op(autocast="float32")
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` of images, with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op(autocast="float32")
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` of volumes, with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op(namespaces=FUNCTIONAL)
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid (batch, *sizes, n) of an affine map, for `grid_sample`: theta (batch, n, n + 1), size (batch, channels, *sizes)."""
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if "
                      "the old behavior is desired. See the documentation of grid_sample for details.", stacklevel=3)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if theta.dim() != 3 or n not in (2, 3) or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {tuple(size)}. Got {tuple(theta.shape)}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return _affine_grid(theta, size, align_corners)


@op()
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid` with all arguments given."""
    return affine_grid(theta, size, align_corners)


def _affine_grid(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    n = len(size) - 2
    sizes = tuple(int(s) for s in size[2:])
    base = theta.new_ones((*sizes, n + 1))
    for k, s in enumerate(reversed(sizes)):
        steps = [(2 * i + 1) / s - 1 if not align_corners else (2 * i / (s - 1) - 1 if s > 1 else 0.0) for i in range(s)]
        base[..., k] = theta.new_tensor(steps).reshape([-1 if d == n - 1 - k else 1 for d in range(n)])
    flat = base.reshape(1, -1, n + 1).expand(theta.shape[0], -1, -1)
    return flat.bmm(theta.transpose(1, 2)).reshape(theta.shape[0], *sizes, n)
