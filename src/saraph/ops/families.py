"""Families of pointwise ops: one call makes the public function, its methods, its in-place form and its node.

These carry the hot path of small tensors, so the fast case is written out in each closure: no mode on, plain Tensors, equal dtypes,
NumPy arrays. Everything else goes through the slow form, which is the definition.
"""
from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from saraph.backends import cpu, of
from saraph.errors import broadcast_error
from saraph.ops import promotion
from saraph.ops.inplace import update
from saraph.ops.promotion import promoted, unbroadcast
from saraph.ops.registry import OF_PUBLIC, Op, publish, register
from saraph.tensor.node import derivative, next_number
from saraph.tensor.state import state, thread, upper
from saraph.tensor.tensor import PLAIN, Tensor, attach, bump, edge_of, record, save, unpack, wrap

ndarray = np.ndarray
_new = object.__new__
OPERANDS = (Tensor, Number, np.generic, np.ndarray)
NOTHING = (None, None)
EXACT = 2**53  # ints below it are floats without rounding
F32, F64 = np.dtype("f4"), np.dtype("f8")
FLOATS = "fd"  # dtype characters of the fast unary path


def compute(name: str, a: Any, b: Any) -> Any:
    """Run a binary primitive; NumPy's broadcasting error becomes PyTorch's."""
    try:
        return getattr(of(a, b), name)(a, b)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        raise broadcast_error(name, (a.shape, b.shape)) from None


