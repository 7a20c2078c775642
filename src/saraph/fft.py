"""`saraph.fft`: discrete Fourier transforms, as in `torch.fft`."""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["fft"])
__all__ = [*_NAMESPACES["fft"]]

if _TYPE_CHECKING:
    from saraph.stubs.fft import *  # noqa: F403
