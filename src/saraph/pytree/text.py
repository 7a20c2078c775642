"""Specs as text: `treespec_dumps` and `treespec_loads` (JSON, protocol 1, as PyTorch writes it) and a form for reading."""
from __future__ import annotations

import enum
import json
from typing import Any

from saraph.pytree.nodes import NO_SERIALIZED_TYPE_NAME_FOUND, SERIALIZED_TYPE_TO_PYTHON_TYPE, SUPPORTED_NODES, SUPPORTED_SERIALIZED_TYPES
from saraph.pytree.trees import _LEAF_SPEC, TreeSpec

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1
_ENUM_KEY = "__enum__"


class EnumEncoder(json.JSONEncoder):
    """Writes members of enums (keys of dicts may be such)."""

    def default(self, o: object) -> Any:
        """An enum's member by its class and name."""
        if isinstance(o, enum.Enum):
            return {_ENUM_KEY: True, "fqn": f"{type(o).__module__}:{type(o).__qualname__}", "name": o.name}
        return super().default(o)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A spec as JSON text. NotImplementedError for containers registered without `serialized_type_name`."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}.")
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check(protocol)
    return json.dumps((protocol, _written(treespec)), cls=EnumEncoder)


def treespec_loads(serialized: str) -> TreeSpec:
    """The spec that `treespec_dumps` wrote. ValueError for a protocol that is not known."""
    protocol, written = json.loads(serialized)
    _check(protocol)
    return _read(written)


def _check(protocol: int) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL}]")


def _written(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    known = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None or known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call with a "
                                  "`serialized_type_name` kwarg.")
    if known.to_dumpable_context is None:
        try:
            context = json.dumps(spec.context, cls=EnumEncoder)
        except TypeError as error:
            raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
                            "_register_pytree_node.") from error
    else:
        context = known.to_dumpable_context(spec.context)
    return {"type": known.serialized_type_name, "context": context, "children_spec": [_written(c) for c in spec.children_specs]}


def _read(written: dict[str, Any]) -> TreeSpec:
    name = written["type"]
    if name is None:
        return _LEAF_SPEC
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise ValueError(f"Deserializing `{name}` in pytree is not registered.")
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    known = SUPPORTED_SERIALIZED_TYPES[kind]
    context = written["context"]
    context = known.from_dumpable_context(context) if known.from_dumpable_context is not None else json.loads(context, object_hook=enum_object_hook)
    return TreeSpec(kind, context, [_read(child) for child in written["children_spec"]])


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """Reads what `EnumEncoder` wrote: the class is looked up among those loaded."""
    if _ENUM_KEY not in obj:
        return obj
    for cls in _enum_classes(enum.Enum):
        if f"{cls.__module__}:{cls.__qualname__}" == obj["fqn"]:
            return cls[obj["name"]]
    raise ValueError(f"the spec holds a member of the enum {obj['fqn']}, which is not loaded: import its module first")


def _enum_classes(base: type) -> list[Any]:
    found: list[Any] = list(base.__subclasses__())
    return found + [cls for inner in found for cls in _enum_classes(inner)]


class _Asterisk(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


_asterisk = _Asterisk("*")


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree with `*` for leaves, for reading."""
    return repr(treespec.unflatten([_asterisk] * treespec.num_leaves))


def pytree_to_str(spec: TreeSpec) -> str:
    """The old name of `treespec_dumps`."""
    return treespec_dumps(spec)


def str_to_pytree(text: str) -> TreeSpec:
    """The old name of `treespec_loads`."""
    return treespec_loads(text)


__all__ = ["DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL", "EnumEncoder", "SUPPORTED_NODES", "enum_object_hook", "pytree_to_str", "str_to_pytree",
           "treespec_dumps", "treespec_loads", "treespec_pprint"]
