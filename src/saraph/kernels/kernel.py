"""Pointwise functions of arrays that compile on first use: `Pointwise`.

    silu = Pointwise("silu", lambda x: x / (1 + exp(-x)))
    y = silu(x)                      # any shape and strides, broadcast as NumPy does
    silu(x, out=y)

A call on few elements costs what a call of np.add costs: it is one. Many elements are shared out among threads and go into a reused block.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from saraph.kernels import blocks, emit, interpret, jit, pointwise, pool
from saraph.kernels.program import Program, trace
from saraph.kernels.ufunc import make_ufunc

LARGE = 1 << 15  # elements from which a result goes into a block, and rows of any strides are shared out among threads
float32 = np.dtype(np.float32)


class Compiled(NamedTuple):
    """A program as machine code."""

    ufunc: np.ufunc
    task: int
    results: tuple[np.dtype, ...]


_compiled: dict[Program, Compiled] = {}


def compiled(program: Program) -> Compiled | None:
    """Machine code for a program without reductions; None where there can be none."""
    found = _compiled.get(program)
    if found is not None:
        return found
    if not jit.available() or not emit.can_emit(program):
        return None
    code = jit.kernel("pointwise", program, lambda: pointwise.source(program))
    dtypes = emit.numpy_dtypes(program)
    inputs = len(program.inputs)
    ufunc = make_ufunc(program.name, inputs, len(dtypes) - inputs, {dtypes: code.address("row")})
    found = _compiled[program] = Compiled(ufunc, code.address("task"), dtypes[inputs:])
    return found


class Pointwise:
    """A function of arrays, element by element. 16-bit floats are computed in float32 and rounded once.

    definition  takes expressions (see program.py) and gives one or several
    """

    __slots__ = ("name", "definition", "_made", "_small")

    def __init__(self, name: str, definition: Callable[..., Any]) -> None:
        self.name, self.definition = name, definition
        self._made: dict[str, Callable[..., Any]] = {}
        self._small: dict[str, np.ufunc] = {}  # by the last operand's dtype: the shortest way, for few elements

    def __repr__(self) -> str:
        return f"<pointwise kernel {self.name}>"

    def program(self, dtypes: Sequence[Any]) -> Program:
        """The program for operands of these dtypes."""
        kinds = [np.dtype(d) for d in dtypes]
        reduced = next((k for k in kinds if k.kind in "fV" and k.itemsize == 2), None)
        if reduced is None:
            return trace(self.name, self.definition, kinds)
        plain = trace(self.name, self.definition, kinds, computed=float32)
        stored = [reduced if plain.steps[number].dtype == "float32" else kind for number, kind in plain.outputs]
        return trace(self.name, self.definition, kinds, computed=float32, stored=stored)

    def small(self, *arrays: np.ndarray) -> Callable[..., Any] | None:
        """The ufunc for operands of these dtypes, without the look at sizes; None where nothing can be compiled."""
        code = compiled(self.program([a.dtype for a in arrays]))
        return None if code is None else code.ufunc

    def __call__(self, *arrays: np.ndarray, out: Any = None) -> Any:
        if out is None:
            ufunc = self._small.get(arrays[-1].dtype.char)
            if ufunc is not None:
                shape, bound = arrays[0].shape, arrays[0].size  # what the operands broadcast to has at most so many elements
                for a in arrays:
                    if a.shape != shape:
                        bound *= a.size
                if bound < LARGE:
                    try:
                        return ufunc(*arrays)
                    except TypeError:  # other dtypes than those it is for
                        pass
        return self._general(arrays, out)

    def _general(self, arrays: tuple[np.ndarray, ...], out: Any) -> Any:
        key = arrays[0].dtype.char if len(arrays) == 1 else "".join([a.dtype.char for a in arrays])
        function = self._made.get(key)
        if function is None:
            function = self._make(key, [a.dtype for a in arrays])
        return function(arrays, out)

    def _make(self, key: str, dtypes: Sequence[np.dtype]) -> Callable[..., Any]:
        with jit.LOCK:
            if key not in self._made:
                program = self.program(dtypes)
                code = compiled(program)
                self._made[key] = _interpreted(program) if code is None else _runner(code)
                if code is not None:
                    self._small.setdefault(dtypes[-1].char, code.ufunc)
        return self._made[key]


def _interpreted(program: Program) -> Callable[..., Any]:
    def run(arrays: tuple[np.ndarray, ...], out: Any) -> Any:
        results = interpret.run(program, *arrays)
        if out is not None:
            for target, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
                np.copyto(target, result)
            return out
        return results[0] if len(results) == 1 else results

    return run


def _runner(code: Compiled) -> Callable[..., Any]:
    ufunc = code.ufunc

    def run(arrays: tuple[np.ndarray, ...], out: Any) -> Any:
        first = arrays[0]
        shape = first.shape
        alike = True
        for a in arrays:
            if a.shape != shape:
                alike = False
        if alike and first.size < LARGE:
            return ufunc(*arrays) if out is None else ufunc(*arrays, out=out)
        if alike and all(a.flags.c_contiguous for a in arrays):  # one long row, which the ufunc itself shares out among threads
            if out is None:
                out = tuple([blocks.empty(shape, kind) for kind in code.results])
            return ufunc(*arrays, out=out)
        return run_large(code, arrays, out)

    return run


def run_large(code: Compiled, arrays: Sequence[np.ndarray], out: Any = None) -> Any:
    """Run on arrays of any shapes and strides that broadcast: into `out`, or into new arrays in the memory order of the first whole operand."""
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    if math.prod(shape) < LARGE:
        return code.ufunc(*arrays) if out is None else code.ufunc(*arrays, out=out)
    order = memory_order(next((a for a in arrays if a.shape == shape), None), len(shape))
    if out is None:
        results = tuple(empty_in_order(shape, kind, order) for kind in code.results)
    else:
        results = out if isinstance(out, tuple) else (out,)
        if any(np.may_share_memory(r, a) and not same_place(r, a) for r in results for a in arrays):
            return code.ufunc(*arrays, out=out)  # NumPy copies what overlaps
    operands = [a if a.shape == shape else np.broadcast_to(a, shape) for a in arrays]
    lengths, steps = merged(shape, [tuple(a.strides[d] for d in order) for a in (*operands, *results)], order)
    addresses = [blocks.address(a) for a in (*operands, *results)]
    words, units, grain = pointwise.arguments(lengths, list(zip(addresses, steps, strict=True)))
    pool.parallel(code.task, pool.arguments(*words), units, grain)
    return results[0] if len(results) == 1 else results


def same_place(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are the same elements in the same memory."""
    return a.shape == b.shape and a.strides == b.strides and blocks.address(a) == blocks.address(b)


