"""The registry: every op, defined once, with what the rest of the house wants to know about it.

    @op(method=True, inplace=True)
    def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        '''Docstring.'''
        ...

The decorated name is the public function: it looks at the one mode word, then runs the body. From the decoration follow

    namespaces   where the name is public ("torch", "nn.functional", "special", "linalg", ...; several are possible)
    method       True: `Tensor.<name>` too (the same function); a string or tuple: under these names; False: no method
    inplace      True: `Tensor.<name>_` (and `torch.<name>_` where the op is public in "torch"), made from the functional form
    out          an op whose signature lists `out` gets it from here: the body may ignore it (it is always None there);
                 False: the body itself serves `out`; "exact": out= tensors must have the result's very dtype; "apart": and must not share
                 memory with the inputs
    aliases      further public names in the same namespaces (and as methods)
    autocast     "lower" (run in the autocast dtype), "float32", "widest", or None (take what comes)

The keyword spellings `axis`, `keepdims`, `x1`, `x2` are understood for `dim`, `keepdim`, `input`, `other`.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from saraph.ops import inplace as writing
from saraph.tensor.state import state, upper
from saraph.tensor.tensor import Tensor

__all__ = ["Op", "OPS", "NAMESPACES", "op", "register", "method"]


class Op:
    """What is known about one op."""

    __slots__ = ("name", "body", "public", "namespaces", "methods", "inplace", "out", "aliases", "autocast", "rounds_weight")

    def __init__(self, name: str, body: Callable, namespaces: tuple[str, ...], methods: tuple[str, ...], inplace: bool, out: bool | str,
                 aliases: tuple[str, ...], autocast: str | None):
        self.name, self.body, self.public = name, body, body
        self.namespaces, self.methods, self.inplace, self.out = namespaces, methods, inplace, out
        self.aliases, self.autocast = aliases, autocast
        self.rounds_weight = False  # under autocast: takes its second argument in float32, and rounds it

    def __repr__(self) -> str:
        return f"<op {self.name}>"


OPS: dict[str, Op] = {}
NAMESPACES: dict[str, dict[str, Callable]] = {}
OF_PUBLIC: dict[Callable, Op] = {}
_KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "x1": "input", "x2": "other", "x": "input"}


def op(*, name: str | None = None, namespaces: str | tuple[str, ...] = "torch", method: bool | str | tuple[str, ...] = False,
       inplace: bool = False, aliases: tuple[str, ...] = (), autocast: str | None = None, out: bool | str = True) -> Callable[[Callable], Callable]:
    """Decorator that enters a function as an op (see the top of this file)."""

    def enter(body: Callable) -> Callable:
        own = name or body.__name__.rstrip("_")
        record = register(body, own, namespaces, method, inplace, aliases, autocast)
        record.out = record.out and out
        record.public = standard_public(record)
        _publish(record)
        return record.public

    return enter


def register(body: Callable, name: str, namespaces: str | tuple[str, ...] = "torch", method: bool | str | tuple[str, ...] = False,
             inplace: bool = False, aliases: tuple[str, ...] = (), autocast: str | None = None) -> Op:
    """An Op record for a body; families with a fast path of their own set `.public` and call `publish` themselves."""
    spaces = (namespaces,) if isinstance(namespaces, str) else namespaces
    methods = ((name, *aliases) if method is True else () if method is False else (method,) if isinstance(method, str) else method)
    code = body.__code__
    takes_out = "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    record = Op(name, body, spaces, methods, inplace, takes_out, aliases, autocast)
    key = name if spaces[:1] == ("torch",) or not spaces else f"{spaces[0]}.{name}"
    if key in OPS:
        raise ValueError(f"op {key} is defined twice: in {OPS[key].body.__module__} and {body.__module__}")
    OPS[key] = record
    return record


def publish(record: Op, public: Callable) -> Callable:
    """Make `public` the op's public function: enter it in its namespaces and bind its methods."""
    record.public = public
    _publish(record)
    return public


def method(*names: str) -> Callable[[Callable], Callable]:
    """Decorator: a function becomes methods of Tensor under these names (default: its own); modes are looked at first."""

    def bind(body: Callable) -> Callable:
        record = Op(body.__name__, body, (), names or (body.__name__,), False, False, (), None)
        record.public = standard_public(record)
        _publish(record)
        return record.public

    return bind


def _publish(record: Op) -> None:
    OF_PUBLIC[record.public] = record
    for space in record.namespaces:
        table = NAMESPACES.setdefault(space, {})
        for key in (record.name, *record.aliases):
            table[key] = record.public
    for key in record.methods:
        setattr(Tensor, key, record.public)
    if record.inplace:
        for key in dict.fromkeys((record.name, *record.aliases, *record.methods)):
            writer = _inplace(record, key + "_")
            setattr(Tensor, key + "_", writer)
            if "torch" in record.namespaces:
                NAMESPACES["torch"].setdefault(key + "_", writer)


def standard_public(record: Op) -> Callable:
    """The public function that looks at keywords, `out` and the mode word, then runs the body."""
    body, takes_out = record.body, record.out

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if not _KEYWORDS.keys().isdisjoint(kwargs):
                kwargs = _respell(body, kwargs)
            if takes_out and kwargs.get("out") is not None:
                return with_out(record, args, kwargs)
        if state.active:
            return upper.dispatch(record, args, kwargs)
        try:
            return body(*args, **kwargs)
        except (TypeError, AttributeError):
            result = upper.foreign(record, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    return call


def _respell(body: Callable, kwargs: dict[str, Any]) -> dict[str, Any]:
    code = body.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {(_KEYWORDS[k] if k in _KEYWORDS and k not in names and _KEYWORDS[k] in names else k): v for k, v in kwargs.items()}


def with_out(record: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run an op and put its result into `out` (resized where its shape differs)."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    if state.active:
        handled = upper.dispatch(record, args, {**kwargs, "out": out})
        return handled
    return writing.put_out(record, out, args, kwargs)


def _inplace(record: Op, name: str) -> Callable:
    body = record.body

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if kwargs and not _KEYWORDS.keys().isdisjoint(kwargs):
            kwargs = _respell(body, kwargs)
        if state.active:
            return upper.dispatch(update, (self, *args), kwargs)
        return writing.update(self, name, body, args, kwargs)

    def body_of_update(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return writing.update(self, name, body, args, kwargs)

    update = Op(name, body_of_update, (), (), False, False, (), record.autocast)
    update.public = write
    OF_PUBLIC[write] = update
    write.__name__ = name
    write.__qualname__ = f"Tensor.{name}"
    write.__doc__ = f"In-place version of `{record.name}`: writes the result over the tensor and returns it."
    return write
