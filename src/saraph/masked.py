"""`saraph.masked`: reductions and normalisations over the elements that a mask keeps, as in `torch.masked`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["masked"])
__all__ = list(_NAMESPACES["masked"])

if _TYPE_CHECKING:
    from saraph.stubs.masked import *  # noqa: F403
