"""`grad`, `grad_and_value`, `vjp`, `jvp`, `linearize`.

A transform gives its function fresh tensors in the place of the inputs it differentiates: views of those that an outer transform (or ordinary autograd)
follows, leaves of its own for others. What it returns is cut from the graph unless something outside of the transform is reachable from it.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from saraph.autograd.api import grad as gradients_of
from saraph.autograd.grad_mode import enable_grad
from saraph.func.levels import current
from saraph.pytree import tree_flatten, tree_map, tree_unflatten
from saraph.tensor.node import AccumulateGrad, Node
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, edge_of, needs_grad

__all__ = ["grad", "grad_and_value", "vjp", "jvp", "linearize"]


class Level:
    """One application of a transform: its fresh inputs, and what is returned from it."""

    def __init__(self) -> None:
        self.outside = thread.grad  # whether anything may record what leaves
        self.own: set[int] = set()  # leaves that only this level knows
        self.kept: list[Tensor] = []

    def leaf(self, x: Tensor) -> Tensor:
        """A tensor to differentiate by that nobody else follows."""
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(f"only Tensors of floating point dtype can require gradients, this one is {x.dtype!r}")
        fresh = x.detach().requires_grad_()
        self.own.add(id(fresh))
        self.kept.append(fresh)
        return fresh

    def enter(self, value: Any) -> Any:
        """The fresh input for one leaf of a tree of inputs."""
        if not isinstance(value, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        value = current(value)
        return value.view_as(value) if self.outside and needs_grad(value) else self.leaf(value)

    def leave(self, value: Any) -> Any:
        """A result as the outside sees it."""
        if not isinstance(value, Tensor) or not needs_grad(value):
            return value
        return value if self.outside and self._reaches_outside(value) else value.detach()

    def _reaches_outside(self, x: Tensor) -> bool:
        stack, seen = [edge_of(x)], set()
        while stack:
            edge = stack.pop()
            node = edge[0] if edge.__class__ is tuple else edge
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if node.__class__ is AccumulateGrad:
                node = node.variable
            if not isinstance(node, Node):
                if id(node) not in self.own:
                    return True
                continue
            stack.extend(node.edges)
        return False


def tensors_of(tree: Any) -> list[Tensor]:
    """The leaves of a tree, all of which must be tensors."""
    leaves = tree_flatten(tree)[0]
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"expected (a tree of) tensors, but found a {type(leaf).__name__}")
    return leaves


def pull(outputs: Sequence[Tensor], inputs: Sequence[Tensor], cotangents: Sequence[Tensor] | None) -> list[Tensor]:
    """The gradients of `outputs`, weighted; zeros for inputs that do not matter. The graph is kept and the result recorded."""
    pairs = [(o, None if cotangents is None else c) for o, c in zip(outputs, cotangents or outputs) if needs_grad(o)]
    if not pairs:
        return [x.new_zeros(x.shape) for x in inputs]
    found = gradients_of([o for o, _ in pairs], list(inputs), [c for _, c in pairs], create_graph=True, retain_graph=True, allow_unused=True)
    return [x.new_zeros(x.shape) if g is None else g for g, x in zip(found, inputs)]


def chosen(argnums: Any, args: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """The positions that `argnums` (an int or a tuple) means."""
    if not isinstance(argnums, (int, tuple)) or isinstance(argnums, bool):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)} ({name})")
    positions = (argnums,) if isinstance(argnums, int) else argnums
    if not positions:
        raise RuntimeError(f"argnums must be non-empty ({name})")
    found = []
    for k in positions:
        if not isinstance(k, int):
            raise RuntimeError(f"argnums must be int, got {type(k)} ({name})")
        if not -len(args) <= k < len(args):
            raise RuntimeError(f"Got argnum={k}, but only {len(args)} positional inputs")
        found.append(k % len(args))
    if len(set(found)) < len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(found)


def split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """(output, aux) of what a function returned."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def _with_inputs(level: Level, args: tuple[Any, ...], positions: Iterable[int]) -> tuple[Any, ...]:
    places = set(positions)
    return tuple(tree_map(level.enter, a) if k in places else a for k, a in enumerate(args))


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns (gradient, value) of a function with one scalar result; (gradient, (value, aux)) with `has_aux`.

    The gradient has the structure of the argument `argnums` (a tensor, or a tree of tensors); a tuple of arguments gives a tuple.
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        positions = chosen(argnums, args, "grad_and_value")
        level = Level()
        with enable_grad():
            fresh = _with_inputs(level, args, positions)
            output, aux = split_aux(func(*fresh, **kwargs), has_aux, "grad_and_value(f)(*args)")
            if not isinstance(output, Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you "
                                   "wanted to use the vjp or jacrev APIs instead?")
            wanted = fresh[positions[0]] if isinstance(argnums, int) else tuple(fresh[k] for k in positions)
            leaves, structure = tree_flatten(wanted)
            found = [level.leave(g) for g in pull([output], tensors_of(leaves), None)]
        result, value = tree_unflatten(found, structure), level.leave(output)
        return (result, (value, tree_map(level.leave, aux))) if has_aux else (result, value)

    return wrapper


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradient of a function with one scalar result; (gradient, aux) with `has_aux`.

    Example::

        >>> grad(lambda x: x.sin())(torch.tensor(0.0))
        tensor(1.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), function from cotangents to vector-Jacobian products), and aux where `has_aux`.

    The products come as a tuple with one entry per primal; a single primal gives the entry itself in a tuple of one.
    """
    level = Level()
    with enable_grad():
        fresh = tuple(tree_map(level.enter, p) for p in primals)
        output, aux = split_aux(func(*fresh), has_aux, "vjp(f, *primals)")
        outputs, structure = tree_flatten(output)
        if not outputs or not all(isinstance(o, Tensor) for o in outputs):
            raise RuntimeError(f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                               f"{', '.join(str(type(o)) for o in outputs if not isinstance(o, Tensor)) or 'nothing'}")
    inputs, shape_of_inputs = tree_flatten(fresh)
    tensors = tensors_of(inputs)

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        weights, given = tree_flatten(cotangents)
        if given != structure:
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {given}, "
                               f"primal output: {structure}")
        for k, (w, o) in enumerate(zip(weights, outputs)):
            if w.shape != o.shape:
                raise RuntimeError(f"Mismatch in shape: grad_output[{k}] has a shape of {w.shape} and output[{k}] has a shape of {o.shape}. "
                                   "(vjp: the cotangents)")
        inner = Level()
        inner.own = level.own
        with enable_grad():
            found = [inner.leave(g) for g in pull(outputs, tensors, weights)]
        return tree_unflatten(found, shape_of_inputs)

    value = tree_map(level.leave, output)
    return (value, product, tree_map(level.leave, aux)) if has_aux else (value, product)


class Linear:
    """The derivative of a function at a point as a linear map of tangents: v -> J v.

    u -> u^T J is linear in u; its own transpose, applied to v, is J v. `dummies` stand for u.
    """

    def __init__(self, func: Callable, primals: tuple[Any, ...], has_aux: bool, name: str):
        self.level = level = Level()
        with enable_grad():
            fresh = tuple(tree_map(level.enter, p) for p in primals)
            self.output, self.aux = split_aux(func(*fresh), has_aux, name)
            self.outputs, self.structure = tree_flatten(self.output)
            if not self.outputs or not all(isinstance(o, Tensor) for o in self.outputs):
                raise RuntimeError(f"{name}: Expected f(*args) to return only tensors, got unsupported types "
                                   f"{[type(o).__name__ for o in self.outputs]}")
            self.inputs = tensors_of(fresh)
            self.dummies = [level.leaf(o.new_zeros(o.shape)) if needs_grad(o) else None for o in self.outputs]
            live = [(o, d) for o, d in zip(self.outputs, self.dummies) if d is not None]
            self.back = pull([o for o, _ in live], self.inputs, [d for _, d in live]) if live else []

    def value(self) -> Any:
        """The function's value as the outside sees it."""
        return tree_map(self.level.leave, self.output)

    def push(self, tangents: Sequence[Tensor]) -> list[Tensor]:
        """J v, one tensor per output."""
        live = [d for d in self.dummies if d is not None]
        with enable_grad():
            found = iter(pull(self.back, live, tangents)) if live else iter(())
            results = [o.new_zeros(o.shape) if d is None else next(found) for o, d in zip(self.outputs, self.dummies)]
            return [self.level.leave(r) for r in results]


