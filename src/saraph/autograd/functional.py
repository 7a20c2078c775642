"""Derivatives of functions: `vjp`, `jvp`, `jacobian`, `hessian`, `hvp`, `vhp`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.autograd.api import grad
from saraph.autograd.grad_mode import enable_grad
from saraph.ops.movement import cat
from saraph.tensor.tensor import Tensor, needs_grad

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]


def _tuple(value: Any, name: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """(was it a tuple?, the tensors); TypeError for anything else."""
    many = isinstance(value, tuple)
    if not many and not isinstance(value, Tensor) and not isinstance(value, list):
        raise TypeError(f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the given {name} has type "
                        f"{type(value)}.")
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for i, v in enumerate(values):
        if not isinstance(v, Tensor):
            raise TypeError(f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the value at index {i} of the "
                            f"{name} has type {type(v)}.")
    return many, values


def _fresh(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The inputs as starting points of a graph: views of the given ones with `create_graph`, detached leaves otherwise."""
    if create_graph:
        return tuple(x.view_as(x) if needs_grad(x) else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _call(function: Callable, inputs: tuple[Tensor, ...], name: str) -> tuple[bool, tuple[Tensor, ...]]:
    return _tuple(function(*inputs), "outputs of the user-provided function", name)


def _gradients(outputs: tuple, inputs: tuple, weights: tuple | None, create_graph: bool, strict: bool = False, what: str = "") -> tuple:
    """Gradients of the outputs that depend on anything; zeros (or an error, when strict) for inputs that do not matter."""
    pairs = [(o, None if weights is None else w) for o, w in zip(outputs, weights or outputs) if needs_grad(o)]
    if pairs:
        found = grad([o for o, _ in pairs], inputs, [w for _, w in pairs], create_graph=create_graph, retain_graph=True, allow_unused=True)
    else:
        found = (None,) * len(inputs)
    if strict and any(g is None for g in found):
        i = [g is None for g in found].index(True)
        raise RuntimeError(f"The output of the user-provided function is independent of input {i}{what}. This is not allowed in strict mode.")
    return tuple(x.new_zeros(x.shape) if g is None else g for g, x in zip(found, inputs))


def _done(values: tuple, create_graph: bool) -> tuple:
    return values if create_graph else tuple(v.detach() for v in values)


def _one(values: tuple, many: bool) -> Any:
    return values if many else values[0]


def _weights(v: Any, like: tuple[Tensor, ...], name: str, function: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {name} of {function} contain a single Tensor with a single element.")
        return (like[0].new_ones(like[0].shape),)
    _, values = _tuple(v, "v", function)
    if len(values) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}.")
    for i, (w, x) in enumerate(zip(values, like)):
        if w.shape != x.shape:
            raise RuntimeError(f"v has invalid size at index {i}: should be {tuple(x.shape)} but got {tuple(w.shape)}.")
    return values


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`(func(*inputs), v^T J)`: the vector-Jacobian product; v has the shape of the outputs."""
    with enable_grad():
        many, given = _tuple(inputs, "inputs", "vjp")
        xs = _fresh(given, create_graph)
        many_out, outputs = _call(func, xs, "vjp")
        found = _gradients(outputs, xs, _weights(v, outputs, "outputs", "vjp"), create_graph, strict)
    return _one(_done(outputs, create_graph), many_out), _one(_done(found, create_graph), many)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`(func(*inputs), J v)`: the Jacobian-vector product, by differentiating the vector-Jacobian product; v has the shape of the inputs."""
    with enable_grad():
        _, given = _tuple(inputs, "inputs", "jvp")
        weights = _weights(v, given, "inputs", "jvp")
        xs = _fresh(given, create_graph)
        many_out, outputs = _call(func, xs, "jvp")
        found = _forward_product(outputs, xs, weights, create_graph, strict)
    return _one(_done(outputs, create_graph), many_out), _one(_done(found, create_graph), many_out)


def _forward_product(outputs: tuple, xs: tuple, v: tuple, create_graph: bool, strict: bool) -> tuple:
    """J v: the map u -> u^T J is linear in u, and its own transpose applied to v is J v."""
    dummies = tuple(o.new_zeros(o.shape).requires_grad_() for o in outputs)
    back = _gradients(outputs, xs, dummies, True, strict)
    return _gradients(back, dummies, v, create_graph)


def jacobian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
             strategy: str = "reverse-mode") -> Any:
    """The Jacobian of `func` at `inputs`: for output shape `a` and input shape `b` a tensor of shape `a + b` (tuples nest, outputs first)."""
    with enable_grad():
        many, given = _tuple(inputs, "inputs", "jacobian")
        xs = _fresh(given, create_graph)
        many_out, outputs = _call(func, xs, "jacobian")
        rows = []
        for out in outputs:
            flat = out.reshape(-1)
            columns: list[list[Tensor]] = [[] for _ in xs]
            for k in range(flat.numel()):
                for column, g in zip(columns, _gradients((flat[k],), xs, None, create_graph, strict, f" (output element {k})")):
                    column.append(g.reshape(1, *g.shape))
            rows.append(_one(_done(tuple(
                (cat(c) if c else x.new_zeros((0, *x.shape))).reshape(tuple(out.shape) + tuple(x.shape)) for c, x in zip(columns, xs)),
                create_graph), many))
    return tuple(rows) if many_out else rows[0]


def hessian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The Hessian of a function with one scalar result: `H[i][j]` has the shape of input i followed by that of input j."""
    many, _ = _tuple(inputs, "inputs", "hessian")

    def first(*xs: Tensor) -> Any:
        found = jacobian(lambda *ys: _scalar(func(*ys), "hessian"), xs, create_graph=True, strict=strict)
        return found if many else found[0]

    return jacobian(first, inputs, create_graph=create_graph, strict=strict)


def _scalar(value: Any, function: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if value.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return value.reshape(())


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`(func(*inputs), H v)` for a function with one scalar result."""
    with enable_grad():
        many, given = _tuple(inputs, "inputs", "hvp")
        weights = _weights(v, given, "inputs", "hvp")
        xs = _fresh(given, create_graph)
        value = _scalar(func(*xs), "hvp")
        first = _gradients((value,), xs, None, True, strict)
        found = _forward_product(first, xs, weights, create_graph, strict)
    return _one(_done((value,), create_graph), False), _one(_done(found, create_graph), many)


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`(func(*inputs), v^T H)` for a function with one scalar result."""
    with enable_grad():
        many, given = _tuple(inputs, "inputs", "vhp")
        weights = _weights(v, given, "inputs", "vhp")
        xs = _fresh(given, create_graph)
        value = _scalar(func(*xs), "vhp")
        first = _gradients((value,), xs, None, True, strict)
        found = _gradients(first, xs, weights, create_graph, strict)
    return _one(_done((value,), create_graph), False), _one(_done(found, create_graph), many)
