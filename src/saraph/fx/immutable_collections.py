"""Lists and dicts that cannot be changed: what the arguments of nodes are made of (a change in place would escape the bookkeeping of users)."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from saraph.utils._pytree import MappingKey, SequenceKey, register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args of a "
                    "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
                    "    new_args = ...  # copy and mutate args\n    node.args = new_args\n")


class immutable_list(list):  # noqa: N801
    """A list that refuses changes."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict):  # noqa: N801
    """A dict that refuses changes."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


def _unflatten_dict(values: Iterable[Any], context: Any) -> immutable_dict:
    return immutable_dict(zip(context, values))


register_pytree_node(immutable_list, lambda x: (list(x), None), lambda values, context: immutable_list(values),
                     serialized_type_name="torch.fx.immutable_collections.immutable_list",
                     flatten_with_keys_fn=lambda x: ([(SequenceKey(i), v) for i, v in enumerate(x)], None))
register_pytree_node(immutable_dict, lambda x: (list(x.values()), list(x)), _unflatten_dict,
                     serialized_type_name="torch.fx.immutable_collections.immutable_dict",
                     flatten_with_keys_fn=lambda x: ([(MappingKey(k), v) for k, v in x.items()], list(x)))