def _check_tangents(primals: Any, tangents: Any, name: str) -> list[Tensor]:
    points, structure = tree_flatten(primals)
    directions, given = tree_flatten(tangents)
    if given != structure:
        raise RuntimeError(f"{name}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, "
                           f"tangents also must be. Got primals with structure {structure} and tangents with structure {given}")
    for p, t in zip(points, directions):
        if not isinstance(p, Tensor) or not isinstance(t, Tensor):
            raise RuntimeError(f"{name}: primals and tangents must be (trees of) tensors, got {type(p).__name__} and {type(t).__name__}")
        if p.shape != t.shape:
            raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor "
                               f"is of size {list(p.shape)} while the given forward gradient is of size {list(t.shape)}. ({name})")
    return directions


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), J tangents), and aux where `has_aux`; tangents have the structure and shapes of primals.

    strict: RuntimeError where an output does not depend on the primals (else its tangent is 0).
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if not primals:
        raise RuntimeError(f"{name}: Expected primals to be non-empty")
    directions = _check_tangents(primals, tangents, name)
    linear = Linear(func, primals, has_aux, name)
    if strict and None in linear.dummies:
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.")
    pushed = tree_unflatten(linear.push(directions), linear.structure)
    value = linear.value()
    return (value, pushed, tree_map(linear.level.leave, linear.aux)) if has_aux else (value, pushed)


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """(func(*primals), the function from tangents to J tangents): the point is evaluated once, for any number of tangents."""
    if not primals:
        raise RuntimeError("linearize(f, *primals): Expected primals to be non-empty")
    linear = Linear(func, primals, False, "linearize(f, *primals)")

    def push(*tangents: Any) -> Any:
        return tree_unflatten(linear.push(_check_tangents(primals, tangents, "linearize")), linear.structure)

    return linear.value(), push
