"""Writes into existing tensors: in-place forms of ops and `out=`, and what they do to the backward graph.

An in-place op is its functional form followed by a copy into the tensor's memory and a change of its history:

* a plain tensor takes over the result's node;
* a view writes through to its base: the base's new node is CopySlices (the old base outside the view, the result inside), and
  every view of that memory finds its own node again from the base when it is next used (tensor.refresh).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.backends import of
from saraph.dtypes import BY_NUMPY, can_cast, title
from saraph.shapes import contiguous_strides
from saraph.tensor.node import Node, next_number
from saraph.tensor.state import thread, upper
from saraph.tensor.storage import Shared, root_extent, shared_of
from saraph.tensor.tensor import Tensor, View, alias, bump, edge_of, wrap

_C_NAMES = {"float32": "float", "float64": "double"}


def check_writable(x: Tensor, name: str) -> None:
    """RuntimeError where PyTorch refuses to write to x under grad mode."""
    if not x._rg or not thread.grad:
        if x._view.__class__ is View and x._view.origin == "no_grad" and thread.grad:
            raise RuntimeError(
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is "
                f"ambiguous and error-prone, it is forbidden. Make the view and the write ({name}) both inside or both outside no_grad.")
        return
    view = x._view
    if view is None:
        if x._edge is None and x._rg is True:
            raise RuntimeError(f"a leaf Variable that requires grad is being used in an in-place operation. ({name} on a leaf of shape "
                               f"{list(x._a.shape)}: use it inside torch.no_grad(), or write the result to a new tensor.)")
        return
    base = view.base if view.__class__ is View else view
    if base._rg is True and base._edge is None and base._view is None:
        raise RuntimeError(f"a view of a leaf Variable that requires grad is being used in an in-place operation. ({name} on a view of "
                           f"shape {list(x._a.shape)}: use it inside torch.no_grad(), or clone() first.)")
    if view.__class__ is View and view.origin == "multi" and edge_of(x) is not None:
        raise RuntimeError(
            f"Output of {edge_name(x)} is a view and is being modified inplace. This view is the output of a function that returns "
            f"multiple views. Such functions do not allow the output views to be modified inplace. Replace {name} by an "
            "out-of-place operation.")


def edge_name(x: Tensor) -> str:
    """The name of x's node, for messages."""
    edge = x._edge
    return "a leaf" if edge is None else (edge[0] if edge.__class__ is tuple else edge).name()


def update(x: Tensor, name: str, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
    """x becomes `function(x, *args, **kwargs)`, in its own memory; returns x."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    check_writable(x, name)
    before = alias(x) if x._rg else x
    result = function(before, *args, **kwargs)
    check_result(x, result, name)
    write(x, result, before)
    return x


def check_result(x: Tensor, result: Tensor, name: str) -> None:
    """The result must have x's shape, and a type that can be stored in x without losing its kind of number."""
    if result._a.shape != x._a.shape:
        raise RuntimeError(f"output with shape {list(x._a.shape)} doesn't match the broadcast shape {list(result._a.shape)} in {name}")
    if result._a.dtype != x._a.dtype:
        source, target = BY_NUMPY[result._a.dtype], BY_NUMPY[x._a.dtype]
        if not can_cast(source, target):
            raise RuntimeError(f"result type {title(source)} can't be cast to the desired output type {title(target)} in {name}")


def write(x: Tensor, result: Tensor, before: Tensor | None = None) -> None:
    """Copy a result of x's shape into x's memory and give x the result's history.

    `before` is the alias of x that the result was computed from; what the node saved of it is kept apart from the write.
    """
    tracked = thread.grad and result._rg is True and x._a.dtype.kind not in "biu"
    if tracked and result._a.dtype != x._a.dtype:
        result = result.to(x.dtype)
    node = result._edge[0] if result._edge.__class__ is tuple else result._edge
    if tracked and before is not None and before is not x and node is not None and node.saved and before in _identities(node.saved):
        before._a = of(x._a).copy(x._a)
        before._st = None
        node.versions = None
        _resave_versions(node)
    _store(x, result)
    bump(x)
    if not tracked:
        return
    if node is not None and node.saves_result and result._edge is node and node.saved and node.saved[-1].__class__ is Tensor:
        own = node.saved[-1]
        own._a, own._st = x._a, x._st
        _resave_versions(node)
    rebase(x, result)


class _identities:
    """Membership by identity (Tensors compare elementwise)."""

    __slots__ = ("ids",)

    def __init__(self, values: tuple):
        self.ids = {id(v) for v in values}

    def __contains__(self, value: object) -> bool:
        return id(value) in self.ids


def _resave_versions(node: Node) -> None:
    node.versions = tuple(0 if s is None or s.__class__ is not Tensor or s._st is None else s._st.version for s in node.saved)


def check_distinct(a: Any, name: str) -> None:
    """RuntimeError where several elements of a tensor to be written are one place in memory."""
    for n, s in zip(a.shape, a.strides):
        if s == 0 and n > 1 and a.size:
            raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                               f"Please clone() the tensor before performing the operation. ({name} on shape {list(a.shape)})")


