"""Bits: and, or, xor, not, shifts, and Python's operators for them."""
from __future__ import annotations

from typing import Any

from saraph.ops.families import binary, unary
from saraph.ops.registry import method
from saraph.tensor.tensor import Tensor


def _integers(x: Tensor, y: Tensor | None = None) -> None:
    if x._a.dtype.kind not in "biu":
        raise RuntimeError(f'bitwise ops are not implemented for {str(x.dtype).removeprefix("torch.")!r}: they take integers and bools')


bitwise_and = binary("bitwise_and", None, None, check=_integers, doc="The bits set in both.")
bitwise_or = binary("bitwise_or", None, None, check=_integers, doc="The bits set in either.")
bitwise_xor = binary("bitwise_xor", None, None, check=_integers, doc="The bits set in exactly one.")
bitwise_left_shift = binary("bitwise_left_shift", None, None, check=_integers, doc="input shifted left by other bits.")
bitwise_right_shift = binary("bitwise_right_shift", None, None, check=_integers, doc="input shifted right by other bits.")
bitwise_not = unary("bitwise_not", None, fraction=False, check=_integers, doc="Every bit turned; logical not for bools.")

for _name, _function in {"and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor, "lshift": bitwise_left_shift,
                         "rshift": bitwise_right_shift}.items():
    setattr(Tensor, f"__{_name}__", _function.operator)
    setattr(Tensor, f"__i{_name}__", getattr(Tensor, _function.__name__ + "_"))
for _name, _function in {"and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor}.items():
    setattr(Tensor, f"__r{_name}__", _function.operator)
Tensor.__invert__ = bitwise_not


@method("__rlshift__")
def _rlshift(self: Tensor, other: Any) -> Tensor:
    return bitwise_left_shift(other, self)


@method("__rrshift__")
def _rrshift(self: Tensor, other: Any) -> Tensor:
    return bitwise_right_shift(other, self)
