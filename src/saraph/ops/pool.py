"""Pooling over windows of (batch, channels, *spatial) or (channels, *spatial): maxima, averages, p-norms; adaptive and fractional forms."""
from __future__ import annotations

import math
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED, float32
from saraph.ops.promotion import cast, check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many, wrap

FUNCTIONAL = "nn.functional"


def spread(value: Any, n: int, name: str) -> tuple[int, ...]:
    """One int per spatial dimension."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(values) == 1:
        values = values * n
    if len(values) != n:
        raise RuntimeError(f"{name} must be a single int or a tuple of {n} ints, got {tuple(values)}")
    return tuple(int(v) for v in values)


def window_count(size: int, kernel: int, stride: int, before: int, after: int, dilation: int, ceil: bool) -> int:
    """How many windows fit (with `ceil`, a last one that starts within the input or its left padding may stick out)."""
    span = size + before + after - dilation * (kernel - 1) - 1
    count = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    return count


class Windows:
    """The geometry of a pooling: read, checked and normal."""

    __slots__ = ("kernel", "stride", "padding", "dilation", "out", "n")

    def __init__(self, name: str, x: Tensor, n: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool):
        self.n = n
        self.kernel = spread(kernel, n, f"{name}: kernel_size")
        self.stride = self.kernel if stride is None or (isinstance(stride, (tuple, list)) and not stride) else spread(stride, n, f"{name}: stride")
        self.padding, self.dilation = spread(padding, n, f"{name}: padding"), spread(dilation, n, f"{name}: dilation")
        if x.dim() not in (n + 1, n + 2):
            raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D input, but got a tensor of size {list(x.shape)}")
        for k, s, p, d in zip(self.kernel, self.stride, self.padding, self.dilation):
            if k <= 0:
                raise RuntimeError(f"{name}: kernel size should be greater than zero, but got {self.kernel}")
            if s <= 0:
                raise RuntimeError(f"{name}: stride should be greater than zero, but got {self.stride}")
            if d <= 0:
                raise RuntimeError(f"{name}: dilation should be greater than zero, but got {self.dilation}")
            if p < 0 or p > ((k - 1) * d + 1) // 2:
                raise RuntimeError(f"{name}: pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
                                   if p >= 0 else f"{name}: padding must be non-negative, but got pad={p}")
        sizes = x.shape[-n:]
        for size in x.shape[1:] if x.dim() == n + 2 else x.shape:
            if size == 0:
                raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got: "
                                   f"{list(x.shape)}")
        self.out = tuple(window_count(z, k, s, p, p, d, ceil) for z, k, s, p, d in
                         zip(sizes, self.kernel, self.stride, self.padding, self.dilation))
        if any(o < 1 for o in self.out):
            raise RuntimeError(f"Given input size: ({'x'.join(map(str, x.shape[-n - 1:]))}). Calculated output size: ({x.shape[-n - 1]}x"
                               f"{'x'.join(map(str, self.out))}). Output size is too small")


# -- maxima -------------------------------------------------------------------------------------------------------------------


@derivative("MaxPoolNdWithIndicesBackward0")
def MaxPoolBackward(node: Any, g: Tensor, _: Any = None) -> Tensor | None:
    return None if g is None else place_maxima(g, node.index, node.shape, node.windows)


@derivative("PlaceMaximaBackward0")
def PlaceMaximaBackward(node: Any, g: Tensor) -> Tensor:
    return take_maxima(g, node.index, node.windows.n)


def place_maxima(g: Tensor, index: Any, shape: tuple[int, ...], windows: Any) -> Tensor:
    """Zeros of the input's shape with g added where the maxima were."""
    r = of(g._a).place_maxima(g._a, index, shape, windows.kernel, windows.stride, windows.padding, windows.dilation)
    return record(r, PlaceMaximaBackward, (g,), index=index, windows=windows)


def take_maxima(x: Tensor, index: Any, n: int) -> Tensor:
    """x at flat positions of its last n dimensions."""
    return x.flatten(-n).gather(-1, wrap(index).flatten(-n)).reshape(index.shape)


