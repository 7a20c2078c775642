"""The Tensor: an array of some backend, and its place in the backward graph.

Slots, all set by whoever makes a Tensor (there is no `__init__` on the hot path):

    _a      the array (numpy.ndarray on the CPU)
    _rg     may need a gradient: False no; True yes; MAYBE for a view of something that did not need one when the view was
            made (a write through the view, or into its base, may change that)
    _edge   None for a leaf, else the Node that made it, or (Node, output number)
    _st     the Shared of its memory (storage.py), None until needed
    _grad   the accumulated gradient
    _view   None, or the Tensor it is a view of (the base), or a View where more must be known
    _seen   for a view: the version at which `_edge` was right
    _meta   None, or a dict of the rare things (hooks, retained grad, accumulator node)
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from saraph.tensor.node import Node, next_number
from saraph.tensor.state import state, thread, upper
from saraph.tensor.storage import Shared, root_of, shared_of

if TYPE_CHECKING:
    from saraph.stubs.tensor import Methods  # what ops/ binds when it is imported
else:
    Methods = object

MAYBE = 2
ndarray = np.ndarray


class View:
    """What a view must remember beyond its base: how to make it again, and where it came from."""

    __slots__ = ("base", "replay", "origin")

    def __init__(self, base: Tensor, replay: Callable | None = None, origin: str = ""):
        self.base, self.replay, self.origin = base, replay, origin


class Tensor(Methods):
    """A multi-dimensional array with a dtype, a device and, if asked for, a gradient."""

    __slots__ = ("_a", "_rg", "_edge", "_st", "_grad", "_view", "_seen", "_meta", "__dict__", "__weakref__")
    __hash__ = object.__hash__
    __array_priority__ = 1000
    __module__ = "saraph"

    if TYPE_CHECKING:
        _a: Any
        _rg: Any
        _edge: Any
        _st: Any
        _grad: Any
        _view: Any
        _seen: int
        _meta: Any
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def _extra(self) -> dict[str, Any]:
        if self._meta is None:
            self._meta = {}
        return self._meta


PLAIN: set[type] = {Tensor}  # classes that ops take as they are: no `__torch_function__` of their own
_base_new = object.__new__


def wrap(array: Any) -> Tensor:
    """A Tensor around an array that nobody else writes to: no gradient, no history."""
    t = _base_new(Tensor)
    t._a = array
    t._rg = False
    t._edge = t._st = t._grad = t._view = t._meta = None
    return t


def wrap_as(cls: type, array: Any) -> Tensor:
    """As `wrap`, for a subclass of Tensor."""
    t = _base_new(cls)
    t._a = array
    t._rg = False
    t._edge = t._st = t._grad = t._view = t._meta = None
    return t


# -- recording -----------------------------------------------------------------------------------------------------------


def edge_of(x: Tensor) -> Any:
    """The edge that leads to x; brings a view's own node up to date first."""
    if x._view is not None and x._seen != x._st.version:
        refresh(x)
    if x._edge is not None:
        return x._edge
    return x if x._rg is True else None


def refresh(view: Tensor) -> None:
    """After a write into the shared memory: the view now comes from its base as it stands."""
    info = view._view
    base, replay = (info.base, info.replay) if info.__class__ is View else (info, None)
    if base._rg is True and info.__class__ is View and info.origin == "multi":
        raise RuntimeError(f"Output of {type(view._edge[0]).__name__ if view._edge.__class__ is tuple else 'a split'} is a view and its base or "
                           "another view of its base has been modified inplace. This view is the output of a function that returns multiple "
                           "views. Such functions do not allow the output views to be modified inplace. Replace the inplace operation by an "
                           "out-of-place one.")
    view._seen = view._st.version
    if base._rg is True:
        node = upper.regenerate(base, view, replay)
        view._edge, view._rg = node, True


def needs_grad(x: Tensor) -> bool:
    """Whether x requires grad, views brought up to date."""
    return x._rg is True or (x._rg is MAYBE and edge_of(x) is not None)


def make_node(cls: type[Node], inputs: tuple[Any, ...], saved: tuple[Any, ...], attributes: dict | None) -> Node | None:
    """A node for a call on `inputs` (Tensors or None), or None where no input needs a gradient."""
    edges = tuple([None if x is None else edge_of(x) for x in inputs])
    for edge in edges:
        if edge is not None:
            break
    else:
        return None
    node = _base_new(cls)
    node.edges = edges
    node.sequence = next_number()
    node.shapes = node.extra = None
    if attributes:
        node.__dict__.update(attributes)
    save(node, saved)
    return node