def check_apart(outs: tuple[Tensor, ...] | list[Tensor], inputs: tuple) -> None:
    """RuntimeError where an out= tensor shares memory with an input, or with itself."""
    for o in outs:
        check_distinct(o._a, "out=")
        start, size = root_extent(o._a)
        for x in inputs:
            if isinstance(x, Tensor) and of(x._a) is of(o._a) and shared_of(x).root is shared_of(o).root:
                other, length = root_extent(x._a)
                if start < other + length and other < start + size:
                    raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                                       "memory location. Please clone() the tensor before performing the operation. (out= of shape "
                                       f"{list(o._a.shape)} and an input of shape {list(x._a.shape)})")


def _store(x: Tensor, result: Tensor) -> None:
    if 0 in x._a.strides:
        check_distinct(x._a, "in-place write")
    try:
        of(x._a).copy_into(x._a, result._a)
    except ValueError as error:
        raise RuntimeError(f"cannot write to a tensor of shape {list(x._a.shape)}: {error}. An expanded tensor or a read-only NumPy array "
                           "shares memory between elements: clone() it first.") from error


class CopySlices(Node):
    """The base of a view that was written to: inputs are the base as it was, and what was written."""

    __slots__ = ()

    @staticmethod
    def formula(node: Node, grad: Tensor) -> Any:
        """Outside the view the gradient goes to the old base, inside to what was written."""
        select = node.select
        outside = None
        if node.needs(0):
            if hasattr(select, "erased"):
                outside = select.erased(grad)
            else:  # another dtype than the base: written through a view of a copy that lies in memory as the base does
                a = grad._a
                outside = wrap(of(a).empty_strided(a.shape, tuple(s // a.dtype.itemsize for s in node.strides), a.dtype)).copy_(grad)
                select(outside).zero_()
        return outside, (select(grad).clone() if node.needs(1) else None)


def rebase(x: Tensor, result: Tensor) -> None:
    """x (already written) now comes from `result`."""
    view = x._view
    if view is None:
        x._edge, x._rg = edge_of(result), True
        return
    base, replay = (view.base, view.replay) if view.__class__ is View else (view, None)
    node = object.__new__(CopySlices)
    node.edges = (edge_of(base), edge_of(result))
    node.sequence = next_number()
    node.saved, node.versions, node.shapes, node.extra = (), None, None, None
    node.select = replay or upper.geometry(base._a, x._a)
    node.strides = base._a.strides
    base._edge, base._rg = node, True


def put_out(record: Any, out: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run `record` and store its result(s) in `out`."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{record.name}(): argument 'out' must be Tensor, not {type(o).__name__}")
    if thread.grad and (any(o._rg is True for o in outs) or any(isinstance(a, Tensor) and a._rg is True for a in args)):
        raise RuntimeError(f"{record.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                           "arguments requires grad. Use the form without out=, or torch.no_grad().")
    if record.out == "apart":
        check_apart(outs, args)
    result = record.body(*args, **kwargs)
    results = result if isinstance(result, (tuple, list)) else (result,)
    if len(outs) != len(results):
        raise TypeError(f"{record.name}(): expected {len(results)} tensors in out=, got {len(outs)}")
    for o, r in zip(outs, results):
        source, target = BY_NUMPY[r._a.dtype], BY_NUMPY[o._a.dtype]
        if source is not target and (record.out in ("exact", "apart") or getattr(result, "exact_out", False)):
            raise RuntimeError(f"{record.name}(): Expected out tensor to have dtype {_C_NAMES.get(source.name, source.name)}, but got "
                               f"{_C_NAMES.get(target.name, target.name)} instead")
        if source is not target and not can_cast(source, target):
            raise RuntimeError(f"result type {title(source)} can't be cast to the desired output type {title(target)}")
        if o._a.shape != r._a.shape:
            resize(o, r._a.shape)
        _store(o, r)
        bump(o)
    return out if type(result) in (tuple, list) or not isinstance(result, tuple) else type(result)(outs)


def resize(x: Tensor, shape: tuple[int, ...]) -> None:
    """Give x another shape in row-major order: in its own memory where the storage is large enough, else in fresh memory with the old
    values in front (tensors that shared the old memory keep it)."""
    a = x._a
    backend = of(a)
    count = 1
    for n in shape:
        count *= n
    item = a.dtype.itemsize
    shared = shared_of(x)
    start, available = root_extent(shared.root)
    offset = backend.address(a) - start if a.size or shared.root is not a else 0
    strides = tuple(s * item for s in contiguous_strides(shape))
    if count == 0 or offset + count * item <= available:
        x._a = backend.restride(a, shape, strides, 0) if count else backend.empty(shape, a.dtype)
        if not count:
            x._st = Shared(x._a)
            x._st.version = shared.version
        return
    fresh = backend.empty((offset // item + count,), a.dtype)
    backend.copy_memory(fresh, shared.root)
    x._a = backend.restride(fresh, shape, strides, offset)
    x._st = Shared(fresh)
    x._st.version = shared.version
