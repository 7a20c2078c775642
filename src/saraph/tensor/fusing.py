"""Formulas and functions of Tensors that run as one kernel.

A function made of pointwise ops is traced once over symbolic arrays, which gives a program; the program is compiled, and calls on plain arrays run it.
The function itself stays the definition: it runs wherever the kernel does not fit (gradients of gradients, modes, other devices, mixed shapes).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.backends.symbolic import SymbolicArray, writing
from saraph.kernels.kernel import Pointwise
from saraph.kernels.program import Expression, apply
from saraph.kernels.rows import RowKernel, sum_of_row
from saraph.tensor.node import Node, derivative
from saraph.tensor.state import state, thread, upper, without_grad
from saraph.tensor.subclass import watched
from saraph.tensor.tensor import Tensor, record, unpack, wrap

ndarray = np.ndarray
KINDS = frozenset("fd?")  # of the arrays that a kernel takes
MOST = 16  # kernels of one formula: where numbers change with every call, the definition runs


def fused(*attributes: str) -> Callable[[Callable], Callable]:
    """Decorator, below `@derivative`: run a backward formula of pointwise ops as one kernel. `attributes` names what it reads of its node."""

    def wrap_formula(formula: Callable) -> Callable:
        kernels: dict[Any, Any] = {}

        def run(node: Any, *grads: Any) -> Any:
            if thread.grad:
                return formula(node, *grads)
            values = (*grads, *unpack(node))
            dtypes = _fitting(values)
            if dtypes is None:
                return formula(node, *grads)
            edges = node.edges
            key: Any = (dtypes, *[getattr(node, a) for a in attributes]) if attributes else dtypes
            if len(edges) > 1:
                key = (key, *[e is None for e in edges])
            kernel = kernels.get(key)
            if kernel is None and len(kernels) < MOST:
                kernel = kernels[key] = _kernel_of(formula, node, grads, values)
            return kernel(values) if kernel else formula(node, *grads)

        run.__doc__, run.__name__, run.__module__ = formula.__doc__, formula.__name__, formula.__module__
        run.formula = formula  # type: ignore[attr-defined]  # the definition, for tests
        return run

    return wrap_formula


def fits(*tensors: Any) -> bool:
    """Whether a Composite runs on these as one kernel: plain float tensors of one shape and dtype."""
    key = _fitting([t if isinstance(t, Tensor) else _foreign for t in tensors])
    return key is not None and key == key[0] * len(key) and key[0] in "fd"


class _Foreign:
    """Stands for what is not a Tensor."""

    _a = None


_foreign = _Foreign()


def _fitting(values: Any) -> str | None:
    """What a kernel for these values is chosen by: their dtypes; None unless all are plain dense arrays of one shape, and nobody watches."""
    if state.active and watched(values):
        return None
    key, shape = "", None
    for value in values:
        if value is None:
            key += "-"
            continue
        a = value._a
        if a.__class__ is not ndarray:
            return None
        char = a.dtype.char
        if char not in KINDS or (shape is not None and a.shape != shape):
            return None
        key, shape = key + char, a.shape
    return key


def _kernel_of(formula: Callable, node: Node, grads: Any, values: Any) -> Any:
    """The formula as a function of (grads, saved tensors); False where it is not one pointwise program."""
    present = [k for k, v in enumerate(values) if v is not None]
    traced = _Traced(formula, node, len(grads), present, len(values), values[present[0]]._a.shape)
    kernel = Pointwise(type(node).__name__, traced)
    try:
        program = kernel.program([values[k]._a.dtype for k in present])
    except AttributeError:
        return False
    if len(program.steps) <= len(program.inputs):
        return False  # nothing is computed: a gradient is passed on as it is
    places, count = traced.places, traced.count
    single = len(places) == 1

    def run(values: Any) -> Any:
        found = kernel(*[v._a for v in values if v is not None])
        if count == 1:
            return _tensor(found)
        results: list[Tensor | None] = [None] * count
        for k, array in zip(places, (found,) if single else found, strict=True):
            results[k] = _tensor(array)
        return tuple(results)

    return run


def _tensor(found: Any) -> Tensor:
    """A kernel's result as a Tensor; of zero-dim arrays a ufunc gives NumPy scalars."""
    return wrap(found if found.__class__ is ndarray else np.asarray(found))


class _Traced:
    """A backward formula as a function of expressions. It keeps of the node what every node of its kind has in common, and nothing of the graph."""

    def __init__(self, formula: Callable, node: Node, grads: int, present: list[int], values: int, shape: tuple[int, ...]) -> None:
        self.formula, self.kind, self.grads, self.present, self.values, self.shape = formula, type(node), grads, present, values, shape
        self.edges = tuple(None if edge is None else True for edge in node.edges)
        self.attributes = dict(node.__dict__)
        self.places: list[int] = []  # which of the results there are
        self.count = 0  # of the results

    def __call__(self, *operands: Expression) -> Any:
        found: list[Any] = [None] * self.values
        for k, operand in zip(self.present, operands, strict=True):
            found[k] = wrap(SymbolicArray(operand, self.shape))
        proxy = object.__new__(self.kind)
        proxy.edges, proxy.sequence, proxy.shapes, proxy.extra, proxy.versions = self.edges, 0, None, None, None
        proxy.__dict__.update(self.attributes)
        proxy.saved = tuple(found[self.grads:])
        with writing(operands[0].builder):
            results = self.formula(proxy, *found[:self.grads])
        results = results if results.__class__ is tuple else (results,)
        self.places, self.count = [k for k, r in enumerate(results) if r is not None], len(results)
        return tuple(results[k]._a.expression for k in self.places)


