"""`saraph.linalg`: linear algebra, as in `torch.linalg`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.errors import LinAlgError
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["linalg"])
__all__ = ["LinAlgError", *_NAMESPACES["linalg"]]

if _TYPE_CHECKING:
    from saraph.stubs.linalg import *  # noqa: F403
