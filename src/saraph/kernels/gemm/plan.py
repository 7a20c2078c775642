"""Matrix products of arrays: which kernel, which blocks, which words.

    c = plan.multiply(a, b)                                    # a @ b by NumPy's rules for two or more dimensions
    c = plan.multiply(a, b, bias, alpha=2.0, beta=0.5)         # 2 a @ b + 0.5 bias, bias broadcast to the result

What is planned from shapes and strides is kept; a call fills in addresses.
"""
from __future__ import annotations

import functools
import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from saraph.kernels import blocks, jit, pool
from saraph.kernels.gemm import micro, skinny
from saraph.kernels.gemm.blocked import ADD_NUMBER, ADD_ROW, NO_ADDEND, RANK, WORDS, Shape, source
from saraph.kernels.gemm.micro import Tile

#: dtype characters that are multiplied here. (E is ml_dtypes' bfloat16.)
KINDS = {"f": "float32", "d": "float64", "e": "float16", "E": "bfloat16"}
PRODUCTS = {"float64": micro.FLOAT64, "bfloat16": micro.BFLOAT16, "int8": micro.INT8}  # float32 for all others
DEPTH_BYTES = 2048  #: bytes of a block of depth, per row of A: 512 steps of float32
UNIT_WORK = 1 << 20  #: multiplications below which a unit is not split
ROWS_OF_UNIT = 8  #: tiles below one another that a unit has at most
UNITS = 24  #: units that are aimed at: enough for any small number of threads to get equal shares
FEW = 8  #: units below which blocks are cut finer
UNIT_BYTES = 1 << 17  #: of B that are a unit of a product of a few rows
THIN_WORK = 1 << 12  #: elements of B from which a product of a few rows has its own kernel
PACKED_BYTES = 64 << 20  #: of packed B at one time
Strides = tuple[int, ...]


class Plan(NamedTuple):
    """A product of arrays of certain shapes and strides."""

    shape: tuple[int, ...]
    driver: int  # 0 where units pack B themselves
    compute: int
    words: tuple[int, ...]  # from `rows` on, without `packed` and `scratch`, which follow addresses
    units: int
    packed: int  # bytes
    scratch: int  # bytes of a slot
    code: Any  # keeps the machine code alive
    exchanged: bool = False  # B is given as A


def multiply(a: np.ndarray, b: np.ndarray, addend: np.ndarray | None = None, alpha: float = 1.0, beta: float = 1.0,
             activation: str = "") -> np.ndarray | None:
    """activation(alpha * a @ b + beta * addend): (..., n, m), (..., m, p) -> (..., n, p), batches and the addend broadcast.

    All of one dtype of KINDS, no size 0. ValueError where shapes do not fit; None where the layout is beyond the kernels.
    """
    if addend is None:
        plan = _plan(a.dtype.char, a.shape, a.strides, b.shape, b.strides, None, None, activation, jit.host())
    else:
        plan = _plan(a.dtype.char, a.shape, a.strides, b.shape, b.strides, addend.shape, addend.strides, activation, jit.host())
    if plan is None:
        return None
    c = blocks.empty(plan.shape, a.dtype)
    run(plan, a, b, c, addend, alpha, beta)
    return c


def run(plan: Plan, a: np.ndarray, b: np.ndarray, c: np.ndarray, addend: np.ndarray | None, alpha: float, beta: float) -> None:
    """Multiply into a dense array that overlaps no operand."""
    if plan.exchanged:
        a, b = b, a
    address = blocks.address
    slots = pool.slots()
    room = blocks.empty((plan.packed + plan.scratch * slots + 64,), np.uint8)
    packed = (address(room) + 63) & -64
    words = plan.words
    head = (address(a), address(b), address(c), 0 if addend is None else address(addend))
    rest = (*words[:12], _bits(alpha), _bits(beta), packed, packed + plan.packed, *words[12:])
    if plan.driver:
        pool.call(plan.driver, _words(*head, *rest))
    else:
        pool.parallel(plan.compute, _words(*head, *rest), plan.units, 1)


_words = struct.Struct(f"{len(WORDS)}q").pack


@functools.lru_cache(maxsize=64)
def _bits(number: float) -> int:
    return struct.unpack("<q", struct.pack("<d", number))[0]


