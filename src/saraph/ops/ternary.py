"""Pointwise ops of three operands: limits, interpolation, products and quotients added."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.ops import promotion
from saraph.ops.promotion import cast, check_tensor, is_number, promoted, unbroadcast
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack

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


@op(method=True, inplace=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """input held within [min, max] (numbers or tensors; None: no limit)."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if check_tensor(input, "clamp")._a.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types: they have no order")
    operands = [v for v in (input, min, max) if v is not None]
    found = list(promoted("clamp", *operands))
    x = found.pop(0)
    low = found.pop(0) if min is not None else None
    high = found.pop(0) if max is not None else None
    a, backend = x._a, of(x._a)
    if low is not None:
        a = backend.maximum(a, low._a)
    if high is not None:
        a = backend.minimum(a, high._a)
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


def _wide(kind: dtypes.dtype) -> dtypes.dtype:
    """The dtype that a combination is computed in: 16-bit floats in float32, rounded once at the end."""
    return dtypes.float32 if kind.numpy in dtypes.REDUCED else kind


def _same_kind(name: str, input: Tensor, others: tuple[tuple[str, Any], ...]) -> None:
    for place, x in others:
        if input.dtype is not check_tensor(x, name, place).dtype:
            raise RuntimeError(f"expected dtype {input.dtype.name} for `{place}` but got dtype {x.dtype.name}")


@op(method=True, inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """input + weight (end - input)."""
    start = check_tensor(input, "lerp")
    _same_kind("lerp", start, (("end", end),) if is_number(weight) else (("end", end), ("weight", weight)))
    promotion.check_kind("lerp", start, "fc")
    kind = start.dtype
    x, y, w = cast(start, _wide(kind)), cast(end, _wide(kind)), weight if is_number(weight) else cast(weight, _wide(kind))
    step = y - x
    if is_number(weight):
        result = x + step * w if abs(weight) < 0.5 else y - step * (1 - w)
    else:
        result = (w.abs() < 0.5).where(x + step * w, y - step * (1 - w))
    return cast(result, kind)


def _value(value: Any, kind: dtypes.dtype) -> Any:
    """The factor `value=`, as a number of the result's kind."""
    if kind.category < 2 and isinstance(value, float):
        return int(value)
    return value


@op(method=True, inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 tensor2."""
    kind = promotion.result_dtype(check_tensor(input, "addcmul"), check_tensor(tensor1, "addcmul", "tensor1"), check_tensor(tensor2, "addcmul", "tensor2"))
    wide = _wide(kind)
    x, a, b = cast(input, wide), cast(tensor1, wide), cast(tensor2, wide)
    promotion.check_kind("addcmul", x, "ifc")
    value = _value(value, kind)
    return cast(x + (a * b if value == 1 else a * value * b), kind)


@op(method=True, inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 / tensor2. Integer division is refused."""
    kind = promotion.result_dtype(check_tensor(input, "addcdiv"), check_tensor(tensor1, "addcdiv", "tensor1"), check_tensor(tensor2, "addcdiv", "tensor2"))
    if tensor1.dtype.category < 2 and tensor2.dtype.category < 2:
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
                           "tensor1 and tensor2. Use input + value * torch.true_divide(tensor1, tensor2).")
    wide = _wide(kind)
    x, a, b = cast(input, wide), cast(tensor1, wide), cast(tensor2, wide)
    return cast(x + (a / b if value == 1 else a * value / b), kind)