class Composite:
    """A function of Tensors made of pointwise ops, as one kernel forward and one backward.

    `Composite("MseLossBackward0", lambda x, y: (x - y) * (x - y))` is called with Tensors, and with numbers that belong to the function after them.
    The name is that of its node in the backward graph.
    """

    def __init__(self, node: str, function: Callable[..., Tensor]) -> None:
        self.function = function
        self.node = derivative(node)(self._formula)
        self.sum_node = derivative(node)(self._sum_formula)
        self._forward: dict[Any, Pointwise] = {}
        self._sums: dict[Any, RowKernel] = {}
        self._backward: dict[Any, Pointwise] = {}

    def __call__(self, *tensors: Tensor, numbers: tuple[Any, ...] = ()) -> Tensor:
        """The value of every element."""
        if _fitting(tensors) is None:
            return self.function(*tensors, *numbers)
        kernel = self._forward.get(numbers)
        if kernel is None:
            if len(self._forward) >= MOST:
                return self.function(*tensors, *numbers)
            kernel = self._forward[numbers] = Pointwise(self.node.__name__, self._traced(numbers))
        return record(kernel(*[t._a for t in tensors]), self.node, tensors, tensors, numbers=numbers)

    def sum(self, *tensors: Tensor, numbers: tuple[Any, ...] = (), mean: bool = False) -> Tensor:
        """The sum (or the mean) over all elements."""
        kernel = self._sums.get(numbers)
        if (_fitting(tensors) is None or not all(t._a.flags.c_contiguous for t in tensors) or not tensors[0]._a.size
                or (kernel is None and len(self._sums) >= MOST)):
            values = self.function(*tensors, *numbers)
            return values.mean() if mean else values.sum()
        if kernel is None:
            traced = self._traced(numbers)
            kernel = self._sums[numbers] = RowKernel(self.node.__name__, lambda *x: apply("row_sum", traced(*x)), len(tensors))
        arrays = [t._a for t in tensors]
        total = total_of_rows(kernel, *arrays)
        count = arrays[0].size
        return record(total / count if mean else total, self.sum_node, tensors, tensors, numbers=numbers, count=count if mean else 1)

    def _traced(self, numbers: tuple[Any, ...]) -> Callable[..., Expression]:
        def definition(*operands: Expression) -> Expression:
            with writing(operands[0].builder), without_grad():
                return self.function(*[wrap(SymbolicArray(o, (7,))) for o in operands], *numbers)._a.expression

        return definition

    def _formula(self, node: Any, g: Tensor) -> Any:
        tensors = unpack(node)
        if thread.grad or _fitting((g, *tensors)) is None:
            return self._by_definition(node, tensors, g)
        return self._run_backward(node, tensors, g)

    def _sum_formula(self, node: Any, g: Tensor) -> Any:
        tensors = unpack(node)
        if node.count != 1:
            g = g / node.count
        if thread.grad or _fitting(tensors) is None or g._a.__class__ is not ndarray:
            return self._by_definition(node, tensors, g.expand(tensors[0]._a.shape))
        return self._run_backward(node, tensors, g)

    def _by_definition(self, node: Any, tensors: tuple[Tensor, ...], g: Tensor) -> Any:
        before, thread.grad = thread.grad, True
        try:
            own = list(tensors) if before else [t.detach().requires_grad_(e is not None) for t, e in zip(tensors, node.edges, strict=True)]
            wanted = [t for t, e in zip(own, node.edges, strict=True) if e is not None]
            found = iter(upper.gradients(self.function(*own, *node.numbers), wanted, g, before))
        finally:
            thread.grad = before
        return tuple(None if e is None else next(found) for e in node.edges)

    def _run_backward(self, node: Any, tensors: tuple[Tensor, ...], g: Tensor) -> Any:
        needed = tuple([e is not None for e in node.edges])
        key = needed, node.numbers
        kernel = self._backward.get(key)
        if kernel is None:
            kernel = self._backward[key] = Pointwise(self.node.__name__, self._traced_backward(needed, node.numbers))
        found = kernel(g._a, *[t._a for t in tensors])
        if needed.count(True) == 1:
            found = (found,)
        results = iter(found)
        return tuple([_tensor(next(results)) if need else None for need in needed])

    def _traced_backward(self, needed: tuple[bool, ...], numbers: tuple[Any, ...]) -> Callable[..., Any]:
        def definition(g: Expression, *operands: Expression) -> Any:
            tensors = [wrap(SymbolicArray(o, (7,))) for o in operands]
            for t, need in zip(tensors, needed, strict=True):
                t._rg = need
            before, thread.grad = thread.grad, True
            try:
                with writing(g.builder):
                    y = self.function(*tensors, *numbers)
                    found = upper.gradients(y, [t for t in tensors if t._rg], wrap(SymbolicArray(g, (7,))), False)
            finally:
                thread.grad = before
            zero = g * 0.0
            return tuple(zero if f is None else f._a.expression for f in found)

        return definition


PIECE = 1 << 15  # elements that are summed at a time


def total_of_rows(kernel: RowKernel, *arrays: ndarray) -> ndarray:
    """A kernel's sum over all elements of dense arrays, in pieces that threads share."""
    flat = [a.reshape(-1) for a in arrays]
    whole = flat[0].size // PIECE * PIECE
    if whole <= PIECE:
        return np.asarray(kernel.function(*flat))
    parts = kernel.function(*[a[:whole].reshape(-1, PIECE) for a in flat])
    if whole < flat[0].size:
        parts = np.append(parts, kernel.function(*[a[whole:] for a in flat]))
    return np.asarray(sum_of_row.function(parts))
