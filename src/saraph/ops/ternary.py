"""Pointwise ops of three operands: limits, interpolation, products and quotients added."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.families import combine, compute, wrap_result_any
from saraph.ops.promotion import cast, check_tensor, is_number, promoted, unbroadcast
from saraph.ops.registry import op
from saraph.tensor.fusing import fused
from saraph.tensor.node import derivative
from saraph.tensor.tensor import PLAIN, Tensor, record, unpack, wrap

# -- limits ---------------------------------------------------------------------------------------------------------------


@derivative("ClampBackward1")
def ClampBackward(node: Any, g: Tensor) -> Any:
    x, low, high = unpack(node)
    inside = None
    if low is not None:
        inside = x >= low
    if high is not None:
        inside = x <= high if inside is None else inside & (x <= high)
    gx = g.masked_fill(~inside, 0) if node.needs(0) else None
    glow = ghigh = None
    if node.needs(1):
        below = x < low if high is None else (x < low) & (low < high)
        glow = unbroadcast(g.masked_fill(~below, 0), low._a.shape)
    if node.needs(2):
        above = x > high if low is None else (x > high) | (low > high)
        ghigh = unbroadcast(g.masked_fill(~above, 0), high._a.shape)
    return unbroadcast(gx, x._a.shape) if gx is not None else None, glow, ghigh


@derivative("ClampBackward0")
@fused("limits")
def ClampBackward0(node: Any, g: Tensor) -> Tensor:
    """The limits are numbers: the gradient goes where x is within them."""
    (x,) = unpack(node)
    low, high = node.limits
    inside = x >= low if high is None else x <= high if low is None else (x >= low) & (x <= high)
    return g.masked_fill(~inside, 0)


@op(method=True, inplace=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """input held within [min, max] (numbers or tensors; None: no limit). Where min > max, max wins."""
    x = input if input.__class__ in PLAIN else check_tensor(input, "clamp")
    a = x._a
    if a.dtype.kind == "f" and min.__class__ in LIMITS and max.__class__ in LIMITS and (min is not None or max is not None):
        a = of(a).limited(a, min, max)
        return record(a, ClampBackward0, (x,), (x,), limits=(min, max)) if x._rg else wrap(a)
    return _clamp_between(x, min, max)


LIMITS = (int, float, type(None))


def _clamp_between(x: Tensor, min: Any, max: Any) -> Tensor:
    """clamp of any dtype, with tensors or numbers of any kind as limits."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if x.is_complex():
        raise NotImplementedError("clamp is not supported for complex types: they have no order")
    found = list(promoted("clamp", *[v for v in (x, min, max) if v is not None]))
    x = found.pop(0)
    low = found.pop(0) if min is not None else None
    high = found.pop(0) if max is not None else None
    a = x._a
    if low is not None:
        a = compute("maximum", a, low._a)
    if high is not None:
        a = compute("minimum", a, high._a)
    return record(a, ClampBackward, (x, low, high), (x, low, high))


@op(method=True, inplace=True)
def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Tensor:
    """`clamp(input, min=min)`."""
    return clamp(input, min)


@op(method=True, inplace=True)
def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Tensor:
    """`clamp(input, max=max)`."""
    return clamp(input, None, max)


# -- combinations ---------------------------------------------------------------------------------------------------------


@derivative("LerpBackward0")
def LerpBackward0(node: Any, g: Tensor) -> Any:
    """The weight is a number."""
    shapes, w = node.operands, node.weight
    return (unbroadcast(g * (1 - w), shapes[0]) if node.needs(0) else None), (unbroadcast(g * w, shapes[1]) if node.needs(1) else None)


@derivative("LerpBackward1")
def LerpBackward1(node: Any, g: Tensor) -> Any:
    """The weight is a Tensor."""
    x, y, w = unpack(node)
    gx = unbroadcast(g * (1 - w).conj(), x._a.shape) if node.needs(0) else None
    gy = unbroadcast(g * w.conj(), y._a.shape) if node.needs(1) else None
    return gx, gy, (unbroadcast(g * (y - x).conj(), w._a.shape) if node.needs(2) else None)


