"""Matrix products: `@`, mm, bmm, mv, dot, and the affine map `linear`.

The product of two small float matrices is on the hot path: plain Tensors go straight to BLAS. Everything else (vectors, batches, other
dtypes, modes) goes through the bodies, which are the definition. The products that gradients need (`times_adjoint`, `adjoint_times`) never
lay out a transposed copy.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from saraph.backends import cpu, of
from saraph.dtypes import BY_NUMPY, dtype, title
from saraph.errors import broadcast_error, describe
from saraph.ops.promotion import check_tensor, unbroadcast
from saraph.ops.registry import OF_PUBLIC, op, publish, register
from saraph.tensor.node import derivative
from saraph.tensor.state import state, thread, upper
from saraph.tensor.tensor import PLAIN, Tensor, attach, record, unpack, wrap

ndarray = np.ndarray
_new = object.__new__
FLOATS = "fd"  # dtype characters of the fast paths
SMALL = 1 << 13  # multiplications up to which they go to BLAS without asking the backend; one thread does those
_C_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long", "int32": "int",
            "int16": "short", "int8": "signed char", "uint8": "unsigned char", "bool": "bool", "complex64": "c10::complex<float>",
            "complex128": "c10::complex<double>"}


# -- checks ----------------------------------------------------------------------------------------------------------------


def same_dtype(name: str, *tensors: Tensor) -> None:
    """RuntimeError where the operands of a product differ in dtype: products do not promote."""
    first = tensors[0]._a.dtype
    for t in tensors[1:]:
        if t._a.dtype != first:
            kinds = " != ".join(c_name(BY_NUMPY[x._a.dtype]) for x in (tensors[0], t))
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {kinds} ({name} of {describe(*tensors)}). Products do not "
                               f"convert their operands: call .to({tensors[0].dtype!r}) on the second one, or .to({t.dtype!r}) on the first.")


def c_name(kind: dtype) -> str:
    """The name that a dtype has in PyTorch's messages about products."""
    return _C_NAMES.get(kind.name, kind.name)


def refuse_bool(name: str, x: Tensor) -> None:
    """NotImplementedError (a RuntimeError, PyTorch's class here) for bool operands, which no product takes."""
    if x._a.dtype.kind == "b":
        raise NotImplementedError(f'"{name}" not implemented for \'Bool\': convert the operands to a number type first, e.g. with .int()')


def cannot_multiply(name: str, a: Any, b: Any) -> RuntimeError:
    """The error for two matrices (shapes as the user passed them) whose inner sizes differ."""
    (n, m), (k, p) = a, b
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {k}x{p}): {name} needs as many columns on the left ({m}) as "
                        f"rows on the right ({k})")


# -- the products of gradients -------------------------------------------------------------------------------------------------


@derivative("MmBackward0")
def MmBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Of `x @ y` for two matrices, or two batches of one shape."""
    x, y = unpack(node)
    ex, ey = node.edges
    return times_adjoint(g, y) if ex is not None else None, adjoint_times(x, g) if ey is not None else None


BmmBackward = derivative("BmmBackward0")(MmBackward.formula)


@derivative("MmBackward0")
def TimesAdjointBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    x, y = unpack(node)
    return matmul(g, y) if node.needs(0) else None, adjoint_times(g, x) if node.needs(1) else None


@derivative("MmBackward0")
def AdjointTimesBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    x, y = unpack(node)
    return times_adjoint(y, g) if node.needs(0) else None, matmul(x, g) if node.needs(1) else None


def times_adjoint(x: Tensor, y: Tensor) -> Tensor:
    """`x @ y^H` for matrices, or batches of one shape."""
    a, b = x._a, y._a
    r = of(a, b).matmul_nt(a, b)
    if thread.grad and (x._rg or y._rg):
        return record(r, TimesAdjointBackward, (x, y), (x if y._rg else None, y if x._rg else None))
    return wrap(r)


def adjoint_times(x: Tensor, y: Tensor) -> Tensor:
    """`x^H @ y` for matrices, or batches of one shape."""
    a, b = x._a, y._a
    r = of(a, b).matmul_tn(a, b)
    if thread.grad and (x._rg or y._rg):
        return record(r, AdjointTimesBackward, (x, y), (x if y._rg else None, y if x._rg else None))
    return wrap(r)


# -- matmul ------------------------------------------------------------------------------------------------------------------


def _general_formula(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Vectors are a row (left) or a column (right); batch dimensions that were broadcast are summed."""
    x, y = unpack(node)
    shape_x, shape_y = node.shape_x, node.shape_y
    if len(shape_x) == 1:
        x, g = x.unsqueeze(0) if x is not None else None, g.unsqueeze(-1 if len(shape_y) == 1 else -2)
    if len(shape_y) == 1:
        y, g = y.unsqueeze(1) if y is not None else None, g.unsqueeze(-1)
    rows = 1
    for n in g._a.shape[:-1]:
        rows *= n
    gx = gy = None
    if node.needs(0):
        gx = _summed(times_adjoint(g, y), shape_x if len(shape_x) > 1 else (1, *shape_x)).reshape(shape_x)
    if node.needs(1):
        if len(shape_y) <= 2 < g._a.ndim:  # one matrix for the whole batch: one product over all rows
            gy = adjoint_times(x.reshape(rows, x._a.shape[-1]), g.reshape(rows, g._a.shape[-1])).reshape(shape_y)
        else:
            gy = _summed(adjoint_times(x, g), shape_y if len(shape_y) > 1 else (*shape_y, 1)).reshape(shape_y)
    return gx, gy