def memory_order(like: np.ndarray | None, rank: int) -> tuple[int, ...]:
    """The dimensions from the farthest apart in memory to the nearest; the natural order where nothing says otherwise."""
    if like is None or like.flags.c_contiguous or 0 in like.strides:
        return tuple(range(rank))
    return tuple(sorted(range(rank), key=lambda d: -abs(like.strides[d])))


def empty_in_order(shape: Sequence[int], dtype: np.dtype, order: Sequence[int]) -> np.ndarray:
    """A new dense array whose dimensions lie in memory in the given order."""
    if tuple(order) == tuple(range(len(shape))):
        return blocks.empty(tuple(shape), dtype)
    places = sorted(range(len(order)), key=order.__getitem__)
    return blocks.empty(tuple(shape[d] for d in order), dtype).transpose(places)


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]], order: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides with dimensions in `order` (which the strides are already in), those that run on in every operand made one."""
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for place, d in enumerate(order):
        size = shape[d]
        if size == 1:
            continue
        if lengths and all(s[-1] == own[place] * size for s, own in zip(steps, strides, strict=True)):
            lengths[-1] *= size
            for s, own in zip(steps, strides, strict=True):
                s[-1] = own[place]
        else:
            lengths.append(size)
            for s, own in zip(steps, strides, strict=True):
                s.append(own[place])
    if not lengths:
        return [1], [[0] for _ in strides]
    return lengths, steps
