"""Random fills: the words of a Mersenne Twister and what is made of them, bit by bit PyTorch's.

The twister's next word depends on those 624, 623 and 227 places before it, so that sixteen are made at once; one thread makes a stretch of them,
which all threads temper and turn into numbers, before the next stretch is made.
"""
from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.copying import smaller
from saraph.kernels.ir import DOUBLE, FLOAT, I1, I8, I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.walking import Task, write_task

BLOCK = 624  #: words of the twister's state
STRETCH = 128 * BLOCK  #: words that are made before they are used: even, a multiple of 32, and not more than the cache holds
UNIT = 1 << 11  #: words that are one unit of work
GRAIN = 4

_OUT, _SOURCE, _FIRST, _COUNT, _PARAMETERS = range(5)  # words of a task's arguments


def fill(kind: str, key: int, start: int, count: int, size: int, dtype: np.dtype, block: np.ndarray, parameters: tuple[float, ...]) -> np.ndarray | None:
    """An array (size,) of what `count` words (at least 2 * BLOCK) make. None, and nothing is done, where there is no compiler.

    key: the address of the current block of the twister's state, of which `start` words are used up; it is brought up to date, to the block that
    the last word is from, and `block` (BLOCK words) gets that block's words, tempered.
    """
    if not jit.available():
        return None
    target, room = blocks.empty((size,), dtype), blocks.empty((STRETCH + 4 * BLOCK,), np.dtype(np.uint32))
    code = jit.kernel("filling", (kind,), functools.partial(_module, kind))
    words = [_bits(p) for p in parameters]
    pool.call(code.address("fill"), pool.arguments(blocks.address(target), key, start, count, blocks.address(room), blocks.address(block), *words))
    return target


