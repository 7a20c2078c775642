"""Forward-mode derivatives by dual tensors (`torch.autograd.forward_ad`).

    with dual_level():
        y = f(make_dual(x, tangent))
        primal, tangent_of_y = unpack_dual(y)

While a level is open, ops come by `run`: the tangent of a result is J t. It is computed from the ops' own backward formulas: u -> u^T J is linear in u,
and its transpose applied to t is J t. Tangents of views are views of tangents, so that writes through them are seen where they should be.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from saraph.autograd import engine
from saraph.ops.dispatch import plainly, writes
from saraph.ops.promotion import cast
from saraph.tensor.state import lower_active, raise_active, thread, upper
from saraph.tensor.tensor import Tensor, View, needs_grad, wrap

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent (None where there is none) of a dual tensor."""

    primal: Any
    tangent: Any


class _Level:
    """An open level: tangents belong to it."""


class _paused:  # noqa: N801
    """Context in which no tangents are computed, with gradients on or off."""

    def __init__(self, grad: bool | None = None) -> None:
        self.grad = grad

    def __enter__(self) -> None:
        self.before = thread.dual, thread.grad
        thread.dual = None
        if self.grad is not None:
            thread.grad = self.grad

    def __exit__(self, *exc: object) -> None:
        thread.dual, thread.grad = self.before


# -- levels ------------------------------------------------------------------------------------------------------------------------


