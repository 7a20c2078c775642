"""`torch._assert`: an assertion that symbolic traces can record."""
from __future__ import annotations

from typing import Any

from saraph.ops.registry import op


@op()
def _assert(condition: Any, message: str) -> None:
    """`assert condition, message`, as a call: a traced program keeps it."""
    assert condition, message
