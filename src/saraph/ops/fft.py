"""Discrete Fourier transforms: `fft.fft` and its relatives.

Three recorded ops do the work: complex to complex, real to half a spectrum, and back. Each multiplies by a scale, into which the
`norm` argument is translated, so that its gradient is a transform in the other direction with the same scale.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saraph.backends import of
from saraph.dtypes import REDUCED
from saraph.ops.creation import store_out
from saraph.ops.joining import constant_pad_nd
from saraph.ops.linalg_checks import title
from saraph.ops.options import check_layout, chosen_dtype, library, made
from saraph.ops.promotion import cast, check_tensor, float_dtype
from saraph.ops.registry import op
from saraph.shapes import wrap_dim
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record

# -- the three transforms ------------------------------------------------------------------------------------------------------------


@derivative("FftC2CBackward0")
def FftBackward(node: Any, g: Tensor) -> Tensor:
    r = transform(g, node.axes, not node.forward, node.scale)
    return r.real.clone() if node.real else r


def transform(x: Tensor, axes: tuple[int, ...], forward: bool, scale: float) -> Tensor:
    """The whole transform along some axes, times a scale."""
    a = x._a
    return record(of(a).fft(a, axes, forward, scale), FftBackward, (x,), axes=axes, forward=forward, scale=scale, real=a.dtype.kind != "c")


@derivative("FftR2CBackward0")
def RfftBackward(node: Any, g: Tensor) -> Tensor:
    axis = node.axes[-1]
    whole = _resized(g, (axis,), (node.length,))
    return transform(whole, node.axes, False, node.scale).real.clone()


def real_transform(x: Tensor, axes: tuple[int, ...], scale: float) -> Tensor:
    """The half of a real tensor's transform that is not redundant (along the last of `axes`), times a scale."""
    a = x._a
    return record(of(a).rfft(a, axes, scale), RfftBackward, (x,), axes=axes, scale=scale, length=a.shape[axes[-1]])


@derivative("FftC2RBackward0")
def IrfftBackward(node: Any, g: Tensor) -> Tensor:
    """Values of the half spectrum that stand for two (themselves and their mirror image) count twice."""
    axis = node.axes[-1]
    r = real_transform(g, node.axes, node.scale)
    mirrored = g._a.shape[axis] - r._a.shape[axis]
    if mirrored <= 0:
        return r
    twice = r.narrow(axis, 1, mirrored)
    middle = constant_pad_nd(twice, _padding(r._a.ndim, axis, 1, r._a.shape[axis] - 1 - mirrored))
    return r + middle


def real_inverse(x: Tensor, axes: tuple[int, ...], length: int, scale: float) -> Tensor:
    """The real tensor (of size `length` along the last of `axes`) that half a spectrum belongs to, times a scale."""
    a = x._a
    return record(of(a).irfft(a, axes, length, scale), IrfftBackward, (x,), axes=axes, scale=scale)


# -- arguments ------------------------------------------------------------------------------------------------------------------------


def _padding(rank: int, axis: int, before: int, after: int) -> list[int]:
    return [0, 0] * (rank - 1 - axis) + [before, after]


def _resized(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """x cut off or filled up with zeros at the end of some axes."""
    shape = x._a.shape
    pad = [0, 0] * x._a.ndim
    for d, n in zip(axes, sizes):
        pad[2 * (x._a.ndim - 1 - d) + 1] = n - shape[d]
    return constant_pad_nd(x, pad) if any(pad) else x


def _operand(name: str, value: Any, real: bool = False) -> Tensor:
    """The input in a dtype that is transformed: integers become the default dtype."""
    x = check_tensor(value, f"fft_{name}")
    if x._a.dtype in REDUCED:
        raise RuntimeError(f"Unsupported dtype {title(x)}: fft.{name} takes float32 or float64 (complex64, complex128). Convert with .float().")
    if real and x._a.dtype.kind == "c":
        expects = "a real-valued input tensor" if name.endswith(("n", "2")) else "a real input tensor"
        raise RuntimeError(f"{name} expects {expects}, but got {title(x)}")
    return cast(x, float_dtype(x.dtype))


def _as_complex(x: Tensor) -> Tensor:
    return cast(x, x.dtype.to_complex())


def _one_dim(x: Tensor, dim: int) -> int:
    if x._a.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x._a.ndim)


