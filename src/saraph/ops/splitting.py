"""Taking tensors apart: split, chunk, unbind ... The parts are views, made by one node with several results."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import describe
from saraph.ops.movement import cat, sizes
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import method, op
from saraph.shapes import wrap_dim
from saraph.tensor.node import Node, derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, make_node, ndarray, plain_views, view_of, wrap


def views_of(x: Tensor, arrays: list[Any], cls: type[Node], **attributes: Any) -> tuple[Tensor, ...]:
    """The results of an op that returns several views of x, with one node for all of them."""
    views = plain_views(x, arrays)
    if views is not None:
        return tuple(views)
    results = tuple([view_of(x, a, None, "multi") for a in arrays])
    if x._rg and thread.grad and results:
        node = make_node(cls, (x,), (), attributes)
        if node is not None:
            node.outputs = len(results)
            for k, t in enumerate(results):
                t._edge, t._rg = (node, k) if k else node, True
    return results


def _filled(grads: tuple[Any, ...], shapes: list[tuple[int, ...]]) -> list[Tensor]:
    """The gradients of several results, zeros where nothing arrived."""
    some = next(g for g in grads if g is not None)._a
    return [g if g is not None else wrap(of(some).full(shape, 0, some.dtype)) for g, shape in zip(grads, shapes)]


@derivative("SplitBackward0")
def SplitBackward(node: Any, *grads: Tensor | None) -> Tensor:
    return cat(_filled(grads, node.parts), node.dim)


@derivative("UnbindBackward0")
def UnbindBackward(node: Any, *grads: Tensor | None) -> Tensor:
    shape = node.shape
    parts = [g.unsqueeze(node.dim) for g in _filled(grads, [shape] * len(grads))]
    return cat(parts, node.dim)


_ALL = slice(None)
_LEADS = ((), (_ALL,), (_ALL, _ALL), (_ALL, _ALL, _ALL))


def slices(x: Tensor, bounds: list[tuple[int, int]], dim: int) -> tuple[Tensor, ...]:
    """Views of x, one per (start, stop) along a dimension. The gradient needs them to cover it without overlap."""
    a = x._a
    if a.__class__ is ndarray:
        lead = _LEADS[dim] if dim < 4 else (_ALL,) * dim
        arrays = [a[(*lead, slice(start, stop))] for start, stop in bounds]
    else:
        take = of(a).getitem
        arrays = [take(a, (_ALL,) * dim + (slice(start, stop),)) for start, stop in bounds]
    return views_of(x, arrays, SplitBackward, dim=dim, parts=[r.shape for r in arrays])


def _with_dimension(value: Any, name: str) -> Tensor:
    x = check_tensor(value, name, "tensor")
    if x._a.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor, got a tensor with 0 dims")
    return x


def _split(tensor: Tensor, size: Any, dim: int, name: str = "split") -> tuple[Tensor, ...]:
    if isinstance(size, (tuple, list)):
        return _split_sections(tensor, size, dim, name)
    if isinstance(size, (float, str)) or not hasattr(size, "__index__"):
        raise TypeError(f"{name}(): argument 'split_size' must be an int or a sequence of ints, not {type(size).__name__}")
    x, step = _with_dimension(tensor, name), size.__index__()
    dim = wrap_dim(dim, x._a.ndim)
    total = x._a.shape[dim]
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if step == 0:
        if total:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}")
        return slices(x, [(0, 0)], dim)
    count = max((total + step - 1) // step, 1)
    return slices(x, [(k * step, min((k + 1) * step, total)) for k in range(count)], dim)


def _split_sections(tensor: Tensor, lengths: Any, dim: int, name: str) -> tuple[Tensor, ...]:
    x, lengths = _with_dimension(tensor, name), list(sizes(tuple(lengths), ()))
    dim = wrap_dim(dim, x._a.ndim)
    total = x._a.shape[dim]
    if any(n < 0 for n in lengths):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={lengths}")
    if sum(lengths) != total:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {dim}), but got "
                           f"split_sizes={lengths} (their sum is {sum(lengths)})")
    bounds, start = [], 0
    for n in lengths:
        bounds.append((start, start + n))
        start += n
    return slices(x, bounds, dim)


@op()
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts along a dimension: of that size each (the last may be smaller), or of the sizes in a list (they must add up).

    Example: `split(arange(5), 2)` has the parts of lengths 2, 2 and 1.
    """
    return _split(tensor, split_size_or_sections, dim)


@method("split")
def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """As `torch.split`."""
    return _split(self, split_size, dim)


@op(method=True)
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of these sizes along a dimension; they must add up to its size."""
    return _split_sections(input, split_sizes, dim, "split_with_sizes")


@op(method=True)
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`; in PyTorch the parts are not tracked as views of the input."""
    return _split(input, split_size, dim, "unsafe_split")


