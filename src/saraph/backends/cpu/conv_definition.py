"""Convolution in NumPy, in any number of spatial dimensions: the judge of the kernels, and what serves where there are none.

    convolution              y from x and w         x (N, C, *S), w (O, C / groups, *K) -> (N, O, *L)
    convolution_input_grad   x from y and w         also the transposed convolution
    convolution_weight_grad  w from x and y

Windows are laid out as columns for a few samples at a time, so that memory stays bounded and the columns stay in the cache, and BLAS
multiplies them. Arrays with their channels innermost are worked on in that order. Convolutions with one channel a group are summed tap by tap.
16-bit floats go through float32.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from saraph.backends.cpu.matmul import matmul
from saraph.backends.cpu.windows import (
    Ints,
    add_columns,
    channels_first,
    channels_last,
    empty_like_layout,
    interior,
    is_channels_last,
    padded,
    tap_slices,
    taps,
    window_counts,
    windows,
)
from saraph.dtypes import REDUCED

float32 = np.dtype(np.float32)
BLAS = "fdFD"
COLUMN_BYTES = 1 << 22  # of columns at a time
DEPTHWISE_BYTES = 1 << 18  # of one operand, where taps are summed one by one
DIRECT_WINDOWS = 256  # windows a sample from which on one product a sample is fast enough
every = slice(None)


def _product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """a @ b, into `out` where BLAS can write there."""
    if a.dtype.char in BLAS:
        return np.matmul(a, b, out=out)
    r = matmul(a, b)
    if out is None:
        return r
    out[...] = r
    return out


def _samples(bytes_each: int, batch: int, count: int) -> int:
    """How many samples to work on at a time: one where a sample has many windows, else what fits."""
    if count >= DIRECT_WINDOWS:
        return 1
    return max(1, min(batch, COLUMN_BYTES // max(bytes_each, 1)))


class _Padder:
    """A border of zeros around the spatial dimensions of a few samples at a time, in memory that is used again."""

    def __init__(self, x: np.ndarray, padding: Ints, samples: int):
        self.padding, self.inside = padding, None
        if any(padding):
            size = x.shape[2:]
            self.memory = empty_like_layout(x, (samples, x.shape[1], *[n + 2 * p for n, p in zip(size, padding)]))
            self.memory[...] = 0
            self.inside = interior(padding, size)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if self.inside is None:
            return x
        wide = self.memory[: len(x)]
        wide[self.inside] = x
        return wide


# -- forward -----------------------------------------------------------------------------------------------------------------------


def convolution(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    kind = x.dtype
    if kind in REDUCED:
        wide = None if bias is None else bias.astype(float32)
        return convolution(x.astype(float32), w.astype(float32), wide, stride, padding, dilation, groups).astype(kind)
    if kind.kind == "c":
        out = _complex(convolution, x, w, None, stride, padding, dilation, groups)
        return out if bias is None else np.add(out, bias.reshape(-1, *[1] * (out.ndim - 2)), out=out)
    last = is_channels_last(x) or is_channels_last(w)
    counts = window_counts(x.shape[2:], w.shape[2:], stride, padding, dilation)
    out = np.empty((x.shape[0], *counts, w.shape[0]), kind) if last else np.empty((x.shape[0], w.shape[0], *counts), kind)
    out = channels_first(out) if last else out
    if out.size:
        if groups > 1 and x.shape[1] == groups:
            _depthwise(x, w, out, stride, padding, dilation)
        else:
            function = _rows_forward if last else _columns_forward
            for xg, wg, og in _groups(groups, (x, 1), (w, 0), (out, 1)):
                function(xg, wg, og, stride, padding, dilation, counts)
        if bias is not None:
            out += bias.reshape(-1, *[1] * len(counts))
    return out


def _complex(function: Any, x: np.ndarray, w: np.ndarray, *how: Any) -> np.ndarray:
    """A bilinear product of complex arrays from three of real ones (Gauss): real ac - bd, imaginary (a + b)(c + d) - ac - bd."""
    parts = [np.array(part, order="K") if is_channels_last(a) else part for a in (x, w) for part in (a.real, a.imag)]
    real, imaginary = function(parts[0], parts[2], *how), function(parts[1], parts[3], *how)
    both = function(parts[0] + parts[1], parts[2] + parts[3], *how)
    out = np.empty_like(real, x.dtype)
    np.subtract(real, imaginary, out=out.real)
    np.subtract(both - real, imaginary, out=out.imag)
    return out


def _groups(groups: int, *operands: tuple[np.ndarray, int]) -> Any:
    """The operands, cut along their channel axis into groups."""
    for g in range(groups):
        cut = []
        for a, axis in operands:
            each = a.shape[axis] // groups
            cut.append(a[(every,) * axis + (slice(g * each, (g + 1) * each),)] if groups > 1 else a)
        yield cut


def _is_pointwise(kernel: Ints, stride: Ints, padding: Ints) -> bool:
    return all(k == 1 for k in kernel) and all(s == 1 for s in stride) and not any(padding)


def _columns_forward(x: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints, counts: Ints) -> None:
    """One group, row-major: out[n] = W (O, C*K) @ columns (C*K, L)."""
    batch, channels, kernel = x.shape[0], x.shape[1], w.shape[2:]
    rows, count, outputs = channels * math.prod(kernel), math.prod(counts), w.shape[0]
    matrix = w.reshape(outputs, rows)
    if _is_pointwise(kernel, stride, padding) and x.flags.c_contiguous and out.flags.c_contiguous and count >= 32:
        _product(matrix, x.reshape(batch, channels, count), out.reshape(batch, outputs, count))
        return
    step = _samples(rows * count * x.itemsize, batch, count)
    pad = _Padder(x, padding, step)
    memory = np.empty((channels, *kernel, step, *counts), x.dtype)
    for start in range(0, batch, step):
        xs = pad(x[start : start + step])
        n = len(xs)
        columns = _columns(xs, memory, kernel, stride, dilation, counts)
        if n == 1:
            _product(matrix, columns, out[start].reshape(outputs, count))
        else:
            made = _product(matrix, columns).reshape(outputs, n, *counts)
            out[start : start + n] = made.swapaxes(0, 1)


def _columns(xs: np.ndarray, memory: np.ndarray, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints) -> np.ndarray:
    """The windows of padded samples as a matrix (C*K, n*L), written into memory (C, *K, samples, *L)."""
    n, rank = len(xs), len(kernel)
    view = windows(xs, kernel, stride, dilation, counts)
    view = view.transpose(*range(1, rank + 2), 0, *range(rank + 2, 2 * rank + 2))
    if n != memory.shape[rank + 1]:
        memory = np.empty((*memory.shape[: rank + 1], n, *counts), memory.dtype)
    np.copyto(memory, view)
    return memory.reshape(xs.shape[1] * math.prod(kernel), n * math.prod(counts))


def _rows_forward(x: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints, counts: Ints) -> None:
    """One group, channels innermost: out (n*L, O) = rows (n*L, K*C) @ W (K*C, O)."""
    batch, channels, kernel = x.shape[0], x.shape[1], w.shape[2:]
    width, count, outputs = channels * math.prod(kernel), math.prod(counts), w.shape[0]
    matrix = channels_last(w).reshape(outputs, width).T
    step = max(1, min(batch, COLUMN_BYTES // max(width * count * x.itemsize, 1)))
    pad = _Padder(x, padding, step)
    target = channels_last(out)
    for start in range(0, batch, step):
        rows = _rows(pad(x[start : start + step]), kernel, stride, dilation, counts)
        made = _product(rows, matrix)
        target[start : start + step] = made.reshape(-1, *counts, outputs)


def _rows(xs: np.ndarray, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints) -> np.ndarray:
    """The windows of padded samples as a matrix (n*L, K*C)."""
    rank = len(kernel)
    view = windows(xs, kernel, stride, dilation, counts)
    view = view.transpose(0, *range(rank + 2, 2 * rank + 2), *range(2, rank + 2), 1)
    return view.reshape(len(xs) * math.prod(counts), math.prod(kernel) * xs.shape[1])


def _few(bytes_each: int, batch: int) -> int:
    """How many samples a tap-by-tap sum works on at a time, to stay in the cache."""
    return max(1, min(batch, DEPTHWISE_BYTES // max(bytes_each, 1)))


def _tap_weights(w: np.ndarray, channels: int) -> np.ndarray:
    """A depthwise weight as (*K, channels, outputs a channel, 1, 1 ...), to multiply (n, channels, outputs a channel, *L)."""
    rank = w.ndim - 2
    by_tap = w.reshape(channels, w.shape[0] // max(channels, 1), *w.shape[2:]).transpose(*range(2, rank + 2), 0, 1)
    return by_tap.reshape(*by_tap.shape, *[1] * rank)


def _depthwise(x: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """One input channel a group: every tap's weight times the shifted input, added up for a few samples at a time."""
    batch, channels, counts = x.shape[0], x.shape[1], out.shape[2:]
    times = out.shape[1] // channels
    weights = _tap_weights(w, channels)
    step = _few(out[0].nbytes, batch)
    last = is_channels_last(out)
    for start in range(0, batch, step):
        xs = padded(x[start : start + step], padding)[:, :, None]
        shape = (len(xs), *counts, channels, times) if last else (len(xs), channels, times, *counts)
        total = np.zeros(shape, out.dtype)
        if last:  # channels innermost in memory
            rank = len(counts)
            total = total.transpose(0, rank + 1, rank + 2, *range(1, rank + 1))
        part = np.empty_like(total)
        for tap in taps(w.shape[2:]):
            shifted = xs[(every, every, every, *tap_slices(tap, stride, dilation, counts))]
            np.multiply(shifted, weights[tap], part)
            total += part
        out[start : start + step] = total.reshape(len(xs), out.shape[1], *counts)


