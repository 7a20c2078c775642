"""Arithmetic and comparison: the operators of Python, and the pointwise ops behind them."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import cpu, of
from saraph.ops import promotion
from saraph.ops.families import binary, bind_fast_inplace, combine, compute, reflected, unary, wrap_result_any
from saraph.ops.promotion import is_number, promoted, unbroadcast
from saraph.ops.registry import OPS, method, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import PLAIN, Tensor, record, unpack, wrap


def no_bool(x: Any, y: Any = None) -> None:
    """RuntimeError where an operand of `-` is a bool."""
    bools = sum([isinstance(v, bool) or (isinstance(v, Tensor) and v._a.dtype.kind == "b") for v in (x, y)])
    if bools == 2:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
    if bools:
        raise RuntimeError(f"{'Negation' if y is None else 'Subtraction'}, the `-` operator, {'on' if y is None else 'with'} a bool tensor is not "
                           "supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")


plus = binary("add", lambda g, x, y: g, lambda g, x, y: g, doc="The sum of two operands.", node="AddBackward0", namespaces="operator",
              method=False, numbers="both")
minus = binary("sub", lambda g, x, y: g, lambda g, x, y: -g, doc="The difference of two operands.", node="SubBackward0",
               namespaces="operator", method=False, check=no_bool, numbers="both")
mul = binary("mul", lambda g, x, y: g * y.conj(), lambda g, x, y: g * x.conj(), ("y", "x"), aliases=("multiply",),
             numbers="both", doc="""`input * other`, elementwise, with broadcasting and type promotion.

    Example: `mul(tensor([1., 2.]), 3)` is `tensor([3., 6.])`.""")
divide_true = binary("div", lambda g, x, y: g / y.conj(), lambda g, x, y: -g * (x / y / y).conj(), ("y", "xy"), fraction=True,
                     doc="The quotient, as a floating point number.", node="DivBackward0", namespaces="operator", method=False,
                     numbers="both")


def scaled(name: str, other: Any, alpha: Any, input: Any) -> Any:
    """alpha * other, refused where alpha would change the kind of number."""
    kind = promotion.result_dtype(input, other)
    if isinstance(alpha, bool) and kind is not dtypes.bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind.category < 2:
        raise RuntimeError(f"For integral input tensors, argument alpha must not be a floating point number ({name} got alpha={alpha}).")
    if isinstance(alpha, complex) and kind.category < 3:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if kind is dtypes.bool_:
        alpha = bool(alpha)
    return mul(other, alpha) if isinstance(other, Tensor) else other * alpha


def _add_scaled_backward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    shapes = node.operands
    return unbroadcast(g, shapes[0]) if node.needs(0) else None, unbroadcast(g * node.alpha, shapes[1]) if node.needs(1) else None


#: The nodes of input + alpha other.
ADDED = {name: derivative(f"{name.capitalize()}Backward0")(_add_scaled_backward) for name in ("add", "sub")}


def _with_alpha(name: str, function: Any, input: Any, other: Any, alpha: Any) -> Tensor:
    """function(input, alpha other), of floats rounded once."""
    if alpha.__class__ is int and alpha == 1:
        return function(input, other)
    if alpha.__class__ in (float, int) and input.__class__ in PLAIN and other.__class__ in PLAIN:
        x, y = input._a, other._a
        if x.__class__ is np.ndarray and y.__class__ is np.ndarray and x.dtype is y.dtype and x.dtype.char in "fd":
            alpha = -alpha if function is minus else alpha
            return record(combine("add_scaled", x, y, alpha), ADDED[name], (input, other), (), alpha=alpha, operands=(x.shape, y.shape))
    if isinstance(alpha, Tensor):
        return _with_alpha(name, function, input, other, alpha.item())
    kind = promotion.result_dtype(input, other)
    if kind.numpy in dtypes.REDUCED and isinstance(input, Tensor):
        wide = promotion.cast(other, dtypes.float32) if isinstance(other, Tensor) else other
        return promotion.cast(function(promotion.cast(input, dtypes.float32), scaled(name, wide, alpha, input)), kind)
    return function(input, scaled(name, other, alpha, input))


@op(method=True, inplace=True)
def add(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`input + alpha * other`, elementwise, with broadcasting and type promotion.

    Example: `add(tensor([1., 2.]), tensor([10., 20.]), alpha=2)` is `tensor([21., 42.])`.
    """
    return _with_alpha("add", plus, input, other, alpha)


@op(method=True, inplace=True, aliases=("subtract",))
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
    return _with_alpha("sub", minus, input, other, alpha)