def _summed(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    return g if g._a.shape == shape else unbroadcast(g, shape)


DotBackward = derivative("DotBackward0")(_general_formula)
MvBackward = derivative("MvBackward0")(_general_formula)
BatchedBackward = derivative("UnsafeViewBackward0")(_general_formula)


def _matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product, by the ranks of the operands:

    vector @ vector (n), (n) -> a zero-dim tensor; matrix @ matrix (n, m), (m, p) -> (n, p); matrix @ vector and vector @ matrix give a vector;
    with more dimensions, the last two are matrices and those before them broadcast.

    Example: `matmul(ones(2, 3), ones(3, 4))` has shape (2, 4). RuntimeError where shapes or dtypes do not fit.
    """
    x, y = check_tensor(input, "matmul"), check_tensor(other, "matmul", "other")
    a, b = x._a, y._a
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D (use * for a product with a "
                           "number)")
    same_dtype("matmul", x, y)
    refuse_bool("addmm_impl_cpu_", x)
    try:
        r = of(a, b).matmul(a, b)
    except ValueError:
        raise _matmul_error(a.shape, b.shape) from None
    if a.ndim == 2 and b.ndim == 2:
        return record(r, MmBackward, (x, y), (x if y._rg else None, y if x._rg else None))
    if a.ndim > 2 and a.shape[:-2] == b.shape[:-2]:
        return record(r, BmmBackward, (x, y), (x if y._rg else None, y if x._rg else None))
    cls = BatchedBackward if max(a.ndim, b.ndim) > 2 else DotBackward if a.ndim == b.ndim else MvBackward
    return record(r, cls, (x, y), (x if y._rg else None, y if x._rg else None), shape_x=a.shape, shape_y=b.shape)


def _matmul_error(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    inner = b[0] if len(b) == 1 else b[-2]
    if a[-1] == inner:
        return broadcast_error("matmul", (a[:-2], b[:-2]))
    if len(a) == len(b) == 1:
        return RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, but got "
                            f"{a[0]} and {b[0]} elements respectively")
    if len(b) == 1:
        return RuntimeError(f"size mismatch, got input ({a[-2]}), mat ({a[-2]}x{a[-1]}), vec ({b[0]}): matmul of shapes {a} and {b}")
    if len(a) > 2 and len(b) > 2:
        return RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[-1]}] but got: [{a[0]}, {inner}]. "
                            f"matmul of shapes {a} and {b}")
    rows = 1
    for n in a[:-1]:
        rows *= n
    return cannot_multiply(f"matmul of shapes {a} and {b}", (rows, a[-1]), b[-2:])


_matmul.__name__ = _matmul.__qualname__ = "matmul"
_record_of_matmul = register(_matmul, "matmul", method=True, autocast="lower")


def _fast_matmul(declines: bool) -> Any:
    """`matmul` with the case of two plain float matrices written out; an operator declines what is no Tensor."""

    def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not state.active and input.__class__ in PLAIN and other.__class__ in PLAIN and out is None:
            a, b = input._a, other._a
            kind = a.dtype
            if a.__class__ is ndarray and b.__class__ is ndarray and kind is b.dtype and a.ndim == 2 and b.ndim == 2 and kind.char in FLOATS:
                try:
                    r = a.dot(b) if a.size * b.shape[1] <= SMALL else cpu.matmul(a, b)
                except ValueError:
                    raise _matmul_error(a.shape, b.shape) from None
                t = _new(Tensor)
                t._a = r
                t._rg = False
                t._edge = t._st = t._grad = t._view = t._meta = None
                if (input._rg or other._rg) and thread.grad:
                    attach(t, MmBackward, (input, other), (input if other._rg else None, other if input._rg else None), None)
                return t
            return _matmul(input, other)
        if declines and not isinstance(other, Tensor):
            if not state.active:
                return NotImplemented
        if state.active or out is not None:
            return upper.dispatch(_record_of_matmul, (input, other), {} if out is None else {"out": out})
        return _matmul(input, other)

    matmul.__doc__ = _matmul.__doc__
    return matmul


matmul = publish(_record_of_matmul, _fast_matmul(declines=False))
Tensor.__matmul__ = _fast_matmul(declines=True)
OF_PUBLIC[Tensor.__matmul__] = _record_of_matmul


def _rmatmul(self: Tensor, other: Tensor) -> Tensor:
    """`other @ self`."""
    return matmul(other, self)


Tensor.__rmatmul__ = _rmatmul


def _imatmul(self: Tensor, other: Tensor) -> Tensor:
    """`self @ other`, a new tensor: a product is never computed in place."""
    return matmul(self, other)


Tensor.__imatmul__ = _imatmul


# -- products of fixed rank -----------------------------------------------------------------------------------------------------


@op(method=True, autocast="lower")
def mm(input: Tensor, mat2: Tensor, out_dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices: (n, m) and (m, p) give (n, p). No broadcasting; see `matmul`."""
    x, y = check_tensor(input, "mm", "self"), check_tensor(mat2, "mm", "mat2")
    if x._a.ndim != 2 or y._a.ndim != 2:
        first = x._a.ndim != 2
        raise RuntimeError(f"{'self' if first else 'mat2'} must be a matrix: mm got {describe(x, y)}")
    r = matmul(x, y)
    return r if out_dtype is None else r.to(out_dtype)


@op(method=True, autocast="lower")
def bmm(input: Tensor, mat2: Tensor, out_dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices: (b, n, m) and (b, m, p) give (b, n, p). No broadcasting; see `matmul`."""
    x, y = check_tensor(input, "bmm", "self"), check_tensor(mat2, "bmm", "mat2")
    a, b = x._a, y._a
    if a.ndim != 3 or b.ndim != 3:
        raise RuntimeError(f"{'batch1' if a.ndim != 3 else 'batch2'} must be a 3D tensor: bmm got {describe(x, y)}")
    same_dtype("bmm", x, y)
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
                           f"[{b.shape[0]}, {b.shape[1]}] (bmm of {describe(x, y)})")
    refuse_bool("baddbmm", x)
    r = of(a, b).matmul(a, b)
    result = record(r, BmmBackward, (x, y), (x if y._rg else None, y if x._rg else None))
    return result if out_dtype is None else result.to(out_dtype)


@op(method=True)
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix (n, m) and a vector (m): a vector (n)."""
    x, y = check_tensor(input, "mv", "self"), check_tensor(vec, "mv", "vec")
    if x._a.ndim != 2 or y._a.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {x._a.ndim}, {x._a.ndim}, {y._a.ndim}: mv takes a matrix and a vector, got "
                           f"{describe(x, y)}")
    refuse_bool("addmv_impl_cpu", x)
    return matmul(x, y)


@op(method=True)
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products of two vectors of one length (nothing is conjugated: see `vdot`)."""
    x, y = _two_vectors("dot", input, tensor)
    return matmul(x, y)


@op(method=True)
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products of two vectors, the first of them conjugated."""
    x, y = _two_vectors("vdot", input, other)
    return matmul(x.conj(), y)


def _two_vectors(name: str, first: Any, second: Any) -> tuple[Tensor, Tensor]:
    x, y = check_tensor(first, name), check_tensor(second, name, "tensor" if name == "dot" else "other")
    if x._a.ndim != 1 or y._a.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x._a.ndim}D and {y._a.ndim}D tensors ({name} of {describe(x, y)}). Use matmul for other "
                           "ranks.")
    if x._a.dtype != y._a.dtype:
        raise RuntimeError(f"{name} : expected both vectors to have same dtype, but found {x.dtype!r} and {y.dtype!r}. "
                           "Convert one of them with .to().")
    refuse_bool(name, x)
    return x, y