def save(node: Node, saved: tuple[Any, ...]) -> None:
    """Keep tensors for the formula, with the versions they have now."""
    node.saved = saved
    versions = None
    for s in saved:
        if s is not None and s._st is not None and s._st.version:
            versions = tuple([0 if s is None or s._st is None else s._st.version for s in saved])
            break
    node.versions = versions
    if state.active:
        _slow_save(node)


def _slow_save(node: Node) -> None:
    if thread.saved_hooks:
        pack, unpack_hook = thread.saved_hooks[-1]
        node.saved = tuple(None if s is None else Packed(pack(snapshot(s)), unpack_hook) for s in node.saved)
        node.versions = None
    if thread.anomaly:
        node._extra()["forward"] = upper.anomaly_trace()


class Packed:
    """A saved tensor as the user's pack hook left it."""

    __slots__ = ("value", "hook")

    def __init__(self, value: Any, hook: Callable):
        self.value, self.hook = value, hook


def snapshot(x: Tensor) -> Tensor:
    """x itself when it is a leaf, else another Tensor over the same memory with the same history."""
    return x if x._edge is None else alias(x)


def alias(x: Tensor) -> Tensor:
    """Another Tensor over the same array, with the same history and version counter."""
    t = wrap(x._a)
    t._st = shared_of(x)
    t._edge = edge_of(x)
    t._rg = t._edge is not None  # never MAYBE: the other Tensor is no view
    return t


def record(array: Any, cls: type[Node], inputs: tuple[Any, ...], saved: tuple[Any, ...] = (), **attributes: Any) -> Tensor:
    """The result of an op: `array` as a Tensor, with its node if an input needs a gradient and grad mode is on.

    `cls` comes from `@derivative`; `inputs` are the Tensors (or None) its formula returns gradients for, in that order;
    `saved` are Tensors the formula wants back; `attributes` become the node's attributes.
    """
    t = wrap(array if array.__class__ is ndarray or not isinstance(array, np.generic) else np.asarray(array))
    for x in inputs:
        if x is not None and x._rg:
            break
    else:
        return t
    if thread.grad and array.dtype.kind not in "biu":
        attach(t, cls, inputs, saved, attributes)
    return t


def attach(t: Tensor, cls: type[Node], inputs: tuple[Any, ...], saved: tuple[Any, ...], attributes: dict | None) -> None:
    """Give a fresh result its node (see `record`)."""
    if cls.saves_result:
        shared_of(t)
        own = wrap(t._a)
        own._st = t._st
        saved = (*saved, own)
    node = make_node(cls, inputs, saved, attributes)
    if node is not None:
        t._edge, t._rg = node, True


def record_many(arrays: Any, cls: type[Node], inputs: tuple[Any, ...], saved: tuple[Any, ...] = (),
                differentiable: tuple[int, ...] | None = None, save_results: tuple[int, ...] = (), **attributes: Any) -> tuple[Tensor, ...]:
    """As `record`, for an op with several results; the formula gets a gradient (or None) per result.

    `differentiable` numbers the results that carry gradients (default: those of floating or complex type);
    `save_results` numbers the results that the formula wants back, after `saved`.
    """
    results = tuple([wrap(a if not isinstance(a, np.generic) else np.asarray(a)) for a in arrays])
    if thread.grad and any(x is not None and x._rg for x in inputs):
        for k in save_results:
            own = wrap(results[k]._a)
            own._st = shared_of(results[k])
            saved = (*saved, own)
        node = make_node(cls, inputs, saved, attributes)
        if node is not None:
            node.outputs = len(results)
            if save_results:
                node.own = (len(saved) - len(save_results), save_results)
            for k, t in enumerate(results):
                if (k in differentiable) if differentiable is not None else t._a.dtype.kind not in "biu":
                    t._edge, t._rg = (node, k) if k else node, True
    return results


def unpack(node: Node) -> tuple[Any, ...]:
    """The saved tensors of a node; RuntimeError when they were freed or written to since."""
    saved = node.saved
    if saved is None:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
            f"freed) in {node.name()}. Specify retain_graph=True the first time, if you need to backward twice.")
    versions = node.versions
    for i, s in enumerate(saved):
        if s.__class__ is Packed:
            return _unpack_packed(node)
        if s is not None and s._st is not None and s._st.version != (versions[i] if versions else 0):
            raise _modified(node, s, versions[i] if versions else 0)
    if thread.grad and (node.saves_result or hasattr(node, "own")):
        _reattach(node, saved)
    return saved


