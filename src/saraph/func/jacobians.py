"""`jacrev`, `jacfwd`, `hessian`: whole Jacobians, row by row or column by column."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from saraph.func.batching import vmap
from saraph.func.derivatives import Linear, chosen, tensors_of, vjp
from saraph.ops.sequences import eye
from saraph.pytree import tree_flatten, tree_map, tree_unflatten
from saraph.tensor.tensor import Tensor

__all__ = ["jacrev", "jacfwd", "hessian"]


def _only(func: Callable, args: tuple[Any, ...], kwargs: dict[str, Any], positions: tuple[int, ...]) -> Callable:
    """The function of the chosen arguments alone."""

    def call(*some: Any) -> Any:
        whole = list(args)
        for k, value in zip(positions, some):
            whole[k] = value
        return func(*whole, **kwargs)

    return call


def _for_each_unit(tensors: Sequence[Tensor], place: int, function: Callable, results: Sequence[Tensor], chunk_size: int | None = None) -> list[Tensor]:
    """What `function` says of every unit vector of tensors[place], with zeros for the others; stacked, one tensor per result."""
    x = tensors[place]
    count = x.numel()
    if not count:
        return [r.new_zeros((0, *r.shape)) for r in results]
    units = eye(count, dtype=x.dtype, device=x.device).reshape(count, *x.shape)
    values = [units if k == place else t.new_zeros(t.shape) for k, t in enumerate(tensors)]
    dims = tuple(0 if k == place else None for k in range(len(tensors)))
    return list(vmap(lambda *ts: tuple(function(*ts)), dims, chunk_size=chunk_size, randomness="same")(*values))


def jacrev(func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
           _preallocate_and_copy: bool = False) -> Callable:
    """A function that returns the Jacobian by reverse mode: one backward pass per element of the output.

    For an output of shape a and an input of shape b it has the shape a + b; trees nest, outputs first. `argnums` and `has_aux` as in `grad`;
    `chunk_size` is how many rows are computed at once (default: all).
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        positions = chosen(argnums, args, "jacrev")
        primals = tuple(args[k] for k in positions)
        output, product, *aux = vjp(_only(func, args, kwargs, positions), *primals, has_aux=has_aux)
        outputs, structure = tree_flatten(output)
        blocks = []
        for i, o in enumerate(outputs):
            inputs, shape = tree_flatten(primals)
            rows = _for_each_unit(outputs, i, lambda *weights: tree_flatten(product(tree_unflatten(list(weights), structure)))[0], inputs, chunk_size)
            block = tree_unflatten([r.reshape(*o.shape, *x.shape) for r, x in zip(rows, inputs)], shape)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        found = tree_unflatten(blocks, structure)
        return (found, aux[0]) if has_aux else found

    return wrapper


def jacfwd(func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    """As `jacrev`, by forward products: one per element of the inputs."""

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        positions = chosen(argnums, args, "jacfwd")
        primals = tuple(args[k] for k in positions)
        linear = Linear(_only(func, args, kwargs, positions), primals, has_aux, "jacfwd(f)(*args)")
        inputs, shape = tree_flatten(primals)
        tensors = tensors_of(inputs)
        columns = [_for_each_unit(tensors, i, lambda *tangents: linear.push(tangents), linear.outputs) for i in range(len(tensors))]
        blocks = []
        for k in range(len(linear.outputs)):
            leaves = [_last(columns[i][k], tuple(x.shape)) for i, x in enumerate(tensors)]
            block = tree_unflatten(leaves, shape)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        found = tree_unflatten(blocks, linear.structure)
        return (found, tree_map(linear.level.leave, linear.aux)) if has_aux else found

    return wrapper


def _last(columns: Tensor, shape: tuple[int, ...]) -> Tensor:
    """(n, *output) -> (*output, *shape)."""
    return columns.movedim(0, -1).reshape((*columns.shape[1:], *shape))


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """A function that returns the Hessian of a function with one scalar result: `jacfwd(jacrev(func))`."""
    return jacfwd(jacrev(func, argnums), argnums)
