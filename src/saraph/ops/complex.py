"""Complex numbers: conjugate, parts, and the views between complex and pairs of reals."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops.families import unary
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, view_of

conj_physical = unary("conj_physical", lambda g, x, y: g.conj(), primitive="conj", fraction=False, doc="The complex conjugate, as a new tensor.")


@op(method=True)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is returned as it is."""
    return input if input._a.dtype.kind != "c" else conj_physical(input)


@op(method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor with any pending conjugation carried out (saraph never leaves one pending)."""
    return input


@op(method=True)
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor with any pending negation carried out (saraph never leaves one pending)."""
    return input


@op(method=True)
def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is pending: never."""
    return False


@op(method=True)
def is_neg(input: Tensor) -> bool:
    """Whether a negation is pending: never."""
    return False


@derivative("RealBackward0")
def RealBackward(node: Any, g: Tensor) -> Tensor:
    return g.to(g.dtype.to_complex())


@op()
def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor is returned as it is."""
    a = input._a
    if a.dtype.kind != "c":
        return input
    return view_of(input, of(a).real(a), RealBackward, replay=real)


Tensor.real = property(real, doc="The real part, as a view.")


@derivative("ImagBackward0")
def ImagBackward(node: Any, g: Tensor) -> Tensor:
    return g.to(g.dtype.to_complex()) * 1j


@op()
def imag(input: Tensor) -> Tensor:
    """The imaginary part, as a view. RuntimeError for a real tensor."""
    a = input._a
    if a.dtype.kind != "c":
        raise RuntimeError(f"imag is not implemented for tensors with non-complex dtypes, this one is {input.dtype!r}.")
    return view_of(input, of(a).imag(a), ImagBackward, replay=imag)


Tensor.imag = property(imag, doc="The imaginary part, as a view.")