@op(method=True, inplace=True, aliases=("divide",))
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """`input / other`, elementwise. `rounding_mode`: None (true division), "trunc" (towards zero) or "floor" (towards minus infinity).

    True division of integers gives the default dtype; the rounding modes keep integer dtypes (ZeroDivisionError on an integer zero).
    """
    if rounding_mode is None:
        return divide_true(input, other)
    if rounding_mode == "trunc":
        return divide_trunc(input, other)
    if rounding_mode == "floor":
        return divide_floor(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


divide_trunc = binary("div_trunc", lambda g, x, y: g * 0, lambda g, x, y: g * 0, doc="The quotient, truncated.", node="DivBackward1",
                      namespaces="operator", method=False, kinds="if", numbers="both")
divide_floor = binary("div_floor", lambda g, x, y: g * 0, lambda g, x, y: g * 0, doc="The quotient, rounded down.", node="DivBackward1",
                      namespaces="operator", method=False, kinds="if", numbers="both", by_number="floor_divide")
neg = unary("neg", lambda g, x, y: -g, fraction=False, check=no_bool, aliases=("negative",), doc="`-input`. Bool is refused: use `~`.")

eq = binary("eq", None, None, comparison=True, doc="`input == other`, elementwise, as a bool tensor.")
ne = binary("ne", None, None, comparison=True, aliases=("not_equal",), doc="`input != other`, elementwise, as a bool tensor.")
lt = binary("lt", None, None, comparison=True, kinds="bif", aliases=("less",), doc="`input < other`, elementwise, as a bool tensor.")
le = binary("le", None, None, comparison=True, kinds="bif", aliases=("less_equal",), doc="`input <= other`, elementwise, as a bool tensor.")
gt = binary("gt", None, None, comparison=True, kinds="bif", aliases=("greater",), doc="`input > other`, elementwise, as a bool tensor.")
ge = binary("ge", None, None, comparison=True, kinds="bif", aliases=("greater_equal",), doc="`input >= other`, elementwise, as a bool tensor.")


# -- powers ---------------------------------------------------------------------------------------------------------------


def _pow_dx(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """y x^(y-1); exactly 0 where y is 0, also at x = 0."""
    return g * (y * x.pow(y - 1)).masked_fill(y == 0, 0).conj()


def _pow_dy(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """x^y log x; 0 where x is 0 and y >= 0."""
    positive = y >= 0 if y._a.dtype.kind != "c" else y.real >= 0
    return g * (x.pow(y) * x.log()).masked_fill((x == 0) & positive, 0).conj()


power = binary("pow", _pow_dx, _pow_dy, ("xy", "xy"), doc="`input ** exponent` of two tensors.", node="PowBackward1", namespaces="operator",
               method=False, kinds="ifc", numbers="xy")


@derivative("PowBackward0")
def PowBackward0(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    n = node.exponent
    if n == 0:
        return g * 0
    return g * (x.pow(n - 1) * n).conj() if n != 2 else g * (x * 2).conj()


@op(method=True, inplace=True)
def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """`input ** exponent`, elementwise; either may be a number. Integers to negative integer powers raise RuntimeError."""
    if exponent.__class__ in (int, float) and input.__class__ in PLAIN and input._a.dtype.char in "fd":
        a = _scalar_power(input._a, exponent)
        return record(a, PowBackward0, (input,), (input,), exponent=exponent) if input._rg else wrap_result_any(a)
    if isinstance(input, Tensor) and is_number(exponent):
        kind = promotion.result_dtype(input, exponent)
        if kind.category == 1 and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        x = promotion.cast(input, kind)
        if kind.category == 1 and not _fits(int(exponent), kind):
            raise RuntimeError(f"value cannot be converted to type {kind.name}_t without overflow: pow() got the exponent {exponent}")
        if kind.category == 0 and exponent in (0, 1):
            return x.clone() if exponent else x.logical_or(x.logical_not())
        promotion.check_kind("pow", x, "ifc")
        return record(_scalar_power(x._a, exponent), PowBackward0, (x,), (x,), exponent=exponent)
    return power(input, exponent)


def _fits(value: int, kind: dtypes.dtype) -> bool:
    limits = dtypes.iinfo(kind)
    return limits.min <= value <= limits.max


def _scalar_power(a: Any, n: Any) -> Any:
    backend = of(a)
    if n == 2:
        return backend.mul(a, a)
    if n == 1:
        return backend.copy(a)
    if n == 0.5:
        return backend.sqrt(a)
    if n == 3 and a.dtype.kind == "f":
        return backend.mul(backend.mul(a, a), a)
    if n == -1 and a.dtype.kind in "fc":
        return backend.reciprocal(a)
    return compute("pow", a, backend.scalar(n, a.dtype))


for _name, _ufunc, _sign in (("add", cpu.add, 1), ("sub", cpu.sub, -1), ("div", cpu.div, 0)):
    bind_fast_inplace(OPS[_name], _ufunc, sign=_sign)


@method("__pow__")
def _pow_operator(self: Tensor, other: Any) -> Tensor:
    return pow(self, wrap(other) if isinstance(other, np.ndarray) else other)


# -- Python's operators ----------------------------------------------------------------------------------------------------

_BINARY = {"add": plus, "sub": minus, "mul": mul, "truediv": divide_true, "eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
for _name, _function in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _function.operator)
Tensor.__neg__ = neg
Tensor.__radd__ = plus.operator
Tensor.__rmul__ = mul.operator
Tensor.__iadd__ = Tensor.add_
Tensor.__isub__ = Tensor.sub_
Tensor.__imul__ = Tensor.mul_
Tensor.__itruediv__ = Tensor.__idiv__ = Tensor.div_
Tensor.__div__ = Tensor.__truediv__
Tensor.__ipow__ = Tensor.pow_


Tensor.__floordiv__ = divide_floor.operator
Tensor.__rsub__ = reflected("__rsub__", minus)
Tensor.__rtruediv__ = Tensor.__rdiv__ = reflected("__rtruediv__", divide_true)
Tensor.__rfloordiv__ = reflected("__rfloordiv__", divide_floor)
Tensor.__rpow__ = reflected("__rpow__", pow)


@method("__ifloordiv__")
def _ifloordiv(self: Tensor, other: Any) -> Tensor:
    return self.div_(other, rounding_mode="floor")


@method("__pos__")
def _pos(self: Tensor) -> Tensor:
    if self._a.dtype == np.bool_:
        raise RuntimeError("The `+` operator on a bool tensor is not supported.")
    return self


__all__ = ["add", "div", "eq", "ge", "gt", "le", "lt", "mul", "ne", "neg", "pow", "sub", "PLAIN", "promoted"]
