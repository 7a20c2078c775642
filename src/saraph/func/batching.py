"""`vmap`: a function of samples becomes a function of batches.

The function runs once, over tensors whose batch dimension it does not see (levels.py, backends/batched).
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from saraph.func.levels import batching, enter_batch, leave_batch, level_of
from saraph.ops.movement import cat
from saraph.pytree import tree_flatten, tree_unflatten
from saraph.tensor.tensor import Tensor

__all__ = ["vmap"]


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None) -> Callable:
    """`func` over the dimension `in_dims` of its tensor arguments (an int, None for arguments without one, or a tree of these).

    out_dims: where the mapped dimension goes in the results. randomness: what random ops do: "error", "different" numbers per sample, or the "same".

    Example::

        >>> vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
        tensor([2., 2., 2.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func, updated=())
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        name = getattr(func, "__name__", repr(func))
        what = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        leaves, structure, dims = _inputs(what, in_dims, args)
        size = _batch_size(what, leaves, dims)
        if chunk_size is None or chunk_size >= size:
            return tree_unflatten(*_run(func, leaves, dims, structure, kwargs, size, out_dims, randomness))
        pieces = []
        for start in range(0, size, chunk_size):
            count = min(chunk_size, size - start)
            part = [x if d is None else x.narrow(d, start, count) for x, d in zip(leaves, dims)]
            found, shape = _run(func, part, dims, structure, kwargs, count, out_dims, randomness)
            pieces.append(found)
        places = _output_places(name, out_dims, pieces[0], shape)
        return tree_unflatten([p[0] if d is None else cat(p, d) for d, p in zip(places, map(list, zip(*pieces)))], shape)

    return wrapped


def _run(func: Callable, leaves: list[Any], dims: list[int | None], structure: Any, kwargs: dict[str, Any], size: int, out_dims: Any,
         randomness: str) -> tuple[list[Any], Any]:
    """The outputs (leaves and structure) for a whole batch."""
    name = getattr(func, "__name__", repr(func))
    with batching(size, randomness) as batch:
        args = [x if d is None else enter_batch(x, d, batch.level, size) for x, d in zip(leaves, dims)]
        outputs, shape = tree_flatten(func(*tree_unflatten(args, structure), **kwargs))
    for o in outputs:
        if not isinstance(o, Tensor):
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(o)}. Did you mean to set out_dims= to None for output?")
    places = _output_places(name, out_dims, outputs, shape)
    return [_taken_out(name, o, d, batch) for o, d in zip(outputs, places)], shape


def _taken_out(name: str, x: Tensor, dim: int | None, batch: Any) -> Tensor:
    """One output with its batch dimension."""
    if dim is None:
        if level_of(x) == batch.level:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return x
    if not -x.dim() - 1 <= dim <= x.dim():
        raise IndexError(f"Dimension out of range (expected to be in range of [{-x.dim() - 1}, {x.dim()}], but got {dim})")
    return leave_batch(x, batch.level, batch.size, dim + x.dim() + 1 if dim < 0 else dim)


def _spread(dims: Any, tree: Any) -> list[Any] | None:
    """One entry of `dims` per leaf of `tree`: dims is a prefix of it, whose entries are ints and None; None where it is not."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(tree_flatten(tree)[0])
    if isinstance(dims, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(dims) != len(tree):
            return None
        parts = [_spread(d, t) for d, t in zip(dims, tree)]
    elif isinstance(dims, dict):
        if not isinstance(tree, dict) or dims.keys() != tree.keys():
            return None
        parts = [_spread(dims[k], tree[k]) for k in tree]
    else:
        return None
    return None if any(p is None for p in parts) else [d for p in parts if p is not None for d in p]


def _inputs(what: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], Any, list[int | None]]:
    """The leaves of the arguments, their structure, and the mapped dimension of each."""
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(f"{what}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"{what.replace(f', in_dims={in_dims}, ...', '')}: got no inputs. Maybe you forgot to add inputs, "
                         "or you are trying to vmap over a function with no inputs. The latter is "
                         "unsupported.")
    leaves, structure = tree_flatten(args)
    dims = _spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args)
    if dims is None:
        raise ValueError(f"{what}: in_dims is not compatible with the structure of `inputs`. in_dims has structure {tree_flatten(in_dims)[1]} but inputs has "
                         f"structure {structure}.")
    found: list[int | None] = []
    for x, d in zip(leaves, dims):
        if d is None:
            found.append(None)
            continue
        if not isinstance(x, Tensor):
            raise ValueError(f"{what}: Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use "
                             "None as the respective in_dim")
        if not -x.dim() <= d < x.dim():
            raise ValueError(f"{what}: Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim to satisfy "
                             f"-{x.dim()} <= in_dim < {x.dim()}.")
        found.append(d % x.dim())
    return leaves, structure, found


def _batch_size(what: str, leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [x.shape[d] for x, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise ValueError(f"{what}: at least one of the inputs must have an in_dim that is not None")
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def _output_places(name: str, out_dims: Any, outputs: list[Tensor], structure: Any) -> list[int | None]:
    """Where the mapped dimension goes, per output."""
    dims = [out_dims] * len(outputs) if out_dims is None or isinstance(out_dims, int) else _spread(out_dims, tree_unflatten(list(outputs), structure))
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and len(outputs) == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
                         "`outputs`. out_dims has structure "
                         f"{tree_flatten(out_dims)[1]} but outputs has structure {structure}.")
    return dims
