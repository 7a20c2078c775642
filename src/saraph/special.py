"""`saraph.special`: special functions, as in `torch.special`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["special"])
__all__ = [*_NAMESPACES["special"]]

if _TYPE_CHECKING:
    from saraph.stubs.special import *  # noqa: F403
