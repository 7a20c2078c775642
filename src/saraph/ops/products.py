"""Products made from the basic ones: addmm and its relatives, outer, inner, tensordot, kron, cross, chains and powers."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.dtypes import BY_NUMPY, REDUCED, float32
from saraph.errors import broadcast_error, describe
from saraph.ops import promotion
from saraph.ops.matmul import adjoint_times, matmul, refuse_bool, same_dtype, times_adjoint
from saraph.ops.promotion import check_tensor, unbroadcast
from saraph.ops.registry import op
from saraph.shapes import broadcast_shapes, wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, unpack, wrap

BLAS = "fdFD"  # dtype characters that BLAS multiplies

# -- a product added to something ---------------------------------------------------------------------------------------------


@derivative("AddmmBackward0")
def AddmmBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Of beta * input + alpha * (x @ y), for matrices, or batches of one shape."""
    x, y = unpack(node)
    beta, alpha = node.beta, node.alpha
    g_input = None
    if node.needs(0):
        g_input = unbroadcast(g if beta == 1 else g * beta.conjugate(), node.shape)
    scaled = g if alpha == 1 else g * alpha.conjugate()
    return g_input, times_adjoint(scaled, y) if node.needs(1) else None, adjoint_times(x, scaled) if node.needs(2) else None


def _addmm(input: Tensor, x: Tensor, y: Tensor, beta: Any, alpha: Any) -> Tensor:
    """`addmm` of float operands whose shapes and dtypes are known to fit: matrices, or batches of one shape."""
    a, b, c = x._a, y._a, input._a
    r = of(a, b, c).affine(c, a, b, beta, alpha)
    saved = (x if y._rg else None, y if x._rg else None)
    return record(r, AddmmBackward, (input, x, y), saved, beta=beta, alpha=alpha, shape=c.shape)


def _affine(name: str, input: Tensor, x: Tensor, y: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * (x @ y), rounded once where the dtype has 16 bits."""
    kind = x._a.dtype
    if _fused(input, x, y):
        return _addmm(input, x, y, beta, alpha)
    if kind not in REDUCED or input._a.dtype != kind or y._a.dtype != kind:
        return _added(name, input, matmul(x, y), beta, alpha)
    input, x, y = (promotion.cast(t, float32) for t in (input, x, y))
    return promotion.cast(_added(name, input, matmul(x, y), beta, alpha), BY_NUMPY[kind])


def _fused(input: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether one primitive computes the whole: floats of one dtype, whose shapes fit."""
    a, b, c = x._a, y._a, input._a
    return (a.ndim == b.ndim >= 2 and (a.dtype.char in BLAS or a.dtype in REDUCED) and b.dtype == a.dtype == c.dtype and a.shape[-1] == b.shape[-2]
            and a.shape[:-2] == b.shape[:-2] and fits(c.shape, (*a.shape[:-1], b.shape[-1])))


def fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a tensor of a shape can be expanded to another one."""
    return shape == target or (len(shape) <= len(target) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(target))))


def _added(name: str, input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * product, in the product's shape; with beta 0 the input is not looked at (its NaNs are dropped)."""
    if input._a.dtype != product._a.dtype:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {input.dtype!r} and {product.dtype!r} ({name}). "
                           "Convert one of them with "
                           ".to(dtype).")
    if input._a.shape != product._a.shape:
        input = input.expand(product._a.shape)
    if product._a.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (input if beta == 1 else input * beta)


