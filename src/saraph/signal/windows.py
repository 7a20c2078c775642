"""`saraph.signal.windows`: window functions, as in `torch.signal.windows`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["signal.windows"])
__all__ = [*_NAMESPACES["signal.windows"]]

if _TYPE_CHECKING:
    def __getattr__(name: str) -> _Any: ...