def enter_dual_level() -> int:
    """Open a level; returns its number. There can be one at a time."""
    if thread.dual is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    thread.dual = _Level()
    raise_active()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: its dual tensors are plain tensors from now on."""
    if thread.dual is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    thread.dual = None
    lower_active()


class dual_level:  # noqa: N801
    """Context (or decorator) that opens a level and closes it."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()

    def __call__(self, function: Callable) -> Callable:
        """As a decorator: the function runs inside a level of its own."""

        def inside(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return inside


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` with a tangent of the same shape, for the open level."""
    if thread.dual is None:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, Tensor):
            raise TypeError(f"_make_dual(): argument '{what}' must be Tensor, not {type(x).__name__}")
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {x.dtype!r}")
    if tensor.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
                           f"size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}.")
    current = thread.dual
    with _paused():
        dual = tensor.view_as(tensor)
        _put(dual, cast(tangent.clone(), tensor.dtype), current)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(primal, tangent) of a tensor; the tangent is None for one that does not depend on a dual tensor."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    tangent = None if thread.dual is None else tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    with _paused():
        return UnpackedDualTensor(tensor.view_as(tensor), tangent)


# -- tangents ----------------------------------------------------------------------------------------------------------------------


def _put(x: Tensor, tangent: Tensor, current: Any) -> None:
    x._extra()["tangent"] = current, tangent


def _own_tangent(x: Tensor, current: Any) -> Tensor | None:
    found = x._meta.get("tangent") if x._meta else None
    return found[1] if found is not None and found[0] is current else None


def _base_of(x: Tensor) -> Tensor | None:
    return x._view.base if x._view.__class__ is View else x._view


def tangent_of(x: Tensor, current: Any = None) -> Tensor | None:
    """The tangent of a tensor in the open level; that of a view comes from its base where it has none of its own."""
    current = thread.dual if current is None else current
    found = _own_tangent(x, current)
    if found is not None or x._view is None:
        return found
    base = _base_of(x)
    whole = None if base is None else _own_tangent(base, current)
    if base is None or whole is None:
        return None
    with _paused():
        found = _select(base, x)(whole)
        _put(x, found, current)
    return found


def _select(base: Tensor, x: Tensor) -> Callable:
    """What takes the view x out of a tensor like its base."""
    replay = x._view.replay if x._view.__class__ is View else None
    return replay or upper.geometry(base._a, x._a)


def _write_tangent(x: Tensor, tangent: Tensor, current: Any) -> None:
    """x was written to: its tangent, and what other views of its memory see of it, is this now."""
    own = tangent_of(x, current)
    base = _base_of(x)
    if own is None and base is not None:
        whole = wrap(base._a).new_zeros(base.shape)
        _put(base, whole, current)
        own = _select(base, x)(whole)
        _put(x, own, current)
    if own is None:
        _put(x, tangent, current)
    else:
        own.copy_(tangent)


def push(outputs: Sequence[Tensor], inputs: Sequence[Tensor], tangents: Sequence[Tensor]) -> list[Tensor | None]:
    """J t of recorded outputs; None for those that do not depend on the inputs."""
    found: list[Tensor | None] = []
    for o in outputs:
        if not needs_grad(o):
            found.append(None)
            continue
        weights = o.new_zeros(o.shape).requires_grad_()
        back = upper.gradients(o, list(inputs), weights, True)
        pairs = [(b, t) for b, t in zip(back, tangents) if b is not None]
        live = [(b, t) for b, t in pairs if needs_grad(b)]
        if not pairs:
            found.append(None)
            continue
        product = (engine.run([b for b, _ in live], [t for _, t in live], True, True, [weights], False) or [None])[0] if live else None
        found.append(o.new_zeros(o.shape) if product is None else product)
    return found


# -- ops ---------------------------------------------------------------------------------------------------------------------------


def _replaced(value: Any, stand_ins: dict[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return stand_ins.get(id(value), value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)([_replaced(v, stand_ins) for v in value])
    return value


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for v in values:
        if isinstance(v, Tensor):
            found.append(v)
        elif isinstance(v, (list, tuple)):
            found.extend(_tensors(v))
    return found


class _Call:
    """An op's dual arguments, and tensors that stand for them in a recorded run."""

    def __init__(self, args: tuple, kwargs: dict[str, Any], current: Any) -> None:
        self.current, self.tensors = current, _tensors((*args, *kwargs.values()))
        found = {id(x): (x, t) for x in self.tensors for t in [tangent_of(x, current)] if t is not None}
        self.duals, self.tangents = [x for x, _ in found.values()], [t for _, t in found.values()]

        #: Whether ordinary gradients follow the results, and their tangents.
        self.followed = thread.grad and any(map(needs_grad, self.tensors))
        self.tangents_followed = self.followed or (thread.grad and any(map(needs_grad, self.tangents)))

    def stand_ins(self) -> dict[int, Tensor]:
        """Fresh starting points, by the arguments they stand for."""
        return {id(x): x.view_as(x) if needs_grad(x) else x.detach().requires_grad_() for x in self.duals}


def run(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An op while a level is open."""
    current = thread.dual
    call = _Call(args, kwargs, current)
    if not call.duals:
        with _paused():
            return plainly(record, args, kwargs)
    if writes(record.name):
        return _write(record, args, kwargs, call)
    with _paused(True):
        fresh = call.stand_ins()
        result = plainly(record, _replaced(args, fresh), {k: _replaced(v, fresh) for k, v in kwargs.items()})
        outputs = _tensors([result])
        tangents = _through_views(record, args, kwargs, call, outputs) or push(outputs, [fresh[id(x)] for x in call.duals], call.tangents)
        return _with_tangents(result, iter(outputs), iter(tangents), call)


def _through_views(record: Any, args: tuple, kwargs: dict[str, Any], call: _Call, outputs: list[Tensor]) -> list[Tensor | None] | None:
    """The tangents of views: the same views of the tangent. None where the results are no views, or not of one dual tensor."""
    if len(call.duals) != 1 or not outputs or any(o._view is None for o in outputs):
        return None
    x, tangent = call.duals[0], call.tangents[0]
    if tangent._a.strides != x._a.strides or any(o._a.dtype != x._a.dtype for o in outputs):
        return None
    same = {id(x): tangent}
    found = plainly(record, _replaced(args, same), {k: _replaced(v, same) for k, v in kwargs.items()})
    return list(_tensors([found]))


def _with_tangents(result: Any, outputs: Any, tangents: Any, call: _Call) -> Any:
    """The result with tangents on its tensors, cut from the stand-ins unless gradients are followed."""
    if isinstance(result, Tensor):
        next(outputs)
        tangent = next(tangents)
        if not call.followed and needs_grad(result):
            if result._view is None:
                result._edge, result._rg = None, False
            else:
                result = result.detach()
        if tangent is not None:
            _put(result, tangent if call.tangents_followed or not needs_grad(tangent) else tangent.detach(), call.current)
        return result
    if isinstance(result, (list, tuple)):
        parts = [_with_tangents(r, outputs, tangents, call) for r in result]
        return type(result)(parts)
    return result


def _write(record: Any, args: tuple, kwargs: dict[str, Any], call: _Call) -> Any:
    """A write in place: its tangent from a recorded run on a copy, then the write itself."""
    target = args[0]
    with _paused(True):
        fresh = call.stand_ins()
        copy = fresh.get(id(target), target).clone()
        rest, named = _replaced(args[1:], fresh), {k: _replaced(v, fresh) for k, v in kwargs.items()}
        plainly(record, (copy, *rest), named)
        tangent = push([copy], [fresh[id(x)] for x in call.duals], call.tangents)[0]
        if tangent is None:
            tangent = copy.new_zeros(copy.shape)
        if not call.tangents_followed:
            tangent = tangent.detach()
    with _paused():
        result = plainly(record, args, kwargs)
        if target.is_floating_point() or target.is_complex():
            _write_tangent(target, tangent, call.current)
    return result


def carry(x: Tensor, result: Tensor, function: Callable) -> Tensor:
    """`result` is a linear function of x: so is its tangent of that of x."""
    current = thread.dual
    tangent = None if current is None else tangent_of(x, current)
    if tangent is not None:
        with _paused():
            _put(result, function(tangent), current)
    return result


def of_function(user: Any, node: Any, args: tuple, result: Any, current: Any) -> Any:
    """The tangents of the results of a custom Function: its `jvp` says them."""
    tangents = [tangent_of(a, current) if isinstance(a, Tensor) else None for a in args]
    if all(t is None for t in tangents):
        return result
    if node.materialize_grads:
        tangents = [a.new_zeros(a.shape) if t is None and isinstance(a, Tensor) and a._a.dtype.kind in "fc" else t for a, t in zip(args, tangents)]
    kept = node.saved, node.versions
    with _paused():
        node.saved, node.versions = node.saved_for_forward or node.saved, None
        try:
            found = user.jvp(node, *tangents)
        finally:
            node.saved, node.versions = kept
        results = result if isinstance(result, (list, tuple)) else (result,)
        for r, t in zip(results, found if isinstance(found, (list, tuple)) else (found,)):
            if isinstance(r, Tensor) and t is not None:
                _put(r, t, current)
    return result


upper.dual, upper.dual_function = run, of_function
