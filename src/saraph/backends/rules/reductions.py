"""Rules of reductions, scans, sorting and searching (the commonest stand in primitives.py)."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends.primitives import Shape, reduced, rule

Axes = tuple[int, ...] | None
int64 = np.dtype(np.int64)
Described = tuple[Shape, np.dtype]


def _real(a: Any) -> np.dtype:
    return np.empty(0, a.dtype).real.dtype


def _valueless(name: str) -> NotImplementedError:
    return NotImplementedError(f"{name}: the shape of the result depends on the values, and a meta tensor has none")


@rule("mean", "nansum", "logsumexp", "prod")
def same_dtype(a: Any, axes: Axes, keepdims: bool) -> Described:
    return reduced(a.shape, axes, keepdims), a.dtype


@rule("count_nonzero")
def count_nonzero(a: Any, axes: Axes, keepdims: bool) -> Described:
    return reduced(a.shape, axes, keepdims), int64


@rule("var")
def var(a: Any, axes: Axes, keepdims: bool, correction: float, with_mean: bool = False) -> Any:
    shape = reduced(a.shape, axes, keepdims)
    return [(shape, _real(a)), (shape, a.dtype)] if with_mean else (shape, _real(a))


@rule("vector_norm")
def vector_norm(a: Any, order: float, axes: Axes, keepdims: bool) -> Described:
    return reduced(a.shape, axes, keepdims), _real(a)


@rule("argmax", "argmin")
def position(a: Any, axis: int | None, keepdims: bool) -> Described:
    return reduced(a.shape, None if axis is None else (axis,), keepdims), int64


@rule("max_with_index", "min_with_index")
def with_index(a: Any, axis: int, keepdims: bool, *arguments: Any) -> list[Described]:
    shape = reduced(a.shape, (axis,), keepdims)
    return [(shape, a.dtype), (shape, int64)]


@rule("kth")
def kth(a: Any, k: int, axis: int, keepdims: bool) -> list[Described]:
    return with_index(a, axis, keepdims)


@rule("median")
def median(a: Any, axis: int, keepdims: bool, ignore_nan: bool) -> list[Described]:
    return with_index(a, axis, keepdims)


@rule("mode")
def mode(a: Any, axis: int, keepdims: bool) -> list[Described]:
    return with_index(a, axis, keepdims)


@rule("cumsum", "cumprod", "logcumsumexp")
def scan(a: Any, axis: int) -> Described:
    return a.shape, a.dtype


@rule("cummax", "cummin")
def scan_with_index(a: Any, axis: int) -> list[Described]:
    return [(a.shape, a.dtype), (a.shape, int64)]


@rule("recurrence")
def recurrence(a: Any, b: Any, axis: int) -> Described:
    return b.shape, b.dtype


@rule("sort")
def sort(a: Any, axis: int, descending: bool) -> list[Described]:
    return scan_with_index(a, axis)


@rule("argsort")
def argsort(a: Any, axis: int, descending: bool) -> Described:
    return a.shape, int64


@rule("topk")
def topk(a: Any, k: int, axis: int, largest: bool) -> list[Described]:
    shape = tuple(k if d == axis else n for d, n in enumerate(a.shape))
    return [(shape, a.dtype), (shape, int64)]


@rule("unique", "unique_consecutive")
def unique(a: Any, axis: int | None) -> Any:
    raise _valueless("unique")


@rule("searchsorted")
def searchsorted(edges: Any, values: Any, right: bool, dtype: np.dtype) -> Described:
    return values.shape, dtype


@rule("isin")
def isin(a: Any, tests: Any) -> Described:
    return a.shape, np.dtype(np.bool_)


@rule("bincount")
def bincount(a: Any, weights: Any, minlength: int) -> Any:
    raise _valueless("bincount")


@rule("histogram_counts")
def histogram_counts(values: Any, edges: Any, weights: Any) -> Described:
    return tuple(e.shape[0] - 1 for e in edges), values.dtype


@rule("histc")
def histc(a: Any, bins: int, low: float, high: float) -> Described:
    return (bins,), a.dtype


@rule("class_losses")
def class_losses(a: Any, target: Any, ignore_index: int | None) -> list[tuple[Shape, np.dtype]]:
    return [((a.shape[0],), a.dtype)] * 3


@rule("class_losses_backward")
def class_losses_backward(g: Any, a: Any, target: Any, ignore_index: int | None, top: Any, log_total: Any) -> tuple[Shape, np.dtype]:
    return a.shape, a.dtype


@rule("two_norms")
def two_norms(arrays: list[Any]) -> Described:
    return (len(arrays),), arrays[0].dtype


@rule("scale_all")
def scale_all(arrays: list[Any], factor: float) -> None:
    return None


@rule("all_within")
def all_within(a: Any, limit: int) -> bool:
    return False
