"""Names: what functions and types are called in graphs and generated code, and unique names for nodes.

Names are PyTorch's (`torch.relu`, `torch.nn.functional.gelu`): generated code has `torch` bound to saraph.
"""
from __future__ import annotations

import builtins
import inspect
import keyword
import math
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

import saraph
from saraph.devices import device
from saraph.ops.registry import NAMESPACES, OF_PUBLIC
from saraph.tensor.tensor import Tensor

_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.*)_(\d+)$")
_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
# Names that generated code can use without a definition: (what they mean, the line that imports them).
CUSTOM_BUILTINS: dict[str, tuple[Any, str]] = {
    "inf": (math.inf, "from math import inf"),
    "nan": (math.nan, "from math import nan"),
    "NoneType": (type(None), "NoneType = type(None)"),
    "torch": (saraph, "import saraph as torch"),
    "device": (device, "from saraph import device"),
}


def register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    """Let generated code use `name` for an object whose repr contains it."""
    CUSTOM_BUILTINS[name] = (obj, import_str)


def snake_case(name: str) -> str:
    """`layerNorm` -> `layer_norm`."""
    return _HUMP.sub(r"_\1", name).lower()


def target_name(target: Any) -> str:
    """What a node is called after its target, before it is made unique."""
    if callable(target):
        record = OF_PUBLIC.get(target) if isinstance(target, types.FunctionType) else None
        return snake_case(record.name if record is not None and "nn.functional" in record.namespaces else target.__name__)
    return snake_case(target[2:-2] if _is_magic(target) else target)


def _is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Namespace:
    """Hands out names that are legal and not taken."""

    def __init__(self) -> None:
        self._of_object: dict[int, str] = {}
        self._used: dict[str, None] = {}
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A unique name that resembles `candidate`; the one given before where `obj` (unless None) has one."""
        if obj is not None and id(obj) in self._of_object:
            return self._of_object[id(obj)]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, number = candidate, 0
        if match := _NUMBERED.match(candidate):
            base, number = match[1], int(match[2])
        elif candidate in self._used or self._is_illegal(candidate, obj):
            number = self._counts.get(base, 0)
        while candidate in self._used or self._is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used[candidate] = None
        self._counts[base] = max(number, self._counts.get(base, 0))
        if obj is not None:
            self._of_object[id(obj)] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Let `obj` be called `name` from now on."""
        self._of_object[id(obj)] = name

    def rename_object(self, obj: Any, name: str) -> None:
        """Give an object another name, which is taken from now on."""
        self._of_object[id(obj)] = name
        self._used[name] = None

    def forget(self, obj: Any) -> None:
        """An object is gone (its name stays taken)."""
        self._of_object.pop(id(obj), None)

    @staticmethod
    def _is_illegal(name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if name in builtins.__dict__:
            return builtins.__dict__[name] is not obj
        return name in CUSTOM_BUILTINS and CUSTOM_BUILTINS[name][0] is not obj


def is_from_torch(obj: Any) -> bool:
    """Whether an object is reached under `torch` in generated code."""
    if isinstance(obj, types.FunctionType) and obj in OF_PUBLIC:
        return True
    module = getattr(obj, "__module__", None)
    if isinstance(module, str) and isinstance(obj, (type, types.FunctionType, types.BuiltinFunctionType)):
        return module.partition(".")[0] == "saraph"
    return False


def qualified_name(func: Callable[..., Any], kwargs: Mapping[str, Any] | None = None) -> str:
    """The dotted name under which generated code reaches a function: `torch.add`, `len`, `_operator.abs`, `package.module.function`.

    Of a function that is public as `torch.relu` and as `torch.nn.functional.relu`, the keywords of a call tell which was meant.
    """
    name = getattr(func, "__name__", None)
    if name is None:
        raise RuntimeError(f"cannot name {func!r}: a call_function target needs a __name__ (wrap the object in a function)")
    if getattr(builtins, name, None) is func:
        return name
    record = OF_PUBLIC.get(func) if isinstance(func, types.FunctionType) else None
    if record is not None:
        return _name_of_op(record, func, kwargs)
    module = _module_of(func)
    module = {"saraph": "torch", "saraph.vision": "torchvision"}.get(module, module)
    if module.startswith("saraph."):
        module = "torch." + module[len("saraph."):]
    return f"{module}.{name}"


def _name_of_op(record: Any, func: Callable[..., Any], kwargs: Mapping[str, Any] | None) -> str:
    first = "nn.functional" if kwargs is None or _notes_defaults(func, kwargs) else "torch"
    for space in sorted(record.namespaces, key=lambda space: space != first) if is_shared(record) else record.namespaces:
        for name in (record.name, *record.aliases):
            if NAMESPACES.get(space, {}).get(name) is func:
                return f"torch.{name}" if space == "torch" else f"torch.{space}.{name}"
    if NAMESPACES["torch"].get(func.__name__) is func:
        return f"torch.{func.__name__}"
    return f"torch.Tensor.{func.__name__}"


def _notes_defaults(func: Callable[..., Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call names every argument that has a default, as traced calls of functions of `nn.functional` do."""
    defaults = {p.name for p in inspect.signature(func).parameters.values() if p.default is not inspect.Parameter.empty and p.name != "out"}
    return bool(kwargs) and ("inplace" in kwargs or defaults <= kwargs.keys())


def is_shared(record: Any) -> bool:
    """Whether an op is one function under `torch` and under `torch.nn.functional`."""
    name = record.name
    return record.public is NAMESPACES["torch"].get(name) and record.public is NAMESPACES["nn.functional"].get(name)


def _module_of(func: Callable[..., Any]) -> str:
    module = getattr(func, "__module__", None)
    if module is None:
        owner = getattr(func, "__objclass__", None)
        if owner is not None:
            return f"{owner.__module__}.{owner.__name__}"
        raise RuntimeError(f"cannot find the module of {func!r}")
    return module


def type_name(obj: Any) -> str:
    """A type as generated code writes it: `int`, `torch.Tensor`, `typing.List[int]`."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj is Tensor:
            return "torch.Tensor"
        if obj.__module__ == "builtins":
            return obj.__qualname__
        if obj.__module__.partition(".")[0] == "saraph":
            return qualified_name(obj)
        return f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def pretty_target(target: Any, kwargs: Mapping[str, Any] | None = None) -> str:
    """A node's target as `str(graph)` shows it."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    name = getattr(target, "__name__", repr(target))
    if module == "builtins":
        return f"builtins.{name}"
    if module == "_operator":
        return f"operator.{name}"
    return qualified_name(target, kwargs)
