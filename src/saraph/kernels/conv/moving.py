"""Functions of IR that move blocks of memory: transposed, row by row, or with a border of zeros around."""
from __future__ import annotations

from saraph.kernels.conv.tile import lanes_below, masked_load, masked_store
from saraph.kernels.copying import transposed
from saraph.kernels.ir import I1, I8, I64, POINTER, Function, Module, Type, Value

_BLOCK = (("source", POINTER), ("source_step", I64), ("target", POINTER), ("target_step", I64), ("rows", I64), ("columns", I64))


def smaller(function: Function, a: Value, b: Value | int) -> Value:
    """The smaller of two integers."""
    return function.select(a < b, a, b)


def larger(function: Function, a: Value, b: Value | int) -> Value:
    """The larger of two integers."""
    return function.select(a > b, a, b)


def write_moving(module: Module, element: Type, lanes: int) -> None:
    """Define `transpose` and `copy` for elements of one type."""
    _write_transpose(module, element, lanes)
    _write_copy(module)


def _write_transpose(module: Module, element: Type, lanes: int) -> None:
    """target[column][row] = source[row][column]; columns lie side by side in the source, rows in the target."""
    function = module.function("transpose", _BLOCK)
    source, source_step, target, target_step, rows, columns = function.parameters
    kind = element.vector(lanes)
    with function.range(0, rows, lanes) as row, function.range(0, columns, lanes) as column:
        rows_here, columns_here = smaller(function, rows - row, lanes), smaller(function, columns - column, lanes)
        mask = lanes_below(function, columns_here, lanes)
        lines = []
        for k in range(lanes):
            index = smaller(function, row + k, rows - 1) if k else row
            at = function.offset(source, index * source_step + column * element.size)
            lines.append(masked_load(function, kind, at, mask))
        mask = lanes_below(function, rows_here, lanes)
        for k, line in enumerate(transposed(function, lines)):
            wanted = columns_here > k
            with function.when(wanted):
                masked_store(function, line, function.offset(target, (column + k) * target_step + row * element.size), mask)
    function.give_back()


def _write_copy(module: Module) -> None:
    """`columns` bytes of every row."""
    function = module.function("copy", _BLOCK)
    source, source_step, target, target_step, rows, count = function.parameters
    no = function.constant(I1, 0)
    dense = source_step.equals(count) & target_step.equals(count)

    def at_once() -> None:
        function.effect("memcpy", [POINTER, POINTER, I64], [target, source, rows * count, no])

    def row_by_row() -> None:
        whole = count & -64
        wide = I8.vector(64)
        with function.range(0, rows) as row:
            start, end = function.offset(source, row * source_step), function.offset(target, row * target_step)
            with function.range(0, whole, 64) as at:
                function.store(function.load(wide, function.offset(start, at)), function.offset(end, at))
            with function.range(whole, count, 2) as at:  # elements have 2 bytes or more
                two = I8.vector(2)
                function.store(function.load(two, function.offset(start, at)), function.offset(end, at))

    function.either(dense, at_once, row_by_row)
    function.give_back()


def clear(function: Function, target: Value, count: Value) -> None:
    """Zeros in `count` bytes."""
    function.effect("memset", [POINTER, I64], [target, function.constant(I8, 0), count, function.constant(I1, 0)])
