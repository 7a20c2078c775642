"""`Function`: ops with a derivative of the user's own."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from saraph.backends import of
from saraph.ops import inplace
from saraph.tensor.node import Node, next_number
from saraph.tensor.state import state, thread, upper
from saraph.tensor.tensor import Tensor, alias, bump, edge_of, save, shared_of, unpack, view_of, wrap

__all__ = ["Function", "FunctionCtx", "BackwardCFunction", "NestedIOFunction", "once_differentiable", "InplaceFunction"]


class FunctionCtx:
    """What `forward` and `backward` share: `ctx.save_for_backward(...)`, `ctx.saved_tensors`, and any attributes."""

    __slots__ = ()
    # what forward may set, before it does
    to_save: tuple = ()
    saved_for_forward: tuple = ()
    dirty: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep input or output tensors (or None) for backward; `saved_tensors` gives them back, checked for writes since."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument 0 is of type {type(t).__name__}")
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs `forward` wrote to."""
        self.dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (True, the default) or None for outputs that were not used."""
        self.materialize_grads = value


class BackwardCFunction(Node, FunctionCtx):
    """The node of a `Function` call; it is the `ctx`."""

    __slots__ = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        if self.saved is not None and not self.saved and self.to_save:
            return self.to_save  # still inside forward
        saved = unpack(self)
        for position, k in self.__dict__.get("own_outputs", ()):
            own = saved[position]
            own._edge, own._rg = (self, k) if k else self, True
        return saved

    saved_variables = saved_tensors

    @staticmethod
    def formula(node: Any, *grads: Any) -> tuple[Any, ...]:
        """Call the user's backward and hand its results to the inputs that are tensors."""
        if node.materialize_grads:
            grads = tuple(wrap(of_full(meta)) if g is None and meta is not None else g for g, meta in zip(grads, node.output_meta))
        user = node.user
        backward = user.vjp if user.backward is Function.backward and user.vjp is not Function.vjp else user.backward
        results = backward(node, *grads)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        count = node.inputs_count
        if len(results) > count and all(r is None for r in results[count:]):
            results = results[:count]
        if len(results) != count:
            raise RuntimeError(f"function {node.name()} returned an incorrect number of gradients (expected {count}, got {len(results)})")
        found = []
        for position, meta in node.tensor_inputs:
            r = results[position]
            if r is not None and not isinstance(r, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(r).__name__}) from {node.name()}")
            if r is not None and r._a.shape != meta:
                r = _fit(r, meta, node, position)
            found.append(r)
        return tuple(found)


def of_full(meta: Any) -> Any:
    """Zeros for an output that got no gradient."""
    shape, dtype, backend = meta
    return backend.full(shape, 0, dtype)


def _fit(g: Tensor, shape: tuple[int, ...], node: Any, position: int) -> Tensor:
    """A gradient of a shape that the input broadcasts to is summed to the input's; others are refused."""
    try:
        return g.sum_to_size(shape)
    except RuntimeError:
        raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {position} - got {list(g._a.shape)} but expected shape "
                           f"compatible with {list(shape)}") from None


def _missing(what: str, purpose: str = "") -> Exception:
    return NotImplementedError(f"You must implement the {what} function for custom autograd.Function{purpose}.")


class _FunctionMeta(type):
    """Gives every Function class the node class that carries its name."""

    def __init__(cls, name: str, bases: tuple, namespace: dict[str, Any]):
        super().__init__(name, bases, namespace)
        cls._node_class = type(name + "Backward", (BackwardCFunction,), {"user": cls})


class Function(metaclass=_FunctionMeta):
    """Base of custom differentiable ops: static `forward(ctx, *args)` and `backward(ctx, *grads)`; call `MyOp.apply(*args)`.

    `forward` may leave out ctx when `setup_context(ctx, inputs, output)` is defined. `backward` returns a gradient (or None) for every
    argument of `forward`.

    Example::

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 2 * x * g
    """

    generate_vmap_rule = False
    saved_tensors = BackwardCFunction.saved_tensors  # as in PyTorch, where ctx is described as a Function
    saved_variables = BackwardCFunction.saved_tensors
    next_functions = BackwardCFunction.next_functions
    needs_input_grad: tuple[bool, ...] = ()
    requires_grad = True

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results (to be overridden)."""
        raise _missing("forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ctx after forward (to be overridden together with a forward without ctx)."""
        raise _missing("setup_context")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the inputs (to be overridden)."""
        raise _missing("backward or vjp", " to use it with backward mode AD")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Forward-mode derivative (to be overridden)."""
        raise _missing("jvp", " to use it with forward mode AD")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """What the Function does to a batch: returns (outputs, where their batch dimensions are). May be overridden; without it the samples' own ops are."""
        raise _missing("vmap", " to use it with vmap")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record the call."""
        if state.active and (thread.batches or thread.dual is not None):
            return _transformed(cls, args, kwargs)
        return cls._recorded(args, kwargs)[0]

    @classmethod
    def _recorded(cls, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """(what `forward` returned, the node of the call)."""
        node = object.__new__(cls._node_class)
        node.saved, node.versions, node.shapes, node.extra = (), None, None, None
        tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
        edges = tuple([edge_of(a) for _, a in tensors])
        tracked = thread.grad and any(e is not None for e in edges)
        node.edges = edges if tracked else (None,) * len(edges)
        flags = iter(edges)
        node.needs_input_grad = tuple([next(flags) is not None if isinstance(a, Tensor) else False for a in args])
        before = thread.grad
        thread.grad = False
        try:
            if cls.setup_context is not Function.setup_context:
                outputs = cls.forward(*args, **kwargs)
                cls.setup_context(node, args, outputs)
            else:
                outputs = cls.forward(node, *args, **kwargs)
        finally:
            thread.grad = before
        return _finish(node, args, tensors, outputs, tracked), node


def _transformed(cls: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call inside of a vmap or of a level of forward-mode derivatives."""
    current, thread.dual = thread.dual, None
    try:
        results, node = upper.batched_function(cls, args, kwargs) if thread.batches else cls._recorded(args, kwargs)
    finally:
        thread.dual = current
    return results if current is None or node is None else upper.dual_function(cls, node, args, results, current)


