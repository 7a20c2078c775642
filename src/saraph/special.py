"""`saraph.special`: special functions, as in `torch.special`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["special"])
__all__ = [*_NAMESPACES["special"]]

if _TYPE_CHECKING:
    def __getattr__(name: str) -> _Any: ...