def _check_points(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _scale(norm: str | None, forward: bool, count: int) -> float:
    """What a transform over `count` points is multiplied by."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return count**-0.5
    return 1.0 if (norm == "forward") != forward else 1.0 / count


def _several_dims(x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The axes to transform and their sizes (-1: as it is)."""
    rank = x._a.ndim
    if s is not None:
        s = [s] if isinstance(s, int) else list(s)
    if dim is not None:
        axes = tuple(wrap_dim(d, rank) for d in ([dim] if isinstance(dim, int) else dim))
        if len(set(axes)) != len(axes):
            raise RuntimeError(f"FFT dims must be unique, got {dim}")
        if s is not None and len(s) != len(axes):
            raise RuntimeError(f"When given, dim and shape arguments must have the same length: got dim={dim}, s={s}")
    elif s is None:
        axes = tuple(range(rank))
    else:
        if len(s) > rank:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {rank} dimensions.")
        axes = tuple(range(rank - len(s), rank))
    sizes = [x._a.shape[d] if n == -1 else n for d, n in zip(axes, s if s is not None else [-1] * len(axes))]
    for n in sizes:
        _check_points(n)
    return axes, sizes


def _count(sizes: Sequence[int]) -> int:
    count = 1
    for n in sizes:
        count *= n
    return count


# -- one dimension -----------------------------------------------------------------------------------------------------------------------


def _along(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = _operand(name, input)
    axis = _one_dim(x, dim)
    n = _check_points(x._a.shape[axis] if n is None else n)
    return transform(_resized(x, (axis,), (n,)), (axis,), forward, _scale(norm, forward, n))


@op(namespaces="fft", autocast="float32")
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform along `dim`, of `n` points (the input is cut off or filled up with zeros); the result is complex.

    `norm`: "backward" (None: no factor here, 1/n in the inverse), "forward" (1/n here), "ortho" (1/sqrt(n) in both).
    """
    return _along("fft", input, n, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `fft`."""
    return _along("ifft", input, n, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform of a real tensor: the first n // 2 + 1 values, from which the rest follows."""
    x = _operand("rfft", input, True)
    axis = _one_dim(x, dim)
    n = _check_points(x._a.shape[axis] if n is None else n)
    return real_transform(_resized(x, (axis,), (n,)), (axis,), _scale(norm, True, n))


def _half_to_real(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = _as_complex(_operand(name, input))
    axis = _one_dim(x, dim)
    n = _check_points(2 * (x._a.shape[axis] - 1) if n is None else n)
    x = _resized(x, (axis,), (n // 2 + 1,))
    return real_inverse(x.conj() if forward else x, (axis,), n, _scale(norm, forward, n))


@op(namespaces="fft", autocast="float32")
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `rfft`: n real values (by default 2 * (size - 1)) from half a spectrum."""
    return _half_to_real("irfft", input, n, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform of a Hermitian-symmetric signal, of which half is given: n real values."""
    return _half_to_real("hfft", input, n, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `hfft`: half of a Hermitian-symmetric signal from n real values."""
    x = _operand("ihfft", input, True)
    axis = _one_dim(x, dim)
    n = _check_points(x._a.shape[axis] if n is None else n)
    return real_transform(_resized(x, (axis,), (n,)), (axis,), _scale(norm, False, n)).conj()


# -- several dimensions -------------------------------------------------------------------------------------------------------------------


def _over(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Tensor:
    x = _operand(name, input)
    axes, sizes = _several_dims(x, s, dim)
    return transform(_resized(x, axes, sizes), axes, forward, _scale(norm, forward, _count(sizes)))


def _real_over(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """rfftn (forward), and the conjugate of ihfftn's half spectrum, whose other axes are transformed back."""
    x = _operand(name, input, True)
    axes, sizes = _several_dims(x, s, dim)
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    x = _resized(x, axes, sizes)
    scale = _scale(norm, forward, _count(sizes))
    if forward:
        return real_transform(x, axes, scale)
    half = real_transform(x, axes[-1:], scale).conj()
    return transform(half, axes[:-1], False, 1.0) if len(axes) > 1 else half


def _half_over(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """irfftn, and hfftn (forward)."""
    x = _as_complex(_operand(name, input))
    given = None if s is None else [s] if isinstance(s, int) else list(s)
    last_is_given = bool(given) and given[-1] != -1
    axes, sizes = _several_dims(x, s, dim)
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    length = _check_points(sizes[-1] if last_is_given else 2 * (x._a.shape[axes[-1]] - 1))
    sizes[-1] = length // 2 + 1
    x = _resized(x, axes, sizes)
    scale = _scale(norm, forward, _count(sizes[:-1]) * length)
    if not forward:
        return real_inverse(x, axes, length, scale)
    if len(axes) > 1:
        x = transform(x, axes[:-1], True, 1.0)
    return real_inverse(x.conj(), axes[-1:], length, scale)


@op(namespaces="fft", autocast="float32")
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`fft` over several dimensions (default: all, or as many last ones as `s` has sizes)."""
    return _over("fftn", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `fftn`."""
    return _over("ifftn", input, s, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`fftn` of a real tensor; the last of the dimensions keeps only its first half."""
    return _real_over("rfftn", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `rfftn`."""
    return _half_over("irfftn", input, s, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`hfft` over several dimensions: Hermitian symmetry halves the last one."""
    return _half_over("hfftn", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `hfftn`."""
    return _real_over("ihfftn", input, s, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`fftn` over the last two dimensions."""
    return _over("fft2", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`ifftn` over the last two dimensions."""
    return _over("ifft2", input, s, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`rfftn` over the last two dimensions."""
    return _real_over("rfft2", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`irfftn` over the last two dimensions."""
    return _half_over("irfft2", input, s, dim, norm, False)


@op(namespaces="fft", autocast="float32")
def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`hfftn` over the last two dimensions."""
    return _half_over("hfft2", input, s, dim, norm, True)


@op(namespaces="fft", autocast="float32")
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`ihfftn` over the last two dimensions."""
    return _real_over("ihfft2", input, s, dim, norm, False)


# -- frequencies ------------------------------------------------------------------------------------------------------------------------------


@op(namespaces="fft")
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The tensor rolled so that frequency 0 is in the middle, along all dimensions or some."""
    return _shifted("fftshift", input, dim, lambda n: n // 2)


@op(namespaces="fft")
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", input, dim, lambda n: (n + 1) // 2)


def _shifted(name: str, input: Any, dim: Any, by: Any) -> Tensor:
    x = check_tensor(input, name)
    dims = range(x._a.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = [wrap_dim(d, x._a.ndim) for d in dims]
    return x.roll([by(x._a.shape[d]) for d in axes], axes) if axes else x.clone()


@op(namespaces="fft", out=False)
def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
            requires_grad: bool = False) -> Tensor:
    """The frequencies that `fft` of n points, d apart, gives: 0, 1, ..., -2, -1, divided by n * d."""
    count = (n - 1) // 2 + 1
    return _frequencies("fftfreq", [*range(count), *range(-(n // 2), 0)], n, d, out, dtype, layout, device, requires_grad)


@op(namespaces="fft", out=False)
def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """The frequencies that `rfft` of n points, d apart, gives: 0, 1, ..., n // 2, divided by n * d."""
    return _frequencies("rfftfreq", list(range(n // 2 + 1)), n, d, out, dtype, layout, device, requires_grad)


def _frequencies(name: str, numbers: list[int], n: int, d: float, out: Tensor | None, dtype: Any, layout: Any, device: Any,
                 requires_grad: bool) -> Tensor:
    check_layout(layout, name)
    kind = out.dtype if out is not None and dtype is None else chosen_dtype(dtype, name)
    if kind.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {kind!r}")
    backend = of(out._a) if out is not None else library(device, name)
    count, split = len(numbers), sum(k >= 0 for k in numbers)
    first = backend.arange(0, 1, split, kind.numpy)
    rest = backend.arange(split - count, 1, count - split, kind.numpy)
    step = 1.0 / (n * d) if n else 0.0
    array = backend.mul(backend.cat([first, rest], 0), backend.scalar(step, kind.numpy))
    return made(array, requires_grad) if out is None else store_out(name, out, array, dtype)