def _finish(node: Any, args: tuple, tensors: list, outputs: Any, tracked: bool) -> Any:
    many = isinstance(outputs, (tuple, list))
    flat = list(outputs) if many else [outputs]
    dirty = {id(t) for t in node.dirty}
    for t in node.dirty:
        if tracked:
            inplace.check_writable(t, node.name())
        bump(t)
    results = []
    given = {id(a) for _, a in tensors}
    for t in flat:
        if isinstance(t, Tensor) and id(t) in given and id(t) not in dirty:
            t = view_of(t, t._a, None) if tracked else alias_detached(t)
        results.append(t)
    if tracked:
        node.sequence = next_number()
        node.inputs_count = len(args)
        node.tensor_inputs = [(i, a._a.shape) for i, a in tensors]
        node.outputs = len(results)
        node.output_meta = [(t._a.shape, t._a.dtype, of(t._a)) if isinstance(t, Tensor) else None for t in results]
        closed = {id(t) for t in node.non_differentiable}
        for k, (t, original) in enumerate(zip(results, flat)):
            if not isinstance(t, Tensor) or id(original) in closed or t._a.dtype.kind in "biu":
                continue
            if id(original) in dirty and t._view is not None:
                fresh = wrap(t._a)
                fresh._edge, fresh._rg = (node, k) if k else node, True
                inplace.rebase(t, fresh)
            else:
                t._view = None
                t._edge, t._rg = (node, k) if k else node, True
        _keep_saved(node, flat, results)
    return type(outputs)(results) if many and type(outputs) in (tuple, list) else (tuple(results) if many else results[0])


def alias_detached(x: Tensor) -> Tensor:
    """Another Tensor over x's memory, without history."""
    t = alias(x)
    t._edge, t._rg = None, False
    return t


def _keep_saved(node: Any, originals: list, results: list) -> None:
    """Save what forward asked for; results of the call itself are kept without their node, to make no cycle."""
    place = {id(t): k for k, t in enumerate(originals) if isinstance(t, Tensor)}
    kept, own = [], []
    for i, t in enumerate(node.to_save):
        k = place.get(id(t)) if t is not None else None
        if k is not None and results[k] is t and t._edge is not None:
            bare = wrap(t._a)
            bare._st = shared_of(t)
            own.append((i, k))
            t = bare
        kept.append(t)
    node.to_save = ()
    if own:
        node.own_outputs = own
    save(node, tuple(kept))


def once_differentiable(function: Callable) -> Callable:
    """Decorator for `backward`: it may use anything, and its result cannot be differentiated again (an error says so)."""

    @functools.wraps(function)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        before = thread.grad
        thread.grad = False
        try:
            results = function(ctx, *grads)
        finally:
            thread.grad = before
        if not before or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        many = isinstance(results, tuple)
        wrapped = tuple(_Refuse.apply(r.detach().requires_grad_(), *[g for g in grads if isinstance(g, Tensor)])
                        if isinstance(r, Tensor) and r._a.dtype.kind not in "biu" else r for r in (results if many else (results,)))
        return wrapped if many else wrapped[0]

    return wrapper


class _Refuse(Function):
    """Passes its first input on, and raises when somebody differentiates through it."""

    @staticmethod
    def forward(ctx: Any, result: Tensor, *grads: Tensor) -> Tensor:
        return result.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


class InplaceFunction(Function):
    """Old base of Functions with an `inplace` flag."""

    def __init__(self, inplace: bool = False):
        self.inplace = inplace


class NestedIOFunction(Function):
    """Old name for Functions over nested inputs; `apply` takes them flat."""
