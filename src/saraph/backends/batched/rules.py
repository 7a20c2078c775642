"""How every primitive is computed for a whole batch.

A rule gets the primitive's arguments with each array as its physical one (the batch first, of its size or 1) and calls the primitive of the backend below.
Primitives without a rule run on one sample after another. What reads values into Python cannot be done for a batch and says so.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.backends import is_array, of, primitives
from saraph.backends.batched.array import INPLACE, VALUES, BatchedArray, NeedsValues, highest, makers, new_axis
from saraph.backends.cpu import FUNCTIONS

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
ALL = slice(None)


class Library:
    """The primitives of arrays of one level, as attributes."""

    name = "batched"

    def __init__(self, level: int, size: int) -> None:
        self.level, self.size = level, size

    def __getattr__(self, name: str) -> Any:
        if name in CREATED:
            found = _creation(name, self.level, self.size)
        elif name in READING:
            found = _refused(READING[name])
        elif name in primitives.VIEWS or name in FUNCTIONS:
            found = _primitive(name)
        else:
            raise AttributeError(f"there is no primitive {name}")
        self.__dict__[name] = found
        return found


makers.append(Library)


def _primitive(name: str) -> Callable[..., Any]:
    """A primitive over batched arrays."""
    rule = RULES.get(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        top = highest((*args, *kwargs.values()))
        if top is None:
            arrays = [a for a in args if is_array(a)]
            return getattr(of(*arrays), name)(*args, **kwargs)
        level, size = top.level, top.size_of_batch
        physical = [lowered(a, level) for a in args]
        named = {k: lowered(v, level) for k, v in kwargs.items()}
        result = NotImplemented if rule is None else rule(*physical, **named)
        if result is NotImplemented:
            return _one_by_one(name, level, size, physical, named)
        return raised(result, level, size)

    call.__name__ = name
    return call


def lowered(value: Any, level: int) -> Any:
    """The physical array of an argument: the batch comes first, of size 1 for arrays of lower levels."""
    if value.__class__ is BatchedArray and value.level == level:
        return value.a
    if is_array(value):
        return new_axis(value)
    if isinstance(value, (list, tuple)) and arrays_in(value):
        return type(value)([lowered(v, level) for v in value])
    return value


def raised(result: Any, level: int, size: int) -> Any:
    """Physical results as arrays of a level."""
    if is_array(result):
        return BatchedArray(result, level, size)
    if isinstance(result, (list, tuple)) and any(is_array(r) for r in result):
        return type(result)([raised(r, level, size) for r in result])
    return result


def arrays_in(values: Any) -> list[Any]:
    """The physical arrays among arguments, lists looked into."""
    found: list[Any] = []
    for v in values:
        if is_array(v):
            found.append(v)
        elif isinstance(v, (list, tuple)):
            found.extend(arrays_in(v))
    return found


def whole(a: Any, size: int) -> Any:
    """A physical array with the whole batch."""
    return a if not is_array(a) or a.shape[0] == size else of(a).broadcast_to(a, (size, *a.shape[1:]))


def common(values: Any) -> int:
    """The size of the batch: that of any array which has more than one sample, or none."""
    sizes = [a.shape[0] for a in arrays_in(values)]
    return next((n for n in sizes if n != 1), 1)


def all_whole(values: Any) -> list[Any]:
    """Arguments whose arrays all have the whole batch."""
    size = common(values)
    return [whole(v, size) for v in values]


def padded(a: Any, rank: int) -> Any:
    """A physical array whose samples have `rank` dimensions: ones are put in after the batch."""
    missing = rank - (a.ndim - 1)
    return a if missing <= 0 else of(a).getitem(a, (ALL, *(None,) * missing, ...))


def aligned(values: Any) -> list[Any]:
    """Arguments whose arrays have samples of equally many dimensions."""
    rank = max(a.ndim - 1 for a in values if is_array(a))
    return [padded(v, rank) if is_array(v) else v for v in values]


def below(name: str, *args: Any, **kwargs: Any) -> Any:
    """A primitive of the backend below."""
    return getattr(of(*arrays_in(args)), name)(*args, **kwargs)


# -- one sample after another -------------------------------------------------------------------------------------------------


def _sample(value: Any, k: int) -> Any:
    if is_array(value):
        return of(value).getitem(value, (k if value.shape[0] != 1 else 0, ...))
    if isinstance(value, (list, tuple)) and arrays_in(value):
        return type(value)([_sample(v, k) for v in value])
    return value


def _one_by_one(name: str, level: int, size: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The primitive on every sample; results are stacked."""
    values = (*args, *kwargs.values())
    count = common(values)
    if name in WRITING and arrays_in(args[:1])[0].shape[0] != count:
        raise RuntimeError(INPLACE)
    results = [getattr(of(*arrays_in(sample)), name)(*sample, **{k: _sample(v, i) for k, v in kwargs.items()})
               for i in range(count) for sample in [[_sample(a, i) for a in args]]]
    if not results:
        shape_only = [_made_up(v) for v in args]
        one = getattr(of(*arrays_in(shape_only)), name)(*shape_only, **{k: _made_up(v) for k, v in kwargs.items()})
        return _joined([one], level, size, True)
    return _joined(results, level, size, False)


def _made_up(value: Any) -> Any:
    """A sample of an empty batch."""
    if is_array(value):
        return of(value).zeros(value.shape[1:], value.dtype)
    if isinstance(value, (list, tuple)) and arrays_in(value):
        return type(value)([_made_up(v) for v in value])
    return value


def _joined(results: list[Any], level: int, size: int, empty: bool) -> Any:
    first = results[0]
    if is_array(first):
        if any(r.shape != first.shape for r in results):
            raise RuntimeError(VALUES.format(what="calling an operation whose result's shape depends on the values"))
        stacked = of(*results).stack(results, 0)
        return BatchedArray(of(stacked).getitem(stacked, slice(0, 0)) if empty else stacked, level, size)
    if isinstance(first, (list, tuple)):
        return type(first)([_joined([r[k] for r in results], level, size, empty) for k in range(len(first))])
    if hasattr(first, "dtype"):  # a NumPy number
        return _joined([of(first).scalar(r, first.dtype) for r in results], level, size, empty)
    return first


WRITING = ("copy_into", "fill", "write_index", "scale_all", "copy_memory")


# -- making and reading arrays --------------------------------------------------------------------------------------------------

CREATED = ("zeros", "ones", "full", "empty", "empty_strided", "empty_like")
READING = {"item": "calling .item()", "tolist": "calling .tolist()", "host": "reading values (numpy(), printing)", "nonzero": "calling torch.nonzero()",
           "masked_select": "calling torch.masked_select()", "unique": "calling torch.unique()", "unique_consecutive": "calling torch.unique_consecutive()",
           "bincount": "calling torch.bincount()"}


def _creation(name: str, level: int, size: int) -> Callable[..., Any]:
    """New arrays that samples may be written to: every sample has its own memory."""

    def make(shape: Any, *args: Any, **kwargs: Any) -> BatchedArray:
        if name == "empty_like":
            return BatchedArray(of().empty((size, *shape.shape), *args), level, size)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if name == "empty_strided":
            strides, dtype = args
            reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides) if n)
            return BatchedArray(of().empty_strided((size, *shape), (reach, *strides), dtype), level, size)
        return BatchedArray(getattr(of(), name)((size, *shape), *args, **kwargs), level, size)

    return make


def _refused(what: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NeedsValues(VALUES.format(what=what))

    return refuse
