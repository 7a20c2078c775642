"""Families of pointwise ops: one call makes the public function, its methods, its in-place form and its node.

These carry the hot path of small tensors, so the fast case is written out in each closure: no mode on, plain Tensors, equal dtypes,
NumPy arrays. Everything else goes through the slow form, which is the definition.
"""
from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import cpu, of
from saraph.dtypes import REDUCED
from saraph.errors import broadcast_error
from saraph.kernels.functions import add_scaled
from saraph.kernels.kernel import LARGE
from saraph.ops import promotion
from saraph.ops.inplace import update
from saraph.ops.promotion import KINDS, check_kind, check_operands, promoted, unbroadcast
from saraph.ops.registry import OF_PUBLIC, Op, publish, register
from saraph.tensor.fusing import fused
from saraph.tensor.node import derivative, next_number
from saraph.tensor.state import state, thread, upper
from saraph.tensor.tensor import PLAIN, Tensor, attach, bump, edge_of, record, save, unpack, wrap

ndarray = np.ndarray
_new = object.__new__
OPERANDS = (Tensor, Number, np.generic)
NUMBERS = frozenset((int, float, bool, complex))  # the common ones, told apart without asking their class
NOTHING = (None, None)
EXACT = 2**53  # ints below it are floats without rounding
EXACT_NUMBERS = ("add", "sub", "mul", "div", "div_trunc", "div_floor")  # 16-bit tensors meet numbers here before those are rounded
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


def combine(name: str, *arguments: Any) -> Any:
    """Run a primitive of three operands; NumPy's broadcasting error becomes PyTorch's."""
    try:
        return getattr(of(arguments[0]), name)(*arguments)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        raise broadcast_error(name, [a.shape for a in arguments if hasattr(a, "shape")]) from None


def binary(name: str, dx: Callable | None, dy: Callable | None, keep: tuple[str, str] = ("", ""), *, doc: str, node: str = "",
           primitive: str = "", fraction: bool = False, comparison: bool = False, check: Callable | None = None, inplace: bool = True,
           aliases: tuple[str, ...] = (), autocast: str | None = None, namespaces: str | tuple[str, ...] = "torch",
           method: bool | str = True, kinds: str = KINDS, numbers: str = "y", by_number: str = "") -> Callable:
    """A pointwise op of two operands.

    dx, dy      (g, x, y) -> gradient of each operand in the broadcast shape (None: no gradient)
    keep        which operands ("x", "y", "xy") each of the two formulas reads
    fraction    integers are computed in the default dtype
    comparison  the result is bool, and its in-place form converts it to the tensor's dtype
    check       called with the operands as given (raises for what the op refuses); float32, float64 and numbers beside them always pass
    kinds       the kinds of numbers it computes with: bool, integer, floating, complex as letters of "bifc"
    by_number   the primitive for integers beside a number that is not 0, where that needs no checks
    numbers     where a Python number may stand: "" nowhere, "y" second, "xy" in one place, "both" in both
    """
    primitive = primitive or name
    sized = getattr(cpu, primitive) if "f" in kinds else _refuse_floats(name, kinds)
    ufunc = getattr(sized, "ufunc", sized)
    differentiable = dx is not None or dy is not None
    cls = _binary_node(node or name.title().replace("_", "") + "Backward0", dx, dy)
    link = _linker(cls, dx is not None, dy is not None, keep)

    def finish(r: Any, x: Tensor, y: Tensor) -> Tensor:
        t = wrap_result_any(r)
        if differentiable and (x._rg or y._rg) and thread.grad and t._a.dtype.kind not in "biu":
            link(t, x, y)
        return t

    body = _binary_body(name, primitive, finish, fraction, check, kinds, numbers)
    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    rec = register(body, name, namespaces, method, inplace, aliases, autocast)
    whole_kinds = "" if fraction else ("b" if "b" in kinds and check is None else "") + ("iu" if "i" in kinds else "")
    whole = tuple(getattr(f, "ufunc", f) for f in (getattr(cpu, primitive), getattr(cpu, by_number or primitive)))
    short = _short_path(ufunc, sized, whole, finish, differentiable, numbers, whole_kinds)
    public = _fast_path(rec, ufunc, sized, link if differentiable else None, short, _refuse)
    public.operator = _fast_path(rec, ufunc, sized, link if differentiable else None, short, _decline)
    OF_PUBLIC[public.operator] = rec
    publish(rec, public)
    if inplace and method:
        bind_fast_inplace(rec, sized, comparison, numbers)
    return public


