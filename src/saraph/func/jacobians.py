"""`jacrev`, `jacfwd`, `hessian`: whole Jacobians, row by row or column by column."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from saraph.func.derivatives import Linear, chosen, tensors_of, vjp
from saraph.ops.movement import cat
from saraph.tensor.tensor import Tensor
from saraph.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["jacrev", "jacfwd", "hessian"]


def _only(func: Callable, args: tuple[Any, ...], kwargs: dict[str, Any], positions: tuple[int, ...]) -> Callable:
    """The function of the chosen arguments alone."""

    def call(*some: Any) -> Any:
        whole = list(args)
        for k, value in zip(positions, some):
            whole[k] = value
        return func(*whole, **kwargs)

    return call


def _stacked(pieces: list[Tensor], leading: tuple[int, ...], like: Tensor) -> Tensor:
    """Pieces of shape `like` as one tensor of shape (*leading, *like)."""
    if not pieces:
        return like.new_zeros((*leading, *like.shape))
    return cat([p.reshape(1, -1) for p in pieces]).reshape((*leading, *like.shape))


def jacrev(func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
           _preallocate_and_copy: bool = False) -> Callable:
    """A function that returns the Jacobian by reverse mode: one backward pass per element of the output.

    For an output of shape a and an input of shape b it has the shape a + b; trees nest, outputs first. `argnums` and `has_aux` as in `grad`;
    `chunk_size` bounds memory in PyTorch and changes nothing here, where rows are computed one by one.
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
            rows = []
            for j in range(o.numel()):
                weights = [x.new_zeros(x.numel()) for x in outputs]
                weights[i][j] = 1
                found = product(tree_unflatten([w.reshape(x.shape) for w, x in zip(weights, outputs)], structure))
                rows.append(tree_flatten(found)[0])
            inputs, shape = tree_flatten(primals)
            block = tree_unflatten([_stacked([r[k] for r in rows], tuple(o.shape), x) for k, x in enumerate(inputs)], shape)
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
        columns: list[list[list[Tensor]]] = []  # by input, by element, by output
        for i, x in enumerate(tensors):
            of_input = []
            for j in range(x.numel()):
                tangents = [t.new_zeros(t.numel()) for t in tensors]
                tangents[i][j] = 1
                of_input.append(linear.push([t.reshape(y.shape) for t, y in zip(tangents, tensors)]))
            columns.append(of_input)
        blocks = []
        for k, o in enumerate(linear.outputs):
            leaves = [_last(_stacked([c[k] for c in columns[i]], (x.numel(),), o), tuple(x.shape)) for i, x in enumerate(tensors)]
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