# -- gradient of the input, transposed convolution -----------------------------------------------------------------------------------


def convolution_input_grad(g: np.ndarray, w: np.ndarray, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    """The adjoint of convolution in its input of that spatial size: g (N, O, *L), w (O, C / groups, *K) -> (N, C, *size)."""
    kind = g.dtype
    if kind in REDUCED:
        return convolution_input_grad(g.astype(float32), w.astype(float32), size, stride, padding, dilation, groups).astype(kind)
    if kind.kind == "c":
        return _complex(convolution_input_grad, g, w, size, stride, padding, dilation, groups)
    last = is_channels_last(g) or is_channels_last(w)
    batch, channels, kernel = g.shape[0], w.shape[1] * groups, w.shape[2:]
    depthwise = groups > 1 and w.shape[1] == 1
    mirrored = tuple([d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding)])
    if (not depthwise and all(s == 1 for s in stride) and min(mirrored) >= 0 and w.shape[0] <= 2 * channels and g.size
            and window_counts(g.shape[2:], kernel, stride, mirrored, dilation) == tuple(size)):
        return convolution(g, _mirror(w, groups), None, stride, mirrored, dilation, groups)
    out = np.zeros((batch, *size, channels) if last else (batch, channels, *size), kind)
    out = channels_first(out) if last else out
    if out.size and g.size:
        if depthwise:
            _depthwise_input(g, w, out, stride, padding, dilation)
            return out
        for gg, wg, og in _groups(groups, (g, 1), (w, 0), (out, 1)):
            (_rows_input if last else _columns_input)(gg, wg, og, stride, padding, dilation)
    return out


