"""`saraph.signal.windows`: window functions, as in `torch.signal.windows`."""
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["signal.windows"])
__all__ = [*_NAMESPACES["signal.windows"]]