@op(method=True, inplace=True, autocast="lower")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`: input broadcasts to (n, p), mat1 is (n, m), mat2 is (m, p).

    With `beta=0` the input is ignored, NaNs included.
    """
    x, y = check_tensor(mat1, "addmm", "mat1"), check_tensor(mat2, "addmm", "mat2")
    if x._a.ndim != 2 or y._a.ndim != 2:
        which, bad = ("mat1", x) if x._a.ndim != 2 else ("mat2", y)
        raise RuntimeError(f"{which} must be a matrix, got {bad._a.ndim}-D tensor (addmm of {describe(input, x, y)})")
    check_tensor(input, "addmm")
    if out_dtype is not None:
        return _added("addmm", input, promotion.cast(matmul(x, y), out_dtype), beta, alpha)
    return _affine("addmm", input, x, y, beta, alpha)


@op(method=True, inplace=True, autocast="lower", name="_addmm_activation")
def _addmm_activation(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False,
                      out: Tensor | None = None) -> Tensor:
    """`addmm` followed by relu (or gelu)."""
    r = addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return r.relu() if not use_gelu else r * 0.5 * (1 + (r * 0.5**0.5).erf())


@op(method=True, inplace=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * (mat @ vec)`: input broadcasts to (n), mat is (n, m), vec is (m)."""
    x, y = check_tensor(mat, "addmv", "mat"), check_tensor(vec, "addmv", "vec")
    if x._a.ndim != 2 or y._a.ndim != 1 or check_tensor(input, "addmv")._a.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input._a.ndim}, {x._a.ndim}, {y._a.ndim} (addmv of {describe(input, x, y)})")
    refuse_bool("addmv_impl_cpu", x)
    return _affine("addmv", input, x, y, beta, alpha)


def _two_batches(name: str, input: Any, batch1: Any, batch2: Any) -> tuple[Tensor, Tensor]:
    x, y = check_tensor(batch1, name, "batch1"), check_tensor(batch2, name, "batch2")
    a, b = x._a, y._a
    if a.ndim != 3 or b.ndim != 3:
        raise RuntimeError(f"{'batch1' if a.ndim != 3 else 'batch2'} must be a 3D tensor, got {describe(x, y)} ({name})")
    same_dtype(name, x, y)
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
                           f"[{b.shape[0]}, {b.shape[1]}]. ({name} of {describe(check_tensor(input, name), x, y)})")
    return x, y


@op(method=True, inplace=True, autocast="lower")
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * sum over b of (batch1[b] @ batch2[b])`: input broadcasts to (n, p), batches are (b, n, m) and (b, m, p)."""
    x, y = _two_batches("addbmm", input, batch1, batch2)
    count, rows, inner = x._a.shape
    columns = y._a.shape[2]
    return _affine("addbmm", input, x.transpose(0, 1).reshape(rows, count * inner), y.reshape(count * inner, columns), beta, alpha)


@op(method=True, inplace=True, autocast="lower")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1,
            out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2)`: input broadcasts to (b, n, p), batches are (b, n, m) and (b, m, p)."""
    x, y = _two_batches("baddbmm", input, batch1, batch2)
    refuse_bool("baddbmm", x)
    if out_dtype is not None:
        return _added("baddbmm", input, promotion.cast(matmul(x, y), out_dtype), beta, alpha)
    return _affine("baddbmm", input, x, y, beta, alpha)


@op(method=True, inplace=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`: input broadcasts to (n, m). Mixed dtypes are promoted; bool uses "and" and "or"."""
    x, y = check_tensor(vec1, "addr", "vec1"), check_tensor(vec2, "addr", "vec2")
    for which, v in (("vec1", x), ("vec2", y)):
        if v._a.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {which}, but got {v._a.ndim}-D")
    kind = promotion.result_dtype(check_tensor(input, "addr"), x, y)
    for which, number in (("beta", beta), ("alpha", alpha)):
        if isinstance(number, float) and kind.category < 2:
            raise RuntimeError(f"For integral input tensors, argument {which} must not be a floating point number.")
    input, x, y = (promotion.cast(v, kind) for v in (input, x, y))
    input = input.expand(x._a.shape + y._a.shape)
    product = x.unsqueeze(1) * y
    if kind.category == 0:
        product = product.logical_and(wrap(of(x._a).scalar(bool(alpha), kind.numpy)))
        return product.logical_or(input) if beta else product
    return _added("addr", input, product, beta, alpha)


# -- products of vectors and of any dimensions ---------------------------------------------------------------------------------------


@op(method=True, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every product of an element of one vector and one of another: (n), (m) -> (n, m). Mixed dtypes are promoted."""
    x, y = check_tensor(input, "outer", "self"), check_tensor(vec2, "outer", "vec2")
    for which, v in (("self", x), ("vec2", y)):
        if v._a.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {which}, but got {v._a.ndim}-D")
    return x.unsqueeze(1) * y