def multiply_bytes(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """a @ b for uint8 or int8 (n, m) and int8 (m, p): int32 (n, p), exact up to the range of int32. None where the processor multiplies no bytes.

    The instruction takes its left operand unsigned: int8 is shifted by 128, and what that adds to every column is taken off again.
    """
    shifted = a.dtype == np.int8
    if shifted:
        a = a.view(np.uint8) ^ np.uint8(128)
    plan = _byte_plan(a.shape, a.strides, b.shape, b.strides, jit.host())
    if plan is None:
        return None
    c = blocks.empty(plan.shape, np.dtype(np.int32))
    run(plan, a, b, c, None, 1.0, 1.0)
    if shifted:
        c -= 128 * b.sum(0, dtype=np.int32)
    return c


# -- planning ----------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _plan(kind: str, a_shape: Strides, a_strides: Strides, b_shape: Strides, b_strides: Strides, d_shape: Strides | None,
          d_strides: Strides | None, activation: str, host: Any) -> Plan | None:
    if a_shape[-1] != b_shape[-2]:
        raise ValueError(f"matmul: inner sizes {a_shape[-1]} and {b_shape[-2]} differ")
    batch = np.broadcast_shapes(a_shape[:-2], b_shape[:-2])
    rows, depth, columns = a_shape[-2], a_shape[-1], b_shape[-1]
    dtype = KINDS[kind]
    size = np.dtype(np.float64 if kind == "d" else np.float32 if kind == "f" else np.float16).itemsize
    shape = (*batch, rows, columns)
    d_row = d_kind = 0
    d_batch: Strides = (0,) * len(batch)
    if d_shape is not None:
        full = _expanded_strides(shape, d_shape, d_strides or ())
        if full[-1] not in (0, size):
            return None
        d_batch, d_row, d_kind = full[:-2], full[-2], ADD_NUMBER if full[-1] == 0 else ADD_ROW
    c_batch = tuple(rows * columns * size * math.prod(batch[k + 1:]) for k in range(len(batch)))
    sizes, steps = _merged(batch, [_batch_strides(a_shape, a_strides, batch), _batch_strides(b_shape, b_strides, batch), c_batch, d_batch])
    if len(sizes) > RANK:
        return None
    a_row = a_strides[-2]
    if rows == 1 and sizes:  # a row stride means nothing for one row
        a_row = steps[0][-1]
        d_row = steps[3][-1]
    while sizes and steps[1][-1] == 0 and steps[0][-1] == rows * a_row and (d_kind == NO_ADDEND or steps[3][-1] == rows * d_row):
        rows *= sizes.pop()  # one matrix for a whole batch: all its rows in one product
        for s in steps:
            s.pop()
    layout = _Layout(shape, dtype, size, rows, columns, depth, a_row, (a_strides[-1], b_strides[-2], b_strides[-1]), (columns * size, size),
                     (d_row, size if d_kind == ADD_ROW else 0), d_kind, sizes, steps)
    if not activation:
        for few in (layout, layout.swapped()):
            thin = _thin_plan(few, host) if few.rows <= skinny.ROWS and few.columns * depth >= THIN_WORK else None
            if thin is not None:
                return thin
    return _blocked_plan(layout, activation, host)


@functools.lru_cache(maxsize=256)
def _byte_plan(a_shape: Strides, a_strides: Strides, b_shape: Strides, b_strides: Strides, host: Any) -> Plan | None:
    if not micro.available(host, micro.INT8):
        return None
    (rows, depth), columns = a_shape, b_shape[1]
    if b_shape[0] != depth:
        raise ValueError(f"multiply_bytes: inner sizes {depth} and {b_shape[0]} differ")
    layout = _Layout((rows, columns), "int8", 1, rows, columns, depth, a_strides[0], (a_strides[1], b_strides[0], b_strides[1]),
                     (columns * 4, 4), (0, 0), NO_ADDEND, [], [[], [], [], []])
    return _blocked_plan(layout, "", host)