def _max_pool(name: str, input: Tensor, n: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> tuple[Tensor, Tensor]:
    x = check_tensor(input, name)
    if x._a.dtype.kind in "bc":
        raise RuntimeError(f'"{name}" not implemented for {str(x.dtype).removeprefix("torch.")!r}')
    w = Windows(name, x, n, kernel, stride, padding, dilation, ceil)
    a = x._a
    values, index = of(a).max_pool(a, w.kernel, w.stride, w.padding, w.dilation, w.out)
    return record_many((values, index), MaxPoolBackward, (x,), differentiable=(0,), index=index, shape=a.shape, windows=w)


def _declare_max_pool(n: int) -> None:
    name = f"max_pool{n}d"

    def with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
                     return_indices: bool = True) -> tuple[Tensor, Tensor]:
        return _max_pool(name, input, n, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
             return_indices: bool = False) -> Any:
        values, index = _max_pool(name, input, n, kernel_size, stride, padding, dilation, ceil_mode)
        return (values, index) if return_indices else values

    with_indices.__name__ = f"{name}_with_indices"
    with_indices.__doc__ = f"The maxima of {n}-d windows, and their flat positions."
    pool.__name__ = name
    pool.__doc__ = f"The maxima of {n}-d windows (and their flat positions if `return_indices`)."
    op(namespaces=(FUNCTIONAL, "torch") if n == 1 else FUNCTIONAL)(with_indices)
    op(namespaces=(FUNCTIONAL, "torch"))(pool)


for _n in (1, 2, 3):
    _declare_max_pool(_n)


# -- averages -----------------------------------------------------------------------------------------------------------------


@derivative("AvgPoolNdBackward0")
def AvgPoolBackward(node: Any, g: Tensor) -> Tensor:
    return spread_average(g, node.shape, node.windows, node.divisors)


@derivative("SpreadAverageBackward0")
def SpreadAverageBackward(node: Any, g: Tensor) -> Tensor:
    return _average(g, node.windows, node.divisors)


def spread_average(g: Tensor, shape: tuple[int, ...], windows: Windows, divisors: Any) -> Tensor:
    """g divided by the windows' sizes, added to every element of its window."""
    r = of(g._a).spread_average(g._a, shape, windows.kernel, windows.stride, windows.padding, divisors)
    return record(r, SpreadAverageBackward, (g,), windows=windows, divisors=divisors)


def _average(x: Tensor, windows: Windows, divisors: Any) -> Tensor:
    r = of(x._a).avg_pool(x._a, windows.kernel, windows.stride, windows.padding, windows.out, divisors)
    return record(r, AvgPoolBackward, (x,), shape=x._a.shape, windows=windows, divisors=divisors)


def _divisors(sizes: Any, w: Windows, include_pad: bool, override: int | None) -> tuple[Any, ...]:
    """For every dimension how many elements each window counts (the divisor is their product), or one divisor for all."""
    if override is not None:
        return (int(override),)
    counts = []
    for size, k, s, p, o in zip(sizes, w.kernel, w.stride, w.padding, w.out):
        row = []
        for i in range(o):
            start = i * s - p
            end = min(start + k, size + p)
            row.append(end - start if include_pad else min(end, size) - max(start, 0))
        counts.append(tuple(row))
    return tuple(counts)


def _avg_pool(name: str, input: Tensor, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, include_pad: bool, override: Any) -> Tensor:
    x = check_tensor(input, name)
    if x._a.dtype.kind in "bc":
        raise RuntimeError(f'"{name}" not implemented for {str(x.dtype).removeprefix("torch.")!r}')
    if override is not None and override == 0:
        raise RuntimeError("divisor must be not zero")
    w = Windows(name, x, n, kernel, stride, padding, 1, ceil)
    return _average(x, w, _divisors(x.shape[-n:], w, include_pad, override))