@op(method=True)
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products along the last dimension of both: (..., n), (*, n) -> (..., *). With a number it is a plain product."""
    x, y = check_tensor(input, "inner"), check_tensor(other, "inner", "other")
    if x._a.dtype != y._a.dtype:
        raise RuntimeError(f"both inputs should have same dtype: inner got {describe(x, y)}")
    if x._a.ndim == 0 or y._a.ndim == 0:
        return x * y
    if x._a.shape[-1] != y._a.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {list(x._a.shape)} and {list(y._a.shape)}")
    return tensordot(x, y, ([-1], [-1]))


@op()
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums of products over several dimensions of each: the last `dims` of a with the first of b, or the pairs that two lists name.

    Example: `tensordot(zeros(2, 3, 4), zeros(4, 3, 5), ([1, 2], [1, 0]))` has shape (2, 5).
    """
    x, y = check_tensor(a, "tensordot", "a"), check_tensor(b, "tensordot", "b")
    if x._a.dtype != y._a.dtype:
        raise RuntimeError(f"both inputs should have same dtype: tensordot got {describe(x, y)}")
    left, right = _paired_dims(x, y, dims)
    keep = [d for d in range(x._a.ndim) if d not in left]
    rest = [d for d in range(y._a.ndim) if d not in right]
    for i, j in zip(list(left), list(right)):
        n, m = x._a.shape[i], y._a.shape[j]
        if n != m and 1 not in (n, m):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size {m} in dim {j}")
        if n == 1 != m:
            y = y.sum(j, keepdim=True)
        elif m == 1 != n:
            x = x.sum(i, keepdim=True)
    count = 1
    for d in left:
        count *= x._a.shape[d]
    rows, columns = [x._a.shape[d] for d in keep], [y._a.shape[d] for d in rest]
    n, m = 1, 1
    for size in rows:
        n *= size
    for size in columns:
        m *= size
    product = matmul(x.permute(keep + left).reshape(n, count), y.permute(right + rest).reshape(count, m))
    return product.reshape(rows + columns)


def _paired_dims(x: Tensor, y: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)) and len(dims) == 1:
        dims = dims[0]
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(x._a.ndim, y._a.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for {describe(x, y)}")
        return list(range(x._a.ndim - dims, x._a.ndim)), list(range(dims))
    left, right = ([v] if isinstance(v, int) else list(v) for v in dims)
    if len(left) != len(right):
        raise RuntimeError(f"both dimension lists should have same length: tensordot got {left} and {right}")
    return [wrap_dim(d, x._a.ndim) for d in left], [wrap_dim(d, y._a.ndim) for d in right]


@op(method=True)
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: every element of the first times the whole second, laid out as blocks. Mixed dtypes are promoted."""
    x, y = check_tensor(input, "kron"), check_tensor(other, "kron", "other")
    rank = max(x._a.ndim, y._a.ndim)
    a, b = (((1,) * (rank - v._a.ndim) + v._a.shape) for v in (x, y))
    left = x.reshape([n for size in a for n in (size, 1)])
    right = y.reshape([n for size in b for n in (1, size)])
    return (left * right).reshape([n * m for n, m in zip(a, b)])


# -- cross product and vecdot -------------------------------------------------------------------------------------------------------------


@derivative("LinalgCrossBackward0")
def CrossBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    x, y = unpack(node)
    gx = unbroadcast(_cross(y.conj(), g, node.dim), node.shapes[0]) if node.needs(0) else None
    gy = unbroadcast(_cross(g, x.conj(), node.dim), node.shapes[1]) if node.needs(1) else None
    return gx, gy


def _cross(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """Along a dimension of size 3, counted from the end (negative)."""
    a, b = x._a, y._a
    r = record(of(a, b).cross(a, b, dim), CrossBackward, (x, y), (x if y._rg else None, y if x._rg else None), dim=dim)
    node = r._edge
    if node is not None:
        node.shapes = (a.shape, b.shape)
    return r


@op(namespaces="linalg", name="cross")
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`; the other dimensions broadcast."""
    x, y = check_tensor(input, "linalg.cross"), check_tensor(other, "linalg.cross", "other")
    a, b = x._a, y._a
    if a.ndim != b.ndim:
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {describe(x, y)}")
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type of both inputs to be the same in linalg.cross, got {describe(x, y)}. "
                           "Convert one of them with .to().")
    d = wrap_dim(dim, a.ndim)
    if a.shape[d] != 3 or b.shape[d] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[d]} and {b.shape[d]}")
    try:
        broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        raise broadcast_error("linalg.cross", (a.shape, b.shape)) from None
    return _cross(x, y, d - a.ndim)


