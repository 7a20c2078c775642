"""Complex numbers: conjugate, parts, and the views between complex and pairs of reals."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.families import unary
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, view_of

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


def _set_real(self: Tensor, value: Any) -> None:
    _write_part(real(self), value)


def _write_part(part: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        part.copy_(value)
    else:
        part.fill_(value)


Tensor.real = property(real, _set_real, doc="The real part, as a view; assigning writes it.")


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


def _set_imag(self: Tensor, value: Any) -> None:
    _write_part(imag(self), value)


Tensor.imag = property(imag, _set_imag, doc="The imaginary part, as a view; assigning writes it.")


@derivative("ViewAsRealBackward0")
def ViewAsRealBackward(node: Any, g: Tensor) -> Tensor:
    return view_as_complex(g.contiguous())


@op()
def view_as_real(input: Tensor) -> Tensor:
    """A view of a complex tensor as pairs (real, imaginary) along a new last dimension."""
    a = input._a
    if a.dtype.kind != "c":
        raise RuntimeError(f"view_as_real is only supported for complex tensors, this one is {input.dtype!r}")
    return view_of(input, of(a).pairs(a), ViewAsRealBackward, replay=view_as_real)


@derivative("ViewAsComplexBackward0")
def ViewAsComplexBackward(node: Any, g: Tensor) -> Tensor:
    return view_as_real(g)


@op()
def view_as_complex(input: Tensor) -> Tensor:
    """A view of pairs (real, imaginary), the last dimension of a float32 or float64 tensor, as complex numbers."""
    a = input._a
    if a.dtype.char not in "fd":
        raise RuntimeError(f"view_as_complex is only supported for floating point tensors, but got a tensor of scalar type: {input.dtype!r}")
    if not a.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2, got shape {list(a.shape)}")
    if a.strides[-1] != a.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1: call .contiguous() first")
    if any(s % (2 * a.itemsize) for s in a.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension: call .contiguous() first")
    return view_of(input, of(a).from_pairs(a), ViewAsComplexBackward, replay=view_as_complex)


@derivative("AngleBackward0")
def AngleBackward(node: Any, g: Tensor) -> Tensor:
    """Real numbers have a constant angle; for z the gradient is i z g / |z|^2 (0 at 0)."""
    (z,) = unpack(node)
    if z._a.dtype.kind != "c":
        return g * 0
    size = z.abs()
    return (z / (size * size) * 1j * g).masked_fill(size == 0, 0)


@op(method=True)
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of complex numbers in radians; of real numbers 0 or, below 0, pi (nan stays nan)."""
    x = promotion.check_tensor(input, "angle")
    if x._a.dtype.kind in "biu":
        x = promotion.cast(x, promotion.float_dtype(x.dtype))
    return record(of(x._a).angle(x._a), AngleBackward, (x,), (x,))
