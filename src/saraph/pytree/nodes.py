"""The containers: what takes part in a tree, how each type comes apart and together, and the steps of paths."""
from __future__ import annotations

import dataclasses
import functools
import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from saraph.ops import return_types
from saraph.shapes import Size

PyTree = Any
Context = Any
DumpableContext = Any
FlattenFunc = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFunc = Callable[[Iterable[Any], Context], PyTree]
FlattenWithKeysFunc = Callable[[PyTree], tuple[list[tuple[Any, Any]], Any]]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]


class NodeDef(NamedTuple):
    """How containers of one type come apart and together."""

    type: Any
    flatten_fn: FlattenFunc
    unflatten_fn: UnflattenFunc
    flatten_with_keys_fn: FlattenWithKeysFunc | None


class _SerializeNodeDef(NamedTuple):
    """How specs of one container type are written down."""

    typ: Any
    serialized_type_name: str
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"
BUILTIN_TYPES: frozenset[Any] = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})


# -- steps of a path --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A step into a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The element this step leads to."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A step into a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The value this step leads to."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A step into an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The attribute this step leads to."""
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple[Any, ...]


# -- registering ------------------------------------------------------------------------------------------------------------


def register_pytree_node(cls: type, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, *, serialized_type_name: str | None = None,
                         to_dumpable_context: ToDumpableContextFn | None = None, from_dumpable_context: FromDumpableContextFn | None = None,
                         flatten_with_keys_fn: FlattenWithKeysFunc | None = None) -> None:
    """Make a class a container: `flatten_fn(x)` gives (children, context), `unflatten_fn(children, context)` an equal x.

    `flatten_with_keys_fn` gives (key, child) pairs for paths; `serialized_type_name` and the two context functions serve `treespec_dumps`.
    ValueError where the class is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name, to_dumpable_context=to_dumpable_context,
                                  from_dumpable_context=from_dumpable_context, flatten_with_keys_fn=flatten_with_keys_fn)


def _private_register_pytree_node(cls: Any, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, *, serialized_type_name: str | None = None,
                                  to_dumpable_context: ToDumpableContextFn | None = None,
                                  from_dumpable_context: FromDumpableContextFn | None = None,
                                  flatten_with_keys_fn: FlattenWithKeysFunc | None = None) -> None:
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    name = NO_SERIALIZED_TYPE_NAME_FOUND if serialized_type_name is None else serialized_type_name
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, to_dumpable_context, from_dumpable_context)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: Any) -> None:
    """Forget a class again."""
    SUPPORTED_NODES.pop(cls, None)
    CONSTANT_NODES.discard(cls)
    known = SUPPORTED_SERIALIZED_TYPES.pop(cls, None)
    if known is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(known.serialized_type_name, None)


def register_dataclass(cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
                       serialized_type_name: str | None = None) -> None:
    """Make a dataclass a container of its fields; fields that are None are part of the spec, `drop_field_names` are left out."""
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(f"field_names must be specified with a list of all fields used to construct {cls}: it is no dataclass")
        field_names = [f.name for f in dataclasses.fields(cls) if f.init]
    kept = [name for name in field_names if name not in (drop_field_names or ())]

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        present = [name for name in kept if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in present], [present, [name for name in kept if getattr(obj, name) is None]]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[Any, Any]], Any]:
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values)], context

    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=flatten_with_keys)


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """What the spec holds of a constant."""

    value: Any


def register_constant(cls: type) -> None:
    """Values of this class have no leaves: they are part of the spec (so they must compare and hash by value)."""
    if cls.__eq__ is object.__eq__:
        raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `__eq__` implementation: {cls}")
    if cls.__hash__ is None or cls.__hash__ is object.__hash__:
        raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `__hash__` implementation: {cls}")
    _private_register_pytree_node(cls, lambda x: ([], ConstantNode(x)), lambda _, context: context.value,
                                  flatten_with_keys_fn=lambda x: ([], ConstantNode(x)))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether values of this class are constants."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# -- the containers that are known ------------------------------------------------------------------------------------------


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class was made by `namedtuple`."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple) and hasattr(cls, "_make")


def is_namedtuple(obj: Any) -> bool:
    """Whether a value is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether a value is a named tuple."""
    return is_namedtuple_class(type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def _sequence_keys(children: list[Any], context: Context) -> tuple[list[tuple[Any, Any]], Context]:
    return [(SequenceKey(i), child) for i, child in enumerate(children)], context


def _list_flatten(x: Any) -> tuple[list[Any], Context]:
    return list(x), None


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    return list(values)


def _list_flatten_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return _sequence_keys(*_list_flatten(x))


def _tuple_flatten(x: Any) -> tuple[list[Any], Context]:
    return list(x), None


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    return tuple(values)


def _tuple_flatten_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return _sequence_keys(*_tuple_flatten(x))


def _dict_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d.values()), list(d.keys())


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values))


def _dict_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Context]:
    values, context = _dict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values)], context


def _ordereddict_unflatten(values: Iterable[Any], context: Context) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values))


def _defaultdict_flatten(d: Any) -> tuple[list[Any], Context]:
    values, keys = _dict_flatten(d)
    return values, [d.default_factory, keys]


def _defaultdict_unflatten(values: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    factory, keys = context
    return defaultdict(factory, _dict_unflatten(values, keys))


def _defaultdict_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return _dict_flatten_with_keys(d)[0], _defaultdict_flatten(d)[1]


def _namedtuple_flatten(x: Any) -> tuple[list[Any], Context]:
    return list(x), type(x)


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return context(*values)


def _namedtuple_flatten_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return [(GetAttrKey(name), value) for name, value in zip(type(x)._fields, x)], type(x)


def _deque_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), d.maxlen


def _deque_unflatten(values: Iterable[Any], context: Context) -> deque[Any]:
    return deque(values, maxlen=context)


def _deque_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return _sequence_keys(*_deque_flatten(d))


_ordereddict_flatten, _ordereddict_flatten_with_keys = _dict_flatten, _dict_flatten_with_keys
_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten


def is_structseq_class(cls: type) -> bool:
    """Whether a class is one of Python's struct sequences (`time.struct_time`, ...): a tuple with named fields that was not made by `namedtuple`."""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and all(isinstance(cls.__dict__.get(name), int)
                                                                       for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields"))