def binary(name: str, dx: Callable | None, dy: Callable | None, keep: tuple[str, str] = ("", ""), *, doc: str, node: str = "",
           primitive: str = "", fraction: bool = False, comparison: bool = False, check: Callable | None = None, inplace: bool = True,
           aliases: tuple[str, ...] = (), autocast: str | None = None, namespaces: str | tuple[str, ...] = "torch",
           method: bool | str = True) -> Callable:
    """A pointwise op of two operands.

    dx, dy      (g, x, y) -> gradient of each operand in the broadcast shape (None: no gradient)
    keep        which operands ("x", "y", "xy") each of the two formulas reads
    fraction    integers are computed in the default dtype
    comparison  the result is bool, and its in-place form converts it to the tensor's dtype
    check       called with the promoted operands before computing (raises for dtypes the op refuses)
    """
    primitive = primitive or name
    ufunc = getattr(cpu, primitive)
    keep_x = tuple("x" in k for k in keep)
    keep_y = tuple("y" in k for k in keep)
    cls = _binary_node(node or name.title().replace("_", "") + "Backward0", dx, dy)
    has_dx, has_dy, keeps = dx is not None, dy is not None, keep != ("", "")
    differentiable = has_dx or has_dy
    plain = isinstance(ufunc, np.ufunc)  # takes Python numbers beside arrays

    def finish(r: Any, x: Tensor, y: Tensor) -> Tensor:
        t = wrap_result_any(r)
        if differentiable and (x._rg or y._rg) and thread.grad and t._a.dtype.kind not in "biu":
            link(t, x, y)
        return t

    def link(t: Tensor, x: Tensor, y: Tensor) -> None:
        ex = ey = None
        if has_dx and x._rg:
            ex = edge_of(x) if x._view is not None else x if x._edge is None else x._edge
        if has_dy and y._rg:
            ey = edge_of(y) if y._view is not None else y if y._edge is None else y._edge
        if ex is None and ey is None:
            return
        n = _new(cls)
        n.edges, n.sequence, n.extra = (ex, ey), next_number(), None
        a, b = x._a.shape, y._a.shape
        n.shapes = None if a == b else (a, b)
        if keeps:
            _save(n, x if (ex is not None and keep_x[0]) or (ey is not None and keep_x[1]) else None,
                  y if (ex is not None and keep_y[0]) or (ey is not None and keep_y[1]) else None)
        else:
            n.saved, n.versions = NOTHING, None
            if state.active:
                save(n, NOTHING)
        t._edge, t._rg = n, True

    def body(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        x, y = promoted(name, input, other, fraction=fraction)
        if check is not None:
            check(x, y)
        return finish(compute(primitive, x._a, y._a), x, y)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    rec = register(body, name, namespaces, method, inplace, aliases, autocast)

    def make(unknown: Callable) -> Callable:
        def public(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
            if input.__class__ in PLAIN and other.__class__ in PLAIN and not state.active and out is None:
                a, b = input._a, other._a
                kind = a.dtype
                if kind is b.dtype and a.__class__ is ndarray and b.__class__ is ndarray and (kind is F32 or kind is F64):
                    try:
                        r = ufunc(a, b)
                    except ValueError:
                        raise broadcast_error(name, (a.shape, b.shape)) from None
                    t = _new(Tensor)
                    t._a = r if r.__class__ is ndarray else np.asarray(r)
                    t._rg = False
                    t._edge = t._st = t._grad = t._view = t._meta = None
                    if differentiable and (input._rg or other._rg) and thread.grad:
                        link(t, input, other)
                    return t
            elif not isinstance(other, OPERANDS) and not state.active:
                return unknown(rec, input, other)
            return slow(input, other, out)

        public.__name__ = public.__qualname__ = name
        public.__doc__ = doc
        return public

    def slow(input: Any, other: Any, out: Tensor | None) -> Tensor:
        if not state.active and out is None and input.__class__ in PLAIN and (
                other.__class__ is float or (other.__class__ is int and check is None and -EXACT < other < EXACT)):
            a = input._a
            kind = a.dtype
            if a.__class__ is ndarray and (kind is F32 or kind is F64):
                if input._rg and differentiable or not plain:
                    number = np.asarray(other, kind)
                    return finish(ufunc(a, number), input, wrap(number))
                return wrap_result(ufunc(a, float(other)))
        if state.active or out is not None:
            return upper.dispatch(rec, (input, other), {} if out is None else {"out": out})
        if hasattr(type(input), "__torch_function__") and not isinstance(input, Tensor):
            return upper.foreign(rec, (input, other), {})
        return body(input, other)

    public = make(_refuse)
    public.operator = make(_decline)
    OF_PUBLIC[public.operator] = rec
    publish(rec, public)
    if inplace and method:
        bind_fast_inplace(rec, ufunc, comparison)
    return public


def _refuse(rec: Op, input: Any, other: Any) -> Any:
    if hasattr(type(other), "__torch_function__"):
        return upper.foreign(rec, (input, other), {})
    raise TypeError(f"{rec.name}(): argument 'other' must be Tensor, not {type(other).__name__}")


def _decline(rec: Op, input: Any, other: Any) -> Any:
    """For Python's operators: the other operand may know what to do."""
    return upper.foreign(rec, (input, other), {}) if hasattr(type(other), "__torch_function__") else NotImplemented


def wrap_result(r: Any) -> Tensor:
    """`wrap`, for a ufunc's result that may be a NumPy scalar."""
    return wrap(r if r.__class__ is ndarray else np.asarray(r))


def _save(n: Any, sx: Tensor | None, sy: Tensor | None) -> None:
    n.saved = (sx, sy)
    vx = sx._st.version if sx is not None and sx._st is not None else 0
    vy = sy._st.version if sy is not None and sy._st is not None else 0
    n.versions = (vx, vy) if vx or vy else None
    if state.active:
        save(n, (sx, sy))


def _binary_node(node_name: str, dx: Callable | None, dy: Callable | None) -> type:
    @derivative(node_name)
    def formula(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, y = unpack(node)
        ex, ey = node.edges
        gx = dx(g, x, y) if ex is not None else None
        gy = dy(g, x, y) if ey is not None else None
        shapes = node.shapes
        if shapes is not None:
            if gx is not None:
                gx = unbroadcast(gx, shapes[0])
            if gy is not None:
                gy = unbroadcast(gy, shapes[1])
        return gx, gy

    return formula


def bind_fast_inplace(rec: Op, ufunc: Any, comparison: bool = False) -> None:
    """`x.op_(y)`: straight into x's memory when nothing is differentiated and the dtypes agree."""
    name = rec.name + "_"
    body = rec.body
    general = getattr(Tensor, name)

    def write(self: Tensor, other: Any, **options: Any) -> Tensor:
        if not options and not state.active and self.__class__ in PLAIN and not (self._rg and thread.grad):
            a = self._a
            kind = a.dtype
            if a.__class__ is ndarray and (kind is F32 or kind is F64) and not comparison and 0 not in a.strides:
                if other.__class__ is float:
                    ufunc(a, other, a)
                    bump(self)
                    return self
                if other.__class__ in PLAIN and other._a.dtype is kind and not (other._rg and thread.grad):
                    b = other._a
                    if b.__class__ is ndarray and (b.shape == a.shape or b.ndim == 0):
                        try:
                            ufunc(a, b, a)
                        except ValueError:
                            return update(self, name, body, (other,), {})
                        bump(self)
                        return self
        return general(self, other, **options)

    write.__name__, write.__qualname__, write.__doc__ = name, f"Tensor.{name}", general.__doc__
    OF_PUBLIC[write] = OF_PUBLIC[general]
    OF_PUBLIC[general].public = write
    for key in dict.fromkeys((rec.name, *rec.aliases, *rec.methods)):
        setattr(Tensor, key + "_", write)


def unary(name: str, dx: Callable | None, keep: str = "", *, doc: str, node: str = "", primitive: str = "", fraction: bool = True,
          check: Callable | None = None, inplace: bool = True, aliases: tuple[str, ...] = (), autocast: str | None = None,
          namespaces: str | tuple[str, ...] = "torch", method: bool | str = True) -> Callable:
    """A pointwise op of one operand: dx is (g, x, y) -> gradient, where y is the result; `keep` says which of "x", "y" it reads.

    With `fraction` integers are computed in the default dtype; otherwise the dtype stays (or is the primitive's, e.g. bool).
    """
    primitive = primitive or name
    function = getattr(cpu, primitive)
    cls = None
    if dx is not None:
        @derivative(node or name.title().replace("_", "") + "Backward0", saves_result="y" in keep)
        def cls(node: Any, g: Tensor) -> Tensor:
            saved = unpack(node)
            x = saved[0] if "x" in keep else None
            return dx(g, x, saved[-1] if "y" in keep else None)

    def body(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        x = promotion.check_tensor(input, name)
        if fraction and x._a.dtype.kind in "biu":
            x = promotion.cast(x, promotion.float_dtype(x.dtype))
        if check is not None:
            check(x)
        a = x._a
        r = getattr(of(a), primitive)(a)
        return record(r, cls, (x,), (x,) if "x" in keep else ()) if cls is not None else wrap_result_any(r)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    rec = register(body, name, namespaces, method, inplace, aliases, autocast)

    def public(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not state.active and out is None and input.__class__ in PLAIN:
            a = input._a
            if a.__class__ is ndarray and a.dtype.char in FLOATS and check is None:
                r = function(a)
                t = wrap(r if r.__class__ is ndarray else np.asarray(r))
                if input._rg and cls is not None and thread.grad:
                    attach(t, cls, (input,), (input,) if "x" in keep else (), None)
                return t
        if state.active or out is not None:
            return upper.dispatch(rec, (input,), {} if out is None else {"out": out})
        if hasattr(type(input), "__torch_function__") and not isinstance(input, Tensor):
            return upper.foreign(rec, (input,), {})
        return body(input)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    return publish(rec, public)


def wrap_result_any(r: Any) -> Tensor:
    """`wrap_result` for arrays of any backend."""
    return wrap(np.asarray(r) if isinstance(r, np.generic) else r)
