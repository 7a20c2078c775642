import ctypes

import pytest

from saraph.kernels import jit
from saraph.kernels.ir import DOUBLE, FLOAT, I1, I32, I64, POINTER, Module


def run(module, name, result, *arguments):
    kinds = [ctypes.c_double if isinstance(value, float) else ctypes.c_int64 for value in arguments]
    return ctypes.CFUNCTYPE(result, *kinds)(jit.compile(module.text()).address(name))(*arguments)


def test_operators_follow_the_type():
    module = Module()
    function = module.function("floats", (("a", DOUBLE), ("b", DOUBLE)), DOUBLE)
    a, b = function.parameters
    function.give_back((a + b) * 2.0 - a / b + (1.0 - b))
    integers = module.function("integers", (("a", I64), ("b", I64)), I64)
    a, b = integers.parameters
    integers.give_back(((a - b) * 3 & 0xFF) + (a << 2) + (b >> 1))
    assert run(module, "floats", ctypes.c_double, 3.0, 4.0) == 14.0 - 0.75 - 3.0
    assert run(module, "integers", ctypes.c_int64, 7, -5) == (12 * 3 & 0xFF) + 28 + -3


@pytest.mark.parametrize("start, stop, step, turns", [(0, 5, 1, 5), (2, 9, 3, 3), (0, 0, 1, 0), (4, 1, 1, 0)])
def test_range_counts(start, stop, step, turns):
    module = Module()
    function = module.function("count", (("stop", I64),), I64)
    count = function.variable(I64, 0)
    with function.range(start, function.parameters[0], step):
        count.set(count.get() + 1)
    function.give_back(count.get())
    assert run(module, "count", ctypes.c_int64, stop) == turns


def test_nested_control_flow_and_variables():
    module = Module()
    function = module.function("odd_sum", (("stop", I64),), I64)
    total = function.variable(I64, 0)
    with function.range(0, function.parameters[0]) as row:
        with function.range(0, row) as column, function.when((column & 1).equals(1)):
            total.set(total.get() + column)
        function.either(row > 3, lambda: total.set(total.get() + 100), lambda: total.set(total.get() + 1))
    function.give_back(total.get())
    want = sum(sum(c for c in range(r) if c & 1) + (100 if r > 3 else 1) for r in range(7))
    assert run(module, "odd_sum", ctypes.c_int64, 7) == want


def test_vectors_are_matched_shuffled_and_selected():
    module = Module()
    function = module.function("lanes", (("x", DOUBLE),), DOUBLE)
    x = function.parameters[0]
    vector = function.convert("sitofp", function.counting(I64.vector(4)), DOUBLE.vector(4))  # 0 1 2 3
    scaled = x * vector  # the scalar is repeated, on either side
    chosen = function.select(scaled < 25.0, scaled, -1.0)
    chosen = function.select(scaled.equals(0.0), 7.0, chosen)
    turned = function.shuffle(chosen, [3, 2, 1, 0])
    function.give_back(function.extract(turned, 0) * 1000.0 + function.extract(turned, 2) + function.extract(turned, 3))
    assert run(module, "lanes", ctypes.c_double, 10.0) == -1000.0 + 10.0 + 7.0


def test_constants_keep_their_bits():
    module = Module()
    for name, number in (("tenth", 0.1), ("minus_zero", -0.0), ("infinite", -float("inf"))):
        module.function(name, (), DOUBLE).give_back(number)
    module.function("single", (), FLOAT).give_back(0.1)
    assert run(module, "tenth", ctypes.c_double) == 0.1
    assert str(run(module, "minus_zero", ctypes.c_double)) == "-0.0"
    assert run(module, "infinite", ctypes.c_double) == -float("inf")
    assert run(module, "single", ctypes.c_float) == ctypes.c_float(0.1).value


def test_types_are_named_as_llvm_names_them():
    assert str(FLOAT.vector(16)) == "<16 x float>" and str(POINTER) == "ptr"
    assert FLOAT.vector(16).suffix == "v16f32" and POINTER.like(FLOAT.vector(8)).suffix == "v8p0" and I1.suffix == "i1"
    assert (FLOAT.vector(16).size, DOUBLE.size, I32.vector(2).size) == (64, 8, 8)


def test_misuse_is_refused_in_python():
    function = Module().function("wrong", (("a", FLOAT), ("b", DOUBLE)))
    a, b = function.parameters
    with pytest.raises(TypeError, match="cannot use double %b as float"):
        a + b
    with pytest.raises(TypeError, match="must be a Value"):
        function.select(a < 1.0, 1.0, 2.0)


def test_unsigned_operators():
    module = Module()
    function = module.function("shift", (("a", I64),), I64)
    function.give_back(function.parameters[0].shift_in_zeros(60))
    function = module.function("below", (("a", I64), ("b", I64)), I64)
    a, b = function.parameters
    function.give_back(function.select(a.below(b), function.constant(I64, 1), 0))
    assert run(module, "shift", ctypes.c_int64, -1) == 15
    assert [run(module, "below", ctypes.c_int64, *pair) for pair in ((1, 2), (2, 2), (-1, 2), (2, -1))] == [1, 0, 0, 1]


def test_repeat_while():
    module = Module()
    function = module.function("halvings", (("number", I64),), I64)
    number, count = function.variable(I64, function.parameters[0]), function.variable(I64, 0)
    with function.repeat_while(lambda: number.get() > 0):
        number.set(number.get() >> 1)
        count.set(count.get() + 1)
    function.give_back(count.get())
    assert [run(module, "halvings", ctypes.c_int64, n) for n in (0, 1, 8, 1000)] == [0, 1, 4, 10]


def test_shuffle_of_two_vectors():
    module = Module()
    function = module.function("pick", (), I64)
    counting = function.counting(I64.vector(4))
    both = function.shuffle(counting, [3, 4], counting + 10)
    function.give_back(function.extract(both, 0) * 100 + function.extract(both, 1))
    assert run(module, "pick", ctypes.c_int64) == 310


def test_masked_loads_and_stores_touch_the_lanes_of_the_mask():
    module = Module()
    function = module.function("some", (("source", POINTER), ("target", POINTER), ("count", I64)))
    source, target, count = function.parameters
    mask = function.counting(I64.vector(4)) < count
    function.store_masked(function.load_masked(DOUBLE.vector(4), source, mask) * 2.0, target, mask)
    function.give_back()
    numbers, found = (ctypes.c_double * 4)(1, 2, 3, 4), (ctypes.c_double * 4)(-1, -1, -1, -1)
    address = jit.compile(module.text()).address("some")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)(ctypes.addressof(numbers), ctypes.addressof(found), 3)
    assert list(found) == [2, 4, 6, -1]


def test_shared_memory_and_calls_by_address():
    module = Module()
    module.memory("place", 16)
    twice = module.function("twice", (("a", I64),), I64)
    twice.give_back(twice.parameters[0] * 2)
    function = module.function("use", (("a", I64),), I64)
    place = function.offset(function.address_of("place"), 8)
    function.store_shared(function.parameters[0], place)
    before = function.add_shared(place, function.constant(I64, 5))  # a
    other = function.exchange_shared(place, function.constant(I64, 100))  # a + 5
    yes = function.replace_shared(place, function.constant(I64, 100), function.constant(I64, 1000))
    no = function.replace_shared(place, function.constant(I64, 100), function.constant(I64, 7))
    right = function.select(yes & (no ^ 1), function.load_shared(I64, place), 0)
    function.give_back(function.call_at(function.address_of("twice"), [before + other + right], I64))
    assert run(module, "use", ctypes.c_int64, 3) == 2 * (3 + 8 + 1000)
