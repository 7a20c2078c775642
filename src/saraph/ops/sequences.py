"""Tensors with a pattern: counts, even spacings, identity matrices, index triangles, Vandermonde matrices, complex numbers of two parts."""
from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.config import settings
from saraph.dtypes import dtype
from saraph.ops.creation import store_out
from saraph.ops.options import as_dtype, check_layout, check_pin, library, made
from saraph.ops.promotion import check_tensor, is_number, result_dtype, unbroadcast
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

_INT64 = dtypes.int64.numpy
_INTEGERS = (dtypes.int64, dtypes.int32)


def _all_none(*values: Any) -> bool:
    for v in values:
        if v is not None:
            return False
    return True


def _number(value: Any, name: str, argument: str) -> Any:
    """A Python number from a number or a zero-dim tensor."""
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise TypeError(f"{name}(): argument '{argument}' must be Number, not Tensor (of shape {list(value._a.shape)})")
        value = value.item()
    elif not is_number(value):
        raise TypeError(f"{name}(): argument '{argument}' must be Number, not {type(value).__name__}")
    elif hasattr(value, "item"):
        value = value.item()
    return value


def _real(value: Any, name: str) -> Any:
    if isinstance(value, builtins.complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type double without overflow ({name} got {value})")
        return value.real
    return value


def _unsupported(name: str, kind: dtype) -> NotImplementedError:
    return NotImplementedError(f'"{name}" not implemented for {kind!r}: make it in another dtype and convert it with .to()')


# -- counting ------------------------------------------------------------------------------------------------------------------


def _bounds(name: str, start: Any, end: Any, step: Any) -> None:
    if step == 0:
        raise RuntimeError(f"step must be nonzero in {name}({start}, {end}, {step})")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0) != (end >= start) and end != start:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: {name}({start}, {end}, {step})")