# -- linear ------------------------------------------------------------------------------------------------------------------------


def _linear_formula(node: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
    """Of `x @ weight^T + bias` for real x with any number of leading dimensions."""
    (g,) = grads
    x, weight = unpack(node)
    shape = node.shape
    rows = 1
    for n in shape[:-1]:
        rows *= n
    flat = g if len(shape) == 2 else g.reshape(rows, g._a.shape[-1])
    gx = gw = None
    if node.edges[0] is not None:
        gx = matmul(flat, weight)
        if len(shape) != 2:
            gx = gx.reshape(shape)
    if node.edges[1] is not None:
        gw = adjoint_times(flat, x if len(shape) == 2 else x.reshape(rows, shape[-1]))
    if len(node.edges) == 2:
        return gx, gw
    return gx, gw, (flat.sum(0) if node.edges[2] is not None else None)


# PyTorch's names for the same thing, by rank and bias
_LINEAR_NODES = {(False, True): derivative("AddmmBackward0")(_linear_formula), (True, True): derivative("ViewBackward0")(_linear_formula),
                 (False, False): derivative("MmBackward0")(_linear_formula), (True, False): derivative("UnsafeViewBackward0")(_linear_formula)}


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`input @ weight^T + bias`: input (..., in), weight (out, in) or (in), bias (out) or () -> (..., out) or (...).

    RuntimeError where shapes or dtypes do not fit; a float64 input needs a float64 weight (`layer.double()` or `x.float()`).
    """
    x, w = check_tensor(input, "linear"), check_tensor(weight, "linear", "weight")
    a, b = x._a, w._a
    _check_linear(x, w, bias)
    if a.dtype.kind == "c" or b.ndim != 2 or a.ndim == 0 or (bias is not None and bias._a.shape != (b.shape[0],)):
        if b.ndim not in (1, 2):
            raise RuntimeError(f"linear: weight must have one or two dimensions (out, in), got {describe(w)}")
        r = matmul(x, w if b.ndim == 1 else w.t())
        return r if bias is None else r + bias
    backend = of(a, b)
    if a.ndim == 1:
        r = backend.matmul(a, backend.transpose(b, (1, 0)))
        if bias is not None:
            r = backend.add(r, bias._a)
    else:
        r = backend.matmul_nt(a, b) if bias is None else backend.linear(a, b, bias._a)
    cls = _LINEAR_NODES[a.ndim != 2, bias is not None]
    saved = (x if w._rg else None, w if x._rg else None)
    return record(r, cls, (x, w) if bias is None else (x, w, bias), saved, shape=a.shape)


def _check_linear(x: Tensor, w: Tensor, bias: Tensor | None) -> None:
    tensors = (x, w) if bias is None else (x, w, check_tensor(bias, "linear", "bias"))
    for t in tensors[1:]:
        if t._a.dtype != x._a.dtype:
            which = "weight" if t is w else "bias"
            raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {title(x.dtype)} and {title(t.dtype)}: linear's input "
                               f"is {describe(x)}, its {which} "
                               f"{describe(t)}. Convert the input with .to({t.dtype!r}), or the layer with .to({x.dtype!r}).")
    refuse_bool("addmm_impl_cpu_", x)
    if x._a.ndim and w._a.ndim in (1, 2) and x._a.shape[-1] != w._a.shape[-1]:
        shape = x._a.shape
        rows = 1
        for n in shape[:-1]:
            rows *= n
        out = w._a.shape[0] if w._a.ndim == 2 else 1
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{shape[-1]} and {w._a.shape[-1]}x{out}): linear's input has shape "
                           f"{tuple(shape)}, but its weight {tuple(w._a.shape)} takes {w._a.shape[-1]} features in the last dimension")
    if bias is not None and w._a.ndim == 2 and bias._a.ndim and bias._a.shape[-1] not in (1, w._a.shape[0]):
        raise RuntimeError(f"The expanded size of the tensor ({w._a.shape[0]}) must match the existing size ({bias._a.shape[-1]}) at non-singleton "
                           f"dimension 1: linear's bias has shape {tuple(bias._a.shape)}, its weight {tuple(w._a.shape)}")


_linear.__name__ = _linear.__qualname__ = "linear"
_record_of_linear = register(_linear, "linear", "nn.functional", autocast="lower")
_AddmmBackward = _LINEAR_NODES[False, True]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    if state.active or input.__class__ not in PLAIN or bias is None or out is not None:
        if state.active or out is not None:
            return upper.dispatch(_record_of_linear, (input, weight, bias), {} if out is None else {"out": out})
        return _linear(input, weight, bias)
    a, w, b = input._a, weight._a, bias._a
    kind = a.dtype
    if (a.__class__ is not ndarray or kind is not w.dtype or kind is not b.dtype or a.ndim != 2 or w.ndim != 2 or kind.char not in FLOATS
            or b.shape != (w.shape[0],) or a.shape[1] != w.shape[1] or w.__class__ is not ndarray):
        return _linear(input, weight, bias)
    if a.size * w.shape[0] <= SMALL:
        r = a.dot(w.T)
        r += b
    else:
        r = cpu.linear(a, w, b)
    t = _new(Tensor)
    t._a = r
    t._rg = False
    t._edge = t._st = t._grad = t._view = t._meta = None
    if thread.grad and (input._rg or weight._rg or bias._rg):
        attach(t, _AddmmBackward, (input, weight, bias), (input if weight._rg else None, weight if input._rg else None), {"shape": a.shape})
    return t


linear.__doc__ = _linear.__doc__
publish(_record_of_linear, linear)
