"""Pooling whose windows follow from the size of the result: adaptive averages and maxima, and fractional maxima."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.pool import FUNCTIONAL, PAIR, Ints, maxima_node, read_sizes
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.ops.spatial import is_int, refuse
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, record_many

# -- adaptive --------------------------------------------------------------------------------------------------------------------------


def _output_size(name: str, x: Tensor, rank: int, output_size: Any) -> Ints:
    """The size asked for (None keeps a dimension's), checked against the input."""
    shape = x._a.shape
    if len(shape) not in (rank + 1, rank + 2):
        pair = rank > 1 and isinstance(output_size, (tuple, list)) and len(shape) <= rank  # PyTorch reads the sizes of tuples first
        raise (ValueError if pair else RuntimeError)(
            f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(shape)}: Expected {rank + 1} to {rank + 2} dimensions, but got "
            f"{len(shape)}-dimensional tensor")
    values = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    if len(values) != rank:
        raise RuntimeError(f"{name}: output_size must be {rank}: one number for each of the last {rank} dimensions, but got {values}")
    if not all(v is None or is_int(v) for v in values):
        raise TypeError(f"{name}(): argument 'output_size' must be tuple of ints, not {output_size!r}")
    for d in range(len(shape) - rank - 1, len(shape)):
        if shape[d] == 0:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} with "
                               f"dimension {d} being empty")
    found = tuple([n if v is None else v.__index__() for v, n in zip(values, shape[-rank:])])
    if min(found) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {values} (Trying to create tensor with "
                           "negative dimension)")
    return found


def _average_node(name: str) -> Any:
    @derivative(name)
    def formula(node: Any, g: Tensor) -> Tensor:
        sizes = node.sizes
        r = of(g._a).resize_adjoint(g._a, sizes, "area", (None,) * len(sizes), False)
        return record(r, _AVERAGES_BACK[len(sizes)], (g,), out=g._a.shape[g._a.ndim - len(sizes):])

    return formula


def _average_back_node(name: str) -> Any:
    @derivative(name)
    def formula(node: Any, g: Tensor) -> Tensor:
        return average_areas(g, node.out)

    return formula


_AVERAGES = {1: _average_node("AdaptiveAvgPool2DBackward0"), 2: _average_node("AdaptiveAvgPool2DBackward0"),
             3: _average_node("AdaptiveAvgPool3DBackward0")}
_AVERAGES_BACK = {rank: _average_back_node("AdaptiveAvgPoolBackwardBackward0") for rank in (1, 2, 3)}


def average_areas(x: Tensor, out: Ints) -> Tensor:
    """The averages of equal (or nearly equal) parts of the last dimensions."""
    rank = len(out)
    r = of(x._a).resize(x._a, out, "area", (None,) * rank, False)
    return record(r, _AVERAGES[rank], (x,), sizes=x._a.shape[x._a.ndim - rank:])


def _adaptive_average(name: str, rank: int, input: Tensor, output_size: Any) -> Tensor:
    x = check_tensor(input, name)
    out = _output_size(name, x, rank, output_size)
    refuse(name, x, "fc" if set(out) == {1} else "f")
    if set(out) == {1}:
        return x.mean(tuple(range(-rank, 0)), keepdim=True)
    return average_areas(x, out)


@op(namespaces=PAIR)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The averages of `output_size` parts of ([N,] C, L), part i from floor(i L / out) to ceil((i + 1) L / out) -> ([N,] C, output_size)."""
    return _adaptive_average("adaptive_avg_pool1d", 1, input, output_size)


@op(namespaces=FUNCTIONAL)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The averages of parts of ([N,] C, H, W) -> ([N,] C, *output_size); None keeps a size. See `adaptive_avg_pool1d`."""
    return _adaptive_average("adaptive_avg_pool2d", 2, input, output_size)


@op(namespaces=FUNCTIONAL, autocast="float32")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The averages of parts of ([N,] C, D, H, W) -> ([N,] C, *output_size); None keeps a size. See `adaptive_avg_pool1d`."""
    return _adaptive_average("adaptive_avg_pool3d", 3, input, output_size)


_MAXIMA = {1: maxima_node("AdaptiveMaxPool2DBackward0"), 2: maxima_node("AdaptiveMaxPool2DBackward0"), 3: maxima_node("AdaptiveMaxPool3DBackward0")}


def _adaptive_max(name: str, rank: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    x = check_tensor(input, name)
    out = _output_size(name, x, rank, output_size)
    refuse(name, x, "f")
    a = x._a
    found = record_many(of(a).adaptive_max(a, out), _MAXIMA[rank], (x,), differentiable=(0,), save_results=(1,), sizes=a.shape[-rank:])
    return found if return_indices else found[0]


@op(namespaces=FUNCTIONAL)
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of `output_size` parts of ([N,] C, L) (the parts of `adaptive_avg_pool1d`), with `return_indices` also their positions."""
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, return_indices)


