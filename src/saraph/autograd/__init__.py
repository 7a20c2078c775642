"""Automatic differentiation: `backward`, `grad`, grad modes, `Function`."""
from saraph.autograd.api import backward, grad

__all__ = ["backward", "grad"]
