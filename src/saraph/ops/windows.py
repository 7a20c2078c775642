"""Window functions: `hann_window` and its relatives (periodic by default), and `signal.windows` (symmetric by default)."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from saraph.dtypes import REDUCED, float32
from saraph.ops.options import check_layout, check_pin, chosen_dtype, library, made
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor


def _periodic(name: str, kind: str, length: int, periodic: bool, parameters: tuple, dtype: Any, layout: Any, device: Any, pin_memory: bool,
              requires_grad: bool) -> Tensor:
    """A window of the older family."""
    if isinstance(length, bool) or not hasattr(length, "__index__"):
        raise TypeError(f"{name}(): argument 'window_length' (position 1) must be int, not {type(length).__name__}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    check_layout(layout, name)
    check_pin(pin_memory)
    chosen = chosen_dtype(dtype, name)
    if not chosen.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {chosen!r}")
    backend = library(device, name)
    inner = float32.numpy if chosen.numpy in REDUCED else chosen.numpy
    array = backend.window(kind, int(length), periodic, parameters, inner)
    return made(array if inner == chosen.numpy else backend.cast(array, chosen.numpy), requires_grad)


@op()
def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
                requires_grad: bool = False) -> Tensor:
    """Half a raised cosine, 0.5 - 0.5 cos(2 pi k / N). A periodic window is meant for Fourier transforms: N is its length, else length - 1."""
    return _periodic("hann_window", "cosines", window_length, periodic, ((0.5, 0.5),), dtype, layout, device, pin_memory, requires_grad)


@op()
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None, layout: Any = None,
                   device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """alpha - beta cos(2 pi k / N)."""
    return _periodic("hamming_window", "cosines", window_length, periodic, ((alpha, beta),), dtype, layout, device, pin_memory, requires_grad)


@op()
def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N)."""
    return _periodic("blackman_window", "cosines", window_length, periodic, ((0.42, 0.5, 0.08),), dtype, layout, device, pin_memory, requires_grad)


@op()
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A triangle: 1 - |2 k / N - 1|."""
    return _periodic("bartlett_window", "bartlett", window_length, periodic, (), dtype, layout, device, pin_memory, requires_grad)


@op()
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None, device: Any = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """I0(beta sqrt(1 - (2 k / N - 1)^2)) / I0(beta)."""
    return _periodic("kaiser_window", "kaiser", window_length, periodic, (float(beta),), dtype, layout, device, pin_memory, requires_grad)


# -- signal.windows ------------------------------------------------------------------------------------------------------------------------


def _symmetric(name: str, kind: str, M: int, sym: bool, parameters: tuple, dtype: Any, layout: Any, device: Any, requires_grad: bool) -> Tensor:
    """A window of `signal.windows`."""
    if isinstance(M, bool) or not hasattr(M, "__index__"):
        raise TypeError(f"{name}(): argument 'M' must be int, not {type(M).__name__}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and getattr(layout, "name", "") != "strided":
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout!r}")
    chosen = chosen_dtype(dtype, name)
    if chosen.name not in ("float32", "float64"):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {chosen!r}")
    backend = library(device, name)
    return made(backend.window(kind, int(M), not sym, parameters, chosen.numpy), requires_grad)


def _window(body: Callable) -> Callable:
    return op(namespaces="signal.windows")(body)


@_window
def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
                   requires_grad: bool = False) -> Tensor:
    """An alternating sum of cosines, a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., with x from 0 to 2 pi over the window."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = tuple(float(v) for v in a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _symmetric("general_cosine", "cosines", M, sym, (weights,), dtype, layout, device, requires_grad)


@_window
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
                    requires_grad: bool = False) -> Tensor:
    """alpha - (1 - alpha) cos(x), with x from 0 to 2 pi over the window."""
    return _symmetric("general_hamming", "cosines", M, sym, ((alpha, 1.0 - alpha),), dtype, layout, device, requires_grad)


@_window
def hann(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """0.5 - 0.5 cos(x), with x from 0 to 2 pi over the window."""
    return _symmetric("hann", "cosines", M, sym, ((0.5, 0.5),), dtype, layout, device, requires_grad)


@_window
def hamming(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """0.54 - 0.46 cos(x), with x from 0 to 2 pi over the window."""
    return _symmetric("hamming", "cosines", M, sym, ((0.54, 0.46),), dtype, layout, device, requires_grad)


@_window
def blackman(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x), with x from 0 to 2 pi over the window."""
    return _symmetric("blackman", "cosines", M, sym, ((0.42, 0.5, 0.08),), dtype, layout, device, requires_grad)


@_window
def nuttall(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Nuttall's sum of four cosines, with a continuous first derivative at the ends and low side lobes."""
    weights = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    return _symmetric("nuttall", "cosines", M, sym, (weights,), dtype, layout, device, requires_grad)


@_window
def bartlett(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A triangle from 0 over 1 to 0."""
    return _symmetric("bartlett", "bartlett", M, sym, (), dtype, layout, device, requires_grad)


@_window
def cosine(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Half a period of the sine, taken at the middles of M equal steps."""
    return _symmetric("cosine", "sine", M, sym, (), dtype, layout, device, requires_grad)


@_window
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
           requires_grad: bool = False) -> Tensor:
    """Kaiser's window: a Bessel function, whose width `beta` trades against its side lobes."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _symmetric("kaiser", "kaiser", M, sym, (float(beta),), dtype, layout, device, requires_grad)


@_window
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """A bell curve of width `std` around the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _symmetric("gaussian", "gaussian", M, sym, (float(std),), dtype, layout, device, requires_grad)


@_window
def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None,
                device: Any = None, requires_grad: bool = False) -> Tensor:
    """exp(-|k - center| / tau); the centre is the middle unless given, which a symmetric window does not allow."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _symmetric("exponential", "exponential", M, sym, (center, float(tau)), dtype, layout, device, requires_grad)
