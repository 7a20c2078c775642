"""Tensors over batched arrays: how they are made, mixed with others, and turned back, with their derivatives.

A level is one running `vmap`. While there is one, ops come by `run`: tensors that do not belong to the level of the others are lifted to it (every
sample sees the same tensor, so its gradient is the sum over the samples), and random ops draw what the level's `randomness` asks for.
"""
from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from saraph.autograd.forward_ad import carry
from saraph.autograd.function import Function
from saraph.backends import of
from saraph.backends.batched import INPLACE, BatchedArray, NeedsValues, enter, summed, taken_out
from saraph.ops.dispatch import writes
from saraph.ops.joining import stack
from saraph.random import default_generator
from saraph.tensor.node import derivative
from saraph.tensor.state import lower_active, raise_active, thread, upper
from saraph.tensor.tensor import Tensor, bump, needs_grad, record, view_of, wrap


class Batch(NamedTuple):
    """A running vmap."""

    level: int
    size: int
    randomness: str


_numbers = itertools.count(1)


class batching:  # noqa: N801
    """Context in which a function runs over a batch of that size."""

    def __init__(self, size: int, randomness: str) -> None:
        self.batch = Batch(next(_numbers), size, randomness)

    def __enter__(self) -> Batch:
        self.before = thread.batches
        thread.batches = (*self.before, self.batch)
        raise_active()
        return self.batch

    def __exit__(self, *exc: object) -> None:
        lower_active()
        thread.batches = self.before


# -- in and out --------------------------------------------------------------------------------------------------------------------


@derivative("BatchEnterBackward")
def EnterBackward(node: Any, g: Tensor) -> Tensor:
    return leave_batch(g, node.level, node.size, node.dim)


@derivative("BatchLeaveBackward")
def LeaveBackward(node: Any, g: Tensor) -> Tensor:
    return enter_batch(g, node.dim, node.level, node.size)


@derivative("BatchLiftBackward")
def LiftBackward(node: Any, g: Tensor) -> Tensor:
    for level, size in reversed(node.levels):
        g = _summed(g, level, size)
    return g


@derivative("BatchSumBackward")
def SumBackward(node: Any, g: Tensor) -> Tensor:
    return lift(g, node.level, node.size)


def enter_batch(x: Tensor, dim: int, level: int, size: int) -> Tensor:
    """The samples along a dimension of x as one tensor of the level: a view."""
    found = view_of(x, enter(x._a, dim, level, size), EnterBackward, replay=lambda base: enter_batch(base, dim, level, size), dim=dim, level=level, size=size)
    return found if thread.dual is None else carry(x, found, lambda t: enter_batch(t, dim, level, size))


def leave_batch(x: Tensor, level: int, size: int, dim: int) -> Tensor:
    """The samples of a level along a dimension."""
    a = taken_out(x._a, level, size)
    r = record(a, LeaveBackward, (x,), dim=0, level=level, size=size)
    if thread.dual is not None:
        carry(x, r, lambda t: leave_batch(t, level, size, 0))
    return r.movedim(0, dim) if dim else r


def level_of(x: Tensor) -> int:
    """The level that a tensor belongs to: 0 for an ordinary one."""
    return x._a.level if x._a.__class__ is BatchedArray else 0


def lift(x: Tensor, level: int, size: int) -> Tensor:
    """x, the same for every sample of a level."""
    own = level_of(x)
    if own >= level:
        return x
    between = tuple((b.level, b.size) for b in thread.batches if own < b.level < level)
    a = x._a
    array = BatchedArray(of(a).getitem(a, (None, ...)), level, size)
    if needs_grad(x):
        found = record(array, LiftBackward, (x,), levels=(*between, (level, size)))
    else:
        found = wrap(array)
        found._st = x._st
    return found if thread.dual is None else carry(x, found, lambda t: lift(t, level, size))


def _summed(x: Tensor, level: int, size: int) -> Tensor:
    return record(summed(x._a, level, size), SumBackward, (x,), level=level, size=size)


def current(x: Tensor) -> Tensor:
    """x lifted to the innermost level, where there is one: what a transform inside of it differentiates by."""
    return lift(x, thread.batches[-1].level, thread.batches[-1].size) if thread.batches else x