def normals_in_place(uniforms: np.ndarray, mean: float, std: float) -> bool:
    """Box and Muller's method on dense float32 uniforms, a multiple of 16 of them. False, and nothing done, where there is no compiler."""
    if not jit.available():
        return False
    code = jit.kernel("filling", ("normal32",), functools.partial(_module, "normal32"))
    words = pool.arguments(blocks.address(uniforms), blocks.address(uniforms), 0, uniforms.size, _bits(float(std)), _bits(float(mean)))
    pool.parallel(code.address("in_place"), words, -(-uniforms.size // UNIT), GRAIN)
    return True


def permutation(words: np.ndarray) -> np.ndarray | None:
    """0 ... n - 1 after swapping place k with k + words[k] % (n - k), one after the other; n - 1 words. None where there is no compiler."""
    if not jit.available():
        return None
    order = blocks.empty((words.size + 1,), np.dtype(np.int64))
    code = jit.kernel("permuting", (), _permuting_module)
    pool.call(code.address("permute"), pool.arguments(blocks.address(order), blocks.address(words), order.size))
    return order


def _bits(number: float) -> int:
    """A Python int as it is; a float as the bits of a double."""
    return number if isinstance(number, int) else struct.unpack("<q", struct.pack("<d", number))[0]


# -- the twister -----------------------------------------------------------------------------------------------------------------------


def _module(kind: str) -> str:
    module = Module()
    module.declare(pool.PARALLEL)
    _write_twist(module)
    write = {"words": _words, "uniform32": _uniform32, "uniform64": _uniform64, "normal32": _normal32, "choice32": _choice32, "choice8": _choice8,
             "integers": _integers}[kind]
    _write_task(write_task(module, "transform"), write)
    if kind == "normal32":
        _write_task(write_task(module, "in_place"), _normals_of_uniforms)
    _write_fill(module, _PARAMETER_COUNTS[kind])
    return module.text()


_PARAMETER_COUNTS = {"words": 0, "uniform32": 4, "uniform64": 4, "normal32": 2, "choice32": 2, "choice8": 1, "integers": 2}


def _write_twist(module: Module) -> None:
    """twist(place, count): `count` words (rounded up to 16) of the raw sequence, from the 624 before `place`."""
    function = module.function("twist", (("place", POINTER), ("count", I64)))
    place, count = function.parameters
    vector = I32.vector(16)
    with function.range(0, count, 16) as index:
        def earlier(distance: int) -> Value:
            return function.load(vector, function.offset(place, (index - distance) * 4))

        high, low = earlier(BLOCK), earlier(BLOCK - 1)
        joined = (high & -(1 << 31)) | (low & 0x7FFFFFFF)
        odd = -(joined & 1)
        function.store(earlier(227) ^ joined.shift_in_zeros(1) ^ (odd & (0x9908B0DF - (1 << 32))), function.offset(place, index * 4))
    function.give_back()


def _write_fill(module: Module, parameters: int) -> None:
    """fill(args): stretch by stretch, words and then numbers; at last the new block of the state."""
    function = module.function("fill", (("args", POINTER),))
    args = function.parameters[0]

    def word(index: int, type: Type = I64) -> Value:
        return function.load(type, function.offset(args, 8 * index))

    target, key, start, count, room, block = (word(0), word(1, POINTER), word(2), word(3), word(4, POINTER), word(5, POINTER))
    own = function.array(I64, _PARAMETERS + parameters)
    function.store(target, own)
    function.store(function.convert("ptrtoint", function.offset(room, start * 4), I64), function.offset(own, 8 * _SOURCE))
    for k in range(parameters):
        function.store(word(6 + k), function.offset(own, 8 * (_PARAMETERS + k)))
    no = function.constant(I1, 0)
    function.effect("memcpy", [POINTER, POINTER, I64], [room, key, function.constant(I64, 4 * BLOCK), no])
    first = function.variable(I64, 0)
    made = function.variable(I64, 0)
    with function.repeat_while(lambda: first.get() < count):
        # the last stretch is not shorter than a block, so that the block of the last word is within it
        left = count - first.get()
        stretch = function.select(left <= STRETCH + BLOCK, left, STRETCH)
        function.call("twist", [function.offset(room, 4 * BLOCK), stretch])
        function.store(first.get(), function.offset(own, 8 * _FIRST))
        function.store(stretch, function.offset(own, 8 * _COUNT))
        units = (stretch + (UNIT - 1)) / UNIT
        function.call("saraph_parallel", [function.address_of("transform"), own, units, function.constant(I64, GRAIN)])
        first.set(first.get() + stretch)
        made.set(stretch)
        with function.when(first.get() < count):
            function.effect("memmove", [POINTER, POINTER, I64], [room, function.offset(room, stretch * 4), function.constant(I64, 4 * BLOCK), no])
    # in words from the beginning of the room: where the last word was, and the block that it is from
    last = (start + count - 1) / BLOCK * BLOCK - (count - made.get())
    function.call("twist", [function.offset(room, (made.get() + BLOCK) * 4), last + BLOCK - (made.get() + BLOCK)])
    newest = function.offset(room, last * 4)
    function.effect("memcpy", [POINTER, POINTER, I64], [key, newest, function.constant(I64, 4 * BLOCK), no])
    with function.range(0, function.constant(I64, BLOCK), 16) as index:
        at = index * 4
        function.store(tempered(function.load(I32.vector(16), function.offset(newest, at))), function.offset(block, at))
    function.give_back()


def tempered(words: Value) -> Value:
    """Words as they are given out."""
    words = words ^ words.shift_in_zeros(11)
    words = words ^ ((words << 7) & (0x9D2C5680 - (1 << 32)))
    words = words ^ ((words << 15) & (0xEFC60000 - (1 << 32)))
    return words ^ words.shift_in_zeros(18)


#: Writes what is made of 32 words: given the task, the address of the first one, the place among all words, and how many of them count.
Transform = Callable[[Task, Value, Value, Value], None]


def _write_task(task: Task, transform: Transform) -> None:
    function = task.function
    source, first, count = task.pointer(_SOURCE), task.word(_FIRST), task.word(_COUNT)
    with function.range(task.begin * UNIT, smaller(function, task.end * UNIT, count), 32) as index:
        transform(task, function.offset(source, index * 4), first + index, smaller(function, count - index, 32))
    function.give_back()


def _load(task: Task, source: Value, half: int) -> Value:
    return tempered(task.function.load(I32.vector(16), task.function.offset(source, 64 * half)))


def _store(task: Task, value: Value, place: Value, size: int, left: Value) -> None:
    """Values side by side, from element `place` of the target on; only `left` of them."""
    function = task.function
    goal = function.offset(task.pointer(_OUT), place * size)
    mask = function.counting(I64.vector(value.type.lanes)) < left
    function.effect("masked.store", [value.type, POINTER], [value, goal, function.constant(I32, 1), mask])


# -- numbers made of words ---------------------------------------------------------------------------------------------------------------


def _words(task: Task, source: Value, place: Value, left: Value) -> None:
    for half in range(2):
        _store(task, _load(task, source, half), place + 16 * half, 4, left - 16 * half)


def _fractions(function: Function, words: Value) -> Value:
    """float32 in [0, 1) from the low 24 bits."""
    return function.convert("sitofp", words & 0xFFFFFF, FLOAT.like(words.type)) * 2.0 ** -24


def _ranged(task: Task, value: Value) -> Value:
    """Uniforms in [0, 1) as PyTorch puts them in a range: parameters span, low, top (not reached), and what is given for it."""
    function = task.function
    span, low, top, instead = (function.lift(_parameter(task, k, value), value.type) for k in range(4))
    value = fused(function, value, span, low)
    return function.select(value.equals(top), instead, value)


def _parameter(task: Task, index: int, like: Value) -> Value:
    """A parameter, in the precision of `like`."""
    value = task.word(_PARAMETERS + index, DOUBLE)
    return value if like.type.scalar == "double" else task.function.convert("fptrunc", value, FLOAT)


def fused(function: Function, a: Value, b: Value | float, c: Value | float) -> Value:
    """a * b + c with one rounding."""
    return function.intrinsic("fma", [a.type], a.type, [a, function.lift(b, a.type), function.lift(c, a.type)])


def _uniform32(task: Task, source: Value, place: Value, left: Value) -> None:
    for half in range(2):
        _store(task, _ranged(task, _fractions(task.function, _load(task, source, half))), place + 16 * half, 4, left - 16 * half)


def _bits53(task: Task, source: Value, half: int) -> Value:
    """53 bits from every pair of words, the earlier one on top."""
    function, words = task.function, _load(task, source, half)
    high, low = (function.convert("zext", function.shuffle(words, range(k, 16, 2)), I64.vector(8)) for k in range(2))
    return ((high << 32) | low) & ((1 << 53) - 1)


def _pairs(words: Value, half: int) -> Value:
    """How many pairs are left in a half."""
    return (words >> 1) - 8 * half


def _uniform64(task: Task, source: Value, place: Value, left: Value) -> None:
    for half in range(2):
        value = task.function.convert("uitofp", _bits53(task, source, half), DOUBLE.vector(8)) * 2.0 ** -53
        _store(task, _ranged(task, value), (place >> 1) + 8 * half, 8, _pairs(left, half))


def _choices(task: Task, source: Value, half: int) -> Value:
    """Which of eight uniform doubles are below the bound, given as 53 bits: the first parameter."""
    return _bits53(task, source, half) < task.word(_PARAMETERS)


def _choice32(task: Task, source: Value, place: Value, left: Value) -> None:
    """float32: the second parameter, or 0."""
    function = task.function
    for half in range(2):
        hits = _choices(task, source, half)
        chosen = function.lift(function.convert("fptrunc", task.word(_PARAMETERS + 1, DOUBLE), FLOAT), FLOAT.vector(8))
        _store(task, function.select(hits, chosen, 0.0), (place >> 1) + 8 * half, 4, _pairs(left, half))


def _choice8(task: Task, source: Value, place: Value, left: Value) -> None:
    for half in range(2):
        hits = task.function.convert("zext", _choices(task, source, half), I8.vector(8))
        _store(task, hits, (place >> 1) + 8 * half, 1, _pairs(left, half))


def _integers(task: Task, source: Value, place: Value, left: Value) -> None:
    """int64: low + word % span (below 2^28); the quotient by floating-point numbers, which is off by one at most."""
    function = task.function
    low, span = task.word(_PARAMETERS), task.word(_PARAMETERS + 1)
    wide, whole = DOUBLE.vector(8), I64.vector(8)
    divisor = function.lift(function.convert("sitofp", span, DOUBLE), wide)
    inverse = function.lift(1.0, wide) / divisor
    for half in range(2):
        words = _load(task, source, half)
        for quarter in range(2):
            part = function.convert("zext", function.shuffle(words, range(8 * quarter, 8 * quarter + 8)), whole)
            number = function.convert("sitofp", part, wide)
            quotient = function.intrinsic("floor", [wide], wide, [number * inverse])
            rest = fused(function, -quotient, divisor, number)
            rest = function.select(rest < 0.0, rest + divisor, rest)
            rest = function.select(rest >= divisor, rest - divisor, rest)
            result = function.convert("fptosi", rest, whole) + low
            offset = 16 * half + 8 * quarter
            _store(task, result, place + offset, 8, left - offset)


# -- normals: Box and Muller, with the single-precision polynomials of Cephes ---------------------------------------------------------------


def _normal32(task: Task, source: Value, place: Value, left: Value) -> None:
    function = task.function
    _write_normals(task, [_fractions(function, _load(task, source, half)) for half in range(2)], place, left)


def _normals_of_uniforms(task: Task, source: Value, place: Value, left: Value) -> None:
    function, vector = task.function, FLOAT.vector(16)
    zero, align = function.constant(vector, 0.0), function.constant(I32, 1)
    halves = []
    for half in range(2):
        mask = function.counting(I64.vector(16)) < left - 16 * half
        place_of_half = function.offset(source, 64 * half)
        halves.append(function.intrinsic("masked.load", [vector, POINTER], vector, [place_of_half, align, mask, zero]))
    _write_normals(task, halves, place, left)


def _write_normals(task: Task, uniforms: list[Value], place: Value, left: Value) -> None:
    """Two groups of 16 uniforms: eight give the radii, eight the angles. Parameters: standard deviation and mean."""
    function = task.function
    one = function.constant(FLOAT.vector(16), 1.0)
    radii = function.shuffle(uniforms[0], [*range(8), *range(16, 24)], uniforms[1])
    angles = function.shuffle(uniforms[0], [*range(8, 16), *range(24, 32)], uniforms[1])
    radius = function.intrinsic("sqrt", [one.type], one.type, [_log(function, one - radii) * -2.0])
    sine, cosine = _sine_and_cosine(function, angles * _single(2 * math.pi))
    std, mean = (function.lift(_parameter(task, k, one), one.type) for k in range(2))
    found = []
    for value in (cosine * radius, sine * radius):
        # added only if it is not 0: -0 stays
        found.append(function.select(mean.equals(0.0), value * std, fused(function, value, std, mean)))
    for half in range(2):
        lanes = [*range(8 * half, 8 * half + 8), *range(16 + 8 * half, 24 + 8 * half)]
        _store(task, function.shuffle(found[0], lanes, found[1]), place + 16 * half, 4, left - 16 * half)


def _single(number: float) -> float:
    return float(np.float32(number))


_LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
        -2.4999993993e-1, 3.3333331174e-1)
_SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)


