"""What linear algebra asks of its arguments, and how it reports matrices that have no answer."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import MetaArray, of
from saraph.dtypes import BY_NUMPY
from saraph.errors import LinAlgError, describe
from saraph.ops.promotion import check_tensor
from saraph.tensor.tensor import Tensor


def title(x: Tensor) -> str:
    """The name that x's dtype has in PyTorch's messages."""
    return dtypes.title(BY_NUMPY[x._a.dtype])


def matrices(name: str, value: Any, position: str = "A") -> Tensor:
    """The value, if it is a Tensor of at least two dimensions and of a dtype that LAPACK knows."""
    x = check_tensor(value, name, position)
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {position} must have at least 2 dimensions. Got {describe(x)}")
    return floating(name, x)


def floating(name: str, x: Tensor) -> Tensor:
    """x, if its dtype is float32, float64, complex64 or complex128."""
    kind = BY_NUMPY[x._a.dtype]
    if kind.category < 2:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {title(x)}. Convert it with .float() or .double().")
    if kind.category == 2 and kind.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {title(x)}. Convert the input with .float().")
    return x


def square(name: str, value: Any, position: str = "A") -> Tensor:
    """The value, if it holds square matrices."""
    x = matrices(name, value, position)
    rows, columns = x._a.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: {position} must be batches of square matrices, but they are {rows} by {columns} matrices")
    return x


def same_kind(name: str, a: Tensor, b: Tensor) -> None:
    """RuntimeError where two operands differ in dtype."""
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type {title(a)} and B of type {title(b)} instead")


def incompatible(name: str, a: Tensor, b: Tensor, left: bool) -> RuntimeError:
    """The error for an equation whose sizes do not fit."""
    equation = "AX = B" if left else "XA = B"
    (n, m), (k, p) = a._a.shape[-2:], b._a.shape[-2:]
    return RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} ({n}x{m} and {k}x{p}): {describe(a, b)}")


def failure(info: Any) -> tuple[str, int] | None:
    """The first failure that `info` holds: a text that names the batch element, and LAPACK's number. None where all went well."""
    if info.__class__ is MetaArray:
        return None
    values = of(info).tolist(of(info).reshape_view(info, (info.size,)))
    for i, value in enumerate(values):
        if value:
            return (f"(Batch element {i}): " if info.ndim else ""), value
    return None


def raise_singular(name: str, info: Any) -> None:
    """LinAlgError where an inversion met a zero pivot."""
    found = failure(info)
    if found:
        raise LinAlgError(f"{name}: {found[0]}The diagonal element {found[1]} is zero, the inversion could not be completed "
                          "because the input matrix is "
                          "singular.")


def raise_indefinite(name: str, info: Any) -> None:
    """LinAlgError where a Cholesky factorisation broke off."""
    found = failure(info)
    if found:
        raise LinAlgError(f"{name}: {found[0]}The factorization could not be completed because the input is not "
                          "positive-definite (the leading minor of "
                          f"order {found[1]} is not positive-definite).")
