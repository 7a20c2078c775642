"""Bits: and, or, xor, not, shifts, and Python's operators for them."""
from __future__ import annotations

from saraph.ops.families import binary, reflected, unary
from saraph.ops.registry import method
from saraph.tensor.tensor import Tensor

bitwise_and = binary("bitwise_and", None, None, kinds="bi", numbers="xy", doc="The bits set in both.")
bitwise_or = binary("bitwise_or", None, None, kinds="bi", numbers="xy", doc="The bits set in either.")
bitwise_xor = binary("bitwise_xor", None, None, kinds="bi", numbers="xy", doc="The bits set in exactly one.")
bitwise_left_shift = binary("bitwise_left_shift", None, None, kinds="i", numbers="xy", doc="input shifted left by other bits.")
bitwise_right_shift = binary("bitwise_right_shift", None, None, kinds="i", numbers="xy", doc="input shifted right by other bits.")
bitwise_not = unary("bitwise_not", None, fraction=False, kinds="bi", doc="Every bit turned; logical not for bools.")

for _name, _function in {"and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor, "lshift": bitwise_left_shift,
                         "rshift": bitwise_right_shift}.items():
    setattr(Tensor, f"__{_name}__", _function.operator)
    setattr(Tensor, f"__i{_name}__", getattr(Tensor, _function.__name__ + "_"))
for _name, _function in {"and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor}.items():
    setattr(Tensor, f"__r{_name}__", _function.operator)


@method("__invert__")
def _invert(self: Tensor) -> Tensor:
    """`~x`: every bit turned; TypeError for floats."""
    if self._a.dtype.kind not in "biu":
        raise TypeError(f"~ (operator.invert) is only implemented on integer and Boolean-type tensors, this one is {self.dtype!r}")
    return bitwise_not(self)



Tensor.__rlshift__ = reflected("__rlshift__", bitwise_left_shift)
Tensor.__rrshift__ = reflected("__rrshift__", bitwise_right_shift)
