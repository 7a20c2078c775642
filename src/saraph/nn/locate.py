"""Where in a model an error arose: a note on the error names the path of the module whose forward raised it.

    RuntimeError: mat1 and mat2 shapes cannot be multiplied ...
    module: Net.body.2 (Linear)
"""
from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple


class _Place(NamedTuple):
    """What is known so far about an error on its way out."""

    error: int  # its id: errors take no weak references
    module: weakref.ref  # the outermost module that it has passed
    path: str  # from there to the module that raised it
    kind: str  # that one's class
    note: str  # what stands on the error now


class _Last(threading.local):
    place: _Place | None = None


_last = _Last()


def note_place(module: Any, error: BaseException) -> None:
    """An error passes through a module's call: say on it which module raised it, as seen from this one."""
    notes = getattr(error, "__notes__", [])
    last = _last.place
    path, kind = "", type(module).__name__
    if last is not None and last.error == id(error) and last.note in notes:
        inner = last.module()
        path, kind = last.path, last.kind
        if inner is not module:
            name = next((n for n, m in module.named_modules() if m is inner), None)
            if name is None:  # called, but not part of this module
                return
            path = f"{name}.{path}" if path else name
        notes.remove(last.note)
    note = f"module: {type(module).__name__}.{path} ({kind})" if path else f"module: {kind}"
    error.add_note(note)
    _last.place = _Place(id(error), weakref.ref(module), path, kind, note)
