"""`saraph.signal.windows`: window functions, as in `torch.signal.windows`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["signal.windows"])
__all__ = [*_NAMESPACES["signal.windows"]]

if _TYPE_CHECKING:
    from saraph.stubs.windows import *  # noqa: F403
