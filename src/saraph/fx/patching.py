"""Replacing attributes and globals while a trace runs, and `wrap`, which asks for that."""
from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from saraph.fx.proxy import Proxy

# (id of a module's globals, name) -> those globals: functions that are recorded as calls in every trace.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
# (class, name): methods that are.
_wrapped_methods_to_patch: list[tuple[type, str]] = []


class _Patcher:
    """Replaces things and puts them back at the end of its context, in reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._visited: set[int] = set()

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Callable[..., Any]) -> None:
        """Replace a global."""
        if name in frame_dict:
            old = frame_dict[name]
            self._undo.append(lambda: frame_dict.__setitem__(name, old))
        else:
            self._undo.append(lambda: frame_dict.pop(name, None) and None)
        new_fn.__fx_already_patched = True  # type: ignore[attr-defined]
        frame_dict[name] = new_fn

    def patch_method(self, cls: type, name: str, new_fn: Callable[..., Any], deduplicate: bool = True) -> None:
        """Replace a method of a class (once, with `deduplicate`)."""
        own = name in cls.__dict__
        old = getattr(cls, name)
        if getattr(old, "__fx_already_patched", False) and deduplicate:
            return
        new_fn.__fx_already_patched = True  # type: ignore[attr-defined]
        self._undo.append(lambda: setattr(cls, name, old) if own else delattr(cls, name))
        setattr(cls, name, new_fn)

    def visit_once(self, thing: Any) -> bool:
        """True the first time an object is shown."""
        if id(thing) in self._visited:
            return False
        self._visited.add(id(thing))
        return True

    def revert_all_patches(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()
        self._visited.clear()

    def __enter__(self) -> _Patcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.revert_all_patches()


def _find_proxy(*objects: Any) -> Proxy | None:
    """The first Proxy in (nested) arguments."""
    for value in objects:
        if isinstance(value, Proxy):
            return value
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else \
            (value.start, value.stop, value.step) if isinstance(value, slice) else ()
        found = _find_proxy(*inner)
        if found is not None:
            return found
    return None


def _create_wrapped_func(orig_fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Callable[..., Any]:
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    for (_, name), frame_dict in list(_wrapped_fns_to_patch.items()):
        orig_fn = frame_dict[name] if name in frame_dict else getattr(builtins, name)
        patcher.patch(frame_dict, name, _create_wrapped_func(orig_fn))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Replace, among these globals, the functions that are to be recorded as calls (once per set of globals)."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if not name.startswith("_") and callable(value) and id(value) in function_ids:
                patcher.patch(frame_dict, name, _create_wrapped_func(value))


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Let a function of the calling module be recorded as one call instead of being traced through. Call it at module scope.

    Example::

        torch.fx.wrap("len")             # a builtin, or a function of this module, by name

        @torch.fx.wrap
        def my_function(x, y): ...

    RuntimeError for anything but a name or a function; NotImplementedError when called inside a function.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_globals), name)] = frame.f_globals
    return fn_or_name
