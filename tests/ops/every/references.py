"""Definitions of windowed and recurrent ops in NumPy, written for clarity: loops over windows, paths and steps."""
import itertools

import numpy as np

__all__ = ["conv", "conv_transpose", "windows", "cells", "sample", "ctc", "sigmoid"]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def windows(x, kernel, stride, padding=0, dilation=1, fill=0.0, ceil=False):
    """The windows of x (N, C, *spatial): (N, C, *places, *kernel), what lies outside being `fill`."""
    n = len(kernel)
    stride, padding, dilation = ((v,) * n if isinstance(v, int) else v for v in (stride, padding, dilation))
    extra = [max(stride) if ceil else 0] * n
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p + e) for p, e in zip(padding, extra))], constant_values=fill)
    places = []
    for k, (size, p) in enumerate(zip(x.shape[2:], padding)):
        steps = (size + 2 * p - dilation[k] * (kernel[k] - 1) - 1) / stride[k]
        count = int(np.ceil(steps) if ceil else np.floor(steps)) + 1
        if ceil and (count - 1) * stride[k] >= size + p:
            count -= 1  # the last window must begin inside
        places.append(count)
    found = np.empty((*x.shape[:2], *places, *kernel))
    for place in np.ndindex(*places):
        for tap in np.ndindex(*kernel):
            at = tuple(i * s + t * d for i, s, t, d in zip(place, stride, tap, dilation))
            found[(slice(None), slice(None), *place, *tap)] = padded[(slice(None), slice(None), *at)]
    return found


def conv(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    n = w.ndim - 2
    v = windows(x, w.shape[2:], stride, padding, dilation)
    outs, ins = w.shape[0] // groups, w.shape[1]
    parts = [np.tensordot(v[:, g * ins:(g + 1) * ins], w[g * outs:(g + 1) * outs], ([1, *range(2 + n, 2 + 2 * n)], [1, *range(2, 2 + n)]))
             for g in range(groups)]
    found = np.moveaxis(np.concatenate(parts, -1), -1, 1)
    return found if b is None else found + b.reshape(-1, *(1,) * n)


def conv_transpose(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Every input number adds its copy of the kernel to the result."""
    n = w.ndim - 2
    full = [(size - 1) * stride + dilation * (k - 1) + 1 + output_padding for size, k in zip(x.shape[2:], w.shape[2:])]
    found = np.zeros((x.shape[0], w.shape[1] * groups, *full))
    ins, outs = x.shape[1] // groups, w.shape[1]
    for g, c in itertools.product(range(groups), range(ins)):
        for place in np.ndindex(*x.shape[2:]):
            for tap in np.ndindex(*w.shape[2:]):
                at = tuple(i * stride + t * dilation for i, t in zip(place, tap))
                values = x[(slice(None), g * ins + c, *place)][:, None] * w[(g * ins + c, slice(None), *tap)]
                found[(slice(None), slice(g * outs, (g + 1) * outs), *at)] += values
    found = found[(slice(None), slice(None), *(slice(padding, size - padding) for size in full))]
    return found if b is None else found + b.reshape(-1, *(1,) * n)


def cells(x, h, w, u, b, d):
    """x @ w.T + b and h @ u.T + d, cut into gates."""
    return x @ w.T + b, h @ u.T + d


def sample(image, grid, padding="zeros", align=True):
    """Linear interpolation of image (C, *sizes) at points of [-1, 1] (x first): (points, C)."""
    sizes = image.shape[1:]
    found = np.zeros((len(grid), image.shape[0]))
    for k, point in enumerate(grid):
        at = [(p + 1) / 2 * (n - 1) if align else ((p + 1) * n - 1) / 2 for p, n in zip(point[::-1], sizes)]
        if padding == "border":
            at = [min(max(a, 0), n - 1) for a, n in zip(at, sizes)]
        low = [int(np.floor(a)) for a in at]
        for corner in itertools.product((0, 1), repeat=len(sizes)):
            index = [i + c for i, c in zip(low, corner)]
            weight = np.prod([1 - abs(a - i) for a, i in zip(at, index)])
            if all(0 <= i < n for i, n in zip(index, sizes)):
                found[k] += weight * image[(slice(None), *index)]
    return found


def ctc(log_probs, target, blank=0):
    """-log of the summed probability of all paths that collapse to the target: every path is looked at."""
    steps, classes = log_probs.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        if [c for c, _ in itertools.groupby(path) if c != blank] == list(target):
            total += np.exp(sum(log_probs[t, c] for t, c in enumerate(path)))
    return -np.log(total)