def _count(start: Any, end: Any, step: Any, kind: dtype) -> int:
    """How many steps arange takes."""
    if kind is dtypes.int64:
        whole = [int(v) for v in (start, end, step)]
        if not whole[2]:
            raise ValueError(f"step must be nonzero, but {step} is 0 as an int64")
        return max(-((whole[0] - whole[1]) // whole[2]), 0)
    return max(math.ceil((end - start) / step), 0)


@op(out=False)
def arange(*bounds: Any, start: Any = None, end: Any = None, step: Any = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
           device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """The numbers start, start + step, ... below `end` (above it for a negative step): `arange(end)`, `arange(start, end, step=1)`.

    int64 when all bounds are integers, else the default dtype, unless `dtype` says otherwise. Example: `arange(1, 2.5, 0.5)` is
    `[1., 1.5, 2.]`.
    """
    if len(bounds) == 1 and bounds[0].__class__ is int and bounds[0] >= 0 and _all_none(start, end, step, out, dtype, layout, device):
        return made(library(None, "arange").arange(0, 1, bounds[0], _INT64), requires_grad)
    start, end, step = _arange_bounds(bounds, start, end, step)
    kind = as_dtype(dtype, "arange") if dtype is not None else out.dtype if out is not None else None
    if kind is None:
        kind = dtypes.int64 if all(isinstance(v, int) for v in (start, end, step)) else settings.default_dtype
    if kind.category in (0, 3) or kind in dtypes.FLOAT8:
        raise _unsupported("arange_cpu", kind)
    _bounds("arange", start, end, step)
    check_layout(layout, "arange")
    check_pin(pin_memory)
    count = _count(start, end, step, kind)
    if kind.category == 1:
        start, step = int(start), int(step)
    backend = of(out._a) if out is not None else library(device, "arange")
    array = backend.arange(start, step, count, kind.numpy)
    if out is not None:
        if out._a.size not in (0, count):
            warnings.warn(f"The number of elements in the out tensor of shape {list(out._a.shape)} is {out._a.size} which does not match the "
                          f"computed number of elements {count}. out is resized.", UserWarning, stacklevel=3)
        return store_out("arange", out, array, dtype)
    return made(array, requires_grad)


def _arange_bounds(bounds: tuple[Any, ...], start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    if len(bounds) > 3 or (len(bounds) > 1 and start is not None):
        raise TypeError(f"arange() received an invalid combination of arguments: {len(bounds)} positional ones; expected (end), (start, end) or "
                        "(start, end, step)")
    if len(bounds) == 1:
        if end is None:
            end = bounds[0]
        else:
            start = bounds[0]
    elif len(bounds) == 2:
        start, end = bounds
        if end is None:
            raise TypeError("arange(): argument 'end' must be Number, not NoneType")
    elif len(bounds) == 3:
        start, end, step = bounds
    if end is None:
        raise TypeError("arange() received an invalid combination of arguments: `end` is missing")
    values = [_real(_number(v, "arange", n), "arange") for v, n in ((0 if start is None else start, "start"), (end, "end"),
                                                                    (1 if step is None else step, "step"))]
    return values[0], values[1], values[2]


@op(out=False)
def range(start: Any, end: Any, step: Any = 1, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
          pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """As `arange`, but `end` is included, and the dtype is the default one. Deprecated in PyTorch: prefer `arange`."""
    warnings.warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
                  "builtin. Instead, use torch.arange, which produces values in [start, end).", UserWarning, stacklevel=3)
    first, last, by = (_real(_number(v, "range", n), "range") for v, n in ((start, "start"), (end, "end"), (step, "step")))
    _bounds("range", first, last, by)
    kind = as_dtype(dtype, "range") if dtype is not None else out.dtype if out is not None else settings.default_dtype
    if kind.category in (0, 3):
        raise _unsupported("range_cpu", kind)
    count = int((last - first) / by + 1)
    if kind.category == 1:
        first, by = int(first), int(by)
    backend = of(out._a) if out is not None else library(device, "range")
    array = backend.arange(first, by, count, kind.numpy)
    return made(array, requires_grad) if out is None else store_out("range", out, array, dtype)


# -- even spacing --------------------------------------------------------------------------------------------------------------


def _ends(name: str, start: Any, end: Any, dtype: Any, out: Tensor | None) -> tuple[Any, Any, dtype]:
    """Numbers and dtype of linspace and logspace."""
    for value, label in ((start, "start"), (end, "end")):
        if isinstance(value, Tensor) and value._a.ndim:
            raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {label} with {value._a.ndim} dimension(s).")
    natural = result_dtype(start, end)
    natural = settings.default_dtype if natural.category < 2 else natural
    if natural.is_complex and not (isinstance(start, Tensor) or isinstance(end, Tensor)):
        natural = settings.default_dtype.to_complex()
    kind = as_dtype(dtype, name) if dtype is not None else out.dtype if out is not None else None
    if kind is None:
        kind = natural if natural.is_complex else settings.default_dtype
    elif natural.is_complex and not kind.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype {natural!r} can't be safely cast to passed dtype {kind!r}")
    if kind.category == 0:
        raise _unsupported(f"{name}_cpu", kind)
    return _number(start, name, "start"), _number(end, name, "end"), kind


def _steps(steps: Any, name: str) -> int:
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise TypeError(f"{name}() received an invalid combination of arguments: 'steps' must be int, not {type(steps).__name__}")
    count = steps.__index__()
    if count < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {count} in {name}")
    return count


@op(out=False)
def linspace(start: Any, end: Any, steps: Any, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
             pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included; start and end are numbers or zero-dim tensors.

    Example: `linspace(0, 1, 5)` is `[0., 0.25, 0.5, 0.75, 1.]`.
    """
    first, last, kind = _ends("linspace", start, end, dtype, out)
    count = _steps(steps, "linspace")
    check_layout(layout, "linspace")
    check_pin(pin_memory)
    backend = of(out._a) if out is not None else library(device, "linspace")
    array = backend.linspace(first, last, count, kind.numpy)
    return made(array, requires_grad) if out is None else store_out("linspace", out, array, dtype)


@op(out=False)
def logspace(start: Any, end: Any, steps: Any, base: Any = 10.0, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from base**start to base**end whose logarithms are evenly spaced."""
    first, last, kind = _ends("logspace", start, end, dtype, out)
    count = _steps(steps, "logspace")
    check_layout(layout, "logspace")
    check_pin(pin_memory)
    backend = of(out._a) if out is not None else library(device, "logspace")
    array = backend.logspace(first, last, count, _number(base, "logspace", "base"), kind.numpy)
    return made(array, requires_grad) if out is None else store_out("logspace", out, array, dtype)


# -- matrices ------------------------------------------------------------------------------------------------------------------


def _extent(value: Any, name: str, argument: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}(): argument '{argument}' must be int, not {type(value).__name__}")
    return value.__index__()


@op(out=False)
def eye(n: Any, m: Any = None, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """An n by m matrix (m: n) with ones on the diagonal and zeros elsewhere."""
    rows = _extent(n, "eye", "n")
    columns = rows if m is None else _extent(m, "eye", "m")
    for label, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise RuntimeError(f"{label} must be greater or equal to 0, got {value}")
    kind = as_dtype(dtype, "eye") if dtype is not None else out.dtype if out is not None else settings.default_dtype
    check_layout(layout, "eye")
    check_pin(pin_memory)
    backend = of(out._a) if out is not None else library(device, "eye")
    array = backend.eye(rows, columns, kind.numpy)
    return made(array, requires_grad) if out is None else store_out("eye", out, array, dtype)


def _triangle(name: str, row: Any, col: Any, offset: Any, lower: bool, dtype: Any, layout: Any, device: Any, pin_memory: bool) -> Tensor:
    rows, columns = _extent(row, name, "row"), _extent(col, name, "col")
    for label, value in (("row", rows), ("col", columns)):
        if value < 0:
            raise RuntimeError(f"{label} must be non-negative, got{value}")
    kind = dtypes.int64 if dtype is None else as_dtype(dtype, name)
    if kind not in _INTEGERS and kind is not dtypes.int16:
        raise _unsupported(name, kind)
    check_layout(layout, name)
    check_pin(pin_memory)
    return made(library(device, name).triangle_indices(rows, columns, _extent(offset, name, "offset"), lower, kind.numpy))


@op()
def tril_indices(row: Any, col: Any, offset: Any = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
                 pin_memory: bool = False) -> Tensor:
    """Row and column numbers (shape (2, count)) of the elements on and below diagonal `offset` of a row by col matrix."""
    return _triangle("tril_indices", row, col, offset, True, dtype, layout, device, pin_memory)


@op()
def triu_indices(row: Any, col: Any, offset: Any = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
                 pin_memory: bool = False) -> Tensor:
    """Row and column numbers (shape (2, count)) of the elements on and above diagonal `offset` of a row by col matrix."""
    return _triangle("triu_indices", row, col, offset, False, dtype, layout, device, pin_memory)


@op()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """The matrix whose columns are powers of a vector: x**(N-1), ..., x, 1, or in increasing order. N: len(x)."""
    check_tensor(x, "vander", "x")
    if x._a.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor., got shape {list(x._a.shape)} in vander")
    count = x._a.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative., got {count} in vander")
    powers = x.unsqueeze(1) ** arange(count, device=x.device)
    return powers if increasing else powers.flip(1)


# -- complex numbers -----------------------------------------------------------------------------------------------------------


@derivative("ComplexBackward0")
def ComplexBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    real, imag = node.operands
    return (unbroadcast(g.real, real) if node.needs(0) else None), (unbroadcast(g.imag, imag) if node.needs(1) else None)


def _parts(name: str, x: Any, y: Any, labels: tuple[str, str]) -> None:
    """Two floating tensors of one dtype."""
    check_tensor(x, name, labels[0])
    check_tensor(y, name, labels[1])
    kinds = (x.dtype, y.dtype)
    if any(k not in (dtypes.float16, dtypes.float32, dtypes.float64) for k in kinds):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {kinds[0]!r} and {kinds[1]!r} in {name}. Convert "
                           "them with .float().")
    if kinds[0] is not kinds[1]:
        raise RuntimeError(f"Expected object of scalar type {kinds[0]!r} but got scalar type {kinds[1]!r} for second argument of {name}. "
                           "Convert one of them with .to().")


def _check_complex_out(name: str, out: Tensor | None, x: Tensor) -> None:
    if out is not None and out.dtype is not x.dtype.to_complex():
        raise RuntimeError(f"Expected object of scalar type {x.dtype.to_complex()!r} but got scalar type {out.dtype!r} for argument 'out' of "
                           f"{name}")


@op(out=False)
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers with these real and imaginary parts (floating, of one dtype; broadcast)."""
    _parts("complex", real, imag, ("real", "imag"))
    _check_complex_out("complex", out, real)
    a, b = real._a, imag._a
    result = record(of(a, b).complex(a, b), ComplexBackward, (real, imag), operands=(a.shape, b.shape))
    return result if out is None else store_out("complex", out, result._a, None)


@op(out=False)
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers with these absolute values and angles: abs * cos(angle) + abs * sin(angle) * j."""
    _parts("polar", abs, angle, ("abs", "angle"))
    _check_complex_out("polar", out, abs)
    result = complex(abs * angle.cos(), abs * angle.sin())
    return result if out is None else store_out("polar", out, result._a, None)
