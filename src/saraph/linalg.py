"""`saraph.linalg`: linear algebra, as in `torch.linalg`."""
from saraph.errors import LinAlgError
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["linalg"])
__all__ = ["LinAlgError", *_NAMESPACES["linalg"]]