def _unpack_packed(node: Node) -> tuple[Any, ...]:
    saved = tuple(s.hook(s.value) if s.__class__ is Packed else s for s in node.saved)
    for s in saved:
        if s is not None and not isinstance(s, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(s).__name__}")
    if thread.grad and (node.saves_result or hasattr(node, "own")):
        _reattach(node, saved)
    return saved


def _reattach(node: Node, saved: tuple[Any, ...]) -> None:
    """For a backward pass that is itself recorded: the saved results come from this very node."""
    if node.saves_result:
        saved[-1]._edge, saved[-1]._rg = node, True
    else:
        first, numbers = node.own
        for s, k in zip(saved[first:], numbers):
            if s._a.dtype.kind not in "biu":
                s._edge, s._rg = (node, k) if k else node, True


def _modified(node: Node, x: Tensor, version: int) -> RuntimeError:
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{_type_name(x)} {list(x._a.shape)}], saved by {node.name()}, is at version {x._st.version}; expected version {version} "
        "instead. Write the result of the later operation to a new tensor, or clone() before it. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True).")


def _type_name(x: Tensor) -> str:
    names = {"float32": "torch.FloatTensor", "float64": "torch.DoubleTensor", "float16": "torch.HalfTensor",
             "bfloat16": "torch.BFloat16Tensor", "complex64": "torch.ComplexFloatTensor", "complex128": "torch.ComplexDoubleTensor"}
    return names.get(x._a.dtype.name, x._a.dtype.name)


# -- views and writes ----------------------------------------------------------------------------------------------------


def view_of(x: Tensor, array: Any, cls: type[Node] | None, origin: str = "", replay: Callable | None = None, **attributes: Any) -> Tensor:
    """The result of a view op: a Tensor over `array`, which shares x's memory.

    `replay(base) -> view` is needed where the view has another dtype than its base; `origin` is "multi" for an op with
    several views as its results. `cls` is the node's class (formula with one input).
    """
    t = _base_new(Tensor)
    t._a = array
    st = x._st
    if st is None:
        st = x._st = Shared(root_of(x._a))
    t._st = st
    t._grad = t._meta = t._edge = None
    base = x._view
    if base is None:
        base = x
    elif base.__class__ is View:
        if base.replay is not None:
            replay = _compose(base.replay, replay or upper.geometry(x._a, array))
        base, origin = base.base, origin or base.origin
    t._rg = MAYBE
    if x._rg:
        if not thread.grad:
            if edge_of(x) is not None:
                t._rg, origin = False, origin or "no_grad"
        elif cls is not None:
            node = make_node(cls, (x,), (), attributes)
            if node is not None:
                t._edge, t._rg = node, True
    t._view = View(base, replay, origin) if replay is not None or origin else base
    t._seen = st.version
    return t


def plain_view(x: Tensor, array: Any) -> Tensor | None:
    """`view_of` where nothing is to be recorded or remembered beyond the base, at a third of the cost; None where there is more to do."""
    st, base, rg = x._st, x._view, x._rg
    if rg is True or base.__class__ is View or (rg and (x._edge is not None or x._seen != st.version)):
        return None
    if st is None:
        st = x._st = Shared(root_of(x._a))
    t = _base_new(Tensor)
    t._a = array
    t._st = st
    t._rg = MAYBE
    t._view = x if base is None else base
    t._seen = st.version
    t._edge = t._grad = t._meta = None
    return t


def plain_views(x: Tensor, arrays: list[Any]) -> list[Tensor] | None:
    """As `plain_view`, for the results of an op that returns several views."""
    st, base, rg = x._st, x._view, x._rg
    if rg is True or base.__class__ is View or (rg and (x._edge is not None or x._seen != st.version)):
        return None
    if st is None:
        st = x._st = Shared(root_of(x._a))
    info = View(x if base is None else base, None, "multi")
    version = st.version
    views = []
    for array in arrays:
        t = _base_new(Tensor)
        t._a = array
        t._st = st
        t._rg = MAYBE
        t._view = info
        t._seen = version
        t._edge = t._grad = t._meta = None
        views.append(t)
    return views


def _compose(first: Callable, second: Callable) -> Callable:
    return lambda base: second(first(base))


def bump(x: Tensor) -> None:
    """Count a write to x's memory."""
    st = x._st
    if st is None:
        st = x._st = Shared(root_of(x._a))
    st.version += 1
