"""`saraph.fft`: discrete Fourier transforms, as in `torch.fft`."""
from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["fft"])
__all__ = [*_NAMESPACES["fft"]]
