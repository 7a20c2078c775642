"""`saraph.masked`: reductions and normalisations over the elements that a mask keeps, as in `torch.masked`."""
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["masked"])
__all__ = list(_NAMESPACES["masked"])
