"""Running reductions (cumsum, cumprod, cummax, ...) and finite differences and integrals along a dimension."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import describe
from saraph.ops import return_types
from saraph.ops.extremes import refuse_complex
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor, is_number
from saraph.ops.reduce import accumulating, title
from saraph.ops.registry import op
from saraph.shapes import wrap_dim, wrap_dims
from saraph.tensor.node import derivative
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, record, record_many, unpack


def part(x: Tensor, dim: int, start: int | None, stop: int | None) -> Tensor:
    """The slice start:stop along a dimension."""
    return x[(slice(None),) * dim + (slice(start, stop),)]


def _reversed(x: Tensor, dim: int) -> Tensor:
    return x.flip(dim) if x._a.ndim else x


def _shifted(x: Tensor, dim: int, fill: float) -> Tensor:
    """Everything moved on by one along `dim`; `fill` comes in."""
    shape = [1 if d == dim else n for d, n in enumerate(x._a.shape)]
    return cat((x.new_full(shape, fill), part(x, dim, 0, -1)), dim)


# -- running sums and products ------------------------------------------------------------------------------------------------------


@derivative("CumsumBackward0")
def CumsumBackward(node: Any, g: Tensor) -> Tensor:
    return _reversed(cumsum(_reversed(g, node.dim), node.dim), node.dim)


@op(method=True, inplace=True, autocast="float32")
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The running sum along `dim`. Integers and bools add up in int64 unless `dtype` is given.

    Example: `tensor([1, 2, 3]).cumsum(0)` is `tensor([1, 3, 6])`.
    """
    x = accumulating(check_tensor(input, "cumsum"), dtype)
    axis = wrap_dim(dim, x._a.ndim)
    return record(of(x._a).cumsum(x._a, axis), CumsumBackward, (x,), dim=axis)