def _horner(function: Function, coefficients: tuple[float, ...], x: Value) -> Value:
    value = function.constant(x.type, coefficients[0])
    for coefficient in coefficients[1:]:
        value = fused(function, value, x, coefficient)
    return value


def _log(function: Function, x: Value) -> Value:
    """The natural logarithm of positive, normal numbers, rounded as PyTorch's kernel rounds it."""
    whole = I32.like(x.type)
    bits = function.convert("bitcast", x, whole)
    exponent = function.convert("sitofp", bits.shift_in_zeros(23), x.type) - 126.0
    fraction = function.convert("bitcast", (bits & (0x807FFFFF - (1 << 32))) | 0x3F000000, x.type)
    small = fraction < 0.707106781186547524
    exponent = exponent - function.select(small, function.constant(x.type, 1.0), 0.0)
    fraction = (fraction - 1.0) + function.select(small, fraction, 0.0)
    square = fraction * fraction
    value = _horner(function, _LOG, fraction) * fraction
    value = fused(function, value, square, exponent * -2.12194440e-4)
    value = value - square * 0.5 + fraction
    return fused(function, exponent, 0.693359375, value)


def _sine_and_cosine(function: Function, x: Value) -> tuple[Value, Value]:
    """Of angles from 0 to a few thousand, rounded as PyTorch's kernel rounds them."""
    whole = I32.like(x.type)
    octant = (function.convert("fptosi", x * 1.27323954473516, whole) + 1) & -2
    turns = function.convert("sitofp", octant, x.type)
    angle = x
    for part in _QUARTER_PI:
        angle = fused(function, turns, part, angle)
    square = angle * angle
    sine = fused(function, _horner(function, _SINE, square) * square, angle, angle)
    cosine = fused(function, _horner(function, _COSINE, square) * square, square, square * -0.5) + 1.0
    same = (octant & 2).equals(0)
    results = []
    for first, second, turned in ((sine, cosine, octant), (cosine, sine, (octant - 2) ^ -1)):
        bits = function.convert("bitcast", function.select(same, first, second), whole)
        results.append(function.convert("bitcast", bits ^ ((turned & 4) << 29), x.type))
    return results[0], results[1]


# -- permutations ------------------------------------------------------------------------------------------------------------------------


def _permuting_module() -> str:
    module = Module()
    function = module.function("permute", (("args", POINTER),))
    args = function.parameters[0]
    order, words = (function.load(POINTER, function.offset(args, 8 * k)) for k in range(2))
    count = function.load(I64, function.offset(args, 16))
    with function.range(0, count) as index:
        function.store(index, function.offset(order, index * 8))
    with function.range(0, count - 1) as index:
        word = function.load(I32, function.offset(words, index * 4))
        left = function.convert("trunc", count - index, I32)
        distance = function.convert("zext", function.value(I32, f"urem {word}, {left.text}"), I64)
        here, there = function.offset(order, index * 8), function.offset(order, (index + distance) * 8)
        first, second = function.load(I64, here), function.load(I64, there)
        function.store(second, here)
        function.store(first, there)
    function.give_back()
    return module.text()