class _Layout(NamedTuple):
    """A product as the kernels see it; strides in bytes."""

    shape: Strides
    dtype: str
    size: int
    rows: int
    columns: int
    depth: int
    a_row: int
    spans: tuple[int, int, int]  # from one step of depth to the next in A and in B, from one column to the next in B
    c_steps: tuple[int, int]  # from one row to the next, from one column to the next
    d_steps: tuple[int, int]
    d_kind: int
    batch: list[int]
    steps: list[list[int]]  # in A, B, C, D, from one matrix of the batch to the next
    exchanged: bool = False

    def swapped(self) -> _Layout:
        """The same product of the transposed matrices, B's and A's places exchanged."""
        a_depth, b_depth, b_column = self.spans
        a, b, c, d = self.steps
        return self._replace(rows=self.columns, columns=self.rows, a_row=b_column, spans=(b_depth, a_depth, self.a_row), c_steps=self.c_steps[::-1],
                             d_steps=self.d_steps[::-1], steps=[b, a, c, d], exchanged=True)

    def words(self, grid: Grid) -> tuple[int, ...]:
        """The words of a call but for addresses and numbers."""
        fill = [0] * (RANK - len(self.batch))
        return (self.rows, self.columns, self.depth, self.a_row, *self.spans, *self.c_steps, *self.d_steps, self.d_kind, grid.slot, grid.b_at, grid.sums_at,
                grid.depth_block, grid.row_blocks, grid.column_blocks, int(grid.shared), 0, 0, grid.chunk, math.prod(self.batch), len(self.batch),
                *self.batch, *fill, *(w for s in self.steps for w in (*s, *fill)))