def _mirror(w: np.ndarray, groups: int) -> np.ndarray:
    """The weight whose convolution undoes the shifts of w's: kernels reversed, inputs and outputs exchanged (dense, in w's order)."""
    flipped = w[(every, every, *[slice(None, None, -1)] * (w.ndim - 2))]
    each = w.shape[0] // groups
    swapped = flipped.reshape(groups, each, *w.shape[1:]).swapaxes(1, 2).reshape(groups * w.shape[1], each, *w.shape[2:])
    return channels_first(np.ascontiguousarray(channels_last(swapped))) if is_channels_last(w) else np.ascontiguousarray(swapped)


def _columns_input(g: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """One group, row-major: columns (C*K, n*L) = W^T @ g (O, n*L), then added up where they came from."""
    batch, outputs, counts, kernel, channels = g.shape[0], g.shape[1], g.shape[2:], w.shape[2:], w.shape[1]
    rows, count, size = channels * math.prod(kernel), math.prod(counts), out.shape[2:]
    matrix = w.reshape(outputs, rows).T
    if _is_pointwise(kernel, stride, padding) and g.flags.c_contiguous and out.flags.c_contiguous and counts == size and count >= 32:
        _product(matrix, g.reshape(batch, outputs, count), out.reshape(batch, channels, count))
        return
    step = _samples(rows * count * g.itemsize, batch, count)
    for start in range(0, batch, step):
        gs = g[start : start + step]
        n = len(gs)
        side = gs.reshape(outputs, count) if n == 1 else gs.swapaxes(0, 1).reshape(outputs, n * count)
        columns = _product(matrix, side).reshape(channels, *kernel, n, *counts)
        rank = len(kernel)
        columns = columns.transpose(rank + 1, *range(rank + 1), *range(rank + 2, 2 * rank + 2))
        target = out[start : start + n]
        _add(target, columns, kernel, stride, padding, dilation, counts, size)


def _add(target: np.ndarray, columns: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, counts: Ints, size: Ints) -> None:
    if not any(padding):
        add_columns(target, columns, kernel, stride, dilation, counts)
        return
    shape = tuple([n + 2 * p for n, p in zip(size, padding)])
    wide = empty_like_layout(target, (*target.shape[:2], *shape))
    wide[...] = 0
    add_columns(wide, columns, kernel, stride, dilation, counts)
    target[...] = wide[interior(padding, size)]


def _rows_input(g: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """One group, channels innermost: rows (n*L, K*C) = g (n*L, O) @ W (O, K*C)."""
    batch, outputs, counts, kernel, channels = g.shape[0], g.shape[1], g.shape[2:], w.shape[2:], w.shape[1]
    width, count, size, rank = channels * math.prod(kernel), math.prod(counts), out.shape[2:], w.ndim - 2
    matrix = channels_last(w).reshape(outputs, width)
    step = max(1, min(batch, COLUMN_BYTES // max(width * count * g.itemsize, 1)))
    for start in range(0, batch, step):
        gs = channels_last(g[start : start + step])
        n = len(gs)
        rows = _product(gs.reshape(n * count, outputs), matrix).reshape(n, *counts, *kernel, channels)
        columns = rows.transpose(0, 2 * rank + 1, *range(rank + 1, 2 * rank + 1), *range(1, rank + 1))
        _add(out[start : start + n], columns, kernel, stride, padding, dilation, counts, size)


def _depthwise_input(g: np.ndarray, w: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    batch, counts, channels, size = g.shape[0], g.shape[2:], out.shape[1], out.shape[2:]
    times = w.shape[0] // channels
    weights = _tap_weights(w, channels)
    step = _few(g[0].nbytes, batch)
    for start in range(0, batch, step):
        gs = g[start : start + step]
        gs = gs.reshape(len(gs), channels, times, *counts)
        wide = np.zeros((len(gs), channels, *[m + 2 * p for m, p in zip(size, padding)]), g.dtype)
        part = np.empty_like(gs)
        for tap in taps(w.shape[2:]):
            np.multiply(gs, weights[tap], part)
            target = wide[(every, every, *tap_slices(tap, stride, dilation, counts))]
            target += part.sum(2, g.dtype) if times > 1 else part[:, :, 0]
        out[start : start + step] = wide[interior(padding, size)]


# -- gradient of the weight ----------------------------------------------------------------------------------------------------------


def convolution_weight_grad(x: np.ndarray, g: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> np.ndarray:
    """The adjoint of convolution in its weight: x (N, C, *S), g (N, O, *L) -> (O, C / groups, *kernel)."""
    kind = x.dtype
    if kind in REDUCED:
        return convolution_weight_grad(x.astype(float32), g.astype(float32), kernel, stride, padding, dilation, groups).astype(kind)
    last = is_channels_last(x) and (groups == 1 or x.shape[1] != groups)
    shape = (g.shape[1], x.shape[1] // groups)
    out = channels_first(np.zeros((shape[0], *kernel, shape[1]), kind)) if last else np.zeros((*shape, *kernel), kind)
    if out.size and x.size and g.size:
        if groups > 1 and x.shape[1] == groups:
            _depthwise_weight(x, g, out, stride, padding, dilation)
        else:
            for xg, gg, og in _groups(groups, (x, 1), (g, 1), (out, 0)):
                (_rows_weight if last else _columns_weight)(xg, gg, og, stride, padding, dilation)
    return out


def _columns_weight(x: np.ndarray, g: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """One group, row-major: out (O, C*K) += g (O, n*L) @ columns (C*K, n*L)^T."""
    batch, channels, outputs, counts, kernel = x.shape[0], x.shape[1], g.shape[1], g.shape[2:], out.shape[2:]
    rows, count = channels * math.prod(kernel), math.prod(counts)
    step = max(1, min(batch, COLUMN_BYTES // max(rows * count * x.itemsize, 1)))
    pad = _Padder(x, padding, step)
    memory = np.empty((channels, *kernel, step, *counts), x.dtype)
    total = out.reshape(outputs, rows)
    for start in range(0, batch, step):
        gs = g[start : start + step]
        n = len(gs)
        columns = _columns(pad(x[start : start + step]), memory, kernel, stride, dilation, counts)
        side = gs.reshape(outputs, count) if n == 1 else gs.swapaxes(0, 1).reshape(outputs, n * count)
        total += _product(side, columns.T)


def _rows_weight(x: np.ndarray, g: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """One group, channels innermost: out (O, K*C) += g (n*L, O)^T @ rows (n*L, K*C)."""
    batch, channels, outputs, counts, kernel = x.shape[0], x.shape[1], g.shape[1], g.shape[2:], out.shape[2:]
    width, count = channels * math.prod(kernel), math.prod(counts)
    step = max(1, min(batch, COLUMN_BYTES // max(width * count * x.itemsize, 1)))
    pad = _Padder(x, padding, step)
    total = channels_last(out)
    for start in range(0, batch, step):
        rows = _rows(pad(x[start : start + step]), kernel, stride, dilation, counts)
        gs = channels_last(g[start : start + step]).reshape(len(rows), outputs)
        total += _product(gs.T, rows).reshape(outputs, *kernel, channels)


def _depthwise_weight(x: np.ndarray, g: np.ndarray, out: np.ndarray, stride: Ints, padding: Ints, dilation: Ints) -> None:
    batch, channels, counts, kernel = x.shape[0], x.shape[1], g.shape[2:], out.shape[2:]
    times = out.shape[0] // channels
    total = out.reshape(channels, times, *kernel)
    letters = "hijk"[: len(counts)]
    step = _few(g[0].nbytes, batch)
    for start in range(0, batch, step):
        xs = padded(x[start : start + step], padding)
        gs = g[start : start + step].reshape(len(xs), channels, times, *counts)
        for tap in taps(kernel):
            shifted = xs[(every, every, *tap_slices(tap, stride, dilation, counts))]
            total[(every, every, *tap)] += np.einsum(f"nc{letters},ncm{letters}->cm", shifted, gs)
