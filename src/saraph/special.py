"""`saraph.special`: special functions, as in `torch.special`."""
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["special"])
__all__ = [*_NAMESPACES["special"]]