def is_structseq(obj: Any) -> bool:
    """Whether a value is a struct sequence, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Whether a value is a struct sequence."""
    return is_structseq_class(type(obj))


def _defaultdict_serialize(context: Context) -> DumpableContext:
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def _defaultdict_deserialize(written: DumpableContext) -> Context:
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


def _namedtuple_serialize(context: Context) -> DumpableContext:
    known = SUPPORTED_SERIALIZED_TYPES.get(context)
    if known is None:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a serializated_type_name. "
                                  "Please register using `_register_namedtuple`.")
    return known.serialized_type_name


def _namedtuple_deserialize(written: DumpableContext) -> Context:
    if written not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {written} because we couldn't find a serialized name.")
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[written]


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Let the specs of trees with this class of named tuples be written down."""
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, serialized_type_name, None, None)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def _result_unflatten(make: type, values: Iterable[Any], context: Context) -> Any:
    return make(list(values))


def _register_builtins() -> None:
    register = _private_register_pytree_node
    register(tuple, _tuple_flatten, _tuple_unflatten, serialized_type_name="builtins.tuple", flatten_with_keys_fn=_tuple_flatten_with_keys)
    register(list, _list_flatten, _list_unflatten, serialized_type_name="builtins.list", flatten_with_keys_fn=_list_flatten_with_keys)
    register(dict, _dict_flatten, _dict_unflatten, serialized_type_name="builtins.dict", flatten_with_keys_fn=_dict_flatten_with_keys)
    register(namedtuple, _namedtuple_flatten, _namedtuple_unflatten, serialized_type_name="collections.namedtuple",
             to_dumpable_context=_namedtuple_serialize, from_dumpable_context=_namedtuple_deserialize,
             flatten_with_keys_fn=_namedtuple_flatten_with_keys)
    register(OrderedDict, _ordereddict_flatten, _ordereddict_unflatten, serialized_type_name="collections.OrderedDict",
             flatten_with_keys_fn=_ordereddict_flatten_with_keys)
    register(defaultdict, _defaultdict_flatten, _defaultdict_unflatten, serialized_type_name="collections.defaultdict",
             to_dumpable_context=_defaultdict_serialize, from_dumpable_context=_defaultdict_deserialize,
             flatten_with_keys_fn=_defaultdict_flatten_with_keys)
    register(deque, _deque_flatten, _deque_unflatten, serialized_type_name="collections.deque", flatten_with_keys_fn=_deque_flatten_with_keys)
    register(Size, _tuple_flatten, lambda values, context: Size(values), serialized_type_name="torch.Size",
             flatten_with_keys_fn=_tuple_flatten_with_keys)
    for name in return_types.__all__:
        result = getattr(return_types, name)
        if isinstance(result, type) and issubclass(result, tuple):
            register(result, _tuple_flatten, functools.partial(_result_unflatten, result), flatten_with_keys_fn=_tuple_flatten_with_keys)


_register_builtins()