@op(method=True)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split_with_sizes`; in PyTorch the parts are not tracked as views of the input."""
    return _split_sections(input, split_sizes, dim, "unsafe_split_with_sizes")


@op(method=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most `chunks` parts of equal size along a dimension (the last may be smaller, and there may be fewer).

    Example: `chunk(arange(5), 4)` has parts of lengths 2, 2 and 1.
    """
    x = check_tensor(input, "chunk")
    if x._a.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = x._a.shape[wrap_dim(dim, x._a.ndim)]
    step = (total + chunks - 1) // chunks
    bounds = [(k, min(k + step, total)) for k in range(0, total, step)] if step else [(0, 0)] * chunks
    return slices(x, bounds, wrap_dim(dim, x._a.ndim))


@op(method=True)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `chunk`; in PyTorch the parts are not tracked as views of the input."""
    return chunk(input, chunks, dim)


@op(method=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of all slices along a dimension, without it."""
    x = check_tensor(input, "unbind")
    a = x._a
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    dim = wrap_dim(dim, a.ndim)
    take, lead = of(a).getitem, (slice(None),) * dim
    shape = a.shape[:dim] + a.shape[dim + 1:]
    return views_of(x, [take(a, (*lead, k)) for k in range(a.shape[dim])], UnbindBackward, dim=dim, shape=shape)


@op(method=True)
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None,
                 sections: Any = None) -> tuple[Tensor, ...]:
    """Views of parts along a dimension: so many of sizes that differ by one at most, or cut at the positions in a list (or 1-d tensor)."""
    given = [v for v in (indices_or_sections, indices, sections) if v is not None]
    if len(given) != 1:
        raise TypeError("tensor_split() takes the number of sections, or the indices to cut at")
    return _tensor_split(input, given[0], dim)


def _tensor_split(input: Tensor, where: Any, dim: int) -> tuple[Tensor, ...]:
    x = check_tensor(input, "tensor_split")
    a = x._a
    if a.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = wrap_dim(dim, a.ndim)
    total = a.shape[dim]
    if isinstance(where, Tensor):
        if where._a.ndim > 1 or where._a.dtype != "int64":
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional int64 tensor, got "
                               f"{describe(where)}")
        where = where.tolist()
    if isinstance(where, (tuple, list)):
        cuts = [0, *[_position(i, total) for i in sizes(tuple(where), ())], total]
        bounds = [(start, max(start, stop)) for start, stop in zip(cuts, cuts[1:])]
        if cuts != sorted(cuts):  # parts overlap: each has a node of its own
            return tuple(_one_slice(x, start, stop, dim) for start, stop in bounds)
        return slices(x, bounds, dim)
    sections = where.__index__()
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    small, extra = divmod(total, sections)
    bounds, start = [], 0
    for k in range(sections):
        stop = start + small + (k < extra)
        bounds.append((start, stop))
        start = stop
    return slices(x, bounds, dim)


def _position(index: int, total: int) -> int:
    """A cut as Python's slices read it."""
    return min(max(index + total if index < 0 else index, 0), total)


@derivative("SliceBackward0")
def SliceBackward(node: Any, g: Tensor) -> Tensor:
    before, after = node.before, node.after
    a = g._a
    shape = lambda n: a.shape[:node.dim] + (n,) + a.shape[node.dim + 1:]  # noqa: E731
    parts = [wrap(of(a).full(shape(before), 0, a.dtype)), g, wrap(of(a).full(shape(after), 0, a.dtype))]
    return cat(parts, node.dim)


def _one_slice(x: Tensor, start: int, stop: int, dim: int) -> Tensor:
    a = x._a
    r = of(a).getitem(a, (slice(None),) * dim + (slice(start, stop),))
    return view_of(x, r, SliceBackward, dim=dim, before=start, after=a.shape[dim] - start - r.shape[dim])


def _named_split(name: str, input: Tensor, where: Any, rank: int, dim: int) -> tuple[Tensor, ...]:
    x = check_tensor(input, name)
    if x._a.ndim < rank:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {rank} dimension, but got a tensor with {x._a.ndim} dimensions!")
    if not isinstance(where, (tuple, list, Tensor)):
        total = x._a.shape[dim]
        if where <= 0 or total % where:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                               f"{total} is not divisible by the "
                               f"split_size {where}!")
    return _tensor_split(x, where, dim)


def _sections(name: str, values: tuple[Any, ...], indices: Any, sections: Any) -> Any:
    if indices is not None or sections is not None:
        return indices if indices is not None else sections
    if not values:
        raise TypeError(f"{name}() takes the number of sections, or the indices to cut at")
    return values[0] if len(values) == 1 else values


@op(method=True)
def hsplit(input: Tensor, *indices_or_sections: Any, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along the second dimension (the first of a vector); a number of sections must divide its size."""
    x = check_tensor(input, "hsplit")
    if x._a.ndim == 0:
        raise RuntimeError("torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 dimensions!")
    return _named_split("hsplit", x, _sections("hsplit", indices_or_sections, indices, sections), 1, 1 if x._a.ndim > 1 else 0)


@op(method=True)
def vsplit(input: Tensor, *indices_or_sections: Any, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along the first dimension; a number of sections must divide its size."""
    return _named_split("vsplit", input, _sections("vsplit", indices_or_sections, indices, sections), 2, 0)


@op(method=True)
def dsplit(input: Tensor, *indices_or_sections: Any, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along the third dimension; a number of sections must divide its size."""
    return _named_split("dsplit", input, _sections("dsplit", indices_or_sections, indices, sections), 3, 2)