@op(namespaces=(FUNCTIONAL, "torch"))
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Tensor:
    """The averages of 1-d windows."""
    return _avg_pool("avg_pool1d", input, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@op(namespaces=FUNCTIONAL)
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The averages of 2-d windows."""
    return _avg_pool("avg_pool2d", input, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@op(namespaces=FUNCTIONAL)
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The averages of 3-d windows."""
    return _avg_pool("avg_pool3d", input, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp_pool(n: int, input: Tensor, p: float, kernel: Any, stride: Any, ceil: bool) -> Tensor:
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1](input.pow(p), kernel, stride, 0, ceil)
    count = math.prod(spread(kernel, n, "lp_pool: kernel_size"))
    return (average.sign() * average.abs().relu() * count).pow(1.0 / p)


@op(namespaces=FUNCTIONAL)
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of 1-d windows."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@op(namespaces=FUNCTIONAL)
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of 2-d windows."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@op(namespaces=FUNCTIONAL)
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of 3-d windows."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


# -- adaptive -----------------------------------------------------------------------------------------------------------------


def _output_size(name: str, x: Tensor, n: int, output_size: Any) -> tuple[int, ...]:
    if x.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(x.shape)}")
    values = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if len(values) != n:
        raise RuntimeError(f"{name}: internal error: output_size.size() must be {n}, got {values}")
    if x.dim() == n + 2 and any(s == 0 for s in x.shape[1:]) or x.dim() == n + 1 and 0 in x.shape:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(x.shape)}")
    found = tuple(int(x.shape[i - n]) if v is None else int(v) for i, v in enumerate(values))
    if any(v < 0 for v in found):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {values}")
    return found


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _adaptive_average(name: str, input: Tensor, n: int, output_size: Any) -> Tensor:
    """Averages along one dimension after the other: by reshaping where windows are equal, else by a matrix of weights."""
    x = check_tensor(input, name)
    if x._a.dtype in REDUCED:
        return cast(_adaptive_average(name, cast(x, float32), n, output_size), x.dtype)
    if x._a.dtype.kind in "biuc":
        raise RuntimeError(f'"{name}" not implemented for {str(x.dtype).removeprefix("torch.")!r}')
    for i, count in enumerate(_output_size(name, x, n, output_size)):
        d = x.dim() - n + i
        size = x.shape[d]
        if count == size:
            continue
        if count == 1:
            x = x.mean(d, keepdim=True)
        elif count and size % count == 0:
            x = x.unflatten(d, (count, size // count)).mean(d + 1)
        else:
            weights = [[1.0 / (hi - lo) if lo <= j < hi else 0.0 for j in range(size)] for lo, hi in _bounds(size, count)]
            x = along(x, d, x.new_tensor(weights).reshape(count, size))
    return x if x is not input else x.clone()


def along(x: Tensor, d: int, matrix: Tensor) -> Tensor:
    """matrix (out, in) applied along dimension d."""
    return (x.transpose(d, -1) @ matrix.t()).transpose(d, -1)


@op(namespaces=(FUNCTIONAL, "torch"))
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that make `output_size` of them."""
    return _adaptive_average("adaptive_avg_pool1d", input, 1, output_size)


@op(namespaces=FUNCTIONAL)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that make (height, width) of them; None keeps a size."""
    return _adaptive_average("adaptive_avg_pool2d", input, 2, output_size)


@op(namespaces=FUNCTIONAL)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that make (depth, height, width) of them; None keeps a size."""
    return _adaptive_average("adaptive_avg_pool3d", input, 3, output_size)


def _adaptive_max(name: str, input: Tensor, n: int, output_size: Any, return_indices: bool) -> Any:
    x = check_tensor(input, name)
    if x._a.dtype.kind in "bc":
        raise RuntimeError(f'"{name}" not implemented for {str(x.dtype).removeprefix("torch.")!r}')
    counts = _output_size(name, x, n, output_size)
    starts = tuple(tuple(_bounds(x.shape[i - n], c)) for i, c in enumerate(counts))
    index = of(x._a).window_argmax(x._a, starts)
    values = take_maxima(x, index, n)
    return (values, wrap(index)) if return_indices else values


def _declare_adaptive_max(n: int) -> None:
    def pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        return _adaptive_max(f"adaptive_max_pool{n}d", input, n, output_size, return_indices)

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = True) -> Any:
        return _adaptive_max(f"adaptive_max_pool{n}d", input, n, output_size, True)

    pool.__name__ = f"adaptive_max_pool{n}d"
    pool.__doc__ = f"Maxima over {n}-d windows that make `output_size` of them."
    with_indices.__name__ = f"adaptive_max_pool{n}d_with_indices"
    with_indices.__doc__ = "The maxima and their flat positions."
    op(namespaces=FUNCTIONAL)(pool)
    op(namespaces=FUNCTIONAL)(with_indices)


for _n in (1, 2, 3):
    _declare_adaptive_max(_n)


@op(name="adaptive_max_pool1d", namespaces="torch")
def _torch_adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """`nn.functional.adaptive_max_pool1d` with indices."""
    return _adaptive_max("adaptive_max_pool1d", input, 1, output_size, True)


# -- fractional, and unpooling -----------------------------------------------------------------------------------------------


def _fractional_starts(size: int, count: int, kernel: int, sample: float) -> list[int]:
    """Where the windows of one dimension begin (Graham 2014, pseudo-random sequence)."""
    if count == 1:
        return [size - kernel]
    alpha = (size - kernel) / (count - 1)
    return [int((i + sample) * alpha) - int(sample * alpha) for i in range(count - 1)] + [size - kernel]


def _fractional(name: str, input: Tensor, n: int, kernel_size: Any, output_size: Any, output_ratio: Any, return_indices: bool,
                samples: Tensor | None) -> Any:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    x = check_tensor(input, name)
    kernel = spread(kernel_size, n, f"{name}: kernel_size")
    sizes = x.shape[-n:]
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        if len(ratios) > n:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = tuple(int(s * r) for s, r in zip(sizes, ratios))
    out = spread(output_size, n, f"{name}: output_size")
    for s, k, o in zip(sizes, kernel, out):
        if o + k - 1 > s:
            raise RuntimeError(f"{name}(): pool size {k} too large relative to input size {s} and output size {o}")
    batched = x if x.dim() == n + 2 else x.unsqueeze(0)
    if samples is None:
        samples = x.new_empty((batched.shape[0], batched.shape[1], n)).uniform_()
    rows = samples.tolist()
    index = batched.new_zeros((*batched.shape[:2], *out)).long()
    for b in range(batched.shape[0]):
        for c in range(batched.shape[1]):
            order = range(n - 1, -1, -1) if n == 2 else range(n)
            starts = [_fractional_starts(sizes[d], out[d], kernel[d], rows[b][c][k]) for d, k in zip(range(n), order)]
            windows = tuple(tuple((s, s + k) for s in row) for row, k in zip(starts, kernel))
            index[b, c] = wrap(of(x._a).window_argmax(batched[b, c]._a, windows))
    values = take_maxima(batched, index._a, n)
    if x.dim() != n + 2:
        values, index = values.squeeze(0), index.squeeze(0)
    return (values, index) if return_indices else values


def _declare_fractional(n: int) -> None:
    name = f"fractional_max_pool{n}d"

    def pool(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
             _random_samples: Tensor | None = None) -> Any:
        return _fractional(name, input, n, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = True,
                     _random_samples: Tensor | None = None) -> Any:
        return _fractional(name, input, n, kernel_size, output_size, output_ratio, True, _random_samples)

    pool.__name__, with_indices.__name__ = name, f"{name}_with_indices"
    pool.__doc__ = "Maxima over windows whose places are drawn at random (Graham 2014)."
    with_indices.__doc__ = "The maxima and their flat positions."
    op(namespaces=FUNCTIONAL)(pool)
    op(namespaces=FUNCTIONAL)(with_indices)


for _n in (2, 3):
    _declare_fractional(_n)


def _unpool(name: str, input: Tensor, indices: Tensor, n: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> Tensor:
    kernel = spread(kernel_size, n, f"{name}: kernel_size")
    steps = kernel if stride is None else spread(stride, n, f"{name}: stride")
    pads = spread(padding, n, f"{name}: padding")
    if indices.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype!r}")
    if indices.shape != input.shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices tensor with shape: "
                           f"{list(indices.shape)}")
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Input to {name} should be a {n + 1}d or {n + 2}d Tensor, but got {list(input.shape)}")
    usual = [(s - 1) * t + k - 2 * p for s, t, k, p in zip(input.shape[-n:], steps, kernel, pads)]
    if output_size is None:
        size = usual
    else:
        size = list(output_size)
        if len(size) == n + 2 or len(size) == n + 1:
            size = size[-n:]
        if len(size) != n:
            raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(size)}'")
        for d, (wanted, u, t) in enumerate(zip(size, usual, steps)):
            if not u - t < wanted < u + t:
                raise ValueError(f"invalid output_size {size!r} (dim {d} must be between {u - t} and {u + t})")
    total = math.prod(size)
    flat = indices.flatten(-n)
    if flat.numel() and (int(flat.min()) < 0 or int(flat.max()) >= total):
        raise RuntimeError(f"Found an invalid max index: {int(flat.max())} (output volumes are of size {'x'.join(map(str, size))}")
    empty = input.new_zeros((*input.shape[:-n], total))
    return empty.scatter(-1, flat, input.flatten(-n)).reshape(*input.shape[:-n], *size)


@op(namespaces=FUNCTIONAL)
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool1d` were, zeros elsewhere."""
    return _unpool("max_unpool1d", input, indices, 1, kernel_size, stride, padding, output_size)


@op(namespaces=FUNCTIONAL)
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool2d` were, zeros elsewhere."""
    return _unpool("max_unpool2d", input, indices, 2, kernel_size, stride, padding, output_size)


@op(namespaces=FUNCTIONAL)
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool3d` were, zeros elsewhere."""
    return _unpool("max_unpool3d", input, indices, 3, kernel_size, stride, padding, output_size)