@op(method=True, inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """input + weight (end - input); weight is a number or a Tensor."""
    if weight.__class__ is float and input.__class__ in PLAIN and end.__class__ in PLAIN:
        a, b = input._a, end._a  # what needs no checks and no conversions
        if a.dtype is b.dtype and a.dtype.char in "fd" and a.shape == b.shape and not (input._rg or end._rg):
            return wrap_result_any(of(a, b).lerp(a, b, weight))
    x, y = check_tensor(input, "lerp"), check_tensor(end, "lerp", "end")
    for place, other in (("end", y),) if is_number(weight) else (("end", y), ("weight", check_tensor(weight, "lerp", "weight"))):
        if x.dtype is not other.dtype and other._a.ndim:
            raise RuntimeError(f"expected dtype {x.dtype.name} for `{place}` but got dtype {other.dtype.name}")
    promotion.check_kind("lerp", x, "fc")
    y = cast(y, x.dtype)
    if is_number(weight):
        return record(combine("lerp", x._a, y._a, weight), LerpBackward0, (x, y), weight=weight, operands=(x._a.shape, y._a.shape))
    w = cast(weight, x.dtype)
    return record(combine("lerp", x._a, y._a, w._a), LerpBackward1, (x, y, w), (x, y, w))


def _terms(name: str, input: Any, tensor1: Any, tensor2: Any, value: Any) -> tuple[Tensor, Tensor, Tensor, Any]:
    """The operands of a combination in one dtype, and its factor as a number of that kind."""
    x, a, b = (t if t.__class__ in PLAIN else check_tensor(t, name, label)
               for t, label in ((input, "input"), (tensor1, "tensor1"), (tensor2, "tensor2")))
    kind = x._a.dtype
    if kind is a._a.dtype and kind is b._a.dtype and kind.char in "fd":
        return x, a, b, value
    x, a, b = promoted(name, x, a, b)
    promotion.check_kind(name, x, "ifc")
    return x, a, b, int(value) if x._a.dtype.kind in "iu" and isinstance(value, float) else value


@derivative("AddcmulBackward0")
def AddcmulBackward(node: Any, g: Tensor) -> Any:
    a, b = unpack(node)
    shapes, value = node.operands, node.value
    ga = unbroadcast(g * b.conj() * value, shapes[1]) if node.needs(1) else None
    gb = unbroadcast(g * a.conj() * value, shapes[2]) if node.needs(2) else None
    return (unbroadcast(g, shapes[0]) if node.needs(0) else None), ga, gb


@op(method=True, inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 tensor2."""
    x, a, b, value = _terms("addcmul", input, tensor1, tensor2, value)
    result = combine("addcmul", x._a, a._a, b._a, value)
    if not (x._rg or a._rg or b._rg):
        return wrap_result_any(result)
    return record(result, AddcmulBackward, (x, a, b), (a, b), value=_conjugate(value), operands=(x._a.shape, a._a.shape, b._a.shape))


@derivative("AddcdivBackward0")
def AddcdivBackward(node: Any, g: Tensor) -> Any:
    a, b = unpack(node)
    shapes, value = node.operands, node.value
    ga = unbroadcast(g * value / b.conj(), shapes[1]) if node.needs(1) else None
    gb = unbroadcast(-g * value * (a / (b * b)).conj(), shapes[2]) if node.needs(2) else None
    return (unbroadcast(g, shapes[0]) if node.needs(0) else None), ga, gb


@op(method=True, inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 / tensor2. Integer division is refused."""
    if check_tensor(tensor1, "addcdiv", "tensor1").dtype.category < 2 and check_tensor(tensor2, "addcdiv", "tensor2").dtype.category < 2:
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
                           "tensor1 and tensor2. Use input + value * torch.true_divide(tensor1, tensor2).")
    x, a, b, value = _terms("addcdiv", input, tensor1, tensor2, value)
    result = combine("addcdiv", x._a, a._a, b._a, value)
    if not (x._rg or a._rg or b._rg):
        return wrap_result_any(result)
    return record(result, AddcdivBackward, (x, a, b), (a, b), value=_conjugate(value), operands=(x._a.shape, a._a.shape, b._a.shape))


def _conjugate(value: Any) -> Any:
    return value.conjugate() if isinstance(value, complex) else value