# -- ops ---------------------------------------------------------------------------------------------------------------------------


def _highest(values: Any, best: Any) -> Any:
    for v in values:
        if isinstance(v, Tensor):
            if v._a.__class__ is BatchedArray and (best is None or v._a.level > best.level):
                best = v._a
        elif v.__class__ is list or v.__class__ is tuple:
            best = _highest(v, best)
    return best


def _lifted(value: Any, level: int, size: int) -> Any:
    if isinstance(value, Tensor):
        return lift(value, level, size) if level_of(value) < level else value
    if value.__class__ is list or value.__class__ is tuple:
        return type(value)([_lifted(v, level, size) for v in value])
    return value


def run(record_of_op: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An op inside of a vmap."""
    name = record_of_op.name
    if name in RANDOM:
        return _random(record_of_op, args, kwargs)
    top = _highest((*args, *kwargs.values()), None)
    if top is None:
        return record_of_op.body(*args, **kwargs)
    level, size = top.level, top.size_of_batch
    if writes(name) and args and isinstance(args[0], Tensor) and level_of(args[0]) < level:
        raise RuntimeError(f"{INPLACE} ({name})")
    try:
        return record_of_op.body(*_lifted(args, level, size), **{k: _lifted(v, level, size) for k, v in kwargs.items()})
    except NeedsValues:
        if name in READING or writes(name):
            raise
        result = _one_by_one(record_of_op, args, kwargs, Batch(level, size, ""))
        if result is None:
            raise
        return result


class VmapInfo(NamedTuple):
    """What a custom Function's `vmap` is told."""

    batch_size: int
    randomness: str


def run_function(cls: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """(results, node) of a custom Function: by its own `vmap` (which has no node) or by its forward, over batched tensors."""
    top = _highest(args, None)
    if top is None:
        return cls._recorded(args, kwargs)
    level, size = top.level, top.size_of_batch
    if cls.vmap is Function.vmap or cls.generate_vmap_rule:
        return cls._recorded(_lifted(args, level, size), kwargs)
    outer = thread.batches
    batch = next((b for b in outer if b.level == level), Batch(level, size, "error"))
    dims = tuple(0 if isinstance(a, Tensor) and level_of(a) == level else None for a in args)
    thread.batches = tuple(b for b in outer if b.level < level)
    try:
        results, out_dims = cls.vmap(VmapInfo(size, batch.randomness), dims, *[_physical(a, batch) for a in args])
    finally:
        thread.batches = outer
    if isinstance(results, Tensor):
        return results if out_dims is None else enter_batch(results, out_dims, level, size), None
    places = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(results)
    return tuple(r if d is None or not isinstance(r, Tensor) else enter_batch(r, d, level, size) for r, d in zip(results, places)), None


upper.batched, upper.batched_function = run, run_function

#: Ops that draw numbers; of ELEMENTWISE ones a batch of samples is one larger tensor.
ELEMENTWISE = frozenset(("rand_like", "randn_like", "randint_like", "bernoulli", "poisson", "dropout", "alpha_dropout", "native_dropout"))
FILLS = frozenset(("bernoulli_", "normal_", "uniform_", "random_", "exponential_", "geometric_", "cauchy_", "log_normal_"))
FACTORIES = frozenset(("rand", "randn"))
RANDOM = ELEMENTWISE | FILLS | FACTORIES | frozenset((
    "randint", "randperm", "normal", "multinomial", "dropout1d", "dropout2d", "dropout3d", "feature_dropout", "feature_alpha_dropout", "rrelu", "rrelu_",
    "binomial", "_standard_gamma", "_sample_dirichlet", "dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_"))
REFUSED = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform "
           "the randomness operation out of vmap")


#: Ops whose results are values or have a shape that depends on them: they have no meaning for a batch.
READING = frozenset(("item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero", "numpy", "nonzero", "argwhere", "unique",
                     "unique_consecutive", "masked_select", "bincount", "equal", "allclose", "__contains__", "__repr__", "__format__"))


def _one_by_one(op: Any, args: tuple, kwargs: dict[str, Any], batch: Batch) -> Any:
    """An op that looks at values, on one sample after another; None where its results are not tensors of one shape."""
    results = [_below(op, [_physical(v, batch, k) for v in args], {n: _physical(v, batch, k) for n, v in kwargs.items()}, batch) for k in range(batch.size)]
    return _stacked(results, batch)


def _stacked(results: list[Any], batch: Batch) -> Any:
    if not results:
        return None
    first = results[0]
    if isinstance(first, Tensor):
        return enter_batch(stack(results), 0, batch.level, batch.size) if all(r.shape == first.shape for r in results) else None
    if isinstance(first, tuple):
        parts = [_stacked([r[k] for r in results], batch) for k in range(len(first))]
        return None if any(p is None for p in parts) else type(first)(parts) if type(first) is not tuple else tuple(parts)
    return None


def _random(op: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A random op: refused, the same numbers for all samples, or different ones."""
    batch = thread.batches[-1]
    generator = kwargs.get("generator") or default_generator
    before = generator.get_state()
    if batch.randomness == "same":
        return _same_numbers(op, args, kwargs, generator, before)
    result = _different_numbers(op, args, kwargs, batch)
    if batch.randomness == "error" and not bool((generator.get_state() == before)._a.all()):
        generator.set_state(before)
        raise RuntimeError(f"{REFUSED} ({op.name})")
    return result


def _below(op: Any, args: Any, kwargs: dict[str, Any], batch: Batch) -> Any:
    """The op one level further out."""
    outer = thread.batches
    thread.batches = outer[:-1]
    try:
        return upper.dispatch(op, tuple(args), kwargs)
    finally:
        thread.batches = outer


def _physical(value: Any, batch: Batch, k: int | None = None) -> Any:
    """A tensor's samples, or sample k (also inside of lists and tuples)."""
    if value.__class__ is list or value.__class__ is tuple:
        return type(value)([_physical(v, batch, k) for v in value])
    if isinstance(value, Tensor) and level_of(value) == batch.level:
        whole = leave_batch(value, batch.level, batch.size, 0)
        return whole if k is None else whole.select(0, k)
    return value


def _filled(op: Any, args: tuple, kwargs: dict[str, Any], batch: Batch) -> Tensor:
    x = args[0]
    if level_of(x) < batch.level:
        raise RuntimeError("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
                           f"necessary for your usage, please file an issue with functorch. ({op.name}: make the tensor with new_empty of a batched one)")
    if x._a.a.shape[0] != batch.size:
        x._a = BatchedArray(x._a.library.empty_like(x._a, x._a.dtype).a, batch.level, batch.size)
    _below(op, (wrap(x._a.a), *args[1:]), kwargs, batch)
    bump(x)
    return x


def _different_numbers(op: Any, args: tuple, kwargs: dict[str, Any], batch: Batch) -> Any:
    name = op.name
    if name in FILLS:
        return _filled(op, args, kwargs, batch)
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
    if name in FACTORIES and args:
        sizes = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        return enter_batch(_below(op, (batch.size, *sizes), kwargs, batch), 0, batch.level, batch.size)
    if name in ELEMENTWISE and len(tensors) == 1 and level_of(tensors[0]) == batch.level:
        result = _below(op, [_physical(v, batch) for v in args], {k: _physical(v, batch) for k, v in kwargs.items()}, batch)
        return enter_batch(result, 0, batch.level, batch.size)
    return _one_by_one(op, args, kwargs, batch)


def _same_numbers(op: Any, args: tuple, kwargs: dict[str, Any], generator: Any, before: Any) -> Any:
    batch = thread.batches[-1]
    if not any(isinstance(v, Tensor) and level_of(v) == batch.level for v in (*args, *kwargs.values())):
        return _below(op, args, kwargs, batch)
    results = []
    for k in range(batch.size):
        generator.set_state(before)
        results.append(_below(op, [_physical(v, batch, k) for v in args], {n: _physical(v, batch, k) for n, v in kwargs.items()}, batch))
    if op.name.endswith("_") and isinstance(args[0], Tensor):
        bump(args[0])
        return args[0]
    return enter_batch(stack(results), 0, batch.level, batch.size)

