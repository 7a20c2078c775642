"""Pooling over windows of ([batch,] channels, *spatial): maxima, averages, p-norms, and maxima put back where they were.

Maxima are elements at positions, so the derivative of every kind of maximum is one pair of ops: `gather_places` takes elements at flat
positions, `add_places` adds them there. Averages have `_average` and `_spread`, each the other's derivative.
"""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.ops.spatial import NUMBERS, product, read_ints, refuse, title
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, needs_grad, record, record_many, unpack, wrap

FUNCTIONAL = "nn.functional"
PAIR = ("nn.functional", "torch")
Ints = tuple[int, ...]


# -- the geometry of windows -------------------------------------------------------------------------------------------------------


def window_count(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows fit (with `ceil`, a last one that starts within the input or its left padding may stick out)."""
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def read_sizes(name: str, what: str, value: Any, rank: int) -> Ints:
    """One int for every spatial dimension, from one or from as many as there are."""
    values = read_ints(value, name, what)
    if len(values) == rank:
        return values
    if len(values) == 1:
        return values * rank
    omitted = "be omitted, a single int" if what == "stride" else "be a single int"
    if rank == 1:
        raise RuntimeError(f"{name}() {what} must be an int, list of ints or tuple of ints of size 1 but got size {len(values)}: argument '{what}' "
                           f"should contain one int (got {len(values)})")
    raise RuntimeError(f"{name}: {what} must either {omitted}, or a tuple of {NUMBERS[rank]}, got {values}")


class Windows:
    """Windows as an op was asked for them: read, checked, and counted for one input."""

    __slots__ = ("kernel", "stride", "padding", "dilation", "out", "sizes", "rank")

    def __init__(self, name: str, x: Tensor, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool):
        self.rank = rank
        self.kernel = read_sizes(name, "kernel_size", kernel, rank)
        omitted = stride is None or (isinstance(stride, (tuple, list)) and not stride)
        self.stride = self.kernel if omitted else read_sizes(name, "stride", stride, rank)
        self.padding, self.dilation = read_sizes(name, "padding", padding, rank), read_sizes(name, "dilation", dilation, rank)
        check_rank(name, x, rank)
        self._check_numbers(name)
        shape = x._a.shape
        self.sizes = shape[-rank:]
        if 0 in shape[-rank - 1:]:
            raise RuntimeError(f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                               f"{list(shape)}")
        self.out = tuple([window_count(n, k, s, p, d, ceil)
                          for n, k, s, p, d in zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation)])
        if min(self.out) < 1:
            planes = shape[-rank - 1]
            raise RuntimeError(f"Given input size: ({'x'.join(map(str, (planes, *self.sizes)))}). Calculated output size: "
                               f"({'x'.join(map(str, (planes, *[max(n, 0) for n in self.out])))}). Output size is too small ({name} with kernel_size="
                               f"{self.kernel}, stride={self.stride}, padding={self.padding}, dilation={self.dilation})")

    def _check_numbers(self, name: str) -> None:
        if min(self.stride) <= 0:
            raise RuntimeError(f"stride should not be zero: {name} got stride={self.stride} (it must be greater than zero)")
        if min(self.kernel) <= 0:
            raise RuntimeError(f"kernel size should be greater than zero, but got {self.kernel} ({name})")
        if min(self.dilation) <= 0:
            raise RuntimeError(f"dilation should be greater than zero, but got {self.dilation} ({name})")
        for k, p, d in zip(self.kernel, self.padding, self.dilation):
            if p < 0:
                raise RuntimeError(f"pad must be non-negative, but got pad: {p} ({name})")
            if p > ((k - 1) * d + 1) // 2:
                raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d} ({name})")


def check_rank(name: str, x: Tensor, rank: int) -> None:
    """RuntimeError where the input is neither (channels, *spatial) nor (batch, channels, *spatial)."""
    if x._a.ndim not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: non-empty {rank + 1}D or {rank + 2}D (batch mode) tensor expected for input. Expected {rank + 1} to {rank + 2} "
                           f"dimensions, but got {x._a.ndim}-dimensional tensor of size {list(x._a.shape)}")


# -- elements at positions -----------------------------------------------------------------------------------------------------------


@derivative("GatherPlacesBackward0")
def GatherPlacesBackward(node: Any, g: Tensor) -> Tensor:
    (index,) = unpack(node)
    return add_places(g, index, node.sizes)


@derivative("AddPlacesBackward0")
def AddPlacesBackward(node: Any, g: Tensor) -> Tensor:
    (index,) = unpack(node)
    return gather_places(g, index, node.rank)


def gather_places(x: Tensor, index: Tensor, rank: int) -> Tensor:
    """The elements of x at flat positions of its last `rank` dimensions."""
    a = x._a
    return record(of(a).spatial_gather(a, index._a, rank), GatherPlacesBackward, (x,), (index,), sizes=a.shape[a.ndim - rank:])


def add_places(g: Tensor, index: Tensor, sizes: Ints) -> Tensor:
    """Zeros with spatial dimensions `sizes`, and g added at flat positions."""
    return record(of(g._a).spatial_add(g._a, index._a, sizes), AddPlacesBackward, (g,), (index,), rank=len(sizes))


def maxima_node(name: str) -> Any:
    """The node of an op with results (values, positions)."""

    @derivative(name, outputs=2)
    def formula(node: Any, g: Tensor | None, _: Any = None) -> Tensor | None:
        (index,) = unpack(node)
        return None if g is None else add_places(g, index, node.sizes)

    return formula


# -- maxima --------------------------------------------------------------------------------------------------------------------------

_MAX_NODES = {1: maxima_node("MaxPool2DWithIndicesBackward0"), 2: maxima_node("MaxPool2DWithIndicesBackward0"),
              3: maxima_node("MaxPool3DWithIndicesBackward0")}


def _max_pool(name: str, rank: int, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, want_index: bool) -> Any:
    x = check_tensor(input, name)
    w = Windows(name, x, rank, kernel, stride, padding, dilation, ceil)
    refuse(name, x, "fi")
    a = x._a
    backend, how = of(a), (w.kernel, w.stride, w.padding, w.dilation, w.out)
    if not want_index and not (thread.grad and needs_grad(x)):
        return wrap(backend.max_pool(a, *how, False))
    found = record_many(backend.max_pool(a, *how, True), _MAX_NODES[rank], (x,), differentiable=(0,), save_results=(1,), sizes=w.sizes)
    return found if want_index else found[0]


@op(namespaces=PAIR)
def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """The maxima of windows of ([N,] C, L) -> ([N,] C, L'), with `return_indices` also their positions (int64).

    L' = (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down, or up with `ceil_mode`. The padding never wins; of equal
    elements the first does; NaN does. RuntimeError for windows that do not fit.
    """
    return _max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op(namespaces=PAIR)
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """The maxima of windows of ([N,] C, H, W), with `return_indices` also their flat positions in (H, W). See `max_pool1d`."""
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op(namespaces=PAIR, autocast="float32")
def max_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Any:
    """The maxima of windows of ([N,] C, D, H, W), with `return_indices` also their flat positions in (D, H, W). See `max_pool1d`."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op(namespaces=PAIR)
def max_pool1d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`max_pool1d` with `return_indices`."""
    return _max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


@op(namespaces=FUNCTIONAL)
def max_pool2d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`max_pool2d` with `return_indices`."""
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


@op(namespaces=FUNCTIONAL, autocast="float32")
def max_pool3d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`max_pool3d` with `return_indices`."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


# -- averages ------------------------------------------------------------------------------------------------------------------------


@derivative("AvgPool2DBackward0")
def AvgPoolBackward(node: Any, g: Tensor) -> Tensor:
    return _spread(g, node.windows, node.divisors)


AvgPool3DBackward = derivative("AvgPool3DBackward0")(AvgPoolBackward.formula)


@derivative("AvgPoolBackwardBackward0")
def SpreadBackward(node: Any, g: Tensor) -> Tensor:
    return _average(g, node.windows, node.divisors)


def _spread(g: Tensor, w: Windows, divisors: Any) -> Tensor:
    """g divided by the windows' sizes, added to every element of its window."""
    r = of(g._a).spread_average(g._a, w.sizes, w.kernel, w.stride, w.padding, divisors)
    return record(r, SpreadBackward, (g,), windows=w, divisors=divisors)


def _average(x: Tensor, w: Windows, divisors: Any) -> Tensor:
    r = of(x._a).avg_pool(x._a, w.kernel, w.stride, w.padding, w.out, divisors)
    return record(r, AvgPool3DBackward if w.rank == 3 else AvgPoolBackward, (x,), windows=w, divisors=divisors)


def _divisors(w: Windows, include_pad: bool, override: int | None) -> tuple[Any, ...]:
    """For every dimension how many elements each window counts (the divisor is their product), or one divisor for all."""
    if override is not None:
        return (int(override),)
    counts = []
    for size, k, s, p, o in zip(w.sizes, w.kernel, w.stride, w.padding, w.out):
        starts = [i * s - p for i in range(o)]
        ends = [min(start + k, size + p) for start in starts]
        counts.append(tuple([e - b if include_pad else min(e, size) - max(b, 0) for b, e in zip(starts, ends)]))
    return tuple(counts)


def _avg_pool(name: str, rank: int, input: Tensor, kernel: Any, stride: Any, padding: Any, ceil: bool, include_pad: bool,
              override: int | None) -> Tensor:
    x = check_tensor(input, name)
    if override is not None and override == 0:
        raise RuntimeError(f"divisor must be not zero ({name} got divisor_override=0)")
    w = Windows(name, x, rank, kernel, stride, padding, 1, ceil)
    refuse(name, x, "fi" if x.dtype.name == "int64" else "f")
    return _average(x, w, _divisors(w, include_pad, override))


@op(namespaces=PAIR)
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Tensor:
    """The averages of windows of ([N,] C, L) -> ([N,] C, L'); zeros of the padding count if `count_include_pad`. Sizes as in `max_pool1d`."""
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@op(namespaces=FUNCTIONAL)
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The averages of windows of ([N,] C, H, W), or their sums over `divisor_override`. See `avg_pool1d`."""
    return _avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@op(namespaces=FUNCTIONAL, autocast="float32")
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The averages of windows of ([N,] C, D, H, W), or their sums over `divisor_override`. See `avg_pool1d`."""
    return _avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp_pool(name: str, rank: int, input: Tensor, p: float, kernel: Any, stride: Any, ceil: bool) -> Tensor:
    x = check_tensor(input, name)
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1](x.pow(p), kernel, stride, 0, ceil)
    count = product(read_sizes(name, "kernel_size", kernel, rank))
    return (average.sign() * average.abs().relu() * count).pow(1.0 / p)


@op(namespaces=FUNCTIONAL)
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of windows of ([N,] C, L): (sum of x^p)^(1/p). Where all of a window is 0 the gradient is NaN for p != 1, as in PyTorch."""
    return _lp_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@op(namespaces=FUNCTIONAL)
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of windows of ([N,] C, H, W). See `lp_pool1d`."""
    return _lp_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@op(namespaces=FUNCTIONAL)
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms of windows of ([N,] C, D, H, W). See `lp_pool1d`."""
    return _lp_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


# -- maxima put back -----------------------------------------------------------------------------------------------------------------


def _unpool_node(name: str) -> Any:
    @derivative(name)
    def formula(node: Any, g: Tensor) -> Tensor:
        (index,) = unpack(node)
        return gather_places(g, index, node.rank)

    return formula


_UNPOOL_NODES = {1: _unpool_node("MaxUnpool2DBackward0"), 2: _unpool_node("MaxUnpool2DBackward0"), 3: _unpool_node("MaxUnpool3DBackward0")}


def _unpooled_sizes(sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, output_size: Any) -> Ints:
    rank = len(kernel)
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(sizes, stride, kernel, padding)]
    if output_size is None:
        return tuple(usual)
    wanted = tuple([int(n) for n in output_size])
    if len(wanted) == rank + 2:
        wanted = wanted[-rank:]
    if len(wanted) != rank:
        raise ValueError(f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of '{len(wanted)}'")
    for d, (n, u, s) in enumerate(zip(wanted, usual, stride)):
        if not u - s < n < u + s:
            raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {u - s} and {u + s})')
    return wanted


def _unpool(name: str, rank: int, input: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any) -> Tensor:
    x, index = check_tensor(input, name), check_tensor(indices, name, "indices")
    kernel = read_sizes(name, "kernel_size", kernel, rank)
    steps = kernel if stride is None else read_sizes(name, "stride", stride, rank)
    pads = read_sizes(name, "padding", padding, rank)
    shape = x._a.shape
    if x._a.ndim not in (rank + 1, rank + 2):
        raise RuntimeError(f"Input to max_unpooling{rank}d should be a {rank + 1}d or {rank + 2}d Tensor, but got a tensor with {x._a.ndim} dimensions.")
    sizes = _unpooled_sizes(shape[-rank:], kernel, steps, pads, output_size)
    if index.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {title(index)}")
    if index._a.shape != shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with shape: "
                           f"{list(index._a.shape)}")
    if 0 in shape[-rank - 1:] or min(sizes) < 0:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but got {list(shape)} to be put into {list(sizes)}")
    refuse(name, x, "f")
    r = of(x._a).spatial_put(x._a, index._a, sizes)
    return record(r, _UNPOOL_NODES[rank], (x,), (index,), rank=rank)


@op(namespaces=FUNCTIONAL, autocast="float32")
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool1d` were (its `indices`), zeros elsewhere: ([N,] C, L) -> ([N,] C, L').

    L' = (L - 1) stride + kernel_size - 2 padding, or `output_size`, which must lie within one stride of that (ValueError). RuntimeError for
    a position outside the result.
    """
    return _unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@op(namespaces=FUNCTIONAL, autocast="float32")
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool2d` were, zeros elsewhere. See `max_unpool1d`."""
    return _unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@op(namespaces=FUNCTIONAL, autocast="float32")
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back where the maxima of `max_pool3d` were, zeros elsewhere. See `max_unpool1d`."""
    return _unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)
