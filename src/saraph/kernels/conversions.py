"""Conversions to and from 16-bit floats that LLVM leaves to a library, where a processor has no instruction for them.

x86 without F16C, or without AVX512-BF16, calls these functions by the names that compilers' own libraries give them. Python's process need
not have those libraries, so they are made here, of integer operations alone. (AVX512-BF16's own instruction, which LLVM uses for fptrunc from
float to bfloat where it can, takes denormals for zero.)
"""
from __future__ import annotations

from saraph.kernels.ir import BFLOAT, DOUBLE, FLOAT, HALF, I16, I32, I64, Module, Type

#: What each of LLVM's names is called here.
FUNCTIONS = {"__extendhfsf2": "widen", "__truncsfhf2": "narrow_float", "__truncdfhf2": "narrow_double", "__truncsfbf2": "narrow_bfloat"}


def source() -> str:
    """All of them as IR."""
    module = Module()
    _widen(module)
    _narrow(module, "narrow_float", FLOAT, I32, 23, 127)
    _narrow(module, "narrow_double", DOUBLE, I64, 52, 1023)
    _narrow_bfloat(module)
    return module.text()


def _widen(module: Module) -> None:
    """half to float, which holds every half; a signalling NaN becomes quiet."""
    function = module.function("widen", (("x", HALF),), FLOAT)
    bits = function.convert("zext", function.convert("bitcast", function.parameters[0], I16), I32)
    size = bits & 0x7FFF
    # The bits moved to their places in a float are the number times 2^-112, denormal or not.
    scaled = function.convert("bitcast", function.convert("bitcast", size << 13, FLOAT) * 2.0**112, I32)
    special = function.select(size > 0x7C00, (size << 13) | 0x7FC00000, 0x7F800000)
    number = function.select(size < 0x7C00, scaled, special)
    function.give_back(function.convert("bitcast", number | ((bits & 0x8000) << 16), FLOAT))


def _narrow(module: Module, name: str, kind: Type, integer: Type, mantissa: int, bias: int) -> None:
    """A wider float to half, rounded once, to the nearest, ties to even."""
    function = module.function(name, (("x", kind),), HALF)
    bits = function.convert("bitcast", function.parameters[0], integer)
    drop, width = mantissa - 10, 8 * kind.size
    sign = function.constant(integer, 1 << 15) & bits.shift_in_zeros(width - 16)
    size = bits & ((1 << width - 1) - 1)
    rebased = size - ((bias - 15) << mantissa)
    normal = (rebased + (((rebased >> drop) & 1) + ((1 << drop - 1) - 1))) >> drop
    # In the sum with this number the last place is the smallest half: its bits count those.
    magic = 2.0 ** (mantissa - 24)
    origin = function.convert("bitcast", function.constant(kind, magic), integer)
    tiny = function.convert("bitcast", function.convert("bitcast", size, kind) + magic, integer) - origin
    number = function.select(size < ((bias - 14) << mantissa), tiny, normal)
    number = function.select(size < ((bias + 16) << mantissa), number, 0x7C00)
    infinity = (2 * bias + 1) << mantissa
    number = function.select(size > infinity, ((size >> drop) & 0x3FF) | 0x7E00, number)
    function.give_back(function.convert("bitcast", function.convert("trunc", number | sign, I16), HALF))


def _narrow_bfloat(module: Module) -> None:
    """float to bfloat16, rounded to the nearest, ties to even."""
    function = module.function("narrow_bfloat", (("x", FLOAT),), BFLOAT)
    bits = function.convert("bitcast", function.parameters[0], I32)
    rounded = (bits + ((bits.shift_in_zeros(16) & 1) + 0x7FFF)).shift_in_zeros(16)
    number = function.select((bits & 0x7FFFFFFF) > 0x7F800000, bits.shift_in_zeros(16) | 0x40, rounded)
    function.give_back(function.convert("bitcast", function.convert("trunc", number, I16), BFLOAT))
