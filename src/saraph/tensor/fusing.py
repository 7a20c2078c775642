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
from saraph.kernels.program import Expression
from saraph.tensor.node import Node
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import Tensor, unpack, wrap

ndarray = np.ndarray
FLOATS = "fd"
KINDS = frozenset("fd?")  # of the arrays that a kernel takes


def fused(*attributes: str) -> Callable[[Callable], Callable]:
    """Decorator, below `@derivative`: run a backward formula of pointwise ops as one kernel. `attributes` names what it reads of its node."""

    def wrap_formula(formula: Callable) -> Callable:
        kernels: dict[Any, Any] = {}

        def run(node: Any, *grads: Any) -> Any:
            if thread.grad or state.active:
                return formula(node, *grads)
            values = (*grads, *unpack(node))
            key = _fitting(values)
            if key is None:
                return formula(node, *grads)
            edges = node.edges
            key = (key, *[getattr(node, a) for a in attributes]) if attributes else key
            if len(edges) > 1:
                key = (key, *[e is None for e in edges])
            kernel = kernels.get(key)
            if kernel is None:
                kernel = kernels[key] = _kernel_of(formula, node, grads, values)
            if kernel is False:
                return formula(node, *grads)
            return kernel(values)

        run.__doc__, run.__name__, run.__module__ = formula.__doc__, formula.__name__, formula.__module__
        run.formula = formula  # type: ignore[attr-defined]  # the definition, for tests
        return run

    return wrap_formula


def _fitting(values: Any) -> str | None:
    """What a kernel for these values is chosen by: their dtypes; None unless all are plain dense arrays of one shape."""
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
            return wrap(found)
        results: list[Tensor | None] = [None] * count
        for k, array in zip(places, (found,) if single else found, strict=True):
            results[k] = wrap(array)
        return tuple(results)

    return run


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
