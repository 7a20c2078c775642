"""`vmap`: a function of samples becomes a function of batches.

The function runs once per sample and the results are stacked, so every op, every derivative and every write means what it means for one sample; the
cost is that of the samples one after another.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from saraph.ops.joining import stack
from saraph.ops.movement import cat
from saraph.random import default_generator
from saraph.tensor.tensor import Tensor
from saraph.utils._pytree import tree_flatten, tree_unflatten

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
        samples = _Samples(func, leaves, dims, structure, kwargs, randomness)
        if size == 0:
            outputs, shape = samples.run(None)
            places = _output_places(name, out_dims, outputs, shape)
            found = [o if d is None else o.new_zeros((0, *o.shape)).movedim(0, d) for o, d in zip(outputs, places)]
            return tree_unflatten(found, shape)
        results = []
        for k in range(size):
            outputs, shape = samples.run(k)
            results.append(outputs)
        places = _output_places(name, out_dims, results[0], shape)
        found = [results[0][i] if d is None else _joined([r[i] for r in results], d) for i, d in enumerate(places)]
        return tree_unflatten(found, shape)

    return wrapped


class _Samples:
    """Runs the function on one sample after another."""

    def __init__(self, func: Callable, leaves: list[Any], dims: list[int | None], structure: Any, kwargs: dict[str, Any], randomness: str):
        self.func, self.leaves, self.dims, self.structure, self.kwargs, self.randomness = func, leaves, dims, structure, kwargs, randomness
        self.state = default_generator.get_state() if randomness != "different" else None

    def run(self, k: int | None) -> tuple[list[Any], Any]:
        """The outputs (leaves and structure) for sample k; for None, of a made-up sample of an empty batch."""
        args = [x if d is None else _sample(x, d, k) for x, d in zip(self.leaves, self.dims)]
        if self.randomness == "same" and self.state is not None:
            default_generator.set_state(self.state)
        outputs = self.func(*tree_unflatten(args, self.structure), **self.kwargs)
        if self.randomness == "error" and self.state is not None and not bool((default_generator.get_state() == self.state).all()):
            raise RuntimeError("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags "
                               "on vmap or perform the randomness operation out of vmap")
        flat, structure = tree_flatten(outputs)
        for o in flat:
            if not isinstance(o, Tensor):
                raise ValueError(f"vmap({getattr(self.func, '__name__', self.func)}, ...): `{getattr(self.func, '__name__', self.func)}` must only return "
                                 f"Tensors, got type {type(o)}. Did you mean to set out_dims= to None for output?")
        return flat, structure


def _sample(x: Tensor, dim: int, k: int | None) -> Tensor:
    if k is None:
        return x.new_zeros([n for i, n in enumerate(x.shape) if i != dim])
    return x.select(dim, k)


def _joined(values: list[Tensor], dim: int) -> Tensor:
    if not -values[0].dim() - 1 <= dim <= values[0].dim():
        raise IndexError(f"Dimension out of range (expected to be in range of [{-values[0].dim() - 1}, {values[0].dim()}], but got {dim})")
    if len({v.dtype for v in values}) > 1:
        return cat([v.unsqueeze(dim) for v in values], dim)
    return stack(values, dim)


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
        raise ValueError(f"{what}: got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. The latter is "
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
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure "
                         f"{tree_flatten(out_dims)[1]} but outputs has structure {structure}.")
    return dims
