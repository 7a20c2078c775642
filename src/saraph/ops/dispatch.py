"""The slow path of every op, taken while some mode is on: `__torch_function__` modes and subclasses first, then autocast."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saraph import dtypes
from saraph.ops.inplace import put_out
from saraph.ops.promotion import cast
from saraph.tensor.state import thread, upper
from saraph.tensor.subclass import is_overriding
from saraph.tensor.tensor import PLAIN, Tensor


def dispatch(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run an op's body the way the active modes want it."""
    if thread.function_modes:
        return _through_mode(record, args, kwargs)
    if not thread.function_disabled:
        overloaded = overloaded_types(args, kwargs)
        if overloaded:
            return call_overloads(record.public, overloaded, args, kwargs)
    out = kwargs.get("out") if record.out else None
    if out is not None:
        rest = {k: v for k, v in kwargs.items() if k != "out"}
        return put_out(record, out, args, rest)
    return upper.dual(record, args, kwargs) if thread.dual is not None else plainly(record, args, kwargs)


def plainly(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An op that nobody overrides and of which no tangent is wanted."""
    if thread.autocast is not None and record.autocast is not None:
        return _in_autocast(record, args, kwargs)
    return upper.batched(record, args, kwargs) if thread.batches else record.body(*args, **kwargs)


def writes(name: str) -> bool:
    """Whether an op of that name writes into its first argument."""
    return (name.endswith("_") and not name.endswith("__")) or name in ("__setitem__", "_setitem_general")


def _in_autocast(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The body on cast arguments; the ops it is made of take them as they come."""
    table = thread.autocast
    wide = _unrounded(args) if record.rounds_weight else None
    if wide is None:
        args, kwargs = autocast_arguments(record.autocast, args, kwargs)
    else:
        rest, kwargs = autocast_arguments(record.autocast, (args[0], *args[2:]), kwargs)
        args = (rest[0], wide, *rest[1:])
    thread.autocast, thread.wide_weight = None, wide
    try:
        return upper.batched(record, args, kwargs) if thread.batches else record.body(*args, **kwargs)
    finally:
        thread.autocast, thread.wide_weight = table, None


def _through_mode(record: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    modes = thread.function_modes
    thread.function_modes = modes[:-1]
    try:
        types = tuple(type(x) for x in overloaded_types(args, kwargs))
        return modes[-1].__torch_function__(record.public, types, args, kwargs)
    finally:
        thread.function_modes = modes


def tensors_in(args: Any, kwargs: dict[str, Any] | None = None) -> Iterator[Any]:
    """Everything among the arguments (one list or tuple deep) that might override an op."""
    for value in (*args, *(kwargs.values() if kwargs else ())):
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def overloaded_types(args: tuple, kwargs: dict[str, Any] | None = None) -> list[Any]:
    """The arguments whose class has a `__torch_function__` of its own, subclasses before their bases."""
    found: list[Any] = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        cls = x.__class__
        if cls in PLAIN or cls in QUIET:
            continue
        if cls is tuple or cls is list or isinstance(x, (list, tuple)):
            for y in x:
                if y.__class__ not in PLAIN and y.__class__ not in QUIET:
                    _enter(found, y)
        else:
            _enter(found, x)
    return found


#: Classes of Python's own that override nothing.
QUIET = frozenset((int, float, bool, complex, str, type(None), type(...), slice, dtypes.dtype))


def _enter(found: list[Any], x: Any) -> None:
    """Put an argument of an overriding class, one that is not there yet, in its place."""
    cls = type(x)
    if not is_overriding(cls) or any(type(y) is cls for y in found):
        return
    found.insert(next((i for i, y in enumerate(found) if issubclass(cls, type(y))), len(found)), x)


def call_overloads(public: Any, overloaded: list[Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Ask each overriding class in turn; TypeError when all decline."""
    types = tuple(type(x) for x in overloaded)
    for x in overloaded:
        result = type(x).__torch_function__(public, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = getattr(public, "__name__", str(public))
    raise TypeError(f"no implementation found for 'torch.{name}' on types that implement __torch_function__: {list(types)}")


# -- autocast -------------------------------------------------------------------------------------------------------------


def autocast_arguments(policy: str, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments with their floating Tensors in the dtype that the policy asks for."""
    if policy == "lower":
        kind = thread.autocast.get("cpu")
    elif policy == "float32":
        kind = dtypes.float32
    else:
        tensors = [x for x in tensors_in(args, kwargs) if isinstance(x, Tensor) and _is_cast(x)]
        kind = max((x.dtype for x in tensors), key=lambda t: t.itemsize, default=None)
    if kind is None:
        return args, kwargs
    return tuple([_cast_nested(x, kind) for x in args]), {k: _cast_nested(v, kind) for k, v in kwargs.items()} if kwargs else kwargs


def _unrounded(args: tuple) -> Tensor | None:
    """The weight, if the op may take it in float32 and round it itself: no gradient is recorded, and it was not cast before."""
    kind = thread.autocast.get("cpu")
    if thread.grad or thread.batches or kind is not dtypes.bfloat16 or len(args) < 2:
        return None
    x, weight = args[:2]
    if x.__class__ not in PLAIN or weight.__class__ not in PLAIN or not _is_cast(x) or weight._a.dtype.char != "f":
        return None
    cache = thread.autocast_cache
    return None if cache is not None and (id(weight), kind) in cache else weight


def _is_cast(x: Tensor) -> bool:
    """Whether autocast converts a Tensor: all floating ones but float64."""
    return x._a.dtype.char in "feE"


def _cast_nested(value: Any, kind: dtypes.dtype) -> Any:
    if value.__class__ in QUIET:
        return value
    if isinstance(value, Tensor):
        return _cached_cast(value, kind) if _is_cast(value) and value._a.dtype is not kind.numpy else value
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return type(value)(_cast_nested(v, kind) for v in value)
    return value


def _cached_cast(value: Tensor, kind: dtypes.dtype) -> Tensor:
    """Weights (float32 leaves) are cast once per outermost autocast region."""
    cache = thread.autocast_cache
    if cache is None or not (value._rg is True and value._edge is None and value._view is None):
        return cast(value, kind)
    key = (id(value), kind)
    found = cache.get(key)
    if found is None:
        found = cache[key] = (value, cast(value, kind))
    return found[1]


upper.dispatch = dispatch