def _thin_plan(layout: _Layout, host: Any) -> Plan | None:
    """A few rows: B is read once, as it lies. None where it lies neither way, or A does not."""
    a_depth, b_depth, b_column = layout.spans
    size, dtype = layout.size, layout.dtype
    product = PRODUCTS.get(dtype, micro.FLOAT32)
    if not micro.available(host, product):
        product = micro.FLOAT32
    if b_depth == size and a_depth == size:
        name = "along_depth"
    elif b_column == size and size >= 4:
        name = "along_columns"
    else:
        return None
    lanes = host.vector_bytes // product.total.size
    thin = skinny.Thin(product, layout.rows, lanes, dtype, dtype)
    code = jit.kernel("gemm.skinny", (product.name, layout.rows, lanes, dtype), lambda: skinny.source(thin))
    most = 1024 if name == "along_columns" else max(8, UNIT_BYTES // (layout.depth * size))
    blocks_of_columns = -(-layout.columns // most)
    chunk = -(-layout.columns // blocks_of_columns)
    chunk = -(-chunk // 64) * 64 if name == "along_columns" else -(-chunk // 4) * 4
    slot = _rounded(layout.rows * (chunk + 512) * product.total.size) if name == "along_columns" else 0
    grid = Grid(1, -(-layout.columns // chunk), 0, chunk, False, 0, slot, 0, 0)
    return Plan(layout.shape, 0, code.address(name), layout.words(grid), grid.column_blocks * math.prod(layout.batch), 0, slot, code, layout.exchanged)


def _blocked_plan(layout: _Layout, activation: str, host: Any) -> Plan:
    dtype, rows, columns, depth, sizes = layout.dtype, layout.rows, layout.columns, layout.depth, layout.batch
    product = PRODUCTS.get(dtype, micro.FLOAT32)
    if not micro.available(host, product):
        product = micro.FLOAT32
    result = dtype if product.total.is_float else product.total_name
    tile = _tile(host, product, rows, columns)
    shape_of_code = Shape(product, tile, dtype, result, ACTIVATIONS[activation])
    code = jit.kernel("gemm", (product.name, tile, dtype, activation), lambda: source(shape_of_code))
    grid = _grid(host, product, tile, rows, columns, depth, math.prod(sizes))
    units = grid.row_blocks * grid.column_blocks * math.prod(sizes)
    return Plan(layout.shape, code.address("driver") if grid.shared else 0, code.address("compute"), layout.words(grid), units, grid.packed, grid.slot, code)


def _relu(function: Any, value: Any) -> Any:
    return function.select(value < 0, 0.0, value)


#: Functions of the result that a kernel can apply.
ACTIVATIONS: dict[str, Any] = {"": None, "relu": _relu}


def _batch_strides(shape: Strides, strides: Strides, batch: Strides) -> Strides:
    lead = shape[:-2]
    missing = len(batch) - len(lead)
    return (*[0] * missing, *[0 if n == 1 else s for n, s in zip(lead, strides[:-2], strict=True)])


def _expanded_strides(shape: Strides, d_shape: Strides, d_strides: Strides) -> Strides:
    if len(d_shape) > len(shape) or any(n not in (1, m) for n, m in zip(d_shape[::-1], shape[::-1], strict=False)):
        raise ValueError(f"an addend of shape {d_shape} does not broadcast to {shape}")
    return (*[0] * (len(shape) - len(d_shape)), *[0 if n == 1 else s for n, s in zip(d_shape, d_strides, strict=True)])


def _merged(batch: Strides, strides: Sequence[Strides]) -> tuple[list[int], list[list[int]]]:
    """Dimensions that run on in every operand made one."""
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, size in enumerate(batch):
        if size == 1:
            continue
        if sizes and all(step[-1] == s[d] * size for s, step in zip(strides, steps, strict=True)):
            sizes[-1] *= size
            for s, step in zip(strides, steps, strict=True):
                step[-1] = s[d]
        else:
            sizes.append(size)
            for s, step in zip(strides, steps, strict=True):
                step.append(s[d])
    return sizes, steps


def _tile(host: Any, product: micro.Product, rows: int, columns: int) -> Tile:
    """The tile that wastes least: of all its rows, or fewer where that leaves fewer empty ones below the last."""
    most = micro.tile(host, product, 2)
    candidates = [(most.rows, 1.0), (most.rows - 2, 1.005)] + ([(8, 1.03)] if most.rows > 10 else [])
    best = min(candidates, key=lambda c: -(-rows // c[0]) * c[0] * c[1])[0]
    return Tile(best, 2, most.lanes)


class Grid(NamedTuple):
    """Blocks of a product and the scratch memory that they need, in bytes."""

    row_blocks: int
    column_blocks: int
    depth_block: int
    chunk: int
    shared: bool
    packed: int
    slot: int
    b_at: int
    sums_at: int


def _grid(host: Any, product: micro.Product, tile: Tile, rows: int, columns: int, depth: int, batches: int) -> Grid:
    size, group = product.element.size, product.group
    most = DEPTH_BYTES // size * group
    parts = -(-depth // most)
    depth_block = -(-depth // parts)
    depth_block = -(-depth_block // group) * group
    groups = -(-depth // group)
    down, across = -(-rows // tile.rows), -(-columns // tile.columns)
    b_bytes = across * tile.columns * groups * size
    work = max(1, rows * columns * depth // UNIT_WORK)
    shared = b_bytes > host.level2_bytes // 3 or (batches == 1 and work >= 8)
    strip = tile.columns * groups * size
    if down <= 4 and batches == 1 and strip <= host.level2_bytes // 3:  # a few rows: each unit packs the columns that only it multiplies
        shared = False
        row_blocks, column_blocks, chunk = 1, min(across, max(-(-b_bytes // (host.level2_bytes // 3)), min(UNITS, work))), columns
    elif shared:
        row_blocks = max(min(UNITS, down // 3), -(-down // ROWS_OF_UNIT), 1)
        row_blocks = min(row_blocks, work)
        column_blocks = min(max(1, across // 4), -(-16 // row_blocks), max(1, work // row_blocks))
        if row_blocks * column_blocks < FEW:  # a deep product of small matrices
            column_blocks = max(1, min(across, -(-FEW // row_blocks), work // row_blocks))
            row_blocks = max(row_blocks, min(down, -(-FEW // column_blocks), work // column_blocks))
        column_blocks = max(column_blocks, -(-columns // 2048))
        chunk = max(512, PACKED_BYTES // (groups * size)) // tile.columns * tile.columns
    else:
        row_blocks = min(max(1, -(-down // 16)), work) if batches < UNITS else -(-down // 64)
        column_blocks = 1 if batches >= UNITS else min(across, max(1, min(work // row_blocks, -(-8 // (batches * row_blocks)))))
        chunk = columns
    row_tiles, column_tiles = -(-down // row_blocks), -(-across // column_blocks)
    a_bytes = _rounded(row_tiles * (-(-depth_block // group) * tile.rows * size + tile.lanes * size))
    b_slot = 0 if shared else _rounded(column_tiles * tile.columns * groups * size)
    sums = _rounded(row_tiles * tile.rows * column_tiles * tile.columns * product.total.size) if parts > 1 else 0
    packed = _rounded(min(-(-chunk // tile.columns), across) * tile.columns * groups * size) if shared else 0
    return Grid(row_blocks, column_blocks, depth_block, max(chunk, 1), shared, packed, _rounded(a_bytes + b_slot + sums), a_bytes, a_bytes + b_slot)


def _rounded(count: int) -> int:
    return (count + 127) & -64
