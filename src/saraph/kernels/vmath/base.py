"""What the functions of mathematics share: the two formats as data, bits and numbers, polynomials, products with their rounding errors."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saraph.kernels.ir import I32, I64, Function, Type, Value

#: Coefficients for each format, lowest power first.
Terms = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Format:
    """A floating-point format."""

    integer: Type  # the integer type of the same size
    mantissa_bits: int
    bias: int

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)


FORMATS = {"float": Format(I32, 23, 127), "double": Format(I64, 52, 1023)}


def fma(function: Function, a: Value, b: Value | float, c: Value | float) -> Value:
    """a * b + c with one rounding, on every processor: so results do not depend on it, nor on the width of vectors."""
    return function.intrinsic("fma", [a.type], a.type, [a, function.lift(b, a.type), function.lift(c, a.type)])


def polynomial(function: Function, x: Value, terms: Sequence[float]) -> Value:
    """terms[0] + terms[1] x + ..., by Horner's rule."""
    result = function.constant(x.type, terms[-1])
    for term in reversed(terms[:-1]):
        result = fma(function, result, x, term)
    return result


def series(function: Function, x: Value, terms: Terms) -> Value:
    """The polynomial whose terms fit the format of x."""
    return polynomial(function, x, terms[x.type.scalar])


def maximum(function: Function, value: Value, best: Value | float) -> Value:
    """The larger of the two; `best` where `value` is NaN. One instruction on x86."""
    return function.select(value > best, value, best)


def at_most(function: Function, value: Value, limit: float) -> Value:
    """The smaller of the two; NaN stays."""
    return function.select(value > limit, limit, value)


def at_least(function: Function, value: Value, limit: float) -> Value:
    """The larger of the two; NaN stays."""
    return function.select(value < limit, limit, value)


def unary(function: Function, name: str, x: Value) -> Value:
    """An intrinsic of one operand: fabs, sqrt, floor, ..."""
    return function.intrinsic(name, [x.type], x.type, [x])


def absolute(function: Function, x: Value) -> Value:
    return unary(function, "fabs", x)


def square_root(function: Function, x: Value) -> Value:
    return unary(function, "sqrt", x)


def copysign(function: Function, size: Value, sign: Value) -> Value:
    """The first operand's size with the second one's sign."""
    return function.intrinsic("copysign", [size.type], size.type, [size, sign])


def bits(function: Function, x: Value) -> Value:
    """The bits of a float as an integer of its size."""
    return function.convert("bitcast", x, FORMATS[x.type.scalar].integer.like(x.type))


def from_bits(function: Function, number: Value, type: Type) -> Value:
    return function.convert("bitcast", number, type)


def power_of_two(function: Function, exponent: Value, type: Type) -> Value:
    """2 to an integer power within the format's normal range."""
    form = FORMATS[type.scalar]
    return from_bits(function, (exponent + form.bias) << form.mantissa_bits, type)


def nearest(function: Function, x: Value, factor: float) -> tuple[Value, Value]:
    """The integer nearest to x * factor, as a float and as an integer; |x * factor| < 2^(mantissa_bits - 1)."""
    form = FORMATS[x.type.scalar]
    # Adding 1.5 * 2^mantissa_bits leaves the nearest integer in the lowest bits: rounding and conversion in one step.
    magic = 1.5 * 2.0**form.mantissa_bits
    rounded = fma(function, x, factor, magic)
    origin = bits(function, function.constant(x.type, magic))
    return rounded - magic, bits(function, rounded) - origin


def product(function: Function, a: Value, b: Value | float) -> tuple[Value, Value]:
    """a * b, and what rounding took from it (Dekker's two-product, by fma)."""
    high = a * b
    return high, fma(function, a, b, -high)


def quick_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b where |a| >= |b| or a is 0, and what rounding took from it (Dekker)."""
    high = a + b
    return high, b - (high - a)


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b, and what rounding took from it (Knuth)."""
    high = a + b
    taken = high - a
    return high, (a - (high - taken)) + (b - taken)
