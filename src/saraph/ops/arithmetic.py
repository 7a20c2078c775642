"""Arithmetic and comparison: the operators of Python, and the pointwise ops behind them."""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import cpu, of
from saraph.ops import promotion
from saraph.ops.families import binary, bind_fast_inplace, compute, unary
from saraph.ops.promotion import is_number, promoted
from saraph.ops.registry import OPS, method, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import PLAIN, Tensor, record, unpack


def _no_bool(name: str) -> Any:
    def check(x: Tensor, y: Tensor | None = None) -> None:
        if x._a.dtype.kind == "b":
            raise RuntimeError(f"{'Subtraction' if name == 'sub' else 'Negation'}, the `-` operator, with a bool tensor is not supported. "
                               "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return check


plus = binary("add", lambda g, x, y: g, lambda g, x, y: g, doc="The sum of two operands.", node="AddBackward0", namespaces="operator",
              method=False)
minus = binary("sub", lambda g, x, y: g, lambda g, x, y: -g, doc="The difference of two operands.", node="SubBackward0",
               namespaces="operator", method=False, check=_no_bool("sub"))
mul = binary("mul", lambda g, x, y: g * y.conj(), lambda g, x, y: g * x.conj(), ("y", "x"), aliases=("multiply",),
             doc="""`input * other`, elementwise, with broadcasting and type promotion.

    Example: `mul(tensor([1., 2.]), 3)` is `tensor([3., 6.])`.""")
divide_true = binary("div", lambda g, x, y: g / y.conj(), lambda g, x, y: -g * (x / y / y).conj(), ("y", "xy"), fraction=True,
                     doc="The quotient, as a floating point number.", node="DivBackward0", namespaces="operator", method=False)


def _scaled(name: str, other: Any, alpha: Any, input: Any) -> Any:
    """alpha * other, refused where alpha would change the kind of number."""
    if alpha.__class__ is int and alpha == 1:
        return other
    kind = promotion.result_dtype(input, other)
    if isinstance(alpha, bool) and kind is not dtypes.bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind.category < 2:
        raise RuntimeError(f"For integral input tensors, argument alpha must not be a floating point number ({name} got alpha={alpha}).")
    if isinstance(alpha, complex) and kind.category < 3:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return mul(other, alpha) if isinstance(other, Tensor) else other * alpha


@op(method=True, inplace=True)
def add(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`input + alpha * other`, elementwise, with broadcasting and type promotion.

    Example: `add(tensor([1., 2.]), tensor([10., 20.]), alpha=2)` is `tensor([21., 42.])`.
    """
    return plus(input, _scaled("add", other, alpha, input))


@op(method=True, inplace=True, aliases=("subtract",))
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
    return minus(input, _scaled("sub", other, alpha, input))


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


def _no_integer_zero(x: Tensor, y: Tensor) -> None:
    if x._a.dtype.kind == "c":
        raise RuntimeError("div with a rounding mode is not supported for complex tensors")


divide_trunc = binary("div_trunc", lambda g, x, y: g * 0, lambda g, x, y: g * 0, doc="The quotient, truncated.", node="DivBackward1",
                      namespaces="operator", method=False, check=_no_integer_zero)
divide_floor = binary("div_floor", lambda g, x, y: g * 0, lambda g, x, y: g * 0, doc="The quotient, rounded down.", node="DivBackward1",
                      namespaces="operator", method=False, check=_no_integer_zero)
neg = unary("neg", lambda g, x, y: -g, fraction=False, check=_no_bool("neg"), aliases=("negative",), doc="`-input`. Bool is refused: use `~`.")

eq = binary("eq", None, None, comparison=True, doc="`input == other`, elementwise, as a bool tensor.")
ne = binary("ne", None, None, comparison=True, aliases=("not_equal",), doc="`input != other`, elementwise, as a bool tensor.")
lt = binary("lt", None, None, comparison=True, aliases=("less",), doc="`input < other`, elementwise, as a bool tensor.")
le = binary("le", None, None, comparison=True, aliases=("less_equal",), doc="`input <= other`, elementwise, as a bool tensor.")
gt = binary("gt", None, None, comparison=True, aliases=("greater",), doc="`input > other`, elementwise, as a bool tensor.")
ge = binary("ge", None, None, comparison=True, aliases=("greater_equal",), doc="`input >= other`, elementwise, as a bool tensor.")


# -- powers ---------------------------------------------------------------------------------------------------------------


def _pow_dx(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """y x^(y-1); exactly 0 where y is 0, also at x = 0."""
    return g * (y * x.pow(y - 1)).masked_fill(y == 0, 0).conj()


def _pow_dy(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """x^y log x; 0 where x is 0 and y >= 0."""
    positive = y >= 0 if y._a.dtype.kind != "c" else y.real >= 0
    return g * (x.pow(y) * x.log()).masked_fill((x == 0) & positive, 0).conj()


power = binary("pow", _pow_dx, _pow_dy, ("xy", "xy"), doc="`input ** exponent` of two tensors.", node="PowBackward1", namespaces="operator",
               method=False)


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
    if isinstance(input, Tensor) and is_number(exponent):
        kind = promotion.result_dtype(input, exponent)
        if kind.category == 1 and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        x = promotion.cast(input, kind)
        if kind.category == 0:
            return power(x, exponent)
        return record(_scalar_power(x._a, exponent), PowBackward0, (x,), (x,), exponent=exponent)
    return power(input, exponent)


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
    if n == -1 and a.dtype.kind == "f":
        return backend.reciprocal(a)
    return compute("pow", a, backend.scalar(n, a.dtype))


for _name, _ufunc in (("add", cpu.add), ("sub", cpu.sub), ("div", cpu.div)):
    bind_fast_inplace(OPS[_name], _ufunc)


# -- Python's operators ----------------------------------------------------------------------------------------------------

_BINARY = {"add": plus, "sub": minus, "mul": mul, "truediv": divide_true, "eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
for _name, _function in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _function.operator)
Tensor.__neg__ = neg
Tensor.__radd__ = plus.operator
Tensor.__rmul__ = mul.operator
Tensor.__pow__ = pow
Tensor.__iadd__ = Tensor.add_
Tensor.__isub__ = Tensor.sub_
Tensor.__imul__ = Tensor.mul_
Tensor.__itruediv__ = Tensor.div_
Tensor.__ipow__ = Tensor.pow_


@method("__rsub__")
def _rsub(self: Tensor, other: Any) -> Tensor:
    return minus(other, self)


@method("__rtruediv__", "__rdiv__")
def _rtruediv(self: Tensor, other: Any) -> Tensor:
    return divide_true(other, self)


@method("__rpow__")
def _rpow(self: Tensor, other: Any) -> Tensor:
    return pow(other, self)


@method("__floordiv__")
def _floordiv(self: Tensor, other: Any) -> Tensor:
    return divide_floor(self, other)


@method("__rfloordiv__")
def _rfloordiv(self: Tensor, other: Any) -> Tensor:
    return divide_floor(other, self)


@method("__ifloordiv__")
def _ifloordiv(self: Tensor, other: Any) -> Tensor:
    return self.div_(other, rounding_mode="floor")


@method("__pos__")
def _pos(self: Tensor) -> Tensor:
    if self._a.dtype == np.bool_:
        raise RuntimeError("The `+` operator on a bool tensor is not supported.")
    return self


__all__ = ["add", "div", "eq", "ge", "gt", "le", "lt", "mul", "ne", "neg", "pow", "sub", "PLAIN", "promoted"]
