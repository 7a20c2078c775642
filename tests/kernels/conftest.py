"""What the tests of kernels share: the machine's variants, and a scalar function as a ufunc."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from saraph.kernels import jit
from saraph.kernels.ir import DOUBLE, FLOAT, I32, I64, POINTER, Function, Module, Type, Value
from saraph.kernels.ufunc import make_ufunc

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


@pytest.fixture(autouse=True)
def _compiler() -> None:
    if not jit.available():
        pytest.skip(jit.why_unavailable())


@pytest.fixture
def host_with() -> Iterator[Callable[..., None]]:
    """host_with(vector_bytes=16): kernels are made for another processor, whose instructions this one must have."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(jit.host_as(jit.host()._replace(**changes))) and None


def _write_elementwise(module: Module, name: str, scalar: Type, lanes: int,
                       write: Callable[[Function, Value], Value]) -> None:
    names = ("context", "data", "dimensions", "strides", "auxiliary")
    function = module.function(name, [(name, POINTER) for name in names], I32)
    _, data, dimensions, strides, _ = function.parameters
    source, target = (function.load(POINTER, function.offset(data, 8 * index)) for index in range(2))
    steps = [function.load(I64, function.offset(strides, 8 * index)) for index in range(2)]
    with function.range(0, function.load(I64, dimensions)) as index:
        value = function.load(scalar, function.offset(source, index * steps[0]))
        if lanes:
            result = function.extract(write(function, function.lift(value, scalar.vector(lanes))), lanes - 1)
        else:
            result = write(function, value)
        function.store(result, function.offset(target, index * steps[1]))
    function.give_back(0)


@pytest.fixture
def elementwise() -> Callable[..., np.ufunc]:
    """elementwise(write, lanes): `write` as a ufunc for float32 and float64, on scalars or in a vector's last lane."""
    def make(write: Callable[[Function, Value], Value], lanes: int = 0) -> np.ufunc:
        module = Module()
        for scalar in (FLOAT, DOUBLE):
            _write_elementwise(module, f"loop_{scalar}", scalar, lanes, write)
        code = jit.compile(module.text())
        loops = {(FLOAT32,) * 2: code.address("loop_float"), (FLOAT64,) * 2: code.address("loop_double")}
        return make_ufunc(write.__name__, 1, 1, loops)
    return make