@derivative("LinearRecurrenceBackward0", saves_result=True)
def RecurrenceBackward(node: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The gradient runs the recurrence backwards."""
    a, r = unpack(node)
    dim = node.dim
    g_terms = _reversed(recurrence(_shifted(_reversed(a.conj(), dim), dim, 0), _reversed(g, dim), dim), dim)
    return (g_terms * _shifted(r, dim, 0).conj() if node.needs(0) else None), g_terms


def recurrence(a: Tensor, b: Tensor, dim: int) -> Tensor:
    """r[i] = b[i] + a[i] * r[i - 1] along `dim`, from r[-1] = 0."""
    return record(of(a._a, b._a).recurrence(a._a, b._a, dim), RecurrenceBackward, (a, b), (a,), dim=dim)


@derivative("CumprodBackward0", saves_result=True)
def CumprodBackward(node: Any, g: Tensor) -> Tensor:
    """Without zeros the products of others are quotients; with zeros they are multiplied up from both sides."""
    x, result = unpack(node)
    dim = node.dim
    if not x._a.ndim or not x._a.size:
        return g
    x = x.conj()
    if of(x._a).name != "batched" and not bool((x == 0).any()):
        return _reversed(cumsum(_reversed(g * result.conj(), dim), dim), dim) / x
    after = _reversed(recurrence(_shifted(_reversed(x, dim), dim, 0), _reversed(g, dim), dim), dim)
    return cumprod(_shifted(x, dim, 1), dim) * after


@op(method=True, inplace=True, autocast="float32")
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The running product along `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
    x = accumulating(check_tensor(input, "cumprod"), dtype)
    axis = wrap_dim(dim, x._a.ndim)
    return record(of(x._a).cumprod(x._a, axis), CumprodBackward, (x,), (x,), dim=axis)


@derivative("LogcumsumexpBackward0", saves_result=True)
def LogcumsumexpBackward(node: Any, g: Tensor) -> Tensor:
    """sum over k >= i of g[k] exp(x[i] - y[k]), by logarithms; positive and negative parts of g are summed apart.

    Where the gradient is to be derived again: exp(x[i] - y[i]) h[i] with h[i] = g[i] + exp(y[i] - y[i + 1]) h[i + 1], which is linear in g.
    """
    x, result = unpack(node)
    dim = node.dim
    if thread.grad and x._a.ndim:
        factors = _reversed((part(result, dim, 0, -1) - part(result, dim, 1, None)).exp().conj(), dim)
        edge = result.new_zeros([1 if d == dim else n for d, n in enumerate(x._a.shape)])
        sums = recurrence(cat((edge, factors), dim), _reversed(g, dim), dim)
        return (x - result).exp().conj() * _reversed(sums, dim)

    def spread(log_g: Tensor) -> Tensor:
        return (_reversed(logcumsumexp(_reversed(log_g - result, dim), dim), dim) + x).exp()

    if x._a.dtype.kind == "c":
        return spread(g.conj().log()).conj()
    nothing = g.new_full((), float("-inf"))
    positive, negative = g > 0, g < 0
    return spread(g.masked_fill(~positive, 1).log().where(positive, nothing)) - spread((-g).masked_fill(~negative, 1).log().where(negative, nothing))


@op(method=True)
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the running sum of exp(input) along `dim`, without overflow."""
    x = check_tensor(input, "logcumsumexp")
    axis = wrap_dim(dim, x._a.ndim)
    if x._a.dtype.kind in "biu":
        raise NotImplementedError(f'"logcumsumexp_out_cpu" not implemented for \'{title(x)}\': convert the tensor to a floating point dtype first.')
    return record(of(x._a).logcumsumexp(x._a, axis), LogcumsumexpBackward, (x,), (x,), dim=axis)


# -- running extremes ---------------------------------------------------------------------------------------------------------------


def _extreme_gradient(node: Any, g: Tensor | None, _: Any) -> Tensor | None:
    """Each element collects the gradients of the places where it was the extreme so far."""
    (indices,) = unpack(node)
    if g is None or not node.shape:
        return g
    return g.new_zeros(node.shape).scatter_add(node.dim, indices, g)


CummaxBackward = derivative("CummaxBackward0")(_extreme_gradient)
CumminBackward = derivative("CumminBackward0")(_extreme_gradient)


def _running(input: Any, dim: int, name: str, cls: type, result: type) -> Any:
    x = check_tensor(input, name)
    axis = wrap_dim(dim, x._a.ndim)
    refuse_complex(x, name)
    found = getattr(of(x._a), name)(x._a, axis)
    return result(record_many(found, cls, (x,), differentiable=(0,), save_results=(1,), dim=axis, shape=x._a.shape))


@op(method=True)
def cummax(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The running maximum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
    return _running(input, dim, "cummax", CummaxBackward, return_types.cummax)


@op(method=True)
def cummin(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The running minimum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
    return _running(input, dim, "cummin", CumminBackward, return_types.cummin)


# -- differences ---------------------------------------------------------------------------------------------------------------------


def _check_edge(x: Tensor, edge: Any, dim: int, name: str) -> Tensor:
    check_tensor(edge, "diff", name)
    if edge._a.ndim != x._a.ndim:
        raise RuntimeError(f"diff expects prepend or append to be the same dimension as input (got {describe(edge)} for {describe(x)})")
    for d, (n, m) in enumerate(zip(x._a.shape, edge._a.shape)):
        if d != dim and n != m:
            raise RuntimeError(f"diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
                               f"dimension; input.size({d}) = {n}, but got tensor.size({d}) = {m}")
    return edge


@op(method=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The n-th differences of neighbours along `dim`, after joining `prepend` in front and `append` behind. Of bools: `!=`."""
    x = check_tensor(input, "diff")
    if not x._a.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = wrap_dim(dim, x._a.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:  # as PyTorch: prepend and append do not count then
        return x.clone()
    if prepend is not None or append is not None:
        parts = [None if prepend is None else _check_edge(x, prepend, dim, "prepend"), x,
                 None if append is None else _check_edge(x, append, dim, "append")]
        x = cat([p for p in parts if p is not None], dim)
    for _ in range(min(n, x._a.shape[dim])):
        later, earlier = part(x, dim, 1, None), part(x, dim, None, -1)
        x = later.logical_xor(earlier) if x._a.dtype.kind == "b" else later - earlier
    return x


def _spacings(x: Tensor, spacing: Any, dims: tuple[int, ...], given: bool) -> list[Any]:
    """A number or a 1-d Tensor of coordinates per dimension."""
    if not isinstance(spacing, (list, tuple)):
        if isinstance(spacing, Tensor):
            raise TypeError("gradient(): spacing must be a number, or a list of numbers or of tensors with coordinates")
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        if given:
            raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same "
                               f"length, but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dims)}.")
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = {x._a.ndim}', "
                           f"since dim argument was not given, but got a list of length {len(spacing)}")
    return list(spacing)


@op(method=False)
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimates of the derivative along each of the dimensions `dim` (None: all), by central differences inside and one-sided ones at the edges.

    `spacing` is the distance of samples (1), or a list with a distance, or a 1-d tensor of coordinates, for each dimension. `edge_order` is 1 or 2.
    """
    x = check_tensor(input, "gradient")
    dims = wrap_dims(dim, x._a.ndim)
    steps = _spacings(x, 1 if spacing is None else spacing, dims, dim is not None)
    if x.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if x._a.ndim and x._a.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1 "
                               f"(edge_order is {edge_order}, dimension {d} of {describe(x)} is smaller)")
    if not x._a.ndim:
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1 (the tensor has no dimensions)")
    return tuple(_along_coordinates(x, h, d, edge_order) if isinstance(h, Tensor) else _along_grid(x, h, d, edge_order)
                 for h, d in zip(steps, dims))


def _along_grid(x: Tensor, h: Any, dim: int, edge_order: int) -> Tensor:
    inner = (part(x, dim, 2, None) - part(x, dim, None, -2)) / (2 * h)

    def edge(first: Tensor, second: Tensor, third: Tensor, sign: int) -> Tensor:
        if edge_order == 1:
            return (second - first) / (sign * h)
        return (-3 * first + 4 * second - third) / (2 * sign * h)

    def at(k: int) -> Tensor:
        k %= x._a.shape[dim]
        return part(x, dim, k, k + 1)

    return cat((edge(at(0), at(1), at(2), 1), inner, edge(at(-1), at(-2), at(-3), -1)), dim)


def _along_coordinates(x: Tensor, points: Tensor, dim: int, edge_order: int) -> Tensor:
    if points._a.ndim != 1:
        raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, "
                           f"but got an element with {points._a.ndim} dimensions!")
    if points._a.shape[0] != x._a.shape[dim]:
        raise RuntimeError(f"torch.gradient: the coordinates ({points._a.shape[0]}) must match dimension {dim} of {describe(x)}")
    shape = [-1 if d == dim else 1 for d in range(x._a.ndim)]
    h = (points[1:] - points[:-1]).reshape(shape)

    def at(t: Tensor, k: int) -> Tensor:
        k %= t._a.shape[dim]
        return part(t, dim, k, k + 1)

    h1, h2 = part(h, dim, None, -1), part(h, dim, 1, None)
    inner = (part(x, dim, None, -2) * (-h2 / (h1 * (h1 + h2))) + part(x, dim, 1, -1) * ((h2 - h1) / (h1 * h2))
             + part(x, dim, 2, None) * (h1 / (h2 * (h1 + h2))))
    if edge_order == 1:
        return cat(((at(x, 1) - at(x, 0)) / at(h, 0), inner, (at(x, -1) - at(x, -2)) / at(h, -1)), dim)

    def edge(first: Tensor, second: Tensor, third: Tensor, near: Tensor, far: Tensor) -> Tensor:
        return (first * (-(2 * near + far) / (near * (near + far))) + second * ((near + far) / (near * far))
                - third * (near / (far * (near + far))))

    return cat((edge(at(x, 0), at(x, 1), at(x, 2), at(h, 0), at(h, 1)), inner,
                -edge(at(x, -1), at(x, -2), at(x, -3), at(h, -1), at(h, -2))), dim)


# -- integrals -----------------------------------------------------------------------------------------------------------------------


def _widths(y: Tensor, x: Tensor | None, dx: Any, dim: int, name: str) -> Any:
    """The width of each interval along `dim`: a number, or a Tensor that broadcasts against the interval's heights."""
    if x is None:
        return 1 if dx is None else dx
    if dx is not None:
        raise TypeError(f"{name}() takes `x` or `dx`, not both")
    if x._a.ndim == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if x._a.ndim < y._a.ndim:
        if x._a.ndim == 1:
            if x._a.shape[0] != y._a.shape[dim]:
                raise RuntimeError(f"{name}: There must be one `x` value for each sample point (x is {describe(x)}, y is {describe(y)}, "
                                   f"integrated along dimension {dim})")
            x = x.reshape([-1 if d == dim else 1 for d in range(y._a.ndim)])
        else:
            x = x.reshape([1] * (y._a.ndim - x._a.ndim) + list(x._a.shape))
    elif x._a.ndim == y._a.ndim == 1 and x._a.shape != y._a.shape:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point (x is {describe(x)}, y is {describe(y)})")
    return part(x, dim, 1, None) - part(x, dim, None, -1)


def _check_heights(y: Any, dim: int, name: str) -> int:
    check_tensor(y, name, "y")
    if not y._a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if y._a.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    return wrap_dim(dim, y._a.ndim)


@op(aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of samples `y` along `dim` by the trapezoid rule; samples lie at `x`, or `dx` (1) apart."""
    x, dx = (None, x) if is_number(x) else (x, dx)
    dim = _check_heights(y, dim, "trapezoid")
    if y._a.shape[dim] == 0:
        shape = list(y._a.shape)
        del shape[dim]
        return y.new_zeros(shape)
    areas = (part(y, dim, None, -1) + part(y, dim, 1, None)) * _widths(y, x, dx, dim, "trapezoid")
    return areas.sum(dim) / 2


@op()
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The running integral of samples `y` along `dim` by the trapezoid rule: one element fewer than `y`."""
    x, dx = (None, x) if is_number(x) else (x, dx)
    dim = _check_heights(y, dim, "cumulative_trapezoid")
    areas = (part(y, dim, None, -1) + part(y, dim, 1, None)) * _widths(y, x, dx, dim, "cumulative_trapezoid")
    return areas.cumsum(dim) / 2


__all__ = ["cummax", "cummin", "cumprod", "cumsum", "diff", "gradient", "logcumsumexp", "part", "trapezoid"]