def _linker(cls: type, has_dx: bool, has_dy: bool, keep: tuple[str, str]) -> Callable:
    """The function that makes a result's node."""
    keep_x, keep_y = tuple("x" in k for k in keep), tuple("y" in k for k in keep)
    keeps = keep != ("", "")

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

    return link


def _binary_body(name: str, primitive: str, finish: Callable, fraction: bool, check: Callable | None, kinds: str, numbers: str) -> Callable:
    """The definition of a binary op, which every operand may go through."""
    wide = primitive in EXACT_NUMBERS

    def body(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        check_operands(name, input, other, numbers)
        if check is not None:
            check(input, other)
        x, y = promoted(name, input, other, fraction=fraction)
        if kinds != KINDS:
            check_kind(name, x, kinds)
        if wide and x._a.dtype in REDUCED:
            return finish(_with_exact_number(primitive, input, other, x._a, y._a), x, y)
        return finish(compute(primitive, x._a, y._a), x, y)

    return body


def _fast_path(rec: Op, ufunc: Any, sized: Any, link: Callable | None, short: Callable, unknown: Callable) -> Callable:
    """The public function: two plain float32 or float64 tensors here, numbers and integers in `short`, the rest by the op's body.

    `unknown` answers for operands of other classes; `ufunc` computes few elements, `sized` any number.
    """
    name = rec.name

    def public(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if input.__class__ in PLAIN and other.__class__ in PLAIN and not state.active and out is None:
            a, b = input._a, other._a
            kind = a.dtype
            if kind is b.dtype and a.__class__ is ndarray and b.__class__ is ndarray and (kind is F32 or kind is F64):
                try:
                    r = ufunc(a, b) if a.size * b.size < LARGE else sized(a, b)
                except ValueError:
                    raise broadcast_error(name, (a.shape, b.shape)) from None
                t = _new(Tensor)
                t._a = r if r.__class__ is ndarray else np.asarray(r)
                t._rg = False
                t._edge = t._st = t._grad = t._view = t._meta = None
                if (input._rg or other._rg) and link is not None and thread.grad:
                    link(t, input, other)
                return t
        elif other.__class__ not in NUMBERS and not isinstance(other, OPERANDS) and not state.active:
            return unknown(rec, input, other)
        if out is None and not state.active:
            t = short(input, other)
            if t is not None:
                return t
        if state.active or out is not None:
            return upper.dispatch(rec, (input, other), {} if out is None else {"out": out})
        if hasattr(type(input), "__torch_function__") and not isinstance(input, Tensor):
            return upper.foreign(rec, (input, other), {})
        return rec.body(input, other)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = rec.body.__doc__
    return public


def _short_path(ufunc: Any, sized: Any, whole: tuple[Any, Any], finish: Callable, differentiable: bool, numbers: str, whole_kinds: str) -> Callable:
    """Plain float32 or float64 tensors beside a Python number, integers of one dtype beside each other; None: not such a case.

    `whole` is what computes integers and bools, beside each other and beside a number, of the dtype kinds in `whole_kinds`.
    """
    plain = isinstance(ufunc, np.ufunc)  # takes Python numbers beside arrays
    reflects = len(numbers) > 1
    of_two, by_number = whole
    two_kinds, one_kinds = (whole_kinds if isinstance(f, np.ufunc) else "" for f in whole)

    def short(input: Any, other: Any) -> Tensor | None:
        if input.__class__ in PLAIN:
            a = input._a
            kind = a.dtype
            if a.__class__ is not ndarray:
                return None
            if kind is F32 or kind is F64:
                if numbers and (other.__class__ is float or (other.__class__ is int and -EXACT < other < EXACT)):
                    if input._rg and differentiable or not plain:
                        number = np.asarray(other, kind)
                        return finish(sized(a, number), input, wrap(number))
                    return wrap_result(ufunc(a, float(other)) if a.size < LARGE else sized(a, float(other)))
            elif other.__class__ in PLAIN:
                b = other._a
                if kind.kind in two_kinds and b.dtype is kind and b.__class__ is ndarray and b.shape == a.shape:
                    return wrap_result(of_two(a, b))
            elif numbers and other.__class__ is int and 0 < other < 128 and kind.kind in one_kinds and kind.kind != "b":
                return wrap_result(by_number(a, other))
        elif reflects and other.__class__ in PLAIN and (input.__class__ is float or (input.__class__ is int and -EXACT < input < EXACT)):
            b = other._a
            kind = b.dtype
            if b.__class__ is ndarray and (kind is F32 or kind is F64):
                number = np.asarray(input, kind)
                return finish(sized(number, b), wrap(number), other)
        return None

    return short


def _refuse(rec: Op, input: Any, other: Any) -> Any:
    if hasattr(type(other), "__torch_function__"):
        return upper.foreign(rec, (input, other), {})
    return rec.body(input, other)  # raises TypeError


def _decline(rec: Op, input: Any, other: Any) -> Any:
    """For Python's operators: NumPy arrays are taken as tensors; another class may know what to do."""
    if isinstance(other, ndarray):
        return rec.public(input, wrap(other))
    return upper.foreign(rec, (input, other), {}) if hasattr(type(other), "__torch_function__") else NotImplemented


def _with_exact_number(primitive: str, input: Any, other: Any, a: Any, b: Any) -> Any:
    """Run a binary primitive on 16-bit floats; a number (or zero-dim operand of another dtype) enters as float32, not rounded to 16 bits."""
    kind = a.dtype
    exact = [_number_float32(v, array, beside) for v, array, beside in ((input, a, b), (other, b, a))]
    if exact[0] is None and exact[1] is None:
        return compute(primitive, a, b)
    backend = of(a, b)
    wide = [backend.cast(array, F32) if number is None else number for number, array in zip(exact, (a, b))]
    return backend.cast(compute(primitive, *wide), kind)


def _number_float32(value: Any, array: Any, beside: Any) -> Any:
    """A number that stands beside a tensor as a float32 array; None for an operand that is no such number."""
    if not isinstance(value, Tensor):
        return of(beside).scalar(value, F32)
    if value._a.ndim == 0 and beside.ndim and value._a.dtype != array.dtype:
        return of(array).cast(value._a, F32)
    return None


def reflected(name: str, function: Callable) -> Callable:
    """Python's reflected operator of a function of two operands: `other - self` for `__rsub__`."""

    def body(self: Tensor, other: Any) -> Tensor:
        return function(wrap(other) if isinstance(other, ndarray) else other, self)

    rec = Op(name, body, (), (name,), False, False, (), None)

    def call(self: Tensor, other: Any) -> Tensor:
        if not isinstance(other, OPERANDS) and not isinstance(other, ndarray) and not hasattr(type(other), "__torch_function__"):
            return NotImplemented
        return upper.dispatch(rec, (self, other), {}) if state.active else body(self, other)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Python's {name}."
    rec.public = call
    OF_PUBLIC[call] = rec
    return call


def _refuse_floats(name: str, kinds: str) -> Callable:
    """The stand-in for an op's ufunc where the op does not take floats, which the fast paths are for."""

    def refuse(a: Any, *others: Any) -> Any:
        check_kind(name, wrap(a), kinds)

    return refuse


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


def bind_fast_inplace(rec: Op, ufunc: Any, comparison: bool = False, numbers: str = "y", sign: int = 0) -> None:
    """`x.op_(y)`: straight into x's memory when nothing is differentiated and the dtypes agree; `sign` is that of `alpha=`, 0 for none."""
    name = rec.name + "_"
    body = rec.body
    general = getattr(Tensor, name)
    if not isinstance(getattr(ufunc, "ufunc", ufunc), np.ufunc):
        ufunc = _into(ufunc)
    small = getattr(ufunc, "ufunc", ufunc)

    def write(self: Tensor, other: Any, **options: Any) -> Tensor:
        if (not options or sign) and not state.active and self.__class__ in PLAIN and not (self._rg and thread.grad):
            a = self._a
            kind = a.dtype
            if a.__class__ is ndarray and (kind is F32 or kind is F64) and not comparison and 0 not in a.strides:
                if options:
                    alpha = options.get("alpha")
                    if alpha.__class__ is not float or len(options) > 1 or other.__class__ not in PLAIN or other._a.dtype is not kind or \
                            other._a.shape != a.shape or other._a.__class__ is not ndarray or (other._rg and thread.grad):
                        return general(self, other, **options)
                    add_scaled(a, other._a, np.asarray(sign * alpha, kind), out=a)
                    bump(self)
                    return self
                if other.__class__ is float and numbers:
                    if a.size < LARGE:
                        small(a, other, a)
                    else:
                        ufunc(a, other, a)
                    bump(self)
                    return self
                if other.__class__ in PLAIN and other._a.dtype is kind and not (other._rg and thread.grad):
                    b = other._a
                    if b.__class__ is ndarray and (b.shape == a.shape or b.ndim == 0):
                        try:
                            if a.size < LARGE:
                                small(a, b, a)
                            else:
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


def _into(function: Callable) -> Callable:
    """A function of two arrays in the form of a ufunc with an output."""

    def write(a: Any, b: Any, out: Any) -> None:
        out[...] = function(a, np.asarray(b, a.dtype) if b.__class__ is float else b)

    return write


def unary(name: str, dx: Callable | None, keep: str = "", *, doc: str, node: str = "", primitive: str = "", fraction: bool = True,
          check: Callable | None = None, inplace: bool = True, aliases: tuple[str, ...] = (), autocast: str | None = None,
          namespaces: str | tuple[str, ...] = "torch", method: bool | str = True, kinds: str = KINDS, out_dtype: str = "") -> Callable:
    """A pointwise op of one operand: dx is (g, x, y) -> gradient, where y is the result; `keep` says which of "x", "y" it reads.

    With `fraction` integers are computed in the default dtype; otherwise the dtype stays (or is the primitive's, e.g. bool).
    `check` is called with the operand, unless that is float32 or float64.
    `out_dtype`: what `out=` must be: "any" (that the result can be cast to; what `fraction` implies), "same" as the input's (the default
    without `fraction`), "bool", or "none" where the op takes no out=.
    """
    primitive = primitive or name
    function = getattr(cpu, primitive) if "f" in kinds else _refuse_floats(name, kinds)
    function = getattr(function, "unwrapped", function)  # float32 and float64 need no detour
    out_dtype = out_dtype or ("any" if fraction else "same")
    cls = None
    if dx is not None:
        @derivative(node or name.title().replace("_", "") + "Backward0", saves_result="y" in keep)
        @fused()
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
        if kinds != KINDS:
            check_kind(name, x, kinds)
        a = x._a
        r = getattr(of(a), primitive)(a)
        return record(r, cls, (x,), (x,) if "x" in keep else ()) if cls is not None else wrap_result_any(r)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    rec = register(body, name, namespaces, method, inplace, aliases, autocast)
    rec.out = out_dtype != "none"

    def public(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not state.active and out is None and input.__class__ in PLAIN:
            a = input._a
            if a.__class__ is ndarray and a.dtype.char in FLOATS:
                r = function(a)
                t = wrap(r if r.__class__ is ndarray else np.asarray(r))
                if input._rg and cls is not None and thread.grad:
                    attach(t, cls, (input,), (input,) if "x" in keep else (), None)
                return t
        if out is not None and out_dtype != "any":
            _check_out(name, input, out, out_dtype)
        if state.active or out is not None:
            return upper.dispatch(rec, (input,), {} if out is None else {"out": out})
        if hasattr(type(input), "__torch_function__") and not isinstance(input, Tensor):
            return upper.foreign(rec, (input,), {})
        return body(input)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    return publish(rec, public)


def _check_out(name: str, input: Any, out: Any, wanted: str) -> None:
    """RuntimeError where `out=` has not the one dtype that an op writes."""
    if wanted == "none":
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    if not isinstance(input, Tensor) or not isinstance(out, Tensor):
        return
    if wanted == "bool" and out.dtype is not dtypes.bool_:
        raise RuntimeError(f"{name} does not support non-boolean outputs: out= has dtype {out.dtype.name}")
    if wanted == "same" and out.dtype is not input.dtype and not (name == "abs" and out.dtype is input.dtype.to_real()):
        raise RuntimeError(f"Found dtype {dtypes.title(out.dtype)} but expected {dtypes.title(input.dtype)}: {name}() writes the dtype of its input "
                           "to out=")


def wrap_result_any(r: Any) -> Tensor:
    """`wrap_result` for arrays of any backend."""
    return wrap(np.asarray(r) if isinstance(r, np.generic) else r)
