"""Forward-mode derivatives by dual tensors (`torch.autograd.forward_ad`).

    with dual_level():
        y = f(make_dual(x, tangent))
        primal, tangent_of_y = unpack_dual(y)

A dual tensor is a tensor that the level follows; the tangent of a result is computed when it is unpacked, as J v: the map u -> u^T J is linear in u, and its
transpose applied to v is J v. Inside of a level ops are therefore recorded, also where gradients were off outside.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from saraph.autograd.api import grad
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, edge_of, needs_grad

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent (None where there is none) of a dual tensor."""

    primal: Any
    tangent: Any


class _Level:
    """An open level: the dual tensors made in it, and whether gradients were on outside."""

    def __init__(self) -> None:
        self.outside = thread.grad
        self.duals: list[tuple[Tensor, Tensor]] = []


_levels: list[_Level] = []


def enter_dual_level() -> int:
    """Open a level; returns its number. There can be one at a time."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(_Level())
    thread.grad = True
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: its dual tensors are plain tensors from now on."""
    number = len(_levels) - 1 if level is None else level
    if number != len(_levels) - 1 or not _levels:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    thread.grad = _levels.pop().outside


def _open(level: int | None, name: str) -> _Level:
    number = len(_levels) - 1 if level is None else level
    if number < 0:
        raise RuntimeError(f"Trying to {name} for forward AD but no level exists, make sure to enter_dual_level() first.")
    return _levels[number]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """`tensor` with a tangent of the same shape and dtype, for the open level."""
    current = _open(level, "create a dual Tensor")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype!r}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype!r}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size "
                           f"{list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}.")
    if tensor.dtype is not tangent.dtype:
        raise RuntimeError(f"Trying to set a forward gradient of dtype {tangent.dtype!r} on a tensor of dtype {tensor.dtype!r}; convert the tangent first.")
    dual = tensor.view_as(tensor) if needs_grad(tensor) else tensor.detach().requires_grad_()
    current.duals.append((dual, tangent))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(primal, tangent) of a tensor; the tangent is None for one that does not depend on a dual tensor."""
    if not _levels and level is None:
        return UnpackedDualTensor(tensor, None)
    current = _open(level, "unpack a dual Tensor")
    if not current.duals or edge_of(tensor) is None:
        return UnpackedDualTensor(tensor, None)
    points = [d for d, _ in current.duals]
    for dual, tangent in current.duals:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    weights = tensor.new_zeros(tensor.shape).requires_grad_()
    back = grad(tensor, points, weights, create_graph=True, allow_unused=True)
    pairs = [(b, t) for b, (_, t) in zip(back, current.duals) if b is not None]
    if not pairs:
        return UnpackedDualTensor(tensor, None)
    live = [(b, t) for b, t in pairs if needs_grad(b)]
    found = grad([b for b, _ in live], weights, [t for _, t in live], create_graph=True, allow_unused=True)[0] if live else None
    tangent = tensor.new_zeros(tensor.shape) if found is None else found
    outer = current.outside and any(needs_grad(t) for _, t in current.duals)
    return UnpackedDualTensor(tensor.detach() if not outer else tensor, tangent if outer else tangent.detach())


class dual_level:  # noqa: N801
    """Context (or decorator) that opens a level and closes it."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()

    def __call__(self, function: Any) -> Any:
        """As a decorator: the function runs inside a level of its own."""

        def inside(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return inside