@op(method=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross product along `dim` (default: the first dimension of size 3); see `linalg.cross`."""
    x, y = check_tensor(input, "cross"), check_tensor(other, "cross", "other")
    if dim is None:
        dim = next((d for d, n in enumerate(x._a.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError(f"no dimension of size 3 in input: cross got {describe(x, y)}")
    return linalg_cross(x, y, dim=dim)


@op(namespaces="linalg", autocast="lower")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Sums of `conj(x) * y` along a dimension; the others broadcast."""
    check_tensor(x, "linalg.vecdot", "x"), check_tensor(y, "linalg.vecdot", "y")
    if x._a.dtype != y._a.dtype:
        raise RuntimeError(f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.dtype!r} and y "
                           f"of type {y.dtype!r} instead")
    if x._a.ndim == 0 and y._a.ndim == 0:
        return x.conj() * y
    product = x.conj() * y
    return product.sum(dim, dtype=x.dtype)


# -- chains and powers ----------------------------------------------------------------------------------------------------------------------


@op()
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the cheapest order of multiplications."""
    for t in matrices:
        if check_tensor(t, "chain_matmul")._a.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t._a.ndim}, expected 2 instead: chain_matmul of {describe(*matrices)}")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(list(matrices))


@op(namespaces="linalg")
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for which, t in (("first", first), ("last", last)):
        if check_tensor(t, "multi_dot")._a.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {t._a.ndim}D")
    for i, t in enumerate(tensors[1:-1], 1):
        if check_tensor(t, "multi_dot")._a.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {t._a.ndim}D")
    shape = ([] if first._a.ndim == 1 else [first._a.shape[0]]) + ([] if last._a.ndim == 1 else [last._a.shape[1]])
    tensors[0] = first.unsqueeze(0) if first._a.ndim == 1 else first
    tensors[-1] = last.unsqueeze(1) if last._a.ndim == 1 else last
    for i, (x, y) in enumerate(zip(tensors, tensors[1:])):
        if x._a.dtype != y._a.dtype:
            raise RuntimeError(f"multi_dot(): all tensors must have the same dtype but tensor {i} is {describe(x)} and tensor {i + 1} {describe(y)}")
        if x._a.shape[1] != y._a.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(x._a.shape)} and {list(y._a.shape)} cannot be multiplied")
    return _in_order(tensors, _cheapest([t._a.shape[0] for t in tensors] + [tensors[-1]._a.shape[1]]), 0, len(tensors) - 1).reshape(shape)


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """(first, last) of every run of matrices -> where to split it for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], split[i, j] = min((cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))
    return split


def _in_order(tensors: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return tensors[i]
    k = split[i, j]
    return matmul(_in_order(tensors, split, i, k), _in_order(tensors, split, k + 1, j))


@derivative("CopyBackwards")
def ConstantBackward(node: Any, g: Tensor) -> Tensor:
    """The result depends on no element."""
    return g.new_zeros(g._a.shape)


@op(namespaces=("torch", "linalg"), method=True)
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Square matrices (batched) multiplied with themselves n times; 0 gives the identity, a negative n powers of the inverse."""
    x = check_tensor(input, "linalg.matrix_power", "A")
    a = x._a
    if a.ndim < 2:
        raise RuntimeError(f"linalg.matrix_power: The input tensor A must have at least 2 dimensions, got {describe(x)}.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices")
    if n == 0:
        backend = of(a)
        ones = backend.full(a.shape[:-1], 1, a.dtype)
        return record(backend.diag_embed(ones, 0, a.ndim - 2, a.ndim - 1), ConstantBackward, (x,))
    if n < 0:
        x, n = x.inverse(), -n
    if n == 1:
        return x.clone()
    result: Tensor | None = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        if n:
            x = matmul(x, x)
    return result


__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm", "chain_matmul", "cross", "inner", "kron", "matrix_power", "multi_dot",
           "outer", "tensordot", "vecdot"]
