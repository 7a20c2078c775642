"""`torch.utils.weak`: dictionaries and references by identity, for tensors (whose == is elementwise)."""
from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

__all__ = ["TensorWeakRef", "WeakIdRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to references of the same object, and hashes by its identity."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None):
        super().__init__(key, callback)  # type: ignore[call-arg]  # typeshed knows only __new__
        self._id = id(key)

    def __call__(self) -> Any:
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine = self()
        theirs = other() if isinstance(other, WeakIdRef) else None
        return mine is theirs if mine is not None and theirs is not None else self is other


class TensorWeakRef:
    """A weak reference to a tensor; call it to get the tensor or None."""

    def __init__(self, tensor: Any):
        self.ref = WeakIdRef(tensor)

    def __call__(self) -> Any:
        return self.ref()


class WeakIdKeyDictionary(MutableMapping):
    """A dict whose keys are compared by identity and held weakly: an entry goes when its key does."""

    def __init__(self, dict: Mapping | None = None, ref_type: type = WeakIdRef):
        self.data: Any = {}
        self.ref_type = ref_type
        owner = weakref.ref(self)

        def remove(key: Any) -> None:
            alive = owner()
            if alive is not None:
                alive.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __iter__(self) -> Iterator[Any]:
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self) -> list[Any]:
        """The weak references of the keys."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Another dictionary with the same entries."""
        return type(self)(dict(self.items()))

    __copy__ = copy


WeakTensorKeyDictionary = WeakIdKeyDictionary
