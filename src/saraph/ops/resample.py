"""Resizing and sampling images: interpolate, grid_sample, affine_grid, pixel shuffles, sliding blocks.

Resizing works along one dimension after the other: nearest modes pick elements, the others multiply by a matrix of weights (out, in).
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, float32
from saraph.ops.indexing import _select as select_positions
from saraph.ops.pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, along, spread
from saraph.ops.promotion import cast, check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

FUNCTIONAL = "nn.functional"

# -- interpolate -----------------------------------------------------------------------------------------------------------------


def _source(i: int, scale: float, align: bool, cubic: bool) -> float:
    """Where output element i lies in the input."""
    if align:
        return scale * i
    at = scale * (i + 0.5) - 0.5
    return at if cubic else max(at, 0.0)


def _scale(size: int, out: int, align: bool, given: float | None) -> float:
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / given if given is not None and given > 0 else size / out


def _cubic(t: float, a: float = -0.75) -> list[float]:
    """Weights of the four neighbours at distances 1 + t, t, 1 - t, 2 - t (Keys 1981)."""
    def near(x: float) -> float:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: float) -> float:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _linear_rows(size: int, out: int, align: bool, given: float | None) -> list[list[float]]:
    scale = _scale(size, out, align, given)
    rows = []
    for i in range(out):
        at = _source(i, scale, align, False)
        low = min(int(at), size - 1)
        high = min(low + 1, size - 1)
        weight = min(max(at - low, 0.0), 1.0)
        row = [0.0] * size
        row[low] += 1.0 - weight
        row[high] += weight
        rows.append(row)
    return rows


def _cubic_rows(size: int, out: int, align: bool, given: float | None) -> list[list[float]]:
    scale = _scale(size, out, align, given)
    rows = []
    for i in range(out):
        at = _source(i, scale, align, True)
        low = math.floor(at)
        row = [0.0] * size
        for k, w in enumerate(_cubic(at - low)):
            row[min(max(low - 1 + k, 0), size - 1)] += w
        rows.append(row)
    return rows


def _antialias_rows(size: int, out: int, align: bool, given: float | None, cubic: bool) -> list[list[float]]:
    """The filter is stretched by the scale when shrinking, as Pillow's is."""
    scale = _scale(size, out, align, given)
    support = (2.0 if cubic else 1.0) * max(scale, 1.0)
    stretch = 1.0 / scale if scale >= 1.0 else 1.0
    rows = []
    for i in range(out):
        centre = scale * (i + 0.5)
        first, last = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), size)
        weights = [_filter((j - centre + 0.5) * stretch, cubic) for j in range(first, last)]
        total = sum(weights) or 1.0
        row = [0.0] * size
        for j, w in zip(range(first, last), weights):
            row[j] = w / total
        rows.append(row)
    return rows


def _filter(x: float, cubic: bool) -> float:
    x = abs(x)
    if not cubic:
        return max(1.0 - x, 0.0)
    a = -0.5
    if x < 1.0:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2.0 else 0.0


def _by_rows(x: Tensor, sizes: tuple[int, ...], align: bool, scales: Any, rows: Callable) -> Tensor:
    n = len(sizes)
    for k in range(n):
        d = x.dim() - n + k
        if x.shape[d] != sizes[k] or scales[k] is not None:
            x = along(x, d, x.new_tensor(rows(x.shape[d], sizes[k], align, scales[k])))
    return x


def _nearest(x: Tensor, sizes: tuple[int, ...], scales: Any, exact: bool) -> Tensor:
    n = len(sizes)
    for k in range(n):
        d = x.dim() - n + k
        size = x.shape[d]
        scale = 1.0 / scales[k] if scales[k] is not None and scales[k] > 0 else size / sizes[k]
        picks = [min(int((i + 0.5) * scale) if exact else int(i * scale), size - 1) for i in range(sizes[k])]
        x = select_positions(x, d, of(x._a).positions(picks))
    return x


_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


@op(namespaces=FUNCTIONAL)
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
                recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """Resize (batch, channels, *spatial) to `size`, or by `scale_factor`.

    Modes: nearest, nearest-exact, area, linear (3-d), bilinear and bicubic (4-d), trilinear (5-d).
    """
    x = check_tensor(input, "interpolate")
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    n = x.dim() - 2
    if n < 1 or n > 3:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.dim()}D) for the modes: nearest | linear | bilinear | "
                                  f"bicubic | trilinear | area | nearest-exact (got {mode})")
    sizes, scales = _sizes(x, n, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and n == 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if any(s <= 0 for s in (*sizes, *x.shape[2:])):
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input (H: {x.shape[2]}, W: {x.shape[-1]}) output (H: {sizes[0]}, W: "
                           f"{sizes[-1]})")
    if x.shape[1] == 0:
        raise RuntimeError(f"Non-empty {x.dim()}D data tensor expected but got a tensor with sizes {list(x.shape)}")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](x, sizes)
    if mode in ("nearest", "nearest-exact"):
        return _nearest(x, sizes, scales, mode == "nearest-exact")
    if mode not in _RANKS:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.dim()}D) for the modes: nearest | linear | bilinear | "
                                  f"bicubic | trilinear | area | nearest-exact (got {mode})")
    if x.dim() != _RANKS[mode]:
        raise NotImplementedError(f"Got {x.dim()}D input, but {mode} mode needs {_RANKS[mode]}D input")
    return _smooth(x, sizes, scales, mode, bool(align_corners), antialias)