@op(namespaces=FUNCTIONAL)
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of parts of ([N,] C, H, W), with `return_indices` also their flat positions; None keeps a size."""
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices)


@op(namespaces=FUNCTIONAL, autocast="float32")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of parts of ([N,] C, D, H, W), with `return_indices` also their flat positions; None keeps a size."""
    return _adaptive_max("adaptive_max_pool3d", 3, input, output_size, return_indices)


@op(namespaces=FUNCTIONAL)
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` with `return_indices`."""
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, True)


@op(namespaces=FUNCTIONAL)
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` with `return_indices`."""
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, True)


@op(namespaces=FUNCTIONAL, autocast="float32")
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` with `return_indices`."""
    return _adaptive_max("adaptive_max_pool3d", 3, input, output_size, True)


@op(name="adaptive_max_pool1d", namespaces="torch")
def _torch_adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """`nn.functional.adaptive_max_pool1d` with `return_indices`."""
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, True)


# -- fractional ------------------------------------------------------------------------------------------------------------------------

_FRACTIONAL = {2: maxima_node("FractionalMaxPool2DBackward0"), 3: maxima_node("FractionalMaxPool3DBackward0")}


def _fractional_size(name: str, sizes: Ints, output_size: Any, output_ratio: Any) -> Ints:
    rank = len(sizes)
    if output_size is not None:
        return read_sizes(name, "output_size", output_size, rank)
    ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * rank
    if len(ratios) != rank:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints: one ratio for each of {rank} dimensions, got {ratios}")
    for ratio in ratios:
        if not 0 < ratio < 1:
            raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {ratios})")
    return tuple([int(n * r) for n, r in zip(sizes, ratios)])


def _samples(name: str, x: Tensor, rank: int, given: Tensor | None) -> Tensor:
    """One number in [0, 1) for every sample, channel and dimension, in the order of the dimensions."""
    shape = (x._a.shape[0], x._a.shape[1], rank)
    if given is None:
        given = x.detach().new_empty(shape).uniform_()
    if given._a.dtype != x._a.dtype:
        raise RuntimeError(f"Expect _random_samples to have the same dtype as input: {name} got {given.dtype!r} and {x.dtype!r}")
    if given._a.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {given._a.ndim}")
    for d, n in enumerate(shape):
        if given._a.shape[d] < n or (d == 2 and given._a.shape[d] != n):
            raise RuntimeError(f"Expect _random_samples.size({d}) equals to {n}; got {given._a.shape[d]}.")
    given = given[: shape[0], : shape[1]]  # there may be more than are needed
    return given.flip(-1) if rank == 2 else given  # PyTorch gives the width's number first, but not in three dimensions


def _fractional(name: str, rank: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, return_indices: bool,
                samples: Tensor | None) -> Any:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    x = check_tensor(input, name)
    if x._a.ndim not in (rank + 1, rank + 2):
        raise IndexError(f"Dimension out of range: {name} takes {rank + 1}D or {rank + 2}D tensors, got {list(x._a.shape)}")
    kernel = read_sizes(name, "kernel_size", kernel_size, rank)
    out = _fractional_size(name, x._a.shape[-rank:], output_size, output_ratio)
    batched = x if x._a.ndim == rank + 2 else x.unsqueeze(0)
    shape = batched._a.shape
    if 0 in shape[1:]:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got {list(x._a.shape)}")
    for what, n, k, o in zip(("time", "height", "width")[3 - rank:], shape[2:], kernel, out):
        if k <= 0:
            raise RuntimeError(f"{name}: kernel_size must be greater than zero, got {kernel}")
        if o + k - 1 > n:
            raise RuntimeError(f"{name}(): pool {what} {k} too large relative to input {what} {n} (for {o} windows)")
    refuse(name, x, "f")
    places = _samples(name, batched, rank, samples)
    a = batched._a
    backend = of(a)
    index = backend.fractional_windows(a, places._a, kernel, out)
    values, index = record_many((backend.spatial_gather(a, index, rank), index), _FRACTIONAL[rank], (batched,), differentiable=(0,),
                                save_results=(1,), sizes=shape[2:])
    if x._a.ndim == rank + 1:
        values, index = values.squeeze(0), index.squeeze(0)
    return (values, index) if return_indices else values


@op(namespaces=FUNCTIONAL, autocast="float32")
def fractional_max_pool2d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Any:
    """Maxima of windows of ([N,] C, H, W) at pseudo-random places (Graham 2014) -> ([N,] C, *output_size), or sizes times `output_ratio`.

    The numbers that place the windows are drawn from the default generator, (N, C, 2) of them, unless given.
    """
    return _fractional("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


@op(namespaces=FUNCTIONAL, autocast="float32")
def fractional_max_pool3d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Any:
    """Maxima of windows of ([N,] C, D, H, W) at pseudo-random places. See `fractional_max_pool2d`."""
    return _fractional("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


@op(namespaces=FUNCTIONAL, autocast="float32")
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                                       return_indices: bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` with `return_indices`."""
    return _fractional("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, True, _random_samples)


@op(namespaces=FUNCTIONAL, autocast="float32")
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                                       return_indices: bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d` with `return_indices`."""
    return _fractional("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, True, _random_samples)


