"""Rules of families of primitives: pointwise, views, reductions, along an axis, products, windows."""
from __future__ import annotations

from typing import Any

from saraph.backends import is_array, of, primitives
from saraph.backends.batched.array import INPLACE, move, new_axis
from saraph.backends.batched.rules import ALL, RULES, Rule, aligned, all_whole, arrays_in, below, common, padded, whole

_POINTWISE_RULES = ("binary", "comparison", "unary", "absolute", "test", "where", "limited", "lerp", "combination", "test_more", "slope", "binary_more",
                    "unary_more", "unary_with", "frexp", "complex_")
POINTWISE = [n for n, f in primitives.RULES.items() if f.__name__ in _POINTWISE_RULES]
POINTWISE += ["relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "logsigmoid", "hardswish", "hardsigmoid", "cast"]


def _rules(names: Any, make: Any) -> None:
    for name in names:
        RULES[name] = make(name)


# -- elementwise -----------------------------------------------------------------------------------------------------------------


def _pointwise(name: str) -> Rule:
    return lambda *args: below(name, *aligned(args))


_rules(POINTWISE, _pointwise)


def _masked_fill(a: Any, mask: Any, value: Any) -> Any:
    return below("masked_fill", *aligned(all_whole((a, mask, value))))


def _copy(a: Any, order: str = "K") -> Any:
    return below("copy", a, order)


def _copy_into(destination: Any, source: Any) -> None:
    if is_array(source):
        if destination.shape[0] != source.shape[0] != 1:
            raise RuntimeError(INPLACE)
        source = padded(source, destination.ndim - 1)
    below("copy_into", destination, source)


def _fill(destination: Any, value: Any) -> None:
    if is_array(value):
        _copy_into(destination, value)
    else:
        below("fill", destination, value)


def _copy_as(a: Any, layout: str) -> Any:
    return below("copy", a, "C") if layout == "contiguous_format" else NotImplemented


def _same(name: str) -> Rule:
    """The physical array serves as it is."""
    return lambda *args: below(name, *args)


def _is_row_major(a: Any) -> bool:
    return not a.shape[0] or below("is_row_major", of(a).getitem(a, 0))


def _cat(arrays: Any, axis: int = 0) -> Any:
    return below("cat", all_whole(arrays), axis + 1)


def _stack(arrays: Any, axis: int) -> Any:
    return below("stack", all_whole(arrays), axis + 1 if axis >= 0 else axis)


RULES.update(masked_fill=_masked_fill, copy=_copy, copy_into=_copy_into, fill=_fill, copy_as=_copy_as, is_row_major=_is_row_major,
             cat=_cat, cat_small=_cat, stack=_stack)
_rules(("address", "bounds", "all_within", "may_overlap"), _same)


# -- views -----------------------------------------------------------------------------------------------------------------------


def _getitem(a: Any, index: Any) -> Any:
    return below("getitem", a, (ALL, *index) if isinstance(index, tuple) else (ALL, index))


RULES.update(
    transpose=lambda a, axes: below("transpose", a, (0, *[d + 1 for d in axes])),
    reshape_view=lambda a, shape: below("reshape_view", a, (a.shape[0], *shape)),
    broadcast_to=lambda a, shape: below("broadcast_to", padded(a, len(shape)), (a.shape[0], *shape)),
    getitem=_getitem,
    diagonal=lambda a, offset, axis1, axis2: below("diagonal", a, offset, axis1 + 1, axis2 + 1),
    restride=lambda a, shape, strides, offset: below("restride", a, (a.shape[0], *shape), (a.strides[0], *strides), offset),
    from_pairs=_same("from_pairs"), pairs=_same("pairs"), real=_same("real"), imag=_same("imag"),
    reinterpret=lambda a, dtype: below("reinterpret", a, dtype) if a.ndim > 1 or a.dtype.itemsize == dtype.itemsize else NotImplemented)


# -- reductions and scans -----------------------------------------------------------------------------------------------------------

REDUCTIONS = {"sum": 1, "mean": 1, "nansum": 1, "prod": 1, "logsumexp": 1, "amax": 1, "amin": 1, "any": 1, "all": 1, "count_nonzero": 1, "var": 1,
              "vector_norm": 2, "xor_patterns": 1}  # position of the axes


def _reduction(name: str) -> Rule:
    place = REDUCTIONS[name]

    def reduce(a: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = list(args)
        axes = kwargs.pop("axes") if "axes" in kwargs else arguments[place - 1]
        if a.ndim == 1:
            if axes is not None and len(axes) == 0:
                return NotImplemented
            return below(name, new_axis(a, 1), *arguments[: place - 1], (1,), False, *arguments[place + 1:], **kwargs)
        arguments[place - 1] = tuple(range(1, a.ndim)) if axes is None else tuple([d + 1 for d in axes])
        if not arguments[place - 1]:
            return NotImplemented
        return below(name, a, *arguments, **kwargs)

    return reduce


_rules(REDUCTIONS, _reduction)

#: Primitives along one axis: which argument it is. All arrays have the same number of dimensions.
AXIS = {"cumsum": 1, "cumprod": 1, "logcumsumexp": 1, "cummax": 1, "cummin": 1, "recurrence": 2, "sort": 1, "argsort": 1, "topk": 2, "kth": 2, "median": 1,
        "mode": 1, "max_with_index": 1, "min_with_index": 1, "argmax": 1, "argmin": 1, "gather": 1, "scatter": 1, "softmax": 1, "log_softmax": 1,
        "softmax_backward": 2, "log_softmax_backward": 2}


def _along(name: str) -> Rule:
    place = AXIS[name]

    def run(*args: Any, **kwargs: Any) -> Any:
        axis = args[place] if len(args) > place else None
        if axis is None or args[0].ndim == 1 or not isinstance(axis, int):
            return NotImplemented
        if any(x.ndim != args[0].ndim for x in arrays_in(args)):
            return NotImplemented
        values = all_whole(args)
        values[place] = axis + 1 if axis >= 0 else axis
        return below(name, *values, **kwargs)

    return run


_rules(AXIS, _along)


def _positions(name: str) -> Rule:
    """argmax and argmin: without an axis, of the flat sample."""

    def run(a: Any, axis: int | None, keepdims: bool) -> Any:
        if a.ndim == 1:
            return NotImplemented
        if axis is not None:
            return below(name, a, axis + 1 if axis >= 0 else axis, keepdims)
        if keepdims:
            return NotImplemented
        flat = below("copy", a, "C")
        return below(name, below("reshape_view", flat, (a.shape[0], a.size // max(a.shape[0], 1))), 1, False)

    return run


_rules(("argmax", "argmin"), _positions)
RULES.update(
    flip=lambda a, axes: below("flip", a, tuple([d + 1 for d in axes])) if a.ndim > 1 else NotImplemented,
    roll=lambda a, shifts, axes: below("roll", a, shifts, tuple([d + 1 for d in axes])) if a.ndim > 1 else NotImplemented,
    fft=lambda a, axes, forward, scale: below("fft", a, tuple([d + 1 for d in axes]), forward, scale),
    rfft=lambda a, axes, scale: below("rfft", a, tuple([d + 1 for d in axes]), scale),
    irfft=lambda a, axes, length, scale: below("irfft", a, tuple([d + 1 for d in axes]), length, scale),
    pad_constant=lambda a, pads, value: below("pad_constant", a, ((0, 0), *pads), value),
    diag_embed=lambda a, offset, axis1, axis2: below("diag_embed", a, offset, *[d + 1 if d >= 0 else d for d in (axis1, axis2)]),
    tril=_same("tril"), triu=_same("triu"),
    cross=lambda a, b, axis: below("cross", *aligned((a, b)), axis if axis < 0 else axis + 1))


# -- picking by positions ---------------------------------------------------------------------------------------------------------


def _index_select(a: Any, axis: int, index: Any) -> Any:
    if index.shape[0] == 1:
        return below("index_select", a, axis + 1, of(index).getitem(index, 0))
    if a.shape[0] != 1 or not index.size:
        return NotImplemented
    flat = below("reshape_view", below("copy", index, "C"), (index.size,))
    found = below("index_select", of(a).getitem(a, 0), axis, flat)
    found = below("reshape_view", found, (*found.shape[:axis], *index.shape, *found.shape[axis + 1:]))
    return move(found, axis, 0)


def _take_index(a: Any, index: Any) -> Any:
    """Positions get the number of the sample beside them."""
    if not isinstance(index, tuple) or not arrays_in(index) or any(is_array(i) and i.dtype.kind == "b" for i in index):
        return NotImplemented
    if any(i is None or i is Ellipsis for i in index):
        return NotImplemented
    arrays = [k for k, i in enumerate(index) if is_array(i)]
    if any(not is_array(index[k]) and not isinstance(index[k], slice) for k in range(len(index))):
        return NotImplemented
    count = common((a, index))
    rank = max(index[k].ndim - 1 for k in arrays)
    places = of(*arrays_in(index)).arange(0, 1 if a.shape[0] != 1 else 0, count, index[arrays[0]].dtype)
    numbers = of(places).getitem(places, (ALL, *(None,) * rank))
    full = [padded(i, rank) if is_array(i) else i for i in index]
    found = below("take_index", a, (numbers, *full))
    together = arrays == list(range(arrays[0], arrays[-1] + 1))
    before = arrays[0] if together else 0
    if before:
        order = [0, *range(rank + 1, rank + 1 + before), *range(1, rank + 1), *range(rank + 1 + before, found.ndim)]
        found = below("transpose", found, tuple(order))
    return found


RULES.update(index_select=_index_select, take_index=_take_index)


# -- products ---------------------------------------------------------------------------------------------------------------------


def _matmul(a: Any, b: Any) -> Any:
    if b.ndim == 3 and b.shape[0] == 1 and a.ndim > 2:
        return below("matmul", a, of(b).getitem(b, 0))
    row, column = a.ndim == 2, b.ndim == 2
    if row:
        a = new_axis(a, 1)
    if column:
        b = new_axis(b, 2)
    found = below("matmul", *aligned((a, b)))
    if column:
        found = of(found).getitem(found, (..., 0))
    if row:
        found = of(found).getitem(found, (..., 0) if column else (..., 0, ALL))
    return found


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    if weight.shape[0] == 1 and bias.shape[0] == 1:
        return below("linear", x, of(weight).getitem(weight, 0), of(bias).getitem(bias, 0))
    vector = x.ndim == 2
    found = below("matmul_nt", *aligned((new_axis(x, 1) if vector else x, weight)))
    found = below("add", found, padded(bias, found.ndim - 1))
    return of(found).getitem(found, (ALL, 0)) if vector else found


def _affine(addend: Any, a: Any, b: Any, *factors: Any, **named: Any) -> Any:
    return below("affine", *aligned(all_whole((addend, a, b))), *factors, **named)


RULES.update(matmul=_matmul, linear=_linear, affine=_affine, matmul_nt=lambda a, b: below("matmul_nt", *aligned((a, b))),
             matmul_tn=lambda a, b: below("matmul_tn", *aligned((a, b))))

#: Of matrices in the last two dimensions, for any number of batches before.
MATRICES = ("det", "det_gradient", "inverse", "cholesky", "eigh", "eigvalsh", "eig", "qr", "svd", "svdvals", "slogdet", "lu_factor", "matrix_exp", "geqrf",
            "ldl_factor")
_rules(MATRICES, _same)


def _solving(name: str) -> Rule:
    def run(a: Any, b: Any, *args: Any) -> Any:
        return below(name, *all_whole((a, b)), *args) if a.ndim == b.ndim and a.ndim >= 3 else NotImplemented

    return run


_rules(("solve", "triangular_solve"), _solving)


# -- windows ----------------------------------------------------------------------------------------------------------------------


def merged(a: Any) -> Any:
    """(batch, n, ...) as (batch n, ...)."""
    shape = (a.shape[0] * a.shape[1], *a.shape[2:])
    try:
        return below("reshape_view", a, shape)
    except ValueError:
        return below("reshape_view", below("copy", a, "C"), shape)


def divided(a: Any, count: int, axis: int = 0) -> Any:
    """The merged dimension taken apart again, the batch to the front."""
    found = below("reshape_view", below("copy", a, "C") if not below("is_row_major", a) else a,
                  (*a.shape[:axis], count, a.shape[axis] // max(count, 1), *a.shape[axis + 1:]))
    return move(found, axis, 0) if axis else found


def _merging(name: str, arrays: int = 1) -> Rule:
    """The batch joins the first dimension of the samples."""

    def run(*args: Any) -> Any:
        values = all_whole(args[:arrays])
        count = values[0].shape[0]
        if not count or not values[0].shape[1] or any(v.ndim < 2 for v in values):
            return NotImplemented
        found = below(name, *map(merged, values), *args[arrays:])
        return type(found)([divided(r, count) for r in found]) if isinstance(found, (list, tuple)) else divided(found, count)

    return run


for _name, _count in (("im2col", 1), ("col2im", 1), ("pick_places", 2), ("pick_places_adjoint", 2), ("class_losses", 2)):
    RULES[_name] = _merging(_name, _count)


def _class_losses_backward(g: Any, a: Any, target: Any, ignore_index: int | None, top: Any, log_total: Any) -> Any:
    g, a, target, top, log_total = all_whole((g, a, target, top, log_total))
    if g.ndim != 2 or not a.shape[0] or not a.shape[1]:
        return NotImplemented
    return divided(below("class_losses_backward", *map(merged, (g, a, target)), ignore_index, merged(top), merged(log_total)), a.shape[0])


RULES["class_losses_backward"] = _class_losses_backward


def _leading(name: str) -> Rule:
    """Any number of dimensions may stand before those of space: the batch is one of them."""
    return lambda *args: below(name, *all_whole(args))


_rules(("max_pool", "adaptive_max", "resize", "resize_adjoint", "pad_edges", "pad_edges_adjoint", "spatial_gather", "spatial_add", "spatial_put"), _leading)


def _beside_channels(a: Any) -> Any:
    """(batch, n, c, ...) as (n, batch c, ...)."""
    a = below("copy", move(a, 1, 0), "C")
    return below("reshape_view", a, (a.shape[0], a.shape[1] * a.shape[2], *a.shape[3:]))


def _convolution(x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    count = common((x, w, bias))
    if w.shape[0] == 1 and (bias is None or bias.shape[0] == 1):
        found = below("convolution", merged(x), of(w).getitem(w, 0), None if bias is None else of(bias).getitem(bias, 0), stride, padding, dilation, groups)
        return divided(found, count)
    x, w = whole(x, count), whole(w, count)
    found = below("convolution", _beside_channels(x), merged(w), None if bias is None else merged(whole(bias, count)), stride, padding, dilation,
                  groups * count)
    return divided(found, count, 1)


def _input_grad(g: Any, w: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int, bias: Any = None) -> Any:
    count = common((g, w, bias))
    if w.shape[0] == 1 and (bias is None or bias.shape[0] == 1):
        found = below("convolution_input_grad", merged(whole(g, count)), of(w).getitem(w, 0), size, stride, padding, dilation, groups,
                      None if bias is None else of(bias).getitem(bias, 0))
        return divided(found, count)
    found = below("convolution_input_grad", _beside_channels(whole(g, count)), merged(whole(w, count)), size, stride, padding, dilation, groups * count,
                  None if bias is None else merged(whole(bias, count)))
    return divided(found, count, 1)


def _weight_grad(x: Any, g: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    count = common((x, g))
    x, g = whole(x, count), whole(g, count)
    found = below("convolution_weight_grad", _beside_channels(x), _beside_channels(g), kernel, stride, padding, dilation, groups * count)
    return divided(found, count)


RULES.update(convolution=_convolution, convolution_input_grad=_input_grad, convolution_weight_grad=_weight_grad)