def _smooth(x: Tensor, sizes: tuple[int, ...], scales: Any, mode: str, align: bool, antialias: bool) -> Tensor:
    kind = x.dtype
    if x._a.dtype.kind in "biuc" and kind.name != "uint8":
        raise RuntimeError(f'"upsample_{mode}" not implemented for {kind.name!r}: convert the input with .float()')
    wide = cast(x, float32) if x._a.dtype in REDUCED or x._a.dtype.kind in "iu" else x
    if antialias:
        y = _by_rows(wide, sizes, align, scales, lambda *a: _antialias_rows(*a, mode == "bicubic"))
    else:
        y = _by_rows(wide, sizes, align, scales, _cubic_rows if mode == "bicubic" else _linear_rows)
    if kind.name == "uint8":
        y = y.round().clamp(0, 255)
    return cast(y, kind) if y is not x else x.clone()


def _sizes(x: Tensor, n: int, size: Any, scale_factor: Any, recompute: bool | None) -> tuple[tuple[int, ...], list[float | None]]:
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        values = tuple(size) if isinstance(size, (tuple, list)) else (size,) * n
        if len(values) != n:
            raise ValueError(f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                             f"{list(x.shape[2:])} and output size of {list(values)}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                             "output size in (o1, o2, ...,oK) format.")
        return tuple(int(v) for v in values), [None] * n
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
    if len(factors) != n:
        raise ValueError(f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
                         f"{list(x.shape[2:])} and scale_factor of shape {list(factors)}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                         "scale_factor in (s1, s2, ...,sK) format.")
    sizes = tuple(int(math.floor(float(s) * float(f))) for s, f in zip(x.shape[2:], factors))
    return sizes, [None] * n if recompute else [float(f) for f in factors]


@op(namespaces=FUNCTIONAL)
def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """The old name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(namespaces=FUNCTIONAL)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


@op(namespaces=FUNCTIONAL)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# -- sampling at given places ------------------------------------------------------------------------------------------------------


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


def _pick(x: Tensor, places: list[Tensor]) -> Tensor:
    """x (batch, channels, *sizes) at integer places (batch, *out) per dimension; 0 where they lie outside."""
    sizes = x.shape[2:]
    inside, flat = None, None
    for at, size in zip(places, sizes):
        ok = (at >= 0) & (at <= size - 1)
        inside = ok if inside is None else inside & ok
        safe = at.masked_fill(~ok, 0).long()
        flat = safe if flat is None else flat * size + safe
    batch, channels = x.shape[:2]
    out = flat.shape[1:]
    index = flat.reshape(batch, 1, -1).expand(batch, channels, -1)
    values = x.reshape(batch, channels, -1).gather(2, index).reshape(batch, channels, *out)
    return values.masked_fill(~inside.unsqueeze(1), 0)


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


@op(namespaces=FUNCTIONAL)
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
    if x._a.dtype in REDUCED:
        x, grid = cast(x, float32), cast(grid, float32)
    raw = [_unnormalized(grid[..., n - 1 - k], x.shape[2 + k], align_corners) for k in range(n)]
    if mode == "bicubic":
        return cast(_sample_cubic(x, raw, padding_mode, align_corners), kind)
    places = [_bounded(at, size, padding_mode, align_corners) for at, size in zip(raw, x.shape[2:])]
    if mode == "nearest":
        return cast(_pick(x, [at.detach().round() for at in places]), kind)
    return cast(_sample_linear(x, places), kind)


_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _by_number(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    return grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


@op()
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op()
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` of images, with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op()
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` of volumes, with its modes as numbers."""
    return _by_number(input, grid, interpolation_mode, padding_mode, align_corners)


@op(namespaces=FUNCTIONAL)
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid (batch, *sizes, n) of an affine map: theta (batch, n, n + 1), size (batch, channels, *sizes)."""
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
    sizes = tuple(int(s) for s in size[2:])
    base = theta.new_ones((*sizes, n + 1))
    for k, s in enumerate(reversed(sizes)):
        steps = [(2 * i + 1) / s - 1 if not align_corners else (2 * i / (s - 1) - 1 if s > 1 else 0.0) for i in range(s)]
        base[..., k] = theta.new_tensor(steps).reshape([-1 if d == n - 1 - k else 1 for d in range(n)])
    flat = base.reshape(1, -1, n + 1).expand(theta.shape[0], -1, -1)
    return flat.bmm(theta.transpose(1, 2)).reshape(theta.shape[0], *sizes, n)


# -- pixels and blocks ---------------------------------------------------------------------------------------------------------------


@op(namespaces=(FUNCTIONAL, "torch"))
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C r^2, H, W) -> (*, C, H r, W r)."""
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
                           f"input.size(-3)={c} is not divisible by {r * r}")
    k = len(lead)
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    return x.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2).reshape(*lead, c // (r * r), h * r, w * r)


@op(namespaces=(FUNCTIONAL, "torch"))
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H r, W r) -> (*, C r^2, H, W)."""
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, c, h, w = input.shape
    for name, size in (("height", h), ("width", w)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({-2 if name == 'height' else -1})={size} "
                               f"is not divisible by {r}")
    k = len(lead)
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    return x.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


@op(namespaces=(FUNCTIONAL, "torch"))
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of `groups` groups, dealt out in turn."""
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} groups.")
    shape = input.shape
    return input.reshape(shape[0], groups, shape[1] // groups, *shape[2:]).transpose(1, 2).reshape(shape)


@derivative("Im2ColBackward0")
def Im2ColBackward(node: Any, g: Tensor) -> Tensor:
    return _fold(g, node.sizes, node.geometry)


@derivative("Col2ImBackward0")
def Col2ImBackward(node: Any, g: Tensor) -> Tensor:
    return _unfold(g, node.geometry)


def _unfold(x: Tensor, geometry: tuple) -> Tensor:
    return record(of(x._a).im2col(x._a, *geometry), Im2ColBackward, (x,), sizes=tuple(x.shape[2:]), geometry=geometry)


def _fold(x: Tensor, sizes: tuple[int, ...], geometry: tuple) -> Tensor:
    return record(of(x._a).col2im(x._a, sizes, *geometry), Col2ImBackward, (x,), geometry=geometry)


def _block_geometry(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple:
    found = tuple(spread(v, 2, f"{name}: {label}") for v, label in
                  ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride")))
    for values, label in zip(found, ("kernel", "dilation", "padding", "stride")):
        if any(v < 0 or (v == 0 and label != "padding") for v in values):
            raise RuntimeError(f"{label} {'size ' if label == 'kernel' else ''}should be greater than zero, but got {values}")
    return found


def _block_counts(sizes: Any, geometry: tuple) -> tuple[int, ...]:
    kernel, dilation, padding, stride = geometry
    return tuple((s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, d, p, t in zip(sizes, kernel, dilation, padding, stride))


@op(name="unfold", namespaces=FUNCTIONAL)
def unfold_blocks(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of (batch, channels, h, w) as columns: (batch, channels * kernel, blocks)."""
    x = check_tensor(input, "unfold")
    geometry = _block_geometry("unfold", kernel_size, dilation, padding, stride)
    if x.dim() not in (3, 4) or 0 in x.shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")
    if any(c < 1 for c in _block_counts(x.shape[-2:], geometry)):
        raise RuntimeError(f"Given input with spatial size {tuple(x.shape[-2:])}, kernel_size={geometry[0]}, dilation={geometry[1]}, padding={geometry[2]}, "
                           f"calculated shape of the array of sliding blocks as {_block_counts(x.shape[-2:], geometry)}, but its components must be at "
                           "least one.")
    return _unfold(x, geometry) if x.dim() == 4 else _unfold(x.unsqueeze(0), geometry).squeeze(0)


@op(namespaces=FUNCTIONAL)
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns (batch, channels * kernel, blocks) added back into (batch, channels, *output_size)."""
    x = check_tensor(input, "fold")
    geometry = _block_geometry("fold", kernel_size, dilation, padding, stride)
    sizes = spread(output_size, 2, "fold: output_size")
    if x.dim() not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")
    kernel = geometry[0][0] * geometry[0][1]
    if x.shape[-2] % kernel:
        raise RuntimeError(f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={x.shape[-2]} and "
                           f"kernel_size={geometry[0]}.")
    counts = _block_counts(sizes, geometry)
    if counts[0] * counts[1] != x.shape[-1] or min(counts) < 1:
        raise RuntimeError(f"Given output_size={sizes}, kernel_size={geometry[0]}, dilation={geometry[1]}, padding={geometry[2]}, stride={geometry[3]}, "
                           f"expected size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * {counts[1]} = "
                           f"{counts[0] * counts[1]}, but got input.size(2)={x.shape[-1]}.")
    return _fold(x, sizes, geometry) if x.dim() == 3 else _fold(x.unsqueeze(0), sizes, geometry).squeeze(0)
